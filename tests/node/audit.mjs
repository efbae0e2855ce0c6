// Runs all graphql-http server audits against the URL given and prints one JSON line each.
import { auditServer } from "graphql-http";

const results = await auditServer({ url: process.argv[2] });
for (const { id, name, status, reason } of results) {
  console.log(JSON.stringify({ id, name, status, reason }));
}

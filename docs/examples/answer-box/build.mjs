// Makes typed documents of src/answer.graphql (graphql-codegen) and bundles the page into dist/ (esbuild).
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { codegen } from "@graphql-codegen/core";
import * as documents from "@graphql-codegen/typed-document-node";
import * as operations from "@graphql-codegen/typescript-operations";
import * as esbuild from "esbuild";
import { parse } from "graphql";

const read = (name) => readFileSync(new URL(name, import.meta.url), "utf8");

const scalars = { JSON: "unknown", DateTime: "string" };
writeFileSync(
  new URL("src/generated.ts", import.meta.url),
  await codegen({
    filename: "src/generated.ts",
    schema: parse(read("schema.graphql")), // contextql schema > schema.graphql
    documents: [{ location: "src/answer.graphql", document: parse(read("src/answer.graphql")) }],
    config: { scalars, useTypeImports: true, enumsAsTypes: true },
    plugins: [{ operations: {} }, { documents: {} }],
    pluginMap: { operations, documents },
  }),
);

const options = {
  absWorkingDir: fileURLToPath(new URL(".", import.meta.url)),
  entryPoints: ["src/main.tsx", "src/answer-box.css", "index.html"],
  entryNames: "[name]",
  outdir: "dist",
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  loader: { ".html": "copy" },
  define: { "process.env.NODE_ENV": '"production"' },
};
if (process.argv.includes("--serve")) {
  const context = await esbuild.context(options);
  await context.watch();
  const { port } = await context.serve({ servedir: "dist", host: "127.0.0.1", port: 3000 });
  console.log(`http://127.0.0.1:${port}`);
} else {
  await esbuild.build(options);
}

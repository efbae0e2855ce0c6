"use strict";

// Everything is addressed relative to the page, so that a proxy may serve the server under any path.
const endpoint = new URL(window.location.pathname, window.location.href);
const files = new URL("static/graphiql/", endpoint);
const socketUrl = new URL(endpoint);
socketUrl.protocol = endpoint.protocol === "https:" ? "wss:" : "ws:";

const overHttp = GraphiQL.createFetcher({ url: endpoint.href });

function isSubscription(documentAST, operationName) {
  const operations = (documentAST?.definitions ?? []).filter((node) => node.kind === "OperationDefinition");
  const chosen = operations.find((node) => !operationName || node.name?.value === operationName);
  return chosen?.operation === "subscription";
}

// A socket of its own for each run: the headers of the editor are its credentials.
function overSocket(parameters, headers) {
  const client = graphqlWs.createClient({
    url: socketUrl.href,
    connectionParams: headers ?? {},
    retryAttempts: 0,
  });
  return client.iterate(parameters);
}

function fetcher(parameters, options) {
  return isSubscription(options?.documentAST, parameters.operationName)
    ? overSocket(parameters, options?.headers)
    : overHttp(parameters, options);
}

function tabOf(example) {
  return {
    query: example.query.join("\n"),
    variables: example.variables ? JSON.stringify(example.variables, null, 2) : "",
    headers: "",
  };
}

// On the first visit GraphiQL takes its editors' contents from its storage and not from the tab that it opens.
function openFirst(tab) {
  if (!localStorage.getItem("graphiql:tabState")) {
    localStorage.setItem("graphiql:query", tab.query);
    localStorage.setItem("graphiql:variables", tab.variables);
  }
}

// A link such as /graphql?query=… opens with that query.
function ofLink() {
  const link = new URLSearchParams(window.location.search);
  return link.has("query") ? { query: link.get("query"), variables: link.get("variables") ?? "" } : {};
}

async function show() {
  const examples = await (await fetch(new URL("examples.json", files))).json();
  const tabs = examples.map(tabOf);
  openFirst(tabs[0]);
  ReactDOM.createRoot(document.getElementById("graphiql")).render(
    React.createElement(GraphiQL, {
      fetcher,
      defaultTabs: tabs,
      defaultEditorToolsVisibility: true,
      shouldPersistHeaders: true,
      ...ofLink(),
    }),
  );
}

show();

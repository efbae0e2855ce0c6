// Drives clients from npm: takes a job a line on stdin, {client, url, token, document, variables, take}, and prints what came of it.
import { createInterface } from "node:readline";
import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache, Observable } from "@apollo/client";
import { GraphQLWsLink } from "@apollo/client/link/subscriptions";
import { cacheExchange, createClient as createUrql, fetchExchange, subscriptionExchange } from "@urql/core";
import { createClient as createSse } from "graphql-sse";
import { createClient as createWs } from "graphql-ws";
import { OperationTypeNode, print } from "graphql";
import WebSocket from "ws";

globalThis.WebSocket ??= WebSocket; // browsers have one, and Apollo asks for it

let exchanged = []; // what was asked for, and what came, of each request over HTTP
const watchedFetch = async (url, options) => {
  const response = await fetch(url, options);
  const accept = new Headers(options.headers).get("accept");
  exchanged.push({ accept, type: response.headers.get("content-type"), status: response.status });
  return response;
};

const bearer = (token) => (token ? { Authorization: `Bearer ${token}` } : {});
const ws = ({ url, token }) =>
  createWs({ url: url.replace(/^http/, "ws"), connectionParams: bearer(token), retryAttempts: 0, lazyCloseTimeout: 60_000 });
const sse = ({ url, token }) => createSse({ url, headers: bearer(token), fetchFn: watchedFetch, retryAttempts: 0 });

// Each client is made for a job and says how it runs it: `events` calls a sink and gives what leaves; `close` ends it.
const CLIENTS = {
  "graphql-ws": (job) => plain(ws(job)),
  "graphql-sse": (job) => plain(sse(job)),
  "urql over WebSocket": (job) => urql(job, ws(job)),
  "urql over SSE": (job) => urql(job, sse(job)),
  "urql alone": (job) => urql(job, null),
  "Apollo over WebSocket": (job) => apollo(job, ws(job), (socket) => new GraphQLWsLink(socket)),
  "Apollo over SSE": (job) => apollo(job, sse(job), (events) => new SseLink(events)),
  "Apollo alone": (job) => apollo(job, null, () => http(job)),
};

function plain(client) {
  return {
    events: ({ document, variables }, sink) => client.subscribe({ query: document, variables }, sink),
    close: () => client.dispose(),
  };
}

function urql({ url, token }, carrier) {
  const forwarded = subscriptionExchange({
    forwardSubscription: ({ query, variables }) => ({
      subscribe: (sink) => ({ unsubscribe: carrier.subscribe({ query, variables }, sink) }),
    }),
  });
  const client = createUrql({
    url,
    exchanges: carrier ? [cacheExchange, fetchExchange, forwarded] : [cacheExchange, fetchExchange],
    fetchOptions: { headers: bearer(token) },
    fetchSubscriptions: !carrier,
    fetch: watchedFetch,
    preferGetMethod: false,
  });
  return {
    events({ kind, document, variables }, sink) {
      if (kind !== "subscription") {
        client[kind](document, variables).toPromise().then((result) => tell(sink, result)).then(sink.complete, sink.error);
        return () => {};
      }
      let told = false;
      const { unsubscribe } = client.subscription(document, variables).subscribe((result) => {
        if (result.hasNext || !told) tell(sink, result); // at the end the last result comes once more
        told = true;
        if (!result.hasNext || !result.data) sink.complete();
      });
      return unsubscribe;
    },
    close: () => carrier?.dispose(),
  };
}

const http = ({ url, token }) => new HttpLink({ uri: url, headers: bearer(token), fetch: watchedFetch });

// As the documentation of graphql-sse has it.
class SseLink extends ApolloLink {
  constructor(client) {
    super();
    this.client = client;
  }

  request({ query, variables }) {
    return new Observable((sink) => this.client.subscribe({ query: print(query), variables }, sink));
  }
}

function apollo(job, carrier, linkOf) {
  const link = ApolloLink.split(
    ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
    linkOf(carrier),
    http(job),
  );
  const client = new ApolloClient({ link, cache: new InMemoryCache() });
  return {
    events({ kind, document, variables }, sink) {
      const options = { variables, errorPolicy: "all" };
      if (kind === "subscription") {
        const running = client.subscribe({ query: gql(document), ...options }).subscribe({
          next: (result) => tell(sink, result),
          error: sink.error,
          complete: sink.complete,
        });
        return () => running.unsubscribe();
      }
      const done = kind === "query" ? client.query({ query: gql(document), ...options }) : client.mutate({ mutation: gql(document), ...options });
      done.then((result) => tell(sink, result)).then(sink.complete, sink.error);
      return () => {};
    },
    close() {
      client.stop();
      return carrier?.dispose();
    },
  };
}

// urql and Apollo wrap what GraphQL says and what the connection says into one error.
function tell(sink, { data, error }) {
  const errors = error?.graphQLErrors ?? error?.errors;
  if (error && !errors?.length) sink.error(error.networkError ?? error);
  else sink.next({ data, errors });
}

let lastUsed = null; // stays connected, so that leaving a subscription, not the server, is what is seen

async function run(job) {
  exchanged = [];
  await lastUsed?.close();
  const client = (lastUsed = CLIENTS[job.client](job));
  const results = [];
  const failure = await new Promise((resolve) => {
    let leave = () => {};
    const sink = {
      next(result) {
        results.push({ data: result.data ?? null, codes: codes(result.errors) });
        if (results.length === job.take) setTimeout(() => resolve(leave()));
      },
      error: resolve,
      complete: () => resolve(null),
    };
    leave = client.events(job, sink);
  });
  return { results, failure: failure ? described(failure) : null, exchanged };
}

const codes = (errors) => (errors ?? []).map((error) => error.extensions?.code ?? null);

function described(failure) {
  if (Array.isArray(failure)) return { codes: codes(failure) };
  return { close: failure.code ?? null, status: failure.response?.status ?? failure.statusCode ?? null, text: String(failure.message ?? failure.reason) };
}

for await (const line of createInterface({ input: process.stdin })) {
  const outcome = await Promise.race([
    run(JSON.parse(line)).catch((error) => ({ results: [], failure: described(error), exchanged })),
    new Promise((resolve) => setTimeout(() => resolve({ results: [], failure: { text: "nothing came in 20 s" }, exchanged }), 20_000).unref()),
  ]);
  console.log(JSON.stringify(outcome));
}
process.exit(0);

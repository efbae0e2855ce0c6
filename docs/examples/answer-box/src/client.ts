// Runs typed documents over one HTTP address: queries as JSON, subscriptions as server-sent events.
import type { TypedDocumentNode } from "@graphql-typed-document-node/core";
import { type DocumentNode, type ExecutionResult, print } from "graphql";
import { createClient, NetworkError } from "graphql-sse";

/** Gives the token of whoever is signed in; asked before each request, so that it may change. */
export type Token = () => string | null | Promise<string | null>;

/** What the server refused, by its stable code; docs/errors.md of the server lists them. UNREACHABLE: it was not there. */
export class Refusal extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

export interface Client {
  ask<Data, Variables>(document: TypedDocumentNode<Data, Variables>, variables: Variables): Promise<Data>;
  /** Calls `next` for each event and gives a function that leaves, which ends the work on the server too. */
  listen<Data, Variables>(
    document: TypedDocumentNode<Data, Variables>,
    variables: Variables,
    next: (data: Data) => void,
    ended: (error: Refusal | null) => void,
  ): () => void;
}

export function connect(url: string, token: Token): Client {
  const headers = async (): Promise<Record<string, string>> => {
    const held = await token();
    return held ? { Authorization: `Bearer ${held}` } : {};
  };
  const events = createClient({ url, headers, retryAttempts: 0 });
  return {
    async ask(document, variables) {
      const response = await fetch(url, {
        method: "POST",
        headers: { "Content-Type": "application/json", Accept: "application/json", ...(await headers()) },
        body: JSON.stringify({ query: print(document as DocumentNode), variables }),
      });
      return dataOf(await response.json());
    },
    listen(document, variables, next, ended) {
      let open = true;
      const end = (error: Refusal | null) => {
        if (open) ended(error);
        open = false;
      };
      const leave = events.subscribe<Record<string, unknown>>(
        { query: print(document as DocumentNode), variables: variables as Record<string, unknown> },
        {
          next(result) {
            try {
              if (open) next(dataOf(result as ExecutionResult<never>));
            } catch (error) {
              end(refusalOf(error));
              leave();
            }
          },
          error: (error) => void refused(error).then(end),
          complete: () => end(null),
        },
      );
      return () => {
        open = false;
        leave();
      };
    },
  };
}

function dataOf<Data>(result: ExecutionResult<Data>): Data {
  const error = result.errors?.[0];
  if (error || !result.data) throw new Refusal(String(error?.extensions?.["code"] ?? "INTERNAL"), error?.message ?? "");
  return result.data;
}

function refusalOf(error: unknown): Refusal {
  return error instanceof Refusal ? error : new Refusal("UNREACHABLE", String(error));
}

/** Reads the code out of an answer that refused the whole request, such as 401. */
async function refused(error: unknown): Promise<Refusal> {
  const first = Array.isArray(error) ? error[0] : null;
  if (first) return new Refusal(String(first.extensions?.code ?? "INTERNAL"), first.message);
  const response = error instanceof NetworkError ? (error.response as Response | undefined) : undefined;
  try {
    dataOf(JSON.parse((await response?.text()) ?? ""));
  } catch (told) {
    return refusalOf(told);
  }
  return refusalOf(error);
}

// The state of one answer while it arrives.
import { useCallback, useEffect, useReducer, useRef } from "react";
import type { Client, Refusal } from "./client";
import { type AnswerSubscription, type AnswerSubscriptionVariables, AnswerDocument } from "./generated";

type Event = AnswerSubscription["answer"];
export type Found = Extract<Event, { __typename: "AnswerFound" }>;
export type Answer = Extract<Event, { __typename: "AnswerDone" }>["answer"];
export type Citation = Answer["citations"][number];
export type Card = Found["sources"][number];

export interface State {
  phase: "idle" | "searching" | "writing" | "done" | "failed" | "stopped";
  found: Found | null;
  text: string;
  answer: Answer | null;
  code: string | null;
}

type Action = { kind: "asked" } | { kind: "stopped" } | { kind: "event"; event: Event } | { kind: "ended"; error: Refusal | null };

const IDLE: State = { phase: "idle", found: null, text: "", answer: null, code: null };

function reduce(state: State, action: Action): State {
  switch (action.kind) {
    case "asked":
      return { ...IDLE, phase: "searching" };
    case "stopped":
      return { ...state, phase: "stopped" };
    case "ended":
      if (state.phase === "done") return state;
      return { ...state, phase: "failed", code: action.error?.code ?? "UNREACHABLE" };
    case "event":
      return arrived(state, action.event);
  }
}

function arrived(state: State, event: Event): State {
  switch (event.__typename) {
    case "AnswerFound":
      return { ...state, phase: "writing", found: event };
    case "AnswerDelta":
      return { ...state, text: state.text + event.text };
    case "AnswerDone":
      return { ...state, phase: "done", text: event.answer.text, answer: event.answer };
  }
}

/** The answer to the last question, and what asks and stops; leaving the page stops too. */
export function useAnswer(client: Client): [State, (variables: AnswerSubscriptionVariables) => void, () => void] {
  const [state, dispatch] = useReducer(reduce, IDLE);
  const leave = useRef<(() => void) | null>(null);
  useEffect(() => () => leave.current?.(), [client]);
  const ask = useCallback(
    (variables: AnswerSubscriptionVariables) => {
      leave.current?.();
      dispatch({ kind: "asked" });
      leave.current = client.listen(
        AnswerDocument,
        variables,
        ({ answer }) => dispatch({ kind: "event", event: answer }),
        (error) => dispatch({ kind: "ended", error }),
      );
    },
    [client],
  );
  const stop = useCallback(() => {
    leave.current?.();
    dispatch({ kind: "stopped" });
  }, []);
  return [state, ask, stop];
}

// The box: a question, an answer that arrives piece by piece, and the sources it rests on.
import { type ReactNode, useId, useRef, useState } from "react";
import type { Client } from "./client";
import { DocumentDialog } from "./DocumentDialog";
import { type Answer, type Card, type Citation, type State, useAnswer } from "./useAnswer";
import { type Language, WORDS, type Words } from "./words";

export interface AnswerBoxProps {
  client: Client;
  language: Language;
  /** The knowledge bases to ask; null: all that the reader may read. */
  namespaces: string[] | null;
}

const numberOf = (citation: Citation) => citation.marker.replace(/[[\]]/g, "");
const nameOf = (card: Card) => JSON.stringify([card.namespace, card.key]);

export function AnswerBox({ client, language, namespaces }: AnswerBoxProps) {
  const words = WORDS[language];
  const [state, ask, stop] = useAnswer(client);
  const [question, setQuestion] = useState("");
  const [lit, setLit] = useState<Citation | null>(null);
  const [opened, setOpened] = useState<{ card: Card; text: string | null } | null>(null);
  const field = useId();
  const cards = useRef(new Map<string, HTMLButtonElement>());
  const busy = state.phase === "searching" || state.phase === "writing";
  const citations = state.answer?.citations ?? [];

  const submit = () => {
    setLit(null);
    if (question.trim()) ask({ question, namespaces, locale: language === "ru" ? "RU" : "EN" });
  };
  const cite = (citation: Citation) => {
    setLit(citation);
    cards.current.get(nameOf(citation.card))?.focus();
  };
  return (
    <div className="answer-box" lang={language}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <label htmlFor={field}>{words.label}</label>
        <div className="ask">
          <input
            id={field}
            type="search"
            autoComplete="off"
            maxLength={2000}
            placeholder={words.placeholder}
            value={question}
            onChange={(event) => setQuestion(event.target.value)}
          />
          {busy ? (
            <button key="stop" type="button" onClick={stop}>
              {words.stop}
            </button>
          ) : (
            <button key="ask" type="submit">
              {words.ask}
            </button>
          )}
        </div>
      </form>
      <p className="status" role="status" data-phase={state.phase}>
        {statusOf(state, words)}
      </p>
      {state.phase === "failed" && (
        <div className="note" role="alert">
          {state.code === "UNAUTHENTICATED" ? words.signIn : words.failed(state.code ?? "")}{" "}
          <button type="button" onClick={submit}>
            {words.again}
          </button>
        </div>
      )}
      {(state.text || state.answer) && (
        <section aria-label={words.answer} aria-busy={busy} className="answer" data-status={state.answer?.status}>
          <CitedText text={state.text} citations={citations} words={words} onCite={cite} onLight={setLit} />
          <Note answer={state.answer} words={words} onAgain={submit} />
        </section>
      )}
      {state.found && state.found.sources.length > 0 && (
        <section aria-label={words.sources} className="sources">
          <h2>{words.sources}</h2>
          <ol>
            {state.found.sources.map((card) => {
              const name = nameOf(card);
              const citing = citations.filter((citation) => nameOf(citation.card) === name);
              const shown = lit && citing.includes(lit) ? lit : null;
              const piece = (shown ?? citing[0])?.fragment ?? state.found?.hits.find((hit) => nameOf(hit.card) === name)?.fragment;
              return (
                <li key={name}>
                  <button
                    type="button"
                    ref={(element) => {
                      if (element) cards.current.set(name, element);
                      return () => void cards.current.delete(name);
                    }}
                    className={shown ? "card lit" : "card"}
                    aria-current={shown ? "true" : undefined}
                    onClick={() => setOpened({ card, text: piece?.text ?? null })}
                  >
                    <span className="title">{card.title}</span>
                    {piece?.heading && <span className="heading">{piece.heading}</span>}
                    {citing.length > 0 && <span className="markers">{[...new Set(citing.map(numberOf))].join(", ")}</span>}
                    <span className="open">{citing.length > 0 ? words.openCited : words.openFound}</span>
                  </button>
                </li>
              );
            })}
          </ol>
        </section>
      )}
      {opened && <DocumentDialog client={client} {...opened} words={words} onClose={() => setOpened(null)} />}
    </div>
  );
}

function statusOf(state: State, words: Words): string {
  switch (state.phase) {
    case "searching":
      return words.searching;
    case "writing":
      return words.writing;
    case "stopped":
      return words.stopped;
    case "done":
      return words.ready(new Set(state.answer?.citations.map((one) => nameOf(one.card))).size);
    default:
      return "";
  }
}

function Note({ answer, words, onAgain }: { answer: Answer | null; words: Words; onAgain: () => void }) {
  const note = answer && words.notes[answer.status];
  if (!note) return null;
  return (
    <p className="note" role="alert">
      {note}{" "}
      {answer.status === "UNAVAILABLE" && (
        <button type="button" onClick={onAgain}>
          {words.again}
        </button>
      )}
    </p>
  );
}

interface CitedTextProps {
  text: string;
  citations: Citation[];
  words: Words;
  onCite: (citation: Citation) => void;
  onLight: (citation: Citation) => void;
}

/** Text with its citations as superscripts; offsets count UTF-16 code units, as strings here do. */
function CitedText({ text, citations, words, onCite, onLight }: CitedTextProps) {
  const parts: ReactNode[] = [];
  let done = 0;
  for (const [number, citation] of citations.entries()) {
    parts.push(...written(text.slice(done, Math.max(done, citation.start)).replace(/ $/, ""), number));
    done = Math.max(done, citation.end);
    const marker = numberOf(citation);
    parts.push(
      <sup key={number}>
        <button
          type="button"
          className="marker"
          aria-label={words.citation(marker, citation.card.title)}
          onClick={() => onCite(citation)}
          onMouseEnter={() => onLight(citation)}
          onFocus={() => onLight(citation)}
        >
          {marker}
        </button>
      </sup>,
    );
  }
  parts.push(...written(text.slice(done), citations.length));
  return <div className="text">{parts}</div>;
}

/** The two marks of Markdown that answers are full of; everything else stands as it was written. */
function written(text: string, place: number): ReactNode[] {
  return text.split(/(`[^`\n]+`|\*\*[^*\n]+\*\*)/).map((part, number) => {
    if (number % 2 === 0) return part;
    const key = `${place}-${number}`;
    return part.startsWith("`") ? <code key={key}>{part.slice(1, -1)}</code> : <strong key={key}>{part.slice(2, -2)}</strong>;
  });
}

// Opens a document where it was cited. Stored text is shown as text, whatever stands in it.
import { useEffect, useId, useRef, useState } from "react";
import type { Client } from "./client";
import { DocumentDocument, type DocumentQuery } from "./generated";
import { placeOf } from "./place";
import type { Card } from "./useAnswer";
import type { Words } from "./words";

interface DocumentDialogProps {
  client: Client;
  card: Card;
  /** The cited piece; null: only the document is known. */
  text: string | null;
  words: Words;
  onClose: () => void;
}

export function DocumentDialog({ client, card, text, words, onClose }: DocumentDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const mark = useRef<HTMLElement>(null);
  const title = useId();
  const [source, setSource] = useState<DocumentQuery["source"] | undefined>();

  useEffect(() => {
    dialog.current?.showModal();
    let shown = true;
    client
      .ask(DocumentDocument, { namespace: card.namespace, key: card.key })
      .then(({ source }) => shown && setSource(source))
      .catch(() => shown && setSource(null));
    return () => {
      shown = false;
    };
  }, [client, card]);
  useEffect(() => {
    mark.current?.scrollIntoView({ block: "center" });
    mark.current?.focus({ preventScroll: true });
  }, [source]);

  const content = source?.content ?? null;
  const place = content !== null && text !== null ? placeOf(content, text) : null;
  return (
    <dialog ref={dialog} aria-labelledby={title} className="document" onClose={onClose}>
      <header>
        <h2 id={title}>{card.title}</h2>
        {card.sourcePath && /^https?:\/\//i.test(card.sourcePath) && (
          <a href={card.sourcePath} target="_blank" rel="noreferrer">
            {words.original}
          </a>
        )}
        <button type="button" onClick={() => dialog.current?.close()}>
          {words.close}
        </button>
      </header>
      {source === undefined && <p role="status">{words.loading}</p>}
      {source !== undefined && content === null && <p role="alert">{words.gone}</p>}
      {content !== null && text !== null && !place && <p role="note">{words.elsewhere}</p>}
      {content !== null && (
        <div className="content" tabIndex={0} role="region" aria-labelledby={title}>
          {place ? (
            <>
              {content.slice(0, place.start)}
              <mark ref={mark} tabIndex={-1}>
                {content.slice(place.start, place.end)}
              </mark>
              {content.slice(place.end)}
            </>
          ) : (
            content
          )}
        </div>
      )}
    </dialog>
  );
}

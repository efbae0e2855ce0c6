// What the box says, in two languages.
import type { AnswerStatus } from "./generated";

export interface Words {
  label: string;
  placeholder: string;
  ask: string;
  stop: string;
  answer: string;
  sources: string;
  searching: string;
  writing: string;
  ready: (sources: number) => string;
  stopped: string;
  /** Said under the text; where nothing was found or nobody writes, the text itself says so. */
  notes: Partial<Record<AnswerStatus, string>>;
  signIn: string;
  failed: (code: string) => string;
  again: string;
  citation: (marker: string, title: string) => string;
  openCited: string;
  openFound: string;
  close: string;
  original: string;
  loading: string;
  gone: string;
  elsewhere: string;
}

const en: Words = {
  label: "Your question",
  placeholder: "Ask the documentation …",
  ask: "Ask",
  stop: "Stop",
  answer: "Answer",
  sources: "Sources",
  searching: "Searching …",
  writing: "Writing the answer …",
  ready: (sources) => `Ready. Sources cited: ${sources}.`,
  stopped: "Stopped.",
  notes: {
    REFUSED: "The model declined to answer. The sources are below.",
    TRUNCATED: "The answer was too long and ends early. The sources have the rest.",
    UNAVAILABLE: "No answer could be written now. The sources are below.",
  },
  signIn: "Please sign in again.",
  failed: (code) => `The question could not be answered (${code}).`,
  again: "Try again",
  citation: (marker, title) => `Source ${marker}: ${title}`,
  openCited: "Open at the cited place",
  openFound: "Open what was found",
  close: "Close",
  original: "Original page",
  loading: "Loading …",
  gone: "This document cannot be opened any more.",
  elsewhere: "The cited text was not found in the document; it may have changed.",
};

const ru: Words = {
  label: "Ваш вопрос",
  placeholder: "Спросите документацию …",
  ask: "Спросить",
  stop: "Остановить",
  answer: "Ответ",
  sources: "Источники",
  searching: "Ищем …",
  writing: "Пишем ответ …",
  ready: (sources) => `Готово. Процитировано источников: ${sources}.`,
  stopped: "Остановлено.",
  notes: {
    REFUSED: "Модель отказалась отвечать. Источники ниже.",
    TRUNCATED: "Ответ слишком длинный и обрывается. Остальное — в источниках.",
    UNAVAILABLE: "Сейчас ответ написать не удалось. Источники ниже.",
  },
  signIn: "Войдите, пожалуйста, ещё раз.",
  failed: (code) => `На вопрос не удалось ответить (${code}).`,
  again: "Повторить",
  citation: (marker, title) => `Источник ${marker}: ${title}`,
  openCited: "Открыть на цитате",
  openFound: "Открыть найденное",
  close: "Закрыть",
  original: "Исходная страница",
  loading: "Загружаем …",
  gone: "Этот документ больше нельзя открыть.",
  elsewhere: "Цитата в документе не нашлась: возможно, он изменился.",
};

export type Language = "en" | "ru";
export const WORDS: Record<Language, Words> = { en, ru };

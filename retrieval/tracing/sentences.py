"""The sentences of decisions, in the language of what was asked."""

from __future__ import annotations

from typing import Any

from retrieval.prompt import Language

SENTENCES: dict[str, dict[Language, str]] = {
    "included_contextPack": {
        "en": "It is in the pack: its score is {score:.4f} and it takes {tokens:,} tokens.",
        "ru": "Входит в пакет: оценка {score:.4f}, токенов {tokens:,}.",
    },
    "over_budget_contextPack": {
        "en": "It did not fit: when its turn came (score {score:.4f}), fewer of the {budget:,} tokens were left than it takes "
        "({tokens:,}), alone or with what must enter with it.",
        "ru": "Не поместилось: когда дошла очередь (оценка {score:.4f}), из {budget:,} токенов оставалось меньше, чем нужно "
        "ему ({tokens:,}) или ему вместе с тем, что входит только с ним.",
    },
    "duplicate_contextPack": {
        "en": "The pack has the same already: an equal text, or another item of the same entity.",
        "ru": "В пакете это уже есть: такой же текст или другой элемент той же сущности.",
    },
    "outranked_contextPack": {
        "en": "It was found below the last admitted rank: {ranks} (ranks count from 0).",
        "ru": "Найдено ниже последнего принятого места: {ranks} (места считаются с 0).",
    },
    "not_a_candidate_contextPack": {
        "en": "No channel found it; the last admitted ranks are: {worst} (ranks count from 0).",
        "ru": "Ни один канал этого не нашёл; последние принятые места: {worst} (места считаются с 0).",
    },
    "included_search": {
        "en": "It is among the first {k}, with score {score:.4f}.",
        "ru": "Входит в первые {k}, оценка {score:.4f}.",
    },
    "outranked_search": {
        "en": "It was found, and its score {score:.4f} is below the first {k}: {ranks} (ranks count from 0).",
        "ru": "Найдено, но оценка {score:.4f} ниже первых {k}: {ranks} (места считаются с 0).",
    },
    "outranked_reranked": {
        "en": "It was found, and the chat model's order left it behind the first {k}.",
        "ru": "Найдено, но в порядке, который дала чат-модель, стоит после первых {k}.",
    },
    "not_a_candidate_search": {
        "en": "No channel found it; the last ranks among the first {k} are: {worst} (ranks count from 0).",
        "ru": "Ни один канал этого не нашёл; последние места среди первых {k}: {worst} (места считаются с 0).",
    },
    "included_typedContext": {"en": "The walk came to it.", "ru": "Обход дошёл до этого."},
    "not_a_candidate_typedContext": {"en": "The walk did not come to it.", "ru": "Обход до этого не дошёл."},
    "current": {
        "en": "It is the state that was given with the question, and goes first.",
        "ru": "Это состояние, переданное вместе с вопросом; оно идёт первым.",
    },
    "not_found": {"en": "There is nothing like it that you may see.", "ru": "Нет ничего такого, что вам видно."},
    "ranks": {
        "en": "{channel} ranked it {rank} and admitted up to {worst}",
        "ru": "{channel}: место {rank}, принято по {worst}",
    },
    "none": {"en": "none", "ru": "нет"},
}


def sentence(language: Language, name: str, **values: Any) -> str:
    """A sentence with its values.

    >>> sentence("en", "included_search", k=8, score=0.5)
    'It is among the first 8, with score 0.5000.'
    """
    return SENTENCES[name][language].format(**values)

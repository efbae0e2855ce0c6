"""Rules against text that passes for structure: control tokens and turns of chats, our headings, ends of documents."""

from __future__ import annotations

from typing import Any

from retrieval.untrusted.rule import Kind, Rule, quoted, widened

CONTEXT_HEADINGS = ("Найденные фрагменты", "Связанные сущности", "Fragments found", "Related entities")
"""The headings of `context`; a heading that begins like one of them is escaped."""
PACK_HEADINGS = (
    *("current", "relevantFacts", "episodes", "documents", "relatedEntities", "recentObservations"),
    *("Current state", "Current context", "Current", "Relevant facts", "Facts", "Episodes", "Documents", "Recent observations"),
    *("Текущее состояние", "Текущий контекст", "Сейчас", "Факты", "Относящиеся факты", "Актуальные факты", "Важные факты"),
    *("Релевантные факты", "Эпизоды", "Документы", "Недавние наблюдения", "Последние наблюдения", "Наблюдения"),
)
"""The headings of a pack; a heading that says just this is escaped."""

# Names of elements that chat models were trained to take for turns, calls of tools or thoughts.
_ELEMENTS = (
    "im_start|im_end|im_sep|endoftext|start_of_turn|end_of_turn|bos|eos|pad|unk|sop|eop|[a-z_]+_token|s"
    "|system|assistant|developer|system[-_](?:prompt|message|reminder|instructions?)|user_(?:query|message|prompt)"
    "|tools?|tool_(?:calls?|code|use|results?|responses?|outputs?)|function_(?:calls?|results?|responses?)|function=[^<>＜＞\\n]*"
    "|instructions?|prompt|[a-z]+_(?:input|content|context|prompt|instructions|query)|invoke|antml:[a-z_]+|think|thinking|thought|reasoning|scratchpad|(?-i:IMPORTANT)"
)
# What was made safe stands in none, so that it stays as it is when it is looked at again.
_CHAT_TOKENS = (
    r"(?i)<[|｜][^<>＜＞\n]+[|｜]>"
    rf"|</?(?:{_ELEMENTS})(?:[ \t][^<>＜＞\n]*)?/?>"
    r"|<<[ \t]*/?SYS[ \t]*>>"
    r"|\[[ \t]*/?(?:INST|(?-i:AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|SYSTEM_PROMPT|THINK|gMASK|sMASK))[ \t]*\]"
)

_MARK = r"^[ \t>*_#\-+•|\"'`]*(?:[0-9]+[.)][ \t*_]*)?"
_ROLE = (
    "system|assistant|ai assistant|(?-i:User|USER|Human|HUMAN|Developer|DEVELOPER|Tool|TOOL|AI|Bot|Model|Chatbot|OVERRIDE)"
    "|система|системный|ассистент|пользователь|человек|разработчик|инструмент|(?-i:ИИ|Бот|Модель)"
    "|système|systeme|sistema|asistente|assistente"
)
# In lower case and further in these are names of fields in code.
_PLAIN_ROLE = r"^[ \t]?[>*_#\-+•|\"'`]*[ \t]?(?:user|human|developer|tool)"
_SYSTEM_SAYS = (
    "(?:system|developer|admin|administrator|operator)[ -](?:note|message|prompt|override|instructions?|directive)"
    "|system-?(?:hinweis|nachricht|anweisung|meldung)"
    "|(?:note|message|instruction|consigne|invite)s? (?:du )?syst[èe]me"
    "|(?:nota|mensaje|instrucci[óo]n|messaggio|istruzion[ei])(?: del?| di)? sistema"
    "|системн(?:ое|ая|ый|ые) (?:сообщение|инструкци[яи]|примечание|промпт|указани[ея]|заметка|запрос)"
)
_ROLE_HEADERS = (
    rf"(?im){_MARK}(?:(?:{_ROLE})|(?:[\p{{L}}]+ )?(?:{_SYSTEM_SAYS})"
    r"|\p{L}+ \((?:assistant|system|developer|ai|ассистент)\))[ \t*_]*:"
    rf"|{_PLAIN_ROLE}[ \t*_]*:"
    rf"|{_MARK}#[# \t]*(?:instruction|response|input|инструкция|ответ)[ \t*_]*:"
)
_ROLE_BRACKETS = (
    rf"(?m){_MARK}\[[ \t]*(?:SYSTEM|System|ASSISTANT|Assistant|DEVELOPER|Developer|USER|User|HUMAN|Human|СИСТЕМА|Система)"
    r"(?:[ \t][A-Za-zА-Яа-я]+)?[ \t]*\]"
    rf"|(?i){_MARK}\[(?:system|assistant|developer|user|human)\](?:\(#|[ \t]*:)"
    rf"|(?i){_MARK}<(?:user|human)>"
)

_SPACE = r"[ \t\x{A0}\x{1680}\x{2000}-\x{200A}\x{202F}\x{205F}\x{3000}]"
_STYLE = r"[*_`]"
_OURS, _WHOLE = (
    "|".join(heading.replace(" ", f"(?:{_SPACE}|{_STYLE})+") for heading in headings)
    for headings in (CONTEXT_HEADINGS, PACK_HEADINGS)
)
# In a quotation and in a list a heading is one too.
_LINE = rf"^(?:{_SPACE}|[>*+\-]|[0-9]{{1,3}}[.)])*"
_HASHES = "#＃﹟"
_HEADINGS = (
    rf"(?im){_LINE}[{_HASHES}]{{1,6}}(?:{_SPACE}|{_STYLE})*"
    rf"(?:(?:{_OURS})|(?:{_WHOLE})(?:{_SPACE}|[:#*_`])*(?:\([^()\n]*\))?(?:{_SPACE}|[#*_`])*$"
    r"|\\?[\[［][^\]］\n]*[\]］](?:[^(\[\n]|$))"
)
_UNDERLINED = (
    rf"(?im){_LINE}{_STYLE}*(?:(?:{_OURS})[^\n]*|(?:{_WHOLE})(?:{_SPACE}|[:*_`])*)\n((?:{_SPACE}|>)*)(?:=+|-+){_SPACE}*$"
)
_ELEMENT_HEADINGS = rf"(?i)<h[1-6](?:[ \t][^<>\n]*)?>[ \t\n]*(?:{_OURS}|(?:{_WHOLE})[ \t:]*<)"

_RULER = r"[-=#~+<>\[\]{}*_–—─-╿■-◿]"
_FENCE = rf"(?:{_RULER}{{2,}}|[\[<({{])"
_FENCE_END = rf"(?:{_RULER}{{2,}}|[\])>}}])"
_END_MARKS = (
    rf"(?im)^[ \t]*{_FENCE}[ \t]*(?:(?:begin|end|start)(?:ning)?[ \t]+(?:of[ \t]+)?(?:[a-z]+[ \t]+){{0,2}}"
    r"(?:documents?|input|context|data|prompts?|system|instructions?|conversation|messages?|content|text|query|request|"
    r"sources?|results?|output|passage|fragments?)"
    r"|(?:new[ \t]+|updated[ \t]+)?(?:system|developer|admin)[ \t]+(?:prompt|message|instructions?|override|note|notice)"
    r"|new[ \t]+instructions?"
    r"|(?:конец|начало)[ \t]+(?:[а-яё]+[ \t]+){0,2}"
    r"(?:документ|контекст|данных|ввод|запрос|промпт|инструкци|сообщени|текст|разговор|диалог|фрагмент)[а-яё]*)"
    rf"[ \t]*{_FENCE_END}"
    r"|^[ \t]*[-=#~+<>\[\]{}]{2,}[ \t]*(?-i:SYSTEM|System|ASSISTANT|Assistant|ADMIN|DEVELOPER|СИСТЕМА)[ \t]*[-=#~+<>\[\]{}]{2,}"
)


def _heading(text: str, found: Any) -> str:
    piece = text[found.start() : found.end()]
    at = next(at for at, sign in enumerate(piece) if sign in _HASHES)
    return f"{piece[:at]}\\{piece[at:]}"


def _underline(text: str, found: Any) -> str:
    at = found.end(1)
    return f"{text[found.start() : at]}\\{text[at : found.end()]}"


def _colon(text: str, found: Any) -> str:
    return text[found.start() : found.end() - 1] + "："


def _end_mark(text: str, found: Any) -> str | None:
    return quoted(text, found.start(), found.end())


RULES = (
    Rule(Kind.CHAT_TOKEN, _CHAT_TOKENS, widened),
    Rule(Kind.END_MARK, _END_MARKS, _end_mark),
    Rule(Kind.ROLE_HEADER, _ROLE_HEADERS, _colon),
    Rule(Kind.ROLE_HEADER, _ROLE_BRACKETS, widened),
    Rule(Kind.HEADING, _HEADINGS, _heading),
    Rule(Kind.HEADING, _UNDERLINED, _underline),
    Rule(Kind.HEADING, _ELEMENT_HEADINGS, widened),
)

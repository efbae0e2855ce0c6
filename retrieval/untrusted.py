"""Makes stored text harmless for a prompt: it stays readable, and cannot pass for our own structure or for a chat turn."""

from __future__ import annotations

import re
import unicodedata

# Tab and line breaks are kept; zero-width joiners too, since Indic and Persian words and emoji need them.
_KEPT = frozenset("\t\n\u200c\u200d")
# Whatever a model may read as a new line is one, so that what begins a line is found.
_LINE_END = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_CHAT_TOKEN = re.compile(r"<\|[^<>|\n]{1,40}\|>|<<?/?SYS>>?|\[/?INST\]|</?s>", re.IGNORECASE)
_ROLE_HEADER = re.compile(
    r"^(?P<mark>[ \t>*_#]*)(?P<role>system|assistant|user|developer|tool|система|ассистент|пользователь)(?P<end>[ \t*_]*):",
    re.IGNORECASE | re.MULTILINE,
)
_OUR_HEADING = re.compile(
    r"^(?P<mark>[ \t]*#{1,6}[ \t]*)"
    r"(?P<name>Найденные фрагменты|Связанные сущности|Fragments found|Related entities|\[)",
    re.IGNORECASE | re.MULTILINE,
)


def neutralize(text: str) -> str:
    """The safe form of a stored text: no invisible controls, chat tokens, role headers or headings that look like ours."""
    text = strip_invisible(text)
    text = _CHAT_TOKEN.sub(lambda found: widen(found[0]), text)
    text = _ROLE_HEADER.sub(lambda found: f"{found['mark']}{found['role']}{found['end']}：", text)
    return _OUR_HEADING.sub(lambda found: "\\" + found[0].lstrip(), text)


def neutralize_line(text: str) -> str:
    """The safe form of a title, a key or a path: one line, without what could start a section."""
    return neutralize(" ".join(text.split())).strip()


def strip_invisible(text: str) -> str:
    """Without control, bidirectional and other invisible characters, line breaks as LF."""
    if text.isascii() and text.isprintable():
        return text
    text = _LINE_END.sub("\n", text)
    return "".join(character for character in text if character in _KEPT or not invisible(character))


def invisible(character: str) -> bool:
    """True for what a reader cannot see: controls, format characters, private use and tags."""
    return unicodedata.category(character) in ("Cc", "Cf", "Co", "Cn")


def widen(token: str) -> str:
    """A chat token that is one no more: its brackets become their full-width look-alikes."""
    return token.translate(str.maketrans("<>[]|", "＜＞［］｜"))

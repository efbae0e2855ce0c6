"""A rule against images and links that could carry data away: placeholders, encoded text and prompt data in the URL."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any
from urllib.parse import unquote

from retrieval.tuning import UNTRUSTED_URL_CHARACTERS
from retrieval.untrusted.rule import FULL_WIDTH, Kind, Rule

_ELEMENT = r"<(?:a|img|image|iframe|video|audio|source|embed|object|form|link|script|input|svg)[ \t\n][^<>]*?"
_ATTRIBUTE = r"(?:src|srcset|href|action|data|poster|background)[ \t]*=[ \t]*[\"']?[ \t]*"
_LEAD = rf"\]\([ \t\n]*<?|\]:[ \t]*<?|{_ELEMENT}{_ATTRIBUTE}"
_URL = r"(?:[^\s\"'`()]|\([^\s\"'`()]*\))"
_LINKS = (
    rf"(?i)(?:({_LEAD})((?:https?:)?//{_URL}+|(?:data:(?:text|application)|javascript:|vbscript:){_URL}*)"
    rf"|(https?://{_URL}+))"
)
SUSPECT = r"(?i)\b(?:data|javascript|vbscript):"
SUSPECT_ADDRESS = r"(?i)//[^\s\"'`]*(?:[{<\[$%=]|__|[a-z0-9+_-]{16})"
"""In the syntax of RE2: what a text without such a link seldom matches."""
_LEADING, _URL_AT, _BARE = 1, 2, 3

_PLACEHOLDER = re.compile(
    r"\{[^{}\s]*\}|\{\{|\$\(|\$[A-Z_]{3,}|<[A-Za-z][\w .-]*>|\[[A-Za-z][\w .-]*\]|%7[Bb]|%5[Bb][A-Z_]{3,}|__[A-Z][A-Z_]+__"
    r"|[?&#][\w.-]+=(?:[A-Z]+_)*(?:DATA|PROMPT|SECRETS?|HISTORY|CONVERSATION|PASSWORD|SUMMARY|CONTEXT|CREDENTIALS)(?:_[A-Z]+)*(?:&|$)"
)
_PROMPT = (
    r"(?:system_?prompt|conversation|chat_?(?:history|log)|history|context|secrets?|passw(?:or)?d|api_?key|credentials?"
    r"|exfil\w*|stolen\w*|leak\w*|prompt_?data|user_?data|env|memory)"
)
_PROMPT_DATA = re.compile(rf"[?&#]{_PROMPT}=", re.IGNORECASE)
_OPEN_END = re.compile(r"[?&#][\w.-]+=$")
_CARRIED = re.compile(rf"[?&#](?:{_PROMPT}|[\w.-]+)=(?:\{{+|\$\{{|<|\[|%7B){_PROMPT}", re.IGNORECASE)
_RUN = re.compile(r"[A-Za-z0-9+_-]{16,}={0,2}|[A-Za-z0-9+/]{16,}={0,2}")
_HEX = re.compile(r"(?:[0-9a-f]{2}){10,}", re.IGNORECASE)
_HIDDEN_LETTER = re.compile(r"%(?:3[0-9]|4[1-9a-f]|5[0-9a]|6[1-9a-f]|7[0-9a])", re.IGNORECASE)
_HIDDEN_LETTERS = 4


def _defused(text: str, found: Any) -> str | None:
    linked = found[_LEADING] is not None
    start, end = found.span(_URL_AT if linked else _BARE)
    if not _carries(text[start : min(end, start + UNTRUSTED_URL_CHARACTERS)], linked=linked):
        return None
    before = text[found.start() : start]
    return before.translate(FULL_WIDTH) + text[start : found.end()].replace(":", "：")


def _carries(url: str, *, linked: bool) -> bool:
    """True for a URL that carries a placeholder, encoded text or prompt data; of a bare one only what names prompt data."""
    if not linked:
        return bool(_CARRIED.search(url))
    if not url.lower().startswith(("http", "//")):
        return True
    rest = url.partition("//")[2]
    if _PLACEHOLDER.search(rest) or _PROMPT_DATA.search(rest) or _OPEN_END.search(rest):
        return True
    return _encoded(rest.partition("/")[2])


def _encoded(rest: str) -> bool:
    """True when a part of the path or the query is readable text in base64, in hex or in needless percent signs."""
    if len(_HIDDEN_LETTER.findall(rest)) >= _HIDDEN_LETTERS:
        return True
    plain = unquote(rest)
    if any(_readable(bytes.fromhex(run)) for run in _HEX.findall(plain)):
        return True
    return any(_readable(_base64(run)) for run in _RUN.findall(plain))


def _base64(run: str) -> bytes:
    run = run.rstrip("=").translate(str.maketrans("-_", "+/"))
    run = run[: len(run) - (len(run) % 4 == 1)]
    try:
        return base64.b64decode(run + "=" * (-len(run) % 4))
    except binascii.Error:
        return b""


def _readable(data: bytes) -> bool:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False
    return len(text) >= 8 and all(letter.isprintable() or letter in "\n\t" for letter in text)


RULES = (Rule(Kind.LINK, _LINKS, _defused),)

"""A rule against orders to a model: templates of words in several languages make one pattern, and what it finds is quoted.

The pattern is matched over the bytes of UTF-8, one byte a step, which keeps it small enough for the fast path of RE2.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any

from retrieval.untrusted.rule import Kind, compiled_bytes, quoted

_ASCII = "\\s*_~`\"',()\\-"
_MARKS = "\\xc2[\\xa0\\xab\\xbb]|\\xe2\\x80[\\x80-\\x8a\\x93\\x94\\x98-\\x9e]"  # wide spaces, quotes and dashes
_GAP = f"(?:[{_ASCII}]|{_MARKS})+"
_FILLER = f"(?:[^{_ASCII}.:;!?|\\xe2]|\\.[^{_ASCII}.\\xe2])+"  # never our own quotes, which begin with \xe2
_ENDING = "(?:[a-z]|[\\xc3\\xd0\\xd1][\\x80-\\xbf])*"
_COLON = f"(?:[{_ASCII}]|{_MARKS})*(?::|\\xef\\xbc\\x9a)"
# \b knows the letters of ASCII only: a Russian phrase takes along the character before it, which is no letter of ours.
_BEFORE = "(?-i:^|[\\x00-\\x2f\\x3a-\\x40\\x5b-\\x60\\x7b-\\x7f]|[\\xc2\\xe2-\\xf4][\\x80-\\xbf]+)"
_EDGES = {"english": ("\\b", "\\b"), "european": ("\\b", "\\b"), "russian": (_BEFORE, "")}
_CLASS = re.compile(r"(?P<name>\w+) = (?P<words>.+)")


def pattern_of(template: str, words: Mapping[str, str], end: str) -> str:
    """A template as a pattern over bytes; `end` follows a phrase that ends with a word.

    Words stand with anything between them that is no end of a sentence. `{name}` is one of a class of words, `~3` up to
    three words of any kind, `?` before a word makes it optional, `*` is any ending, `_` a space inside alternatives, `:` a colon.
    """
    parts: list[str] = []
    tokens = template.split()
    for token, following in zip(tokens, [*tokens[1:], ""], strict=True):
        if token == ":":
            parts = [*parts[:-1], parts[-1].removesuffix(_GAP), _COLON]
        elif token.startswith("~") and following == ":":
            parts = [*parts[:-1], parts[-1].removesuffix(_GAP), f"(?:{_GAP}{_FILLER}){{0,{token[1:]}}}", ""]
        elif token.startswith("~"):
            parts.append(f"(?:{_FILLER}{_GAP}){{0,{token[1:]}}}")
        else:
            parts.append(_word(token, words))
    made = "".join(parts).removesuffix(_GAP)
    return made if tokens[-1] in (":", "{where}") else made + end


def _word(token: str, words: Mapping[str, str]) -> str:
    optional = token.startswith("?")
    token = token.removeprefix("?")
    made = f"(?:{_letters(words[token[1:-1]] if token.startswith('{') else token)}){_GAP}"
    return f"(?:{made})?" if optional else made


def _letters(words: str) -> str:
    """Words as a pattern over bytes: spaces, endings, and letters outside ASCII in both cases, the mark apart or left out."""
    return "".join({"*": _ENDING, " ": _GAP, "_": _GAP}.get(letter) or _letter(letter) for letter in words)


def _letter(letter: str) -> str:
    if letter.isascii():
        return letter
    forms = {letter.lower(), letter.upper()}
    apart = {unicodedata.normalize("NFD", form) for form in forms}
    forms |= apart if letter == "й" else {form[0] for form in apart} | apart
    written = ["".join(f"\\x{byte:02x}" for byte in form.encode()) for form in sorted(forms, reverse=True)]
    return f"(?:{'|'.join(written + ['ue'] * (letter == 'ü'))})"


def templates_of(name: str) -> Iterator[tuple[str, str]]:
    """Each template of a vocabulary, a file of this folder, with its pattern; classes of words stand before the templates."""
    text = files("retrieval.untrusted").joinpath(f"{name}.txt").read_text(encoding="utf-8")
    words: dict[str, str] = {}
    last = ""
    for line in filter(None, map(str.strip, text.splitlines())):
        if named := _CLASS.fullmatch(line):
            last = named["name"]
            words[last] = named["words"]
        elif line.startswith("|"):
            words[last] += line
        elif not line.startswith("#"):
            yield line, pattern_of(line, words, _EDGES[name][1])


def _matcher(name: str) -> Any:
    return compiled_bytes(f"(?i){_EDGES[name][0]}({'|'.join(pattern for _, pattern in templates_of(name))})")


# One matcher a vocabulary: together their states would no longer fit the memory that makes RE2 fast.
MATCHERS = tuple(map(_matcher, _EDGES))


class PhraseRule:
    """Quotes every phrase that gives orders to a model."""

    kind = Kind.OVERRIDE

    def apply(self, text: str, seen: str) -> str:
        """The text with every phrase quoted; `seen` is the same text with look-alikes folded, letter for letter."""
        parts: list[str] = []
        end = 0
        for start, stop in _places(seen):
            safe = quoted(text, start, stop)
            if safe is not None:
                parts += [text[end:start], safe]
                end = stop
        return "".join([*parts, text[end:]]) if parts else text


def _places(seen: str) -> Iterator[tuple[int, int]]:
    """Where the phrases are, in characters; those that overlap are one, so that a quote never breaks another phrase."""
    data = seen.encode()
    byte = place = 0
    for start, stop in _joined(sorted(found.span(1) for matcher in MATCHERS for found in matcher.finditer(data))):
        place += len(data[byte:start].decode())
        length = len(data[start:stop].decode())
        yield place, place + length
        byte, place = stop, place + length


def _joined(spans: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    begun: tuple[int, int] | None = None
    for start, stop in spans:
        if begun is None or start >= begun[1]:
            if begun is not None:
                yield begun
            begun = (start, stop)
        else:
            begun = (begun[0], max(begun[1], stop))
    if begun is not None:
        yield begun


RULES = (PhraseRule(),)

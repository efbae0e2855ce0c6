"""Finds e-mail addresses, of any script, and IBANs, whatever their letters look like."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stdnum import iban

from retrieval.personal.candidates import Candidate, Sure
from retrieval.personal.kinds import Kind

_LOCAL = re.compile(r"[\w.%'+\-]*\Z")
_DOMAIN = re.compile(r"(?:[^\W_](?:[\w\-]{0,61}[^\W_])?\.){1,8}(?:xn--[a-z0-9\-]{2,59}|[^\W\d_]{2,24})", re.IGNORECASE)
_LOCAL_MOST, _DOMAIN_MOST = 128, 255
_LEADING = ".%'+-"
_NOBODY = frozenset(
    (
        "git", "hg", "svn",
        "noreply", "no-reply", "no_reply", "no.reply", "donotreply", "do-not-reply", "do_not_reply", "mailer-daemon",
        "postmaster", "hostmaster", "abuse", "noc", "security",
    )
)  # fmt: skip
"""Before the @ of addresses that no person is behind: users of repositories, as in `git@host:path`; senders that read nothing;
mailboxes that RFC 2142 reserves for the operation of a network. Who answers at `info` or `support` may be one person."""
_LOOKALIKES = str.maketrans("АВСЕНІКМОРТХУавсенікмортху", "ABCEHIKMOPTXYABCEHIKMOPTXY")
_IBAN = re.compile(r"(?<![^\W_])[A-Z]{2} ?-?\d ?\d(?:[ \n\-]{0,2}[A-Z0-9]){11,30}", re.IGNORECASE)
_SEPARATORS = re.compile(r"[ \n\-]")
_IBAN_LEAST = 15
_LATIN = "A-ZАВСЕНІКМОРТХУ"
# With look-alikes as they are: what a text without IBANs hardly ever matches. It begins with a digit, which are few to try.
_IBAN_LIKELY = re.compile(
    rf"\d(?:(?<=[{_LATIN}]{{2}}\d)|(?<=[{_LATIN}]{{2}}[ \-]\d)|(?<=[{_LATIN}]{{2}} -\d))"
    rf" ?\d(?:[ \n\-]{{0,2}}[{_LATIN}0-9]){{11}}",
    re.IGNORECASE,
)


def emails(text: str) -> Iterator[Candidate]:
    """Addresses of people in a plain text; what stands around an @ is looked at only so far, so the time is linear."""
    at = text.find("@")
    while at >= 0:
        local = _LOCAL.search(text[max(0, at - _LOCAL_MOST) : at])
        domain = _DOMAIN.match(text, at + 1, at + 1 + _DOMAIN_MOST)
        if local is not None and domain is not None:
            name = local[0].lstrip(_LEADING)
            if name and name.lower() not in _NOBODY:
                yield Candidate(Kind.EMAIL, at - len(name), domain.end(), Sure.ANNOUNCED)
        at = text.find("@", at + 1)


def ibans(text: str) -> Iterator[Candidate]:
    """IBANs in a plain text, proven by country, length and check digits."""
    if _IBAN_LIKELY.search(text) is None:
        return
    read = latin(text)
    for found in _IBAN.finditer(read):
        shown = found[0].upper()
        ends = [at for at, sign in enumerate(shown, 1) if sign.isalnum()]
        for length in range(len(ends), _IBAN_LEAST - 1, -1):
            end = ends[length - 1]
            if not read[found.start() + end : found.start() + end + 1].isalnum() and _is_iban(shown[:end]):
                yield Candidate(Kind.IBAN, found.start(), found.start() + end, Sure.ANNOUNCED)
                break


def latin(text: str) -> str:
    """A text with the Cyrillic letters that look like Latin ones as these, letter for letter."""
    return text.translate(_LOOKALIKES)


def _is_iban(shown: str) -> bool:
    return bool(iban.is_valid(_SEPARATORS.sub("", shown)))

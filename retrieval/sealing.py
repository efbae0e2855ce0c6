"""The seal of a fragment: stored where its texts held nothing to mask or to make safe, so that readers need not look again.

A seal is a digest of the texts and of the rules that looked at them. A reader makes it anew from what it read: one that was left
from another text, or from other rules, fits nothing, and the texts are looked at as if there were none.
"""

from __future__ import annotations

import platform
from collections.abc import Iterable
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path

import phonenumbers
import stdnum

from retrieval import personal, untrusted
from retrieval.personal.parts import masked_parts
from retrieval.records import Fragment
from retrieval.untrusted import neutralize

NO_SEAL = 0
"""Of texts that are to be looked at."""
LIBRARIES = {"phonenumbers": phonenumbers.__version__, "stdnum": stdnum.__version__, "re2": version("google-re2")}
"""What the rules import beside the standard library, and the version of each."""


def rules_of(folders: Iterable[Path], versions: Iterable[str]) -> bytes:
    """A digest of rules: of every file in some folders, word lists too, and of the versions of what they use; 16 bytes."""
    found = blake2b(digest_size=16)
    for file in (Path(__file__), *(file for folder in folders for file in sorted(folder.iterdir()) if file.is_file())):
        found.update(blake2b(file.name.encode()).digest() + blake2b(file.read_bytes()).digest())
    found.update("\n".join(versions).encode())
    return found.digest()


FOLDERS = tuple(Path(room.__path__[0]) for room in (personal, untrusted))
RULES = rules_of(FOLDERS, (platform.python_version(), *LIBRARIES.values()))
"""The rules of this process: nobody has to remember to raise a number when they change."""


def seal_of(title: str, heading: str, text: str, rules: bytes = RULES) -> int:
    """The seal that these texts have when they have one: 64 bits with a sign, as a `bigint`, never 0."""
    told = f"{title}\0{heading}\0{text}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(told, digest_size=8, key=rules).digest(), "big", signed=True) or 1


def earned_seal(title: str, heading: str, text: str) -> int:
    """The seal of texts that masks and safe forms leave as they are, and of others `NO_SEAL`."""
    parts = title, heading, text
    return seal_of(*parts) if masked_parts(*parts) == parts and neutralize(text) == text else NO_SEAL


def safe_text(fragment: Fragment) -> str:
    """The text of a fragment in its safe form."""
    return fragment.text if fragment.sealed else neutralize(fragment.text)

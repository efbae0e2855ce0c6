"""Turns the address of a link into the key of the document that it points to."""

from __future__ import annotations

import html
import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import unquote, urljoin, urlsplit

from retrieval.text import clean
from retrieval.tuning import Tuning

_KEY_CHARACTERS = Tuning().key_most
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+:")
_CONTROL = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Link:
    """A link to another document: its key, and the part after `#` of the first link to it (empty when there is none)."""

    target_key: str
    anchor: str


def resolve_links(key: str, addresses: Iterable[str]) -> tuple[Link, ...]:
    """The documents that the addresses in document `key` point to, each once, in order.

    Left out: other hosts and schemes, links inside the page, paths that leave the folder, keys that are too long.
    """
    found: dict[str, Link] = {}
    for address in dict.fromkeys(addresses):
        link = _resolve(key, html.unescape(address).strip())
        if link is not None:
            found.setdefault(link.target_key, link)
    return tuple(found.values())


def _resolve(key: str, address: str) -> Link | None:
    path, _, anchor = address.partition("#")
    path = path.partition("?")[0]
    if not path or "{{" in path or _CONTROL.search(unquote(address)) is not None:  # a template's {{ variable }} is no place
        return None
    target = _resolve_address(key, path) if _SCHEME.match(key) else _resolve_path(key, path)
    if target is None or clean(target) == clean(key) or len(target) > _KEY_CHARACTERS:
        return None
    return Link(clean(target), clean(unquote(anchor)))


def _resolve_address(key: str, path: str) -> str | None:
    """A key that is an address is opaque: nothing is decoded, and only its own host counts."""
    try:
        target = urljoin(key, path)
        same = urlsplit(target)[:2] == urlsplit(key)[:2]
    except ValueError:  # such as a bracket in the host
        return None
    return target if same else None


def _resolve_path(key: str, path: str) -> str | None:
    if _SCHEME.match(path) or path.startswith("//"):
        return None
    folder = "" if path.startswith("/") else posixpath.dirname(key)
    target = posixpath.normpath(posixpath.join(folder, unquote(path).lstrip("/")))
    return None if target in (".", "..") or target.startswith(("../", "/")) else target

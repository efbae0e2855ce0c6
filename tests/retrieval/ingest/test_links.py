"""Addresses of links become keys of documents."""

from __future__ import annotations

import unicodedata

import pytest

from retrieval.ingest.links import Link, resolve_links


@pytest.mark.parametrize(
    ("key", "address", "target"),
    [
        ("a.md", "b.md", "b.md"),
        ("guide/a.md", "b.md", "guide/b.md"),
        ("guide/a.md", "./b.md", "guide/b.md"),
        ("guide/a.md", "../b.md?x=1#part", "b.md"),
        ("guide/a.md", "/b.md", "b.md"),
        ("guide/a.md", "мой%20файл.md", "guide/мой файл.md"),
        ("guide/a.md", "b.md&amp;c", "guide/b.md&c"),
        ("guide/a.md", unicodedata.normalize("NFD", "чай.md"), "guide/чай.md"),
        ("https://kb.example.com/x/a%2Fb?q=1", "c%2Fd?x", "https://kb.example.com/x/c%2Fd"),
        ("https://kb.example.com/a", "https://kb.example.com/b#c", "https://kb.example.com/b"),
    ],
)
def test_an_address_is_resolved_against_the_folder_of_the_key(key: str, address: str, target: str) -> None:
    assert [link.target_key for link in resolve_links(key, [address])] == [target]


@pytest.mark.parametrize(
    "address",
    [
        "", "#part", "?x=1", "a.md", "./a.md#top", "https://example.com/b.md", "//example.com/b.md", "mailto:a@example.com",
        "../../b.md", "..", ".", "%00.md", "b%0A.md", "{{ page.url }}", "b" * 2_001,
    ],
)  # fmt: skip
def test_what_is_no_other_document_is_left_out(address: str) -> None:
    assert resolve_links("guide/a.md" if address.startswith("..") else "a.md", [address]) == ()


@pytest.mark.parametrize("address", ["https://other.example.com/b", "http://kb.example.com/b", "http://[", "ftp:x"])
def test_a_document_of_one_host_does_not_link_to_another(address: str) -> None:
    assert resolve_links("https://kb.example.com/a", [address]) == ()


def test_each_target_comes_once_with_its_first_anchor() -> None:
    assert resolve_links("a.md", ["b.md#x", "./b.md#y", "b.md", "c.md"]) == (Link("b.md", "x"), Link("c.md", ""))

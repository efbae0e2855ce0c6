"""Exact identifiers in free text."""

from __future__ import annotations

import time
from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.identifiers import find_identifiers
from retrieval.text import fold

UUID = "550e8400-e29b-41d4-a716-446655440000"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"({UUID.upper()}),", (UUID,)),
        (f"request-{UUID}-end", (UUID,)),
        ("commit 3F2a9bc.", ("3f2a9bc",)),
        ("a" * 63 + "1", ("a" * 63 + "1",)),
        ("E0308 TS2345 0x80070005", ("e0308", "ts2345", "0x80070005")),
        ("ERR-1234, ERR_CONN-42; HTTP_404 ORA-00942", ("err-1234", "err_conn-42", "http_404", "ora-00942")),
        ("ERR_CONNECTION_REFUSED err_connection_refused", ("err_connection_refused",)),
        ("CVE-2024-12345", ("cve-2024-12345",)),
        ("ABC-123 и ОПС-17", ("abc-123", "опс-17")),
        ("Ёлка-12", ("елка-12",)),
        ("feature/ABC-123-fix-login", ("abc-123",)),
        ("ABC\u2011123", ("abc-123",)),
        ("см.ABC-123.", ("abc-123",)),
        ("_ABC-123_", ("abc-123",)),
        ("错误ERR-1234出现", ("err-1234",)),
        ("`config.yaml` deploy-42.yml отчёт-12.docx", ("config.yaml", "deploy-42.yml", "отчет-12.docx")),
        ("docs/tutorial/request-files.md#upload", ("request-files.md",)),
        ("__init__.py archive.tar.gz", ("__init__.py", "archive.tar.gz")),
        ("1.2.3, v0.115.0 18.6", ("1.2.3", "v0.115.0", "0.115.0", "18.6")),
        ("1.2.3-rc.1", ("1.2.3-rc.1",)),
        ("тариф 155,34", ("155.34",)),
        ("тариф 155.34", ("155.34",)),
    ],
)
def test_an_identifier_is_found(text: str, expected: tuple[str, ...]) -> None:
    assert find_identifiers(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "обычные слова, well-known words; e.g. т.е.",
        "os.path example.com snake_case fastapi.Depends",
        "12.05.2024 2024-05-01 10:30",
        "2024 1234567 16,000 1,2,3 1234567e8",
        "deadbeef facade defaced",
        "... --- ___ .-_",
    ],
)
def test_ordinary_text_has_no_identifier(text: str) -> None:
    assert find_identifiers(text) == ()


def test_at_most_200_identifiers_of_at_most_200_characters() -> None:
    found = find_identifiers(" ".join(f"ERR-{number}" for number in range(1_000)) + " " + "x" * 300 + "-1")
    assert found == tuple(f"err-{number}" for number in range(200))


@pytest.mark.parametrize(
    "unit",
    ["1", "1.", "1-", "a-", "f", "1,", "a_1", "ERR-1 ", "aaaaaaaaaaaaaaaaaaaa-", "v1.", "!", b64encode(b"\x07" * 900).decode()],
)
def test_a_megabyte_of_anything_takes_linear_time(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    started = time.process_time()
    find_identifiers(text)
    assert time.process_time() - started < 12


@given(st.text(st.sampled_from("AbЁё19._-/, \u2011v中"), max_size=60))
def test_what_is_found_is_folded_and_is_found_again_in_itself(text: str) -> None:
    for identifier in find_identifiers(text):
        assert identifier == fold(identifier)
        assert identifier in find_identifiers(f"как исправить {identifier} сегодня")

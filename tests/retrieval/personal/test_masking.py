"""Personal data are masked however they are written, and what only looks like them is not."""

from __future__ import annotations

import sys
import time
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.personal.masking import masked, masked_value, personal_spans

ZERO_WIDTH = "\u200b"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Звоните +7 (916) 123-45-67!", "Звоните [PHONE]!"),
        ("8 916 123 45 67, 89161234567", "[PHONE], [PHONE]"),
        (f"4012{ZERO_WIDTH}8888{ZERO_WIDTH}8888{ZERO_WIDTH}1881 оплачено", "[CARD] оплачено"),
        ("4012-8888-8888-1881", "[CARD]"),
        ("4012.8888.8888.1881, 4012_8888_8888_1881.", "[CARD], [CARD]."),
        ("карта 3782.822463.10005, СНИЛС 112.233.445.95", "карта [CARD], СНИЛС [SNILS]"),
        ("карта 4012\n8888 8888\u00a01881", "карта [CARD]"),
        ("40128888\n88881881", "[CARD]"),
        ("ИНН 77 07 08 38 93", "ИНН [INN]"),
        ("ИНН7707083893", "ИНН[INN]"),
        ("client_inn=7707083893&x=1", "client_inn=[INN]&x=1"),
        ("СНИЛС 112—233—445 95", "СНИЛС [SNILS]"),
        ("ОГРНИП 304774709000223", "ОГРНИП [OGRN]"),
        ("серия 4505 номер 678901", "серия [PASSPORT]"),
        ("паспорт 45 05\n678901 выдан", "паспорт [PASSPORT] выдан"),
        ("IBAN DE89 3704 0044 0532 0130 00.", "IBAN [IBAN]."),
        ("ivаn@mаil.ru, ivan@почта.рф", "[EMAIL], [EMAIL]"),
        ("＋７９１６１２３４５６７", "[PHONE]"),
        ("+7.9161234567", "[PHONE]"),
        ("по договору 8 (916) 123-45-67, заказ оплачен 4012 8888 8888 1881", "по договору [PHONE], заказ оплачен [CARD]"),
        ("DE89 3704\n0044 0532 0130 00", "[IBAN]"),
        ("+49 30\n901820", "[PHONE]"),
        (
            "тел. 765-43-21, 765-43-22 (дом), 765-43-23, 765-43-24, 765-43-25",
            "тел. [PHONE], [PHONE] (дом), [PHONE], [PHONE], [PHONE]",
        ),
        ("тел. 123-45-67\n2. Далее", "тел. [PHONE]\n2. Далее"),
        ("тел. 123-45-67 123-45-68", "тел. [PHONE] [PHONE]"),
        ("Звонок 30.11.2026 9161234567", "Звонок 30.11.2026 [PHONE]"),
        ("8.916.123.45.67, 8.916.1234567", "[PHONE], [PHONE]"),
        ("8   916   123   45   67", "[PHONE]"),
        ("8 9 1 6 1 2 3 4 5 6 7, 8-9-1-6-1-2-3-4-5-6-7", "[PHONE], [PHONE]"),
        ("916-123-45-67", "[PHONE]"),
        ("".join(f"{digit}\ufe0f\u20e3" for digit in "89161234567"), "[PHONE]\ufe0f\u20e3"),
        ("call_79161234567_1.mp3, phone_9161234567", "call_[PHONE]_1.mp3, phone_[PHONE]"),
        ("ИНН/КПП 7707083893/770701001", "ИНН/КПП [INN]/770701001"),
        (
            '{"clientPassportNumber": "4505 678901", "mobilePhone": "123-45-67"}',
            '{"clientPassportNumber": "[PASSPORT]", "mobilePhone": "[PHONE]"}',
        ),
        ("378282246310005 3530111333300000 4222222222222", "[CARD] [CARD] [CARD]"),
        ("info@example.com, ann.noreply@example.com, gitta@example.com", "[EMAIL], [EMAIL], [EMAIL]"),
        ("7+ann@users.noreply.github.com, ann@git.example.com, ann+git@example.com", "[EMAIL], [EMAIL], [EMAIL]"),
        ("ann<b></b>git@example.com, deploy@host.example:/srv", "[EMAIL]<b></b>, [EMAIL]:/srv"),
    ],
)
def test_it_is_masked_however_it_is_written(text: str, shown: str) -> None:
    assert masked(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "ИНН 7707083892",
        "карта 4012-8888-8888-1882",
        "4012.8888.8888.1882, 4012.8888 8888.1881, 1.4012.8888.8888.1881, 4012.8888.8888.1881.2",
        "112.233.445.95, 40128888.88881881",
        "СНИЛС 112-233-445 96",
        "DE89370400440532013001",
        "Заказ 45 11 123456",
        "orderId 7707083893",
        "1 2 7 9 1 2 3 4 5 6 7 8 9, 8 9 1 6 1 2 3 4 5 6 7 8",
        "000-123-45-67",
        "Звонок 30.11.2026 12:30, call 2026-11-30 10:00, contact us in 2024-2025",
        "звонков: 1 234 567 за год",
        "+15000000 users",
        "550e8400-e29b-41d4-a716-446655440000",
        "2019 2020 2021 2022",
        "192.168.100.200:8000 2026-11-30 19:21:16 v1.2.3",
        "0.7707083893",
        "info@presidio.",
        "@app.get('/items') def f(): ...",
        "40702810500000002851",
        "Client #1596980209979 left the chat",
        "activity-6963242628536487936-trAp",
        "IMEI 354178036859789",
        "0.5 + 14285714 x, 21.3 +44.88668871j",
        "Traceback (most recent call last): 9434765870",
        "318309.88617359026 0.00493777682814261",
        "(0.82160913, 0.97885093)",
        "2147483647\n2",
        "git clone git@github.com:org/repo.git, ssh://git@host.example/x.git, hg@host.example",
        "From: No-Reply@example.com, <noreply@example.com>, mailer-daemon@example.com",
        "postmaster@example.com, abuse@example.com, security@example.com",
    ],
)
def test_what_only_looks_like_it_stays(text: str) -> None:
    assert masked(text) == text


def test_places_are_those_of_the_text_as_it_came() -> None:
    text = f"a{ZERO_WIDTH}b 7{ZERO_WIDTH}707083893{ZERO_WIDTH} and ann@example.com"
    assert [text[span.start : span.end] for span in personal_spans(text)] == [f"7{ZERO_WIDTH}707083893", "ann@example.com"]


@given(st.text(alphabet="0123456789+-() .@abИНН\n\u200b", max_size=80))
def test_masking_what_was_masked_changes_nothing_and_spans_are_in_order(text: str) -> None:
    spans = personal_spans(text)
    assert all(one.end <= other.start for one, other in pairwise(spans))
    assert all(0 <= span.start < span.end <= len(text) for span in spans)
    assert masked(masked(text)) == masked(text)


@pytest.mark.usefixtures("no_collector")
@pytest.mark.parametrize("unit", ["1", "1 ", "4111 ", "7916 ", "@a", "+7 ", "1234567890\n", "DE89 ", "(495) "])
def test_digits_take_time_in_step_with_their_number(unit: str) -> None:
    def seconds(size: int) -> float:
        times = []
        for _ in range(3):
            started = time.process_time()
            personal_spans(unit * (size // len(unit)))
            times.append(time.process_time() - started)
        return min(times)

    assert seconds(80_000) < 8 * 3 * seconds(10_000) + 0.05


def test_values_of_json_are_masked_with_their_names_and_numbers() -> None:
    value = {"inn": 7707083893, "passport": "4505 678901", "ann@example.com": [True, None, 3.5, {"note": "ИНН 7707083893"}]}
    assert masked_value(value) == {"inn": "[INN]", "passport": "[PASSPORT]", "[EMAIL]": [True, None, 3.5, {"note": "ИНН [INN]"}]}


def test_digits_and_at_signs_of_every_script_are_read() -> None:
    zeros = [chr(code) for code in range(sys.maxunicode) if unicodedata.decimal(chr(code), None) == 0]
    assert len(zeros) > 60
    for zero in zeros:
        number = "".join(chr(ord(zero) + int(digit)) for digit in "7707083893")
        assert masked(f"{number} платит") == "[INN] платит"
    for sign in "@＠﹫":
        assert masked(f"ann{sign}example.com") == "[EMAIL]"

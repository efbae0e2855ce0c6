"""Personal data are found in the public set and among 2,000 made numbers, and those whose check digit is wrong are not."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator

import pytest
from faker import Faker

from app.evaluation.collection import data_folder
from app.evaluation.personal import Labelled, found_in, read_labelled
from retrieval.personal.kinds import Kind
from retrieval.personal.masking import Span

BOUND = 0.95
ANNOUNCED = {
    Kind.EMAIL: ("почта", "пишите:", "e-mail"),
    Kind.PHONE: ("тел.", "звоните:", "phone:"),
    Kind.CARD: ("карта", "оплата картой", "card"),
    Kind.INN: ("ИНН", "ИНН:"),
    Kind.OGRN: ("ОГРН", "ОГРН:"),
    Kind.SNILS: ("СНИЛС", "СНИЛС №"),
    Kind.PASSPORT: ("паспорт", "паспорт серия"),
    Kind.IBAN: ("IBAN", "счёт"),
}
CHECKED = (Kind.CARD, Kind.INN, Kind.OGRN, Kind.SNILS, Kind.IBAN)


def test_the_public_set_is_found() -> None:
    folder = data_folder() / "pii"
    if not folder.is_dir():
        message = f"FINDING PERSONAL DATA IS NOT MEASURED: there is no {folder}; set EVAL_DATA."
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(message)
        pytest.skip(message)
    found = found_in(read_labelled(folder))
    assert found.right.total() + found.missed.total() == 61
    assert min(found.recall, found.precision) >= BOUND, found


@pytest.mark.parametrize("announced", [True, False], ids=["announced by a word", "alone"])
def test_made_numbers_are_found_and_broken_ones_are_not(announced: bool) -> None:
    found = found_in(made(1_000, announced))
    assert min(found.recall, found.precision) >= BOUND, found
    assert set(found.right) == set(Kind)


def made(count: int, announced: bool) -> Iterator[Labelled]:
    """Texts with one number each; of those with check digits every third is wrong. A passport is always announced."""
    russian, makers = Faker("ru_RU"), makers_of(random.Random(7))
    russian.seed_instance(7)
    chance = random.Random(11)
    for number in range(count):
        kind = chance.choice(list(Kind))
        value = makers[kind]()
        broken = number % 3 == 2 and kind in CHECKED
        if broken:
            last = max(at for at, sign in enumerate(value) if sign.isdigit())
            value = value[:last] + str((int(value[last]) + chance.randrange(1, 10)) % 10) + value[last + 1 :]
        word = f"{chance.choice(ANNOUNCED[kind])} " if announced or kind is Kind.PASSPORT else ""
        lead = f"{russian.sentence()} {word}"
        span = Span(kind, len(lead), len(lead) + len(value))
        behind = chance.choice((", ", ". ", " ")) + russian.sentence()
        yield Labelled(lead + value + behind, frozenset() if broken else frozenset({span}))


def makers_of(chance: random.Random) -> dict[Kind, Callable[[], str]]:
    """What makes a number of each kind."""
    russian, english, german, french = (Faker(name) for name in ("ru_RU", "en_US", "de_DE", "fr_FR"))
    for faker in (russian, english, german, french):
        faker.seed_instance(7)
    return {
        Kind.EMAIL: lambda: chance.choice((russian, english)).email(),
        Kind.PHONE: russian.phone_number,
        Kind.CARD: russian.credit_card_number,
        Kind.INN: lambda: chance.choice((russian.businesses_inn, russian.individuals_inn))(),
        Kind.OGRN: lambda: chance.choice((russian.businesses_ogrn, russian.individuals_ogrn))(),
        Kind.SNILS: lambda: snils(chance),
        Kind.PASSPORT: lambda: f"{chance.randrange(100, 9_999):04d} {chance.randrange(100_000, 1_000_000)}",
        Kind.IBAN: lambda: chance.choice((german, french)).iban(),
    }


def snils(chance: random.Random) -> str:
    """A pension insurance number with its check digits."""
    number = f"{chance.randrange(2_000_000, 999_999_999):09d}"
    check = sum(int(digit) * weight for digit, weight in zip(number, range(9, 0, -1), strict=True)) % 101 % 100
    return f"{number[:3]}-{number[3:6]}-{number[6:]} {check:02d}"

"""The kinds of personal data, the words that announce them, and the check digits that prove them."""

from __future__ import annotations

import re
from bisect import bisect_right
from enum import StrEnum
from functools import cached_property

from stdnum import luhn
from stdnum.ru import inn


class Kind(StrEnum):
    """What a span of personal data is; the mask that stands in for it is the name in square brackets."""

    EMAIL = "EMAIL"
    PHONE = "PHONE"
    CARD = "CARD"
    INN = "INN"
    OGRN = "OGRN"
    SNILS = "SNILS"
    PASSPORT = "PASSPORT"
    IBAN = "IBAN"

    @property
    def mask(self) -> str:
        """What is read instead."""
        return f"[{self.value}]"


OTHER = "OTHER"
"""A number that says what it is, and that it is none of these."""

_WORDS = {
    "INN": r"инн(?: ?/ ?кпп)?|inn(?: ?/ ?kpp)?",
    "OGRN": r"огрн(?:ип)?|ogrn(?:ip)?",
    "SNILS": r"снилс|snils|пенсионн\w{0,4}",
    "PASSPORT": r"паспорт\w{0,9}|passport\w{0,3}|сери[яюий]",
    "CARD": r"карт[аеуыо]\w{0,2}|карт|card(?: number)?(?: is)?|visa|mastercard|maestro|amex|мир",
    "PHONE": r"тел(?:ефон\w{0,4})?|моб(?:ильн\w{0,3})?|сот(?:ов\w{0,3})?|звон\w{1,5}|набер\w{0,4}|факс"
    r"|(?:tele)?phones?|mobile|cell|tel|call(?! last)|fax|whatsapp|viber|number is|контакт\w{0,4}|contact",
    OTHER: r"заказ\w{0,3}|договор\w{0,3}|заявк\w{0,2}|артикул\w{0,2}|инвентарн\w{0,3}|накладн\w{0,3}|полис\w{0,3}|омс"
    r"|сч[её]т\w{0,3}|р/с|account|order|invoice|sku|timestamp|бик|кпп|штрихкод|ean|isbn",
}
# Words are parted by capitals too, as in `clientPassportNumber`.
_HUMP = r"(?-i:(?<=[a-zа-яё])(?=[A-ZА-ЯЁ]))"
_ANNOUNCED = re.compile(
    rf"(?:(?<![^\W_])|{_HUMP})(?:{'|'.join(f'(?P<{kind}>{words})' for kind, words in _WORDS.items())})(?:(?![^\W\d_])|{_HUMP})",
    re.IGNORECASE,
)
_REACH = 48
"""How far behind its word a number may stand, in characters."""
_GAP = 24
"""How far behind a number the next one of a list may stand."""
_MASKS = frozenset(kind.mask for kind in Kind)


class Announced:
    """Where words of a text say what the numbers behind them are."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._listed: dict[int, int] = {}

    @cached_property
    def words(self) -> list[tuple[int, int, str]]:
        """Where each word starts and ends, and the kind that it says; found when first asked: most texts never ask."""
        text = self._text
        found = [one for one in _ANNOUNCED.finditer(text) if text[max(0, one.start() - 1) : one.end() + 1] not in _MASKS]
        return [(*one.span(), str(one.lastgroup)) for one in found]

    @cached_property
    def _ends(self) -> list[int]:
        return [end for _, end, _ in self.words]

    def kind(self, at: int) -> str | None:
        """What the last word before a place says, if it is near, or near before a list of numbers that reaches there."""
        number = bisect_right(self._ends, at) - 1
        if number < 0:
            return None
        near = at - self._ends[number] <= _REACH or 0 <= at - self._listed.get(number, at + 1) <= _GAP
        return self.words[number][2] if near else None

    def goes_on(self, start: int, end: int) -> None:
        """Tell that a number is what the word before it says: the next one of a list may be it too."""
        self._listed[bisect_right(self._ends, start) - 1] = end

    def touches(self, at: int) -> bool:
        """Whether a word ends right at a place."""
        number = bisect_right(self._ends, at) - 1
        return number >= 0 and self._ends[number] == at


_ISSUERS = {
    13: re.compile(r"4"), 14: re.compile(r"30[0-5]|3[689]"), 15: re.compile(r"3[47]|2131|1"),
    16: re.compile(r"220[0-4]|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720|35\d\d|3[068]\d\d|81\d\d|[456]\d{3}"),
}  # fmt: skip
"""How cards' numbers of a length begin; an IMEI has fifteen digits and Luhn's check digit too."""
_LONG = re.compile(r"220[0-4]|62|81|4\d{18}|50(?:18|20|38)|5893|6304|6759|676[1-3]")
"""How those of 17 digits and more begin: few do, and ids of messages are as long."""
_YEAR_MOST = 49
"""The last year of this century that an OGRN may be of: milliseconds since 1970 would be of the years from 50 on."""


def is_card(digits: str) -> bool:
    """Luhn's check digit."""
    return len(set(digits)) > 1 and luhn.is_valid(digits)


def has_issuer(digits: str) -> bool:
    """Whether a card's number begins as those of an issuer do."""
    return _ISSUERS.get(len(digits), _LONG).match(digits) is not None


def is_inn(digits: str) -> bool:
    """The check digits of a company's or a person's taxpayer number."""
    return len(set(digits)) > 1 and digits[:2] != "00" and bool(inn.is_valid(digits))


def is_ogrn(digits: str) -> bool:
    """The year and the check digit of a registration number of a company or an entrepreneur: the last digit of a remainder."""
    if digits[0] not in ("1235" if len(digits) == 13 else "34") or int(digits[1:3]) > _YEAR_MOST:
        return False
    return int(digits[:-1]) % (len(digits) - 2) % 10 == int(digits[-1])


def is_snils(digits: str) -> bool:
    """The check digits of a pension insurance number, which the oldest numbers lack."""
    total = sum(int(digit) * weight for digit, weight in zip(digits[:9], range(9, 0, -1), strict=True))
    return digits[:9] > "001001998" and total % 101 % 100 == int(digits[9:])

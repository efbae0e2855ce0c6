"""Personal data in JSON values are told by all the names that lead to them, and numbers by what a database takes them for."""

from __future__ import annotations

from retrieval.personal.masking import masked_value


def test_a_value_is_told_by_the_names_around_it() -> None:
    value = {"passport": {"number": "45 05 678901", "issued": "2010-05-06"}, "number": "45 05 678901"}
    assert masked_value(value) == {"passport": {"number": "[PASSPORT]", "issued": "2010-05-06"}, "number": "45 05 678901"}


def test_a_whole_number_is_masked_however_it_is_written() -> None:
    assert masked_value({"inn": 7707083893.0, "card": 4.012888888881881e15}) == {"inn": "[INN]", "card": "[CARD]"}
    assert masked_value([1.5, 7707083893.5, 1e300]) == [1.5, 7707083893.5, 1e300]

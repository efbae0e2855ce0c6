"""Words are made from a form that takes code apart and keeps every offset."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.lexical_text import indexed_text, lexical_text


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("config.yaml", "config yaml"),
        ("fastapi.UploadFile()", "fastapi UploadFile()"),
        ("HTTP_404 in app/main.py", "HTTP 404 in app main py"),
        ("тариф 155,34 и 155.34", "тариф 155.34 и 155.34"),
        ("1, 2", "1, 2"),
        ("<b>bold</b>", " b bold /b "),
        ("end. Next", "end. Next"),
        ("what's договор & | акт", "what's договор & | акт"),
        ("ann@example.com", "ann example com"),
        ("«пропуск»\u00a0— это…", " пропуск    это "),
        ("don’t “quote”", "don t  quote "),
        ("• №5\u2028два\u3000три", "   5 два три"),
        ("тёмно\u2011синий", "тёмно-синий"),
        ("раз😀два ❤\ufe0f", "раз два   "),
        ("错误。再试", "错误 再试"),
        ("हिन्दी", "हिन्दी"),
    ],
)
def test_joints_and_signs_become_spaces_and_decimal_commas_points(text: str, form: str) -> None:
    assert lexical_text(text) == form


@given(st.text())
def test_the_form_is_as_long_as_the_text(text: str) -> None:
    assert len(lexical_text(text)) == len(text)


def test_one_function_says_what_is_indexed() -> None:
    assert indexed_text("Title", "", "text") == "Title\ntext"
    assert indexed_text("Title", "Heading", "text") == "Title\nHeading\ntext"

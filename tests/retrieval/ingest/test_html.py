"""HTML: what is read, what is dropped, headings, addresses, depth."""

from __future__ import annotations

import time

import pytest

from retrieval.errors import BadInput
from retrieval.ingest.html import plain_text, read_html


def test_script_style_and_navigation_are_dropped() -> None:
    page = "<style>p{}</style><script>var x=1</script><nav>меню</nav><p>Гостевой&nbsp;пропуск</p><noscript>y</noscript>"
    assert [section.text for section in read_html(page).sections] == ["Гостевой пропуск"]


def test_headings_give_the_path_and_entities_are_decoded() -> None:
    page = "<title> A &lt;B&gt; </title><p>до</p><h1>Раз <b>два</b></h1><h2>А&amp;Б</h2>x<h2>В</h2><p>y</p><p>z</p>"
    read = read_html(page)
    assert read.title == "A <B>"
    assert read.first_heading == "Раз два"
    assert [(section.headings, section.text) for section in read.sections] == [
        ((), "до"),
        (("Раз два",), ""),
        (("Раз два", "А&Б"), "x"),
        (("Раз два", "В"), "y\n\nz"),
    ]


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<p>a<b>b</b>  c\n d</p>", "ab c d"),
        ("<ul><li>a<li>b</ul>c", "a\nb\n\nc"),
        ("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a b\nc"),
        ("<pre>x:\n    y</pre>", "x:\n    y"),
        ("a<br>b<!-- c -->", "a\nb"),
        ("<div>a</div>b<div>c</div>", "a\n\nb\n\nc"),
    ],
)
def test_text_stays_readable(page: str, text: str) -> None:
    assert plain_text(page) == text


def test_addresses_are_those_of_links() -> None:
    page = '<a href="a.html">a</a><a name="x">b</a><img src="i.png"><nav><a href="menu.html">m</a></nav>'
    assert read_html(page).addresses == ["a.html"]


def test_deep_nesting_is_refused_before_it_is_parsed() -> None:
    started = time.process_time()
    with pytest.raises(BadInput, match="nests deeper than 1,000"):
        read_html("<div>" * 100_000 + "x")
    assert time.process_time() - started < 5


def test_many_elements_that_need_no_end_are_not_deep() -> None:
    assert plain_text("<p>a<br>" * 5_000).count("a") == 5_000


def test_nine_hundred_levels_are_read_without_recursion() -> None:
    assert plain_text("<div>" * 900 + "x") == "x"

"""Markdown: headings, what is left out, what stays readable, addresses."""

from __future__ import annotations

import time

import pytest

from retrieval.ingest.documents import read_document
from retrieval.ingest.markdown import plain_heading, read_markdown

PAGE = """\
Вступление.

# Файлы { #files }

/// note | Примечание

Установите `python-multipart`.

///

## Класс `File` { #file }

{* ../../docs_src/files.py hl[3] *}

```Python
# не заголовок [не ссылка](code.md)
x = "<b>{* не включение *} y</b>"


y = 1
```

Итог
----

| a | b |
|---|---|
| 1 | 2 |

<div class="termy">

```console
$ <font color="#4E9A06">fastapi</font> dev
```

</div>

### <dfn title="автодополнение">Подсказки</dfn> & [Ещё](x.md)

<dfn title="также: IntelliSense">Автозавершение</dfn> и `<b>код</b>` с <b>жирным</b>.
> # цитата не заголовок
"""


def test_sections_keep_the_heading_path() -> None:
    assert [section.headings for section in read_markdown(PAGE).sections] == [
        (),
        ("Файлы",),
        ("Файлы", "Класс File"),
        ("Файлы", "Итог"),
        ("Файлы", "Итог", "Подсказки & Ещё"),
    ]


def test_readable_text_stays_and_layout_goes() -> None:
    before, files, code, table, terms = (section.text for section in read_markdown(PAGE).sections)
    assert before == "Вступление."
    assert files == "Примечание:\n\nУстановите `python-multipart`."
    assert code == ('```Python\n# не заголовок [не ссылка](code.md)\nx = "<b>{* не включение *} y</b>"\n\n\ny = 1\n```')
    assert table.startswith("| a | b |\n|---|---|\n| 1 | 2 |")
    assert table.endswith("```console\n$ fastapi dev\n```")
    assert terms == "Автозавершение (также: IntelliSense) и `<b>код</b>` с жирным.\n> # цитата не заголовок"


@pytest.mark.parametrize(
    ("heading", "plain"),
    [
        ("`a` **b** [c](d) ![e](f) { #g }", "a b c"),
        ("C# и <br> {x}", "C# и {x}"),
        ("AT&amp;T", "AT&T"),
        ("x" * 5_000, "x" * 5_000),
    ],
)
def test_a_heading_is_plain_text(heading: str, plain: str) -> None:
    assert plain_heading(heading) == plain


@pytest.mark.parametrize("block", ["a: [b", "просто текст", "a: &x [1]\nb: *x", "- a\n- b", "{{ template }}: {% x %}"])
def test_what_is_no_front_matter_stays_text(block: str) -> None:
    read = read_markdown(f"---\n{block}\n---\n\nтекст")
    assert read.meta == {}
    assert block.splitlines()[0] in "\n".join(text for section in read.sections for text in (*section.headings, section.text))


def test_addresses_of_links_and_not_of_images_or_code() -> None:
    text = (
        "[a](a.md) [![i](i.png)](b.md) ![j](j.png) [c [d]](<c d.md> 'title') `[e](e.md)` [f](f_(g).md)\n"
        '<a class="x" href="h.md">h</a> [k][ref] \\[l](l.md\n\n[ref]: m.md "t"\n\n    [code](n.md)\n'
    )
    assert read_markdown(text).addresses == ["a.md", "b.md", "c d.md", "f_(g).md", "h.md", "m.md"]


def test_ten_thousand_links_are_read_once_each_and_fast() -> None:
    text = "\n".join(f"* [номер {number}](page-{number % 5_000}.md#part)" for number in range(10_000))
    started = time.process_time()
    links = read_document("index.md", text).links
    assert time.process_time() - started < 20
    assert [link.target_key for link in links] == [f"page-{number}.md" for number in range(5_000)]


@pytest.mark.parametrize(
    "unit",
    [
        "[",
        "[a",
        "[]",
        "[a](",
        "![",
        "`",
        "<a ",
        "<b",
        "{* ",
        "*a ",
        "> ",
        "#",
        "# ",
        "\\",
        "](",
        "[a[",
        "<!--",
        "(a",
        "/// a ",
        '<abbr title="',
        "`a",
    ],
)
def test_repeated_marks_take_bounded_time(unit: str) -> None:
    text = "x" + unit * (300_000 // len(unit))
    started = time.process_time()
    read_document("a", text)
    read_document("a", text.replace(unit * 100, unit * 100 + "\n"))
    assert time.process_time() - started < 25

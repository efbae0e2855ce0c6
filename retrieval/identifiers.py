"""Finds exact identifiers in free text: UUIDs, SHAs, error codes, tickets, file names, versions (spec 3).

Documents and questions go through the same function, so that what one side writes the other side finds. Text is
cut into runs of letters, digits, dots, hyphens and underscores by a single character class, and each short run is
judged by itself: the time is linear whatever the text is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from retrieval.text import fold
from retrieval.tuning import IDENTIFIER_LENGTH, IDENTIFIERS_PER_TEXT

_SHORTEST = 3  # "1.2", "a.c"
_HYPHENS = str.maketrans({"\u2010": "-", "\u2011": "-"})
# Scripts written without spaces end a run: in 错误ERR-42出现 the code stands alone.
_RUN = re.compile(r"(?:[^\W\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]|[.\-])+")
# 155,34 and 155.34 are one number; 16,000 is a thousand and not touched.
_DECIMAL_COMMA = re.compile(r"(?<![\w.,])([0-9]+),([0-9]{1,2}|[0-9]{4,})(?![\w,]|\.[0-9])")
_UUID = re.compile(r"(?<![0-9a-f])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-f])")
_SHA = re.compile(r"(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])(?![0-9]+e[0-9]+\Z)(?:[0-9a-f]{7,40}|[0-9a-f]{64})")
# E0308, TS2345, 0x80070005; ABC-123, ORA-00942, ERR_CONN-42, HTTP_404, eu-west-1; ERR_CONNECTION_REFUSED
_CODE = re.compile(r"[a-z]{1,5}[0-9]{3,10}|0x[0-9a-f]{4,16}|err(?:or)?(?:_[a-z0-9]{1,40}){1,8}")
_NUMBERED = re.compile(r"[^\W\d_]{2,20}(?:[_-][^\W_]{1,20}){0,6}?[_-][0-9]{1,12}")
_CONSTANT = re.compile(r"[A-Z]{2,20}(?:_[A-Z0-9]{1,40}){1,8}")
_TICKET_THEN_WORDS = re.compile(r"([A-ZА-ЯЁ]{2,10}-[0-9]{1,7})-[^\W\d]")
_VERSION = re.compile(r"v?([0-9]{1,6}(?:\.[0-9]{1,6}){1,4}(?:[.\-]?(?:a|b|rc|alpha|beta|dev|post)[.\-]?[0-9]{0,6})?)")
_DATE = re.compile(r"[0-9]{1,2}\.[0-9]{1,2}\.(?:19|20)[0-9]{2}")
_EXTENSION_LIST = """
    adoc avi avif bak bash bat bin bmp bz2 c cc cer cfg cmd conf cpp crt cs css csv dat db deb dll dmg doc docx dot
    drawio dxf ear eml env eps epub exe gif go gradle graphql gz h hpp htm html ico ics ini ipynb iso jar java jpeg
    jpg js json jsonl jsx key kt less lock log lua m4a markdown md mdx mkv mov mp3 mp4 msg msi odp ods odt ogg otf
    parquet patch pdf pem pfx php pl png pot ppt pptx properties proto ps1 psd pub py pyi pyx rar rb rpm rs rst rtf
    sass scala scss sh so sql sqlite svg swift sys tar tex tf tgz tif tiff toml ts tsv tsx ttf txt vb vcf vsdx vue
    war wasm wav webm webp whl woff woff2 xls xlsx xml xsd xsl yaml yml zip zst
"""
_EXTENSIONS = frozenset(_EXTENSION_LIST.split())


def find_identifiers(text: str) -> tuple[str, ...]:
    """The identifiers of the text, folded (`retrieval.text.fold`), each once, in order of appearance, at most 200.

    >>> find_identifiers("Ошибка ERR_CONN-42 в отчёт-12.docx после v1.2.3, см. ОПС-17")
    ('err_conn-42', 'отчет-12.docx', 'v1.2.3', '1.2.3', 'опс-17')
    """
    found: dict[str, None] = {}
    prepared = _DECIMAL_COMMA.sub(r"\1.\2", text.translate(_HYPHENS))
    for match in _RUN.finditer(prepared):
        run = match[0]
        if not _SHORTEST <= len(run) <= IDENTIFIER_LENGTH or run.isalpha():
            continue
        found.update(dict.fromkeys(_judge(run.strip(".-"))))
        if len(found) >= IDENTIFIERS_PER_TEXT:
            break
    return tuple(found)[:IDENTIFIERS_PER_TEXT]


def _judge(run: str) -> Iterator[str]:
    if not _is_file_name(fold(run)):  # __init__.py keeps its underscores, _emphasis_ loses them
        run = run.strip("_")
    folded = fold(run)
    uuid = _UUID.search(folded)
    if uuid is not None:
        yield uuid[0]
    elif _is_whole(run, folded):
        yield folded
    elif (version := _VERSION.fullmatch(folded)) is not None:
        if _DATE.fullmatch(folded) is None:
            yield from (folded, version[1])  # a version is found with and without its v
    elif (ticket := _TICKET_THEN_WORDS.match(run)) is not None:
        yield fold(ticket[1])
    elif "." in run:
        for part in run.split("."):  # two sentences without a space between them
            if not part.isalpha() and _is_whole(part, fold(part)):
                yield fold(part)


def _is_whole(run: str, folded: str) -> bool:
    if "." in folded:
        return _is_file_name(folded)
    return _CONSTANT.fullmatch(run) is not None or any(pattern.fullmatch(folded) for pattern in (_SHA, _CODE, _NUMBERED))


def _is_file_name(folded: str) -> bool:
    name, _, extension = folded.rpartition(".")
    return extension in _EXTENSIONS and any(character.isalnum() for character in name)

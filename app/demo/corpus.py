"""The pages of the demo corpus as sources, with the addresses that people know them by."""

from __future__ import annotations

from pathlib import Path

from retrieval.ingest.folder import FileText, read_folder
from retrieval.ingest.source_input import Origin, SourceInput

FOLDER = Path(__file__).parent / "fastapi"
LANGUAGES = ("ru", "en")
TITLES = {"ru": "Документация FastAPI", "en": "FastAPI documentation"}
SITE = "https://fastapi.tiangolo.com"
REPOSITORY = "https://github.com/fastapi/fastapi/blob/c3f316b7e814667e8ee81e03a7330d00ee61e45c/docs"


def namespace_of(language: str) -> str:
    """The namespace that holds the pages of a language.

    >>> namespace_of("ru")
    'fastapi-ru'
    """
    return f"fastapi-{language}"


def pages(language: str) -> list[SourceInput]:
    """Every page of a language in the order of its key, its path inside the documentation."""
    files = [file for file in read_folder(FOLDER / language) if isinstance(file, FileText)]
    return [
        SourceInput(
            key=file.key,
            content=file.text,
            source_path=address_of(language, file.key),
            media_type=file.media_type,
            meta={"lang": language},
            origin=Origin(connector="github", uri=f"{REPOSITORY}/{language}/docs/{file.key}"),
        )
        for file in files
    ]


def address_of(language: str, key: str) -> str:
    """Where a page is read on the web.

    >>> address_of("ru", "tutorial/request-files.md")
    'https://fastapi.tiangolo.com/ru/tutorial/request-files/'
    >>> address_of("en", "index.md")
    'https://fastapi.tiangolo.com/'
    """
    page = key.removesuffix(".md").removesuffix("index")
    folders = [SITE, *([] if language == "en" else [language]), *page.split("/")]
    return "/".join(folder for folder in folders if folder) + "/"

"""The shipped documentation reads well in both languages."""

from __future__ import annotations

from pathlib import Path

import pytest

import app
from retrieval.ingest.documents import Document, read_document
from retrieval.ingest.folder import FileText, SkippedFile, read_folder

CORPUS = Path(app.__file__).parent / "demo" / "fastapi"


def documents(language: str) -> list[Document]:
    files = list(read_folder(CORPUS / language))
    assert [file.key for file in files if isinstance(file, SkippedFile)] == ["LICENSE"]
    return [read_document(file.key, file.text, file.media_type) for file in files if isinstance(file, FileText)]


@pytest.mark.parametrize("language", ["ru", "en"])
def test_every_page_becomes_pieces_and_most_links_meet_a_page(language: str) -> None:
    read = documents(language)
    keys = {document.key for document in read}
    targets = [link.target_key for document in read for link in document.links]
    assert len(read) == 123
    assert 1_100 < sum(len(document.pieces) for document in read) < 1_400
    assert sum(target in keys for target in targets) > 100
    assert all(
        target in keys for target in targets if target.endswith(".md") and target not in {"newsletter.md", "release-notes.md"}
    )


def test_nothing_of_the_page_generator_is_left() -> None:
    texts = [piece.heading + piece.text for document in documents("ru") for piece in document.pieces]
    assert not [text for text in texts if "{* ../" in text or "{ #" in text or "<font" in text or "\n///" in text]


def test_the_two_languages_have_the_same_pages_and_titles_of_their_own() -> None:
    russian, english = ({document.key: document.title for document in documents(language)} for language in ("ru", "en"))
    assert russian.keys() == english.keys()
    assert russian["tutorial/request-files.md"] == "Загрузка файлов"
    assert english["tutorial/request-files.md"] == "Request Files"

"""Plants a fault in a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import cache_from_source
from pathlib import Path


@contextmanager
def planted(file: Path, old: str, new: str) -> Iterator[None]:
    """A file with a fault, which is as it was afterwards."""
    sound = file.read_bytes()
    try:
        change(file, old, new)
        yield
    finally:
        file.write_bytes(sound)
        forget_bytecode(file)


def change(file: Path, old: str, new: str) -> None:
    """Plant a fault in a file."""
    sound = file.read_text(encoding="utf-8")
    assert old in sound, "the product reads differently now: plant the fault anew"
    file.write_text(sound.replace(old, new), encoding="utf-8")
    forget_bytecode(file)


def forget_bytecode(file: Path) -> None:
    """Have a file compiled anew: bytecode is told by size and second only, and a fault may be as long as what was there."""
    Path(cache_from_source(file)).unlink(missing_ok=True)

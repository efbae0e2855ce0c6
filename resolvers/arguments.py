"""Arguments that many fields share, with their descriptions and their checks."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, TypeAlias

import strawberry

from retrieval.question import within
from retrieval.session import Session

Info: TypeAlias = strawberry.Info[Session, None]
AsOf = Annotated[datetime | None, strawberry.argument(description="Instant of validity; null is now.")]
First = Annotated[int, strawberry.argument(description="How many items, 1 to 100.")]
Namespaces = Annotated[list[str] | None, strawberry.argument(description="Where to look; left out: all that you may read.")]


def page_size(info: Info, first: int) -> int:
    """The size of a page, within its limits."""
    within("first", first, 1, info.context.store.tuning.page_most)
    return first

"""What can be followed."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated

import strawberry

from resolvers import ingest
from resolvers.arguments import Info
from schema.entity import field


@strawberry.type(description="How far a namespace is.")
class IngestionProgress:
    namespace: str = field("The namespace.")
    fragments: int = field("Fragments that you may see.")
    pending_embeddings: int = field("How many of them wait for their vector.")


@strawberry.type(description="Everything that can be followed.")
class Subscription:
    @strawberry.subscription(
        description="The state of a namespace now and after each change; ends when it is closed to you.",
        graphql_type=IngestionProgress,
    )
    async def ingestion(
        self, info: Info, namespace: Annotated[str, strawberry.argument(description="The namespace.")]
    ) -> AsyncGenerator[ingest.Progress, None]:
        async with aclosing(ingest.progress(info, namespace)) as events:
            async for event in events:
                yield event

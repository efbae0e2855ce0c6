"""What the mutation about domain packs does."""

from __future__ import annotations

from typing import Any

from resolvers.arguments import Info
from retrieval.domain.applying import Applied
from retrieval.domain.applying import apply_pack as apply_pack_to
from retrieval.domain.reading import pack_of


async def apply_pack(info: Info, namespace: str, pack: Any) -> Applied:
    """Make a pack hold in a namespace."""
    applied = await apply_pack_to(info.context.store.database, await info.context.caller, namespace, pack_of(pack))
    info.context.touched.add(namespace)
    return applied

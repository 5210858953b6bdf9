"""Whether the types of a backfill are still what they were when its preview began.

What a preview worked out is of one definition: under another of the same name it would say something else.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from app.db import own_types
from app.db.backfill_items import Item
from app.db.backfills import Backfill
from app.db.session import WriteSession

DEFINITIONS: Final = "definitions"
"""Under which name a backfill's counts keep them; callers are not shown it."""

Present = Mapping[str, Sequence[str]]
"""What identifies each version of types by their names, the latest last; nothing of a type that is not there."""


async def recorded(session: WriteSession, tenant: UUID, names: Collection[str]) -> dict[str, Any]:
    """Return what a new backfill keeps of its types."""
    present = await own_types.identities(session, tenant, names)
    return {DEFINITIONS: {name: versions[-1] for name, versions in present.items()}}


async def held(session: WriteSession, one: Backfill) -> Present:
    """Return the types of a backfill as they are, and keep them so until the transaction ends."""
    names = {one.type, *one.sources}
    await own_types.hold_named(session, one.tenant_id, names)
    return await own_types.identities(session, one.tenant_id, names)


def target_changed(one: Backfill, present: Present) -> str | None:
    """Return how the type that adopts is not the one that was previewed; None where it is."""
    versions = present.get(one.type)
    if not versions:
        return f"{one.type} was removed"
    return None if versions[-1] == _recorded(one, one.type) else f"{one.type} was redefined"


def source_changed(one: Backfill, items: Sequence[Item], present: Present) -> str | None:
    """Return how a type that memories would go back to is not the one they were of; None where all are.

    A next version does no harm: they are read by their own.
    """
    for name in sorted({str(item.before["type"]) for item in items if "type" in item.before}):
        versions = present.get(name)
        if not versions:
            return f"{name} was removed"
        if _recorded(one, name) not in versions:
            return f"{name} was redefined"
    return None


def _recorded(one: Backfill, name: str) -> str:
    """Return what was kept of a type; backfills of earlier releases kept nothing, and are good for built-in ones."""
    return str(one.counts.get(DEFINITIONS, {}).get(name, own_types.BUILT_IN))

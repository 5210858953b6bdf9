"""Whose a memory is that was written while two entities were one: it goes by the name it was said with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any
from uuid import UUID

from app.db.unmerges import GivenBack
from app.memory import normalise
from app.memory.registry import Registry
from app.model import EntityRef

ABOUT = ("subject", "from", "identity")
"""Roles of the one that a memory is about, the first that it has."""


def given_back(
    rows: Iterable[Mapping[str, Any]], types: Registry, *, entity: UUID, survivor: UUID, own: AbstractSet[str]
) -> list[GivenBack]:
    """Return the memories that named the merged entity by a name that was its alone.

    A row is `unmerges.written_since`'s; `own` are normalised names. Other memories stay with the survivor.
    """
    found = (_given_back(row, types, entity, survivor, own) for row in rows)
    return [one for one in found if one is not None]


def _given_back(
    row: Mapping[str, Any], types: Registry, entity: UUID, survivor: UUID, own: AbstractSet[str]
) -> GivenBack | None:
    payload = types.get(row["type"]).read(row["payload"], row["type_version"])
    known = {
        role: EntityRef(id=UUID(id_), name=name, entity_type=kind) for role, (id_, name, kind) in row["roles"].items()
    }
    theirs = {
        mention.role
        for mention in payload.mentions()
        if mention.role in known
        and known[mention.role].id == survivor
        and (mention.entity == entity or normalise.name(mention.name) in own)
    }
    if not theirs:
        return None
    refs = {
        role: EntityRef(id=entity, name=ref.name, entity_type=ref.entity_type) if role in theirs else ref
        for role, ref in known.items()
    }
    edge = payload.edge()
    ends = () if edge is None else (("from", edge.from_role), ("to", edge.to_role))
    about = next((role for role in ABOUT if role in known), None)
    return GivenBack(
        memory=row["id"],
        roles=tuple(sorted(theirs)),
        ends=tuple(end for end, role in ends if role in theirs),
        subject_id=entity if about in theirs else None,
        slot=payload.slot(refs) if row["claims"] else None,
        slot_value=payload.value(refs) if row["claims"] else None,
    )

"""Use cases of entities: list, read, read the graph around one, merge and unmerge."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from app import ids
from app.db.audit import AuditWriter, append
from app.db.entities import merge as entity_merges
from app.db.entities import read as entity_reads
from app.db.entities import unmerge as entity_unmerges
from app.db.entities.merge import EntityMerge
from app.db.entities.read import EntityFilters, EntityRecord, FormerAttribute, RelationEdge
from app.db.entities.unmerge import MergeRecord, MovedBack, Undone
from app.db.session import Database, WriteSession
from app.db.sql import Row
from app.errors import Conflict, InvalidInput
from app.memory import normalise
from app.memory.audit import AuditAction
from app.memory.registry import Registry, Types
from app.model import UNKNOWN_TYPE, Actor, EntityRef, MemoryStatus, Scope
from app.services.pages import Page, cut_page
from app.write.resolve import compatible
from app.write.screening import refuse_secrets
from app.write.values import kept_refs

__all__ = [
    "PAGE",
    "SUBJECT_ROLES",
    "Entities",
    "EntityFilters",
    "EntityMergeResult",
    "EntityUnmergeResult",
    "RelationEdge",
    "reclassified",
]


SUBJECT_ROLES = ("subject", "from", "identity")
"""Roles of a memory's subject, in order of preference."""


PAGE = 500
"""Memories written or reclassified since a merge that are read at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityMergeResult:
    """The entity that others were merged into, and what was moved to it from each of them."""

    entity: EntityRecord
    moved: tuple[EntityMerge, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityUnmergeResult:
    """The entity that was unmerged, the survivor of the former merge, and what was moved back."""

    entity: EntityRecord
    survivor: EntityRecord
    undone: Undone


@dataclass(frozen=True, slots=True, kw_only=True)
class Entities:
    """Entities as callers use them; every method sees only the actor's tenant."""

    database: Database
    types: Types
    clock: Callable[[], datetime]

    async def list(
        self,
        actor: Actor,
        *,
        filters: EntityFilters,
        after: UUID | None = None,
        limit: int = 50,
        known_at: datetime | None = None,
    ) -> Page[EntityRecord, UUID]:
        """Return one page of entities in the order of their ids; texts of filters are normalised here.

        With `known_at`, returns entities as they were known at that time.
        """
        normalised = replace(
            filters,
            entity_type=None if filters.entity_type is None else normalise.normalise_key(filters.entity_type),
            alias=None if filters.alias is None else normalise.normalise_name(filters.alias),
            prefix=None if filters.prefix is None else normalise.normalise_name(filters.prefix),
        )
        async with self.database.read(actor.tenant_id) as session:
            found = await entity_reads.page(
                session, actor.tenant_id, filters=normalised, after=after, limit=limit + 1, known_at=known_at
            )
        return cut_page(found, limit, lambda one: one.id)

    async def get(
        self, actor: Actor, entity: UUID, *, known_at: datetime | None = None
    ) -> tuple[EntityRecord, tuple[FormerAttribute, ...]]:
        """Return an entity and its attributes' former values, at `known_at` as was known then, or raise NotFound."""
        tenant = actor.tenant_id
        async with self.database.read(tenant) as session:
            record = await entity_reads.find(session, tenant, entity, known_at=known_at)
            found = ids.require(record, ids.ENTITY, entity)
            former = await entity_reads.former_attributes(session, tenant, found, known_at=known_at)
            return found, tuple(former)

    async def graph(
        self,
        actor: Actor,
        entity: UUID,
        *,
        depth: int,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
    ) -> tuple[EntityRecord, tuple[RelationEdge, ...]]:
        """Return an entity and the relations within `depth` steps of it, or of the entity that it was merged into.

        `as_of` selects relations that were valid then; `known_at` returns everything as it was known then.
        """
        tenant = actor.tenant_id
        async with self.database.read(tenant) as session:
            record = await entity_reads.find(session, tenant, entity, known_at=known_at)
            found = ids.require(record, ids.ENTITY, entity)
            near = await entity_reads.around(session, tenant, entity, depth=depth, as_of=as_of, known_at=known_at)
            return found, tuple(near)

    async def merge(
        self, actor: Actor, into: UUID, others: Sequence[UUID], *, force: bool = False, reason: str | None = None
    ) -> EntityMergeResult:
        """Merge other entities into one and return it; `force` merges entities of different types.

        Raises NotFound, InvalidInput (an entity with itself, another scope, another type), or Conflict when one of them
        is merged already.
        """
        refuse_secrets(reason=reason)
        tenant = actor.tenant_id
        distinct = tuple(dict.fromkeys(others))
        async with self.database.write(tenant) as session:
            at = await entity_merges.lock_scope(session, tenant, into, now=self.clock())
            found = await entity_reads.find_all(session, tenant, [into, *distinct])
            for one in (into, *distinct):
                if one not in found:
                    raise ids.missing(ids.ENTITY, one)
            _check_merge(found[into], [found[one] for one in distinct], force=force)
            moved = [await entity_merges.merge(session, tenant, one, into=into, at=at) for one in distinct]
            ledger = _ledger(actor, found[into].scope, at)
            await append(session, entity_merges.merge_events(ledger, moved, reason))
            survivor = (await entity_reads.find_all(session, tenant, [into]))[into]
        return EntityMergeResult(entity=survivor, moved=tuple(moved))

    async def unmerge(self, actor: Actor, entity: UUID) -> EntityUnmergeResult:
        """Undo the merge of an entity and return both entities as they were before.

        Memories written meanwhile stay with the survivor, unless they name this entity by a name of its own. Raises
        NotFound, or Conflict when the entity is not merged or a later merge has to be undone first.
        """
        tenant = actor.tenant_id
        types = await self.types.of(tenant)
        async with self.database.write(tenant) as session:
            at = await entity_merges.lock_scope(session, tenant, entity, now=self.clock())
            found = ids.require(await entity_reads.find(session, tenant, entity), ids.ENTITY, entity)
            merged = _check_unmerge(found, await entity_unmerges.read_merge(session, tenant, entity))
            theirs = await _decided_anew(session, tenant, entity, merged, types)
            await entity_unmerges.give_back(session, tenant, entity, merged, theirs, at=at)
            undone = await entity_unmerges.unmerge(session, tenant, entity, merged, at=at)
            ledger = _ledger(actor, found.scope, at)
            await append(session, _unmerge_events(ledger, entity, merged, undone))
            after = await entity_reads.find_all(session, tenant, [entity, merged.into])
        return EntityUnmergeResult(entity=after[entity], survivor=after[merged.into], undone=undone)


def _moved_back(row: Mapping[str, Any], types: Registry, *, entity: UUID, own: AbstractSet[str]) -> MovedBack | None:
    """Return a memory that named the merged entity by a name that only it has; None for one of the survivor.

    `row` is one of `entity_unmerges.written_since`; `own` are normalised names.
    """
    payload = types.get(row["type"]).read(row["payload"], row["type_version"])
    known = {
        role: EntityRef(id=UUID(id_), name=name, entity_type=kind) for role, (id_, name, kind) in row["roles"].items()
    }
    theirs = {
        mention.role
        for mention in payload.mentions()
        if mention.role in row["shared"] and (mention.entity == entity or normalise.normalise_name(mention.name) in own)
    }
    if not theirs:
        return None
    refs = {
        role: EntityRef(id=entity, name=ref.name, entity_type=ref.entity_type) if role in theirs else ref
        for role, ref in known.items()
    }
    edge = payload.edge()
    ends = () if edge is None else (("from", edge.from_role), ("to", edge.to_role))
    about = next((role for role in SUBJECT_ROLES if role in known), None)
    return MovedBack(
        memory=row["id"],
        roles=tuple(sorted(theirs)),
        ends=tuple(end for end, role in ends if role in theirs),
        subject_id=entity if about in theirs else None,
        slot=payload.slot(refs) if row["claims"] else None,
        slot_value=payload.value(refs) if row["claims"] else None,
    )


def reclassified(row: Mapping[str, Any], types: Registry) -> MovedBack | None:
    """Return a memory that has another type than at the merge, with what that type's slot is once it is undone.

    `row` is one of `entity_unmerges.reclassified_since`. None where the former type is gone, or has other fields now.
    """
    payload = types.get(row["type"]).read(row["payload"], row["type_version"])
    former = types.read(row["former_type"], row["former_payload"], row["former_version"])
    if former is None:
        return None
    refs = kept_refs(row, former, payload)
    return MovedBack(
        memory=row["id"], slot=payload.slot(refs) if row["claims"] else None, slot_value=payload.value(refs)
    )


async def _decided_anew(
    session: WriteSession, tenant: UUID, entity: UUID, merged: MergeRecord, types: Registry
) -> tuple[MovedBack, ...]:
    """Return the memories of which the merge has no record that holds: written or reclassified since."""
    written = partial(entity_unmerges.written_since, session, tenant, entity, merged)
    changed = partial(entity_unmerges.reclassified_since, session, tenant, entity, merged)
    whose = partial(_moved_back, types=types, entity=entity, own=merged.own_names)
    return (*await _page_by_page(written, whose), *await _page_by_page(changed, partial(reclassified, types=types)))


async def _page_by_page(
    read: Callable[..., Awaitable[Sequence[Mapping[str, Any]]]],
    decide: Callable[[Mapping[str, Any]], MovedBack | None],
) -> list[MovedBack]:
    found: list[MovedBack] = []
    after = UUID(int=0)
    while rows := await read(after=after, limit=PAGE):
        decided = await asyncio.to_thread(lambda page: [decide(row) for row in page], rows)
        found += (one for one in decided if one is not None)
        after = rows[-1]["id"]
    return found


def _unmerge_events(ledger: AuditWriter, entity: UUID, merged: MergeRecord, undone: Undone) -> list[Row]:
    detail = {
        "entity": _id(entity),
        "from": _id(merged.into),
        "aliases": undone.aliases,
        "memories": undone.memories,
        "revived": len(undone.revived),
    }
    why = {
        "reason": "what had replaced it is about another entity",
        "status": [MemoryStatus.SUPERSEDED, MemoryStatus.ACTIVE],
    }
    return [
        ledger.event(AuditAction.ENTITY_UNMERGED, detail),
        *(ledger.event(AuditAction.MEMORY_REVIVED, why, memory=one) for one in undone.revived),
    ]


def _check_merge(into: EntityRecord, others: Sequence[EntityRecord], *, force: bool) -> None:
    """Raise InvalidInput or Conflict when the entities can't be merged."""
    if into.merged_into is not None:
        raise Conflict(f"{_id(into.id)} was itself merged: merge into {_id(into.merged_into)}")
    kind = into.entity_type
    for one in others:
        if one.id == into.id:
            raise InvalidInput("must not name the entity that the others are merged into", field="from")
        if one.scope != into.scope:
            raise InvalidInput(f"{_id(one.id)} is of another scope: what others see stays apart", field="from")
        if one.merged_into is not None:
            raise Conflict(f"{_id(one.id)} is merged into {_id(one.merged_into)}: unmerge it first")
        if not force and not compatible(kind, one.entity_type):
            raise InvalidInput(
                f"{_id(one.id)} is of type {one.entity_type}, {_id(into.id)} of type {kind}: "
                "send force=true if they are one all the same",
                field="from",
            )
        kind = one.entity_type if kind == UNKNOWN_TYPE else kind


def _check_unmerge(entity: EntityRecord, merged: MergeRecord | None) -> MergeRecord:
    """Return the merge if it can be undone now, or raise Conflict."""
    if entity.merged_into is None:
        raise Conflict(f"{_id(entity.id)} is not merged into anything")
    if merged is None:
        raise Conflict(f"{_id(entity.id)} was merged before merges were recorded: there is nothing to undo it by")
    if merged.into_merged:
        raise Conflict(f"{_id(merged.into)}, which it was merged into, was merged since: unmerge that one first")
    if merged.later is not None:
        raise Conflict(f"the merge of {_id(merged.later)} moved the same memories since: unmerge that one first")
    return merged


def _id(entity: UUID) -> str:
    return ids.public(ids.ENTITY, entity)


def _ledger(actor: Actor, scope: Scope, at: datetime) -> AuditWriter:
    return AuditWriter(tenant=actor.tenant_id, actor=actor.name, at=at, scope=scope.id(actor.tenant_id))

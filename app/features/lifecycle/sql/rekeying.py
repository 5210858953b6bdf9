"""Memories whose slot is keyed otherwise than their type keys it now: a predicate became a synonym of another one.

A statement of today would not meet them. They come into today's slot, a batch a transaction; where it is taken they
stand beside the holder, and a person decides if they say something else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from asyncpg import Record

from app import ids
from app.db.apply.memories import RowChange, bump_scopes, change_memories, row_change
from app.db.audit import AuditWriter, append
from app.db.entities.merge import link_row
from app.db.memories.read import VERSION_COLUMNS, version_fields
from app.db.recounts import BatchResult
from app.db.scopes import lock_scope
from app.db.session import ReadSession, WriteSession, statement
from app.db.sql import Row
from app.memory import normalise, vocabulary
from app.memory.audit import AuditAction
from app.memory.registry import Registry
from app.memory.slots import accumulate, transition
from app.memory.spec import Payload
from app.memory.versions import Moved, Transition, Version
from app.model import EntityRef, ReviewReason

SCANNED = 2_000
"""Memories that one batch looks at."""

MOVED = 200
"""Memories that one batch moves, with the holders of the slots that they come into."""

COUNTED = "moved"

ACTOR = "worker:slots"

_HELD = ("stateful",)
"""The field of a payload that says whether its key holds one value."""

REASON = "their keys turned out to be one"

_PAGE = statement(
    """
    SELECT x.id, x.type, x.type_version, x.slot, x.payload FROM memories x
    WHERE x.tenant_id = :tenant AND x.id > :after ORDER BY x.id LIMIT :limit
    """
)

_SCOPES = statement("SELECT DISTINCT scope_id FROM memories WHERE tenant_id = :tenant AND id = ANY(:ids)")

_ROWS = statement(
    f"""
    SELECT {", ".join(f"m.{name}" for name in VERSION_COLUMNS)}, m.scope_id, m.type_version, m.payload
    FROM memories m WHERE m.tenant_id = :tenant AND m.id = ANY(:ids) ORDER BY m.id FOR NO KEY UPDATE OF m
    """  # noqa: S608 - composed of constants
)

_HOLDERS = statement(
    """
    SELECT m.id FROM unnest(CAST(:scopes AS uuid[]), CAST(:types AS text[]), CAST(:slots AS text[]))
        AS taken(scope_id, type, slot)
    JOIN memories m ON m.tenant_id = :tenant AND m.scope_id = taken.scope_id AND m.type = taken.type
        AND m.slot = taken.slot AND m.status = 'active' AND NOT m.contested
    """
)

_NAMED = statement(
    """
    SELECT a.scope_id, a.alias, min(CAST(coalesce(e.merged_into, e.id) AS text)) AS entity FROM entity_aliases a
    JOIN entities e ON e.tenant_id = :tenant AND e.id = a.entity_id
    WHERE a.tenant_id = :tenant AND a.scope_id = ANY(:scopes) AND a.alias = ANY(:aliases)
    GROUP BY a.scope_id, a.alias HAVING count(DISTINCT coalesce(e.merged_into, e.id)) = 1
    """
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rekeyed:
    """A memory as it is stored, and its slot and payload by today's key."""

    row: Record
    slot: str | None
    payload: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rekeying:
    """Brings memories of built-in types into the slots of today's keys; repeating it changes nothing."""

    types: Registry

    async def look(self, session: ReadSession, *, tenant: UUID, now: datetime, after: UUID) -> BatchResult:  # noqa: ARG002
        """Return how many memories the next batch would move; nothing is locked."""
        due, seen, last = await self._due(session, tenant, after)
        return BatchResult(seen=seen, counts={COUNTED: len(due)}, last=last)

    async def __call__(self, session: WriteSession, *, tenant: UUID, now: datetime, after: UUID) -> BatchResult:
        """Move the next batch of memories, and move the versions of their scopes."""
        due, seen, last = await self._due(session, tenant, after)
        moved = await self._move(session, tenant, due, now) if due else 0
        return BatchResult(seen=seen, counts={COUNTED: moved}, last=last)

    async def _due(self, session: ReadSession, tenant: UUID, after: UUID) -> tuple[list[UUID], int, UUID | None]:
        """Return the ids to move, the number of rows that were read, and the last id read, None at the end."""
        rows = await session.fetch(_PAGE, {"tenant": tenant, "after": after, "limit": SCANNED})
        due: list[UUID] = []
        for place, row in enumerate(rows, 1):
            if self._rekeyed(row) is not None:
                due.append(row["id"])
                if len(due) == MOVED:
                    return due, place, row["id"]
        return due, len(rows), rows[-1]["id"] if len(rows) == SCANNED else None

    def _rekeyed(self, row: Record) -> Rekeyed | None:
        """Return a memory by today's key; None where that is the stored one, or its type has no key."""
        spec, payload = self.types.find(row["type"]), self._read(row)
        if spec is None or spec.held is None or payload is None:
            return None
        under = spec.held.under
        key = payload.stored(None).get(under)
        if key != row["payload"].get(under) and vocabulary.holds_one(str(key)) is False:
            payload = payload.held_as(one=False)
        stored = payload.stored(None)
        read = {**row["payload"], **{name: stored[name] for name in (under, *_HELD) if name in row["payload"]}}
        slot = _slot(row["slot"], payload)
        return None if (slot, read) == (row["slot"], row["payload"]) else Rekeyed(row=row, slot=slot, payload=read)

    def _read(self, row: Record) -> Payload | None:
        return None if row["type_version"] else self.types.read(row["type"], row["payload"], 0)

    async def _move(self, session: WriteSession, tenant: UUID, due: Sequence[UUID], now: datetime) -> int:
        scopes = await session.fetch(_SCOPES, {"tenant": tenant, "ids": list(due)})
        for scope in sorted(row["scope_id"] for row in scopes):
            await lock_scope(session, tenant, scope)
        rows = await session.fetch(_ROWS, {"tenant": tenant, "ids": list(due)})
        moving = [one for row in rows if (one := self._rekeyed(row)) is not None]
        rows = [*(one.row for one in moving), *await self._holders(session, tenant, moving)]
        values = await self._values(session, tenant, rows)
        event = Moved(
            to={one.row["id"]: (one.slot, values[one.row["id"]]) for one in moving},
            review=ReviewReason.CONTRADICTION,
            reason=REASON,
        )
        versions = [Version(**(version_fields(row) | {"value": values[row["id"]]})) for row in rows]
        found = transition(versions, event, policy=accumulate, now=now)
        links = [link_row(tenant, one, now) for one in found.links]
        changed = [_change(one, found, now) for one in moving]
        await change_memories(session, tenant, changed, at=now, rows={"memory_links": links})
        await bump_scopes(session, tenant, {one.row["scope_id"] for one in moving}, at=now)
        await append(session, list(_events(tenant, moving, found, now)))
        return len(moving)

    async def _holders(self, session: WriteSession, tenant: UUID, moving: Sequence[Rekeyed]) -> Sequence[Record]:
        """Lock and return the memories that hold the slots, without those that move themselves."""
        taken = sorted({(one.row["scope_id"], one.row["type"], one.slot) for one in moving if one.slot is not None})
        given = {name: [one[place] for one in taken] for place, name in enumerate(("scopes", "types", "slots"))}
        found = await session.fetch(_HOLDERS, {"tenant": tenant, **given}) if taken else []
        others = {row["id"] for row in found} - {one.row["id"] for one in moving}
        return await session.fetch(_ROWS, {"tenant": tenant, "ids": sorted(others)}) if others else []

    async def _values(self, session: WriteSession, tenant: UUID, rows: Sequence[Record]) -> dict[UUID, str | None]:
        """Return each memory's value as it is compared: a name by which one entity is known by now is that entity."""
        names = {row["id"]: name for row in rows if (name := self._name(row)) is not None}
        here = {"scopes": sorted({row["scope_id"] for row in rows}), "aliases": sorted(set(names.values()))}
        found = await session.fetch(_NAMED, {"tenant": tenant, **here}) if names else []
        known = {(row["scope_id"], row["alias"]): row["entity"] for row in found}
        return {row["id"]: known.get((row["scope_id"], names.get(row["id"])), row["slot_value"]) for row in rows}

    def _name(self, row: Record) -> str | None:
        """Return the name that is a memory's value, where a statement of today would make an entity of it."""
        payload = self._read(row)
        if payload is None or row["slot_value"] != payload.written_value():
            return None
        new = [one.name for one in payload.mentions() if one.creates and one.role != "subject"]
        return normalise.normalise_name(new[0]) if new else None


def _slot(stored: str | None, payload: Payload) -> str | None:
    """Return today's slot about whom the stored one is about; that one where the type keys by others as well.

    A key that holds several values has none.
    """
    if stored is None:
        return None
    try:
        subject = EntityRef(id=UUID(stored.partition("|")[0]), name="", entity_type="")
        return payload.slot({"subject": subject})
    except (KeyError, ValueError):
        return stored


def _change(one: Rekeyed, found: Transition, now: datetime) -> RowChange:
    """Return what changes of a memory: its payload, and what the engine says of its slot."""
    payload = {} if one.payload == one.row["payload"] else {"payload": one.payload}
    change = found.change_of(one.row["id"])
    if change is None:
        return RowChange(id=one.row["id"], values=payload)
    return row_change(change, at=now, more=payload)


def _events(tenant: UUID, moving: Sequence[Rekeyed], found: Transition, now: datetime) -> Iterator[Row]:
    """Yield the audit events of memories that move, and of those that contradict a holder from now on."""
    for one in moving:
        memory = one.row["id"]
        ledger = AuditWriter(tenant=tenant, actor=ACTOR, at=now, scope=one.row["scope_id"])
        yield ledger.event(AuditAction.MEMORY_CHANGED, {"changed": ["slot"], "reason": REASON}, memory=memory)
        for link in found.links:
            if link.source == memory:
                by = {"by": ids.public(ids.MEMORY, link.target), "reason": REASON}
                yield ledger.event(AuditAction.MEMORY_CONTRADICTED, by, memory=memory)

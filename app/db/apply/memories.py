"""Changes of rows of memories and of the index rows that repeat them.

What changes in a memory comes as `RowChange`s, made of the slot engine's `VersionChange`s by `row_change`, or as the
editable fields of one memory; new rows come by table. One order serves all of them: who leaves a slot, what is new, who
comes into one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from types import MappingProxyType
from typing import Any
from uuid import UUID

from app.db import tables
from app.db.session import SqlStatement, WriteSession, statement
from app.db.sql import Row, as_clauses, insert_all, plain, to_text
from app.memory.versions import Version, VersionChange


@dataclass(frozen=True, slots=True, kw_only=True)
class RowChange:
    """New values of a memory's columns.

    `claims`: it holds its slot from now on, and did not before. `vacates`: it held another one until now.
    """

    id: UUID
    values: Mapping[str, object]
    claims: bool = False
    vacates: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Restatement:
    """A memory that was said again: how often it was said by now, and the entities that were named this time, by role.

    Those are counted by the rows of the write; others of the memory are not.
    """

    id: UUID
    mentions: int
    named: Mapping[str, str]


FIXED = frozenset({"tenant_id", "id", "scope_id", "recorded_at", "updated_at", "needs_review", "status_since"})
"""Columns of a memory that stay, or that the database sets."""

COLUMNS = tuple(column.name for column in tables.memories.columns if column.name not in FIXED)
"""Columns of a memory that a write may change."""

_INDEXED = (
    "type",
    "topic",
    "status",
    "confidence",
    "stated_at",
    "valid_from",
    "valid_until",
    "ended_at",
    "retired_at",
)
"""Columns of a memory that its index rows repeat."""

_SAME_NAME = (
    "type",
    "slot",
    "status",
    "stated_at",
    "valid_from",
    "valid_until",
    "ended_at",
    "retired_at",
    "confidence",
    "contested",
    "supersedes",
    "superseded_by",
)


def version_columns(version: Version, *, at: datetime) -> dict[str, Any]:
    """Return the columns that hold a version; a review that it asks for began at the instant."""
    return {
        **{name: getattr(version, name) for name in _SAME_NAME},
        "slot_value": version.value,
        "source_strength": version.parts.source,
        "extractor_confidence": version.parts.extractor,
        "prior": version.parts.prior,
        "mentions": version.parts.mentions,
        "review_reason": version.review,
        "review_note": version.review_note,
        "review_since": None if version.review is None else at,
    }


def row_change(change: VersionChange, *, at: datetime, more: Mapping[str, object] | None = None) -> RowChange:
    """Return what a change of a version changes in its row, with `more` columns besides."""
    before, after = version_columns(change.before, at=at), version_columns(change.after, at=at)
    values = {name: value for name, value in after.items() if value != before[name]}
    if change.before.review is not None and change.after.review is None:
        values |= {"review_reason": None, "review_note": None, "review_since": None}
    moves = (change.before.type, change.before.slot) != (change.after.type, change.after.slot)
    held, holds = _holds(change.before), _holds(change.after)
    return RowChange(
        id=change.before.id,
        values={**values, **(more or {})},
        claims=holds and (moves or not held),
        vacates=held and holds and moves,
    )


def _holds(version: Version) -> bool:
    return version.active and version.slot is not None and not version.contested


_RESTATED = """
    restated AS (
        SELECT * FROM jsonb_to_recordset(CAST(:restated AS jsonb)) AS g(id uuid, mentions int, named jsonb)
    ), counted AS (
        UPDATE entities e SET mention_count = e.mention_count + unsaid.times
        FROM (
            SELECT each.entity_id, sum(each.times) AS times FROM (
                SELECT k.entity_id, g.mentions - m.mentions AS times FROM restated g
                JOIN memories m ON m.tenant_id = :tenant AND m.id = ANY(:ids) AND m.id = g.id
                JOIN memory_entities k ON k.tenant_id = :tenant AND k.memory_id = ANY(:ids) AND k.memory_id = g.id
                WHERE CAST(k.entity_id AS text) IS DISTINCT FROM g.named ->> k.role
                UNION ALL
                SELECT CAST(n.value AS uuid), m.mentions FROM restated g
                JOIN memories m ON m.tenant_id = :tenant AND m.id = ANY(:ids) AND m.id = g.id
                CROSS JOIN jsonb_each_text(g.named) n
                WHERE NOT EXISTS (SELECT FROM memory_entities k WHERE k.tenant_id = :tenant AND k.memory_id = g.id
                    AND k.role = n.key AND k.entity_id = CAST(n.value AS uuid))
            ) each GROUP BY each.entity_id
        ) unsaid
        WHERE e.tenant_id = :tenant AND e.id = unsaid.entity_id
    ),"""
"""Counts the mentions of entities that memories name, and that were not named when they were said again."""


@cache
def _change(columns: tuple[str, ...], *, restated: bool, inserts: str) -> SqlStatement:
    """Return the statement that sets these columns of memories, after clauses that insert rows.

    The ids are named apart, so that no plan reads all of a tenant's rows to find them.
    """
    names = ", ".join(columns)
    return statement(
        f"""
        WITH {f"{inserts}," if inserts else ""} {_RESTATED if restated else ""}
        given AS (SELECT * FROM jsonb_to_recordset(CAST(:given AS jsonb)) AS g(id uuid, change jsonb))
        UPDATE memories m SET ({names}) = (SELECT {names} FROM jsonb_populate_record(m, g.change))
        FROM given g WHERE m.tenant_id = :tenant AND m.id = ANY(:ids) AND m.id = g.id"""  # noqa: S608 - our own names
    )


@cache
def _mirror(columns: tuple[str, ...]) -> SqlStatement:
    """Return the statement that sets these columns of index rows to those of their memories.

    It is not joined to the update of the memories by a WITH: when somebody changes an index row at the same moment,
    upkeep for example, Postgres 18.1 may run that update again, and stops with an internal error.
    """
    old, new = (", ".join(f"{row}.{name}" for name in columns) for row in ("i", "m"))
    return statement(
        f"""
        UPDATE memory_index i SET ({", ".join(columns)}) = ROW({new}) FROM memories m
        WHERE i.tenant_id = :tenant AND i.memory_id = ANY(:ids) AND m.tenant_id = :tenant
          AND m.id = ANY(:ids) AND m.id = i.memory_id
          AND ({old}) IS DISTINCT FROM ({new})"""  # noqa: S608 - our own names
    )


_NONE: Mapping[str, Sequence[Row]] = MappingProxyType({})

A_MOMENT = timedelta(microseconds=1)
"""By what a change comes after what it must be told apart from: a merge of entities after what it moves."""

REREAD = "version = version + 1"
"""SQL that moves a scope's version where nobody writes to it: upkeep of its index, and erasure of all its memories."""


def written(stamp: str = ":at") -> str:
    """Return SQL that moves a scope's version by a write; `stamp` is SQL for the time of the writing.

    Later writes are stamped no earlier, and the users and agents of the scope were active then.
    """
    return f"{REREAD}, written_at = greatest(written_at, {stamp})"


_BUMP = statement(f"UPDATE scopes SET {written()} WHERE tenant_id = :tenant AND id = ANY(:scopes)")  # noqa: S608 - constants


async def change_memories(
    session: WriteSession,
    tenant: UUID,
    changed: Collection[RowChange],
    *,
    at: datetime,
    rows: Mapping[str, Sequence[Row]] | None = None,
    restated: Collection[Restatement] = (),
    indexed_anew: Collection[UUID] = (),
) -> None:
    """Change memories of locked scopes, and insert rows, so that no slot has two holders at any moment.

    The rows are inserted by the statement that changes those that come into a slot, unless that counts mentions, which
    the rows may count, too, or the rows are on other nodes. The index rows of `indexed_anew` are among the rows, and
    repeat what the memories become.
    Raises asyncpg.UniqueViolationError where somebody who locked no scope took a slot.
    """
    await session.stamp(at)
    leaving = [one for one in changed if not one.claims]
    leaving += [RowChange(id=one.id, values={"contested": True}) for one in changed if one.vacates]
    coming = [one for one in changed if one.claims]
    # What making way unsays of those that come into another slot is said again.
    coming = [RowChange(id=one.id, values={"contested": False, **one.values}) if one.vacates else one for one in coming]
    first = [one for one in restated if _among(one.id, leaving)]
    then = [one for one in restated if one not in first]
    await _set(session, tenant, leaving, restated=first, indexed_anew=indexed_anew)
    apart = session.clustered or then or not any(one.values for one in coming)
    beside = {} if apart else rows or {}
    await insert_all(session, {} if beside else rows or {})
    await _set(session, tenant, coming, restated=then, indexed_anew=indexed_anew, rows=beside)


async def bump_scopes(session: WriteSession, tenant: UUID, scopes: Collection[UUID], *, at: datetime) -> None:
    """Move the versions of locked scopes, so that whoever has read them decides again."""
    await session.fetch(_BUMP, {"tenant": tenant, "scopes": list(scopes), "at": at})


def _among(memory: UUID, changed: Sequence[RowChange]) -> bool:
    return any(one.id == memory for one in changed)


async def _set(
    session: WriteSession,
    tenant: UUID,
    changed: Sequence[RowChange],
    *,
    restated: Sequence[Restatement],
    indexed_anew: Collection[UUID],
    rows: Mapping[str, Sequence[Row]] = _NONE,
) -> None:
    """Set columns of memories and of their index rows, and insert rows by the statement that sets the memories'."""
    found = [one for one in changed if one.values]
    if not found:
        return
    names = {name for one in found for name in one.values}
    unknown = names - set(COLUMNS)
    if unknown:
        raise ValueError(f"no write changes these columns: {', '.join(sorted(unknown))}")
    given = [{"id": one.id, "change": plain(one.values)} for one in found]
    inserts, parameters = as_clauses(rows)
    values = {**parameters, "tenant": tenant, "ids": [one.id for one in found], "given": to_text(given)}
    if restated:
        said = [{"id": one.id, "mentions": one.mentions, "named": dict(one.named)} for one in restated]
        values["restated"] = to_text(said)
    await session.fetch(_change(tuple(sorted(names)), restated=bool(restated), inserts=inserts), values)
    ids = [one.id for one in found if one.id not in indexed_anew]
    if ids and (indexed := tuple(name for name in _INDEXED if name in names)):
        await session.fetch(_mirror(indexed), {"tenant": tenant, "ids": ids})


EDITABLE = (
    "importance",
    "topic",
    "metadata",
    "category",
    "half_life_days",
    "floor",
    "valid_until",
    "review_reason",
    "review_note",
    "review_since",
)
"""Columns that a caller may change; the content of a memory is changed by a newer memory only."""


async def update_fields(
    session: WriteSession, tenant: UUID, memory: UUID, values: Mapping[str, object], *, scope: UUID, at: datetime
) -> None:
    """Set editable columns of a memory, and their copies in its index rows; its scope must be locked."""
    unknown = set(values) - set(EDITABLE)
    if unknown:
        raise ValueError(f"not editable: {', '.join(sorted(unknown))}")
    await change_memories(session, tenant, [RowChange(id=memory, values=values)], at=at)
    await bump_scopes(session, tenant, [scope], at=at)

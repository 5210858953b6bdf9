"""Statements of an import: claim scopes for a file, insert rows without overwriting any, update counters of scopes."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from uuid import UUID

import asyncpg

from app.db.apply.counts import add_terms, added, counters
from app.db.apply.memories import written
from app.db.apply.scope import UPKEEP, Claimed, upkeep_limits
from app.db.failures import constraint_of
from app.db.session import ReadSession, SqlStatement, WriteSession, statement
from app.db.sql import Row, as_record, given_rows, to_text
from app.db.tables import Table, metadata
from app.lexical.counts import ScopeCounts
from app.model import Scope

HELD = "its scope was written to here: a file fills only scopes that nothing was written to"

ERASED = "its scope was erased here"

ONE_HOLDER = "uq_memories_active_slot"

_CLAIM = statement(
    """
    INSERT INTO scopes (tenant_id, id, kind, user_id, agent_id, imported_from)
    SELECT :tenant, g.id, g.kind, g.user_id, g.agent_id, :file
    FROM jsonb_to_recordset(CAST(:scopes AS jsonb)) AS g(id uuid, kind text, user_id text, agent_id text)
    WHERE NOT EXISTS (SELECT FROM erasures e WHERE e.tenant_id = :tenant AND g.id = ANY(e.scopes))
    ORDER BY g.id
    ON CONFLICT DO NOTHING
    """
)

_CLAIMED = statement(
    """
    SELECT g.id, s.id IS NULL AS erased, s.imported_from IS NOT DISTINCT FROM :file AS own
    FROM unnest(CAST(:scopes AS uuid[])) AS g(id) LEFT JOIN scopes s ON s.tenant_id = :tenant AND s.id = g.id
    """
)

_LOCK = statement(
    """
    SELECT id, ann, lexical_average FROM scopes
    WHERE tenant_id = :tenant AND id = ANY(:scopes) AND imported_from = :file ORDER BY id FOR UPDATE
    """
)

_GROW = statement(
    f"""
    UPDATE scopes SET {written()}, {added("g.")},
        lexical_average = CASE WHEN lexical_average = 0 THEN g.average ELSE lexical_average END
    FROM jsonb_to_recordset(CAST(:grown AS jsonb))
        AS g(id uuid, memories_added int, contexts_added int, documents_added int, length_added bigint, average float8)
    WHERE scopes.tenant_id = :tenant AND scopes.id = g.id
    RETURNING scopes.id, {UPKEEP}
    """  # noqa: S608 - composed of constants
)


async def existing(session: ReadSession, tenant: UUID, table: str, ids: Collection[UUID]) -> dict[UUID, UUID]:
    """Return the ids of those of these rows that exist, each with its scope."""
    if not ids:
        return {}
    rows = await session.fetch(_existing(table), {"tenant": tenant, "ids": list(ids)})
    return {row["id"]: row["scope_id"] for row in rows}


@cache
def _existing(table: str) -> SqlStatement:
    return statement(f"SELECT id, scope_id FROM {table} WHERE tenant_id = :tenant AND id = ANY(:ids)")  # noqa: S608 - our own names


async def present(session: ReadSession, table: Table, rows: Sequence[Row]) -> set[int]:
    """Return the places of those of these rows whose primary keys exist."""
    key = tuple(column.name for column in table.primary_key.columns)
    given = [{name: row.get(name) for name in key} for row in rows]
    return {row["place"] - 1 for row in await session.fetch(_present(table.name, key), {"given": to_text(given)})}


@cache
def _present(table: str, key: tuple[str, ...]) -> SqlStatement:
    return statement(
        f"SELECT g.ordinality AS place FROM json_populate_recordset(NULL::{table}, CAST(:given AS json)) "  # noqa: S608 - our own names
        f"WITH ORDINALITY AS g JOIN {table} t ON {' AND '.join(f't.{name} = g.{name}' for name in key)}"
    )


async def claim_scopes(
    session: WriteSession, tenant: UUID, scopes: Mapping[UUID, Scope], file: str
) -> dict[UUID, str | None]:
    """Create scopes for a file's lines; return for each why it takes none, None where it is the file's own."""
    given = [
        {"id": scope, "kind": one.kind.value, "user_id": one.user_id, "agent_id": one.agent_id}
        for scope, one in scopes.items()
    ]
    await session.change(_CLAIM, {"tenant": tenant, "scopes": to_text(given), "file": file})
    rows = await session.fetch(_CLAIMED, {"tenant": tenant, "scopes": list(scopes), "file": file})
    return {row["id"]: ERASED if row["erased"] else None if row["own"] else HELD for row in rows}


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedScope:
    """A scope: whether its vectors are in the vector index, and its average text length, 0 before its first text."""

    ann: bool
    lexical_average: float


async def lock_scopes(
    session: WriteSession, tenant: UUID, scopes: Collection[UUID], file: str
) -> dict[UUID, LockedScope]:
    """Lock scopes of a file until the transaction ends, and return them.

    Raises IntegrityViolation for a scope that is not the file's any more.
    """
    rows = await session.fetch(_LOCK, {"tenant": tenant, "scopes": list(scopes), "file": file}) if scopes else ()
    if len(rows) < len(scopes):
        raise IntegrityViolation(ERASED)
    return {row["id"]: as_record(LockedScope, row) for row in rows}


async def grow(
    session: WriteSession,
    tenant: UUID,
    grown: Mapping[UUID, ScopeCounts],
    averages: Mapping[UUID, float],
    *,
    at: datetime,
) -> dict[UUID, Claimed]:
    """Add to the counts of locked scopes that were written to; return the upkeep that each of them needs."""
    given = [{"id": scope, "average": averages.get(scope, 0.0), **counters(one)} for scope, one in grown.items()]
    if not given:
        return {}
    rows = await session.fetch(_GROW, {"tenant": tenant, "grown": to_text(given), "at": at, **upkeep_limits()})
    await add_terms(session, tenant, grown)
    return {row["id"]: as_record(Claimed, row) for row in rows}


async def insert(session: WriteSession, rows: Iterable[tuple[str, Sequence[Row]]]) -> Counter[str]:
    """Insert rows, by table in this order, whose primary keys don't exist yet; return how many of each table.

    The next table's rows are made and written as JSON while the database stores those before.
    """
    stored: Counter[str] = Counter()
    storing: asyncio.Task[None] | None = None

    async def store(table: str, statements: Sequence[tuple[SqlStatement, Mapping[str, object]]]) -> None:
        for one, values in statements:
            [counted] = await session.fetch(one, values)
            stored[table] += counted["stored"]

    try:
        for table, given in rows:
            statements = list(_inserts(table, given))
            if not statements:
                continue
            if storing is not None:
                await storing
            storing = asyncio.create_task(store(table, statements))
            await asyncio.sleep(0)
    finally:
        if storing is not None:
            await storing
    return stored


def _inserts(table: str, rows: Sequence[Row]) -> Iterator[tuple[SqlStatement, Mapping[str, object]]]:
    """Yield a statement, with its parameters, for the rows of each set of columns."""
    alike: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        alike.setdefault(tuple(row), []).append(row)
    for names, given in alike.items():
        yield _insert(table, names), given_rows(table, names, written=True).parameters(given)


@cache
def _insert(table: str, names: tuple[str, ...]) -> SqlStatement:
    key = ", ".join(column.name for column in metadata.tables[table].primary_key.columns)
    listed = ", ".join(names)
    return statement(
        f"WITH new AS (INSERT INTO {table} ({listed}) SELECT {listed} "  # noqa: S608 - our own names
        f"FROM {given_rows(table, names, written=True).sql} "
        f"ON CONFLICT ({key}) DO NOTHING RETURNING 1) SELECT count(*) AS stored FROM new"
    )


class IntegrityViolation(Exception):
    """The database refused a batch; the message says why."""


@contextmanager
def refusals() -> Iterator[None]:
    """Raise IntegrityViolation for database errors that are due to the rows, at the commit too."""
    try:
        yield
    except asyncpg.PostgresError as error:
        if isinstance(error, asyncpg.CheckViolationError):
            raise IntegrityViolation(_broken(error)) from None
        if isinstance(error, asyncpg.UniqueViolationError) and constraint_of(error) == ONE_HOLDER:
            raise IntegrityViolation("slot: another active memory holds it") from None
        told = str(error.args[0]) if error.args else type(error).__name__
        raise IntegrityViolation(f"the database refuses it: {told[:300]}") from None


_RULES = {
    "validity": "valid_until: must come after valid_from",
    "ended": "ended_at: what is active has not ended",
    "pending": "review_reason: what is pending waits for one",
    "review_since": "review_since: is given where review_reason is, and only there",
    "redaction": "detail: was emptied by an erasure, or was not",
    "counts": "counts: must not be negative",
    "parts": "source_strength, extractor_confidence, prior: must lie between 0 and 1",
    "half_life": "half_life_days: must be more than 0",
}
"""Messages for constraints of several columns, or named otherwise than their column."""


def _broken(error: asyncpg.CheckViolationError) -> str:
    name = constraint_of(error)
    table = next((one for one in metadata.tables if name.startswith(f"ck_{one}_")), "")
    rule = name.removeprefix(f"ck_{table}_")
    return _RULES.get(rule, f"{rule}: is not one of the values it can have")

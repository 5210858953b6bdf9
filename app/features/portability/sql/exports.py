"""The kinds of records of a tenant's export, in the order of their import, and the SQL that writes them as JSON.

Every table is either here or in `LEFT_OUT`, with the reason. Foreign keys tell which tables belong to a memory or an
entity, so a table that a later migration adds is exported with the rest.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from uuid import UUID

from sqlalchemy import Computed, Identity, Table

from app import ids
from app.db.session import ReadSession, statement
from app.db.sql import vector_of
from app.db.tables import entities, memories, metadata, turns
from app.db.tables.foreign_keys import referring
from app.db.tenant_types import READABLE
from app.db.turns import is_sent_for

FETCHED = 200
"""Records that are fetched at a time, which bounds the memory that an export needs."""

LEFT_OUT: Mapping[str, str] = {
    "api_keys": "secrets",
    "audit_seals": "proves this database's log, not another's",
    "audit_unsealed": "as audit_seals",
    "backfill_items": "as backfills",
    "backfills": "plans for the memories of this database, by when each was last changed here",
    "daily_usage": "used here, of the limits here",
    "embedding_models": "the importing service has its own",
    "erased_ids": "what was erased is not exported",
    "erasures": "as erased_ids",
    "idempotency_keys": "answers, kept for a day",
    "jobs": "work under way here",
    "lexical_terms": "made again from the memories",
    "limits": "the operator's, and of keys, which are not exported",
    "memory_labels": "made again from the memories",
    "memory_types": "those that are built in; a tenant's own are in `memory_type_versions`",
    "oauth_grants": "of clients that reach this service",
    "oauth_invitations": "secrets",
    "oauth_tokens": "secrets",
    "query_log": "questions that were asked here, kept for days",
    "review_counts": "counted again from the memories",
    "scope_changes": "of this database's transactions",
    "scopes": "in every record",
    "store_days": "made again",
    "tenants": "in the first line",
    "webhook_deliveries": "as webhooks",
    "webhooks": "secrets, and addresses to which this service sends",
    "worker_runs": "work under way here",
}

PREFIXES: Mapping[tuple[str, str], str] = {
    ("memories", "id"): ids.MEMORY,
    ("memories", "supersedes"): ids.MEMORY,
    ("turns", "id"): ids.TURN,
    ("entities", "id"): ids.ENTITY,
    ("memories", "subject_id"): ids.ENTITY,
    ("memory_index", "speaker_id"): ids.ENTITY,
    ("relations", "id"): ids.RELATION,
    ("audit_events", "id"): ids.EVENT,
    ("audit_events", "memory_id"): ids.MEMORY,
    ("entity_merge_memories", "subject_id"): ids.ENTITY,
    ("entity_merge_memories", "contradicts"): ids.MEMORY,
}
"""Prefixes of columns with public ids, besides those that foreign keys tell."""

_BY_PARENT = {"memories": ids.MEMORY, "turns": ids.TURN, "entities": ids.ENTITY}

DERIVED: Mapping[str, frozenset[str]] = {
    "memories": frozenset({"needs_review", "type_tenant", "filter_key"}),
    "memory_index": frozenset(
        {"type", "status", "topic", "confidence", "valid_from", "valid_until", "ended_at", "recorded_at", "retired_at",
         "stated_at", "session_id", "sequence_number", "lexical", "tsv", "ann", "model_id", "model_id_2", "embedding_2"}
    ),
    "hypothetical_embeddings": frozenset({"ann", "model_id", "model_id_2", "embedding_2"}),
    "audit_events": frozenset({"position", "salt", "detail_digest", "redacted_by"}),
}  # fmt: skip
"""Columns that are left out because an import computes them."""

VECTORS = frozenset({"embedding"})
"""Columns that are exported on request: the vectors of the active model, which the header names."""

_ACTIVE = "(SELECT x.id FROM embedding_models x WHERE x.active)"

MOST_PAIRS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordKind:
    """A kind of line. `name` is its `record`; `inner` are tables whose rows are nested in it, by the joining column.

    `of` is the column that refers to a memory or an entity, and through it to a scope; None for tables with `scope_id`.
    `always`: it has no scope, and is part of a user's export too.
    """

    name: str
    table: Table
    inner: tuple[tuple[Table, str], ...] = ()
    of: tuple[str, str] | None = None
    order: str = "t.id"
    always: bool = False


def _tables_within(parent: Table, *, beside: frozenset[str] = frozenset()) -> tuple[tuple[Table, str], ...]:
    """Return the tables whose rows refer to one row of the parent, and to no other memory or entity."""
    found = []
    for table in sorted(metadata.tables.values(), key=lambda one: one.name):
        own = referring(table, parent)
        others = [column for other in (memories, entities) if other is not parent for column in referring(table, other)]
        if table is parent or table.name in LEFT_OUT or table.name in beside or len(own) != 1:
            continue
        if parent is memories or not others:
            found.append((table, own[0]))
    return tuple(found)


_OF_MEMORIES = _tables_within(memories, beside=frozenset({"entity_merge_memories"}))
_OF_ENTITIES = _tables_within(entities)
_NESTED = frozenset(table.name for table, _ in (*_OF_MEMORIES, *_OF_ENTITIES)) | {"memories", "entities", "turns"}


_LISTED_APART = frozenset({"audit_events", "extraction_costs", "memory_type_versions"})


def _later() -> tuple[RecordKind, ...]:
    """Return the tables that link memories or entities to one another, and those that belong to scopes only."""
    found = []
    for table in sorted(metadata.tables.values(), key=lambda one: one.name):
        if table.name in _NESTED or table.name in LEFT_OUT or table.name in _LISTED_APART:
            continue
        of = next(
            ((column, parent.name) for parent in (memories, entities) for column in referring(table, parent)), None
        )
        order = ", ".join(f"t.{column.name}" for column in table.primary_key.columns if column.name != "tenant_id")
        found.append(
            RecordKind(
                name=table.name, table=table, of=of, order=order.replace("t.scope_id", "s.kind, s.user_id, s.agent_id")
            )
        )
    return tuple(found)


RECORDS: tuple[RecordKind, ...] = (
    RecordKind(
        name="memory_type", table=metadata.tables["memory_type_versions"], order="t.name, t.version", always=True
    ),
    RecordKind(name="entity", table=entities, inner=_OF_ENTITIES, order="t.merged_into IS NOT NULL, t.id"),
    RecordKind(name="turn", table=turns),
    RecordKind(name="memory", table=memories, inner=_OF_MEMORIES, order="t.id DESC"),
    *_later(),
    RecordKind(name="extraction_costs", table=metadata.tables["extraction_costs"], order="t.day"),
    RecordKind(name="audit_event", table=metadata.tables["audit_events"], order="t.position"),
)
"""Every kind of line in the order of the file: a line comes after those that it refers to, except some successors."""


_NAMING = "SELECT m.id FROM memories m WHERE m.tenant_id = $1 AND m.provenance ->> 'user_id' = $3"

NAMED: Mapping[str, str] = {
    "entity": f"""t.id IN (
        SELECT unnest(ARRAY[k.id, k.merged_into]) FROM memory_entities e
        JOIN entities k ON k.tenant_id = $1 AND k.id = e.entity_id
        WHERE e.tenant_id = $1 AND e.memory_id IN ({_NAMING}))""",  # noqa: S608 - constants
    "turn": f"{is_sent_for('t', '$3')} AND s.user_id IS NULL",
    "memory": "t.provenance ->> 'user_id' = $3",
    "audit_event": f"t.memory_id IN ({_NAMING})",
}
"""Conditions of a user's records in other scopes: memories and turns that name the user, and their references."""


@cache
def columns(table: Table) -> tuple[str, ...]:
    """Return the columns that a record of the table has."""
    left = DERIVED.get(table.name, frozenset()) | {"tenant_id", "scope_id"}
    # SQLAlchemy's own strings are slow to write as JSON.
    return tuple(
        str(one.name)
        for one in table.columns
        if one.name not in left and not isinstance(one.computed, Computed) and not isinstance(one.identity, Identity)
    )


def prefix(table: Table, column: str) -> str | None:
    """Return the prefix of the public ids in this column, None if it has none."""
    for parent in (memories, turns, entities):
        if column in referring(table, parent) or (table is parent and column in {"superseded_by", "merged_into"}):
            return _BY_PARENT[parent.name]
    return PREFIXES.get((table.name, column))


def _members(table: Table, alias: str, *, vectors: bool, without: str | None = None) -> str:
    """Return SQL for a JSON object of a row, in pieces, because a Postgres function takes at most 100 arguments."""
    told = []
    for column in columns(table):
        if column == without or (column in VECTORS and not vectors):
            continue
        kind = prefix(table, column)
        plain = vector_of(alias, _ACTIVE) if column in VECTORS else f"{alias}.{column}"
        if column == "definition":
            plain = READABLE.format(definition=plain)
        value = plain if kind is None else f"'{kind}_' || replace({alias}.{column}::text, '-', '')"
        told.append(f"'{column}', {value}")
    pieces = [told[at : at + MOST_PAIRS] for at in range(0, len(told), MOST_PAIRS)]
    return " || ".join(f"jsonb_build_object({', '.join(piece)})" for piece in pieces) or "'{}'::jsonb"


def _within(table: Table, column: str, *, vectors: bool) -> str:
    key = ", ".join(
        f"c.{one.name}" for one in table.primary_key.columns if one.name not in {"tenant_id", column}
    ) or f"c.{column}"  # fmt: skip
    members = _members(table, "c", vectors=vectors, without=column)
    return (
        f"'{table.name}', (SELECT coalesce(jsonb_agg({members} ORDER BY {key}), '[]') "  # noqa: S608
        f"FROM {table.name} c WHERE c.tenant_id = $1 AND c.{column} = t.id)"
    )


def _scoped(record: RecordKind) -> tuple[str, str]:
    """Return SQL of the join from a record to its scope, and of the scope's JSON."""
    told = (
        ", 'scope', CASE WHEN s.id IS NOT NULL THEN "
        "jsonb_build_object('kind', s.kind, 'user_id', s.user_id, 'agent_id', s.agent_id) END"
    )
    if record.of is not None:
        column, parent = record.of
        return (
            (
                f"JOIN {parent} p ON p.tenant_id = $1 AND p.id = t.{column} "
                "JOIN scopes s ON s.tenant_id = $1 AND s.id = p.scope_id"
            ),
            told,
        )
    if "scope_id" not in record.table.columns:
        return "", ""
    left = "LEFT " if record.table.columns["scope_id"].nullable else ""
    return f"{left}JOIN scopes s ON s.tenant_id = $1 AND s.id = t.scope_id", told


def query(record: RecordKind, *, vectors: bool, filtered: bool, named: bool = False) -> str | None:
    """Return the SQL of a kind of record for the tenant $1 and the scopes $2, None for a kind without scopes.

    With `named`, return records of other scopes that are part of the export of the user $3.
    """
    join, scope = _scoped(record)
    if (filtered and not join and not record.always) or (named and record.name not in NAMED):
        return None
    inner = "".join(
        f" || jsonb_build_object({_within(table, column, vectors=vectors)})" for table, column in record.inner
    )
    condition = " AND s.id = ANY($2::uuid[])" if filtered and join else ""
    if named:
        condition = f" AND (s.id = ANY($2::uuid[])) IS NOT TRUE AND {NAMED[record.name]}"
    return (
        f"SELECT (jsonb_build_object('record', '{record.name}'{scope}) || "  # noqa: S608 - our own names
        f"{_members(record.table, 't', vectors=vectors)}{inner})::text "
        f"FROM {record.table.name} t {join} WHERE t.tenant_id = $1{condition} ORDER BY {record.order}"
    )


_HEADER = statement(
    f"""
    SELECT now() AS at, t.name, t.settings, m.name AS model, m.dimensions,
        (SELECT count(*) FROM memories x WHERE x.tenant_id = :tenant
            AND (CAST(:scopes AS uuid[]) IS NULL OR x.scope_id = ANY(:scopes)))
        + (SELECT count(*) FROM memories x WHERE x.tenant_id = :tenant
            AND x.provenance ->> 'user_id' = :named AND x.scope_id <> ALL(:scopes)) AS memories,
        (SELECT count(*) FROM turns x WHERE x.tenant_id = :tenant
            AND (CAST(:scopes AS uuid[]) IS NULL OR x.scope_id = ANY(:scopes)))
        + (SELECT count(*) FROM turns x JOIN scopes s ON s.tenant_id = :tenant AND s.id = x.scope_id
            WHERE x.tenant_id = :tenant AND s.user_id IS NULL AND {is_sent_for("x", ":named")}
                AND x.scope_id <> ALL(:scopes)) AS turns
    FROM tenants t LEFT JOIN embedding_models m ON m.active WHERE t.id = :tenant
    """  # noqa: S608 - a constant
)

_SCOPE_LINES = """
    SELECT jsonb_build_object('record', 'scope', 'scope', jsonb_build_object('kind', s.kind, 'user_id', s.user_id,
        'agent_id', s.agent_id), 'lexical_average', s.lexical_average, 'created_at', s.created_at)::text
    FROM scopes s WHERE s.tenant_id = $1 AND ($2::uuid[] IS NULL OR s.id = ANY($2::uuid[]))
    ORDER BY s.kind, s.user_id, s.agent_id
"""


async def header(session: ReadSession, tenant: UUID, scopes: Sequence[UUID] | None, named: str | None) -> Any:  # noqa: ANN401 - a row
    """Return the values of the header: the tenant's name and settings, the model of its vectors, and counts."""
    given = None if scopes is None else list(scopes)
    [row] = await session.fetch(_HEADER, {"tenant": tenant, "scopes": given, "named": named})
    return row


async def scope_lines(session: ReadSession, tenant: UUID, scopes: Sequence[UUID] | None) -> AsyncIterator[list[str]]:
    """Yield the lines of scopes."""
    given = None if scopes is None else list(scopes)
    cursor = await session.driver.cursor(_SCOPE_LINES, tenant, given)
    while rows := await cursor.fetch(FETCHED):
        yield [row[0] for row in rows]


async def lines(
    session: ReadSession,
    record: RecordKind,
    tenant: UUID,
    scopes: Sequence[UUID] | None,
    *,
    vectors: bool,
    named: str | None = None,
) -> AsyncIterator[list[str]]:
    """Yield the lines of a kind of record, some at a time, through a cursor of the transaction's snapshot.

    With `named`, yield lines of other scopes that are part of the export of that user.
    """
    statement = query(record, vectors=vectors, filtered=scopes is not None, named=named is not None)
    if statement is None:
        return
    arguments = [tenant] if scopes is None or record.always else [tenant, list(scopes)]
    cursor = await session.driver.cursor(statement, *arguments, *([] if named is None else [named]))
    while rows := await cursor.fetch(FETCHED):
        yield [row[0] for row in rows]

"""The only writer of memories: claims the scope, applies changes.

What one write changes in one scope: the frozen values that `writing.apply` puts into the database.

Applying a write: the scope is claimed at the version that was read, then everything lands at once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import asyncpg

from app.db.audit import AuditWriter, append
from app.db.entities.merge import merge_entities, merge_events
from app.db.session import SqlStatement, WriteSession, statement
from app.db.sql import Row, insert_all
from app.model import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Retire:
    """A memory whose slot was taken: by whom, and when in valid time and in ours."""

    id: UUID
    successor: UUID
    ended_at: datetime
    retired_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Relink:
    """New neighbours in a chain of supersession; None leaves one as it is."""

    id: UUID
    supersedes: UUID | None
    superseded_by: UUID | None
    ended_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryMerge:
    """A belief that was stated again: its new standing, and its new words if it gained any.

    With a `category`, it fades by that from now on. One that had expired is active again. `settles`: nothing
    contradicts it any more. With a `valid_until` it ends then; None leaves its end as it is. `named` are the ids of
    the entities that were named this time, by role: those counted already, where others of the memory are not.
    """

    id: UUID
    source_strength: float
    extractor_confidence: float
    mentions: int
    confidence: float
    stated_at: datetime
    payload: Mapping[str, object] | None
    content: str | None
    identity: bytes | None
    category: str | None = None
    half_life_days: float | None = None
    floor: float = 0.0
    settles: bool = False
    valid_until: datetime | None = None
    named: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryEnd:
    """A memory that stopped being true with no successor: when in valid time and in ours, and when that was stated."""

    id: UUID
    ended_at: datetime
    retired_at: datetime
    stated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkForReview:
    """A memory that a person should look at; one that waits for a person already keeps its reason."""

    id: UUID
    reason: str
    note: str
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Everything one write does to one scope, at its stamp; `unified` pairs are (merged entity, survivor).

    `touched` are the memories that it was decided on, with the status that they had.
    """

    at: datetime
    touched: Mapping[UUID, str]
    rows: Mapping[str, Sequence[Row]]
    retired: tuple[Retire, ...]
    relinked: tuple[Relink, ...]
    merged: tuple[MemoryMerge, ...]
    ended: tuple[MemoryEnd, ...]
    doubted: tuple[MarkForReview, ...]
    unified: tuple[tuple[UUID, UUID], ...]
    added: int
    contexts: int
    lexical_documents: int
    lexical_length: int
    lexical_average: float
    ledger: AuditWriter


class ScopeMoved(Exception):
    """Someone else wrote the scope since it was read: read and decide again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """What upkeep a scope needs: its average length has drifted, or it outgrew exact search."""

    drifted: bool
    crowded: bool


_OPEN = statement(
    """
    INSERT INTO scopes (tenant_id, id, kind, user_id, agent_id)
    VALUES (:tenant, :scope, :kind, :user_id, :agent_id) ON CONFLICT DO NOTHING
    """
)

_CLAIM = statement(
    """
    UPDATE scopes SET version = version + 1, written_at = greatest(written_at, :written_at),
        memory_count = memory_count + :added,
        context_count = context_count + :contexts,
        lexical_documents = lexical_documents + :documents, lexical_length = lexical_length + :length,
        lexical_average = CASE WHEN lexical_average = 0 THEN :average ELSE lexical_average END
    WHERE tenant_id = :tenant AND id = :scope AND version = :version
    RETURNING memory_count > :large AND (NOT ann OR EXISTS (
            SELECT FROM memory_index i WHERE i.tenant_id = scopes.tenant_id AND i.scope_id = scopes.id AND NOT i.ann
        )) AS crowded,
        NOT lexical_settled OR (lexical_documents > 0
        AND abs(lexical_length::float8 / lexical_documents - lexical_average) > :drift * lexical_average) AS drifted
    """
)

_RETIRE = statement(
    """
    WITH given AS (
        SELECT * FROM jsonb_to_recordset(CAST(:given AS jsonb))
            AS g(id uuid, successor uuid, ended_at timestamptz, retired_at timestamptz)
    ), gone AS (
        UPDATE memories m SET status = 'superseded', superseded_by = g.successor, ended_at = g.ended_at,
            retired_at = g.retired_at, updated_at = :at, contested = false,
            review_reason = NULL, review_note = NULL, review_since = NULL
        FROM given g WHERE m.tenant_id = :tenant AND m.id = ANY(:ids) AND m.id = g.id
    )
    UPDATE memory_index i SET status = 'superseded', ended_at = g.ended_at, retired_at = g.retired_at
    FROM given g WHERE i.tenant_id = :tenant AND i.memory_id = ANY(:ids) AND i.memory_id = g.id
    """
)

_END = statement(
    """
    WITH given AS (
        SELECT * FROM jsonb_to_recordset(CAST(:given AS jsonb))
            AS g(id uuid, ended_at timestamptz, retired_at timestamptz, stated_at timestamptz)
    ), gone AS (
        UPDATE memories m SET status = 'expired', ended_at = g.ended_at, retired_at = g.retired_at,
            stated_at = greatest(m.stated_at, g.stated_at), updated_at = :at, contested = false,
            review_reason = NULL, review_note = NULL, review_since = NULL
        FROM given g WHERE m.tenant_id = :tenant AND m.id = ANY(:ids) AND m.id = g.id
    )
    UPDATE memory_index i SET status = 'expired', ended_at = g.ended_at, retired_at = g.retired_at,
        stated_at = greatest(i.stated_at, g.stated_at)
    FROM given g WHERE i.tenant_id = :tenant AND i.memory_id = ANY(:ids) AND i.memory_id = g.id
    """
)

_DOUBT = statement(
    """
    UPDATE memories m SET review_reason = g.reason, review_note = g.note, review_since = g.since, updated_at = :at
    FROM jsonb_to_recordset(CAST(:given AS jsonb)) AS g(id uuid, reason text, note text, since timestamptz)
    WHERE m.tenant_id = :tenant AND m.id = ANY(:ids) AND m.id = g.id AND m.review_reason IS NULL
    """
)

_RELINK = statement(
    """
    WITH given AS (
        SELECT * FROM jsonb_to_recordset(CAST(:given AS jsonb))
            AS g(id uuid, supersedes uuid, superseded_by uuid, ended_at timestamptz)
    ), linked AS (
        UPDATE memories m SET supersedes = coalesce(g.supersedes, m.supersedes),
            superseded_by = coalesce(g.superseded_by, m.superseded_by), ended_at = coalesce(g.ended_at, m.ended_at),
            updated_at = :at
        FROM given g WHERE m.tenant_id = :tenant AND m.id = ANY(:ids) AND m.id = g.id
    )
    UPDATE memory_index i SET ended_at = g.ended_at
    FROM given g
    WHERE i.tenant_id = :tenant AND i.memory_id = ANY(:ids) AND i.memory_id = g.id AND g.ended_at IS NOT NULL
    """
)

_AGREE = statement(
    """
    UPDATE memories w SET updated_at = :at, supersedes = (
        SELECT p.id FROM memories p WHERE p.tenant_id = :tenant AND p.superseded_by = w.id
        ORDER BY p.stated_at DESC, p.id DESC LIMIT 1)
    WHERE w.tenant_id = :tenant AND w.id = ANY(ARRAY(
        SELECT m.id FROM memories m
        WHERE m.tenant_id = :tenant AND m.id = ANY(:winners) AND m.supersedes IS NULL
        UNION
        SELECT m.id FROM memories p JOIN memories m ON m.tenant_id = :tenant AND m.scope_id = p.scope_id
            AND m.type = p.type AND m.slot = p.slot
        WHERE p.tenant_id = :tenant AND p.id = ANY(:moved) AND m.supersedes = p.id AND m.id <> p.superseded_by
    ))
    """
)
"""Has who won name whom it replaced, and who lost the one before it to another name whom else it replaced."""

_MERGE = statement(
    """
    WITH given AS (
        SELECT * FROM jsonb_to_recordset(CAST(:given AS jsonb))
            AS g(id uuid, source_strength float8, extractor_confidence float8, mentions int, confidence float8,
                 stated_at timestamptz, payload jsonb, content text, identity text,
                 category text, half_life_days float8, floor float8, settles boolean, valid_until timestamptz,
                 named jsonb)
    ), counted AS (
        UPDATE entities e SET mention_count = e.mention_count + unsaid.times, updated_at = greatest(e.updated_at, :at)
        FROM (
            SELECT each.entity_id, sum(each.times) AS times FROM (
                SELECT k.entity_id, g.mentions - m.mentions AS times FROM given g
                JOIN memories m ON m.tenant_id = :tenant AND m.id = ANY(:ids) AND m.id = g.id
                JOIN memory_entities k ON k.tenant_id = :tenant AND k.memory_id = ANY(:ids) AND k.memory_id = g.id
                WHERE CAST(k.entity_id AS text) IS DISTINCT FROM g.named ->> k.role
                UNION ALL
                SELECT CAST(n.value AS uuid), m.mentions FROM given g
                JOIN memories m ON m.tenant_id = :tenant AND m.id = ANY(:ids) AND m.id = g.id
                CROSS JOIN jsonb_each_text(g.named) n
                WHERE NOT EXISTS (SELECT FROM memory_entities k WHERE k.tenant_id = :tenant AND k.memory_id = g.id
                    AND k.role = n.key AND k.entity_id = CAST(n.value AS uuid))
            ) each GROUP BY each.entity_id
        ) unsaid
        WHERE e.tenant_id = :tenant AND e.id = unsaid.entity_id
    ), rewritten AS (
        DELETE FROM memory_index i USING given g
        WHERE i.tenant_id = :tenant AND i.memory_id = ANY(:ids) AND i.memory_id = g.id AND g.content IS NOT NULL
    ), merged AS (
        UPDATE memories m SET source_strength = g.source_strength, extractor_confidence = g.extractor_confidence,
            mentions = g.mentions, confidence = g.confidence, stated_at = g.stated_at, updated_at = :at,
            status = CASE WHEN m.status = 'expired' AND m.ended_at IS NULL THEN 'active' ELSE m.status END,
            payload = coalesce(g.payload, m.payload), content = coalesce(g.content, m.content),
            identity = coalesce(decode(g.identity, 'hex'), m.identity),
            category = coalesce(g.category, m.category),
            half_life_days = CASE WHEN g.category IS NULL THEN m.half_life_days ELSE g.half_life_days END,
            floor = CASE WHEN g.category IS NULL THEN m.floor ELSE g.floor END,
            valid_until = coalesce(g.valid_until, m.valid_until),
            contested = m.contested AND NOT g.settles,
            review_reason = CASE WHEN g.settles AND m.review_reason IN ('contradiction', 'entity_merge') THEN NULL
                ELSE m.review_reason END,
            review_note = CASE WHEN g.settles AND m.review_reason IN ('contradiction', 'entity_merge') THEN NULL
                ELSE m.review_note END,
            review_since = CASE WHEN g.settles AND m.review_reason IN ('contradiction', 'entity_merge') THEN NULL
                ELSE m.review_since END
        FROM given g WHERE m.tenant_id = :tenant AND m.id = ANY(:ids) AND m.id = g.id
    )
    UPDATE memory_index i SET confidence = g.confidence, stated_at = g.stated_at,
        valid_until = coalesce(g.valid_until, i.valid_until),
        status = CASE WHEN i.status = 'expired' AND i.ended_at IS NULL THEN 'active' ELSE i.status END
    FROM given g WHERE i.tenant_id = :tenant AND i.memory_id = ANY(:ids) AND i.memory_id = g.id AND g.content IS NULL
    """
)

_HOLD = statement(
    "SELECT id, status FROM memories WHERE tenant_id = :tenant AND id = ANY(:ids) ORDER BY id FOR NO KEY UPDATE"
)

LARGE = 10_000
"""Memories from which a scope's vectors go into the index: half of what is still searched exactly."""

A_MOMENT = timedelta(microseconds=1)
"""By what a change comes after what it must be told apart from: a merge of entities after what it moves."""

DRIFT = 0.05
"""How far, as a share, the true average length may be from the one that lexical weights go by."""


async def apply(session: WriteSession, *, tenant: UUID, scope: Scope, version: int, changes: Changes) -> Claimed:
    """Write the changes, or raise ScopeMoved when the scope is no longer at `version`.

    So it does when a memory that it touches has another status by now: workers expire and forget memories
    without moving their scope. Return what upkeep the scope needs now.
    """
    try:
        claimed = await _claim(session, tenant=tenant, scope=scope, version=version, changes=changes)
        await _hold(session, tenant, changes.touched)
        await _update(session, _RETIRE, tenant, changes.at, {one.id: _fields(one) for one in changes.retired})
        await _update(session, _END, tenant, changes.at, {one.id: _fields(one) for one in changes.ended})
        await _update(session, _DOUBT, tenant, changes.at, {one.id: _fields(one) for one in changes.doubted})
        await _update(session, _MERGE, tenant, changes.at, {one.id: _fields(one) for one in changes.merged})
        await insert_all(session, changes.rows)
        await _update(session, _RELINK, tenant, changes.at, {one.id: _fields(one) for one in changes.relinked})
        await _agree(session, tenant, changes)
        moved = await merge_entities(session, tenant, changes.unified, at=changes.at + A_MOMENT)
        await append(session, merge_events(changes.ledger, moved, "a declaration names them as one"))
    except asyncpg.UniqueViolationError as error:
        raise ScopeMoved from error
    return claimed


async def _hold(session: WriteSession, tenant: UUID, touched: Mapping[UUID, str]) -> None:
    """Lock memories until the transaction ends, or raise ScopeMoved when one is not as it was."""
    if touched:
        rows = await session.fetch(_HOLD, {"tenant": tenant, "ids": list(touched)})
        if {row["id"]: row["status"] for row in rows} != touched:
            raise ScopeMoved


async def _claim(session: WriteSession, *, tenant: UUID, scope: Scope, version: int, changes: Changes) -> Claimed:
    here = {"tenant": tenant, "scope": scope.id(tenant)}
    if version == 0:
        names = {"kind": scope.kind.value, "user_id": scope.user_id, "agent_id": scope.agent_id}
        await session.fetch(_OPEN, {**here, **names})
    claimed = await session.fetch(
        _CLAIM,
        {
            **here,
            "version": version,
            "written_at": changes.at + A_MOMENT if changes.unified else changes.at,
            "added": changes.added,
            "contexts": changes.contexts,
            "documents": changes.lexical_documents,
            "length": changes.lexical_length,
            "average": changes.lexical_average,
            "drift": DRIFT,
            "large": LARGE,
        },
    )
    if not claimed:
        raise ScopeMoved
    return Claimed(drifted=claimed[0]["drifted"], crowded=claimed[0]["crowded"])


async def _update(
    session: WriteSession, update: SqlStatement, tenant: UUID, at: datetime, given: Mapping[UUID, Row]
) -> None:
    """Change rows by id. The ids are named apart, so that no plan reads all of a tenant's rows to find them."""
    if given:
        values = {"tenant": tenant, "at": at, "ids": list(given), "given": json.dumps(list(given.values()))}
        await session.fetch(update, values)


async def _agree(session: WriteSession, tenant: UUID, changes: Changes) -> None:
    """Have both ends of a chain agree where one was changed alone."""
    winners = [one.id for one in changes.merged if one.settles]
    moved = [one.id for one in changes.relinked if one.superseded_by is not None]
    if winners or moved:
        await session.fetch(_AGREE, {"tenant": tenant, "at": changes.at, "winners": winners, "moved": moved})


def _fields(one: Retire | Relink | MemoryMerge | MemoryEnd | MarkForReview) -> dict[str, object]:
    def plain(value: object) -> object:
        match value:
            case UUID():
                return str(value)
            case datetime():
                return value.isoformat()
            case bytes():
                return value.hex()
            case _:
                return value

    return {name: plain(getattr(one, name)) for name in one.__dataclass_fields__}

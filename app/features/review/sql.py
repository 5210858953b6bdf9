"""Queries of the review queue: items, counts, locks, claims, comments, and the turns around a memory's evidence.

There is no table of items: an item is a memory with a review reason, but for what is withheld with another item.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from asyncpg import Record

from app.db.memories import read as memory_reads
from app.db.memories.listing import PagePosition
from app.db.memories.read import HiddenState, hidden_of, memory_of, memory_query
from app.db.session import ReadSession, WriteSession, statement
from app.db.sql import as_record
from app.features.review.items import ReviewItem, ReviewSide, version_of
from app.model import LinkKind, Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewFilter:
    """A filter of items; empty or None leaves a dimension open. `since` and `until` bound the time of queueing."""

    reasons: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    user_id: str | None = None
    agent_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundReview:
    """An item as it was read: with the row of its memory, and what no answer shows of it.

    `version` is the scope's, `types` that of the tenant's own types.
    """

    item: ReviewItem
    row: Mapping[str, Any]
    hidden: HiddenState
    version: int
    types: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewBacklog:
    """The number of items of one reason, by bands of age, and the time of the oldest."""

    reason: str
    waiting: int
    ages: Mapping[str, int]
    oldest: datetime


_AGES = ("under_a_day", "a_day_to_a_week", "a_week_to_a_month", "over_a_month")

_CONDITIONS = {
    "reasons": "m.review_reason = ANY(:reasons)",
    "types": "m.type = ANY(:types)",
    "statuses": "m.status = ANY(:statuses)",
    "user_id": "s.user_id = :user_id",
    "agent_id": "s.agent_id = :agent_id",
    "since": "m.review_since >= :since",
    "until": "m.review_since < :until",
}

_STAMP = """concat_ws('|', {row}.updated_at, {row}.status, {row}.contested, {row}.confidence, {row}.mentions,
    {row}.importance, {row}.valid_until, coalesce({row}.review_reason, '-'),
    coalesce({row}.superseded_by::text, '-'))"""
"""What changes when a reviewer must look again at a memory."""

_STANDS = """standing t
    CROSS JOIN LATERAL (SELECT * FROM memories x WHERE x.tenant_id = :tenant AND x.id = t.id OFFSET 0) m
    CROSS JOIN LATERAL (SELECT * FROM memories x WHERE x.tenant_id = :tenant AND x.id = t.item OFFSET 0) o"""

_OF_STANDING = f"""
    t.item, t.kind, m.slot IS NOT NULL AND m.slot = o.slot AND m.type = o.type
        AND m.slot_value IS NOT DISTINCT FROM o.slot_value AS same_value,
    {_STAMP.format(row="m")} AS stamp, s.version AS scope_version,
    (SELECT types_version FROM tenants WHERE id = :tenant) AS types_version,"""  # noqa: S608 - composed of constants

_STANDING = statement(
    f"""
    WITH item AS (
        SELECT m.id, m.scope_id, m.type, m.slot, m.slot_value, m.contested, m.status
        FROM unnest(CAST(:ids AS uuid[])) AS given(id)
        CROSS JOIN LATERAL (SELECT * FROM memories x WHERE x.tenant_id = :tenant AND x.id = given.id OFFSET 0) m
    ), beside AS (
        SELECT item.id AS item, l.to_memory AS id, l.kind FROM item
        JOIN memory_links l ON l.tenant_id = :tenant AND l.from_memory = item.id
        WHERE l.kind IN ('contradicts', 'conflicts-with')
        UNION
        SELECT item.id, l.from_memory, l.kind FROM item
        JOIN memory_links l ON l.tenant_id = :tenant AND l.to_memory = item.id
        WHERE l.kind IN ('contradicts', 'conflicts-with')
        UNION
        SELECT item.id, m.id, 'contradicts' FROM item
        JOIN memories m ON m.tenant_id = :tenant AND m.scope_id = item.scope_id AND m.type = item.type
            AND m.slot = item.slot AND m.status = 'active' AND (m.contested OR item.contested)
        WHERE item.status = 'active' AND m.id <> item.id
    ), standing AS (
        SELECT id AS item, id, NULL AS kind FROM item
        UNION ALL SELECT item, id, max(kind) FROM beside GROUP BY item, id
    )
    {memory_query(_STANDS, more=_OF_STANDING)}
    WHERE t.kind IS NULL OR (m.status IN ('active', 'expired') AND m.scope_id = o.scope_id)
    ORDER BY t.item, m.stated_at DESC, t.id
    """  # noqa: S608 - composed of constants
)

_SUMMARY = statement(
    """
    SELECT review_reason AS reason, count(*) AS waiting,
        count(*) FILTER (WHERE review_since > :day) AS under_a_day,
        count(*) FILTER (WHERE review_since <= :day AND review_since > :week) AS a_day_to_a_week,
        count(*) FILTER (WHERE review_since <= :week AND review_since > :month) AS a_week_to_a_month,
        count(*) FILTER (WHERE review_since <= :month) AS over_a_month,
        min(review_since) AS oldest
    FROM memories WHERE tenant_id = :tenant AND review_reason IS NOT NULL AND review_reason <> 'withheld'
    GROUP BY review_reason ORDER BY review_reason
    """
)

_WAITING = statement(
    """
    SELECT reason, sum(waiting) AS waiting FROM review_counts
    WHERE waiting > 0 AND reason <> 'withheld' GROUP BY reason
    """
)

_DEPARTURE = statement(
    """
    SELECT occurred_at, actor, action, detail FROM audit_events
    WHERE tenant_id = :tenant AND memory_id = :id AND action = ANY(:actions)
      AND (action <> 'memory.changed' OR detail->'changed' @> CAST('["needs_review"]' AS jsonb))
    ORDER BY position DESC LIMIT 1
    """
)


_LOCK = statement(
    f"""
    SELECT x.id, {_STAMP.format(row="x")} AS stamp FROM memories x
    WHERE x.tenant_id = :tenant AND x.id = ANY(:ids) ORDER BY x.id FOR UPDATE
    """  # noqa: S608 - composed of constants
)

_NEAR = statement(
    """
    SELECT near.memory_id, near.similarity
    FROM memory_index q
    CROSS JOIN LATERAL (
        SELECT x.memory_id, CASE
            WHEN x.model_id = q.model_id THEN 1 - (x.embedding <=> q.embedding)
            WHEN x.model_id_2 = q.model_id_2 THEN 1 - (x.embedding_2 <=> q.embedding_2) END AS similarity
        FROM memory_index x
        WHERE x.tenant_id = :tenant AND x.scope_id = q.scope_id AND x.type = q.type AND x.part = 0
          AND x.status = 'active' AND x.memory_id <> q.memory_id
        ORDER BY similarity DESC NULLS LAST LIMIT :most
    ) near
    WHERE q.tenant_id = :tenant AND q.memory_id = :id AND q.part = 0 AND near.similarity >= :likeness
    ORDER BY near.similarity DESC, near.memory_id
    """
)

_OF_ONE_SUBJECT = statement(
    """
    SELECT count(subject_id) = :many AND count(DISTINCT subject_id) = 1 AS same FROM memories m
    WHERE m.tenant_id = :tenant AND m.id = ANY(:ids)
    """
)

ENDINGS = (
    "review.decided",
    "review.settled",
    "memory.superseded",
    "memory.changed",
    "memory.expired",
    "memory.forgotten",
    "memory.erased",
)
"""Actions of audit events that may take a memory off the queue."""


async def page(
    session: ReadSession, tenant: UUID, wanted: ReviewFilter, *, newest: bool, limit: int, after: PagePosition | None
) -> list[Memory]:
    """Return up to `limit` waiting memories by the time they were queued, starting after a position."""
    given = {name: getattr(wanted, name) for name in _CONDITIONS}
    used = {name: value for name, value in given.items() if value not in (None, ())}
    conditions = [
        "m.tenant_id = :tenant",
        "m.review_reason IS NOT NULL",
        "m.review_reason <> 'withheld'",
        *(_CONDITIONS[name] for name in used),
    ]
    parameters: dict[str, object] = {"tenant": tenant, "limit": limit}
    parameters |= {name: list(value) if isinstance(value, tuple) else value for name, value in used.items()}
    comparison, direction = ("<", "DESC") if newest else (">", "ASC")
    if after is not None:
        conditions.append(f"(m.review_since, m.id) {comparison} (:after_value, :after_id)")
        parameters |= {"after_value": after.value, "after_id": after.id}
    order = f"m.review_since {direction}, m.id {direction}"
    rows = await session.fetch(
        statement(f"{memory_query('memories m')} WHERE {' AND '.join(conditions)} ORDER BY {order} LIMIT :limit"),
        parameters,
    )
    return [memory_of(row) for row in rows]


async def with_sides(session: ReadSession, tenant: UUID, waiting: Collection[UUID]) -> list[FoundReview]:
    """Return the items of those of these memories that exist, with the memories that compete with them, in one read."""
    if not waiting:
        return []
    rows: dict[UUID, list[Record]] = defaultdict(list)
    for row in await session.fetch(_STANDING, {"tenant": tenant, "ids": list(waiting)}):
        rows[row["item"]].append(row)
    return [_found(rows[one]) for one in waiting if one in rows]


def _found(rows: Sequence[Record]) -> FoundReview:
    [own] = [row for row in rows if row["kind"] is None]
    sides = tuple(
        ReviewSide(memory=memory_of(row), relation=LinkKind(row["kind"]), same_value=row["same_value"])
        for row in rows
        if row["kind"] is not None
    )
    version = version_of({row["id"]: row["stamp"] for row in rows})
    return FoundReview(
        item=ReviewItem(memory=memory_of(own), sides=sides, version=version),
        row=own,
        hidden=hidden_of(own),
        version=own["scope_version"],
        types=own["types_version"],
    )


async def find(session: ReadSession, tenant: UUID, memory: UUID) -> FoundReview | None:
    """Return the item of a memory, None when it is not in the queue or does not exist."""
    items = await with_sides(session, tenant, [memory])
    return items[0] if items and items[0].item.memory.review is not None else None


async def summary(session: ReadSession, tenant: UUID, *, now: datetime) -> list[ReviewBacklog]:
    """Return the numbers of items of each reason."""
    bounds = {name: now - timedelta(days=days) for name, days in (("day", 1), ("week", 7), ("month", 30))}
    rows = await session.fetch(_SUMMARY, {"tenant": tenant, **bounds})
    return [as_record(ReviewBacklog, row, ages={name: row[name] for name in _AGES}) for row in rows]


async def waiting(session: ReadSession) -> dict[str, int]:
    """Return the numbers of items of all tenants, by reason; the session has no tenant."""
    return {row["reason"]: int(row["waiting"]) for row in await session.fetch(_WAITING, {})}


async def find_departure(session: ReadSession, tenant: UUID, memory: UUID) -> Record | None:
    """Return the latest audit event by which a memory left the queue, None when it never did."""
    return await _last_event(session, tenant, memory, ENDINGS)


async def find_decision(session: ReadSession, tenant: UUID, memory: UUID) -> Record | None:
    """Return the audit event of the latest decision on an item, None without one."""
    return await _last_event(session, tenant, memory, ["review.decided"])


async def _last_event(session: ReadSession, tenant: UUID, memory: UUID, actions: Sequence[str]) -> Record | None:
    rows = await session.fetch(_DEPARTURE, {"tenant": tenant, "id": memory, "actions": list(actions)})
    return rows[0] if rows else None


async def lock(session: WriteSession, tenant: UUID, memories: Collection[UUID]) -> dict[UUID, str]:
    """Lock memories until the transaction ends; return the stamps of which the version of an item is made."""
    rows = await session.fetch(_LOCK, {"tenant": tenant, "ids": sorted(memories)})
    return {row["id"]: row["stamp"] for row in rows}


async def of_one_subject(session: ReadSession, tenant: UUID, of: Sequence[UUID]) -> bool:
    """Return whether memories have one subject, even under different names."""
    [row] = await session.fetch(_OF_ONE_SUBJECT, {"tenant": tenant, "ids": list(of), "many": len(of)})
    return bool(row["same"])


async def near(
    session: ReadSession, tenant: UUID, memory: UUID, *, likeness: float, most: int
) -> list[tuple[Memory, float]]:
    """Return active memories of the same scope and type with a cosine of at least `likeness`, nearest first."""
    rows: Any = await session.fetch(_NEAR, {"tenant": tenant, "id": memory, "likeness": likeness, "most": most})
    found = await memory_reads.read_memories(session, tenant, [row["memory_id"] for row in rows])
    return [(found[row["memory_id"]], float(row["similarity"])) for row in rows if row["memory_id"] in found]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnExcerpt:
    """The columns of a turn that a reviewer reads."""

    id: UUID
    role: str
    speaker: str | None
    content: str
    occurred_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A turn and its neighbours in the session, oldest first; a turn without a session has none."""

    before: tuple[TurnExcerpt, ...]
    turn: TurnExcerpt
    after: tuple[TurnExcerpt, ...]


_AROUND = statement(
    """
    SELECT t.id AS about, n.place, n.id, n.role, n.speaker, n.content, n.occurred_at
    FROM unnest(CAST(:ids AS uuid[])) AS given(id)
    CROSS JOIN LATERAL (SELECT * FROM turns x WHERE x.tenant_id = :tenant AND x.id = given.id OFFSET 0) t
    CROSS JOIN LATERAL (
        (SELECT -1 AS place, x.id, x.role, x.speaker, x.content, x.occurred_at, x.sequence_number FROM turns x
         WHERE x.tenant_id = :tenant AND x.scope_id = t.scope_id AND x.session_id = t.session_id
           AND (x.occurred_at, coalesce(x.sequence_number, 0), x.id)
             < (t.occurred_at, coalesce(t.sequence_number, 0), t.id)
         ORDER BY x.occurred_at DESC, x.sequence_number DESC NULLS LAST, x.id DESC LIMIT :each)
        UNION ALL
        (SELECT 0, t.id, t.role, t.speaker, t.content, t.occurred_at, t.sequence_number)
        UNION ALL
        (SELECT 1, x.id, x.role, x.speaker, x.content, x.occurred_at, x.sequence_number FROM turns x
         WHERE x.tenant_id = :tenant AND x.scope_id = t.scope_id AND x.session_id = t.session_id
           AND (x.occurred_at, coalesce(x.sequence_number, 0), x.id)
             > (t.occurred_at, coalesce(t.sequence_number, 0), t.id)
         ORDER BY x.occurred_at, x.sequence_number NULLS FIRST, x.id LIMIT :each)
    ) n
    ORDER BY t.id, n.occurred_at, coalesce(n.sequence_number, 0), n.id
    """
)


async def passages(session: ReadSession, tenant: UUID, turns: Collection[UUID], *, each: int) -> dict[UUID, Passage]:
    """Return the passages around those of the turns that exist, with up to `each` neighbours on either side."""
    if not turns:
        return {}
    rows = await session.fetch(_AROUND, {"tenant": tenant, "ids": list(turns), "each": each})
    places: dict[UUID, dict[int, list[TurnExcerpt]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        places[row["about"]][row["place"]].append(as_record(TurnExcerpt, row))
    return {
        turn: Passage(before=tuple(found[-1]), turn=found[0][0], after=tuple(found[1]))
        for turn, found in places.items()
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewClaim:
    """A reviewer's claim on an item, which lapses at `until`."""

    reviewer: str
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewComment:
    """A reviewer's comment on an item."""

    id: UUID
    reviewer: str
    comment: str
    created_at: datetime


_CLAIM = statement(
    """
    INSERT INTO review_claims AS c (tenant_id, memory_id, reviewer, until)
    VALUES (:tenant, :memory, :reviewer, :until)
    ON CONFLICT (tenant_id, memory_id) DO UPDATE SET reviewer = excluded.reviewer, until = excluded.until
        WHERE c.reviewer = excluded.reviewer OR c.until <= :now
    RETURNING reviewer
    """
)

_CLAIMS = statement(
    """
    SELECT memory_id, reviewer, until FROM review_claims
    WHERE tenant_id = :tenant AND memory_id = ANY(:memories) AND until > :now
    """
)

_RELEASE = statement(
    """
    DELETE FROM review_claims WHERE tenant_id = :tenant AND memory_id = :memory AND reviewer = :reviewer
    """
)

_COMMENT = statement(
    """
    INSERT INTO review_comments (tenant_id, id, memory_id, reviewer, comment, created_at)
    VALUES (:tenant, :id, :memory, :reviewer, :comment, :now)
    """
)

_COMMENTS = statement(
    """
    SELECT id, reviewer, comment, created_at FROM review_comments
    WHERE tenant_id = :tenant AND memory_id = :memory ORDER BY created_at, id
    """
)


async def claim(session: WriteSession, tenant: UUID, memory: UUID, claimed: ReviewClaim, *, now: datetime) -> bool:
    """Store a claim unless another reviewer's is in force; return whether it is stored."""
    values = {"tenant": tenant, "memory": memory, "reviewer": claimed.reviewer, "until": claimed.until, "now": now}
    return bool(await session.fetch(_CLAIM, values))


async def release(session: WriteSession, tenant: UUID, memory: UUID, reviewer: str) -> None:
    """Delete a reviewer's claim."""
    await session.fetch(_RELEASE, {"tenant": tenant, "memory": memory, "reviewer": reviewer})


async def read_claims(
    session: ReadSession, tenant: UUID, memories: Collection[UUID], *, now: datetime
) -> dict[UUID, ReviewClaim]:
    """Return the claims in force on these memories."""
    rows = await session.fetch(_CLAIMS, {"tenant": tenant, "memories": list(memories), "now": now})
    return {row["memory_id"]: as_record(ReviewClaim, row) for row in rows}


async def add_comment(session: WriteSession, tenant: UUID, memory: UUID, comment: ReviewComment) -> None:
    """Store a comment."""
    values = {"id": comment.id, "reviewer": comment.reviewer, "comment": comment.comment, "now": comment.created_at}
    await session.fetch(_COMMENT, {"tenant": tenant, "memory": memory, **values})


async def read_comments(session: ReadSession, tenant: UUID, memory: UUID) -> tuple[ReviewComment, ...]:
    """Return the comments on an item, oldest first."""
    rows = await session.fetch(_COMMENTS, {"tenant": tenant, "memory": memory})
    return tuple(as_record(ReviewComment, row) for row in rows)

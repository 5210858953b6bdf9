"""Rows of turns: store and read them, and record their extraction and the result of their processing."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from asyncpg import Record
from pydantic import TypeAdapter, ValidationError

from app.db.scopes import scope_of
from app.db.session import ReadSession, WriteSession, statement
from app.db.sql import Row, insert_all
from app.english.role_play import FRAMED_TURNS
from app.memory.calendar import zone_of
from app.memory.extraction import Role, Turn, TurnStatus
from app.memory.instructions import ExtractionInstructions
from app.model import Category

_NAMED_USER = "typed_memory.user_id"
"""Key in a turn's metadata of the user whom it was sent for, where its scope is nobody's."""

_INSTRUCTIONS = "typed_memory.extraction"
"""Key in a turn's metadata of its request's instructions."""

_KEPT_INSTRUCTIONS = TypeAdapter(tuple[ExtractionInstructions, ...])


def is_sent_for(turn: str, user: str) -> str:
    """Return SQL for whether a turn in a scope of nobody was sent for a user; both are SQL."""
    return f"{turn}.metadata ->> '{_NAMED_USER}' = {user}"


def own_metadata(stored: Mapping[str, object]) -> dict[str, object]:
    """Return a stored turn's metadata without what the service keeps among them."""
    return {key: value for key, value in stored.items() if key not in {_NAMED_USER, _INSTRUCTIONS}}


_TURN_COLUMNS = """t.id, t.role, t.content, t.occurred_at, t.timezone, t.session_id, t.sequence_number, t.speaker,
    t.category, t.importance, s.kind AS scope_kind, s.user_id, s.agent_id"""
"""Columns of a turn without those of its processing, which may be large."""

_FIELDS = f"""{_TURN_COLUMNS}, t.status, t.reason, t.extraction, t.report, t.recorded_at, t.processed_at, t.erased_at,
    t.metadata"""

_TURNS = "turns t JOIN scopes s ON s.tenant_id = :tenant AND s.id = t.scope_id"

_BY_ID = statement(
    f"SELECT {_FIELDS} FROM {_TURNS} WHERE t.tenant_id = :tenant AND t.id = ANY(:ids)"  # noqa: S608 - constants
)

_EXISTING = statement(
    """
    SELECT id FROM turns
    WHERE tenant_id = :tenant AND id = ANY(:ids)
      AND (CAST(:scopes AS uuid[]) IS NULL OR scope_id = ANY(CAST(:scopes AS uuid[])))
    """
)

_PAGE = statement(
    f"""
    SELECT {_FIELDS} FROM {_TURNS}
    WHERE t.tenant_id = :tenant
      AND (CAST(:scopes AS uuid[]) IS NULL OR t.scope_id = ANY(:scopes))
      AND (CAST(:status AS text) IS NULL OR t.status = :status)
      AND (CAST(:session AS text) IS NULL OR t.session_id = :session)
      AND (CAST(:after AS uuid) IS NULL OR t.id < :after)
    ORDER BY t.id DESC LIMIT :limit
    """  # noqa: S608 - constants
)

_AROUND = statement(
    f"""
    WITH given AS (
        SELECT * FROM jsonb_to_recordset(CAST(:given AS jsonb))
            AS g(id uuid, session_id text, occurred_at timestamptz, sequence_number int)
    )
    SELECT {_TURN_COLUMNS}, t.status IN ('received', 'extraction_failed') AS unread
    FROM (SELECT DISTINCT near.id FROM given g CROSS JOIN LATERAL (
        (SELECT x.id FROM turns x
         WHERE x.tenant_id = :tenant AND x.scope_id = :scope AND x.session_id = g.session_id
           AND (x.occurred_at, coalesce(x.sequence_number, 0), x.id)
             < (g.occurred_at, coalesce(g.sequence_number, 0), g.id)
         ORDER BY x.occurred_at DESC, x.sequence_number DESC NULLS LAST, x.id DESC LIMIT :context)
        UNION
        (SELECT x.id FROM turns x
         WHERE x.tenant_id = :tenant AND x.scope_id = :scope
           AND x.occurred_at BETWEEN g.occurred_at - make_interval(secs => :window) AND g.occurred_at
           AND x.id <> g.id
         ORDER BY x.occurred_at DESC, x.id DESC LIMIT :recent)
        UNION
        (SELECT x.id FROM turns x
         WHERE x.tenant_id = :tenant AND x.scope_id = :scope AND x.session_id = g.session_id AND x.role = 'user'
           AND (x.occurred_at, coalesce(x.sequence_number, 0), x.id)
             < (g.occurred_at, coalesce(g.sequence_number, 0), g.id)
         ORDER BY x.occurred_at DESC, x.sequence_number DESC NULLS LAST, x.id DESC LIMIT :framed)
    ) near) before
    CROSS JOIN LATERAL (SELECT * FROM turns x WHERE x.tenant_id = :tenant AND x.id = before.id OFFSET 0) t
    JOIN scopes s ON s.tenant_id = :tenant AND s.id = t.scope_id
    """  # noqa: S608 - constants
)

_QUOTES = statement(
    """
    SELECT said.turn_id, e.statement, e.memory_id
    FROM (SELECT unnest(CAST(:ids AS uuid[])) AS turn_id, unnest(CAST(:ids AS uuid[])) AS said_in
          UNION ALL
          SELECT g.id, x.id FROM turns g
          JOIN turns x ON x.tenant_id = :tenant AND x.scope_id = g.scope_id AND x.id <> g.id
           AND x.occurred_at BETWEEN g.occurred_at - make_interval(secs => :apart)
                                 AND g.occurred_at + make_interval(secs => :apart)
           AND (x.content, x.role) = (g.content, g.role) AND x.speaker IS NOT DISTINCT FROM g.speaker
           AND x.session_id IS NOT DISTINCT FROM g.session_id
          WHERE g.tenant_id = :tenant AND g.id = ANY(CAST(:ids AS uuid[])) AND g.status = 'received') said
    JOIN evidence e ON e.tenant_id = :tenant AND e.turn_id = said.said_in AND e.statement IS NOT NULL
    JOIN memories m ON m.tenant_id = :tenant AND m.id = e.memory_id AND m.scope_id = :scope
    """
)

_AT_ONCE = 60.0
"""Seconds that equal turns of a session are apart at most to count as one: they were sent at once, or again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTurn:
    """A turn with the state of its processing; `extraction` and `report` are JSON as stored.

    `erased_at` is when a memory of the turn was erased, after which the turn must not be processed again.
    """

    turn: Turn
    status: TurnStatus
    reason: str | None
    extraction: Mapping[str, object] | None
    report: Mapping[str, object] | None
    recorded_at: datetime
    processed_at: datetime | None
    erased_at: datetime | None = None

    @property
    def given_up(self) -> bool:
        """Return whether its job ended before anything was stored of it."""
        return self.status is TurnStatus.FAILED and self.report is None and self.erased_at is None


async def existing(
    session: ReadSession, tenant: UUID, ids: Collection[UUID], *, scopes: Collection[UUID] | None
) -> set[UUID]:
    """Return those of these ids that are turns of these scopes, None for all of the tenant's."""
    wanted = None if scopes is None else list(scopes)
    rows = await session.fetch(_EXISTING, {"tenant": tenant, "ids": list(ids), "scopes": wanted})
    return {row["id"] for row in rows}


async def add(
    session: WriteSession, tenant: UUID, given: Sequence[Turn], metadata: Sequence[Mapping[str, object]]
) -> None:
    """Store turns as received, and their scopes if they are new."""
    await insert_all(session, received(tenant, given, metadata))


def received(
    tenant: UUID, given: Sequence[Turn], metadata: Sequence[Mapping[str, object]]
) -> Mapping[str, Sequence[Row]]:
    """Return the rows of new turns and of their scopes, by table name."""
    scopes = {
        turn.scope.id(tenant): {
            "tenant_id": tenant,
            "id": turn.scope.id(tenant),
            "kind": turn.scope.kind,
            "user_id": turn.scope.user_id,
            "agent_id": turn.scope.agent_id,
        }
        for turn in given
    }
    rows = [
        {
            "tenant_id": tenant,
            "id": turn.id,
            "scope_id": turn.scope.id(tenant),
            "session_id": turn.session_id,
            "sequence_number": turn.sequence_number,
            "role": turn.role,
            "speaker": turn.speaker,
            "content": turn.content,
            "timezone": str(turn.zone),
            "occurred_at": turn.occurred_at,
            "status": TurnStatus.RECEIVED,
            "metadata": {**own, **_kept_beside(turn)},
            "category": turn.category,
            "importance": turn.importance,
        }
        for turn, own in zip(given, metadata, strict=True)
    ]
    return {"scopes": list(scopes.values()), "turns": rows}


def _kept_beside(turn: Turn) -> dict[str, object]:
    """Return what is kept among a turn's metadata."""
    kept: dict[str, object] = {} if turn.user_id is None else {_NAMED_USER: turn.user_id}
    if turn.instructions:
        kept[_INSTRUCTIONS] = [one.model_dump(mode="json", exclude_unset=True) for one in turn.instructions]
    return kept


async def fetch(session: ReadSession, tenant: UUID, ids: Collection[UUID]) -> list[StoredTurn]:
    """Return those of these turns that exist, in the order of their sessions."""
    found = await session.fetch(_BY_ID, {"tenant": tenant, "ids": list(ids)})
    return sorted((_stored_turn(row) for row in found), key=lambda one: in_order(one.turn))


async def page(
    session: ReadSession,
    tenant: UUID,
    *,
    scopes: Collection[UUID] | None,
    status: TurnStatus | None,
    session_id: str | None,
    after: UUID | None,
    limit: int,
) -> list[StoredTurn]:
    """Return up to `limit` turns, newest first, starting after one; a filter that is None leaves a dimension open."""
    rows = await session.fetch(
        _PAGE,
        {
            "tenant": tenant,
            "scopes": None if scopes is None else list(scopes),
            "status": status,
            "session": session_id,
            "after": after,
            "limit": limit,
        },
    )
    return [_stored_turn(row) for row in rows]


async def around(
    session: ReadSession, tenant: UUID, scope: UUID, given: Sequence[Turn], *, context: int, window: float, recent: int
) -> list[Turn]:
    """Return stored turns that these must be read with, in order.

    They are the `context` turns before each in its session, up to `recent` turns of the scope within `window` seconds
    before each, and turns of users in its session that may frame it (as role play, a quotation).
    """
    asked = [
        {
            "id": str(turn.id),
            "session_id": turn.session_id,
            "occurred_at": turn.occurred_at.isoformat(),
            "sequence_number": turn.sequence_number,
        }
        for turn in given
    ]
    found = await session.fetch(
        _AROUND,
        {
            "tenant": tenant,
            "scope": scope,
            "given": json.dumps(asked),
            "context": context,
            "window": window,
            "recent": recent,
            "framed": FRAMED_TURNS + 1,
        },
    )
    return sorted((replace(_turn(row), unread=row["unread"]) for row in found), key=in_order)


async def quotes_of(
    session: ReadSession, tenant: UUID, scope: UUID, ids: Collection[UUID]
) -> dict[tuple[UUID, bytes], UUID]:
    """Return the evidence that these turns gave to memories of a scope: (turn, statement) -> the memory.

    Equal turns of a session that were sent at once count as one: what one of them gave, a waiting one has given, too.
    """
    given = {"tenant": tenant, "scope": scope, "ids": list(ids), "apart": _AT_ONCE}
    rows = await session.fetch(_QUOTES, given)
    return {(row["turn_id"], bytes(row["statement"])): row["memory_id"] for row in rows}


def in_order(turn: Turn) -> tuple[datetime, int, UUID]:
    """Return the sort key of turns of a session."""
    return (turn.occurred_at, turn.sequence_number or 0, turn.id)


def _turn(row: Record) -> Turn:
    return Turn(
        id=row["id"],
        scope=scope_of(row),
        role=Role(row["role"]),
        content=row["content"],
        occurred_at=row["occurred_at"],
        zone=zone_of(row["timezone"]),
        session_id=row["session_id"],
        sequence_number=row["sequence_number"],
        speaker=row["speaker"],
        category=None if row["category"] is None else Category(row["category"]),
        importance=row["importance"],
    )


def _instructions(kept: object) -> tuple[ExtractionInstructions, ...]:
    """Return a turn's instructions; none where metadata of an import or an older client stand in their place."""
    try:
        return () if kept is None else _KEPT_INSTRUCTIONS.validate_python(kept)
    except ValidationError:
        return ()


def _stored_turn(row: Record) -> StoredTurn:
    user = row["metadata"].get(_NAMED_USER)
    return StoredTurn(
        turn=replace(
            _turn(row),
            metadata=own_metadata(row["metadata"]),
            user_id=user if isinstance(user, str) else None,
            instructions=_instructions(row["metadata"].get(_INSTRUCTIONS)),
        ),
        status=TurnStatus(row["status"]),
        reason=row["reason"],
        extraction=row["extraction"],
        report=row["report"],
        recorded_at=row["recorded_at"],
        processed_at=None if row["status"] == TurnStatus.RECEIVED else row["processed_at"],
        erased_at=row["erased_at"],
    )


_EXTRACTED = statement(
    """
    UPDATE turns t SET extraction = g.extraction
    FROM jsonb_to_recordset(CAST(:given AS jsonb)) AS g(id uuid, extraction jsonb)
    WHERE t.tenant_id = :tenant AND t.id = g.id
    """
)

_FINISH = statement(
    """
    WITH given AS MATERIALIZED (
        SELECT g.*, t.report IS NULL AS first, CASE WHEN t.status = 'received'
            OR (t.status = 'extraction_failed' AND t.report IS NULL AND t.erased_at IS NULL) THEN 1 ELSE 0 END AS waits
        FROM (
            SELECT * FROM jsonb_to_recordset(CAST(:given AS jsonb))
                AS r(id uuid, status text, reason text, report jsonb)
            ORDER BY r.id OFFSET 0
        ) g
        CROSS JOIN LATERAL (SELECT * FROM turns x WHERE x.tenant_id = :tenant AND x.id = g.id OFFSET 0 FOR UPDATE) t
    )
    UPDATE turns t SET status = g.status, reason = g.reason, report = g.report, processed_at = :now
    FROM given g
    WHERE t.tenant_id = :tenant AND t.id = g.id AND g.waits = 1
    RETURNING t.id, g.first
    """
)
"""Each turn is looked up by its key, twice, in the order of ids. A plan for any tenant would join all turns of a large
one with what is given, and with a condition on the status all that wait or have waited lately. Postgres expects few
rows to have a number, and looks up each of few.
"""

_GIVE_UP = statement(
    """
    UPDATE turns SET status = 'extraction_failed', reason = :reason, processed_at = :now
    WHERE tenant_id = :tenant AND id = ANY(CAST(:ids AS uuid[])) AND status = 'received'
    """
)

_TAKE_UP = statement(
    """
    UPDATE turns SET status = 'received', reason = NULL, extraction = NULL, processed_at = NULL
    WHERE tenant_id = :tenant AND id = ANY(CAST(:ids AS uuid[])) AND status = 'extraction_failed'
      AND erased_at IS NULL
    """
)

_FORSAKEN = statement(
    """
    SELECT t.id FROM turns t
    WHERE t.tenant_id = :tenant AND t.status = 'received' AND coalesce(t.processed_at, t.recorded_at) < :before
      AND t.id NOT IN (
        SELECT CAST(named AS uuid) FROM jobs j, jsonb_array_elements_text(j.payload -> 'turns') named
        WHERE j.tenant_id = :tenant AND j.kind = :kind AND j.status IN ('queued', 'running'))
    ORDER BY t.id LIMIT :limit
    """
)

_REOPEN = statement(
    """
    UPDATE turns SET status = 'received', reason = NULL, extraction = NULL, processed_at = :now
    WHERE tenant_id = :tenant AND id = :id AND erased_at IS NULL AND (status <> 'received' OR NOT EXISTS (
        SELECT FROM jobs j
        WHERE j.tenant_id = :tenant AND j.status IN ('queued', 'running') AND j.payload @> CAST(:named AS jsonb)
    ))
    """
)
"""A turn that waits again has the time from which it does in `processed_at`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnResult:
    """The result of processing a turn."""

    id: UUID
    status: TurnStatus
    reason: str | None
    report: Mapping[str, object]


async def save_extractions(
    session: WriteSession, tenant: UUID, extractions: Mapping[UUID, Mapping[str, object]]
) -> None:
    """Store the extractions of turns, so that the model is not asked again after a crash."""
    rows = [{"id": str(turn), "extraction": one} for turn, one in extractions.items()]
    if rows:
        await session.fetch(_EXTRACTED, {"tenant": tenant, "given": json.dumps(rows)})


async def finish(session: WriteSession, tenant: UUID, given: Sequence[TurnResult], now: datetime) -> dict[UUID, bool]:
    """Store the results of turns that still wait or were given up; return by id whether each is its turn's first.

    Another worker may have stored some.
    """
    rows = [{"id": str(one.id), "status": one.status, "reason": one.reason, "report": one.report} for one in given]
    ended = await session.fetch(_FINISH, {"tenant": tenant, "given": json.dumps(rows), "now": now})
    return {row["id"]: row["first"] for row in ended}


async def give_up(session: WriteSession, tenant: UUID, ids: Collection[UUID], *, reason: str, now: datetime) -> None:
    """Mark those of these turns that still wait as failed, so that none waits for a job that has ended."""
    await session.fetch(_GIVE_UP, {"tenant": tenant, "ids": list(ids), "reason": reason, "now": now})


async def take_up(session: WriteSession, tenant: UUID, ids: Collection[UUID]) -> None:
    """Mark those of these turns whose extraction failed to be processed again; not those that said what was erased."""
    await session.fetch(_TAKE_UP, {"tenant": tenant, "ids": list(ids)})


async def without_job(
    session: ReadSession, tenant: UUID, *, kind: str, before: datetime, limit: int
) -> list[StoredTurn]:
    """Return turns that have waited since before a time although no job of this kind will process them."""
    rows = await session.fetch(_FORSAKEN, {"tenant": tenant, "kind": kind, "before": before, "limit": limit})
    return await fetch(session, tenant, [row["id"] for row in rows]) if rows else []


async def reopen(session: WriteSession, tenant: UUID, turn: UUID, now: datetime) -> StoredTurn | None:
    """Mark a turn as received again and return it.

    Returns None when it does not exist, when a job will process it, or when a memory of it was erased.
    """
    named = json.dumps({"turns": [turn.hex]})
    reopened = await session.change(_REOPEN, {"tenant": tenant, "id": turn, "named": named, "now": now})
    return (await fetch(session, tenant, [turn]))[0] if reopened else None

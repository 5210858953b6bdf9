"""How far turns have come through the write pipeline: what each was taken to say, what became of it, starting anew."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import text

from app.db import turns
from app.db.session import WriteSession
from app.db.statement import statement
from app.memory.extraction import TurnStatus

_EXTRACTED = statement(
    """
    UPDATE turns t SET extraction = g.extraction
    FROM jsonb_to_recordset(CAST(:given AS jsonb)) AS g(id uuid, extraction jsonb)
    WHERE t.tenant_id = :tenant AND t.id = g.id
    """
)

_FINISH = statement(
    """
    UPDATE turns t SET status = g.status, reason = g.reason, report = g.report, processed_at = :now
    FROM jsonb_to_recordset(CAST(:given AS jsonb)) AS g(id uuid, status text, reason text, report jsonb)
    WHERE t.tenant_id = :tenant AND t.id = g.id AND t.status = 'received'
    RETURNING t.id
    """
)

_REOPEN = text(
    """
    UPDATE turns SET status = 'received', reason = NULL, extraction = NULL, processed_at = NULL
    WHERE tenant_id = :tenant AND id = :id AND erased_at IS NULL AND (status <> 'received' OR NOT EXISTS (
        SELECT FROM jobs j
        WHERE j.tenant_id = :tenant AND j.status IN ('queued', 'running') AND j.payload @> CAST(:named AS jsonb)
    )) RETURNING id
    """
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """What became of a turn."""

    id: UUID
    status: TurnStatus
    reason: str | None
    report: Mapping[str, object]


async def keep_extractions(
    session: WriteSession, tenant: UUID, extractions: Mapping[UUID, Mapping[str, object]]
) -> None:
    """Store what was proposed from turns, by turn, so that a crash does not make the model answer again."""
    rows = [{"id": str(turn), "extraction": one} for turn, one in extractions.items()]
    if rows:
        await session.fetch(_EXTRACTED, {"tenant": tenant, "given": json.dumps(rows)})


async def finish(session: WriteSession, tenant: UUID, given: Sequence[Finished], now: datetime) -> set[UUID]:
    """Store what became of turns that still wait, and return them: another worker may have been there before."""
    rows = [{"id": str(one.id), "status": one.status, "reason": one.reason, "report": one.report} for one in given]
    ended = await session.fetch(_FINISH, {"tenant": tenant, "given": json.dumps(rows), "now": now})
    return {row["id"] for row in ended}


async def reopen(session: WriteSession, tenant: UUID, turn: UUID) -> turns.StoredTurn | None:
    """Mark a turn to be processed anew and return it; None when there is none that may be.

    One that a job is to process may not, nor one that said what was erased.
    """
    named = json.dumps({"turns": [turn.hex]})
    reopened = (await session.execute(_REOPEN, {"tenant": tenant, "id": turn, "named": named})).first()
    return None if reopened is None else (await turns.fetch(session, tenant, [turn]))[0]

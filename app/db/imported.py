"""What must be true of a tenant once rows of a file stand beside its own: counts of mentions, and the audit log."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from sqlalchemy import ARRAY, Uuid, bindparam, text

from app.db.audit import Ledger
from app.db.audit_log import TOLD
from app.db.lifecycle.recount import mentions_of
from app.db.rows import Row
from app.db.session import WriteSession
from app.memory.actions import Action

_RECOUNT = text(
    f"""
    WITH truth AS (
        SELECT g.id, {mentions_of("g.id")} AS mentions FROM unnest(:ids) AS g(id)
    )
    UPDATE entities e SET mention_count = truth.mentions,
        updated_at = greatest(e.updated_at, CAST(:now AS timestamptz))
    FROM truth
    WHERE e.tenant_id = :tenant AND e.id = truth.id AND truth.mentions <> e.mention_count
    """  # noqa: S608 - composed of constants
).bindparams(bindparam("ids", type_=ARRAY(Uuid)))

_HOLD = text("SELECT id FROM memories WHERE tenant_id = :tenant AND id = ANY(:ids) ORDER BY id FOR SHARE").bindparams(
    bindparam("ids", type_=ARRAY(Uuid))
)

_MISTOLD = text(
    f"""
    SELECT m.id, m.status, m.confidence, s.told AS told_status, CAST(c.told AS float8) AS told_confidence
    FROM memories m
    {TOLD}
    WHERE m.tenant_id = :tenant AND m.id = ANY(:ids)
      AND (m.status, m.confidence) IS DISTINCT FROM (s.told, CAST(c.told AS float8))
    ORDER BY m.id
    """  # noqa: S608 - composed of constants
).bindparams(bindparam("ids", type_=ARRAY(Uuid)))


async def recount(session: WriteSession, tenant: UUID, entities: Collection[UUID], *, now: datetime | None) -> None:
    """Count anew how often entities of scopes that are held are mentioned; without `now` they keep their stamps."""
    if entities:
        await session.execute(_RECOUNT, {"tenant": tenant, "ids": sorted(entities), "now": now})


async def mistold(session: WriteSession, ledger: Ledger, memories: Collection[UUID]) -> list[Row]:
    """Return an event for each of the memories that is not what the log says by now, and hold them all.

    Events of a file tell what became of a memory where the file is from; here it may have become something else.
    """
    here = {"tenant": ledger.tenant, "ids": sorted(memories)}
    await session.execute(_HOLD, here)
    return [
        ledger.event(
            Action.MEMORY_STANDING,
            {"status": [row.told_status, row.status], "confidence": [row.told_confidence, row.confidence]},
            memory=row.id,
        )
        for row in await session.execute(_MISTOLD, here)
    ]

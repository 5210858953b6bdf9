"""What is left of a contest for a slot when one side of it is gone."""

from __future__ import annotations

from datetime import datetime

from app import ids
from app.db import contests
from app.db.rows import insert_all
from app.db.session import WriteSession
from app.memory.actions import Action
from app.model import Actor, Memory


async def settle(session: WriteSession, actor: Actor, gone: Memory, now: datetime) -> None:
    """Set right the slot of a memory that was erased, in its scope that is held, and put on record what changed."""
    scope = gone.scope.id(actor.tenant_id)
    settled = await contests.settle(session, actor.tenant_id, scope, contests.slots_of(gone), now=now)
    events = [
        {
            "tenant_id": actor.tenant_id,
            "id": ids.new(),
            "occurred_at": now,
            "actor": actor.name,
            "action": Action.REVIEW_SETTLED,
            "memory_id": one.id,
            "scope_id": scope,
            "detail": {"reason": "nothing contradicts it any more"},
        }
        for one in settled
        if one.cleared
    ]
    await insert_all(session, {"audit_events": events})

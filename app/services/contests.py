"""What is left of a contest for a slot when one side of it is gone."""

from __future__ import annotations

from datetime import datetime

from app.db import contests
from app.db.audit import Ledger, append
from app.db.session import WriteSession
from app.memory.actions import Action
from app.model import Actor, Memory


async def settle(session: WriteSession, actor: Actor, gone: Memory, now: datetime) -> None:
    """Set right the slot of a memory that was erased, in its scope that is held, and put on record what changed."""
    scope = gone.scope.id(actor.tenant_id)
    settled = await contests.settle(session, actor.tenant_id, scope, contests.slots_of(gone), now=now)
    ledger = Ledger(tenant=actor.tenant_id, actor=actor.name, at=now, scope=scope)
    moot = {"reason": "nothing contradicts it any more"}
    await append(session, [ledger.event(Action.REVIEW_SETTLED, moot, memory=one.id) for one in settled if one.cleared])

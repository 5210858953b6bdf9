"""Job that processes received turns through the write pipeline; turns that are already processed are skipped."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from app import ids
from app.db.jobs import Job
from app.db.turns import StoredTurn
from app.jobs.handler import Handler, ProgressCallback
from app.model import Actor
from app.runtime import Runtime
from app.services.turns import INGEST


async def run(runtime: Runtime, job: Job, progress: ProgressCallback) -> Mapping[str, object]:
    """Process the job's turns and return the decisions on each."""
    actor = _sender(job)
    turns = [UUID(one) for one in job.payload["turns"]]
    last = job.attempts >= runtime.settings.job_attempts
    done = await runtime.turns.process(actor, turns, progress=progress, give_up=last)
    return {"turns": [_turn_detail(one) for one in done]}


async def abandon(runtime: Runtime, job: Job, reason: str) -> None:
    """Store the turns of a failed job that it did not process as episodes, and mark them as failed for this reason."""
    actor = _sender(job)
    await runtime.turns.abandon(actor, [UUID(one) for one in job.payload["turns"]], reason)


def _sender(job: Job) -> Actor:
    """Return the caller who sent the turns, whose tokens are counted; jobs of earlier releases name no key."""
    key = job.payload.get("key")
    return Actor(
        tenant_id=job.tenant_id, key_id=None if key is None else UUID(str(key)), name=str(job.payload["actor"])
    )


def _turn_detail(one: StoredTurn) -> dict[str, object]:
    """Return a summary of a turn's report; the whole report is stored with the turn."""
    candidates = (one.report or {}).get("candidates")
    decided = [
        {"type": each["type"], "decision": each["decision"], "memory_id": each["memory_id"], "reason": each["reason"]}
        for each in (candidates if isinstance(candidates, list) else [])
    ]
    return {
        "turn_id": ids.public(ids.TURN, one.turn.id),
        "status": one.status,
        "reason": one.reason,
        "candidates": decided,
    }


HANDLER = Handler(kind=INGEST, run=run, abandon=abandon)

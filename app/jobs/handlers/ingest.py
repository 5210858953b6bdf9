"""Job that processes received turns through the write pipeline; turns that are already processed are skipped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from app import ids
from app.db import jobs
from app.db.jobs import Job
from app.db.turns import StoredTurn
from app.jobs.handler import ComeBack, Handler, ProgressCallback
from app.model import Actor
from app.providers.openai_batches import Batch
from app.runtime import Runtime
from app.services.turns import INGEST


async def run(runtime: Runtime, job: Job, progress: ProgressCallback) -> Mapping[str, object]:
    """Process the job's turns and return the decisions on each."""
    actor = _sender(job)
    turns = [UUID(one) for one in job.payload["turns"]]
    batch = None if "batch" not in job.payload else await _batched(runtime, job, actor, progress)
    last = job.attempts >= runtime.settings.job_attempts
    done = await runtime.turns.process(actor, turns, progress=progress, give_up=last)
    return {"turns": [_turn_detail(one) for one in done], **({} if batch is None else {"batch": batch})}


async def run_together(runtime: Runtime, of_scope: Sequence[Job]) -> Sequence[Mapping[str, object]]:
    """Process the turns of jobs of one scope and sender as if one request had brought them."""
    named = [[UUID(one) for one in job.payload["turns"]] for job in of_scope]
    done = await runtime.turns.process(_sender(of_scope[0]), [turn for turns in named for turn in turns])
    details = {one.turn.id: _turn_detail(one) for one in done}
    return [{"turns": [details[turn] for turn in turns if turn in details]} for turns in named]


def joins(runtime: Runtime) -> bool:
    """Return whether jobs of a scope are run together: by rules, which read each turn by itself in any case."""
    extractor = runtime.turns.pipeline.extractor
    return extractor.window == 1 and not (extractor.reads_known or extractor.reads_instructions)


async def _batched(runtime: Runtime, job: Job, actor: Actor, progress: ProgressCallback) -> str:
    """Have the turns extracted by a batch, over as many runs as that takes; return how it ended."""
    batches, state = runtime.turn_batches, dict(job.payload["batch"])
    if "ended" in state:
        return str(state["ended"])
    if batches is None:
        return "batches are off here; every turn was asked about by itself"
    turns = [UUID(one) for one in job.payload["turns"]]
    if "id" not in state:
        state = await batches.start(actor, turns, job=job.id)
        await _note(runtime, job, state)
        if "id" in state:
            raise ComeBack(batches.poll)
        return str(state["ended"])
    found = await batches.look(state)
    if isinstance(found, Batch) and found.ended:
        state = await batches.take(actor, state, found)
    elif isinstance(found, str):
        state = {"ended": f"the batch was given up: {found}; every turn was asked about by itself"}
    else:
        if found is not None:
            await progress(min(len(turns) - 1, round(found.share_done * len(turns))))
        raise ComeBack(batches.poll)
    await _note(runtime, job, state)
    return str(state["ended"])


async def _note(runtime: Runtime, job: Job, state: Mapping[str, object]) -> None:
    """Keep the state of a job's batch for its next run."""
    async with runtime.database.write(job.tenant_id) as session:
        await jobs.note(session, job, {**job.payload, "batch": state})


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


HANDLER = Handler(kind=INGEST, run=run, abandon=abandon, together=run_together, joins=joins)

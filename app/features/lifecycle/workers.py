"""The lifecycle workers, which change each tenant's memories on a schedule; the brief ones are written out here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import Final
from uuid import UUID

from app.db import change_notes, recounts
from app.db.recounts import BatchResult, CountDifferences
from app.db.session import SNAPSHOT, WriteSession
from app.features.lifecycle import consolidation, drift
from app.features.lifecycle.runner import (
    FIRST,
    Counts,
    Place,
    RunProgress,
    Worker,
    WorkerContext,
    WorkerStage,
    run_stages,
    sweeping,
)
from app.features.lifecycle.sql.rekeying import COUNTED, Rekeying
from app.features.lifecycle.sql.sweeps import FORGETTING, FRESHNESS, PROMOTION, VALIDITY, Purge

_expire = sweeping("validity", VALIDITY)


async def _end(context: WorkerContext, tenant: UUID, *, dry_run: bool, progress: RunProgress) -> Counts:
    """Expire memories whose validity has ended, and drop notes of changes that nobody asks for."""
    if not dry_run:
        await change_notes.forget_old(context.database, tenant)
    return await _expire(context, tenant, dry_run=dry_run, progress=progress)


async def _collect(context: WorkerContext, tenant: UUID, *, dry_run: bool, progress: RunProgress) -> Counts:
    """Delete memories that were forgotten long ago, and forget those that expired long ago unconfirmed."""
    purge = Purge(days=context.forgotten_days, language=context.language)
    stages = (
        WorkerStage(name="purged", look=purge.look, do=purge),
        WorkerStage(name=FORGETTING.counted, look=FORGETTING.look, do=FORGETTING),
    )
    return await run_stages(context, tenant, "gc", stages, dry_run=dry_run, progress=progress)


async def _rekey(context: WorkerContext, tenant: UUID, *, dry_run: bool, progress: RunProgress) -> Counts:
    """Bring memories into the slots of today's keys, where statements of today meet them."""
    rekeying = Rekeying(types=await context.types.of(tenant))
    stages = (WorkerStage(name=COUNTED, look=rekeying.look, do=rekeying),)
    return await run_stages(context, tenant, "slots", stages, dry_run=dry_run, progress=progress)


async def _recount_mentions(context: WorkerContext, tenant: UUID, *, dry_run: bool, progress: RunProgress) -> Counts:
    stages = (WorkerStage(name="entities", look=recounts.find_wrong_mentions, do=recounts.recount_page),)
    return await run_stages(context, tenant, "mention-counts", stages, dry_run=dry_run, progress=progress)


async def _recount_terms(context: WorkerContext, tenant: UUID, *, dry_run: bool, progress: RunProgress) -> Counts:
    """Correct the statistics of each scope; return the numbers of scopes, of wrong ones, and of wrong terms."""
    name, stage = "lexical-statistics", "scopes"
    place = None if dry_run else await Place.of(context, tenant, name, progress)
    after = FIRST if place is None else place.after(stage, (stage,))
    foreseen, seen = Counter[str](), 0
    while after is not None:
        async with context.database.read(tenant, **SNAPSHOT) as session:
            scope = await recounts.next_scope(session, tenant, after)
            found = None if scope is None else await recounts.read_differences(session, tenant, scope, context.language)
        if scope is None or found is None:
            break
        if place is None:
            foreseen.update(_counts(found))
            seen += 1
            await progress(seen)
            after = scope
        else:
            after = await place.step(stage, partial(_correct, tenant, scope, found))
    return foreseen if place is None else place.counts


async def _correct(tenant: UUID, scope: UUID, found: CountDifferences, session: WriteSession) -> BatchResult:
    if found.counts or found.empty:
        await recounts.correct_counts(session, tenant, scope, found)
    return BatchResult(seen=1, counts=_counts(found), last=scope)


def _counts(found: CountDifferences) -> dict[str, int]:
    return {"scopes": 1, "corrected": int(bool(found.counts)), "terms": len(found.counts.by_term())}


_WORKERS: Final = (
    Worker(
        name="consolidation",
        cron="20 2 * * 0",
        summary="Folds groups of five or more faded episodes that are alike into one semantic memory each.",
        run=consolidation.run,
    ),
    Worker(
        name="drift",
        cron="40 1 * * *",
        summary="Marks slots that change too often for review, and counts what a large store is made of.",
        run=drift.run,
    ),
    Worker(
        name="freshness",
        cron="17 3 * * 0",
        summary="Expires memories that have faded to a freshness under 0.1 (weekly).",
        run=sweeping("freshness", FRESHNESS),
    ),
    Worker(
        name="gc",
        cron="43 3 1 * *",
        summary="Forgets memories that are expired for 90 days at a confidence of at most 0.30, and deletes what was "
        "forgotten 30 days ago (monthly).",
        run=_collect,
    ),
    Worker(
        name="lexical-statistics",
        cron="23 5 * * 0",
        summary="Counts the memories and terms of each scope again, and mends what differs (weekly).",
        run=_recount_terms,
    ),
    Worker(
        name="mention-counts",
        cron="53 5 * * 0",
        summary="Counts the mentions of each entity again, and mends what differs (weekly).",
        run=_recount_mentions,
    ),
    Worker(
        name="promotion",
        cron="37 4 * * *",
        summary="Makes core what is used often, steadily and in several conversations (daily).",
        run=sweeping("promotion", PROMOTION),
    ),
    Worker(
        name="slots",
        cron="13 2 * * 0",
        summary="Brings memories together whose keys have become synonyms; what differs then waits for review "
        "(weekly).",
        run=_rekey,
    ),
    Worker(name="validity", cron="7 * * * *", summary="Expires memories whose validity has ended (hourly).", run=_end),
)

WORKERS: Final[Mapping[str, Worker]] = {one.name: one for one in _WORKERS}

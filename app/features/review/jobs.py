"""Merges of memories that a judge holds to say the same, after a write that did not wait for it, and their job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from app.db.apply.scope import retried
from app.db.jobs import Job
from app.db.memories import read as memory_reads
from app.db.memories.rivals import SAMENESS
from app.db.session import SNAPSHOT, ReadSession
from app.features.review import sql as review
from app.features.review.decide import ReviewDecisions, StaleReview, open_review
from app.features.review.items import ReviewItem, ReviewSide
from app.jobs.handler import Handler, ProgressCallback
from app.model import Actor, LinkKind, Memory, MemoryStatus
from app.runtime import Runtime
from app.write.pipeline import WritePipeline

MOST = 20
"""Pairs that are asked about in one request."""

ACTOR = "judge"

REASON = "the judge holds them to say the same"

Pair = tuple[UUID, UUID]
"""A newer memory, and an older one that it may repeat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sameness:
    """Asks the pipeline's judge, without the deadline of a write, and merges the newer memory into the older one."""

    pipeline: WritePipeline

    async def settle(self, tenant: UUID, pairs: Sequence[Pair]) -> Mapping[str, int]:
        """Return how many pairs were asked about, and how many were merged; raises the judge's ProviderError.

        A pair of which one is no longer believed, or waits for review, is left out, so that a repeated call does
        nothing twice.
        """
        counts = Counter(asked=0, merged=0)
        for first in range(0, len(pairs), MOST):
            async with self.pipeline.database.read(tenant) as session:
                open_ = await _open(session, tenant, pairs[first : first + MOST])
            if self.pipeline.judge is None or not open_:
                continue
            same = await self.pipeline.judge.same([(newer.content, older.content) for newer, older in open_])
            counts["asked"] += len(open_)
            for (newer, older), merges in zip(open_, same, strict=True):
                counts["merged"] += merges and await self._merge(tenant, newer, older)
        return counts

    async def _merge(self, tenant: UUID, newer: Memory, older: Memory) -> bool:
        """Merge a memory into another unless one of them has changed since the judge read them."""
        actor = Actor(tenant_id=tenant, key_id=None, name=ACTOR)
        deciding = ReviewDecisions(pipeline=replace(self.pipeline, judge=None))

        async def attempt(_: int) -> bool:
            # In one snapshot: between two reads another job may merge them, and they would be merged twice.
            async with self.pipeline.database.read(tenant, **SNAPSHOT) as session:
                now = await _open(session, tenant, [(newer.id, older.id)])
                if [(one.content, other.content) for one, other in now] != [(newer.content, older.content)]:
                    return False
                [(item, into)] = now
                side = ReviewSide(memory=into, relation=LinkKind.CONTRADICTS, same_value=True)
                [found] = await review.with_sides(session, tenant, [item.id])
                item_ = ReviewItem(memory=item, sides=(side,), version="")
                opened = await open_review(session, tenant, replace(found, item=item_))
            await deciding.merge(actor, opened, into, REASON)
            return True

        try:
            return await retried(attempt, self.pipeline.conflict)
        except StaleReview:
            return False


async def _open(session: ReadSession, tenant: UUID, pairs: Sequence[Pair]) -> list[tuple[Memory, Memory]]:
    """Return the pairs of which both are believed."""
    found = await memory_reads.read_memories(session, tenant, {one for pair in pairs for one in pair})
    known = [(found[newer], found[older]) for newer, older in pairs if newer in found and older in found]
    return [pair for pair in known if all(map(_is_open, pair))]


def _is_open(memory: Memory) -> bool:
    return memory.status is MemoryStatus.ACTIVE and memory.review is None


async def run(runtime: Runtime, job: Job, progress: ProgressCallback) -> Mapping[str, object]:
    """Settle the job's pairs and return how many were asked about, and how many were merged."""
    pairs = [(UUID(newer), UUID(older)) for newer, older in job.payload["pairs"]]
    counts = await runtime.service(Sameness).settle(job.tenant_id, pairs)
    await progress(len(pairs), len(pairs))
    return counts


HANDLER = Handler(kind=SAMENESS, run=run)

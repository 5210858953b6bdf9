"""A judge that was late at a write is asked again by a job, and what says the same becomes one memory."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

import pytest

from app.errors import ProviderUnavailable
from app.features.review.jobs import Sameness
from app.model import Memory, MemoryStatus
from tests.services.test_consolidation import read
from tests.support.stores import Store
from tests.write.test_judge import AGAIN, FIRST, Scripted, event, judged, written


async def late(store: Store, *texts: str) -> tuple[Store, Scripted, list[UUID]]:
    """Write events while the judge is too slow; return the store with a judge that answers by now."""
    slow = judged(store, Scripted(slow=True))
    slow = replace(slow, pipeline=replace(slow.pipeline, judge_seconds=0.01))
    found = []
    for text in texts:
        outcome = await written(slow, event(slow, text))
        assert outcome.memory is not None
        found.append(outcome.memory.id)
    judge = Scripted(alike=True)
    return judged(store, judge), judge, found


async def jobs(store: Store) -> list[list[tuple[UUID, UUID]]]:
    rows = await store.sql(
        "SELECT payload FROM jobs WHERE tenant_id = $1 AND kind = 'sameness' ORDER BY id", store.tenant
    )
    return [[(UUID(newer), UUID(older)) for newer, older in json.loads(row["payload"])["pairs"]] for row in rows]


async def settle(store: Store) -> list[dict[str, int]]:
    return [dict(await Sameness(pipeline=store.pipeline).settle(store.tenant, pairs)) for pairs in await jobs(store)]


async def pair(store: Store, ids: list[UUID]) -> tuple[Memory, Memory]:
    older, newer = await read(store, ids)
    return older, newer


async def test_what_the_judge_was_late_about_is_merged_by_a_job(store: Store) -> None:
    mine, judge, ids = await late(store, FIRST, AGAIN)
    assert await jobs(mine) == [[(ids[1], ids[0])]]

    assert await settle(mine) == [{"asked": 1, "merged": 1}]

    older, newer = await pair(mine, ids)
    assert judge.pairs == [(AGAIN, FIRST)]
    assert (older.status, older.parts.mentions) == (MemoryStatus.ACTIVE, 2)
    assert (newer.status, newer.superseded_by) == (MemoryStatus.SUPERSEDED, older.id)


async def test_asking_again_changes_nothing(store: Store) -> None:
    mine, _, ids = await late(store, FIRST, AGAIN)
    await settle(mine)
    before = await read(mine, ids)

    assert await settle(mine) == [{"asked": 0, "merged": 0}]
    assert await read(mine, ids) == before


async def test_two_jobs_at_once_merge_once(store: Store) -> None:
    mine, _, ids = await late(store, FIRST, AGAIN)
    [pairs] = await jobs(mine)
    counts = await asyncio.gather(*(Sameness(pipeline=mine.pipeline).settle(mine.tenant, pairs) for _ in range(3)))
    assert sum(one["merged"] for one in counts) == 1
    older, _ = await pair(mine, ids)
    assert older.parts.mentions == 2


async def test_what_is_not_the_same_stays_two(store: Store) -> None:
    mine, _, ids = await late(store, FIRST, AGAIN)
    assert await settle(judged(mine, Scripted(alike=False))) == [{"asked": 1, "merged": 0}]
    assert {one.status for one in await read(mine, ids)} == {MemoryStatus.ACTIVE}


async def test_a_judge_that_is_away_leaves_the_job_to_be_tried_again(store: Store) -> None:
    mine, _, ids = await late(store, FIRST, AGAIN)
    with pytest.raises(ProviderUnavailable):
        await settle(judged(mine, Scripted(away=True)))
    assert {one.status for one in await read(mine, ids)} == {MemoryStatus.ACTIVE}
    assert await settle(mine) == [{"asked": 1, "merged": 1}]


@pytest.mark.parametrize(
    "change",
    ["status = 'expired'", "review_reason = 'asked', review_since = now()"],
)
async def test_what_is_no_longer_believed_or_waits_for_a_person_is_left_alone(store: Store, change: str) -> None:
    mine, judge, ids = await late(store, FIRST, AGAIN)
    await mine.sql(f"UPDATE memories SET {change} WHERE id = $1", ids[0])  # noqa: S608 - constants
    assert await settle(mine) == [{"asked": 0, "merged": 0}]
    assert judge.pairs == []


@dataclass(slots=True, kw_only=True)
class Changing(Scripted):
    """A judge that takes so long that a memory changes meanwhile."""

    store: Store
    memory: UUID

    async def same(self, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        await self.store.sql("UPDATE memories SET content = 'user left early' WHERE id = $1", self.memory)
        return await Scripted.same(self, pairs)


async def test_a_memory_that_changes_while_the_judge_reads_is_not_merged(store: Store) -> None:
    mine, _, ids = await late(store, FIRST, AGAIN)
    assert await settle(judged(mine, Changing(store=mine, memory=ids[1]))) == [{"asked": 1, "merged": 0}]


async def test_only_the_nearest_are_asked_about(store: Store) -> None:
    texts = [f"{FIRST} {how}" for how in ("again", "at last", "as well", "after all", "indeed", "too")]
    mine, _, ids = await late(store, *texts)
    assert all(len(pairs) <= 3 for pairs in await jobs(mine))
    assert {newer for pairs in await jobs(mine) for newer, _ in pairs} <= set(ids)

"""What rules leave open is put to a judge, where there is one: near duplicates, and names nearly known."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from app.errors import ProviderUnavailable
from app.memory.candidate import Candidate, WriteDecision, WriteOutcome
from tests.support.stores import Store


@dataclass(slots=True)
class Scripted:
    """A judge that answers what it was told to, and remembers what it was asked."""

    alike: bool = True
    place: int | None = 0
    away: bool = False
    slow: bool = False
    pairs: list[tuple[str, str]] = field(default_factory=list)
    names: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)

    async def same(self, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        self.pairs += pairs
        if self.slow:
            await asyncio.Event().wait()
        if self.away:
            raise ProviderUnavailable("away")
        return [self.alike for _ in pairs]

    async def which(self, name: str, sentence: str, options: Sequence[str]) -> int | None:
        assert name in sentence
        self.names.append((name, tuple(options)))
        if self.slow:
            await asyncio.Event().wait()
        if self.away:
            raise ProviderUnavailable("away")
        return self.place


def judged(store: Store, judge: Scripted) -> Store:
    return replace(store, pipeline=replace(store.pipeline, judge=judge))


async def written(store: Store, candidate: Candidate) -> WriteOutcome:
    [outcome] = await store.pipeline.write(store.actor, [candidate])
    assert isinstance(outcome, WriteOutcome)
    return outcome


def event(store: Store, text: str) -> Candidate:
    return store.candidate("event", event_description=text)


FIRST = "user went to a small jazz concert in the old town"
AGAIN = "user was at a tiny jazz concert downtown in the old town"


@pytest.mark.parametrize(("alike", "decided"), [(True, WriteDecision.MERGED), (False, WriteDecision.ADDED)])
async def test_the_judge_settles_what_is_nearly_the_same(store: Store, *, alike: bool, decided: WriteDecision) -> None:
    judge = Scripted(alike=alike)
    mine = judged(store, judge)
    await written(mine, event(mine, FIRST))

    outcome = await written(mine, event(mine, AGAIN))

    assert [sorted(pair) for pair in judge.pairs] == [sorted((FIRST, AGAIN))]
    assert outcome.decision is decided


async def test_without_an_answer_it_is_not_the_same(store: Store) -> None:
    mine = judged(store, Scripted(away=True))
    await written(mine, event(mine, FIRST))

    assert (await written(mine, event(mine, AGAIN))).decision is WriteDecision.ADDED


async def test_a_write_does_not_wait_for_a_judge_that_is_slow(store: Store) -> None:
    mine = judged(store, Scripted(slow=True))
    mine = replace(mine, pipeline=replace(mine.pipeline, judge_seconds=0.01))
    await written(mine, event(mine, FIRST))
    assert (await written(mine, event(mine, AGAIN))).decision is WriteDecision.ADDED

    await written(mine, mine.candidate("fact", subject="Sarah Lindqvist", predicate="has-role", object="architect"))
    named = await written(mine, mine.candidate("fact", subject="Lindqvist", predicate="lives-in", object="Malmö"))
    assert named.decision is WriteDecision.ADDED


async def test_the_judge_sees_pairs_of_one_batch(store: Store) -> None:
    judge = Scripted(alike=True)
    mine = judged(store, judge)

    outcomes = await mine.pipeline.write(mine.actor, [event(mine, FIRST), event(mine, AGAIN)])

    assert [one.decision for one in outcomes if isinstance(one, WriteOutcome)] == ["added", "merged"]
    assert [sorted(pair) for pair in judge.pairs] == [sorted((FIRST, AGAIN))]


async def test_numbers_are_never_put_to_the_judge(store: Store) -> None:
    judge = Scripted()
    mine = judged(store, judge)
    await written(mine, event(mine, "user ran 5 miles along the river with friends"))

    outcome = await written(mine, event(mine, "user ran 15 miles along the river with friends"))

    assert judge.pairs == []
    assert outcome.decision is WriteDecision.ADDED


async def test_the_judge_leads_a_part_of_a_name_to_whom_it_means(store: Store) -> None:
    judge = Scripted(place=0)
    mine = judged(store, judge)
    known = mine.candidate("fact", subject="Sarah Lindqvist", predicate="has-role", object="architect")
    await written(mine, known)

    outcome = await written(mine, mine.candidate("fact", subject="Lindqvist", predicate="lives-in", object="Malmö"))

    assert judge.names[0][0] == "Lindqvist"
    assert outcome.memory is not None
    subjects = await mine.sql(
        "SELECT DISTINCT subject_id FROM memories WHERE tenant_id = $1 AND type = 'fact'", mine.tenant
    )
    assert len(subjects) == 1


async def test_a_name_the_judge_does_not_know_becomes_someone_new(store: Store) -> None:
    mine = judged(store, Scripted(place=None))
    known = mine.candidate("fact", subject="Sarah Lindqvist", predicate="has-role", object="architect")
    await written(mine, known)

    await written(mine, mine.candidate("fact", subject="Lindqvist", predicate="lives-in", object="Malmö"))

    assert (
        len(
            await mine.sql(
                "SELECT DISTINCT subject_id FROM memories WHERE tenant_id = $1 AND type = 'fact'", mine.tenant
            )
        )
        == 2
    )

"""Whichever way two statements arrive, decisive words keep them two and likeness alone never makes two events one."""

from __future__ import annotations

import pytest

from app.memory.candidate import WriteDecision
from tests.support.stores import Store
from tests.write.test_judge import Scripted, judged

PAIRS = [
    ("the release needs three reviews", "the release needs five reviews"),
    ("the bins are collected on Wednesday", "the bins are collected on Thursday"),
    ("the water is shut off after dinner", "the water is shut off before dinner"),
    ("the rent is due at the start of the week", "the rent is due at the end of the week"),
    ("the doctor advises a lower dose of the drops", "the doctor advises a higher dose of the drops"),
    ("the archive is on the third floor", "the archive is on the fourth floor"),
    ("Ines borrowed the ladder from the neighbour", "Paulo borrowed the ladder from the neighbour"),
]
ALIKE = ("user planted a pear tree behind the garden shed", "user planted a pear tree behind the garden shed, too")


@pytest.mark.parametrize("kind", ["semantic", "standard", "control", "strategy", "reflection"])
@pytest.mark.parametrize("batch", [False, True])
async def test_typed_statements_that_differ_in_a_decisive_word_are_two(store: Store, kind: str, *, batch: bool) -> None:
    texts = [text for pair in PAIRS for text in pair]
    candidates = [store.candidate(kind, content=text) for text in texts]
    outcomes = (
        await store.write_all(candidates)
        if batch
        else [(await store.write_all([candidate]))[0] for candidate in candidates]
    )
    assert [one.decision for one in outcomes] == [WriteDecision.ADDED] * len(texts)


async def test_events_are_one_only_by_the_same_words(store: Store) -> None:
    first, second = ALIKE
    told = [await store.write("event", event_description=text) for text in (first, second, first.upper())]
    assert [one.decision for one in told] == [WriteDecision.ADDED, WriteDecision.ADDED, WriteDecision.MERGED]


@pytest.mark.parametrize(("alike", "decided"), [(True, WriteDecision.MERGED), (False, WriteDecision.ADDED)])
async def test_a_judge_may_hold_two_events_to_be_one(store: Store, *, alike: bool, decided: WriteDecision) -> None:
    judge = Scripted(alike=alike)
    mine = judged(store, judge)
    first, second = (mine.candidate("event", event_description=text) for text in ALIKE)
    [_] = await mine.pipeline.write(mine.actor, [first])
    [outcome] = await mine.pipeline.write(mine.actor, [second])
    assert len(judge.pairs) == 1
    assert getattr(outcome, "decision", None) is decided


async def test_no_judge_is_asked_where_a_word_decides(store: Store) -> None:
    judge = Scripted()
    mine = judged(store, judge)
    for text in (text for pair in PAIRS for text in pair):
        await mine.pipeline.write(mine.actor, [mine.candidate("semantic", content=text)])
    assert judge.pairs == []

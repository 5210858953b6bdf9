"""Two thousand mixed facts of several users: what the preview tells is what changes, and nothing else, to the byte."""

from __future__ import annotations

import random
from datetime import timedelta

import pytest

from app.memory.backfill import ItemState
from app.model import Scope, ScopeKind
from tests.backfill.clinic import DAY, Clinic

pytestmark = pytest.mark.long

TOLD = 2_000


async def test_what_the_preview_tells_is_what_changes(clinic: Clinic) -> None:
    draw = random.Random(21)  # noqa: S311 - no secret
    facts = []
    for number in range(TOLD):
        scope = Scope(kind=ScopeKind.USER, user_id=f"u{number % 8}")
        about = {"stated_at": DAY + timedelta(minutes=draw.randrange(50_000))}
        predicate, told = ("visited", f"place {number}")
        if draw.random() < 0.15:
            predicate, told = "takes", f"medicine{draw.randrange(25)}mycin {draw.choice((100, 250, 500))} mg daily"
        if draw.random() < 0.02:
            predicate, told = "takes", f"the {number} bus"
        facts.append(clinic.store.candidate("fact", scope, about, predicate=predicate, object=told, stateful=False))
    for first in range(0, TOLD, 500):
        await clinic.store.write_all(facts[first : first + 500])
    before, whole = await clinic.checksums(), await clinic.snapshot(whole=False)
    one = await clinic.preview()
    assert await clinic.checksums() == before
    planned = await clinic.items(one, state=ItemState.PLANNED)
    assert len(planned) == one.counts["changed"] > 150
    assert one.counts["superseded"] > 0
    done = await clinic.commit(one)
    assert (done.counts["committed"], done.counts.get("skipped", 0)) == (len(planned), 0)
    after = await clinic.checksums()
    assert {memory for memory, told in after.items() if before[memory] != told} == planned.keys()
    assert await clinic.strays(planned) == {}
    await clinic.undo(one)
    assert await clinic.snapshot(whole=False) == whole

"""Refusals are held back, in order and at a pace, and no more of them than may be."""

from __future__ import annotations

import asyncio

import pytest

from app.http import refusals
from app.http.refusals import Refusals
from tests.support.waiting import PATIENCE


@pytest.fixture(autouse=True)
def _brief(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refusals, "HOLD_SECONDS", 0.05)


async def test_refusals_are_answered_later_in_the_order_in_which_they_came() -> None:
    held, answered = Refusals(most=10), list[int]()
    for number in range(3):
        assert held.hold(lambda number=number: answered.append(number))  # type: ignore[misc]
    await asyncio.sleep(0.01)
    assert answered == []
    assert await held.wait()
    assert answered == [0, 1, 2]


async def test_more_than_may_be_are_not_held_until_some_have_been_answered() -> None:
    held = Refusals(most=2)
    waiting = [asyncio.create_task(held.wait()) for _ in range(3)]
    assert await asyncio.wait_for(waiting[2], PATIENCE) is False
    assert not waiting[0].done()
    assert await asyncio.gather(*waiting[:2]) == [True, True]
    assert await held.wait()


async def test_many_are_answered_at_a_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refusals, "_MOST_A_SECOND", 100)
    held, loop = Refusals(most=100), asyncio.get_running_loop()
    begun = loop.time()
    await asyncio.gather(*(held.wait() for _ in range(40)))
    assert loop.time() - begun >= 40 / 100


async def test_one_that_gave_up_holds_up_nobody() -> None:
    held = Refusals(most=10)
    gone, waiting = asyncio.create_task(held.wait()), asyncio.create_task(held.wait())
    await asyncio.sleep(0)
    gone.cancel()
    assert await waiting

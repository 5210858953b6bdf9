"""An attempt that met a moved scope is made again, a few times."""

from __future__ import annotations

import pytest

from app.db.apply.scope import ATTEMPTS, ScopeKeptMoving, ScopeMoved, retried


class Moving:
    """A scope that moves under the first attempts."""

    def __init__(self, times: int) -> None:
        self.times = times
        self.attempts: list[int] = []
        self.moved = 0

    async def attempt(self, number: int) -> str:
        self.attempts.append(number)
        if number < self.times:
            raise ScopeMoved
        return "done"

    def count(self) -> None:
        self.moved += 1


@pytest.mark.parametrize("times", range(ATTEMPTS))
async def test_an_attempt_is_made_again_while_the_scope_moves(times: int) -> None:
    scope = Moving(times)
    assert await retried(scope.attempt, scope.count) == "done"
    assert (scope.attempts, scope.moved) == (list(range(times + 1)), times)


async def test_a_scope_that_keeps_moving_is_a_conflict_that_passes() -> None:
    scope = Moving(ATTEMPTS)
    with pytest.raises(ScopeKeptMoving) as caught:
        await retried(scope.attempt, scope.count)
    assert (caught.value.code, caught.value.status, caught.value.retry_after) == ("conflict", 409, 0.2)
    assert (len(scope.attempts), scope.moved) == (ATTEMPTS, ATTEMPTS)

"""The database's clock, read from here: never early, and never this machine's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from functools import partial

import asyncpg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.db.clock import DRIFT, ClockBracket, DatabaseClock
from app.db.session import Database
from tests.support import owner

ROUNDING = 1e-6


def machine(off: float) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=off)


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    found = Database(database_url, pool_size=1)
    yield found
    await found.close()


async def asked(connection: asyncpg.Connection) -> datetime:
    found: datetime = await connection.fetchval("SELECT clock_timestamp()")
    return found


async def test_it_is_never_behind_the_database_and_hardly_ahead(database: Database, database_url: str) -> None:
    clock = DatabaseClock(database=database, wall=lambda: datetime.now(UTC))
    await clock.start()
    async with owner.connected(database_url) as connection:
        for _ in range(20):
            before = await asked(connection)
            here = clock()
            after = await asked(connection)
            assert before <= here
            assert here < after + timedelta(seconds=1)


async def test_a_machine_whose_clock_is_off_goes_by_the_databases_and_says_by_how_much(database: Database) -> None:
    for seconds in (-90, 90):
        clock = DatabaseClock(database=database, wall=partial(machine, seconds))
        await clock.start()
        assert abs((clock() - datetime.now(UTC)).total_seconds()) < 1
        assert clock.skew() == pytest.approx(seconds, abs=1)


async def test_it_goes_on_while_the_database_cannot_be_asked(database: Database, database_url: str) -> None:
    clock = DatabaseClock(database=database, wall=lambda: datetime.now(UTC))
    await clock.start()
    first = clock()
    await asyncio.sleep(0.05)
    assert clock() >= first + timedelta(seconds=0.05)


def test_before_the_first_reading_there_is_no_time() -> None:
    database = Database("postgresql://nobody@127.0.0.1:1/nothing")
    with pytest.raises(RuntimeError, match="not been read"):
        DatabaseClock(database=database, wall=lambda: datetime.now(UTC))()


def test_a_reading_that_contradicts_the_earlier_ones_has_nothing_in_common_with_them() -> None:
    old = ClockBracket.of(asked=10.0, seconds=1000.0, answered=10.1)
    later = ClockBracket.of(asked=20.0, seconds=1010.0, answered=20.02)
    stepped = ClockBracket.of(asked=20.0, seconds=1070.0, answered=20.02)
    assert old.narrowed(later) is not None
    assert old.narrowed(stepped) is None


@given(
    offset=st.floats(-1e6, 1e6),
    drift=st.floats(-DRIFT, DRIFT),
    readings=st.lists(
        st.tuples(st.floats(0.001, 60), st.floats(0.0001, 2), st.floats(0, 1)),
        min_size=1,
        max_size=8,
    ),
)
def test_however_slow_the_answers_are_the_true_time_lies_in_the_bracket(
    offset: float, drift: float, readings: list[tuple[float, float, float]]
) -> None:
    def true(at: float) -> float:
        return at + offset + drift * at

    now, bracket = 0.0, None
    for pause, taken, share in readings:
        start = now + pause
        now = start + taken
        new = ClockBracket.of(asked=start, seconds=true(start + share * taken), answered=now)
        bracket = new if bracket is None else bracket.narrowed(new)
        assert bracket is not None
        assert bracket.low - ROUNDING <= true(now) - now <= bracket.high + ROUNDING

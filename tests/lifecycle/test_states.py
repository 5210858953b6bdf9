"""The database refuses exactly the changes of status that are not legal, whoever asks."""

from __future__ import annotations

from datetime import timedelta
from itertools import product
from uuid import UUID, uuid4

import asyncpg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.db.session import statement
from app.errors import Conflict
from app.model import MemoryStatus
from tests.lifecycle.aging import START, Aging
from tests.support.statuses import LEGAL

LOOKED_AT = "review_reason = 'asked', review_since = now()"
"""What is pending waits for a person, which the database sees to."""

PUT = f"UPDATE memories SET status = $2, status_since = NULL, {LOOKED_AT} WHERE id = $1"  # noqa: S608 - constants
CHANGE = f"UPDATE memories SET status = $2, updated_at = $3, {LOOKED_AT} WHERE id = $1"  # noqa: S608 - constants


async def placed(old: Aging, status: str) -> UUID:
    """Return a memory of a status, put there past the guard."""
    memory = await old.added("event", event_description=f"was put into a status {uuid4()}")
    connection = await asyncpg.connect(old.store.url)
    try:
        async with connection.transaction():
            await connection.execute("SET LOCAL session_replication_role = replica")
            await connection.execute(PUT, memory, status)
    finally:
        await connection.close()
    return memory


@pytest.mark.parametrize(("before", "after"), list(product(MemoryStatus, MemoryStatus)), ids=str)
async def test_the_triggers_list_is_ours(old: Aging, before: MemoryStatus, after: MemoryStatus) -> None:
    memory = await placed(old, before)
    at = START + timedelta(days=1)
    if before is after or (before, after) in LEGAL:
        await old.store.sql(CHANGE, memory, after, at)
    else:
        with pytest.raises(asyncpg.CheckViolationError, match=f"that is {before} cannot become {after}"):
            await old.store.sql(CHANGE, memory, after, at)
    [row] = await old.store.sql("SELECT status, status_since FROM memories WHERE id = $1", memory)
    changed = before is not after and (before, after) in LEGAL
    assert row["status"] == (after if changed else before)
    assert row["status_since"] == (at if changed else None)


async def test_a_refusal_is_a_conflict_to_callers(old: Aging) -> None:
    memory = await placed(old, MemoryStatus.EXPIRED)
    with pytest.raises(Conflict, match="a memory that is expired cannot become pending"):
        async with old.store.database.write(old.store.tenant) as session:
            await session.change(
                statement(
                    "UPDATE memories SET status = 'pending', review_reason = 'asked', review_since = now() "
                    "WHERE id = :id"
                ),
                {"id": memory},
            )


@pytest.mark.long
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(walk=st.lists(st.sampled_from(MemoryStatus), min_size=2, max_size=12))
async def test_any_sequence_goes_as_far_as_the_table_allows(old: Aging, walk: list[MemoryStatus]) -> None:
    expected = walk[0]
    memory = await placed(old, expected)
    connection = await asyncpg.connect(old.store.url)
    try:
        for step, wanted in enumerate(walk[1:], 1):
            legal = wanted is expected or (expected, wanted) in LEGAL
            try:
                await connection.execute(CHANGE, memory, wanted, START + timedelta(days=step))
            except asyncpg.CheckViolationError:
                assert not legal
            else:
                assert legal
                expected = wanted
            assert await connection.fetchval("SELECT status FROM memories WHERE id = $1", memory) == expected
    finally:
        await connection.close()


def test_every_status_is_reached_and_left_and_what_is_forgotten_comes_back() -> None:
    assert {before for before, _ in LEGAL} == {after for _, after in LEGAL} == set(MemoryStatus)
    brought_back = {after for before, after in LEGAL if before is MemoryStatus.FORGOTTEN}
    assert brought_back == set(MemoryStatus) - {MemoryStatus.FORGOTTEN}

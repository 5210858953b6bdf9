"""What is stated earlier than what is known, and arrives later, takes its place in the history of its slot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from app.memory.candidate import WriteDecision
from app.model import Scope, ScopeKind
from tests.support.stores import Store

NOW = datetime(2026, 5, 9, 12, tzinfo=UTC)

FEW = 3
"""Times a value is said: one that is said more often is trusted so much that another value contradicts it."""

STATED = (
    st.lists(st.sampled_from("abc"), min_size=2, max_size=7)
    .filter(lambda said: max(Counter(said).values()) <= FEW)
    .flatmap(lambda said: st.permutations(list(enumerate(said))))
)
"""Values by the day on which they were stated, in the order in which they arrive."""


@pytest.fixture
def opened(store: Store) -> Callable[[], Store]:
    """Return the store in a way that is short to print."""
    return lambda: store


async def prefers(store: Store, scope: Scope, day: int, value: str, *, past: bool = False) -> WriteDecision:
    """State a value on a day; a `past` one held in a year that was over by then."""
    about: dict[str, Any] = {"stated_at": NOW + timedelta(days=day)}
    if past:
        begins = NOW - timedelta(days=2_000 - day)
        about |= {"valid_from": begins, "valid_until": begins + timedelta(days=365)}
    return (await store.write("preference", scope, about=about, preference_key="a.b", preference_value=value)).decision


async def chain(store: Store, scope: Scope) -> list[tuple[str, str, str | None, str | None]]:
    """Return the values of the slot in the order in which they began: value, status, what it follows, what follows."""
    rows = await store.sql(
        """SELECT m.slot_value, m.status, p.slot_value AS previous, n.slot_value AS next FROM memories m
           LEFT JOIN memories n ON n.tenant_id = m.tenant_id AND n.id = m.superseded_by AND n.supersedes = m.id
           LEFT JOIN memories p ON p.tenant_id = m.tenant_id AND p.id = m.supersedes AND p.superseded_by = m.id
           WHERE m.tenant_id = $1 AND m.scope_id = $2 ORDER BY m.valid_from, m.stated_at""",
        store.tenant,
        scope.id(store.tenant),
    )
    return [(row["slot_value"], row["status"], row["previous"], row["next"]) for row in rows]


async def test_what_holds_now_and_was_said_before_another_value_held_is_history_before_that(store: Store) -> None:
    scope = Scope(kind=ScopeKind.USER, user_id=str(uuid4()))
    for day, value in ((10, "dark"), (20, "light"), (30, "dark"), (5, "dark"), (1, "light")):
        await prefers(store, scope, day, value)
    assert await chain(store, scope) == [
        ("light", "superseded", None, "dark"),
        ("dark", "superseded", "light", "dark"),
        ("dark", "superseded", "dark", "light"),
        ("light", "superseded", "dark", "dark"),
        ("dark", "active", "light", None),
    ]


async def test_what_was_stated_before_history_is_history_though_nobody_holds_the_slot(store: Store) -> None:
    scope = Scope(kind=ScopeKind.USER, user_id=str(uuid4()))
    for day, value in ((10, "first"), (20, "third"), (30, "rejected")):
        await prefers(store, scope, day, value)
    await store.sql(
        """UPDATE memories SET status = 'forgotten' WHERE tenant_id = $1
           AND scope_id = $2 AND status = 'active'""",
        store.tenant,
        scope.id(store.tenant),
    )
    assert await prefers(store, scope, 15, "second") is WriteDecision.ADDED
    assert await chain(store, scope) == [
        ("first", "superseded", None, "second"),
        ("second", "superseded", "first", "third"),
        ("third", "superseded", "second", "rejected"),
        ("rejected", "forgotten", "third", None),
    ]
    assert await prefers(store, scope, 40, "fourth") is WriteDecision.ADDED
    assert (await chain(store, scope))[-1] == ("fourth", "active", None, None)


@pytest.mark.parametrize("told_first", [False, True])
async def test_what_was_over_when_it_was_told_takes_no_statement_of_that_time(
    store: Store, *, told_first: bool
) -> None:
    scope = Scope(kind=ScopeKind.USER, user_id=str(uuid4()))
    for past in (told_first, not told_first):
        await prefers(store, scope, 0 if past else -1_900, "dark", past=past)
    assert sorted(one[:2] for one in await chain(store, scope)) == [("dark", "active"), ("dark", "expired")]


async def test_what_comes_between_leaves_no_third_one_that_names_what_it_follows_no_more(store: Store) -> None:
    """Two sides of a slot lose it at once: each names its own neighbours, whatever comes between them."""
    scope = Scope(kind=ScopeKind.USER, user_id=str(uuid4()))
    weak = {"source_strength": 0.2}
    for day, value, more in ((1, "a", {}), (10, "b", {}), (20, "c", weak), (15, "between", {}), (30, "d", {})):
        about = {"stated_at": NOW + timedelta(days=day), **more}
        await store.write("preference", scope, about=about, preference_key="a.b", preference_value=value)
    await prefers(store, scope, 5, "late")
    assert await disagreeing(store, scope) == []


async def test_a_side_that_is_settled_by_being_stated_again_names_what_it_replaced(store: Store) -> None:
    scope = Scope(kind=ScopeKind.USER, user_id=str(uuid4()))
    for day, value, more in ((1, "a", {}), (10, "b", {"source_strength": 0.2}), (20, "b", {})):
        about = {"stated_at": NOW + timedelta(days=day), **more}
        await store.write("preference", scope, about=about, preference_key="a.b", preference_value=value)
    assert await chain(store, scope) == [("a", "superseded", None, "b"), ("b", "active", "a", None)]


async def disagreeing(store: Store, scope: Scope) -> list[tuple[str, str]]:
    """Return who names a neighbour that doesn't name it, or has a predecessor and names none."""
    rows = await store.sql(
        """SELECT m.slot_value AS one, o.slot_value AS other FROM memories m JOIN memories o ON o.tenant_id = $1
           AND ((o.id = m.supersedes AND o.superseded_by IS DISTINCT FROM m.id)
                OR (o.superseded_by = m.id AND m.supersedes IS NULL))
           WHERE m.tenant_id = $1 AND m.scope_id = $2""",
        store.tenant,
        scope.id(store.tenant),
    )
    return [(row["one"], row["other"]) for row in rows]


@pytest.mark.long
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(arriving=STATED, past=st.sets(st.integers(0, 6), max_size=2))
@example(arriving=[(0, "a"), (1, "a"), (5, "b"), (3, "a"), (4, "b"), (2, "b")], past=set())
@example(arriving=[(1, "a"), (3, "a"), (2, "b"), (0, "a")], past=set())
@example(arriving=[(3, "b"), (2, "b"), (4, "a"), (1, "c")], past={2})
@example(arriving=[(2, "a"), (1, "b"), (0, "a")], past={2})
async def test_whatever_the_order_of_arrival_the_value_stated_last_held(
    opened: Callable[[], Store], arriving: list[tuple[int, str]], past: set[int]
) -> None:
    """At any instant, of one slot, that is; and the rows are one chain, whose ends agree, beside what was over already.

    What is said again with nothing else known to lie between is one memory, so a value that comes to lie there later
    is only kept: when it held is told where no two statements were made one.
    """
    store = opened()
    scope = Scope(kind=ScopeKind.USER, user_id=str(uuid4()))
    decided = {await prefers(store, scope, day, value, past=day in past) for day, value in arriving}
    stated = {day: value for day, value in arriving if day not in past}
    for day, value in stated.items() if WriteDecision.MERGED not in decided else ():
        rows = await store.sql(
            """SELECT slot_value FROM memories WHERE tenant_id = $1 AND scope_id = $2 AND valid_from <= $3
                 AND (ended_at IS NULL OR ended_at > $3) AND status IN ('active', 'superseded')""",
            store.tenant,
            scope.id(store.tenant),
            NOW + timedelta(days=day, hours=1),
        )
        assert [row["slot_value"] for row in rows] == [value]
    rows = await chain(store, scope)
    beside, links = ([one for one in rows if (one[1] == "expired") is expired] for expired in (True, False))
    assert {one[2:] for one in beside} <= {(None, None)}
    assert len(beside) == len(past & {day for day, _ in arriving})
    assert [one[0] for one in links if one[1] == "active"] == ([stated[max(stated)]] if stated else [])
    assert sum(one[2] is None for one in links) == sum(one[3] is None for one in links) == bool(stated)

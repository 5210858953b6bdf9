"""What a use does: which reads count, what they revive, and how little junk gains by them."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.db.memories import usage
from app.db.memories.usage import BOOSTING_ACCESSES, MOST_SESSIONS, Use
from app.ids import digest_of
from app.memory.freshness import EXPIRY, MAX_BOOST, Decay, boost, since_last_use
from app.model import ReadMode, Scope, ScopeKind
from app.read.access import AccessTracker
from tests.read.conftest import NOW, USER, Store

CUPS = itertools.count(1)
LONG_AGO = NOW - timedelta(days=2000)


async def expire(store: Store, *memories: UUID) -> None:
    ids = list(memories)
    await store.sql("UPDATE memories SET status = 'expired' WHERE id = ANY($1)", ids)
    await store.sql("UPDATE memory_index SET status = 'expired' WHERE memory_id = ANY($1)", ids)


async def status(store: Store, memory: UUID) -> str:
    [row] = await store.sql(
        "SELECT m.status, array_agg(DISTINCT i.status) AS indexed FROM memories m "
        "JOIN memory_index i ON i.tenant_id = m.tenant_id AND i.memory_id = m.id WHERE m.id = $1 GROUP BY m.status",
        memory,
    )
    assert row["indexed"] == [row["status"]]
    return str(row["status"])


async def accesses(store: Store, memory: UUID) -> int:
    await store.tracker.flush()
    [row] = await store.sql("SELECT access_count FROM memory_usage WHERE memory_id = $1", memory)
    return int(row["access_count"])


@pytest.mark.parametrize(
    ("request_of", "counts"),
    [
        ({}, 1),
        ({"mode": ReadMode.HISTORICAL}, 1),
        ({"as_of": NOW}, 1),
        ({"mode": ReadMode.AUDIT}, 0),
        ({"known_at": NOW + timedelta(days=3650)}, 0),
        ({"as_of": NOW, "known_at": NOW + timedelta(days=3650)}, 0),
    ],
)
async def test_which_reads_count(store: Store, request_of: dict[str, object], counts: int) -> None:
    memory = await store.put("fact", {"predicate": "drinks", "object": "tea"})
    assert await store.found("tea", **request_of) == [memory]
    assert await accesses(store, memory) == counts


async def test_only_what_the_context_block_shows_counts(store: Store) -> None:
    memories = [await store.put("fact", {"predicate": f"likes-{n}", "object": f"tea number {n}"}) for n in range(6)]
    result = await store.ask("tea", token_budget=60)
    shown = [line for group in result.context.groups for line in group.lines]
    assert 0 < len(shown) < len(result.hits) == 6
    assert sum([await accesses(store, one) for one in memories]) == len(shown)


async def test_a_question_brings_back_only_what_answers_it_nearly_as_well_as_the_best(store: Store) -> None:
    told = ("repaired the greenhouse in the garden", "lost a green scarf on a walk", "planted a hedge with Tom")
    memories = [await store.put("event", {"event_description": f"user {one}"}, stated_at=LONG_AGO) for one in told]
    await expire(store, *memories)
    result = await store.ask("What did I repair in the garden?", mode=ReadMode.HISTORICAL, min_relevance=0.0)
    assert len(result.hits) == 3
    await store.tracker.flush()
    assert [await status(store, one) for one in memories] == ["active", "expired", "expired"]


async def test_what_only_fills_the_context_block_is_not_used(store: Store) -> None:
    told = (("works-at", "IBM"), ("owns", "a red kayak"), ("allergic-to", "cheese"), ("speaks", "Welsh"))
    memories = [await store.put("fact", {"predicate": verb, "object": what}, stated_at=LONG_AGO) for verb, what in told]
    await expire(store, *memories)
    for question in ("What was the weather in Tokyo?", "What did the user say about the weather in Tokyo?"):
        result = await store.ask(question, mode=ReadMode.HISTORICAL, min_relevance=0.0)
        assert len(result.hits) == len(memories)
        assert sum(len(group.lines) for group in result.context.groups) == len(memories)
        assert [await accesses(store, one) for one in memories] == [0] * len(memories)
    await store.ask("Which kayak does the user own?", mode=ReadMode.HISTORICAL)
    assert [await accesses(store, one) for one in memories] == [0, 1, 0, 0]
    assert [await status(store, one) for one in memories] == ["expired", "active", "expired", "expired"]


async def test_a_historical_use_revives_what_had_expired(store: Store) -> None:
    memory = await store.put("fact", {"predicate": "drinks", "object": "tea"}, stated_at=LONG_AGO)
    await expire(store, memory)
    assert await store.found("tea") == []
    assert await store.found("tea", mode=ReadMode.HISTORICAL) == [memory]
    assert await status(store, memory) == "expired"
    [before] = await store.sql("SELECT version FROM scopes WHERE tenant_id = $1", store.tenant)
    await store.tracker.flush()
    assert await status(store, memory) == "active"
    assert await store.found("tea") == [memory]
    [event] = await store.sql("SELECT actor, detail FROM audit_events WHERE action = 'memory.revived'"
                              " AND memory_id = $1", memory)  # fmt: skip
    assert event["actor"] == "access"
    assert '"access_count": 1' in event["detail"]
    [after] = await store.sql("SELECT version FROM scopes WHERE tenant_id = $1", store.tenant)
    assert after["version"] == before["version"] + 1


async def test_an_audit_revives_nothing(store: Store) -> None:
    memory = await store.put("fact", {"predicate": "drinks", "object": "tea"}, stated_at=LONG_AGO)
    await expire(store, memory)
    assert await store.found("tea", mode=ReadMode.AUDIT) == [memory]
    await store.tracker.flush()
    assert await status(store, memory) == "expired"


async def test_of_two_of_one_slot_the_later_statement_comes_back(store: Store) -> None:
    older = await store.put("preference", {"preference_key": "editor.theme", "preference_value": "dark"},
                            stated_at=LONG_AGO)  # fmt: skip
    newer = await store.put("preference", {"preference_key": "editor.font", "preference_value": "serif"},
                            stated_at=LONG_AGO + timedelta(days=1))  # fmt: skip
    await expire(store, older, newer)
    [[slot]] = await store.sql("SELECT slot FROM memories WHERE id = $1", older)
    await store.sql("UPDATE memories SET slot = $1 WHERE id = $2", slot, newer)
    store.tracker.note(store.tenant, [older, newer], at=NOW)
    await store.tracker.flush()
    assert (await status(store, older), await status(store, newer)) == ("expired", "active")


async def test_a_flush_of_many_scopes_revives_each(store: Store) -> None:
    tea = {"predicate": "drinks", "object": "tea"}
    scopes = [Scope(kind=ScopeKind.USER, user_id=f"u{n}") for n in range(5)]
    found = [await store.put("fact", tea, scope, stated_at=LONG_AGO) for scope in scopes]
    await expire(store, *found)
    store.tracker.note(store.tenant, found, at=NOW)
    await store.tracker.flush()
    assert [await status(store, one) for one in found] == ["active"] * 5


async def test_junk_that_is_matched_a_thousand_times_still_fades_away(store: Store) -> None:
    junk = await store.put("event", {"event_description": "user said sounds good"})
    for _ in range(1000):
        store.tracker.note(store.tenant, [junk], at=NOW, session="chat")
    await store.tracker.flush()
    hit = (await store.ask("sounds good", mode=ReadMode.AUDIT, min_relevance=0.0)).hits[0].memory
    assert hit.access_count == 1000
    assert hit.usage.stability < 0.2, "one day adds little, however often"
    assert hit.usage.sessions == 1
    decay = Decay(half_life_days=hit.half_life_days, floor=hit.floor)

    def fresh(days: float) -> float:
        return since_last_use(
            stated_at=hit.stated_at,
            last_accessed_at=hit.last_accessed_at,
            access_count=hit.access_count,
            decay=decay,
            now=NOW + timedelta(days=days),
        )

    assert max(fresh(day) for day in range(400)) == MAX_BOOST
    # 30 days x log2(3 / .1): a hundred days for an event nobody used, 47 more at the very most.
    assert fresh(147) > EXPIRY > fresh(148)
    assert boost(1000) == boost(7) == MAX_BOOST


async def test_expired_junk_that_is_matched_without_reviving_stays_as_long_expired(store: Store) -> None:
    junk = await store.put("fact", {"predicate": "says", "object": "sounds good"}, valid_from=LONG_AGO,
                           stated_at=LONG_AGO, valid_until=LONG_AGO + timedelta(days=1))  # fmt: skip
    await expire(store, junk)
    [before] = await store.sql("SELECT updated_at FROM memories WHERE id = $1", junk)
    store.tracker.note(store.tenant, [junk] * 50, at=NOW)
    await store.tracker.flush()
    [after] = await store.sql("SELECT status, updated_at FROM memories WHERE id = $1", junk)
    assert (after["status"], after["updated_at"]) == ("expired", before["updated_at"])


@dataclass(frozen=True)
class Known:
    """The counters of a memory, as plain arithmetic has them."""

    stated: datetime
    count: int = 0
    last: datetime | None = None
    previous: datetime | None = None
    stability: float = 0.0
    sessions: tuple[str, ...] = field(default=())

    def used(self, count: int, last: datetime, sessions: Sequence[str]) -> Known:
        last = max(last, self.stated)
        days = max(0.0, (last - (self.last or self.stated)).total_seconds() / 86_400)
        previous = self.last
        if self.last is not None and last <= self.last:
            previous = max((one for one in (self.previous, last) if one is not None), default=None)
        return replace(
            self,
            count=self.count + count,
            last=last if self.last is None else max(self.last, last),
            previous=previous,
            stability=min(1.0, self.stability + 0.1 * min(2.0, days / 7)),
            sessions=tuple(dict.fromkeys((*self.sessions, *sessions)))[:MOST_SESSIONS],
        )

    def taken_back(self) -> Known:
        last = self.previous if self.previous is not None and self.previous > self.stated else None
        return replace(
            self,
            count=max(0, min(self.count, BOOSTING_ACCESSES) - 1),
            last=last,
            previous=None,
            stability=max(0.0, self.stability - 0.1),
        )

    def fresh(self, now: datetime) -> float:
        return since_last_use(stated_at=self.stated, last_accessed_at=self.last, access_count=self.count,
                              decay=Decay(half_life_days=30), now=now)  # fmt: skip


USES = st.lists(
    st.one_of(
        st.none(),
        st.tuples(
            st.integers(1, 20),
            st.floats(-3, 120, allow_nan=False).map(lambda days: NOW + timedelta(seconds=round(days * 86_400))),
            st.lists(st.sampled_from([f"s{n}" for n in range(MOST_SESSIONS + 4)]), max_size=4, unique=True),
        ),
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=USES)
async def test_the_counters_are_what_plain_arithmetic_says(
    store: Store, steps: list[tuple[int, datetime, list[str]] | None]
) -> None:
    memory = await fresh_memory(store)
    expected = Known(stated=NOW)
    for step in steps:
        async with store.database.write(store.tenant) as session:
            if step is None:
                before = expected.fresh(NOW + timedelta(days=130))
                expected = expected.taken_back()
                assert expected.fresh(NOW + timedelta(days=130)) <= before
                await usage.take_back(session, tenant=store.tenant, memory=memory)
            else:
                times, at, sessions = step
                expected = expected.used(times, at, sessions)
                use = Use(memory=memory, count=times, last=at, sessions=tuple(sessions))
                await usage.record(session, tenant=store.tenant, uses=[use])
    count, last, previous, stability, kept = await counted(store, memory)
    assert (count, last, previous, kept) == (expected.count, expected.last, expected.previous, expected.sessions)
    assert stability == pytest.approx(expected.stability, abs=1e-9)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    days=st.lists(st.floats(0, 60, allow_nan=False), min_size=1, max_size=10),
    cuts=st.lists(st.integers(0, 10), max_size=4),
    order=st.randoms(use_true_random=False),
)
async def test_counts_and_the_last_use_do_not_depend_on_how_uses_are_grouped(
    store: Store, days: list[float], cuts: list[int], order: object
) -> None:
    memory = await fresh_memory(store)
    at = [NOW + timedelta(seconds=round(one * 86_400)) for one in days]
    shuffled = list(enumerate(at))
    order.shuffle(shuffled)  # type: ignore[attr-defined]
    edges = sorted({0, len(shuffled), *(cut for cut in cuts if cut < len(shuffled))})
    for start, end in itertools.pairwise(edges):
        for place, when in shuffled[start:end]:
            store.tracker.note(store.tenant, [memory], at=when, session=f"s{place}")
        await store.tracker.flush()
    count, last, _, stability, sessions = await counted(store, memory)
    assert (count, last, set(sessions)) == (
        len(at),
        max(at),
        {digest_of(store.tenant, f"s{n}") for n in range(len(at))},
    )
    one_by_one = Known(stated=NOW)
    for when in sorted(at):
        one_by_one = one_by_one.used(1, when, ())
    assert 0 <= stability <= one_by_one.stability + 1e-9, "what is written down late or together gains no more"


async def fresh_memory(store: Store) -> UUID:
    return await store.put("event", {"event_description": f"user drank cup {next(CUPS)} of tea"})


async def counted(store: Store, memory: UUID) -> tuple[int, datetime | None, datetime | None, float, tuple[str, ...]]:
    [row] = await store.sql(
        "SELECT access_count, last_accessed_at, previous_accessed_at, stability, sessions "
        "FROM memory_usage WHERE memory_id = $1",
        memory,
    )
    return (
        row["access_count"],
        row["last_accessed_at"],
        row["previous_accessed_at"],
        row["stability"],
        tuple(row["sessions"]),
    )


async def test_uses_and_writes_of_the_same_memories_at_once_all_arrive(store: Store) -> None:
    scopes = [Scope(kind=ScopeKind.USER, user_id=f"u{n}") for n in range(4)]
    tea = [{"predicate": f"drinks-{n}", "object": "tea"} for n in range(4)]
    found = [await store.put("fact", one, scope, stated_at=LONG_AGO) for scope in scopes for one in tea]
    await expire(store, *found[::2])
    trackers = [AccessTracker(database=store.database, clock=lambda: NOW) for _ in range(3)]

    async def use(tracker: AccessTracker, order: Sequence[UUID]) -> None:
        for _ in range(4):
            tracker.note(store.tenant, order, at=NOW)
            await tracker.flush()
        while tracker.waiting:
            await tracker.flush()

    async def write(scope: Scope) -> None:
        for one in tea:
            await store.put("fact", one, scope)

    await asyncio.gather(
        *(use(tracker, order) for tracker, order in zip(trackers, (found, found[::-1], found[::2]), strict=True)),
        *(write(scope) for scope in scopes),
    )
    counts = {one: (await counted(store, one))[0] for one in found}
    rows = await store.sql("SELECT id, status, superseded_by FROM memories WHERE tenant_id = $1", store.tenant)
    assert {row["id"] for row in rows} == set(found), "each was stated again and merged, none was doubled"
    assert {row["status"] for row in rows} == {"active"}
    assert counts == {one: 12 if one in found[::2] else 8 for one in found}


async def test_what_barely_resembles_the_question_is_not_used_where_something_says_nearly_the_same(
    store: Store,
) -> None:
    theme = await store.put("preference", {"preference_key": "editor.theme", "preference_value": "light"})
    ana = {"session_id": "chat", "speaker": "Ana"}
    lines = ("I moved to Lisbon in March.", "I teach the cello at the conservatory.", "Ericeira, mostly.")
    for place, line in enumerate(lines):
        await store.put("episodic", {"content": line, "sequence_number": 2 * place, **ana}, USER)
    asked = {"content": "Where do you go at weekends?", "session_id": "chat", "sequence_number": 3}
    question = await store.put("episodic", {**asked, "speaker": "assistant"}, USER)
    result = await store.ask("Where does Ana go at weekends?", min_relevance=0.0)
    assert {theme, question} <= {hit.memory.id for hit in result.hits}
    assert await accesses(store, question) == 1
    assert await store.sql("SELECT FROM memory_usage WHERE memory_id = $1 AND access_count > 0", theme) == []

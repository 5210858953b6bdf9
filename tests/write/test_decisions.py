from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.memory.candidate import WriteDecision
from app.model import Category, ConfidenceParts, MemoryStatus, Scope, ScopeKind, SpeechAct
from tests.support.stores import Store

NOW = datetime(2026, 5, 9, 12, tzinfo=UTC)


async def test_dark_then_light_leaves_one_preference_and_a_history(store: Store) -> None:
    dark = await store.write("preference", preference_key="editor.theme", preference_value="dark")
    light = await store.write("preference", preference_key="editor.theme", preference_value="light")
    assert dark.memory is not None
    assert light.memory is not None
    assert (dark.decision, light.decision) == (WriteDecision.ADDED, WriteDecision.SUPERSEDED)
    assert [(one.id, one.change) for one in light.affected] == [(dark.memory.id, "superseded")]
    assert light.memory.supersedes == dark.memory.id
    told = await store.memories.history(store.actor, dark.memory.id)
    assert [(one.payload["preference_value"], one.status) for one in told.versions] == [
        ("dark", MemoryStatus.SUPERSEDED),
        ("light", MemoryStatus.ACTIVE),
    ]
    assert told.versions[0].superseded_by == light.memory.id
    assert told.versions[0].valid_until == told.versions[1].valid_from
    assert {event.action for event in told.events} == {"memory.added", "memory.superseded"}


async def test_saying_it_again_merges_and_builds_confidence(store: Store) -> None:
    first = await store.write("fact", predicate="works-at", object="Volkswagen")
    again = await store.write("fact", predicate="employed by", object="volkswagen")
    assert first.memory is not None
    assert again.memory is not None
    assert again.decision is WriteDecision.MERGED
    assert again.memory.id == first.memory.id
    assert again.memory.parts == ConfidenceParts(source=0.9, extractor=0.9, prior=0.15, mentions=2)
    assert again.memory.confidence == pytest.approx(first.memory.confidence + 0.05)


async def test_a_statement_made_earlier_goes_into_history_in_its_place(store: Store) -> None:
    async def prefers(value: str, days: int) -> str:
        outcome = await store.write(
            "preference", about={"stated_at": NOW + timedelta(days=days)}, preference_key="a.b", preference_value=value
        )
        assert outcome.memory is not None
        return str(outcome.decision)

    assert [
        await prefers("first", 0),
        await prefers("fourth", 30),
        await prefers("third", 20),
        await prefers("second", 10),
    ] == ["added", "superseded", "added", "added"]
    page = await store.sql(
        """SELECT m.slot_value, m.status, n.slot_value AS next, p.slot_value AS previous, m.ended_at
           FROM memories m LEFT JOIN memories n ON n.tenant_id = m.tenant_id AND n.id = m.superseded_by
           LEFT JOIN memories p ON p.tenant_id = m.tenant_id AND p.id = m.supersedes
           WHERE m.tenant_id = $1 ORDER BY m.stated_at""",
        store.tenant,
    )
    assert [(row["slot_value"], row["status"], row["next"], row["previous"]) for row in page] == [
        ("first", "superseded", "second", None),
        ("second", "superseded", "third", "first"),
        ("third", "superseded", "fourth", "second"),
        ("fourth", "active", None, "third"),
    ]
    assert [row["ended_at"] for row in page[:3]] == [NOW + timedelta(days=days) for days in (10, 20, 30)]


async def test_a_weak_statement_contradicts_instead_of_replacing(store: Store) -> None:
    strong = await store.write("fact", predicate="works-at", object="Volkswagen")
    weak = await store.write(
        "fact", about={"source_strength": 0.2, "extractor_confidence": 0.9}, predicate="works-at", object="Rivian"
    )
    assert strong.memory is not None
    assert weak.memory is not None
    assert weak.decision is WriteDecision.CONTRADICTED
    assert weak.memory.contested
    assert weak.memory.needs_review, "works-at matters enough for a person to look"
    kept = await store.memories.get(store.actor, strong.memory.id)
    assert kept.status is MemoryStatus.ACTIVE
    assert [link["kind"] for link in kept.links] == ["contradicts"]
    settled = await store.write("fact", predicate="works-at", object="BMW")
    assert settled.decision is WriteDecision.SUPERSEDED
    assert {one.id for one in settled.affected} == {strong.memory.id, weak.memory.id}


async def test_events_accumulate_and_merge_only_when_identical(store: Store) -> None:
    async def happened(day: str) -> WriteDecision:
        return (await store.write("event", event_description="deployed the API", event_at=day)).decision

    assert [await happened("2026-05-09"), await happened("2026-05-10"), await happened("2026-05-09")] == [
        WriteDecision.ADDED,
        WriteDecision.ADDED,
        WriteDecision.MERGED,
    ]


async def test_several_values_of_a_stateless_predicate_stand_side_by_side(store: Store) -> None:
    decisions = [
        (await store.write("fact", predicate="speaks", object=language, stateful=False)).decision
        for language in ("German", "French", "German")
    ]
    assert decisions == [WriteDecision.ADDED, WriteDecision.ADDED, WriteDecision.MERGED]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("takes 20 mg of the medicine daily", "takes 40 mg of the medicine daily"),
        ("likes tea a lot", "does not like tea a lot"),
    ],
)
async def test_numbers_and_negations_are_never_duplicates(store: Store, first: str, second: str) -> None:
    for content in (first, second):
        outcome = await store.write("fact", about={"content": content}, predicate="note", object="same", stateful=False)
        assert outcome.decision is WriteDecision.ADDED


async def test_near_identical_wording_of_one_claim_merges(store: Store) -> None:
    for content, decision in (
        ("User really enjoys hiking in the mountains", WriteDecision.ADDED),
        ("User really enjoys hiking in the mountains!!", WriteDecision.MERGED),
        ("The user really enjoys hiking in the mountains", WriteDecision.MERGED),
    ):
        outcome = await store.write(
            "fact", about={"content": content}, predicate="enjoys", object="hiking", stateful=False
        )
        assert outcome.decision is decision, content


async def test_a_hypothetical_is_capped_and_takes_no_slot(store: Store) -> None:
    real = await store.write("fact", predicate="has-role", object="engineer")
    supposed = await store.write(
        "fact", about={"speech_act": SpeechAct.HYPOTHETICAL}, predicate="has-role", object="doctor"
    )
    assert real.memory is not None
    assert supposed.memory is not None
    assert supposed.memory.confidence == 0.30
    assert supposed.memory.slot is None
    assert supposed.affected == ()
    assert (await store.memories.get(store.actor, real.memory.id)).status is MemoryStatus.ACTIVE


async def test_under_the_write_floor_nothing_is_stored(store: Store) -> None:
    outcome = await store.write(
        "fact", about={"source_strength": 0.1, "extractor_confidence": 0.1}, predicate="likes", object="tea"
    )
    assert (outcome.decision, outcome.memory) == (WriteDecision.REJECTED, None)
    assert "write floor" in outcome.reason
    assert await store.sql("SELECT 1 FROM memories WHERE tenant_id = $1", store.tenant) == []
    [event] = await store.sql("SELECT action FROM audit_events WHERE tenant_id = $1", store.tenant)
    assert event["action"] == "memory.rejected"


async def test_scopes_do_not_compete(store: Store) -> None:
    other = Scope(kind=ScopeKind.USER, user_id="u2")
    agent = Scope(kind=ScopeKind.AGENT, user_id="u1", agent_id="a1")
    for scope in (Scope(kind=ScopeKind.GLOBAL), other, agent):
        outcome = await store.write(
            "preference", scope, preference_key="editor.theme", preference_value=str(scope.kind)
        )
        assert outcome.decision is WriteDecision.ADDED


async def test_an_explicit_category_sets_decay_and_floor(store: Store) -> None:
    outcome = await store.write("fact", about={"category": Category.CORE}, predicate="has-name", object="Alex")
    assert outcome.memory is not None
    assert (outcome.memory.half_life_days, outcome.memory.floor) == (120, 0.6)


async def test_a_batch_is_decided_in_its_order(store: Store) -> None:
    batch = [
        store.candidate("preference", preference_key="editor.theme", preference_value=value)
        for value in ("dark", "light", "light", "sepia")
    ]
    assert [one.decision for one in await store.write_all(batch)] == [
        WriteDecision.ADDED,
        WriteDecision.SUPERSEDED,
        WriteDecision.MERGED,
        WriteDecision.SUPERSEDED,
    ]


@pytest.fixture
def opened(store: Store) -> Callable[[], Store]:
    """Return the store in a way that is short to print."""
    return lambda: store


FEW = 3
"""Times a value is said: one that is said more often is trusted so much that another value contradicts it."""

SAID = st.lists(st.tuples(st.sampled_from("abc"), st.integers(-1, 4)), min_size=1, max_size=6).filter(
    lambda said: max(Counter(value for value, _ in said).values()) <= FEW
)


async def test_what_is_said_often_is_contradicted_and_not_replaced(store: Store) -> None:
    for times, decided in ((FEW, WriteDecision.SUPERSEDED), (FEW + 2, WriteDecision.CONTRADICTED)):
        scope = Scope(kind=ScopeKind.USER, user_id=str(uuid4()))
        for _ in range(times):
            await store.write("preference", scope, preference_key="a.b", preference_value="dark")
        last = await store.write("preference", scope, preference_key="a.b", preference_value="light")
        assert last.decision is decided


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(said=SAID)
async def test_at_any_time_the_slot_has_the_value_that_began_last(
    opened: Callable[[], Store], said: list[tuple[str, int]]
) -> None:
    """Each is stated after the one before; one in `ahead` x 10 days begins then, one of -1 was over long before."""
    store = opened()
    scope, start = Scope(kind=ScopeKind.USER, user_id=str(uuid4())), datetime.now(UTC)
    expected: dict[datetime, str] = {}
    for step, (value, ahead) in enumerate(said):
        stated = start + step * timedelta(milliseconds=1) - timedelta(seconds=1)
        about: dict[str, object] = {"stated_at": stated}
        if ahead < 0:
            about |= {"valid_from": start - timedelta(days=9), "valid_until": start - timedelta(days=8)}
        elif ahead > 0:
            about |= {"valid_from": start + ahead * timedelta(days=10)}
        if ahead >= 0:
            begins = start + ahead * timedelta(days=10) if ahead else stated
            before = [when for when in expected if when <= begins]
            if not before or expected[max(before)] != value:  # what holds by then anyway is only said again
                expected[begins] = value
        await store.write("preference", scope, about=about, preference_key="a.b", preference_value=value)
    for day in range(0, 50, 5):
        then = start + timedelta(days=day, hours=1)
        begun = [when for when in expected if when <= then]
        rows = await store.sql(
            """SELECT slot_value FROM memories WHERE tenant_id = $1 AND scope_id = $2 AND valid_from <= $3
                 AND (valid_until IS NULL OR valid_until > $3) AND (ended_at IS NULL OR ended_at > $3)
                 AND (status = 'active' OR status = 'superseded')""",
            store.tenant,
            scope.id(store.tenant),
            then,
        )
        assert [row["slot_value"] for row in rows] == ([expected[max(begun)]] if begun else [])

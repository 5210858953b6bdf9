"""Every way into the store, in every situation of a slot: the same outcome, or a reason written beside the cell."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from app import ids
from app.features.backfill.service import BackfillRequest, Backfills
from app.features.review.items import ReviewAction, ReviewDecision
from app.memory.candidate import Candidate, Ending
from app.memory.extraction import Extraction, Proposal, Role, Turn, TurnStatus
from app.services.entities import Entities
from app.services.extraction import ExtractionPolicies
from app.services.limits import Quotas
from app.services.turns import Turns
from app.write.known import KnownReader
from app.write.turns import IngestPipeline
from tests.support.stores import USER, Store
from tests.write.test_reviewing import reviews

DAY = timedelta(days=1)
NOW = datetime.now(UTC) - 100 * DAY
WEAK: dict[str, Any] = {"source_strength": 0.2}
HIDDEN: dict[str, Any] = {"source_strength": 0.5}
"""Under the read floor, though within the tolerance of what is trusted a little more."""

KEY, OTHER_KEY = "editor.theme", "editor.seeded"

State = list[tuple[str, str, bool]]
"""Versions of the slot as they began: value, status, contested."""


def theme(store: Store, value: str, day: float, *, key: str = KEY, **about: Any) -> Candidate:
    given = {"stated_at": NOW + day * DAY, **about}
    return store.candidate("preference", about=given, preference_key=key, preference_value=value)


DOSES = {"dark": "500 mg", "light": "850 mg", "blue": "1000 mg", "seedling": "250 mg"}


def dose(store: Store, value: str, day: float, **about: Any) -> Candidate:
    """Return a belief about a slot of another type, whose values stand for those of the theme."""
    given = {"stated_at": NOW + day * DAY, **about}
    return store.candidate("medication", about=given, medication_name="metformin", dosage=DOSES[value])


Stated = Callable[..., Candidate]
"""A statement about the slot: of a store, a value and a day."""


async def empty(_: Store, _stated: Stated = theme) -> None:
    pass


async def taken(store: Store, stated: Stated = theme) -> None:
    await store.write_all([stated(store, "dark", 0)])


async def trusted_less(store: Store, stated: Stated = theme) -> None:
    await store.write_all([stated(store, "dark", 0, source_strength=0.7)])


async def replaced(store: Store, stated: Stated = theme) -> None:
    await store.write_all([stated(store, "blue", -10), stated(store, "dark", 0)])


async def contested(store: Store, stated: Stated = theme) -> None:
    await store.write_all([stated(store, "dark", 0), stated(store, "blue", 1, **WEAK)])


async def ended(store: Store, stated: Stated = theme) -> None:
    await store.write_all([stated(store, "dark", 0), stated(store, "dark", 2, ending=Ending())])


async def future(store: Store, stated: Stated = theme) -> None:
    await store.write_all([stated(store, "dark", 0, valid_from=NOW + 900 * DAY)])


async def expired(store: Store, stated: Stated = theme) -> None:
    await taken(store, stated)
    await store.sql("UPDATE memories SET status = 'expired' WHERE tenant_id = $1", store.tenant)


Situation = tuple[Callable[..., Awaitable[None]], tuple[str, float, dict[str, Any]], State]

SITUATIONS: dict[str, Situation] = {
    "empty": (empty, ("light", 5, {}), [("light", "active", False)]),
    "same value": (taken, ("dark", 5, {}), [("dark", "active", False)]),
    "newer": (taken, ("light", 5, {}), [("dark", "superseded", False), ("light", "active", False)]),
    "older, arriving late": (
        replaced,
        ("light", -5, {}),
        [("blue", "superseded", False), ("light", "superseded", False), ("dark", "active", False)],
    ),
    "equal time": (taken, ("light", 0, {}), [("dark", "superseded", False), ("light", "active", False)]),
    "much less trusted": (taken, ("light", 5, WEAK), [("dark", "active", False), ("light", "active", True)]),
    "contested": (
        contested,
        ("light", 5, {}),
        [("dark", "superseded", False), ("blue", "superseded", False), ("light", "active", False)],
    ),
    "contested, one side again": (
        contested,
        ("blue", 5, {}),
        [("dark", "superseded", False), ("blue", "active", False)],
    ),
    "ended": (ended, ("light", 5, {}), [("dark", "expired", False), ("light", "active", False)]),
    "ended, stated before": (ended, ("light", 1, {}), [("light", "superseded", False), ("dark", "expired", False)]),
    "future": (future, ("light", 5, {}), [("light", "superseded", False), ("dark", "active", False)]),
    "expired": (expired, ("light", 5, {}), [("dark", "expired", False), ("light", "active", False)]),
    "expired, same value": (expired, ("dark", 5, {}), [("dark", "active", False)]),
    "not recalled by default": (
        trusted_less,
        ("light", 5, HIDDEN),
        [("dark", "active", False), ("light", "active", True)],
    ),
}

ADOPTED = "a fact that a type takes over keeps its id, too; what has expired stays so"

BESIDE = "a merge moves memories as they are: each stands beside what holds the slot until more is said, or undone"

REASONS: dict[tuple[str, str], tuple[State, str]] = {
    ("backfill", "same value"): ([("dark", "active", False), ("dark", "superseded", False)], ADOPTED),
    ("backfill", "contested, one side again"): (
        [("dark", "superseded", False), ("blue", "active", False), ("blue", "superseded", False)],
        ADOPTED,
    ),
    ("backfill", "expired, same value"): ([("dark", "active", False), ("dark", "expired", False)], ADOPTED),
    ("entity merge", "same value"): ([("dark", "active", False), ("dark", "active", True)], BESIDE),
    ("entity merge", "newer"): ([("dark", "active", False), ("light", "active", True)], BESIDE),
    ("entity merge", "older, arriving late"): (
        [("blue", "superseded", False), ("dark", "active", False), ("light", "active", True)],
        BESIDE,
    ),
    ("entity merge", "equal time"): ([("dark", "active", False), ("light", "active", True)], BESIDE),
    ("entity merge", "contested"): (
        [("dark", "active", False), ("blue", "active", True), ("light", "active", True)],
        BESIDE,
    ),
    ("entity merge", "contested, one side again"): (
        [("dark", "active", False), ("blue", "active", True), ("blue", "active", True)],
        BESIDE,
    ),
    ("entity merge", "ended, stated before"): ([("light", "active", False), ("dark", "expired", False)], BESIDE),
    ("entity merge", "future"): ([("dark", "active", False), ("light", "active", True)], BESIDE),
    ("entity merge", "expired, same value"): ([("dark", "active", False), ("dark", "expired", False)], BESIDE),
}
"""Cells whose outcome is another one, and why."""


async def by_write(store: Store, value: str, day: float, about: dict[str, Any]) -> None:
    await store.write_all([theme(store, value, day, **about)])


async def by_batch(store: Store, value: str, day: float, about: dict[str, Any]) -> None:
    other = store.candidate("fact", predicate="likes", object="tea", stateful=False)
    await store.write_all([other, theme(store, value, day, **about)])


async def by_review(store: Store, value: str, day: float, about: dict[str, Any]) -> None:
    await store.write_all([theme(store, value, day, review="it holds a password", **about)])
    await accept(store)


@dataclass(frozen=True, slots=True)
class OneProposal:
    """An extractor that takes any turn to say one thing."""

    proposal: Proposal
    name: str = "scripted"
    reads_known: bool = False
    reads_instructions: bool = False
    window: int = 1

    async def extract(self, turns: Sequence[Turn], context: Sequence[Turn] = (), **_: object) -> Sequence[Extraction]:
        del context
        return [Extraction(proposals=(self.proposal,)) for _ in turns]

    async def aclose(self) -> None:
        pass


async def by_turn(store: Store, value: str, day: float, about: dict[str, Any]) -> None:
    said = f"The editor theme I want is {value}."
    payload = {"preference_key": KEY, "preference_value": value}
    sure = 0.05 if about else 0.9
    await tell(store, said, Proposal(type="preference", payload=payload, quote=said, confidence=sure), day)


async def tell(store: Store, said: str, proposal: Proposal, day: float) -> None:
    """Process a turn of which an extractor makes one proposal."""
    pipeline = IngestPipeline(
        database=store.database,
        writing=store.pipeline,
        extractor=OneProposal(proposal),
        known=KnownReader(database=store.database, embedder=store.pipeline.embedder, model_id=1),
        types=store.types,
        clock=store.pipeline.clock,
        keep_episodes=False,
    )
    policies = ExtractionPolicies(database=store.database, clock=store.pipeline.clock)
    quotas = Quotas(database=store.database, clock=store.pipeline.clock)
    turns = Turns(
        database=store.database, pipeline=pipeline, policies=policies, quotas=quotas, clock=store.pipeline.clock
    )
    turn = Turn(id=ids.new(), scope=USER, role=Role.USER, content=said, occurred_at=NOW + day * DAY)
    await turns.store(store.actor, [turn], [{}])
    [done] = await turns.process(store.actor, [turn.id])
    assert done.status is TurnStatus.PROCESSED


async def by_entity_merge(store: Store, value: str, day: float, about: dict[str, Any]) -> None:
    """Say it of somebody who turns out to be the user."""
    await store.write("fact", predicate="likes", object="tea", stateful=False)
    one = store.candidate(
        "preference",
        about={"stated_at": NOW + day * DAY, **about},
        preference_key=KEY,
        preference_value=value,
        subject="Robin",
    )
    await store.write_all([one])
    rows = await store.sql("SELECT id, canonical_name FROM entities WHERE tenant_id = $1", store.tenant)
    named = {row["canonical_name"]: row["id"] for row in rows}
    entities = Entities(database=store.database, types=store.types, clock=store.pipeline.clock)
    await entities.merge(store.actor, named["user"], [named["Robin"]], force=True)


DOORS = {
    "write": by_write,
    "batch": by_batch,
    "turn": by_turn,
    "review": by_review,
    "entity merge": by_entity_merge,
}


async def by_write_of_a_fact(store: Store, fact: Candidate) -> None:
    await store.write_all([fact])


async def by_batch_with_a_fact(store: Store, fact: Candidate) -> None:
    await store.write_all([store.candidate("fact", predicate="likes", object="tea", stateful=False), fact])


async def by_review_of_a_fact(store: Store, fact: Candidate) -> None:
    await store.write_all([replace(fact, review="it holds a password")])
    await accept(store)


RULED: dict[str, Callable[[Store, Candidate], Awaitable[None]]] = {
    "write": by_write_of_a_fact,
    "batch": by_batch_with_a_fact,
    "review": by_review_of_a_fact,
}


@pytest.mark.parametrize("door", RULED)
async def test_what_a_rule_stands_against_is_stored_beside_it_by_every_door(store: Store, door: str) -> None:
    await store.write("constraint", about={"stated_at": NOW}, predicate="cannot use", rule="no external services")
    about = {"stated_at": NOW + DAY}
    await RULED[door](store, store.candidate("fact", about=about, predicate="uses", object="external services"))
    rows = await store.sql(
        """SELECT type, status, contested, review_reason FROM memories
           WHERE tenant_id = $1 AND type = 'constraint' OR slot_value IS NOT NULL AND tenant_id = $1 ORDER BY type""",
        store.tenant,
    )
    asked = None if door == "review" else "constraint"  # a person has just looked at it
    found = {row["type"]: (row["status"], row["contested"], row["review_reason"]) for row in rows}
    assert found["constraint"] == ("active", False, None)
    assert found["fact"] == ("active", False, asked)


OPENS = "The gate of the allotments opens at seven"


def note(store: Store, content: str) -> Candidate:
    return store.candidate("semantic", about={"stated_at": NOW}, content=content)


async def note_by_write(store: Store, content: str) -> None:
    await store.write_all([note(store, content)])


async def note_by_batch(store: Store, content: str) -> None:
    await store.write_all([note(store, "The kiln needs a new lid"), note(store, content)])


async def note_by_review(store: Store, content: str) -> None:
    await store.write_all([replace(note(store, content), review="it holds a password")])
    await accept(store)


async def note_by_turn(store: Store, content: str) -> None:
    await tell(store, content, Proposal(type="semantic", payload={"content": content}, quote=content), 0)


NOTE_DOORS = {
    "write": note_by_write,
    "batch": note_by_batch,
    "turn": note_by_turn,
    "review": note_by_review,
}

NOTES: dict[str, tuple[str, str, int]] = {
    "number": (OPENS, "The gate of the allotments opens at nine", 2),
    "denial": (OPENS, "The gate of the allotments never opens at seven", 2),
    "opposite": (OPENS, "The gate of the allotments closes at seven", 2),
    "relation": ("The league is for the new weir", "The league is against the new weir", 2),
    "roles": ("user owes Sabine a crate of cider", "Sabine owes user a crate of cider", 2),
    "name": ("The keys are with Annika at the mill", "The keys are with Annette at the mill", 2),
    "words of little weight": (OPENS, "The gate of the allotments really opens at seven", 1),
}
"""A note, another one, and how many they are."""


@pytest.mark.parametrize("door", NOTE_DOORS)
@pytest.mark.parametrize("situation", NOTES)
async def test_notes_that_differ_decisively_stay_two_by_every_door(store: Store, door: str, situation: str) -> None:
    first, second, many = NOTES[situation]
    await note_by_write(store, first)
    await NOTE_DOORS[door](store, second)
    rows = await store.sql(
        "SELECT count(*) AS many FROM memories WHERE tenant_id = $1 AND status = 'active' AND content = ANY($2)",
        store.tenant,
        [first, second],
    )
    assert rows[0]["many"] == many


HOMES = {"write": by_write_of_a_fact, "batch": by_batch_with_a_fact, "review": by_review_of_a_fact}


@pytest.mark.parametrize("door", HOMES)
@pytest.mark.parametrize(("one", "other"), [("Iceland", "Ireland"), ("Wienerberger AG", "Wienerberger Bank")])
async def test_a_name_that_looks_like_another_is_a_new_value_by_every_door(
    store: Store, door: str, one: str, other: str
) -> None:
    for day, name in enumerate((one, other)):
        fact = store.candidate("fact", about={"stated_at": NOW + day * DAY}, predicate="works-at", object=name)
        await HOMES[door](store, fact)
    assert [status for _, status, _ in await versions(store, "works-at")] == ["superseded", "active"]
    rows = await store.sql("SELECT canonical_name FROM entities WHERE tenant_id = $1", store.tenant)
    assert {one, other} <= {row["canonical_name"] for row in rows}


async def accept(store: Store) -> None:
    """Accept the only memory that waits."""
    desk = reviews(store)
    [row] = await store.sql("SELECT id FROM memories WHERE tenant_id = $1 AND status = 'pending'", store.tenant)
    item = (await desk.get(store.actor, row["id"])).item
    assert item is not None
    await desk.decide(store.actor, row["id"], ReviewDecision(action=ReviewAction.ACCEPT, version=item.version))


async def versions(store: Store, slot: str = KEY) -> State:
    rows = await store.sql(
        """SELECT slot_value, status, contested FROM memories
           WHERE tenant_id = $1 AND scope_id = $2 AND slot LIKE '%' || $3
           ORDER BY valid_from, status = 'active' DESC, stated_at, id""",
        store.tenant,
        USER.id(store.tenant),
        slot,
    )
    return [(row["slot_value"], row["status"], row["contested"]) for row in rows]


async def by_write_of_a_dose(store: Store, value: str, day: float, about: dict[str, Any]) -> None:
    await store.write_all([dose(store, value, day, **about)])


async def by_backfill(store: Store, value: str, day: float, about: dict[str, Any]) -> None:
    """State it as a fact, as before there was a type for it, and let the type take the fact over."""
    given = {"stated_at": NOW + day * DAY, **about}
    payload: dict[str, Any] = {"predicate": "takes", "object": f"metformin {DOSES[value]}", "stateful": False}
    await store.write("fact", about=given, **payload)
    backfills = Backfills(database=store.database, types=store.types, clock=store.pipeline.clock)
    one = await backfills.preview(store.actor, BackfillRequest(type="medication"), wait=True)
    await backfills.commit(store.actor, one.id)
    async for _ in backfills.run(store.tenant, one.id, "worker"):
        pass


ADOPTING = {"write": by_write_of_a_dose, "backfill": by_backfill}


@pytest.mark.parametrize("door", ADOPTING)
@pytest.mark.parametrize("situation", SITUATIONS)
async def test_what_a_type_takes_over_has_the_outcome_of_a_write(store: Store, door: str, situation: str) -> None:
    prepare, (value, day, about), expected = SITUATIONS[situation]
    await prepare(store, dose)
    await ADOPTING[door](store, value, day, about)
    wanted, _ = REASONS.get((door, situation), (expected, ""))
    named = {f"{told}||true": value for value, told in DOSES.items()}
    found = [(named[value.lower()], *rest) for value, *rest in await versions(store, "metformin")]
    assert sorted(found) == sorted(wanted)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("situation", SITUATIONS)
async def test_the_same_situation_has_the_same_outcome_by_every_door(store: Store, door: str, situation: str) -> None:
    prepare, (value, day, about), expected = SITUATIONS[situation]
    await prepare(store)
    await DOORS[door](store, value, day, about)
    wanted, _ = REASONS.get((door, situation), (expected, ""))
    assert sorted(await versions(store)) == sorted(wanted)
    ends = await store.sql(
        """SELECT m.slot_value FROM memories m JOIN memories o ON o.tenant_id = $1 AND o.id = m.supersedes
           WHERE m.tenant_id = $1 AND o.superseded_by IS DISTINCT FROM m.id""",
        store.tenant,
    )
    assert ends == [], "both ends of a chain agree"


async def by_erasure(store: Store, memory: UUID) -> None:
    await store.erasing.memory(store.actor, memory)


async def by_rejection(store: Store, memory: UUID) -> None:
    """Reject a memory that is to be looked at."""
    await store.sql(
        "UPDATE memories SET review_reason = 'asked', review_since = now() WHERE tenant_id = $1 AND id = $2",
        store.tenant,
        memory,
    )
    desk = reviews(store)
    item = (await desk.get(store.actor, memory)).item
    assert item is not None
    await desk.decide(store.actor, memory, ReviewDecision(action=ReviewAction.REJECT, version=item.version))


@pytest.mark.parametrize(
    ("prepare", "left"),
    [
        (taken, []),
        (replaced, [("blue", "superseded", False)]),
        (contested, [("blue", "active", False)]),
        (future, []),
    ],
)
@pytest.mark.parametrize("door", [by_erasure, by_rejection])
async def test_what_a_removal_leaves_is_the_same_by_every_door(
    store: Store,
    door: Callable[[Store, UUID], Awaitable[None]],
    prepare: Callable[[Store], Awaitable[None]],
    left: State,
) -> None:
    await prepare(store)
    [holder] = await store.sql(
        "SELECT id FROM memories WHERE tenant_id = $1 AND slot_value = 'dark' AND status = 'active'", store.tenant
    )
    await door(store, holder["id"])
    assert [one for one in await versions(store) if one[1] != "forgotten"] == left

"""Constraints: kept until they are taken back, and a guard over facts about what they rule (seed 000)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.memory import modals
from app.memory.candidate import Decided, Ending, Outcome
from app.model import Category, LinkKind, Memory, ReviewReason, Scope, ScopeKind, SpeechAct, Status
from tests.stores import Store

NOW = datetime(2026, 5, 9, 12, tzinfo=UTC)
DAY = timedelta(days=1)
RULE = "no external APIs due to compliance requirements"


async def ruled(store: Store, rule: str = RULE, predicate: str = "cannot use", **about: Any) -> Outcome:
    return await store.write("constraint", about={"stated_at": NOW, **about}, predicate=predicate, rule=rule)


async def said(
    store: Store, value: str = "an external API", predicate: str = "uses", days: int = 1, **more: Any
) -> Outcome:
    about = {"stated_at": NOW + days * DAY, **more.pop("about", {})}
    return await store.write("fact", about=about, predicate=predicate, object=value, **more)


async def now(store: Store, outcome: Outcome) -> Memory:
    assert outcome.memory is not None
    return await store.memories.get(store.actor, outcome.memory.id)


def links(memory: Memory) -> list[str]:
    return [str(link["kind"]) for link in memory.links]


@pytest.mark.parametrize(
    ("told", "canonical"),
    [
        ("cannot use", "may-use"),
        ("must not use", "may-use"),
        ("can't use", "may-use"),
        ("is not allowed to use", "may-use"),
        ("may_use", "may-use"),
        ("never uses", "may-use"),
        ("must encrypt", "must-encrypt"),
        ("is required to encrypt", "must-encrypt"),
        ("works at", "works-at"),
        ("must", "must"),
        ("canoes", "canoes"),
    ],
)
def test_the_language_of_rules_has_one_form(told: str, canonical: str) -> None:
    assert modals.predicate(told) == canonical


@pytest.mark.parametrize(
    ("told", "rules"),
    [
        ("uses", {"uses", "may-use", "must-use"}),
        ("employed by", {"works-at", "may-work-at", "must-work-at"}),
        ("carries", {"carries", "may-carry", "must-carry"}),
        ("has access to", {"has-access-to", "may-have-access-to", "must-have-access-to"}),
        ("cannot use", {"may-use"}),
        ("may-use", {"may-use"}),
    ],
)
def test_a_plain_predicate_comes_under_its_rules(told: str, rules: set[str]) -> None:
    assert set(modals.over(told)) == rules


async def test_a_constraint_is_a_control_that_never_fades(store: Store) -> None:
    memory = await now(store, await ruled(store))
    assert memory.category is Category.CONTROL
    assert memory.half_life_days is None
    assert memory.parts.prior == 0.15
    assert memory.content == f"user may use: {RULE}"


@pytest.mark.parametrize("predicate", ["uses", "may-use", "cannot use"])
async def test_a_fact_about_what_is_ruled_conflicts_and_waits_for_a_person(store: Store, predicate: str) -> None:
    constraint = await ruled(store)
    fact = await said(store, predicate=predicate)
    assert constraint.memory is not None
    assert fact.memory is not None
    assert fact.decision is Decided.ADDED
    assert "a constraint rules" in fact.reason
    assert [(one.id, one.change) for one in fact.affected] == [(constraint.memory.id, "conflicts-with")]
    stored = await now(store, fact)
    assert (stored.status, stored.review) == (Status.ACTIVE, ReviewReason.CONSTRAINT)
    assert stored.review_note is not None
    assert RULE not in stored.review_note
    assert links(stored) == [LinkKind.CONFLICTS_WITH]
    standing = await now(store, constraint)
    assert (standing.status, standing.review) == (Status.ACTIVE, None)
    told = await store.memories.history(store.actor, constraint.memory.id)
    assert [event.action for event in told.events] == ["memory.added", "memory.conflicted"]


async def test_a_fact_that_replaces_another_never_replaces_the_constraint(store: Store) -> None:
    before = await said(store, "an internal API", days=-1)
    constraint = await ruled(store)
    fact = await said(store, "an external API")
    assert fact.decision is Decided.SUPERSEDED
    assert (await now(store, before)).status is Status.SUPERSEDED
    assert (await now(store, constraint)).status is Status.ACTIVE
    assert (await now(store, fact)).review is ReviewReason.CONSTRAINT


async def test_what_the_rule_is_not_about_is_left_alone(store: Store) -> None:
    await ruled(store)
    aside = [
        await said(store, predicate="likes"),
        await said(store, subject="Priya"),
        await said(store, stateful=False),
        await said(store, "SOAP", about={"speech_act": SpeechAct.HYPOTHETICAL, "source_strength": 0.9}),
        await store.write("fact", Scope(kind=ScopeKind.USER, user_id="u2"), predicate="uses", object="an external API"),
    ]
    for outcome in aside:
        assert outcome.memory is not None
        assert (outcome.memory.review, links(outcome.memory)) == (None, [])


async def test_the_same_rule_again_merges(store: Store) -> None:
    first = await ruled(store)
    again = await ruled(store, f"{RULE}.", "must not use", stated_at=NOW + DAY)
    assert first.memory is not None
    assert again.memory is not None
    assert (again.decision, again.memory.id) == (Decided.MERGED, first.memory.id)
    assert again.memory.parts.mentions == 2


@pytest.mark.parametrize("days", [-1, 1])
async def test_another_rule_contradicts_and_waits_for_a_person(store: Store, days: int) -> None:
    first = await ruled(store)
    other = await ruled(store, "any API with a contract", "may use", stated_at=NOW + days * DAY)
    assert other.decision is Decided.CONTRADICTED
    assert (await now(store, other)).review is ReviewReason.CONTRADICTION
    assert (await now(store, first)).status is Status.ACTIVE
    both = await said(store, days=2)
    assert len(both.affected) == 2, "both rules stand, so both stand against it"


@pytest.mark.parametrize(("rule", "ending"), [(RULE, Ending()), ("anything", Ending(named=False))])
async def test_only_its_removal_ends_it(store: Store, rule: str, ending: Ending) -> None:
    constraint = await ruled(store)
    over = await ruled(store, rule, stated_at=NOW + DAY, ending=ending)
    assert over.decision is Decided.ENDED
    assert (await now(store, constraint)).status is Status.EXPIRED
    free = await said(store, days=2)
    assert free.memory is not None
    assert (free.affected, free.memory.review) == ((), None)


async def test_a_rule_whose_time_is_over_stands_in_nobodys_way(store: Store) -> None:
    await ruled(store, valid_until=NOW + DAY)
    fact = await said(store, days=2)
    assert fact.affected == ()


async def test_a_batch_sees_the_rule_that_comes_before_the_fact(store: Store) -> None:
    rule = store.candidate("constraint", predicate="must not use", rule=RULE)
    fact = store.candidate("fact", predicate="uses", object="an external API")
    ruling, broken = await store.write_all([rule, fact])
    assert ruling.memory is not None
    assert [(one.id, one.change) for one in broken.affected] == [(ruling.memory.id, "conflicts-with")]

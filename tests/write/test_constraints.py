"""Constraints: kept until they are taken back, and a guard over facts about what they rule (seed 000)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.english import modals
from app.memory.candidate import Ending, WriteDecision, WriteOutcome
from app.model import Category, LinkKind, Memory, MemoryStatus, ReviewReason, Scope, ScopeKind, SpeechAct
from tests.support.stores import Store

NOW = datetime(2026, 5, 9, 12, tzinfo=UTC)
DAY = timedelta(days=1)
RULE = "no external APIs due to compliance requirements"


async def ruled(store: Store, rule: str = RULE, predicate: str = "cannot use", **about: Any) -> WriteOutcome:
    return await store.write("constraint", about={"stated_at": NOW, **about}, predicate=predicate, rule=rule)


async def said(
    store: Store, value: str = "an external API", predicate: str = "uses", days: int = 1, **more: Any
) -> WriteOutcome:
    about = {"stated_at": NOW + days * DAY, **more.pop("about", {})}
    return await store.write("fact", about=about, predicate=predicate, object=value, **more)


async def now(store: Store, outcome: WriteOutcome) -> Memory:
    assert outcome.memory is not None
    return await store.memories.get(store.actor, outcome.memory.id)


def links(memory: Memory) -> list[str]:
    return [str(link["kind"]) for link in memory.links]


@pytest.mark.parametrize(
    ("told", "canonical"),
    [
        ("cannot use", "may-not-use"),
        ("must not use", "may-not-use"),
        ("can't use", "may-not-use"),
        ("is not allowed to use", "may-not-use"),
        ("is forbidden to enter", "may-not-enter"),
        ("never uses", "may-not-use"),
        ("may not use", "may-not-use"),
        ("may-not-use", "may-not-use"),
        ("may_use", "may-use"),
        ("is allowed to use", "may-use"),
        ("must encrypt", "must-encrypt"),
        ("is required to encrypt", "must-encrypt"),
        ("isn't allowed to use", "may-not-use"),
        ("isn\u2019t permitted to use", "may-not-use"),
        ("is not supposed to use", "may-not-use"),
        ("should never use", "may-not-use"),
        ("unable to use", "may-not-use"),
        ("is not able to use", "may-not-use"),
        ("is banned from using", "may-not-use"),
        ("am allowed to use", "may-use"),
        ("cant use", "may-not-use"),
        ("works at", "works-at"),
        ("does not use", "does-not-use"),
        ("must", "must"),
        ("canoes", "canoes"),
    ],
)
def test_the_language_of_rules_has_one_form(told: str, canonical: str) -> None:
    assert modals.predicate(told) == canonical


REFUSALS = ("do not use", "don't use", "does not use", "doesn\u2019t use", "won't use", "will not use", "dont use")


@pytest.mark.parametrize("told", [*REFUSALS, "must not use"])
def test_what_a_rule_refuses_it_forbids(told: str) -> None:
    assert modals.of_rule(told) == "may-not-use"


@pytest.mark.parametrize("told", ["does not have to use", "doesn't need", "don't require", "does not apply to"])
def test_what_need_not_be_is_not_forbidden(told: str) -> None:
    assert not modals.forbids(modals.of_rule(told))


@pytest.mark.parametrize(
    ("told", "rules"),
    [
        ("uses", {"uses", "may-use", "may-not-use", "must-use"}),
        ("employed by", {"works-at", "may-work-at", "may-not-work-at", "must-work-at"}),
        ("carries", {"carries", "may-carry", "may-not-carry", "must-carry"}),
        ("has access to", {"has-access-to", "may-have-access-to", "may-not-have-access-to", "must-have-access-to"}),
        ("cannot use", {"may-not-use", "may-use", "must-use"}),
        ("may-use", {"may-use", "may-not-use"}),
        ("must use", {"must-use", "may-not-use"}),
    ],
)
def test_a_plain_predicate_comes_under_its_rules(told: str, rules: set[str]) -> None:
    assert set(modals.over(told)) == rules


@pytest.mark.parametrize(
    ("predicate", "rule", "content"),
    [
        ("must not eat", "peanuts", "user may not eat: peanuts"),
        ("is forbidden to enter", "the lab", "user may not enter: the lab"),
        ("must not use", "not approved tools", "user may not use: not approved tools"),
        ("cannot use", "APIs without a contract", "user may not use: APIs without a contract"),
        ("cannot use", "no external APIs", "user may use: no external APIs"),
        ("may use", "nothing from AWS", "user may use: nothing from AWS"),
    ],
)
async def test_a_prohibition_is_told_as_one(store: Store, predicate: str, rule: str, content: str) -> None:
    memory = await now(store, await ruled(store, rule, predicate))
    assert memory.content == content
    assert memory.payload["rule"] == rule
    assert str(memory.payload["predicate"]).startswith("may-not-")


@pytest.mark.parametrize("rule", ["any API with a contract", "NoSQL databases", "no restrictions"])
async def test_a_permission_stays_one(store: Store, rule: str) -> None:
    memory = await now(store, await ruled(store, rule, "may use"))
    assert (memory.payload["predicate"], memory.content) == ("may-use", f"user may use: {rule}")


async def test_what_is_forbidden_adds_up(store: Store) -> None:
    rules = [await ruled(store, "Redis"), await ruled(store, "MongoDB", "must not use", stated_at=NOW + DAY)]
    assert [one.decision for one in rules] == [WriteDecision.ADDED, WriteDecision.ADDED]
    for one in rules:
        standing = await now(store, one)
        assert (standing.status, standing.contested, standing.review) == (MemoryStatus.ACTIVE, False, None)
    broken = await said(store, "Redis", days=2)
    assert len(broken.affected) == 2
    assert (await now(store, broken)).review is ReviewReason.CONSTRAINT


async def test_the_removal_of_one_prohibition_leaves_the_others(store: Store) -> None:
    redis, mongo, allowed = (
        await ruled(store, "Redis"),
        await ruled(store, "MongoDB"),
        await ruled(store, "Postgres", "may use"),
    )
    over = await ruled(store, "Redis", "must not use", stated_at=NOW + DAY, ending=Ending())
    assert over.decision is WriteDecision.ENDED
    left = [(await now(store, one)).status for one in (redis, mongo, allowed)]
    assert left == [MemoryStatus.EXPIRED, MemoryStatus.ACTIVE, MemoryStatus.ACTIVE]
    all_over = await ruled(store, "anything", stated_at=NOW + 2 * DAY, ending=Ending(named=False))
    assert all_over.decision is WriteDecision.ENDED
    assert [(await now(store, one)).status for one in (mongo, allowed)] == [MemoryStatus.EXPIRED, MemoryStatus.ACTIVE]


@pytest.mark.parametrize("allowing", ["may use", "must use"])
@pytest.mark.parametrize("order", [1, -1])
async def test_a_rule_and_its_opposite_both_stand_and_wait_for_a_person(
    store: Store, allowing: str, order: int
) -> None:
    told = [("Redis", "must not use"), ("Redis", allowing)]
    first, second = [await ruled(store, rule, predicate) for rule, predicate in told[::order]]
    assert first.memory is not None
    assert [(one.id, one.change) for one in second.affected] == [(first.memory.id, "conflicts-with")]
    assert (await now(store, second)).review is ReviewReason.CONSTRAINT
    assert (await now(store, first)).status is MemoryStatus.ACTIVE


async def test_a_batch_sees_the_rule_that_comes_before_its_opposite(store: Store) -> None:
    rules = [
        store.candidate("constraint", predicate=predicate, rule="Redis")
        for predicate in ("must not use", "may use", "cannot use")
    ]
    _, allowed, again = await store.write_all(rules)
    assert [one.change for one in allowed.affected] == ["conflicts-with"]
    assert again.decision is WriteDecision.MERGED


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
    assert fact.decision is WriteDecision.ADDED
    assert "a constraint rules" in fact.reason
    assert [(one.id, one.change) for one in fact.affected] == [(constraint.memory.id, "conflicts-with")]
    stored = await now(store, fact)
    assert (stored.status, stored.review) == (MemoryStatus.ACTIVE, ReviewReason.CONSTRAINT)
    assert stored.review_note is not None
    assert RULE not in stored.review_note
    assert links(stored) == [LinkKind.CONFLICTS_WITH]
    standing = await now(store, constraint)
    assert (standing.status, standing.review) == (MemoryStatus.ACTIVE, None)
    told = await store.memories.history(store.actor, constraint.memory.id)
    assert [event.action for event in told.events] == ["memory.added", "memory.conflicted"]


@pytest.mark.parametrize(
    "predicate",
    ["isn't allowed to use", "do not use", "don't use", "should never use", "won't use", "unable to use"],
)
async def test_a_rule_guards_however_it_forbids(store: Store, predicate: str) -> None:
    constraint = await ruled(store, predicate=predicate)
    fact = await said(store)
    assert constraint.memory is not None
    assert [(one.id, one.change) for one in fact.affected] == [(constraint.memory.id, "conflicts-with")]


async def test_a_rule_that_was_kept_under_its_own_words_can_be_ended_by_them(store: Store) -> None:
    constraint = await ruled(store, predicate="don't use")
    await store.sql(
        """UPDATE memories SET payload = payload || '{"predicate": "don''t-use"}',
               slot = replace(slot, 'may-not-use', 'don''t-use') WHERE tenant_id = $1""",
        store.tenant,
    )
    over = await ruled(store, predicate="don't use", stated_at=NOW + DAY, ending=Ending())
    assert over.decision is WriteDecision.ENDED
    assert (await now(store, constraint)).status is MemoryStatus.EXPIRED


async def test_a_fact_that_replaces_another_never_replaces_the_constraint(store: Store) -> None:
    before = await said(store, "an internal API", days=-1, stateful=True)
    constraint = await ruled(store)
    fact = await said(store, "an external API", stateful=True)
    assert fact.decision is WriteDecision.SUPERSEDED
    assert (await now(store, before)).status is MemoryStatus.SUPERSEDED
    assert (await now(store, constraint)).status is MemoryStatus.ACTIVE
    assert (await now(store, fact)).review is ReviewReason.CONSTRAINT


async def test_one_of_several_values_breaks_the_rule_as_well(store: Store) -> None:
    await ruled(store)
    assert (await now(store, await said(store, stateful=False))).review is ReviewReason.CONSTRAINT


async def test_what_the_rule_is_not_about_is_left_alone(store: Store) -> None:
    await ruled(store)
    aside = [
        await said(store, predicate="likes"),
        await said(store, subject="Priya"),
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
    assert (again.decision, again.memory.id) == (WriteDecision.MERGED, first.memory.id)
    assert again.memory.parts.mentions == 2


@pytest.mark.parametrize("days", [-1, 1])
async def test_another_permission_contradicts_and_waits_for_a_person(store: Store, days: int) -> None:
    first = await ruled(store, "5 GB of memory", "may use")
    other = await ruled(store, "10 GB of memory", "may use", stated_at=NOW + days * DAY)
    assert other.decision is WriteDecision.CONTRADICTED
    assert (await now(store, other)).review is ReviewReason.CONTRADICTION
    assert (await now(store, first)).status is MemoryStatus.ACTIVE
    both = await said(store, days=2)
    assert len(both.affected) == 2, "both rules stand, so both stand against it"


@pytest.mark.parametrize(("rule", "ending"), [(RULE, Ending()), ("anything", Ending(named=False))])
async def test_only_its_removal_ends_it(store: Store, rule: str, ending: Ending) -> None:
    constraint = await ruled(store)
    over = await ruled(store, rule, stated_at=NOW + DAY, ending=ending)
    assert over.decision is WriteDecision.ENDED
    assert (await now(store, constraint)).status is MemoryStatus.EXPIRED
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

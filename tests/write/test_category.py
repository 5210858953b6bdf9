"""How what is extracted fades by what it says: an extractor proposes, the rules decide."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from app.memory.extraction import Proposal, Role, Turn
from app.memory.registry import discover
from app.memory.vocabulary import IDENTITY_PREDICATES, PASSING_PREDICATES, SKILL_PREDICATES, predicate
from app.model import Category, Scope, ScopeKind, SpeechAct
from app.providers.proposals import ProposalReader
from app.write.candidates import ProposalTrust, candidate

TYPES = discover()
USER = Scope(kind=ScopeKind.USER, user_id="u1")
LASTING = {Category.CORE, Category.PROCEDURAL}


def made(
    proposal: Proposal,
    *,
    scope: Scope = USER,
    role: Role = Role.USER,
    speaker: str | None = None,
    act: SpeechAct = SpeechAct.ASSERTION,
) -> Category | None:
    turn = Turn(
        id=uuid4(),
        scope=scope,
        role=role,
        content="said",
        occurred_at=datetime(2026, 5, 9, tzinfo=UTC),
        speaker=speaker,
    )
    standing = ProposalTrust(source=0.9, grounding=1.0, speech_act=act)
    return candidate(proposal, turn, standing, TYPES, "test").nature


def fact(predicate: str, value: str = "something", subject: str = "user", said: Category | None = None) -> Proposal:
    payload = {"subject": subject, "predicate": predicate, "object": value}
    return Proposal(type="fact", payload=payload, quote="said", category=said)


@pytest.mark.parametrize("predicate", sorted(IDENTITY_PREDICATES))
@pytest.mark.parametrize("said", [None, *Category])
def test_identity_is_core_whatever_the_extractor_says(predicate: str, said: Category | None) -> None:
    assert made(fact(predicate, said=said)) is Category.CORE


@pytest.mark.parametrize("predicate", sorted(PASSING_PREDICATES))
@pytest.mark.parametrize("said", [None, *Category])
def test_employment_is_never_kept_for_good(predicate: str, said: Category | None) -> None:
    assert made(fact(predicate, "Volkswagen", said=said)) is None


@pytest.mark.parametrize("said", [None, *Category])
def test_of_what_the_type_leaves_open_the_extractor_may_say_that_it_lasts(said: Category | None) -> None:
    assert made(fact("is-a-twin-of", "Clara", said=said)) is (said if said in LASTING else None)


@pytest.mark.parametrize(
    "value",
    [
        "every morning at 6am",
        "yoga each evening",
        "tea daily",
        "twice a week",
        "on every other Sunday",
        "every weekday",
    ],
)
def test_what_is_done_again_and_again_is_a_routine(value: str) -> None:
    assert made(fact("does", value)) is Category.PROCEDURAL


@pytest.mark.parametrize("value", ["everyday shoes", "a weekday ticket to Rome", "every single book of his", "a dog"])
def test_what_only_sounds_like_a_routine_is_none(value: str) -> None:
    assert made(fact("owns", value)) is None


@pytest.mark.parametrize("said", [None, Category.CORE])
@pytest.mark.parametrize("act", [act for act in SpeechAct if act is not SpeechAct.ASSERTION])
def test_only_what_is_asserted_lasts(act: SpeechAct, said: Category | None) -> None:
    assert made(fact("has-name", "Alex", said=said), act=act) is None


def test_only_the_user_of_the_scope_has_an_identity_there() -> None:
    name = fact("has-name", "Alex")
    assert made(name) is Category.CORE
    assert made(name, role=Role.ASSISTANT) is Category.CORE
    assert made(fact("has-name", "Ana", subject="Ana"), speaker="Ana") is Category.CORE
    assert made(fact("has-name", "Bo", subject="Bo"), speaker="Bo", role=Role.ASSISTANT) is None
    assert made(fact("lives-in", "Rome", subject="Priya", said=Category.CORE)) is None
    assert made(name, scope=Scope(kind=ScopeKind.GLOBAL)) is None
    assert made(name, scope=Scope(kind=ScopeKind.AGENT, agent_id="a1")) is None
    assert made(name, scope=Scope(kind=ScopeKind.AGENT, agent_id="a1", user_id="u1")) is Category.CORE


@pytest.mark.parametrize("spec", [one for one in TYPES if one.nature is None], ids=lambda one: one.name)
def test_a_type_that_says_nothing_of_it_keeps_its_own_half_life(spec: object) -> None:
    payload = spec.examples[0].payloads[0]  # type: ignore[attr-defined]
    for said in Category:
        assert made(Proposal(type=spec.name, payload=payload, quote="said", category=said)) is None  # type: ignore[attr-defined]


def test_the_vocabularies_are_canonical_and_apart() -> None:
    groups = (IDENTITY_PREDICATES, PASSING_PREDICATES, SKILL_PREDICATES)
    for group in groups:
        assert {predicate(one) for one in group} == group
    assert len(frozenset().union(*groups)) == sum(map(len, groups))


@pytest.mark.parametrize(
    ("answered", "read"),
    [("core", "core"), (" Procedural ", "procedural"), (None, None), ("", None), ("forever", None), (7, None),
     ("control", None)],
)  # fmt: skip
def test_a_models_category_is_read_and_costs_no_repair(answered: object, read: str | None) -> None:
    memory = {
        "type": "fact",
        "payload": {"subject": "user", "predicate": "has-name", "object": "Alex", "stateful": None},
        "quote": "My name is Alex",
        "speech_act": "assertion",
        "confidence": 0.9,
        "importance": 0.9,
        "topic": None,
        "category": answered,
    }
    reading = ProposalReader(TYPES).read(json.dumps({"memories": [memory]}))
    assert reading.faults == ()
    assert [one.category for one in reading.proposals] == [read]

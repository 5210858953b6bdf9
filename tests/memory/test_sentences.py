"""The sentences of all types read well, whatever the words of their fields are."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.memory.registry import discover

TYPES = discover()


def sentence(kind: str, **payload: Any) -> str:
    return TYPES.get(kind).payload.model_validate(payload).render()


@pytest.mark.parametrize(
    ("kind", "payload", "expected"),
    [
        ("fact", {"predicate": "shoe-size", "object": "42"}, "user's shoe size is 42"),
        ("fact", {"predicate": "works-at", "object": "Brightwater Inc."}, "user works at Brightwater Inc."),
        ("fact", {"predicate": "lives-in", "object": "in Porto"}, "user lives in Porto"),
        ("fact", {"subject": "Kenya", "predicate": "capital", "object": "Nairobi"}, "Kenya's capital is Nairobi"),
        (
            "relation",
            {"from_entity": "Olu", "relation_type": "member-of", "to_entity": "the board", "since": "2026-03-01"},
            "Olu is member of the board since 2026-03-01",
        ),
        ("entity", {"canonical_name": "Brightwater", "entity_type": "Organization"}, "Brightwater is an organization"),
        ("entity", {"canonical_name": "Greenpeace", "entity_type": "NGO"}, "Greenpeace is an NGO"),
        ("entity", {"canonical_name": "Zed", "entity_type": "unknown", "aliases": ["Z"]}, "Zed, also known as Z"),
        (
            "preference",
            {"preference_key": "favorite.sport", "preference_value": "judo"},
            "user's favorite sport is judo",
        ),
        (
            "preference",
            {"preference_key": "drinks.kind", "preference_value": "prefers tea."},
            "user prefers tea for drinks",
        ),
        (
            "decision",
            {
                "subject": "the queue",
                "decision": "Use Postgres.",
                "rationale": "because it is there",
                "alternatives": ["Kafka"],
            },
            "decided on the queue: Use Postgres, rather than Kafka, because it is there",
        ),
        (
            "decision",
            {"subject": "hosting", "decision": "Acme Inc.", "rationale": "to save money"},
            "decided on hosting: Acme Inc., to save money",
        ),
        ("plan", {"plan": "to visit Rome", "ttl": "3d"}, "user plans to visit Rome"),
        ("plan", {"plan": "a trip to Rome", "ttl": "3d"}, "user plans a trip to Rome"),
        ("plan", {"plan": "visit Rome", "ttl": "3d"}, "user plans to visit Rome"),
        ("transient_state", {"state": "is tired"}, "user is tired"),
        ("transient_state", {"state": "has a cold"}, "user has a cold"),
        ("transient_state", {"state": "tired"}, "user is tired"),
        (
            "event",
            {"event_description": "Olu met Ann.", "event_at": "2026-03-01"},
            "Olu met Ann, on 2026-03-01",
        ),
        (
            "event",
            {"event_description": "Olu joined Acme Inc.", "event_at": "2026-03-01"},
            "Olu joined Acme Inc., on 2026-03-01",
        ),
        (
            "medication",
            {"medication_name": "aspirin", "prescribed_by": "by Dr. Vik"},
            "user takes aspirin, prescribed by Dr. Vik",
        ),
        (
            "procedural",
            {"content": "restart it", "trigger_conditions": ["when it hangs"], "steps": ["1. stop", "start"]},
            "when it hangs: restart it (1. stop; 2. start)",
        ),
    ],
)
def test_a_sentence_reads_well(kind: str, payload: dict[str, Any], expected: str) -> None:
    payload.pop("ttl", None)
    assert sentence(kind, **payload) == expected


SMALL = st.sampled_from(["because", "to", "in", "at", "is", "for", "when", "by", "prefers", "takes", "plans", "that"])
VALUE = st.builds(lambda first, rest: f"{first} {rest}", SMALL, st.sampled_from(["amber", "cobalt 7", "the ochre"]))
_DOUBLED = re.compile(r"\b(\w+)\W+\1\b", re.IGNORECASE)

FIELDS: dict[str, tuple[dict[str, str], tuple[str, ...]]] = {
    "fact": ({"predicate": "lives-in"}, ("object",)),
    "preference": ({"preference_key": "kitchen.paint"}, ("preference_value",)),
    "decision": ({"subject": "paint", "decision": "x"}, ("decision", "rationale")),
    "plan": ({"plan": "x"}, ("plan",)),
    "transient_state": ({"state": "x"}, ("state",)),
    "medication": ({"medication_name": "aspirin"}, ("prescribed_by",)),
}


@pytest.mark.parametrize("kind", FIELDS)
@given(value=VALUE)
def test_no_word_is_doubled_at_a_join(kind: str, value: str) -> None:
    given_fields, told = FIELDS[kind]
    for field in told:
        assert _DOUBLED.search(sentence(kind, **{**given_fields, field: value})) is None


def test_every_example_of_a_type_has_no_doubled_word_and_no_article_before_a_wrong_sound() -> None:
    for kind in TYPES:
        for example in kind.examples:
            for payload in example.payloads:
                text = kind.payload.model_validate(dict(payload)).render()
                assert _DOUBLED.search(text) is None, text
                assert re.search(r"\ba [aeio]", text) is None, text

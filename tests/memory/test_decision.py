"""Decisions: one at a time on each subject, with their reasons."""

from __future__ import annotations

import pytest

from app.memory.registry import discover
from app.memory.types.decision import Decision
from app.memory.versions import SlotClaim, SlotVerdict
from tests.english.rules.said import WEDNESDAY

TYPE = discover().get("decision")


def decided(decision: str, subject: str = "database", **fields: object) -> Decision:
    return Decision.model_validate({"subject": subject, "decision": decision, **fields})


def test_a_decision_competes_with_others_on_its_subject() -> None:
    assert decided("PostgreSQL").slot({}) == decided("mysql", "Database").slot({})
    assert decided("PostgreSQL").slot({}) != decided("PostgreSQL", "cache").slot({})
    assert decided("PostgreSQL").value({}) == decided("postgresql").value({})


def test_a_later_decision_supersedes() -> None:
    old, new = (SlotClaim(value=value, stated_at=WEDNESDAY, confidence=0.7) for value in ("postgresql", "mysql"))
    assert TYPE.on_conflict(old, new) is SlotVerdict.SUPERSEDE


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({}, "decided on database: PostgreSQL"),
        ({"alternatives": ["MySQL", "SQLite"]}, "decided on database: PostgreSQL, rather than MySQL, SQLite"),
        ({"rationale": "it has RLS"}, "decided on database: PostgreSQL, because it has RLS"),
        (
            {"subject": "adopt a dog", "decision": "adopt a dog from the shelter"},
            "decided: adopt a dog from the shelter",
        ),
    ],
)
def test_it_says_what_was_decided_and_why(fields: dict[str, object], sentence: str) -> None:
    assert Decision.model_validate({"subject": "database", "decision": "PostgreSQL", **fields}).render() == sentence


def test_what_it_names_stays_a_literal_unless_known() -> None:
    assert [(one.role, one.name, one.creates) for one in decided("PostgreSQL").mentions()] == [
        ("subject", "database", False),
        ("decision", "PostgreSQL", False),
    ]
    assert [one.role for one in decided("x" * 201).mentions()] == ["subject"]

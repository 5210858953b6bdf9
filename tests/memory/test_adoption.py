"""What a type adopts by its rule: sure, or nothing; false ones are worse than misses."""

from __future__ import annotations

from typing import Any

import pytest

from app.memory.registry import discover
from app.memory.spec import AdoptedPayload, StoredBelief

TYPES = discover()


def adopted(kind: str, predicate: str, told: str) -> AdoptedPayload | None:
    fact = TYPES.get("fact").payload.model_validate({"predicate": predicate, "object": told})
    payload = fact.model_dump(mode="json", by_alias=True)
    adopts = TYPES.get(kind).adopts
    assert adopts is not None
    return adopts.rule(StoredBelief(type="fact", payload=payload, content=fact.render()))


def told_by(found: AdoptedPayload | None, *fields: str) -> tuple[Any, ...]:
    assert found is not None
    return tuple(getattr(found.payload, name) for name in fields)


@pytest.mark.parametrize(
    ("predicate", "told", "name", "dosage", "frequency"),
    [
        ("takes", "metformin 500 mg daily", "metformin", "500 mg", "daily"),
        ("takes", "metformin 500mg twice a day for diabetes", "metformin", "500 mg", "twice a day"),
        ("prescribed", "lisinopril 10 mg", "lisinopril", "10 mg", None),
        ("takes", "500 mg of ibuprofen as needed", "ibuprofen", "500 mg", "as needed"),
        ("takes-metformin", "500 mg twice daily", "metformin", "500 mg", "twice daily"),
        ("metformin-dose", "1000 mg", "metformin", "1000 mg", None),
        ("on-medication", "levothyroxine 50 mcg every morning", "levothyroxine", "50 mcg", "every morning"),
        ("takes", "metformin", "metformin", None, None),
        ("is-on", "insulin", "insulin", None, None),
        ("takes", "vitamin D 1000 IU", "vitamin D", "1000 IU", None),
        ("takes", "metformin 1000 mg twice a day now", "metformin", "1000 mg", "twice a day"),
        ("takes", "metformin 1000 mg at the moment", "metformin", "1000 mg", None),
    ],
)
def test_medicines(predicate: str, told: str, name: str, dosage: str | None, frequency: str | None) -> None:
    found = adopted("medication", predicate, told)
    assert told_by(found, "medication_name", "dosage", "frequency") == (name, dosage, frequency)


def test_who_prescribed_it_is_kept() -> None:
    found = adopted("medication", "prescribed", "lisinopril 10 mg, prescribed by Dr. Patel")
    assert told_by(found, "medication_name", "prescribed_by") == ("lisinopril", "Dr. Patel")


@pytest.mark.parametrize(
    ("predicate", "told"),
    [
        ("takes", "the bus daily"),
        ("takes", "2 tablets to school"),
        ("takes", "20 ml coffee"),
        ("takes", "100 mg photos"),
        ("takes", "metformin and lisinopril"),
        ("takes", "no metformin 500 mg"),
        ("takes", "10 mg"),
        ("takes", "two ibuprofen 400 mg tablets"),
        ("takes", "sugar in coffee"),
        ("is-on", "vacation"),
        ("prescribed", "rest"),
        ("medication", "something for pain"),
        ("used-to-take", "metformin 500 mg"),
        ("might-take", "metformin 500 mg"),
        ("takes", "metformin 500 mg if it hurts"),
        ("stopped-taking", "metformin 500 mg"),
        ("allergic-to", "amoxicillin"),
        ("works-at", "insulin 500 mg"),
    ],
)
def test_what_is_no_medicine_or_not_surely_stays(predicate: str, told: str) -> None:
    assert adopted("medication", predicate, told) is None


@pytest.mark.parametrize(
    ("predicate", "told", "about"),
    [
        ("cannot-use", "external APIs due to compliance requirements", "may-not-use"),
        ("cannot", "use external APIs due to compliance requirements", "may-not-use"),
        ("must-not-share", "customer data", "may-not-share"),
        ("is-required-to-encrypt", "all backups", "must-encrypt"),
        ("must-encrypt", "all backups", "must-encrypt"),
        ("prohibited", "using external APIs", "may-not-use"),
        ("is-prohibited-from-exporting", "source code", "may-not-export"),
        ("rule", "must never deploy on Fridays", "may-not-deploy"),
        ("policy", "is not allowed to store card numbers", "may-not-store"),
    ],
)
def test_rules(predicate: str, told: str, about: str) -> None:
    found = adopted("constraint", predicate, told)
    said, rule = told_by(found, "predicate", "rule")
    assert said == about
    assert told.endswith(rule)


@pytest.mark.parametrize(
    ("predicate", "told"),
    [
        ("cannot-swim", "well"),
        ("cannot-find", "the keys"),
        ("must-finish", "the report by Friday"),
        ("must-not-forget", "the milk tomorrow"),
        ("has-to", "go to the dentist"),
        ("allergic-to", "peanuts"),
        ("uses", "external APIs for compliance"),
        ("policy", "health insurance"),
        ("may-use", "the car if it rains"),
    ],
)
def test_what_is_a_state_or_a_task_stays(predicate: str, told: str) -> None:
    assert adopted("constraint", predicate, told) is None

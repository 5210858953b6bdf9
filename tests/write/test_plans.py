"""Plans are ended by what carries them out and replaced by what moves them, also without a reference."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from app.memory.extraction import KnownBelief, Proposal, Role, Turn
from app.memory.registry import discover
from app.write.plans import with_plans
from tests.support.stores import USER

TYPES = discover()
TOLD = datetime(2026, 3, 3, 9, tzinfo=UTC)
LATER = datetime(2026, 8, 20, 9, tzinfo=UTC)


def plan(what: str, **fields: Any) -> KnownBelief:
    return KnownBelief(type="plan", fields={"subject": "user", "plan": what, **fields}, id=uuid4(), said=TOLD)


def turn(content: str) -> Turn:
    return Turn(id=uuid4(), scope=USER, role=Role.USER, content=content, occurred_at=LATER)


def meets(stored: KnownBelief, kind: str, payload: dict[str, Any], quote: str = "", **more: Any) -> bool:
    told = Proposal(type=kind, payload=payload, quote=quote, **more)
    found = with_plans(told, [stored], turn(quote or next(iter(payload.values()))), TYPES)
    return stored.id in {*found.retires, *found.replaces}


@pytest.mark.parametrize(
    ("planned", "happened", "at"),
    [
        ("build a tree house for the boys", "user built a tree house for the boys", None),
        ("hike the Kungsleden in August", "user hiked the Kungsleden", "2026-08-11"),
        ("elect the new board in June 2026", "user has now elected the new board", "2026-06-12"),
        ("visiter le musée de Lodève", "user visita le musée de Lodève", None),
    ],
)
def test_what_happened_ends_its_plan(planned: str, happened: str, at: str | None) -> None:
    event = {"event_description": happened, "event_at": at}
    assert meets(plan(planned), "event", event)


@pytest.mark.parametrize(
    ("planned", "happened", "at"),
    [
        ("build a tree house", "Tom built a tree house", None),
        ("build a tree house", "user did not build a tree house", None),
        ("build a tree house", "user almost built a tree house", None),
        ("build a tree house", "user sold the tree house", None),
        ("hike the Kungsleden in August", "user hiked the Kungsleden", "2026-04-02"),
        ("hike the Kungsleden in August", "user hiked the Kungsleden", "2019-08-02"),
        ("hike the Kungsleden", "user will hike the Kungsleden", "2026-10-02"),
        ("swim", "user swam", None),
    ],
)
def test_something_else_leaves_the_plan(planned: str, happened: str, at: str | None) -> None:
    assert not meets(plan(planned), "event", {"event_description": happened, "event_at": at})


def test_a_plan_is_replaced_where_the_turn_names_the_time_it_was_for() -> None:
    stored = plan("meet the notary on 14 September 2026")
    moved = {"subject": "user", "plan": "meet the notary on 2 October 2026"}
    assert meets(stored, "plan", moved, "The notary: not on 14 September 2026 but on 2 October 2026.")
    assert not meets(stored, "plan", moved, "I meet the notary on 2 October 2026.")
    sentence = "The meeting with the notary moved from 14 September to 2 October 2026."
    assert meets(stored, "plan", moved, "I meet the notary on 2 October 2026 now.", sentence=sentence)
    assert not meets(stored, "plan", {**moved, "subject": "Ilse"}, sentence)


def test_a_plan_is_called_off_by_its_words() -> None:
    stored = plan("open a second workshop in Graz")
    called_off = {"subject": "user", "plan": "opening the workshop in Graz"}
    assert meets(stored, "plan", called_off, "No second workshop in Graz after all.", ends=True)
    assert not meets(stored, "plan", {**called_off, "plan": "opening the workshop in Wels"}, "No Wels.", ends=True)


def test_two_plans_that_fit_are_left_to_a_reference() -> None:
    stored = [plan("paint the boat"), plan("paint the boat in July")]
    told = Proposal(type="event", payload={"event_description": "user painted the boat"}, quote="I painted the boat.")
    assert with_plans(told, stored, turn("I painted the boat."), TYPES) == told


def test_an_event_that_was_to_come_is_a_plan() -> None:
    fields = {"event_description": "user is going to run the Riga marathon", "event_at": "2026-05-16"}
    stored = KnownBelief(type="event", fields=fields, id=uuid4(), said=TOLD)
    assert meets(stored, "event", {"event_description": "user ran the Riga marathon", "event_at": "2026-05-16"})
    assert not meets(stored, "event", {"event_description": "user ran the Riga marathon", "event_at": "2025-05-16"})

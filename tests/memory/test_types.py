"""What every memory type keeps to, those that tenants define too; a new file is tested the moment it exists."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5
from zoneinfo import ZoneInfo

import pytest
from pydantic import ValidationError

from app.errors import InvalidInput
from app.memory import types
from app.memory.registry import discover
from app.memory.spec import MemoryType, Payload, Refs
from app.memory.tenant_types.compiler import compile_definition
from app.memory.tenant_types.definition import Definition
from app.memory.types.event import Event
from app.model import EntityRef, Precision
from tests.support.tenant_types import DEFINITIONS

BUILT_IN = discover()
TYPES = BUILT_IN.with_own((compile_definition(Definition.model_validate(one)) for one in DEFINITIONS), 1)
EXAMPLES = [
    pytest.param(one, payload, id=f"{one.name}-{place}")
    for one in TYPES
    for place, example in enumerate(one.examples)
    for payload in example.payloads
]
every_type = pytest.mark.parametrize("one", [pytest.param(one, id=one.name) for one in TYPES])
every_example = pytest.mark.parametrize(("one", "given"), EXAMPLES)


def refs_of(payload: Payload) -> Refs:
    return {
        mention.role: EntityRef(
            id=uuid5(NAMESPACE_URL, mention.name.casefold()), name=mention.name, entity_type="unknown"
        )
        for mention in payload.mentions()
    }


def test_every_file_of_the_folder_is_a_type() -> None:
    files = {path.stem for path in Path(types.__file__).parent.glob("*.py")} - {"__init__"}
    assert files == set(BUILT_IN.by_name)


@every_type
def test_a_type_explains_itself(one: MemoryType) -> None:
    assert one.definition.endswith(".")
    assert one.examples
    assert 0 < one.prior <= 0.2
    assert one.group in {"Facts", "Preferences", "Events", "Entities", "Relations", "Recent"}


@every_example
def test_an_example_is_a_valid_payload(one: MemoryType, given: Mapping[str, object]) -> None:
    payload = one.payload.model_validate(given)
    assert one.payload.model_validate(payload.model_dump(mode="json", by_alias=True)) == payload


@every_example
def test_a_payload_renders_as_one_self_contained_line(one: MemoryType, given: Mapping[str, object]) -> None:
    rendered = one.payload.model_validate(given).render()
    assert rendered.strip()
    assert "None" not in rendered
    assert "\n" not in rendered


@every_example
def test_slot_and_value_depend_on_the_payload_alone(one: MemoryType, given: Mapping[str, object]) -> None:
    first, second = one.payload.model_validate(given), one.payload.model_validate(given)
    assert first.slot(refs_of(first)) == second.slot(refs_of(second))
    assert first.value(refs_of(first)) == second.value(refs_of(second))
    assert first.distinct_by() == second.distinct_by()


@every_example
def test_roles_of_mentions_are_distinct_and_edges_use_them(one: MemoryType, given: Mapping[str, object]) -> None:
    payload = one.payload.model_validate(given)
    roles = [mention.role for mention in payload.mentions()]
    assert len(roles) == len(set(roles))
    edge = payload.edge()
    if edge is not None:
        assert {edge.from_role, edge.to_role} <= set(roles)


@every_example
def test_an_unknown_field_is_refused_by_name(one: MemoryType, given: Mapping[str, object]) -> None:
    with pytest.raises(ValidationError, match="no_such_field"):
        one.payload.model_validate({**given, "no_such_field": 1})


@every_example
def test_text_with_nul_is_refused(one: MemoryType, given: Mapping[str, object]) -> None:
    field = next(name for name, value in given.items() if isinstance(value, str) and not re.match(r"\d{4}-", value))
    with pytest.raises(ValidationError):
        one.payload.model_validate({**given, field: "a\x00b"})


def test_an_unknown_type_names_those_there_are() -> None:
    with pytest.raises(InvalidInput, match="preference"):
        TYPES.get("prefrence")


@pytest.mark.parametrize("predicate", ["works at", "works_at", "Works-At", "employed by", "works for"])
def test_predicates_have_one_form(predicate: str) -> None:
    fact = TYPES.get("fact").payload.model_validate({"predicate": predicate, "object": "Volkswagen"})
    assert fact.slot(refs_of(fact)) == f"{refs_of(fact)['subject'].id}|works-at"


@pytest.mark.parametrize(
    ("said", "canonical"),
    [
        ("reports to", "reports-to"),
        ("works under", "reports-to"),
        ("is managed by", "reports-to"),
        ("leads", "manages"),
    ],
)
def test_relation_synonyms_map_onto_the_vocabulary(said: str, canonical: str) -> None:
    relation = TYPES.get("relation").payload.model_validate(
        {"from_entity": "Sarah", "relation_type": said, "to_entity": "Priya"}
    )
    edge = relation.edge()
    assert edge is not None
    assert edge.relation_type == canonical


def test_a_free_text_relation_is_refused_with_the_vocabulary() -> None:
    with pytest.raises(ValidationError, match="reports-to, manages"):
        TYPES.get("relation").payload.model_validate({"from_entity": "A", "relation_type": "admires", "to_entity": "B"})


BERLIN = ZoneInfo("Europe/Berlin")


def event(at: str | None, precision: str | None = None) -> Event:
    return Event.model_validate({"event_description": "x", "event_at": at, "event_at_precision": precision})


@pytest.mark.parametrize(
    ("at", "precision", "lower", "upper"),
    [
        ("2026-05-09", None, "2026-05-08T22:00Z", "2026-05-09T22:00Z"),
        ("2026-05-09T00:00:00Z", "day", "2026-05-08T22:00Z", "2026-05-09T22:00Z"),
        ("2026-05-09", "week", "2026-05-03T22:00Z", "2026-05-10T22:00Z"),
        ("2026-05-09", "month", "2026-04-30T22:00Z", "2026-05-31T22:00Z"),
        ("2026-05-09", "approximate", "2026-04-23T22:00Z", "2026-05-24T22:00Z"),
        ("2026-05-09T14:00:00Z", "exact", "2026-05-09T14:00:00Z", "2026-05-09T14:00:01Z"),
        ("2026-05-09T14:00:00", "exact", "2026-05-09T12:00:00Z", "2026-05-09T12:00:01Z"),
        ("2026-03-29", None, "2026-03-28T23:00Z", "2026-03-29T22:00Z"),
    ],
)
def test_an_event_covers_the_range_of_its_precision(at: str, precision: str | None, lower: str, upper: str) -> None:
    covers = event(at, precision).event_time(BERLIN)
    assert covers is not None
    assert (covers.lower, covers.upper) == (datetime.fromisoformat(lower), datetime.fromisoformat(upper))


def test_an_event_without_a_time_keeps_its_precision_unknown() -> None:
    covers = event(None).event_time(UTC)
    assert covers is not None
    assert (covers.at, covers.precision, covers.lower) == (None, Precision.UNKNOWN, None)


@pytest.mark.parametrize(
    "at", ["0001-01-01", "9999-12-31", "2026-13-01", "yesterday", "2026", "20260509", "2026-05", 2026, 1e400]
)
def test_an_absurd_date_is_refused(at: object) -> None:
    with pytest.raises(ValidationError, match="event_at"):
        Event.model_validate({"event_description": "x", "event_at": at})


def test_an_offset_is_kept() -> None:
    covers = event("2026-05-09T14:00:00+02:00", "exact").event_time(BERLIN)
    assert covers is not None
    assert covers.at == datetime(2026, 5, 9, 14, tzinfo=timezone(timedelta(hours=2)))


@pytest.mark.parametrize(
    ("zone", "at", "stored"),
    [
        ("Europe/Amsterdam", "1931-04-18", "1931-04-18T00:00:28+00:20"),
        ("America/Chicago", "1871-10-08", "1871-10-08T00:00:36-05:50"),
        ("America/Chicago", "1871-10-08T21:30:00", "1871-10-08T21:30:36-05:50"),
        ("Europe/Berlin", "2026-05-09", "2026-05-09T00:00:00+02:00"),
    ],
)
def test_an_event_in_local_mean_time_is_read_back_as_it_was(zone: str, at: str, stored: str) -> None:
    """Earlier releases stored offsets with seconds, which are read too."""
    told = event(at)
    covers = told.event_time(ZoneInfo(zone))
    assert covers is not None
    assert covers.at is not None
    assert told.stored(covers)["event_at"] == stored
    for form in (stored, covers.at.isoformat()):
        again = event(form, told.precision)
        assert again.event_time(ZoneInfo(zone)) == covers
        assert again.model_dump(mode="json")["event_at"] == stored
        assert again.render() == told.render()

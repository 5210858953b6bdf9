"""The answer's schema stays within what strict modes take, whatever types there are."""

import enum
import json
from collections.abc import Sequence
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from app.errors import ConfigurationError
from app.memory.fields import Name
from app.memory.spec import MemoryType, Payload
from app.memory.vocabulary import INVERSES
from app.providers.schemas import answer_schema, closed, fields_of, nullable, payload_schema, request_schema
from tests.provider_server.strict import violations
from tests.providers.chatting import TYPES

every_type = pytest.mark.parametrize("one", [pytest.param(one, id=one.name) for one in TYPES])


class Colour(enum.StrEnum):
    RED = "red"
    BLUE = "blue"


class Part(BaseModel):
    label: str
    weight: float | None = None


class Everything(Payload):
    """A payload with every kind of field."""

    text: Name = Field(description="Some text.")
    count: int = 1
    share: float | None = None
    sure: bool = False
    colour: Colour | None = None
    kind: Literal["a", "b"] = "a"
    labels: tuple[Name, ...] = ()
    parts: tuple[Part, ...] = ()
    details: dict[Name, Name] = Field(default_factory=dict)
    either: int | str | None = None


def typed(payload: type[Payload]) -> MemoryType:
    first = TYPES[0]
    values = {name: getattr(first, name) for name in first.__dataclass_fields__}
    return MemoryType(**{**values, "payload": payload, "held": None})


def test_the_answers_schema_is_strict() -> None:
    assert violations(answer_schema(TYPES)) == []


@every_type
def test_one_type_alone_is_strict(one: MemoryType) -> None:
    assert violations(answer_schema([one])) == []


def test_every_kind_of_field_is_strict() -> None:
    assert violations(answer_schema([typed(Everything)])) == []
    assert {field.name: field.kind for field in fields_of(typed(Everything))} == {
        "text": "text",
        "count": "whole number",
        "share": "number",
        "sure": "true or false",
        "colour": "red | blue",
        "kind": "a | b",
        "labels": "list of text",
        "parts": "list of object of label, weight",
        "details": "list of {name, value}",
        "either": "whole number or text",
    }


@every_type
def test_the_examples_of_a_type_fit_its_schema_and_come_back_as_they_were(one: MemoryType) -> None:
    fields = fields_of(one)
    for example in one.examples:
        for payload in example.payloads:
            asked = request_schema(payload, fields)
            assert asked.keys() <= {field.name for field in fields}
            left_out = {field.name: None for field in fields if field.name not in asked}
            assert payload_schema({**asked, **left_out}, fields) == payload


def test_nulls_inside_an_answer_are_left_out_too() -> None:
    answered = {"text": "x", "parts": [{"label": "a", "weight": None}], "details": [{"name": "k", "value": None}]}
    assert payload_schema(answered, fields_of(typed(Everything))) == {
        "text": "x",
        "parts": [{"label": "a"}],
        "details": {},
    }


def test_pairs_that_are_none_are_left_for_validation() -> None:
    for wrong in ([1], [{"name": "k"}], "text", {"k": "v"}, [{"name": [], "value": 1}]):
        assert payload_schema({"details": wrong}, fields_of(typed(Everything))) == {"details": wrong}


def test_a_payload_that_can_t_be_asked_for_stops_the_start() -> None:
    class Free(Payload):
        anything: object = None

    with pytest.raises(ConfigurationError, match=f"{TYPES[0].name}.*Anything"):
        fields_of(typed(Free))


@pytest.mark.parametrize(
    ("schema", "wrong"),
    [
        ({"type": "array", "items": {"type": "string"}}, "root"),
        ({**closed({"a": {"type": "string"}}), "additionalProperties": True}, "additionalProperties"),
        ({**closed({"a": {"type": "string"}}), "required": []}, "required"),
        (closed({"a": {"type": "string", "maxLength": 3}}), "maxLength"),
        (closed({"a": {"$ref": "#/$defs/A"}}), "ref"),
        (closed({"a": {}}), "no type"),
        (closed({"a": {"type": "array"}}), "items"),
        (
            closed({"a": {"anyOf": [closed({"x": {"type": "string"}}), closed({"x": {"type": "number"}})]}}),
            "first keys",
        ),
        (closed({"a": closed({"b": closed({"c": closed({"d": closed({"e": closed({})})})})})}), "deep"),
        (closed({"a": {"type": "string", "enum": [str(number) for number in range(1001)]}}), "too many"),
    ],
)
def test_the_check_for_strictness_bites(schema: dict[str, object], wrong: str) -> None:
    assert [one for one in violations(schema) if wrong in one]


def test_alternatives_may_share_a_first_key_that_tells_them_apart() -> None:
    alternatives = [closed({"type": {"type": "string", "enum": [name]}}) for name in ("a", "b")]
    assert violations(closed({"x": nullable({"anyOf": alternatives})})) == []


def test_the_schema_is_json() -> None:
    assert json.loads(json.dumps(answer_schema(TYPES))) == answer_schema(TYPES)


def test_what_can_end_may_leave_its_value_out() -> None:
    for spec in TYPES:
        if spec.held is not None:
            assert "null" in alternatives_of(TYPES)[spec.name][spec.held.value]["type"]


def test_what_every_memory_has_stands_once_with_the_times_it_holds() -> None:
    memory = answer_schema(TYPES)["properties"]["memories"]["items"]["properties"]
    assert {"quote", "speech_act", "payload", "valid_from", "valid_until", "ttl_days"} <= memory.keys()
    assert all("quote" not in fields for fields in alternatives_of(TYPES).values())


def test_relation_types_are_asked_for_from_their_vocabulary() -> None:
    assert alternatives_of(TYPES)["relation"]["relation_type"] == {"type": "string", "enum": list(INVERSES)}


def alternatives_of(types: Sequence[MemoryType]) -> dict[str, Any]:
    payloads = answer_schema(types)["properties"]["memories"]["items"]["properties"]["payload"]["anyOf"]
    return {one["properties"]["memory_type"]["enum"][0]: one["properties"] for one in payloads}

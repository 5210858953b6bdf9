"""Definitions of own types: what is wrong with one is said at its place, and one that is taken always works."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from app.memory.spec import MemoryType
from app.memory.tenant_types import compiler, payload
from app.memory.tenant_types.definition import Definition, InvalidDefinition
from app.memory.tenant_types.schema import LONGEST_NAME
from app.model import EntityRef, Precision
from tests.memory.test_types import refs_of
from tests.support.tenant_types import DRILL, HABIT, TICKET, opened, ticket


def made(definition: dict[str, Any]) -> MemoryType:
    return compiler.compile_new(Definition.model_validate(definition))


def faults(definition: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(InvalidDefinition) as raised:
        made(definition)
    return {one.pointer: one.message for one in raised.value.faults}


def schema(**properties: Any) -> dict[str, Any]:
    return ticket(properties=properties)


FIELD = "/payload/properties/x"


@pytest.mark.parametrize(
    ("definition", "at", "why"),
    [
        (schema(x={"type": "string", "pattern": "^(a+)+$"}), f"{FIELD}/pattern", "not supported; list the values"),
        (schema(x={"$ref": "#/definitions/y"}), f"{FIELD}/type", "must be one of string"),
        (schema(x={"type": "object"}), f"{FIELD}/type", "a payload is flat"),
        (schema(x={"type": ["string", "null"]}), f"{FIELD}/type", "left out of `required`"),
        (schema(x={"type": "string", "default": "y"}), f"{FIELD}/default", "leave the field out"),
        (schema(x={"type": "string", "maxLength": 10**9}), f"{FIELD}/maxLength", "from 1 to 8000"),
        (schema(customer={"type": "string", "maxLength": 300}), "/payload/properties/customer/maxLength", "a name"),
        (schema(x={"type": "string", "minLength": 5, "maxLength": 2}), f"{FIELD}/minLength", "not be more than"),
        (schema(x={"type": "string", "format": "email"}), f"{FIELD}/format", "date, date-time"),
        (schema(x={"type": "string", "enum": []}), f"{FIELD}/enum", "1 to 50"),
        (schema(x={"type": "string", "enum": ["a", "b", "a"]}), f"{FIELD}/enum/2", "given twice"),
        (schema(x={"type": "string", "enum": ["a", 2]}), f"{FIELD}/enum/1", "must be a string"),
        (schema(x={"type": "string", "enum": ["a\nb"]}), f"{FIELD}/enum/0", "on one line"),
        (schema(x={"type": "integer", "minimum": 1.5}), f"{FIELD}/minimum", "whole number"),
        (schema(x={"type": "integer", "minimum": 5, "maximum": 4}), FIELD, "leave no value"),
        (schema(x={"type": "number", "exclusiveMinimum": 5, "maximum": 5}), FIELD, "leave no value"),
        (schema(x={"type": "array"}), f"{FIELD}/items", "must be a schema"),
        (schema(x={"type": "array", "items": {"type": "array"}}), f"{FIELD}/items/type", "must be one of"),
        (schema(x="text"), FIELD, "must be a schema"),
        (schema(**{"a/b~c": {"type": "string"}}), "/payload/properties/a~1b~0c", "lower-case letters"),
        (ticket(payload={"required": ["nobody"]}), "/payload/required/0", "not among the properties"),
        (ticket(payload={"allOf": []}), "/payload/allOf", "not supported"),
        (ticket(payload={"additionalProperties": True}), "/payload/additionalProperties", "must be false"),
        (ticket(payload={"type": "array"}), "/payload/type", "object"),
        (ticket(payload={"properties": {}}), "/payload/properties", "at least one"),
        (schema(**{f"f{n}": {"type": "boolean"} for n in range(40)}), "/payload/properties", "at most 32"),
        (ticket(render="{customer} {nobody}"), "/render", "{nobody}, which is not a field; there are customer"),
        (ticket(render="{customer.__class__}"), "/render", "is no name of a field"),
        (ticket(render="{customer!r}"), "/render", "is no name of a field"),
        (ticket(render="{customer:>1000000}"), "/render", "is no name of a field"),
        (ticket(render="{0}"), "/render", "is no name of a field"),
        (ticket(render="{customer} about {about}"), "/render", "may be missing"),
        (ticket(render="[about {about}]"), "/render", "must name a required field"),
        (ticket(render="a ticket"), "/render", "must name a required field"),
        (ticket(render="{customer} [hello]"), "/render", "names no field"),
        (ticket(render="{customer} [[x] {number"), "/render", "no partner"),
        (ticket(render="{customer}[, {about}"), "/render", "never closed"),
        (ticket(render="{customer}[, {about}[ {tags}]]"), "/render", "close that first"),
        (ticket(slot=["priority"]), "/slot/0", "may be missing"),
        (ticket(slot=["customer", "nobody"]), "/slot/1", "is not a field"),
        (ticket(slot=["number", "number"]), "/slot/1", "named twice"),
        (ticket(slot=["tags"]), "/slot/0", "is a list"),
        (ticket(value=["number"]), "/value/0", "part of the slot"),
        (ticket(slot=[]), "/value", "without a slot"),
        (ticket(on_conflict="accumulate"), "/on_conflict", "without a slot"),
        (ticket(slot=[], value=None, on_conflict="only_removed"), "/on_conflict", "needs a slot"),
        (ticket(subject="nobody"), "/subject", "is not a field"),
        (ticket(subject="number"), "/subject", "a subject is text"),
        (ticket(mentions={"number": {}}), "/mentions/number", "only text"),
        (ticket(mentions={"nobody": {}}), "/mentions/nobody", "is not a field"),
        (ticket(event_time="about"), "/event_time", "date or date-time"),
        (ticket(importance={"field": "about", "values": {"x": 0.5}}), "/importance/field", "with an enum"),
        (ticket(importance={"field": "status", "values": {"x": 0.5}}), "/importance/values/x", "open, closed"),
        (ticket(held={"under": "customer", "value": "number"}), "/held/value", "field of text"),
        ({**HABIT, "held": {"under": "rule", "value": "room"}}, "/held/under", "part of the slot"),
        (ticket(aliases=["ticket"]), "/aliases", "other names"),
        (ticket(distinct_by=["nobody"]), "/distinct_by/0", "is not a field"),
        (ticket(examples=[{"utterance": "x", "payloads": [{"customer": "A", "number": 1}]}]),
         "/examples/0/payloads/0/status", "required"),
        (ticket(examples=[{"utterance": "x", "payloads": [opened(nobody=1)]}]), "/examples/0/payloads/0/nobody",
         "not permitted"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_at_its_place(definition: dict[str, Any], at: str, why: str) -> None:
    found = faults(definition)
    assert at in found, found
    assert why in found[at]


def test_everything_that_is_wrong_with_the_fields_is_said_at_once() -> None:
    found = faults(schema(x={"type": "string", "pattern": "a"}, y={"type": "object"}))
    assert set(found) == {f"{FIELD}/pattern", "/payload/properties/y/type"}


@pytest.mark.parametrize("name", ["Ticket", "1st", "a-b", "a b", "", "a" * 64, "../x", "tïcket"])
def test_a_name_is_a_word_of_plain_letters(name: str) -> None:
    with pytest.raises(ValidationError, match="name"):
        Definition.model_validate(ticket(name=name))


def test_a_definition_says_what_it_came_to() -> None:
    one = made(TICKET)
    payload = one.payload.model_validate(opened(priority="urgent", tags=["export", "csv"], opened_on="2026-05-09"))
    assert payload.render() == "Acme has ticket 4711, open, priority urgent (tags: export, csv)"
    refs = refs_of(payload)
    assert payload.slot(refs) == f"{refs['subject'].id}|4711"
    assert payload.value(refs) == "open"
    assert one.importance(payload) == 0.9
    assert [(one.role, one.name, one.entity_type) for one in payload.mentions()] == [
        ("subject", "Acme", "organization")
    ]
    when = payload.event_time(ZoneInfo("Europe/Berlin"))
    assert when is not None
    assert (when.precision, when.lower) == (Precision.DAY, datetime(2026, 5, 8, 22, tzinfo=UTC))
    assert payload.stored(when)["opened_on"] == "2026-05-09"


def test_an_optional_subject_is_the_user() -> None:
    payload = made(DRILL).payload.model_validate({"exercise": "squats", "kilos": 80.5, "done": True, "with": ["Bo"]})
    assert payload.render() == "squats with 80.5 kg, done: yes, with Bo [gym]"
    assert payload.subject() == "user"
    assert [(one.role, one.name, one.creates) for one in payload.mentions()] == [
        ("subject", "user", True),
        ("with_0", "Bo", False),
    ]


def test_i_am_the_user_whatever_the_field_is_called() -> None:
    assert made(DRILL).payload.model_validate({"exercise": "squats", "who": "me"}).subject() == "user"


def test_parts_of_a_slot_stay_apart() -> None:
    about = {"about": {"type": "string"}}
    needed = {"required": ["customer", "number", "status", "about"]}
    one = made(ticket(subject=None, mentions={}, slot=["customer", "about"], properties=about, payload=needed))
    slots = {
        one.payload.model_validate(opened(customer=customer, about=about)).slot({})
        for customer, about in (("a|b", "c"), ("a", "b|c"), ("a%7Cb", "c"))
    }
    assert len(slots) == 3


def test_a_slot_always_fits_into_an_index() -> None:
    one = made(ticket(mentions={}, subject=None))
    longest = opened(customer="\ufdfa" * LONGEST_NAME)
    slot = one.payload.model_validate(longest).slot({})
    assert slot is not None
    assert len(slot.encode()) < 1_100


def test_names_of_fields_that_python_or_pydantic_use_are_only_names() -> None:
    names = ("class", "self", "render", "slot", "model_fields", "json", "schema", "plan", "told", "copy", "import")
    one = made(
        {
            "name": "odd",
            "definition": "Odd.",
            "payload": {
                "type": "object",
                "properties": {name: {"type": "string"} for name in names},
                "required": list(names),
            },
            "render": " ".join(f"{{{name}}}" for name in names),
            "examples": [{"utterance": "x", "payloads": [dict.fromkeys(names, "x")]}],
        }
    )
    payload = one.payload.model_validate({name: f"the {name}" for name in names})
    assert payload.render() == " ".join(f"the {name}" for name in names)
    with pytest.raises(ValidationError, match="own_class"):
        one.payload.model_validate({**dict.fromkeys(names, "x"), "own_class": "x"})


def test_values_are_never_read_as_templates() -> None:
    one = made(TICKET)
    payload = one.payload.model_validate(opened(customer="{number}", about="[{status}] {{x}} {0.__class__} %s"))
    assert payload.render() == "{number} has ticket 4711, open, about [{status}] {{x}} {0.__class__} %s"


@pytest.mark.parametrize(
    ("changed", "at"),
    [
        (ticket(properties={"about": {"type": "integer"}}), "/payload/properties/about"),
        (ticket(properties={"about": {"type": "string", "maxLength": 10}}), "/payload/properties/about/maxLength"),
        (ticket(properties={"status": {"type": "string", "enum": ["open"]}}), "/payload/properties/status/enum"),
        (ticket(payload={"required": ["customer", "number", "status", "about"]}), "/payload/required"),
        (ticket(slot=["number"]), "/slot"),
        (ticket(value=["status", "about"]), "/value"),
    ],
)
def test_what_a_next_version_takes_away_is_told(changed: dict[str, Any], at: str) -> None:
    old, new = Definition.model_validate(TICKET), Definition.model_validate(changed)
    assert at in {one.pointer for one in compiler.incompatibilities(old, new)}


def test_what_only_adds_is_compatible() -> None:
    wider = ticket(properties={"status": {"type": "string", "enum": ["open", "closed", "waiting"]},
                               "url": {"type": "string"}}, hints=["case"])  # fmt: skip
    assert compiler.incompatibilities(Definition.model_validate(TICKET), Definition.model_validate(wider)) == ()


# Any definition in the supported part of JSON Schema is either refused with reasons or a type that always works.

NAMES = st.sampled_from(["a", "b", "class", "subject", "payload", "render", "id", "number", "when_"])
TEXTS = st.text(max_size=30)
SCHEMAS = st.one_of(
    st.fixed_dictionaries({"type": st.just("string")}, optional={"maxLength": st.integers(-1, 300)}),
    st.fixed_dictionaries({"type": st.just("string"), "enum": st.lists(TEXTS, max_size=4)}),
    st.fixed_dictionaries({"type": st.just("string"), "format": st.sampled_from(["date", "date-time", "x"])}),
    st.fixed_dictionaries(
        {"type": st.sampled_from(["integer", "number"])},
        optional={"minimum": st.integers(-5, 5), "exclusiveMaximum": st.integers(-5, 9)},
    ),
    st.just({"type": "boolean"}),
    st.fixed_dictionaries(
        {"type": st.just("array"), "items": st.sampled_from([{"type": "string"}, {"type": "integer"}, {}])},
        optional={"maxItems": st.integers(0, 5), "minItems": st.integers(0, 3)},
    ),
    st.sampled_from([{}, {"type": "object"}, {"type": "string", "pattern": "x"}]),
)


VISIBLE = st.text(alphabet="abc {}[]|%ü", min_size=1, max_size=9).map(lambda text: " ".join(text.split())).filter(bool)
FAIR = st.one_of(
    st.fixed_dictionaries({"type": st.just("string")}, optional={"maxLength": st.integers(1, 200)}),
    st.fixed_dictionaries({"type": st.just("string"), "enum": st.lists(VISIBLE, min_size=1, max_size=4, unique=True)}),
    st.fixed_dictionaries({"type": st.just("string"), "format": st.sampled_from(["date", "date-time"])}),
    st.fixed_dictionaries(
        {"type": st.sampled_from(["integer", "number"])},
        optional={"minimum": st.integers(-5, 5), "exclusiveMaximum": st.integers(7, 9)},
    ),
    st.just({"type": "boolean"}),
    st.fixed_dictionaries(
        {"type": st.just("array"), "items": st.sampled_from([{"type": "string"}, {"type": "integer"}])},
        optional={"maxItems": st.integers(3, 5), "minItems": st.integers(0, 3)},
    ),
)


INSTANTS = st.datetimes(datetime(1000, 1, 1), datetime(2200, 12, 31), timezones=st.sampled_from([None, UTC]))  # noqa: DTZ001


def value_of(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "format" in schema:
        return (
            st.dates(date(1000, 1, 1), date(2200, 12, 31)).map(str)
            if schema["format"] == "date"
            else INSTANTS.map(datetime.isoformat)
        )
    most, below = schema.get("maxLength", 40), schema.get("exclusiveMaximum", 2**53)
    plain: dict[str, st.SearchStrategy[Any]] = {
        "string": st.text(min_size=1, max_size=max(1, min(40, most))),
        "integer": st.integers(min(schema.get("minimum", -(2**53)), below - 1), below - 1),
        "number": st.floats(min(schema.get("minimum", -1e9), below - 1), below, exclude_max=True, allow_nan=False),
        "boolean": st.booleans(),
    }
    if schema["type"] != "array":
        return plain[schema["type"]]
    return st.lists(value_of(schema["items"]), min_size=schema.get("minItems", 0), max_size=schema.get("maxItems", 5))


def refused(definition: dict[str, Any]) -> list[str]:
    """Where a definition is wrong, each place with a reason; nothing for one that is taken."""
    try:
        made(definition)
    except InvalidDefinition as error:
        return [fault.pointer for fault in error.faults if fault.message]
    except ValidationError as error:
        return [str(one["loc"]) for one in error.errors() if one["msg"]]
    return []


@settings(max_examples=150)
@given(data=st.data())
def test_any_definition_is_refused_with_reasons_or_always_works(data: st.DataObject) -> None:
    fair = data.draw(st.booleans())
    properties = data.draw(st.dictionaries(NAMES, FAIR if fair else SCHEMAS, min_size=1, max_size=5))
    properties |= {"sure": {"type": "string"}} if fair else {}

    def some(which: set[str]) -> list[str]:
        choice = sorted(which if fair else properties)
        return data.draw(st.lists(st.sampled_from(choice), unique=True, max_size=3)) if choice else []

    texts = {
        name for name, one in properties.items() if one.get("type") == "string" and not one.keys() & {"enum", "format"}
    }
    dated = {name for name, one in properties.items() if "format" in one}
    single = {name for name, one in properties.items() if one.get("type") != "array" or one.get("minItems")}
    required = list(dict.fromkeys([*some(set(properties)), *(["sure"] if fair else [])]))
    keys = {name for name in required if properties[name].get("type") not in {"number", "array"}}
    told = [f"{{{one}}} " if one in required and one in single else f"[ {{{one}}}]" for one in properties]
    definition: dict[str, Any] = {
        "name": "any",
        "definition": "Anything.",
        "payload": {"type": "object", "properties": properties, "required": required},
        "render": "".join(told) if fair else data.draw(st.text(alphabet="{}[]ab_ ", min_size=1, max_size=20)),
        "slot": some(
            {name for name in keys if properties[name].get("format") != "date-time"} if len(properties) > 2 else set()
        )[: len(properties) - 1],
        "mentions": {name: {} for name in some(texts)},
        "subject": next(iter(some(texts)), None),
        "event_time": next(iter(some(dated)), None),
        "examples": [{"utterance": "x", "payloads": [{}]}],
    }
    # Of a definition whose only fault is its empty example, one is drawn that fits.
    wrong = [one for one in refused(definition) if not one.startswith("/examples/0/payloads/0/")]
    assert not (fair and wrong), wrong
    if wrong:
        return
    present = [one for one in properties if one in required or data.draw(st.booleans())]
    payload = {name: data.draw(value_of(properties[name])) for name in present}
    whole = {**definition, "examples": [{"utterance": "x", "payloads": [payload]}]}
    wrong = refused(whole)
    # Text that nobody can see, or that can't be stored, is no value.
    assert all(one.startswith("/examples") for one in wrong), wrong
    if not wrong:
        works(made(whole), payload)


def works(one: MemoryType, given: dict[str, Any]) -> None:
    payload = one.payload.model_validate(given)
    rendered = payload.render()
    assert rendered.strip()
    assert "\n" not in rendered
    again = one.payload.model_validate(json.loads(json.dumps(payload.stored(payload.event_time(UTC)))))
    assert again == payload
    refs = {
        mention.role: EntityRef(id=refs_of(payload)[mention.role].id, name=mention.name, entity_type="unknown")
        for mention in payload.mentions()
    }
    assert len(refs) == len(payload.mentions())
    slot = payload.slot(refs)
    assert slot is None or len(slot.encode()) <= 1_000
    assert (payload.value(refs) is None) == (slot is None)
    assert again.distinct_by() == payload.distinct_by()
    assert 0 <= one.importance(payload) <= 1
    assert payload.questions() is not None


def read(text: str) -> payload.Template | str:
    """The template, or why it is none."""
    try:
        return payload.read(text)
    except payload.TemplateError as error:
        return str(error)


@given(st.text(alphabet="{}[]ab c", max_size=40), st.dictionaries(st.sampled_from(["a", "b"]), st.text(max_size=9)))
def test_a_template_is_read_or_refused_and_filling_never_fails(text: str, values: dict[str, str]) -> None:
    found = read(text)
    if isinstance(found, str):
        assert "character" in found
        return
    assert "\n" not in found.filled(values)
    assert found.filled({}) == found.filled({"other": "x"})

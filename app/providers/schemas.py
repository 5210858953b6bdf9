"""The JSON schema of an extraction's answer, made from the payloads of the memory types.

It keeps to what strict modes take: every property required, no other ones, an alternative's first key telling
it apart, and no lengths, ranges, patterns or defaults. A field that may be left out may be null instead, and a
mapping with free keys is asked for as a list of names and values. What all memories have stands once, beside the
payload, whose alternatives have the type's name as their first field: input tokens are paid for with each turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from app.errors import ConfigurationError
from app.memory.spec import MemoryType
from app.model import Category, SpeechAct

Node = Mapping[str, Any]

LASTING: Final = (Category.CORE, Category.PROCEDURAL)
"""Categories that a memory may be given in place of its type's, which fade more slowly (seed 002)."""

CATEGORIES: Final = (Category.CORE, Category.EPISODIC, Category.PROCEDURAL, Category.SEMANTIC)
"""How a memory may be said to fade (seed 002)."""

TYPE: Final = "memory_type"
"""The field of an answered payload that names its type."""

SEVERAL: Final = "several_can_be_true_at_once"
"""The field of an answered payload that says whether other values can be true beside the one that it tells."""

FORGET: Final = "forget"
"""The field of an answer that has what the user asks to forget."""

NULL: Final[Node] = {"type": "null"}

_STRING: Final[Node] = {"type": "string"}

_NUMBER: Final[Node] = {"type": "number"}

_NUMBERS: Final[Node] = {"type": "array", "items": {"type": "integer"}}

TEXT: Final = "text"

_WORDS: Final = {"string": TEXT, "integer": "whole number", "number": "number", "boolean": "true or false"}
_DATES: Final = frozenset({"date", "date-time"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PayloadField:
    """One field of a type's payload as a model is asked for it: `kind` is its schema in words."""

    name: str
    schema: Node
    kind: str
    description: str
    required: bool
    pairs: bool


_SEVERAL: Final = PayloadField(
    name=SEVERAL,
    schema={"type": "boolean"},
    kind=_WORDS["boolean"],
    description="true where another value would stand beside this one, as with allergies, children or skills, false "
    "where it would take its place, as with a home or an employer",
    required=True,
    pairs=False,
)


def fields_of(spec: MemoryType) -> tuple[PayloadField, ...]:
    """Return the fields of a type's payload that a model is asked for, its vocabularies as enums.

    Raises ConfigurationError when one can't be asked for.
    """
    whole = spec.payload.model_json_schema(by_alias=True)
    definitions = whole.get("$defs", {})
    try:
        return tuple(
            _field(name, _chosen(node, spec.choices.get(name)), definitions, required=name in whole.get("required", ()))
            for name, node in whole["properties"].items()
            if name not in spec.unasked
        )
    except _Inexpressible as error:
        raise ConfigurationError(f"memory type {spec.name}: a model can't be asked for its payload: {error}") from None


def extracted_fields(spec: MemoryType) -> tuple[PayloadField, ...]:
    """Return the fields that an extracting model is asked for: the payload's, and how many values it holds."""
    return (*fields_of(spec), _SEVERAL) if spec.asks_several else fields_of(spec)


def request_schema(payload: Mapping[str, object], fields: Iterable[PayloadField]) -> dict[str, object]:
    """Return a payload in the form in which a model is asked for it."""
    pairs = {one.name for one in fields if one.pairs}
    return {
        name: [{"name": key, "value": one} for key, one in value.items()]
        if name in pairs and isinstance(value, Mapping)
        else value
        for name, value in payload.items()
    }


def payload_schema(answered: Mapping[str, object], fields: Iterable[PayloadField]) -> dict[str, object]:
    """Return what was answered as a payload: nulls are left out, and names and values are mappings again."""
    pairs = {one.name for one in fields if one.pairs}
    given = ((name, value) for name, value in answered.items() if value is not None)
    return {name: _mapping(value) if name in pairs else _without_nulls(value) for name, value in given}


def choices_in(spec: MemoryType) -> int:
    """Return how many values of enums a type adds to the schema: strict modes take a thousand in all."""
    values = (one.get("enum", ()) for field in fields_of(spec) for one in _nodes(field.schema))
    return sum(value is not None for some in values for value in some)


def _nodes(node: Node) -> Iterator[Node]:
    yield node
    for one in (*node.get("anyOf", ()), *([node["items"]] if "items" in node else ())):
        yield from _nodes(one)


def answer_schema(types: Iterable[MemoryType]) -> Node:
    """Return the schema of `{"forget": [...], "memories": [...]}`, whose payloads have one alternative a type."""
    payloads = _one_of([_payload(spec) for spec in types])
    memory = closed(
        {
            "quote": _STRING,
            "sentence": _STRING,
            "speech_act": {"type": "string", "enum": [act.value for act in SpeechAct]},
            "payload": payloads,
            "confidence": _NUMBER,
            "importance": _NUMBER,
            "topic": nullable(_STRING),
            "category": nullable({"type": "string", "enum": [one.value for one in LASTING]}),
            "replaces": _NUMBERS,
            "ends": _NUMBERS,
            "same_as": nullable({"type": "integer"}),
            "about": _NUMBERS,
            "ended": {"type": "boolean"},
            "valid_from": nullable(_STRING),
            "valid_until": nullable(_STRING),
            "ttl_days": nullable(_NUMBER),
        }
    )
    erasure = closed({"quote": _STRING, "what": _STRING, "lines": _NUMBERS})
    # First, as it is short: an answer that is cut off still has it whole.
    return closed({FORGET: {"type": "array", "items": erasure}, "memories": {"type": "array", "items": memory}})


def closed(properties: Mapping[str, Node]) -> Node:
    """Return an object that has all these properties and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def nullable(node: Node) -> Node:
    """Return what may also be null."""
    if isinstance(node.get("type"), list):
        return node
    return _one_of([*node.get("anyOf", [node]), NULL])


def _mapping(value: object) -> object:
    """Return a list of names and values as a mapping; anything else as it is, for validation to judge."""
    if not isinstance(value, list):
        return value
    try:
        return {pair["name"]: pair["value"] for pair in value if pair["value"] is not None}
    except (TypeError, KeyError):
        return value


def _without_nulls(value: object) -> object:
    if isinstance(value, list):
        return [_without_nulls(one) for one in value]
    if isinstance(value, dict):
        return {name: _without_nulls(one) for name, one in value.items() if one is not None}
    return value


class _Inexpressible(Exception):
    """A schema that strict modes have no form for."""


def _payload(spec: MemoryType) -> Node:
    fields = {one.name: one.schema for one in extracted_fields(spec)}
    if spec.held is not None:
        fields[spec.held.value] = nullable(fields[spec.held.value])
    # First, because OpenAI tells alternatives apart by their first key.
    return closed({TYPE: {"type": "string", "enum": [spec.name]}, **fields})


def _chosen(node: Node, choices: Sequence[str] | None) -> Node:
    """Return the schema of a field, narrowed to what a model may choose from."""
    return node if choices is None else {**node, "enum": list(choices), "description": ""}


def _field(name: str, node: Node, definitions: Node, *, required: bool) -> PayloadField:
    schema = _strict(node, definitions)
    return PayloadField(
        name=name,
        schema=schema if required else nullable(schema),
        kind=_kind(node, schema, definitions),
        description=node.get("description", ""),
        required=required,
        pairs=_is_mapping(_resolved(node, definitions)),
    )


def _strict(node: Node, definitions: Node) -> Node:
    node = _resolved(node, definitions)
    if "anyOf" in node or "oneOf" in node:
        return _one_of([_strict(one, definitions) for one in node.get("anyOf") or node["oneOf"]])
    match node.get("type"):
        case "string" if "enum" in node or "const" in node:
            return {"type": "string", "enum": list(node.get("enum") or [node["const"]])}
        case "string" | "integer" | "number" | "boolean" | "null" as kind:
            return {"type": kind}
        case "array" if "items" in node:
            return {"type": "array", "items": _strict(node["items"], definitions)}
        case "object" if "properties" in node:
            return closed({name: _strict(one, definitions) for name, one in node["properties"].items()})
        case "object" if _is_mapping(node):
            value = _strict(node["additionalProperties"], definitions)
            return {"type": "array", "items": closed({"name": {"type": "string"}, "value": value})}
    raise _Inexpressible(", ".join(f"{key}: {node[key]}" for key in ("title", "type") if key in node))


def _resolved(node: Node, definitions: Node) -> Node:
    if "$ref" not in node:
        return node
    found: Node = definitions[node["$ref"].rpartition("/")[2]]
    return found


def _is_mapping(node: Node) -> bool:
    return isinstance(node.get("additionalProperties"), Mapping)


def _one_of(alternatives: list[Node]) -> Node:
    different = [one for place, one in enumerate(alternatives) if one not in alternatives[:place]]
    if len(different) == 1:
        return different[0]
    others = [one for one in different if one != NULL]
    typed = len(others) == 1 and len(different) > 1 and isinstance(others[0].get("type"), str)
    return _or_null(others[0]) if typed and others[0]["type"] != "object" else {"anyOf": different}


def _or_null(node: Node) -> Node:
    """Return the shorter form of what may also be null, which takes about half the tokens of alternatives."""
    values = {"enum": [*node["enum"], None]} if "enum" in node else {}
    return {**node, "type": [node["type"], "null"], **values}


def _kind(node: Node, schema: Node, definitions: Node) -> str:
    """Return what a field takes, in words; a null that stands for being left out goes without saying."""
    if any(one.get("format") in _DATES for one in node.get("anyOf", [node])):
        return "YYYY-MM-DD, or with a time"
    if _is_mapping(_resolved(node, definitions)):
        return "list of {name, value}"
    return " or ".join(_in_words(one) for one in schema.get("anyOf", [schema]) if one != NULL)


def _not_null(node: Node) -> Node:
    kind = node.get("type")
    return {**node, "type": kind[0]} if isinstance(kind, list) else node


def _in_words(schema: Node) -> str:
    schema = _not_null(schema)
    if "enum" in schema:
        return " | ".join(one for one in schema["enum"] if one is not None)
    if schema.get("type") == "array":
        return f"list of {_in_words(schema['items'])}"
    if schema.get("type") == "object":
        return f"object of {', '.join(schema['properties'])}"
    return _WORDS.get(schema.get("type", ""), "value")

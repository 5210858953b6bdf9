"""The JSON schema of an extraction's answer, made from the payloads of the memory types.

It keeps to what strict modes take: every property required, no other ones, an alternative's first key telling
it apart, and no lengths, ranges, patterns or defaults. A field that may be left out may be null instead, and a
mapping with free keys is asked for as a list of names and values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from app.errors import ConfigurationError
from app.memory.spec import MemoryType
from app.model import Category, SpeechAct

Node = Mapping[str, Any]

CATEGORIES: Final = (Category.CORE, Category.EPISODIC, Category.PROCEDURAL, Category.SEMANTIC)
"""How a memory may be said to fade (seed 002)."""

NULL: Final[Node] = {"type": "null"}

_WORDS: Final = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}
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


def fields_of(spec: MemoryType) -> tuple[PayloadField, ...]:
    """Return the fields of a type's payload; ConfigurationError when one can't be asked of a model."""
    whole = spec.payload.model_json_schema(by_alias=True)
    definitions = whole.get("$defs", {})
    try:
        return tuple(
            _field(name, node, definitions, required=name in whole.get("required", ()))
            for name, node in whole["properties"].items()
        )
    except _Inexpressible as error:
        raise ConfigurationError(f"memory type {spec.name}: a model can't be asked for its payload: {error}") from None


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
    return sum(len(one.get("enum", ())) for field in fields_of(spec) for one in _nodes(field.schema))


def _nodes(node: Node) -> Iterator[Node]:
    yield node
    for one in (*node.get("anyOf", ()), *([node["items"]] if "items" in node else ())):
        yield from _nodes(one)


def answer_schema(types: Iterable[MemoryType]) -> Node:
    """Return the schema of `{"memories": [...]}`: one alternative a type."""
    memories = {"type": "array", "items": _one_of([_memory(spec) for spec in types])}
    return closed({"memories": memories})


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


def _memory(spec: MemoryType) -> Node:
    payload = {one.name: one.schema for one in fields_of(spec)}
    ending: dict[str, Node] = {}
    if spec.held is not None:
        payload[spec.held.value] = nullable(payload[spec.held.value])
        ending = {"ends": {"type": "boolean"}, "ended_at": nullable({"type": "string"})}
    return closed(
        {
            # First, because OpenAI tells alternatives apart by their first key.
            "type": {"type": "string", "enum": [spec.name]},
            "payload": closed(payload),
            "quote": {"type": "string"},
            "speech_act": {"type": "string", "enum": [act.value for act in SpeechAct]},
            "confidence": {"type": "number"},
            "importance": {"type": "number"},
            "topic": nullable({"type": "string"}),
            "category": nullable({"type": "string", "enum": [one.value for one in CATEGORIES]}),
            **ending,
        }
    )


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
    return different[0] if len(different) == 1 else {"anyOf": different}


def _kind(node: Node, schema: Node, definitions: Node) -> str:
    """Return what a field takes, in words; a null that stands for being left out goes without saying."""
    if any(one.get("format") in _DATES for one in node.get("anyOf", [node])):
        return "date as YYYY-MM-DD, or date and time"
    if _is_mapping(_resolved(node, definitions)):
        return "list of {name, value}"
    return " or ".join(_in_words(one) for one in schema.get("anyOf", [schema]) if one != NULL)


def _in_words(schema: Node) -> str:
    if "enum" in schema:
        return f"one of {', '.join(schema['enum'])}"
    if schema.get("type") == "array":
        return f"list of {_in_words(schema['items'])}"
    if schema.get("type") == "object":
        return f"object of {', '.join(schema['properties'])}"
    return _WORDS.get(schema.get("type", ""), "value")

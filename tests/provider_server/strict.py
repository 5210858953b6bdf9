"""What OpenAI's strict mode takes of JSON Schema, as a check: https://platform.openai.com/docs/guides/structured-outputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

Node = Mapping[str, Any]

KEYWORDS: Final = frozenset(
    {"type", "properties", "required", "additionalProperties", "items", "enum", "anyOf", "description"}
)
"""Those that every provider takes; OpenAI also takes some bounds, which others refuse."""

MOST_PROPERTIES: Final = 5000
MOST_ENUM_VALUES: Final = 1000
MOST_LETTERS: Final = 120_000
DEEPEST: Final = 5
"""Levels of objects; newer documentation says 10."""


def violations(schema: Node) -> list[str]:
    """Return what strict mode would refuse."""
    found = list(_violations(schema, "$"))
    if schema.get("type") != "object":
        found.append("$: the root must be an object")
    nodes = list(_nodes(schema))
    names = [name for node in nodes for name in node.get("properties", {})]
    values = [value for node in nodes for value in node.get("enum", [])]
    if len(names) > MOST_PROPERTIES or len(values) > MOST_ENUM_VALUES:
        found.append("$: too many properties or enum values")
    if sum(map(len, [*names, *map(str, values)])) > MOST_LETTERS:
        found.append("$: names and enum values are too long together")
    if _depth(schema) > DEEPEST:
        found.append("$: nested too deep")
    return found


def _violations(node: Node, at: str) -> Iterator[str]:
    for keyword in node.keys() - KEYWORDS:
        yield f"{at}: {keyword} is not permitted"
    if not node.keys() & {"type", "anyOf"}:
        yield f"{at}: has no type"
    if "object" in kinds(node):
        yield from _object_violations(node, at)
    if "array" in kinds(node) and "items" not in node:
        yield f"{at}: an array needs items"
    if "anyOf" in node:
        yield from _alternative_violations(node["anyOf"], at)
    for name, child in _children(node):
        yield from _violations(child, f"{at}.{name}")


def _object_violations(node: Node, at: str) -> Iterator[str]:
    if node.get("additionalProperties") is not False:
        yield f"{at}: additionalProperties must be false"
    if list(node.get("required", [])) != list(node.get("properties", {})):
        yield f"{at}: required must name every property"


def _alternative_violations(alternatives: list[Node], at: str) -> Iterator[str]:
    told_apart: set[tuple[str, tuple[object, ...]]] = set()
    names: set[str] = set()
    for one in alternatives:
        for name, child in list(one.get("properties", {}).items())[:1]:
            values = tuple(child.get("enum", []))
            if name in names and (not values or (name, values) in told_apart):
                yield f"{at}: alternatives must not share identical first keys"
            names.add(name)
            told_apart.add((name, values))


def _children(node: Node) -> Iterator[tuple[str, Node]]:
    yield from node.get("properties", {}).items()
    if "items" in node:
        yield "items", node["items"]
    for number, one in enumerate(node.get("anyOf", [])):
        yield f"anyOf.{number}", one


def _nodes(node: Node) -> Iterator[Node]:
    yield node
    for _, child in _children(node):
        yield from _nodes(child)


def _depth(node: Node) -> int:
    below = max((_depth(child) for _, child in _children(node)), default=0)
    return below + ("object" in kinds(node))


def kinds(node: Node) -> list[str]:
    """Return the types a value may have, of which there may be a list."""
    given = node.get("type", [])
    return [given] if isinstance(given, str) else list(given)

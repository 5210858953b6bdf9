"""The keywords of JSON Schema that are understood in a payload's, and the faults of those that are not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from app.memory.own.definition import LONGEST_LINE
from app.memory.own.faults import Fault, pointer
from app.memory.strings import is_storable

_NOTES: Final = frozenset({"title", "description", "examples", "$comment"})
BOUNDS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_KEYWORDS: Final[Mapping[str, frozenset[str]]] = {
    "object": frozenset({"type", "properties", "required", "additionalProperties", "$schema"}) | _NOTES,
    "string": frozenset({"type", "minLength", "maxLength", "enum", "format"}) | _NOTES,
    "integer": frozenset({"type", *BOUNDS}) | _NOTES,
    "number": frozenset({"type", *BOUNDS}) | _NOTES,
    "boolean": frozenset({"type"}) | _NOTES,
    "array": frozenset({"type", "items", "minItems", "maxItems"}) | _NOTES,
}
_INSTEAD: Final[Mapping[str, str]] = {
    "pattern": "list the values in `enum`, or say in `description` what it should look like",
    "default": "leave the field out of `required`",
    "const": "use `enum` with one value",
    "nullable": "leave the field out of `required`",
    "$ref": "write the field out",
}


def meaningless(node: Mapping[str, Any], names: Iterable[str], beside: str, at: tuple[str, ...]) -> list[Fault]:
    """Return a fault for each of the names that is given, for all that it says nothing `beside` another keyword."""
    message = f"has no meaning beside `{beside}`"
    return [Fault(pointer=pointer(*at, name), message=message) for name in names if name in node]


def count(
    node: Mapping[str, Any],
    name: str,
    at: tuple[str, ...],
    faults: list[Fault],
    *,
    least: int,
    most: int,
    why: str = "",
) -> int | None:
    """Return the number a keyword gives; None where it gives none from `least` to `most`, for the reason in `why`."""
    value = node.get(name)
    if value is None and name not in node:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        faults.append(Fault(pointer=pointer(*at, name), message=f"must be a whole number from {least} to {most}{why}"))
        return None
    return value


def description(node: Mapping[str, Any], at: tuple[str, ...], faults: list[Fault]) -> str:
    """Return the description, on one line; the empty string where there is none that can be taken."""
    given = node.get("description", "")
    if not isinstance(given, str) or len(given) > LONGEST_LINE or not is_storable(given):
        message = f"must be a string of at most {LONGEST_LINE} characters"
        faults.append(Fault(pointer=pointer(*at, "description"), message=message))
        return ""
    return " ".join(given.split())


def unsupported(node: Mapping[str, Any], kind: str, at: tuple[str, ...]) -> Iterator[Fault]:
    """Yield a fault for each keyword that is not understood of a kind."""
    taken = _KEYWORDS[kind]
    for keyword in node:
        if keyword not in taken:
            told = _INSTEAD.get(keyword)
            what = f"; {told}" if told else f"; of {_article(kind)} are taken: {', '.join(sorted(taken))}"
            yield Fault(pointer=pointer(*at, keyword), message=f"this keyword is not supported{what}")


def _article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aio" else f"a {kind}"

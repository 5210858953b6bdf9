"""The supported part of JSON Schema in definitions: from the schema of a payload to the types of its fields.

Regular expressions are not supported, so that no pattern can run without end, and neither are references and nested
schemas.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from app.memory.calendar import StatedTime, plausible
from app.memory.fields import can_be_seen, is_storable, printable, storable, visible
from app.memory.tenant_types.definition import LONGEST_LINE, DefinitionError, pointer

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


def keyword_errors(
    node: Mapping[str, Any], names: Iterable[str], beside: str, at: tuple[str, ...]
) -> list[DefinitionError]:
    """Return a fault for each given keyword that has no meaning `beside` another keyword."""
    message = f"has no meaning beside `{beside}`"
    return [DefinitionError(pointer=pointer(*at, name), message=message) for name in names if name in node]


def count(
    node: Mapping[str, Any],
    name: str,
    at: tuple[str, ...],
    faults: list[DefinitionError],
    *,
    least: int,
    most: int,
    why: str = "",
) -> int | None:
    """Return the number of a keyword; None, with a fault, if it is not from `least` to `most`; `why` is the reason."""
    value = node.get(name)
    if value is None and name not in node:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        faults.append(
            DefinitionError(pointer=pointer(*at, name), message=f"must be a whole number from {least} to {most}{why}")
        )
        return None
    return value


def description(node: Mapping[str, Any], at: tuple[str, ...], faults: list[DefinitionError]) -> str:
    """Return the description on one line, the empty string without a valid one."""
    given = node.get("description", "")
    if not isinstance(given, str) or len(given) > LONGEST_LINE or not is_storable(given):
        message = f"must be a string of at most {LONGEST_LINE} characters"
        faults.append(DefinitionError(pointer=pointer(*at, "description"), message=message))
        return ""
    return " ".join(given.split())


def unsupported_keywords(node: Mapping[str, Any], kind: str, at: tuple[str, ...]) -> Iterator[DefinitionError]:
    """Yield a fault for each keyword that is not supported for a kind."""
    taken = _KEYWORDS[kind]
    for keyword in node:
        if keyword not in taken:
            told = _INSTEAD.get(keyword)
            what = f"; {told}" if told else f"; of {_article(kind)} are taken: {', '.join(sorted(taken))}"
            yield DefinitionError(pointer=pointer(*at, keyword), message=f"this keyword is not supported{what}")


def _article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aio" else f"a {kind}"


MOST_CHOICES: Final = 50

MOST_ITEMS: Final = 50

LONGEST_TEXT: Final = 8_000

USUAL_TEXT: Final = 2_000
"""The `maxLength` of a string without one."""

LONGEST_NAME: Final = 200

LONGEST_CHOICE: Final = 100

_WIDEST: Final = 2**53

_FORMATS: Final = ("date", "date-time")

_SCALARS: Final = ("string", "integer", "number", "boolean")


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldValue:
    """The type of a field's value; see `FieldSpec`."""

    kind: str
    annotation: Any
    many: bool = False
    choices: tuple[str, ...] = ()
    filled: bool = True


def value(node: object, at: tuple[str, ...], faults: list[DefinitionError], *, named: bool) -> FieldValue | None:
    """Return the type of a field by its schema; None, with a fault, for a wrong schema."""
    if not isinstance(node, Mapping):
        faults.append(DefinitionError(pointer=pointer(*at), message="must be a schema: an object with a `type`"))
        return None
    kind = node.get("type")
    if not isinstance(kind, str) or kind not in {*_SCALARS, "array"}:
        optional = " (what may be null is left out of `required`)" if isinstance(kind, list) else ""
        nested = ": a payload is flat; give what lies within fields of their own" if kind == "object" else ""
        message = f"must be one of {', '.join((*_SCALARS, 'array'))}{nested}{optional}"
        faults.append(DefinitionError(pointer=pointer(*at, "type"), message=message))
        return None
    unsupported = list(unsupported_keywords(node, kind, at))
    faults += unsupported
    return None if unsupported else _of_kind(kind, node, at, faults, named=named)


def _of_kind(
    kind: str, node: Mapping[str, Any], at: tuple[str, ...], faults: list[DefinitionError], *, named: bool
) -> FieldValue | None:
    match kind:
        case "string":
            return _string(node, at, faults, named=named)
        case "integer" | "number":
            return _number(node, kind, at, faults)
        case "boolean":
            return FieldValue(kind="boolean", annotation=Annotated[bool, Field(strict=True)])
        case _:
            return _array(node, at, faults, named=named)


def _string(
    node: Mapping[str, Any], at: tuple[str, ...], faults: list[DefinitionError], *, named: bool
) -> FieldValue | None:
    if "enum" in node:
        return _choice(node, at, faults)
    if "format" in node:
        if node["format"] not in _FORMATS:
            faults.append(
                DefinitionError(pointer=pointer(*at, "format"), message=f"must be one of {', '.join(_FORMATS)}")
            )
            return None
        faults += keyword_errors(node, ("minLength", "maxLength"), "format", at)
        day = node["format"] == "date"
        return FieldValue(kind="date" if day else "instant", annotation=_Day if day else StatedTime)
    limit, why = (LONGEST_NAME, " (it is a name, or part of a slot)") if named else (LONGEST_TEXT, "")
    least = count(node, "minLength", at, faults, least=0, most=limit, why=why)
    most = count(node, "maxLength", at, faults, least=1, most=limit, why=why)
    longest = most or (LONGEST_NAME if named else max(USUAL_TEXT, least or 0))
    if (least or 0) > longest:
        faults.append(DefinitionError(pointer=pointer(*at, "minLength"), message="must not be more than maxLength"))
        return None
    bounds = StringConstraints(strip_whitespace=True, min_length=max(1, least or 0), max_length=longest)
    text: Any = Annotated[str, bounds, AfterValidator(storable), AfterValidator(visible)]
    if named:
        text = Annotated[text, AfterValidator(printable)]
    return FieldValue(kind="string", annotation=text)


def _choice(node: Mapping[str, Any], at: tuple[str, ...], faults: list[DefinitionError]) -> FieldValue | None:
    faults += keyword_errors(node, ("minLength", "maxLength", "format"), "enum", at)
    given = node["enum"]
    if not isinstance(given, list) or not 0 < len(given) <= MOST_CHOICES:
        faults.append(
            DefinitionError(pointer=pointer(*at, "enum"), message=f"must be a list of 1 to {MOST_CHOICES} strings")
        )
        return None
    wrong = False
    for place, one in enumerate(given):
        message = _wrong_choice(one, given[:place])
        if message is not None:
            wrong = True
            faults.append(DefinitionError(pointer=pointer(*at, "enum", place), message=message))
    if wrong:
        return None
    literal: Any = Literal
    return FieldValue(kind="choice", annotation=literal[tuple(given)], choices=tuple(given))


def _wrong_choice(one: object, before: list[object]) -> str | None:
    if not isinstance(one, str) or not 0 < len(one) <= LONGEST_CHOICE:
        return f"must be a string of 1 to {LONGEST_CHOICE} characters"
    if one in before:
        return "is given twice"
    if one != " ".join(one.split()) or not can_be_seen(one) or not is_storable(one):
        return "must be text on one line that can be seen, without spaces around it"
    return None


def _number(
    node: Mapping[str, Any], kind: str, at: tuple[str, ...], faults: list[DefinitionError]
) -> FieldValue | None:
    given = {name: node[name] for name in BOUNDS if name in node}
    for name, value in given.items():
        plain = isinstance(value, int) if kind == "integer" else isinstance(value, int | float)
        if not plain or isinstance(value, bool) or abs(value) > _WIDEST:
            message = f"must be {'a whole number' if kind == 'integer' else 'a number'} of at most 2^53"
            faults.append(DefinitionError(pointer=pointer(*at, name), message=message))
            return None
    lower = max((given[name] for name in ("minimum", "exclusiveMinimum") if name in given), default=-_WIDEST)
    upper = min((given[name] for name in ("maximum", "exclusiveMaximum") if name in given), default=_WIDEST)
    empty = lower == upper and any(name.startswith("exclusive") for name in given)
    if lower > upper or empty:
        faults.append(DefinitionError(pointer=pointer(*at), message="its bounds leave no value"))
        return None
    bounds = {
        "ge": given.get("minimum", -_WIDEST),
        "le": given.get("maximum", _WIDEST),
        "gt": given.get("exclusiveMinimum"),
        "lt": given.get("exclusiveMaximum"),
    }
    if kind == "integer":
        return FieldValue(kind=kind, annotation=Annotated[int, Field(strict=True, **bounds)])
    number: Any = Annotated[float, Field(strict=True, allow_inf_nan=False, **bounds), AfterValidator(_unsigned)]
    return FieldValue(kind=kind, annotation=number)


def _unsigned(value: float) -> float:
    """Return the number; zero loses its sign, which other stored forms of the number don't keep."""
    return value + 0.0


def _array(
    node: Mapping[str, Any], at: tuple[str, ...], faults: list[DefinitionError], *, named: bool
) -> FieldValue | None:
    least = count(node, "minItems", at, faults, least=0, most=MOST_ITEMS) or 0
    most = count(node, "maxItems", at, faults, least=1, most=MOST_ITEMS) or MOST_ITEMS
    items = node.get("items")
    if not isinstance(items, Mapping):
        faults.append(
            DefinitionError(pointer=pointer(*at, "items"), message="must be a schema: say what the array holds")
        )
        return None
    if items.get("type") == "array":
        faults.append(
            DefinitionError(pointer=pointer(*at, "items", "type"), message=f"must be one of {', '.join(_SCALARS)}")
        )
        return None
    inner = value(items, (*at, "items"), faults, named=named)
    if inner is None:
        return None
    if least > most:
        faults.append(DefinitionError(pointer=pointer(*at, "minItems"), message="must not be more than maxItems"))
        return None
    several: Any = tuple
    annotation: Any = Annotated[several[inner.annotation, ...], Field(min_length=least, max_length=most)]
    return FieldValue(kind=inner.kind, annotation=annotation, many=True, choices=inner.choices, filled=least > 0)


def _day(value: object) -> object:
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d{2}-\d{2}", value):
        return date.fromisoformat(value)
    if type(value) is date:
        return value
    raise ValueError("must be a date such as 2026-05-09")


_Day: Any = Annotated[date, BeforeValidator(_day), AfterValidator(plausible)]

MOST_FIELDS: Final = 32

ROOT: Final = "payload"

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,62}")


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldSpec:
    """A field of a payload.

    `kind` is its type in the schema, or `choice`, `date` or `instant` for a string with an `enum` or a format; for an
    array, that of its items. `annotation` is its type for pydantic; `filled` means that it is never an empty list.
    """

    name: str
    kind: str
    many: bool
    required: bool
    description: str
    annotation: Any
    choices: tuple[str, ...] = ()
    filled: bool = True


def read_schema(
    schema: Mapping[str, Any], faults: list[DefinitionError], *, named: Container[str] = ()
) -> dict[str, FieldSpec]:
    """Return the valid fields by name; faults of others are added to the faults.

    `named` fields hold names, which have at most 200 characters and no control characters.
    """
    faults += unsupported_keywords(schema, "object", (ROOT,))
    if schema.get("type") != "object":
        faults.append(DefinitionError(pointer=pointer(ROOT, "type"), message='must be "object"'))
    if schema.get("additionalProperties", False) is not False:
        message = "must be false, or left out: a payload has the fields of its schema and no others"
        faults.append(DefinitionError(pointer=pointer(ROOT, "additionalProperties"), message=message))
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or not properties:
        faults.append(DefinitionError(pointer=pointer(ROOT, "properties"), message="must name at least one field"))
        return {}
    if len(properties) > MOST_FIELDS:
        message = f"names {len(properties)} fields: at most {MOST_FIELDS} are taken"
        faults.append(DefinitionError(pointer=pointer(ROOT, "properties"), message=message))
        return {}
    required = _required(schema, properties, faults)
    found = (
        _field(name, node, faults, required=name in required, named=name in named) for name, node in properties.items()
    )
    return {one.name: one for one in found if one is not None}


def _required(
    schema: Mapping[str, Any], properties: Mapping[str, Any], faults: list[DefinitionError]
) -> frozenset[str]:
    given = schema.get("required", [])
    if not isinstance(given, list):
        faults.append(DefinitionError(pointer=pointer(ROOT, "required"), message="must be a list of fields"))
        return frozenset()
    for place, name in enumerate(given):
        if not isinstance(name, str) or name not in properties:
            message = f"names {str(name)[:80]!r}, which is not among the properties"
            faults.append(DefinitionError(pointer=pointer(ROOT, "required", place), message=message))
    return frozenset(name for name in given if isinstance(name, str))


def _field(name: str, node: object, faults: list[DefinitionError], *, required: bool, named: bool) -> FieldSpec | None:
    at = (ROOT, "properties", name)
    if _NAME.fullmatch(name) is None:
        message = "a field's name is made of lower-case letters, digits and underscores, 63 at most, a letter first"
        faults.append(DefinitionError(pointer=pointer(*at), message=message))
        return None
    found = value(node, at, faults, named=named)
    if found is None or not isinstance(node, Mapping):
        return None
    return FieldSpec(
        name=name,
        kind=found.kind,
        many=found.many,
        required=required,
        description=description(node, at, faults),
        annotation=found.annotation,
        choices=found.choices,
        filled=found.filled,
    )

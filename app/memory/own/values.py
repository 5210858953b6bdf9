"""What one field of a payload can hold: from its schema to the type that pydantic takes it for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from app.memory.calendar import When, plausible
from app.memory.own import keywords
from app.memory.own.faults import Fault, pointer
from app.memory.strings import can_be_seen, is_storable, printable, storable, visible

MOST_CHOICES: Final = 50
MOST_ITEMS: Final = 50
LONGEST_TEXT: Final = 8_000
USUAL_TEXT: Final = 2_000
"""Characters of a string without a `maxLength`."""

LONGEST_NAME: Final = 200
LONGEST_CHOICE: Final = 100
_WIDEST: Final = 2**53
_FORMATS: Final = ("date", "date-time")
_SCALARS: Final = ("string", "integer", "number", "boolean")


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """What a field can hold; see `FieldSpec`."""

    kind: str
    annotation: Any
    many: bool = False
    choices: tuple[str, ...] = ()
    filled: bool = True


def value(node: object, at: tuple[str, ...], faults: list[Fault], *, named: bool) -> Value | None:
    """Return what a field's schema lets it hold; None where it is wrong, which is added to the faults."""
    if not isinstance(node, Mapping):
        faults.append(Fault(pointer=pointer(*at), message="must be a schema: an object with a `type`"))
        return None
    kind = node.get("type")
    if not isinstance(kind, str) or kind not in {*_SCALARS, "array"}:
        optional = " (what may be null is left out of `required`)" if isinstance(kind, list) else ""
        nested = ": a payload is flat; give what lies within fields of their own" if kind == "object" else ""
        message = f"must be one of {', '.join((*_SCALARS, 'array'))}{nested}{optional}"
        faults.append(Fault(pointer=pointer(*at, "type"), message=message))
        return None
    unsupported = list(keywords.unsupported(node, kind, at))
    faults += unsupported
    return None if unsupported else _of_kind(kind, node, at, faults, named=named)


def _of_kind(
    kind: str, node: Mapping[str, Any], at: tuple[str, ...], faults: list[Fault], *, named: bool
) -> Value | None:
    match kind:
        case "string":
            return _string(node, at, faults, named=named)
        case "integer" | "number":
            return _number(node, kind, at, faults)
        case "boolean":
            return Value(kind="boolean", annotation=Annotated[bool, Field(strict=True)])
        case _:
            return _array(node, at, faults, named=named)


def _string(node: Mapping[str, Any], at: tuple[str, ...], faults: list[Fault], *, named: bool) -> Value | None:
    if "enum" in node:
        return _choice(node, at, faults)
    if "format" in node:
        if node["format"] not in _FORMATS:
            faults.append(Fault(pointer=pointer(*at, "format"), message=f"must be one of {', '.join(_FORMATS)}"))
            return None
        faults += keywords.meaningless(node, ("minLength", "maxLength"), "format", at)
        day = node["format"] == "date"
        return Value(kind="date" if day else "instant", annotation=_Day if day else When)
    limit, why = (LONGEST_NAME, " (it is a name, or part of a slot)") if named else (LONGEST_TEXT, "")
    least = keywords.count(node, "minLength", at, faults, least=0, most=limit, why=why)
    most = keywords.count(node, "maxLength", at, faults, least=1, most=limit, why=why)
    longest = most or (LONGEST_NAME if named else max(USUAL_TEXT, least or 0))
    if (least or 0) > longest:
        faults.append(Fault(pointer=pointer(*at, "minLength"), message="must not be more than maxLength"))
        return None
    bounds = StringConstraints(strip_whitespace=True, min_length=max(1, least or 0), max_length=longest)
    text: Any = Annotated[str, bounds, AfterValidator(storable), AfterValidator(visible)]
    if named:
        text = Annotated[text, AfterValidator(printable)]
    return Value(kind="string", annotation=text)


def _choice(node: Mapping[str, Any], at: tuple[str, ...], faults: list[Fault]) -> Value | None:
    faults += keywords.meaningless(node, ("minLength", "maxLength", "format"), "enum", at)
    given = node["enum"]
    if not isinstance(given, list) or not 0 < len(given) <= MOST_CHOICES:
        faults.append(Fault(pointer=pointer(*at, "enum"), message=f"must be a list of 1 to {MOST_CHOICES} strings"))
        return None
    wrong = False
    for place, one in enumerate(given):
        message = _wrong_choice(one, given[:place])
        if message is not None:
            wrong = True
            faults.append(Fault(pointer=pointer(*at, "enum", place), message=message))
    if wrong:
        return None
    literal: Any = Literal
    return Value(kind="choice", annotation=literal[tuple(given)], choices=tuple(given))


def _wrong_choice(one: object, before: list[object]) -> str | None:
    if not isinstance(one, str) or not 0 < len(one) <= LONGEST_CHOICE:
        return f"must be a string of 1 to {LONGEST_CHOICE} characters"
    if one in before:
        return "is given twice"
    if one != " ".join(one.split()) or not can_be_seen(one) or not is_storable(one):
        return "must be text on one line that can be seen, without spaces around it"
    return None


def _number(node: Mapping[str, Any], kind: str, at: tuple[str, ...], faults: list[Fault]) -> Value | None:
    given = {name: node[name] for name in keywords.BOUNDS if name in node}
    for name, value in given.items():
        plain = isinstance(value, int) if kind == "integer" else isinstance(value, int | float)
        if not plain or isinstance(value, bool) or abs(value) > _WIDEST:
            message = f"must be {'a whole number' if kind == 'integer' else 'a number'} of at most 2^53"
            faults.append(Fault(pointer=pointer(*at, name), message=message))
            return None
    lower = max((given[name] for name in ("minimum", "exclusiveMinimum") if name in given), default=-_WIDEST)
    upper = min((given[name] for name in ("maximum", "exclusiveMaximum") if name in given), default=_WIDEST)
    empty = lower == upper and any(name.startswith("exclusive") for name in given)
    if lower > upper or empty:
        faults.append(Fault(pointer=pointer(*at), message="its bounds leave no value"))
        return None
    bounds = {
        "ge": given.get("minimum", -_WIDEST),
        "le": given.get("maximum", _WIDEST),
        "gt": given.get("exclusiveMinimum"),
        "lt": given.get("exclusiveMaximum"),
    }
    if kind == "integer":
        return Value(kind=kind, annotation=Annotated[int, Field(strict=True, **bounds)])
    number: Any = Annotated[float, Field(strict=True, allow_inf_nan=False, **bounds), AfterValidator(_unsigned)]
    return Value(kind=kind, annotation=number)


def _unsigned(value: float) -> float:
    """Return the number; zero without a sign, which nothing else that is stored of it keeps."""
    return value + 0.0


def _array(node: Mapping[str, Any], at: tuple[str, ...], faults: list[Fault], *, named: bool) -> Value | None:
    least = keywords.count(node, "minItems", at, faults, least=0, most=MOST_ITEMS) or 0
    most = keywords.count(node, "maxItems", at, faults, least=1, most=MOST_ITEMS) or MOST_ITEMS
    items = node.get("items")
    if not isinstance(items, Mapping):
        faults.append(Fault(pointer=pointer(*at, "items"), message="must be a schema: say what the array holds"))
        return None
    if items.get("type") == "array":
        faults.append(Fault(pointer=pointer(*at, "items", "type"), message=f"must be one of {', '.join(_SCALARS)}"))
        return None
    inner = value(items, (*at, "items"), faults, named=named)
    if inner is None:
        return None
    if least > most:
        faults.append(Fault(pointer=pointer(*at, "minItems"), message="must not be more than maxItems"))
        return None
    several: Any = tuple
    annotation: Any = Annotated[several[inner.annotation, ...], Field(min_length=least, max_length=most)]
    return Value(kind=inner.kind, annotation=annotation, many=True, choices=inner.choices, filled=least > 0)


def _day(value: object) -> object:
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d{2}-\d{2}", value):
        return date.fromisoformat(value)
    if type(value) is date:
        return value
    raise ValueError("must be a date such as 2026-05-09")


_Day: Any = Annotated[date, BeforeValidator(_day), AfterValidator(plausible)]

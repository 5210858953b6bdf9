"""What the columns of an import's lines may hold: what the service writes there itself, and nothing it can't read."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from functools import cache
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    create_model,
)
from sqlalchemy import Table
from sqlalchemy.types import ARRAY, BigInteger, Boolean, Date, DateTime, Float, Integer, LargeBinary, SmallInteger

from app.db.porting import columns, prefix
from app.db.tables import memories
from app.memory.calendar import EARLIEST_YEAR, LATEST_YEAR, known_zone
from app.memory.extraction import Role, TurnStatus
from app.memory.metadata import small
from app.memory.strings import MAX_TEXT, visible
from app.model import Category, LinkKind, ReviewReason, SpeechAct, Status
from app.write import kept

STRICT = ConfigDict(extra="forbid", strict=True, protected_namespaces=())

LATEST = "latest"
"""The validation context's name for the latest instant that something can have been recorded at."""

_WIDTHS = ((SmallInteger, 15), (BigInteger, 63), (Integer, 31))
_HEX_LENGTH = 32
_LONGEST_LIFETIME = 100
"""Years that a lifetime could once add to a time."""


_PAIR = Field(min_length=2, max_length=2)


class _Standing(BaseModel):
    """What an event of the audit log says of a status and a confidence: one value, or what was before and is after."""

    model_config = ConfigDict(strict=True)

    status: str | Annotated[list[str | None], _PAIR] | None = None
    confidence: float | Annotated[list[float | None], _PAIR] | None = None


class _Candidate(BaseModel):
    """What of a report's candidate is read again."""

    model_config = ConfigDict(strict=True)

    type: str
    decision: str
    reason: str
    memory_id: str | None


class _Report(BaseModel):
    """What became of a turn."""

    model_config = STRICT

    candidates: list[_Candidate]
    trace: list[dict[str, object]]


def _recorded(value: datetime, info: ValidationInfo) -> datetime:
    if value > (info.context or {})[LATEST]:
        raise ValueError("lies in the future")
    return value


def _in_bounds(value: datetime) -> datetime:
    # A time of the year 1000 in its own zone can be of the year before in UTC, and an older service's lifetimes
    # went beyond the last year.
    if not EARLIEST_YEAR - 1 <= value.year <= LATEST_YEAR + _LONGEST_LIFETIME + 1:
        raise ValueError(f"must lie between the years {EARLIEST_YEAR} and {LATEST_YEAR}")
    return value


def _read_as(model: type[BaseModel]) -> AfterValidator:
    def check(value: dict[str, object]) -> dict[str, object]:
        _fits(model, value)
        return value

    return AfterValidator(check)


def _fits(model: type[BaseModel], value: object, *, strict: bool = True, context: dict[str, Any] | None = None) -> None:
    """Raise ValueError that names what of an object can't be read."""
    try:
        model.model_validate(value, strict=strict, context=context)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        raise ValueError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None


def _extraction(value: dict[str, object]) -> dict[str, object]:
    try:
        kept.recalled(value)
    except (ValidationError, KeyError):
        raise ValueError("is no extraction") from None
    return value


def _was(value: dict[str, object], info: ValidationInfo) -> dict[str, object]:
    _fits(_earlier(), value, strict=False, context=info.context)
    return value


Instant = Annotated[AwareDatetime, AfterValidator(_in_bounds)]
Recorded = Annotated[Instant, AfterValidator(_recorded)]
Object = dict[str, object]
Text = Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT), AfterValidator(visible)]
Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
HalfLife = Annotated[float, Field(ge=0.001, le=1e6, allow_inf_nan=False)]
"""Days; 2^(-age / half-life) is computed with it."""
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Zone = Annotated[str, AfterValidator(known_zone)]
Metadata = Annotated[Object, AfterValidator(small)]
Bytes = Annotated[str, StringConstraints(pattern=r"^\\x(?:[0-9a-f]{2})*$")]
Vector = Annotated[str, StringConstraints(pattern=r"^\[[-+0-9.eE,]+\]$")]
Range = Annotated[str, StringConstraints(pattern=r'^[\[(]"[012]\d{3}-[^"]{5,40}","[012]\d{3}-[^"]{5,40}"[\])]$')]

_OF_COLUMN: Mapping[tuple[str, str], Any] = {
    ("turns", "content"): Text,
    ("turns", "timezone"): Zone,
    ("turns", "report"): Annotated[Object, _read_as(_Report)],
    ("turns", "extraction"): Annotated[Object, AfterValidator(_extraction)],
    ("turns", "status"): TurnStatus,
    ("turns", "role"): Role,
    ("turns", "occurred_at"): Instant,
    ("memories", "content"): Text,
    ("memories", "status"): Status,
    ("memories", "mentions"): Annotated[int, Field(ge=1, lt=2**31)],
    ("memory_past", "status"): Status,
    ("memory_past", "was"): Annotated[Object, AfterValidator(_was)],
    ("memory_links", "kind"): LinkKind,
    ("entities", "canonical_name"): Text,
    ("entity_past", "canonical_name"): Text,
    ("audit_events", "detail"): Annotated[Object, _read_as(_Standing)],
    ("entity_merges", "merged_at"): Recorded | Literal["-infinity"],
}
"""Columns that hold less than their name or kind allows."""

_OF_NAME: Mapping[str, Any] = {
    "half_life_days": HalfLife,
    "metadata": Metadata,
    "category": Category,
    "speech_act": SpeechAct,
    "review_reason": ReviewReason,
    **dict.fromkeys(
        ("source_strength", "extractor_confidence", "prior", "confidence", "importance", "floor"), Fraction
    ),
    **dict.fromkeys(("stated_at", "valid_from", "valid_until", "ended_at", "since", "said_at"), Instant),
}
"""Columns that hold the same wherever they are. Times not named here are when something was recorded."""

_OF_KIND: tuple[tuple[type[Any], Any], ...] = (
    *((kind, Annotated[int, Field(ge=0, lt=2**bits)]) for kind, bits in _WIDTHS),
    (Boolean, bool),
    (Float, Amount),
    (Date, date),
    (LargeBinary, Bytes),
    (ARRAY, list[str]),
    (DateTime, Recorded),
)

_OF_DIALECT: Mapping[str, Any] = {
    "UUID": UUID,
    "JSONB": Object,
    "JSON": Object,
    "HALFVEC": Vector,
    "TSTZRANGE": Range,
}


def kind_of(table: Table, name: str) -> Any:  # noqa: ANN401 - what pydantic takes for a type
    """Return what pydantic takes for the type of a column's values, null left aside."""
    public = prefix(table, name)
    return _plain(table, name) if public is None else _public(public)


def _plain(table: Table, name: str) -> Any:  # noqa: ANN401 - what pydantic takes for a type
    named = _OF_COLUMN.get((table.name, name)) or _OF_NAME.get(name)
    if named is not None:
        return named
    kind = table.columns[name].type
    for plain, python in _OF_KIND:
        if isinstance(kind, plain):
            return python
    return {"UUID": UUID, "JSONB": Object, "JSON": Object, "HALFVEC": Vector, "TSTZRANGE": Range}.get(
        type(kind).__name__, str
    )


@cache
def _earlier() -> type[BaseModel]:
    """Return the model of what `memory_past.was` holds: what a memory was, as the database tells a row."""
    fields: dict[str, Any] = {}
    for name in columns(memories):
        kind = UUID if prefix(memories, name) is not None else _plain(memories, name)
        fields[name] = (kind | None if memories.columns[name].nullable else kind, None)
    made: type[BaseModel] = create_model("was", __config__=ConfigDict(protected_namespaces=()), **fields)
    return made


@cache
def _public(kind: str) -> Any:  # noqa: ANN401 - what pydantic takes for a type
    def plain(value: object) -> object:
        if value is None or isinstance(value, UUID):
            return value
        head, _, digits = value.partition("_") if isinstance(value, str) else ("", "", "")
        if head != kind or len(digits) != _HEX_LENGTH or not digits.isalnum():
            raise ValueError(f"must be an id like {kind}_ and {_HEX_LENGTH} hexadecimal digits")
        return UUID(hex=digits)

    return Annotated[UUID, BeforeValidator(plain), PlainSerializer(str)]

"""Strict reading of an import's lines, whose columns are those of the tables with stricter types.

Columns must hold values that the service itself could have written, so that it can read all that it imports.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache
from typing import Annotated, Any, Literal, NotRequired, Self
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
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    create_model,
    model_validator,
    with_config,
)
from pydantic_core import from_json
from typing_extensions import TypedDict

from app.db.tables import Table, entities, memories
from app.db.turns import own_metadata
from app.errors import InvalidInput
from app.features.portability.exports import FORMAT, VERSION
from app.features.portability.sql.exports import RECORDS, RecordKind, columns, prefix
from app.memory import audit_text
from app.memory.calendar import EARLIEST_YEAR, LATEST_YEAR, known_zone_or_offset
from app.memory.extraction import Role, TurnStatus
from app.memory.fields import MAX_TEXT, Name, UserId, check_metadata, visible
from app.model import Category, LinkKind, MemoryStatus, ReviewReason, Scope, ScopeKind, SpeechAct
from app.write import extract

STRICT = ConfigDict(extra="forbid", strict=True, protected_namespaces=())

LATEST = "latest"
"""The key of the validation context for the latest possible time of recording."""

_HEX_LENGTH = 32

_LONGEST_LIFETIME = 100
"""Years that a lifetime could add to a time in earlier releases."""

_PAIR = Field(min_length=2, max_length=2)


class _Standing(BaseModel):
    """The status and the confidence in an audit event's detail: one value, or a pair of before and after."""

    model_config = ConfigDict(strict=True)

    status: str | Annotated[list[str | None], _PAIR] | None = None
    confidence: float | Annotated[list[float | None], _PAIR] | None = None


class _Candidate(BaseModel):
    """The fields of a report's candidate that the service reads."""

    model_config = ConfigDict(strict=True)

    type: str
    decision: str
    reason: str
    memory_id: str | None


class _Report(BaseModel):
    """The report of a turn."""

    model_config = STRICT

    candidates: list[_Candidate]
    trace: list[dict[str, object]]


def _check_recorded(value: datetime, info: ValidationInfo) -> datetime:
    if value > (info.context or {})[LATEST]:
        raise ValueError("lies in the future")
    return value


def _in_bounds(value: datetime) -> datetime:
    # A time of the year 1000 in its own zone can be of the year before in UTC, and lifetimes of earlier releases
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
    """Raise ValueError with the first fault of an object that does not fit a model."""
    try:
        model.model_validate(value, strict=strict, context=context)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        raise ValueError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None


def _extraction(value: dict[str, object]) -> dict[str, object]:
    try:
        extract.extraction_from_json(value)
    except (ValidationError, KeyError):
        raise ValueError("is no extraction") from None
    return value


def _was(value: dict[str, object], info: ValidationInfo) -> dict[str, object]:
    _fits(_earlier(), value, strict=False, context=info.context)
    return value


Instant = Annotated[AwareDatetime, AfterValidator(_in_bounds)]

Recorded = Annotated[Instant, AfterValidator(_check_recorded)]

Object = dict[str, object]

Text = Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT), AfterValidator(visible)]

Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]

HalfLife = Annotated[float, Field(ge=0.001, le=1e6, allow_inf_nan=False)]
"""Days, bounded so that 2^(-age / half-life) can be computed."""

Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]

Zone = Annotated[str, AfterValidator(known_zone_or_offset)]

Metadata = Annotated[Object, AfterValidator(check_metadata)]

Bytes = Annotated[str, StringConstraints(pattern=r"^\\x(?:[0-9a-f]{2})*$")]

Vector = Annotated[str, StringConstraints(pattern=r"^\[[-+0-9.eE,]+\]$")]

Range = Annotated[str, StringConstraints(pattern=r'^[\[(]"[012]\d{3}-[^"]{5,40}","[012]\d{3}-[^"]{5,40}"[\])]$')]


def _turn_metadata(value: dict[str, object]) -> dict[str, object]:
    check_metadata(own_metadata(value))
    return value


_OF_COLUMN: Mapping[tuple[str, str], Any] = {
    ("turns", "content"): Text,
    ("turns", "timezone"): Zone,
    ("turns", "metadata"): Annotated[Object, AfterValidator(_turn_metadata)],
    ("turns", "report"): Annotated[Object, _read_as(_Report)],
    ("turns", "extraction"): Annotated[Object, AfterValidator(_extraction)],
    ("turns", "status"): TurnStatus,
    ("turns", "role"): Role,
    ("turns", "occurred_at"): Instant,
    ("memories", "content"): Text,
    ("memories", "status"): MemoryStatus,
    ("memories", "mentions"): Annotated[int, Field(ge=1, lt=2**31)],
    ("memory_past", "status"): MemoryStatus,
    ("memory_past", "was"): Annotated[Object, AfterValidator(_was)],
    ("memory_links", "kind"): LinkKind,
    ("entities", "canonical_name"): Text,
    ("entity_past", "canonical_name"): Text,
    ("audit_events", "detail"): Annotated[Object, _read_as(_Standing)],
    ("entity_merges", "merged_at"): Recorded | Literal["-infinity"],
}
"""Types of columns that are stricter than those of their name or kind."""

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
"""Types of columns by name, in all tables. Times that are not listed are times of recording."""

_OF_KIND: Mapping[str, Any] = {
    "SmallInteger": Annotated[int, Field(ge=0, lt=2**15)],
    "Integer": Annotated[int, Field(ge=0, lt=2**31)],
    "BigInteger": Annotated[int, Field(ge=0, lt=2**63)],
    "Float": Amount,
    "Double": Amount,
    "Boolean": bool,
    "Date": date,
    "DateTime": Recorded,
    "LargeBinary": Bytes,
    "Text": str,
    "ARRAY": list[str],
    "UUID": UUID,
    "JSONB": Object,
    "JSON": Object,
    "HALFVEC": Vector,
    "TSTZRANGE": Range,
}


def column_type(table: Table, name: str) -> Any:  # noqa: ANN401 - what pydantic takes for a type
    """Return the type annotation of a column's values, without null."""
    public = prefix(table, name)
    return _plain(table, name) if public is None else _public(public)


def _plain(table: Table, name: str) -> Any:  # noqa: ANN401 - what pydantic takes for a type
    named = _OF_COLUMN.get((table.name, name)) or _OF_NAME.get(name)
    if named is not None:
        return named
    return _OF_KIND[type(table.columns[name].type).__name__]


@cache
def _earlier() -> type[BaseModel]:
    """Return the model of `memory_past.was`: a former state of a memory, as Postgres writes a row as JSON."""
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
        return UUID(int=int(digits, 16))

    return Annotated[UUID, BeforeValidator(plain), PlainSerializer(str)]


MOST_NAMED = 5
"""Most faults that an error names."""

CLOCKS_DIFFER = timedelta(days=1)
"""The furthest that the clock of the exporting service may be ahead."""

_MOST_WORDS = 1e6
"""Most words of a text."""


class ScopeIn(BaseModel):
    """The scope of a line."""

    model_config = STRICT

    kind: Literal["global", "user", "agent"]
    user_id: UserId | None = None
    agent_id: Name | None = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        named = (self.user_id is not None, self.agent_id is not None)
        fitting = {"global": {(False, False)}, "user": {(True, False)}, "agent": {(False, True), (True, True)}}
        if named not in fitting[self.kind]:
            raise ValueError(f"user_id and agent_id do not fit the kind {self.kind}")
        return self

    @property
    def scope(self) -> Scope:
        """Return the scope."""
        return Scope(kind=ScopeKind(self.kind), user_id=self.user_id, agent_id=self.agent_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A parsed line: its number, kind, scope, and the values of its row and of nested rows."""

    number: int
    record: str
    scope: Scope | None
    values: Mapping[str, Any]
    inner: Mapping[str, list[dict[str, Any]]]

    @property
    def id(self) -> UUID | None:
        """Return the id of the line's row, None if it has none."""
        found: UUID | None = self.values.get("id")
        return found

    @property
    def named_entities(self) -> set[UUID]:
        """Return the ids of the entities that a memory names; none for a line of another kind."""
        found = [one["entity_id"] for one in self.inner.get("memory_entities", ())]
        found += [one[end] for one in self.inner.get("relations", ()) for end in ("from_entity", "to_entity")]
        found += [one.get("speaker_id") for one in self.inner.get("memory_index", ())]
        return {one for one in (*found, self.values.get("subject_id")) if one is not None}

    @property
    def is_entity(self) -> bool:
        """True when the line is an entity's."""
        return KINDS[self.record].table is entities


class UnreadableLine(InvalidInput):
    """A line can't be read; the message says why."""


def parse(content: bytes) -> Any:  # noqa: ANN401 - any JSON
    """Return the value of a line's JSON, or raise UnreadableLine."""
    try:
        found = from_json(content, allow_inf_nan=False)
    except ValueError as error:
        # The parser counts lines within the line.
        raise UnreadableLine(f"not JSON: {str(error)[:200].replace(' at line 1 column ', ' at column ')}") from None
    except RecursionError:
        raise UnreadableLine("not JSON that can be read: nested too deeply") from None
    if not isinstance(found, dict) or not isinstance(found.get("record"), str):
        raise UnreadableLine('not a JSON object with a "record"')
    if b"\\u0000" in content and _has_nul(found):
        raise UnreadableLine("NUL characters can't be stored")
    return found


def require_header(found: Mapping[str, Any]) -> None:
    """Raise InvalidInput unless the first line is the header of an export of a known version."""
    version = found.get("version")
    if found["record"] != "header" or found.get("format") != FORMAT or type(version) is not int:
        raise InvalidInput("the first line must be the header of an export", field="line 1")
    if version > VERSION:
        raise InvalidInput(f"the file is of format {version}; this service reads up to {VERSION}", field="version")


def line_size(found: Mapping[str, Any]) -> tuple[Scope, float | None]:
    """Return the scope of a `scope` line and the average length of its texts, None for an impossible one."""
    try:
        scope = ScopeIn.model_validate(found.get("scope")).scope
    except ValueError:
        raise UnreadableLine("scope: must have a kind, and the user_id and agent_id that fit it") from None
    average = found.get("lexical_average")
    if not isinstance(average, int | float) or not 0 <= average <= _MOST_WORDS:
        return scope, None
    return scope, float(average)


def read(number: int, record: str, content: bytes, *, now: datetime) -> Line:
    """Return a line of a known kind, or raise UnreadableLine with its faults."""
    kind = KINDS[record]
    try:
        found = _reader(record).validate_json(content, context={LATEST: now + CLOCKS_DIFFER})
    except ValidationError as error:
        told = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors(include_url=False)]
        raise UnreadableLine("; ".join(told[:MOST_NAMED])) from None
    del found["record"]
    scope: ScopeIn | None = found.pop("scope", None)
    inner = {table.name: found.pop(table.name, []) for table, _ in kind.inner}
    if record in _MORE:
        _MORE[record](found)
    return Line(number=number, record=record, scope=None if scope is None else scope.scope, values=found, inner=inner)


def _not_its_own(values: Mapping[str, Any]) -> None:
    if values.get("merged_into") == values["id"]:
        raise UnreadableLine("merged_into: an entity can't be merged into itself")


def _tellable(values: Mapping[str, Any]) -> None:
    """Raise UnreadableLine for an event that can't be described, as events can't be removed later."""
    try:
        audit_text.describe(values["action"], values["occurred_at"], values["actor"], values.get("detail") or {})
    except (TypeError, ValueError, LookupError, AttributeError):
        raise UnreadableLine(f"detail: is not the detail of an event {values['action'][:80]!r}") from None


_MORE: Mapping[str, Callable[[Mapping[str, Any]], None]] = {"entity": _not_its_own, "audit_event": _tellable}
"""Checks of a line's values together, by kind."""


KINDS: Mapping[str, RecordKind] = {one.name: one for one in RECORDS}


@cache
def _reader(record: str) -> TypeAdapter[dict[str, Any]]:
    """Return what reads a line of a kind into dictionaries of the columns that it gives."""
    kind = KINDS[record]
    fields: dict[str, Any] = {"record": Literal[record]}
    if kind.of is not None or "scope_id" in kind.table.columns:
        optional = kind.of is None and kind.table.columns["scope_id"].nullable
        fields["scope"] = NotRequired[ScopeIn | None] if optional else ScopeIn
    fields |= _fields(kind.table)
    for table, column in kind.inner:
        within = _typed_dict(f"{table.name}_row", _fields(table, without=column))
        fields[table.name] = NotRequired[list[within]]  # type: ignore[valid-type]
    return TypeAdapter(_typed_dict(record, fields))


def _typed_dict(name: str, fields: Mapping[str, Any]) -> Any:  # noqa: ANN401 - what pydantic takes for a type
    return with_config(STRICT)(TypedDict(name, dict(fields)))  # type: ignore[operator]


def _fields(table: Table, *, without: str | None = None) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name in columns(table):
        if name == without:
            continue
        column = table.columns[name]
        kind = column_type(table, name)
        kind = kind | None if column.nullable else kind
        # Vectors may be left out, and columns with defaults may be missing in an older file.
        optional = column.nullable or column.server_default is not None or name == "embedding"
        fields[name] = NotRequired[kind] if optional else kind
    return fields


def _has_nul(value: object) -> bool:
    match value:
        case str():
            return "\x00" in value
        case dict():
            return any(_has_nul(one) for pair in value.items() for one in pair)
        case list():
            return any(map(_has_nul, value))
        case _:
            return False

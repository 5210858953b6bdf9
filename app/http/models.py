"""Models of requests and answers: bounded fields, bases of bodies and query strings, and the wire format of answers.

A model of an answer declares each field once, for OpenAPI and for the JSON that is made of a value. Answers are plain
dictionaries, because validating an answer costs more than making it. A field is read from the attribute of its own name
unless its annotation has a `Source`.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import partial, reduce
from operator import or_
from typing import Annotated, Any, ClassVar, Final, Literal, Self, get_args, get_origin
from uuid import UUID
from zoneinfo import ZoneInfo

from fastapi import Query
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    ModelWrapValidatorHandler,
    Tag,
    ValidationError,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import to_json
from starlette.responses import Response, StreamingResponse

from app import ids
from app.errors import NotFound
from app.http.problems import BUILT_IN, OWN, FieldError, InvalidFields
from app.memory.calendar import known_zone, plausible
from app.memory.fields import A_NUMBER, Name, check_metadata

MOST_RESULTS = 200
"""Most items of one answer."""

_MOST_FAULTS = 5_000
"""Faults of a body that are described, each for some microseconds in which no other request goes on."""

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")

_LOST_PLUS = re.compile(r"\d[T ]\d{2}:\d{2}\S* \d{2}:?(?:\d{2})?$")
"""A time whose offset lost its plus sign, which a query string decodes to a space."""


def _require_iso_text(value: object) -> object:
    """Refuse anything but ISO 8601 text, because pydantic would read numbers as seconds since 1970."""
    if isinstance(value, str) and _LOST_PLUS.search(value):
        raise ValueError("has a space before its offset: in a URL, write + as %2B")
    if isinstance(value, str) and _DATE.match(value.strip()):
        return value.strip()
    if isinstance(value, datetime):
        return value
    raise ValueError("must be an ISO 8601 date and time, such as 2026-05-09T14:30:00Z")


def zone(name: str | None) -> tzinfo:
    """Return a validated time zone, UTC for None."""
    return ZoneInfo(name or "UTC")


def aware(value: datetime | None, zone: tzinfo) -> datetime | None:
    """Return an aware time; a time without an offset is read in the zone."""
    return value if value is None or value.tzinfo is not None else value.replace(tzinfo=zone)


def period(since: datetime | None, until: datetime | None, prefix: str = "") -> dict[str, datetime | None]:
    """Return the ends of a period by their fields, whose names have a prefix; times without an offset are in UTC.

    Raises InvalidFields for a period that ends before it begins.
    """
    start, end = aware(since, UTC), aware(until, UTC)
    if start is not None and end is not None and start > end:
        raise InvalidFields([FieldError(field=f"{prefix}since", message=f"must not come after {prefix}until")])
    return {f"{prefix}since": start, f"{prefix}until": end}


_AHEAD = timedelta(days=1)
"""The furthest that a stated time may be in the future, because clocks differ and time zones are mistaken."""


def future_fault(at: datetime | None, now: datetime) -> str | None:
    """Return the fault of a time in the future, None without one."""
    return "must not lie in the future" if at is not None and at > now + _AHEAD else None


def both_ends() -> list[FieldError]:
    """Return the faults of a request with both `valid_until` and `ttl_seconds`."""
    return [
        FieldError(field="valid_until", message="give it or ttl_seconds, not both"),
        FieldError(field="ttl_seconds", message="give it or valid_until, not both"),
    ]


def _day(value: object) -> object:
    if isinstance(value, str) and not _DATE.fullmatch(value):
        raise ValueError("must be a date, such as 2026-05-09")
    return value


Day = Annotated[date, BeforeValidator(_day), AfterValidator(plausible)]
"""A date as text, between the years 1000 and 2200."""

Instant = Annotated[datetime, BeforeValidator(_require_iso_text), AfterValidator(plausible)]
"""A date and time as text, between the years 1000 and 2200."""

AS_OF = (
    "What was true then, as far as it is known: only memories that held at this time, whether or not they still do. "
    "Replaced ones held until what replaced them began."
)

KNOWN_AT = (
    "What was believed then: the answer this request had at that time. Nothing recorded, replaced, merged or changed "
    "later shows. What was erased since is gone from the past too."
)

OWNER = "Only what is stored for this user, in whatever scope: the user's own, and those of agents with that user."

TimeZone = Annotated[str, AfterValidator(known_zone), Field(examples=["Europe/Berlin"], max_length=64)]
"""The IANA name of a time zone."""

Lifetime = Annotated[int, Field(strict=True, gt=0, le=100 * 366 * 86_400)]
"""Seconds, up to a hundred years."""

Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False), A_NUMBER]
"""A number from 0 to 1 in a body."""

QueryFraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
"""A number from 0 to 1 in a query string, where it is text."""

Metadata = Annotated[dict[str, object], AfterValidator(check_metadata)]
"""A JSON object of the caller's own: at most 16 KB, at most 8 deep."""


MOST_TAGS = 50

Tags = Annotated[
    list[Name],
    Field(max_length=MOST_TAGS, description="Only memories with all of these in the list `tags` of their metadata."),
]


_COMPARISONS: Final = frozenset(
    {"eq", "ne", "neq", "gt", "gte", "lt", "lte", "in", "nin", "not_in", "contains", "icontains", "like", "ilike"}
    | {"between", "exists", "regex", "any", "all", "none", "startswith", "endswith", "range"}
)
_JOINS: Final = frozenset({"or", "and", "not", "nor", "must", "must_not", "should", "filter"})


def _operator(wanted: object) -> str | None:
    """Return the first key or value that another service takes for an operator: of a comparison, a join, or `*`."""
    if isinstance(wanted, list):
        return next((found for one in wanted if (found := _operator(one)) is not None), None)
    if not isinstance(wanted, dict):
        return "*" if wanted == "*" else None
    for key, value in wanted.items():
        name = key.casefold()
        if name.startswith("$") or (name in _JOINS and isinstance(value, dict | list)):
            return str(key)
        if isinstance(value, dict) and value and all(one.casefold() in _COMPARISONS for one in value):
            return str(next(iter(value)))
        if (found := _operator(value)) is not None:
            return found
    return None


def wanted_metadata(metadata: Mapping[str, object] | None, tags: list[str]) -> dict[str, object]:
    """Return the object that memories' metadata must contain.

    Raises ValueError for tags in both arguments, and for operators, which would be looked for as keys and never found.
    """
    wanted = dict(metadata or {})
    operator = _operator(wanted)
    if operator is not None:
        raise ValueError(
            f"metadata are filtered by what they contain, and `{operator}` is no operator here: give an object of the "
            'values that must be there, such as {"project": "atlas", "tags": ["q3"]}; for one of several values ask '
            "once for each, and compare numbers and times in what is returned"
        )
    if tags and "tags" in wanted:
        raise ValueError("give tags in `tags` or in `metadata`, not in both")
    return wanted | ({"tags": tags} if tags else {})


def parse_id(kind: str, text: str, field: str) -> UUID:
    """Return the UUID of a public id in a field, or raise InvalidFields that names the field."""
    try:
        return ids.parse(kind, text)
    except NotFound as error:
        raise InvalidFields([FieldError(field=field, message=error.message)]) from None


class RequestBody(BaseModel):
    """The base of bodies and query strings."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="wrap")
    @classmethod
    def _bound_faults(cls, value: object, validate: ModelWrapValidatorHandler[Self]) -> Self:
        """Refuse what has very many faults with their number: to describe each takes ten times as long as to find it.

        The framework would describe all of them, so this is no validation error.
        """
        try:
            return validate(value)
        except ValidationError as error:
            if (count := error.error_count()) <= _MOST_FAULTS:
                raise
            told = f"{count:,} fields are unknown or wrong: up to {_MOST_FAULTS:,} are described"
        raise InvalidFields([FieldError(field="", message=told)])


class Clocks(RequestBody):
    """The times of a read."""

    as_of: Instant | None = Field(default=None, description=AS_OF)
    known_at: Instant | None = Field(default=None, description=KNOWN_AT)

    def instants(self) -> dict[str, datetime | None]:
        """Return both times by name; a time without an offset is in UTC."""
        return {"as_of": aware(self.as_of, UTC), "known_at": aware(self.known_at, UTC)}


DIGITS = 6
"""Decimals of numbers in answers."""

Make = Callable[[Any, datetime | None], Any]
"""A function that makes JSON of a value, as of a time."""


@dataclass(frozen=True, slots=True)
class Source:
    """The source of a field: a path of attributes, and a function of the value there.

    By default the path is the field's name; an empty path means the whole value.
    """

    path: str | None = None
    make: Callable[[Any], object] | None = None


@dataclass(frozen=True, slots=True)
class Computed:
    """A field that is computed from the whole value and the time of the answer."""

    make: Make


@dataclass(frozen=True, slots=True)
class Given:
    """A field that the value does not have and the caller passes."""

    default: object = None


JSON = "application/json"
EVENT_STREAM = "text/event-stream"

_LINE_BREAKS = {ord(sign): f"\\u{ord(sign):04x}" for sign in "\x85\u2028\u2029"}
"""Signs at which clients that split lines as Unicode does would cut an event, by their escapes in JSON."""


def json_answer(content: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a value as a JSON response."""
    return Response(to_json(content), status_code=status, media_type=JSON, headers=dict(headers or {}))


def event_text(name: str, data: object) -> str:
    """Return a server-sent event with JSON data."""
    return f"event: {name}\ndata: {to_json(data).decode().translate(_LINE_BREAKS)}\n\n"


def event_stream(events: AsyncIterator[str]) -> StreamingResponse:
    """Return texts of server-sent events as a response."""
    return StreamingResponse(events, media_type=EVENT_STREAM)


def public_id(kind: str, path: str | None = None) -> Source:
    """Return the source of an id that is shown with its prefix; null stays null."""
    return Source(path, partial(_public, kind))


def public_ids(kind: str, path: str | None = None) -> Source:
    """Return the source of a list of such ids."""
    return Source(path, lambda found: [ids.public(kind, one) for one in found])


def rounded_to(digits: int, path: str | None = None) -> Source:
    """Return the source of a number with so many decimals."""
    return Source(path, partial(round, ndigits=digits))


def as_is(value: object) -> object:
    """Return a value unchanged: for numbers of callers' own, which are not rounded."""
    return value


def rounded(value: object) -> object:
    """Return JSON values with every number as answers show numbers."""
    match value:
        case float():
            return round(value, DIGITS)
        case dict():
            return {name: rounded(one) for name, one in value.items()}
        case list() | tuple():
            return [rounded(one) for one in value]
        case _:
            return value


def _public(kind: str, value: UUID | None) -> str | None:
    return None if value is None else ids.public(kind, value)


def _compiled(model: type[BaseModel]) -> Make:
    """Return a function that makes the JSON object of a value: one dictionary display, as if written by hand.

    Compiled, because a loop over the fields takes twice as long, and hundreds of memories can be on a page.
    """
    names: dict[str, object] = {}
    members = []
    for place, (name, info) in enumerate(model.model_fields.items()):
        declared = next((one for one in info.metadata if isinstance(one, Source | Computed | Given)), Source())
        make, expression = f"make_{place}", ""
        match declared:
            case Given():
                names[make], expression = declared.default, make
            case Computed():
                names[make], expression = declared.make, f"{make}(value, now)"
            case Source():
                path = name if declared.path is None else declared.path
                names[make], expression = _make_fields(make, f"value.{path}" if path else "value", info, declared)
        members.append(f"{info.alias or name!r}: {expression}")
    made: Make = eval(f"lambda value, now: {{{', '.join(members)}}}", names)  # noqa: S307 - made of fields' names
    return made


def _make_fields(make: str, found: str, info: FieldInfo, declared: Source) -> tuple[object, str]:
    """Return the function that makes JSON of a field's value, and the expression that calls it by the name `make`."""
    if declared.make is not None:
        return declared.make, f"{make}({found})"
    kinds = get_args(info.annotation) if type(None) in get_args(info.annotation) else (info.annotation,)
    guard = f"None if {found} is None else " if len(kinds) > 1 else ""
    for kind in kinds:
        if kind is float:
            return round, f"{guard}{make}({found}, {DIGITS})"
        if hasattr(kind, "answer"):
            return _direct(kind), f"{guard}{make}({found}, now)"
        if get_origin(kind) is list and hasattr(get_args(kind)[0], "answer"):
            return _direct(get_args(kind)[0]), f"{guard}[{make}(one, now) for one in {found}]"
    return None, found


def _direct(kind: Any) -> Make:  # noqa: ANN401 - a model of an answer
    """Return what makes the JSON of a nested answer, without a detour through `answer` unless that is its own."""
    plain = getattr(kind.answer, "__func__", None) is Out.answer.__func__  # type: ignore[attr-defined]
    found: Make = kind._make if plain else kind.answer
    return found


class Out(BaseModel):
    """The base of everything that is answered."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    _make: ClassVar[Make]

    @classmethod
    def __pydantic_init_subclass__(cls, **options: object) -> None:
        """Work out how the model's fields are read."""
        super().__pydantic_init_subclass__(**options)
        cls._make = staticmethod(_compiled(cls))

    @classmethod
    def answer(cls, source: Any, now: datetime | None = None, /, **given: object) -> dict[str, Any]:  # noqa: ANN401
        """Return the JSON object that describes a value as of `now`; `given` stands for what the value does not say."""
        made: dict[str, Any] = cls._make(source, now)
        if given:
            made.update(given)
        return made


class PageOut(Out):
    """The base of pages: one list, and where the next page starts."""

    next_cursor: Annotated[str | None, Given()]

    @classmethod
    def page(cls, values: Iterable[Any], next_cursor: str | None, now: datetime | None = None) -> dict[str, Any]:
        """Return the JSON object of a page; its list is the field besides `next_cursor`."""
        [(name, field)] = [(name, info) for name, info in cls.model_fields.items() if name != "next_cursor"]
        [item] = get_args(field.annotation)
        return {name: [item.answer(one, now) for one in values], "next_cursor": next_cursor}


_ANNOTATED: Any = Annotated
_LITERAL: Any = Literal
_LIST: Any = list


def one_of(members: Iterable[type[BaseModel]]) -> Any:  # noqa: ANN401
    """Return the union of models that their `type` tells apart."""
    return _ANNOTATED[reduce(or_, members), Field(discriminator="type")]


def builtin_or_tenant(built_in: Any, own: type[BaseModel], which: Callable[[Any], str | None]) -> Any:  # noqa: ANN401
    """Return the union of types that are built in and of one's own; `which` returns the tag of a value."""
    members = _ANNOTATED[built_in, Tag(BUILT_IN)] | _ANNOTATED[own, Tag(OWN)]
    return _ANNOTATED[members, Discriminator(which)]


def with_example(example: Mapping[str, Any]) -> ConfigDict:
    """Return the configuration of a body that is documented by an example."""
    return ConfigDict(json_schema_extra={"examples": [dict(example)]})


def from_query(kind: type[BaseModel]) -> Any:  # noqa: ANN401
    """Return the type of a model that is read from the query string."""
    return _ANNOTATED[kind, Query()]


def literal(*values: str) -> Any:  # noqa: ANN401
    """Return the type of just these strings."""
    return _LITERAL[values]


def many(kind: Any) -> Any:  # noqa: ANN401
    """Return the type of a list of these."""
    return _LIST[kind]


def maybe(kind: Any) -> Any:  # noqa: ANN401
    """Return the type of one of these or null."""
    return kind | None

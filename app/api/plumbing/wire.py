"""The wire format of answers: a model declares each field once, for OpenAPI and for the JSON that is made of a value.

Answers are plain dictionaries, because validating an answer costs more than making it. A field is read from the
attribute of its own name unless its annotation has a `Source`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Annotated, Any, ClassVar, get_args, get_origin
from uuid import UUID

from pydantic import BaseModel, ConfigDict
from pydantic.fields import FieldInfo
from pydantic_core import to_json
from starlette.responses import Response, StreamingResponse

from app import ids

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


def json_answer(content: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a value as a JSON response."""
    return Response(to_json(content), status_code=status, media_type=JSON, headers=dict(headers or {}))


def event_text(name: str, data: object) -> str:
    """Return a server-sent event with JSON data."""
    return f"event: {name}\ndata: {to_json(data).decode()}\n\n"


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

"""The lines of an import, read strictly: each kind's shape is that of its tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Literal, Self
from uuid import UUID

from pydantic import BaseModel, Field, ValidationError, create_model, model_validator
from pydantic_core import from_json
from sqlalchemy import Table

from app.db.porting import RECORDS, Record, columns
from app.errors import InvalidInput
from app.memory import story
from app.memory.strings import Name, UserId
from app.model import Scope, ScopeKind
from app.services.exporting import FORMAT, VERSION
from app.services.record_values import LATEST, STRICT, kind_of

MOST_NAMED = 5
"""Fields that an error names."""

CLOCKS_DIFFER = timedelta(days=1)
"""How far the clock of the service that exported may be ahead."""


_MOST_WORDS = 1e6
"""No text has more."""


class ScopeIn(BaseModel):
    """The scope of a line: whose it is."""

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
    """A line that was read: its number, kind, scope, and the values of its row and of the rows within it."""

    number: int
    record: str
    scope: Scope | None
    values: Mapping[str, Any]
    inner: Mapping[str, list[dict[str, Any]]]

    @property
    def id(self) -> UUID | None:
        """Return the id of what the line tells, where it has one."""
        found: UUID | None = self.values.get("id")
        return found


class Unreadable(InvalidInput):
    """A line that can't be read; the message says why."""


def parse(content: bytes) -> Any:  # noqa: ANN401 - any JSON
    """Return the JSON of a line, or raise Unreadable."""
    try:
        found = from_json(content, allow_inf_nan=False)
    except ValueError as error:
        # The parser counts lines within this one.
        raise Unreadable(f"not JSON: {str(error)[:200].replace(' at line 1 column ', ' at column ')}") from None
    except RecursionError:
        raise Unreadable("not JSON that can be read: nested too deeply") from None
    if not isinstance(found, dict) or not isinstance(found.get("record"), str):
        raise Unreadable('not a JSON object with a "record"')
    if b"\\u0000" in content and _has_nul(found):
        raise Unreadable("NUL characters can't be stored")
    return found


def require_header(found: Mapping[str, Any]) -> None:
    """Raise InvalidInput unless the first line is the header of an export that can be read."""
    version = found.get("version")
    if found["record"] != "header" or found.get("format") != FORMAT or type(version) is not int:
        raise InvalidInput("the first line must be the header of an export", field="line 1")
    if version > VERSION:
        raise InvalidInput(f"the file is of format {version}; this service reads up to {VERSION}", field="version")


def weight(found: Mapping[str, Any]) -> tuple[Scope, float | None]:
    """Return the scope of a `scope` line and the average length of its texts, None for none that can be."""
    try:
        scope = ScopeIn.model_validate(found.get("scope")).scope
    except ValueError:
        raise Unreadable("scope: must have a kind, and the user_id and agent_id that fit it") from None
    average = found.get("lexical_average")
    if not isinstance(average, int | float) or not 0 <= average <= _MOST_WORDS:
        return scope, None
    return scope, float(average)


def read(number: int, record: str, content: bytes, *, now: datetime) -> Line:
    """Return a line of a kind that is known, or raise Unreadable naming what is wrong."""
    kind = KINDS[record]
    try:
        found = _model(record).model_validate_json(content, context={LATEST: now + CLOCKS_DIFFER})
    except ValidationError as error:
        told = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors(include_url=False)]
        raise Unreadable("; ".join(told[:MOST_NAMED])) from None
    values = {name: getattr(found, name) for name in found.model_fields_set if name in columns(kind.table)}
    if record in _MORE:
        _MORE[record](values)
    inner = {table.name: [_row(one) for one in getattr(found, table.name, ())] for table, _ in kind.inner}
    scope = getattr(found, "scope", None)
    return Line(number=number, record=record, scope=None if scope is None else scope.scope, values=values, inner=inner)


def _not_its_own(values: Mapping[str, Any]) -> None:
    if values.get("merged_into") == values["id"]:
        raise Unreadable("merged_into: an entity can't be merged into itself")


def _tellable(values: Mapping[str, Any]) -> None:
    """Refuse an event that the log could not tell: it is there for good."""
    try:
        story.tell(values["action"], values["occurred_at"], values["actor"], values.get("detail") or {})
    except (TypeError, ValueError, LookupError, AttributeError):
        raise Unreadable(f"detail: is not that of an event {values['action'][:80]!r}") from None


_MORE: Mapping[str, Callable[[Mapping[str, Any]], None]] = {"entity": _not_its_own, "audit_event": _tellable}
"""What is wrong with a line beyond its single values."""


def _row(one: BaseModel) -> dict[str, Any]:
    return {name: getattr(one, name) for name in one.model_fields_set}


KINDS: Mapping[str, Record] = {one.name: one for one in RECORDS}


@cache
def _model(record: str) -> type[BaseModel]:
    kind = KINDS[record]
    fields: dict[str, Any] = {"record": (Literal[record], ...)}
    if kind.of is not None or "scope_id" in kind.table.columns:
        optional = kind.of is None and kind.table.columns["scope_id"].nullable
        fields["scope"] = (ScopeIn | None, None) if optional else (ScopeIn, ...)
    fields |= _fields(kind.table)
    for table, column in kind.inner:
        within = create_model(f"{table.name}_row", __config__=STRICT, **_fields(table, without=column))
        fields[table.name] = (list[within], Field(default_factory=list))
    made: type[BaseModel] = create_model(record, __config__=STRICT, **fields)
    return made


def _fields(table: Table, *, without: str | None = None) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name in columns(table):
        if name == without:
            continue
        column = table.columns[name]
        kind = kind_of(table, name)
        # Vectors may be left out, and what has a default may be missing in an older file.
        optional = column.nullable or column.server_default is not None or name == "embedding"
        fields[name] = (kind | None if column.nullable else kind, None if optional else ...)
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

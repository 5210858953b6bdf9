"""Fields of requests: bounded types with plain messages, and base models of bodies and query strings."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, tzinfo
from typing import Annotated, Self
from uuid import UUID
from zoneinfo import ZoneInfo

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    ValidationError,
    model_validator,
)

from app import ids
from app.api.plumbing.problems import FieldError, InvalidFields
from app.errors import NotFound
from app.memory.calendar import known_zone, plausible
from app.memory.fields import A_NUMBER, check_metadata

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

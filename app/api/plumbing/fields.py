"""Bounded field types, strict base models.

The kinds of values that requests are made of, each bounded and each with a plain message.

The bodies and query strings that don't depend on the types there are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import to_json
from starlette.responses import Response

from app.api.plumbing.problems import FieldError
from app.memory.calendar import known_zone, plausible
from app.memory.fields import A_NUMBER, Name, check_metadata
from app.model import ScopeKind

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")

_LOST_PLUS = re.compile(r"\d[T ]\d{2}:\d{2}\S* \d{2}:?(?:\d{2})?$")
"""A time whose offset lost its plus sign, as it does in a query string."""


def _written(value: object) -> object:
    """Let ISO 8601 text through and nothing else: numbers would be read as seconds since 1970, silently."""
    if isinstance(value, str) and _LOST_PLUS.search(value):
        raise ValueError("has a space before its offset: in a URL, write + as %2B")
    if isinstance(value, str) and _DATE.match(value.strip()):
        return value.strip()
    if isinstance(value, datetime):
        return value
    raise ValueError("must be an ISO 8601 date and time, such as 2026-05-09T14:30:00Z")


def zone(name: str | None) -> tzinfo:
    """Return a checked time zone; UTC when none was named."""
    return ZoneInfo(name or "UTC")


def aware(value: datetime | None, zone: tzinfo) -> datetime | None:
    """Return the instant; a time without an offset is read in the zone."""
    return value if value is None or value.tzinfo is not None else value.replace(tzinfo=zone)


def both_ends() -> list[FieldError]:
    """Return what is wrong with a request that says twice until when something is true."""
    return [
        FieldError(field="valid_until", message="give it or ttl_seconds, not both"),
        FieldError(field="ttl_seconds", message="give it or valid_until, not both"),
    ]


Instant = Annotated[datetime, BeforeValidator(_written), AfterValidator(plausible)]
"""A date and time as text, between the years 1000 and 2200."""

AS_OF = (
    "What was true then, as far as it is known: only memories that held at this time, whether or not they still do. "
    "Replaced ones held until what replaced them began."
)

KNOWN_AT = (
    "What was believed then: the answer this request had at that time. Nothing recorded, replaced, merged or changed "
    "later shows. What was erased since is gone from the past too."
)

TimeZone = Annotated[str, AfterValidator(known_zone), Field(examples=["Europe/Berlin"], max_length=64)]
"""The IANA name of a time zone."""

Lifetime = Annotated[int, Field(strict=True, gt=0, le=100 * 366 * 86_400)]
"""Seconds, up to a hundred years."""

Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False), A_NUMBER]
"""A number from 0 to 1."""

Metadata = Annotated[dict[str, object], AfterValidator(check_metadata)]
"""A JSON object of the caller's own: at most 16 KB, at most 8 deep."""


class Out(BaseModel):
    """The base of everything that is answered."""

    model_config = ConfigDict(extra="forbid")


class RequestBody(BaseModel):
    """The base of everything that is asked."""

    model_config = ConfigDict(extra="forbid")


class Clocks(RequestBody):
    """Which time a read looks at."""

    as_of: Instant | None = Field(default=None, description=AS_OF)
    known_at: Instant | None = Field(default=None, description=KNOWN_AT)

    def instants(self) -> dict[str, datetime | None]:
        """Return both, by name; a time without an offset is in UTC."""
        return {"as_of": aware(self.as_of, UTC), "known_at": aware(self.known_at, UTC)}


class VisibilityQuery(Clocks):
    """What a listing sees: naming a user or an agent shows what a query by them would see."""

    user_id: Name | None = None
    agent_id: Name | None = None
    scope: ScopeKind | None = Field(default=None, description="Of these, only what is in scopes of this kind.")


OWNER = "Only what is stored for this user, in whatever scope: the user's own, and those of agents with that user."

JSON = "application/json"


def json_answer(content: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a value as a JSON response."""
    return Response(to_json(content), status_code=status, media_type=JSON, headers=dict(headers or {}))

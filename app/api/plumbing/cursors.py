"""Pages of listings: their query parameters, and opaque cursors that are good only for the listing that made them."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from pydantic import Field

from app.api.plumbing.fields import MOST_RESULTS, RequestBody
from app.errors import InvalidCursor
from app.memory.calendar import plausible
from app.services.memories import PagePosition

LONGEST = 500

_UNKNOWN = "this is no cursor of ours: use next_cursor as it came"
_ELSEWHERE = "this cursor belongs to another listing: keep filters and sort the same"
_MARK = 8


class PageQuery(RequestBody):
    """Which page of a listing."""

    limit: int = Field(default=50, ge=1, le=MOST_RESULTS)
    cursor: str | None = Field(default=None, min_length=1, max_length=LONGEST)


@dataclass(frozen=True, slots=True)
class Listing:
    """What a cursor belongs to: the tenant, the order and the filters, as text."""

    text: str

    def mark(self) -> str:
        """Return a short digest of it."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:_MARK]


def encode(position: PagePosition | None, listing: Listing) -> str | None:
    """Return the cursor of a position; None, where there is no next page, stays None."""
    if position is None:
        return None
    value = position.value.isoformat() if isinstance(position.value, datetime) else position.value
    content = json.dumps([listing.mark(), position.id.hex, value], separators=(",", ":"))
    return base64.urlsafe_b64encode(content.encode()).decode().rstrip("=")


def decode(cursor: str | None, listing: Listing, *, value: type[datetime | float] | None = None) -> PagePosition | None:
    """Return the position of a cursor whose order goes by a `value` of that type, else by ids; raise InvalidCursor.

    None, which asks for the first page, stays None.
    """
    if cursor is None:
        return None
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        mark, identifier, given = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        position = PagePosition(id=UUID(hex=identifier), value=_value(given, value))
    except (ValueError, TypeError, AttributeError, RecursionError, OverflowError):
        raise InvalidCursor(_UNKNOWN, field="cursor") from None
    if mark != listing.mark():
        raise InvalidCursor(_ELSEWHERE, field="cursor")
    return position


def encode_id(last: UUID | None, listing: Listing) -> str | None:
    """Return the cursor of a listing by ids that goes on after an id; None where there is no next page."""
    return None if last is None else encode(PagePosition(id=last), listing)


def decode_id(cursor: str | None, listing: Listing) -> UUID | None:
    """Return the id that a page of a listing by ids starts after; None for the first page."""
    position = decode(cursor, listing)
    return None if position is None else position.id


def encode_name(name: str | None, listing: Listing) -> str | None:
    """Return the cursor behind a name, of a listing in the order of names; None stays None."""
    if name is None:
        return None
    content = json.dumps([listing.mark(), name], separators=(",", ":"))
    return base64.urlsafe_b64encode(content.encode()).decode().rstrip("=")


def decode_name(cursor: str | None, listing: Listing) -> str | None:
    """Return the name that a cursor stands behind, None for the first page; raise InvalidCursor."""
    if cursor is None:
        return None
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        mark, name = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (ValueError, TypeError, RecursionError):
        raise InvalidCursor(_UNKNOWN, field="cursor") from None
    if mark != listing.mark() or not isinstance(name, str):
        raise InvalidCursor(_ELSEWHERE, field="cursor")
    return name


def _value(given: object, wanted: type[datetime | float] | None) -> float | datetime | None:
    if wanted is None:
        if given is not None:
            raise ValueError("unexpected value")
        return None
    if wanted is datetime and isinstance(given, str):
        instant = datetime.fromisoformat(given)
        if instant.tzinfo is None:
            raise ValueError("not an instant")
        plausible(instant)
        return instant
    if wanted is float and isinstance(given, int | float):
        return float(given)
    raise ValueError("wrong kind of value")

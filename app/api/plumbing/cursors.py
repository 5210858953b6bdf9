"""Cursors: where the next page starts, opaque to callers and good only for the listing that gave them out."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from app.db.memories.listing import PagePosition
from app.errors import InvalidCursor
from app.memory.calendar import plausible

LONGEST = 500

_UNKNOWN = "this is no cursor of ours: use next_cursor as it came"

_ELSEWHERE = "this cursor belongs to another listing: keep filters and sort the same"
_MARK = 8


@dataclass(frozen=True, slots=True)
class Listing:
    """What a cursor belongs to: the tenant, the order and the filters, as text."""

    text: str

    def mark(self) -> str:
        """Return a short digest of it."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:_MARK]


def encode(position: PagePosition, listing: Listing) -> str:
    """Return the cursor of a position."""
    value = position.value.isoformat() if isinstance(position.value, datetime) else position.value
    content = json.dumps([listing.mark(), position.id.hex, value], separators=(",", ":"))
    return base64.urlsafe_b64encode(content.encode()).decode().rstrip("=")


def decode(cursor: str, listing: Listing, *, value: type[datetime | float] | None) -> PagePosition:
    """Return the position of a cursor whose order goes by a `value` of that type; raise InvalidCursor."""
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        mark, identifier, given = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        position = PagePosition(id=UUID(hex=identifier), value=_value(given, value))
    except (ValueError, TypeError, AttributeError, RecursionError, OverflowError):
        raise InvalidCursor(_UNKNOWN, field="cursor") from None
    if mark != listing.mark():
        raise InvalidCursor(_ELSEWHERE, field="cursor")
    return position


def encode_name(name: str, listing: Listing) -> str:
    """Return the cursor behind a name, of a listing in the order of names."""
    content = json.dumps([listing.mark(), name], separators=(",", ":"))
    return base64.urlsafe_b64encode(content.encode()).decode().rstrip("=")


def decode_name(cursor: str, listing: Listing) -> str:
    """Return the name that a cursor stands behind; raise InvalidCursor."""
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

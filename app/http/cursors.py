"""Pages of listings: their query parameters, and opaque cursors that are valid only for the listing they are from."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from app.errors import InvalidCursor
from app.http.models import MOST_RESULTS, RequestBody
from app.memory.calendar import plausible
from app.memory.fields import is_storable
from app.services.memories import PagePosition

LONGEST = 1_200
"""Characters of a cursor at most: after a name of 200 characters of four bytes each it has 1,100."""

_UNKNOWN = "this is no cursor of ours: use next_cursor as it came"
_ELSEWHERE = "this cursor belongs to another listing: keep filters and sort the same"
_MARK = 8

_NUMBERS_BELOW = 2**53
"""The bound of numbers in cursors: up to it JSON's numbers are exact."""


class PageQuery(RequestBody):
    """The page of a listing."""

    limit: int = Field(default=50, ge=1, le=MOST_RESULTS)
    cursor: str | None = Field(default=None, min_length=1, max_length=LONGEST)

    def listing(self, kind: str, tenant: UUID, *named: object) -> Listing:
        """Return the identity of the listing by the filters as they are given; `named` is what its path names.

        Not by what the filters lead to: a user may come into more scopes between two pages.
        """
        given = self.model_dump(mode="json", exclude={"limit", "cursor"})
        return Listing("|".join(map(str, (kind, tenant, *named, sorted(given.items())))))


@dataclass(frozen=True, slots=True)
class Listing:
    """The identity of a listing: its kind, the tenant, the order and the filters, as text."""

    text: str

    def mark(self) -> str:
        """Return a short digest of the listing."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:_MARK]


def encode(position: PagePosition | None, listing: Listing) -> str | None:
    """Return the cursor of a position, None for None, which means that there is no next page."""
    if position is None:
        return None
    value = position.value.isoformat() if isinstance(position.value, datetime) else position.value
    return _written(listing, position.id.hex, value)


def decode(cursor: str | None, listing: Listing, *, value: type[datetime | float] | None = None) -> PagePosition | None:
    """Return the position of a cursor, with a value of the type `value` or None for orders by id; raise InvalidCursor.

    Returns None for None, which means the first page.
    """
    if cursor is None:
        return None
    try:
        mark, identifier, given = _read(cursor)
        position = PagePosition(id=UUID(hex=identifier), value=_value(given, value))
    except (ValueError, TypeError, AttributeError, RecursionError, OverflowError):
        raise InvalidCursor(_UNKNOWN, field="cursor") from None
    if mark != listing.mark():
        raise InvalidCursor(_ELSEWHERE, field="cursor")
    return position


def encode_id(last: UUID | None, listing: Listing) -> str | None:
    """Return the cursor after an id of a listing by ids, None for None."""
    return None if last is None else encode(PagePosition(id=last), listing)


def decode_id(cursor: str | None, listing: Listing) -> UUID | None:
    """Return the id that a page of a listing by ids starts after, None for the first page."""
    position = decode(cursor, listing)
    return None if position is None else position.id


def encode_time(last: tuple[datetime, UUID] | None, listing: Listing) -> str | None:
    """Return the cursor after an instant and id of a listing by time, None for None."""
    return None if last is None else encode(PagePosition(value=last[0], id=last[1]), listing)


def decode_time(cursor: str | None, listing: Listing) -> tuple[datetime, UUID] | None:
    """Return the instant and id that a page of a listing by time starts after, None for the first page."""
    position = decode(cursor, listing, value=datetime)
    return None if position is None or not isinstance(position.value, datetime) else (position.value, position.id)


def encode_name(name: str | None, listing: Listing) -> str | None:
    """Return the cursor after a name of a listing by names, None for None."""
    return None if name is None else _written(listing, name)


def decode_name(cursor: str | None, listing: Listing) -> str | None:
    """Return the name that a page of a listing by names starts after, None for the first page; raise InvalidCursor."""
    if cursor is None:
        return None
    try:
        mark, name = _read(cursor)
    except (ValueError, TypeError, RecursionError):
        raise InvalidCursor(_UNKNOWN, field="cursor") from None
    if not isinstance(name, str) or not is_storable(name):
        raise InvalidCursor(_UNKNOWN, field="cursor")
    if mark != listing.mark():
        raise InvalidCursor(_ELSEWHERE, field="cursor")
    return name


def _written(listing: Listing, *values: object) -> str:
    content = json.dumps([listing.mark(), *values], separators=(",", ":"), ensure_ascii=False)
    return base64.urlsafe_b64encode(content.encode()).decode().rstrip("=")


def _read(cursor: str) -> Any:  # noqa: ANN401 - JSON that a caller gave
    padded = cursor + "=" * (-len(cursor) % 4)
    return json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))


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
    if wanted is float and isinstance(given, int | float) and abs(given) < _NUMBERS_BELOW:
        return float(given)
    raise ValueError("wrong kind of value")

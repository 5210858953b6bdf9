"""What the recogniser returns."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from app.model import Precision

Kind = Literal["moment", "day", "period", "open", "duration"]
Prefer = Literal["past", "future"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TemporalSpan:
    """A date or time expression in a text, and the half-open range of time it names.

    `lower` and `upper` are the strict reading: "4 to 22 January" ends where the 22nd begins, "two months
    ago" is one day. `window` is what to search: the named end is included, "two months ago" is that month,
    "the last 3 days" reach to the end of today, an evening is as long as people mean it.
    """

    start: int
    """Character offsets of the expression: `text == source[start:end]`."""
    end: int
    text: str
    lower: datetime | None
    """Inclusive, aware, in the zone of `now`; None: open on that side."""
    upper: datetime | None
    """Exclusive; None: open on that side."""
    precision: Precision
    kind: Kind
    window: tuple[datetime | None, datetime | None]
    duration: timedelta | None = None
    """The length of a pure duration ("for 3 weeks"), whose bounds are both None."""

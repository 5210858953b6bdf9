"""Pages of listings: a read returns one row more than a page has, and that row says that another page follows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Item = TypeVar("Item")
Position = TypeVar("Position")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[Item, Position]):
    """Some rows in order, and the position after which the next page starts; None when there is no next page."""

    items: tuple[Item, ...]
    next: Position | None


def cut_page(found: Sequence[Item], limit: int, position: Callable[[Item], Position]) -> Page[Item, Position]:
    """Return the first `limit` rows; rows beyond them only say that there are more. `position` returns a row's."""
    shown = tuple(found[:limit])
    return Page(items=shown, next=position(shown[-1]) if len(found) > limit else None)

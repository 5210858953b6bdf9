"""The hard conditions of a question (`retrieve.search`) on the columns of a scope."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from app.model import MemoryStatus, ReadMode
from app.read.resident.columns import EARLIEST, LATEST, STATUSES, IndexColumns, Mask, mask, micros
from app.read.resident.scope import ResidentScope
from app.read.retrieve import SearchFilters
from app.read.values import Window

_ACTIVE = STATUSES[MemoryStatus.ACTIVE]
_SUPERSEDED = STATUSES[MemoryStatus.SUPERSEDED]
_EXPIRED = STATUSES[MemoryStatus.EXPIRED]
_FORGOTTEN = STATUSES[MemoryStatus.FORGOTTEN]
_PENDING = STATUSES[MemoryStatus.PENDING]


def can_answer(filters: SearchFilters) -> bool:
    """Tell whether the columns hold what is filtered by."""
    return filters.known_at is None and filters.topic is None and filters.metadata is None


def visible(columns: IndexColumns, filters: SearchFilters, windows: Sequence[Window]) -> Mask:
    """Tell of each row whether it may be seen at all (`retrieve.search.visible`)."""
    seen: Mask = columns.rows["confidence"] >= filters.min_confidence
    return seen & _statuses(columns, filters, windows) & _times(columns, filters)


def answering(scope: ResidentScope, filters: SearchFilters, seen: Mask) -> Mask:
    """Tell of each row that may be seen whether it can answer (`retrieve.search.type_filter`)."""
    rows = scope.columns.rows
    if filters.types:
        seen = seen & np.isin(rows["type"], [scope.types[one] for one in filters.types if one in scope.types])
    if filters.excluded:
        about = {memory for entity in filters.excluded for memory, _ in scope.mentions.get(entity, ())}
        seen = seen & ~np.isin(rows["owner"], [scope.owners[one] for one in about if one in scope.owners])
    if filters.within:
        within = np.zeros(scope.columns.count, np.bool_)
        for window in filters.within:
            within |= happened_in(scope.columns, window)
        seen = seen & within
    return seen


def bounds(window: Window) -> tuple[int, int]:
    """Return the bounds of a window, end exclusive."""
    return micros(window.lower, EARLIEST), micros(window.upper, LATEST)


def happened_in(columns: IndexColumns, window: Window) -> Mask:
    """Tell of each row whether its time overlaps with a window."""
    rows, (lower, upper) = columns.rows, bounds(window)
    if lower >= upper:
        return np.zeros(columns.count, np.bool_)
    after = (rows["event_upper"] > lower) | (rows["event_whole"] & (rows["event_upper"] == lower))
    return mask(rows["timed"] & (rows["event_lower"] < upper) & after)


def _statuses(columns: IndexColumns, filters: SearchFilters, windows: Sequence[Window]) -> Mask:
    rows = columns.rows
    status = rows["status"]
    if filters.mode is ReadMode.AUDIT:
        never = (status == _FORGOTTEN) & (rows["retired_at"] == rows["recorded_at"])
        return mask((status != _PENDING) & ~never)
    if filters.mode is ReadMode.HISTORICAL or filters.as_of is not None:
        return mask((status == _ACTIVE) | (status == _SUPERSEDED) | (status == _EXPIRED))
    instant = micros(filters.as_of or filters.now, EARLIEST)
    ended = rows["ended_at"]
    yet = (ended != LATEST) & (ended > np.maximum(rows["retired_at"], instant))
    if filters.timed:
        yet = yet | _folded(columns, windows)
    return mask((status == _ACTIVE) | ((status == _SUPERSEDED) & yet))


def _folded(columns: IndexColumns, windows: Sequence[Window]) -> Mask:
    """Tell of each row whether a summary stands for it, and it tells of a window."""
    rows = columns.rows
    told = np.zeros(columns.count, np.bool_)
    for window in windows:
        lower, upper = bounds(window)
        stated = ~rows["dated"] & (rows["stated_at"] >= lower) & (rows["stated_at"] < upper)
        told |= happened_in(columns, window) | stated
    return mask((rows["folded_at"] != LATEST) & (rows["folded_at"] == rows["retired_at"]) & told)


def _times(columns: IndexColumns, filters: SearchFilters) -> Mask:
    rows = columns.rows
    if filters.mode is not ReadMode.DEFAULT and filters.as_of is None:
        return np.ones(columns.count, np.bool_)
    begun = micros(filters.as_of or max(filters.now, filters.clock), EARLIEST)
    instant = micros(filters.as_of or filters.now, EARLIEST)
    valid: Mask = (rows["valid_from"] <= begun) & (rows["valid_until"] > instant)
    return valid if filters.as_of is None else valid & (rows["ended_at"] > instant)

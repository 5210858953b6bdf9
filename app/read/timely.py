"""Timeliness of matches: what the times that a question names rule out, and what waits to be erased."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Final
from uuid import UUID

from app.db.memories.ranking import Bounds, RankingRow
from app.english.dates import TemporalSpan, find_spans
from app.model import Memory, MemoryStatus, ReadMode, ReviewReason
from app.read.assemble import estimate_tokens
from app.read.relevance import Split, split
from app.read.values import Arm, ContextBlock, ContextGroup, ParsedQuery, Ranked, Window

ELSEWHEN: Final = "of another time"
FORGOTTEN: Final = "waits to be erased"
"""Why matches are left out however near they are to the question."""

_WEEK: Final = timedelta(days=7)


def on_that_day(ranked: Sequence[Ranked], rows: Mapping[UUID, RankingRow], query: ParsedQuery, now: datetime) -> Split:
    """Split off what happened on other days, where the question asks what happened in its windows.

    So is what was said before they began, where something was said since: it told of other days. And what was said
    after they ended and names no time in them, where something else is known of them. Also what happened in
    a window to fall back on, where something is known of those that the question means. Where it asks what was told
    then, all that was told at other times. A turn that names the question's time in the same words ("tomorrow") meant
    the one of its own day.
    """
    same_words = {one.id for one in ranked if _means_another_day(rows[one.id], query, now)}
    ranked, others = _split(ranked, same_words)
    kept, elsewhen = _of_windows(ranked, rows, query, now)
    return kept, (*others, *elsewhen)


def _of_windows(ranked: Sequence[Ranked], rows: Mapping[UUID, RankingRow], query: ParsedQuery, now: datetime) -> Split:
    if query.reading.asks_what_was_told:
        return _split(ranked, {one.id for one in ranked if not _within(rows[one.id].stated_at, query.reading.windows)})
    if query.reading.asks_what_happened and query.reading.windows:
        other = {one.id for one in ranked if rows[one.id].elsewhen}
        began = min((one.lower or now for one in query.reading.windows), default=now)
        before = {one.id for one in ranked if not rows[one.id].dated and rows[one.id].stated_at < began}
        if began < now and len(before | other) < len(ranked):
            other |= before
        since = {one.id for one in ranked if _told_since(rows[one.id], query, now)}
        return _split(ranked, other | since if len(other | since) < len(ranked) else other)
    timed = {one.id for one in ranked if query.reading.fallback and Arm.TEMPORAL in one.places}
    other = {one for one in timed if rows[one].elsewhen}
    return _split(ranked, other if other < timed else set())


def _told_since(row: RankingRow, query: ParsedQuery, now: datetime) -> bool:
    """Tell whether it was said after the question's windows ended, and names no time in them."""
    windows = query.reading.windows
    if row.dated or row.stated_at < max(one.upper or now for one in windows):
        return False
    return not any(_meets(one.window, windows) for one in _times_in(row, now))


def _means_another_day(row: RankingRow, query: ParsedQuery, now: datetime) -> bool:
    """Tell whether a turn names a day or week in words of the question that meant another when they were said."""
    windows = (*query.reading.windows, *query.reading.fallback)
    if not windows or _within(row.stated_at, windows):
        return False
    asked = {query.reading.text[one.start : one.end].casefold() for one in query.reading.window_spans}
    shared = [words for words in asked if words in row.opening.casefold()]
    said = _times_in(row, now) if shared else []
    same = any(words in one.text.casefold() for one in said if _is_definite(one) for words in shared)
    return same and not any(_meets(one.window, windows) for one in said)


def _is_definite(span: TemporalSpan) -> bool:
    """Tell whether it is a week at most: "the past few weeks" are any weeks."""
    lower, upper = span.window
    return lower is not None and upper is not None and upper - lower <= _WEEK


def _times_in(row: RankingRow, now: datetime) -> list[TemporalSpan]:
    """Return the times that a text names, as they were meant when it was said, or may have been."""
    said_at = row.stated_at.astimezone(now.tzinfo)
    behind = find_spans(row.opening, now=said_at)
    return [*behind, *(find_spans(row.opening, now=said_at, prefer="ahead") if behind else ())]


def _meets(span: Bounds, windows: Sequence[Window]) -> bool:
    lower, upper = span
    return any(
        (one.upper is None or lower is None or lower < one.upper)
        and (one.lower is None or upper is None or upper > one.lower)
        for one in windows
    )


def history_first(ranked: Sequence[Ranked], rows: Mapping[UUID, RankingRow], query: ParsedQuery) -> tuple[Ranked, ...]:
    """Return the matches with the former values of a slot before its present one, where the past is asked for."""
    slots: dict[tuple[UUID, str, str | None], list[int]] = defaultdict(list)
    for place, one in enumerate(ranked if query.about_past else ()):
        if (row := rows[one.id]).slot is not None:
            slots[row.scope_id, row.type, row.slot].append(place)
    ordered = list(ranked)
    for places in slots.values():
        versions = sorted((ranked[place] for place in places), key=lambda one: _holds(rows[one.id]))
        for place, one in zip(places, versions, strict=True):
            ordered[place] = one._replace(score=ranked[place].score)
    return tuple(ordered)


def _holds(row: RankingRow) -> bool:
    return row.status == MemoryStatus.ACTIVE


def fit_to_show(ranked: Sequence[Ranked], memories: Mapping[UUID, Memory], query: ParsedQuery, now: datetime) -> Split:
    """Split off what only its memory rules out: what waits to be erased, and the values of another time."""
    kept, forgotten = _to_be_forgotten(ranked, memories, query)
    kept, untimely = _held_then(kept, memories, query, now)
    return kept, (*forgotten, *untimely)


def _held_then(ranked: Sequence[Ranked], memories: Mapping[UUID, Memory], query: ParsedQuery, now: datetime) -> Split:
    """Split off values that did not hold in the past window of a question, where another of their slot did."""
    over = [one for one in query.reading.windows if one.upper is not None and one.upper <= now]
    if query.mode is not ReadMode.HISTORICAL or not over or len(over) < len(query.reading.windows):
        return tuple(ranked), ()
    valued = {one.id: memories[one.id] for one in ranked if one.id in memories and memories[one.id].slot is not None}
    held = {one.slot for one in valued.values() if _held(one, over)}
    return _split(ranked, {key for key, one in valued.items() if one.slot in held and not _held(one, over)})


def _to_be_forgotten(ranked: Sequence[Ranked], memories: Mapping[UUID, Memory], query: ParsedQuery) -> Split:
    """Split off what waits for its erasure: of what no longer holds, all else stays as it was until then."""
    waits = {key for key, one in memories.items() if one.review is ReviewReason.ERASURE}
    return _split(ranked, waits if query.mode is not ReadMode.AUDIT else set(), why=FORGOTTEN)


def none_known(query: ParsedQuery, zone: tzinfo | None, budget: int) -> ContextBlock | None:
    """Return the block that says that nothing is known to have happened then; None where that was not asked."""
    named = [one for one in query.reading.windows if one.lower is not None and one.upper is not None]
    if not query.reading.asks_what_happened or not named:
        return None
    line = f"- nothing is known to have happened {' or '.join(_days(one, zone) for one in named)}"
    text = f"## Events\n{line}"
    tokens = estimate_tokens(text)
    if tokens > budget:
        return None
    return ContextBlock(text=text, tokens=tokens, groups=(ContextGroup(name="Events", lines=(line,)),))


def _held(memory: Memory, windows: Sequence[Window]) -> bool:
    return any(
        (one.upper is None or memory.valid_from < one.upper)
        and (one.lower is None or memory.valid_until is None or memory.valid_until > one.lower)
        for one in windows
    )


def _within(at: datetime, windows: Sequence[Window]) -> bool:
    return any((one.lower is None or at >= one.lower) and (one.upper is None or at < one.upper) for one in windows)


def _split(ranked: Sequence[Ranked], other: set[UUID], *, why: str = ELSEWHEN) -> Split:
    return split((one, why if one.id in other else "") for one in ranked)


def _days(window: Window, zone: tzinfo | None) -> str:
    if window.lower is None or window.upper is None:
        return ""
    first = window.lower.astimezone(zone).date()
    last = (window.upper - timedelta(microseconds=1)).astimezone(zone).date()
    return f"on {first}" if first == last else f"from {first} to {last}"

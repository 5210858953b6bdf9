"""What a statement's own window of time says about the present: nothing, or not yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from app.memory import confidence
from app.memory.conflict import TOLERANCE
from app.memory.lifecycle import is_over
from app.write.values import Add, Existing, Merge, Resolved


def gone_by(resolved: Resolved, existing: Sequence[Existing]) -> Add | Merge | None:
    """Return where a statement belongs whose time was over when it was stated: it competes with nothing now."""
    candidate, stated_at = resolved.prepared.candidate, resolved.prepared.stated_at
    if resolved.slot is None or not is_over(candidate.valid_until, stated_at):
        return None
    window = (resolved.prepared.begins, candidate.valid_until)
    known = (one for one in existing if one.relation == "identical" and (one.valid_from, one.valid_until) == window)
    same = next(known, None)
    if same is not None:
        return Merge(into=same, payload=None, reason="it is history already", echo=True)
    return Add(reason="it was over when it was stated, so it is kept as history", over=True)


def moved_end(into: Existing, resolved: Resolved) -> datetime | None:
    """Return when a belief ends by a repetition of it that names an end of its own; None where it keeps what it has.

    A repetition without an end says nothing about it. One that was made earlier, whose time was over when it was
    made, or that is trusted less than what is held, repetition aside, by more than the tolerance, moves nothing.
    """
    prepared, until = resolved.prepared, resolved.prepared.candidate.valid_until
    if until is None or until <= into.valid_from or is_over(until, prepared.stated_at):
        return None
    once, held = replace(prepared.parts, mentions=1), replace(into.parts, mentions=1)
    trusted = confidence.score(once) >= confidence.score(held) - TOLERANCE
    return until if trusted and prepared.stated_at >= into.stated_at else None


def comes_after(holder: Existing, resolved: Resolved) -> bool:
    """Tell whether what holds the slot has yet to begin, and later than what is stated now."""
    return holder.valid_from > max(resolved.prepared.begins, resolved.prepared.stated_at)

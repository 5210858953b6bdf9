"""SQL of belief and valid time: true from `valid_from` to `valid_until`, or until something ended it (`ended_at`)."""

from __future__ import annotations


def is_valid(row: str, at: str, *, begun: str | None = None) -> str:
    """Return SQL for whether an instant lies in the time that a memory states.

    `row` is the memory's row, `at` the instant as SQL; `begun` is an instant by which it must have begun, if another.
    """
    return f"{row}.valid_from <= {begun or at} AND {_is_open(row, 'valid_until', at)}"


def is_true(row: str, at: str, *, begun: str | None = None) -> str:
    """Return SQL for whether a memory is valid at an instant, as `is_valid`, and nothing else had ended it by then."""
    return f"{is_valid(row, at, begun=begun)} AND {_is_open(row, 'ended_at', at)}"


def is_unended(row: str, at: str) -> str:
    """Return SQL for whether a memory has neither run out by an instant nor been ended."""
    return f"{_is_open(row, 'valid_until', at)} AND {_is_open(row, 'ended_at', at)}"


def is_or_was_believed(row: str) -> str:
    """Return SQL for whether it is believed, or was until something took its place or it faded or ended."""
    return f"{row}.status IN ('active', 'superseded', 'expired')"


def was_over_when_stated(row: str) -> str:
    """Return SQL for whether its time was over when it was stated, as `Version.over_when_stated`; NULL without one."""
    return f"({row}.status = 'expired' AND {row}.ended_at IS NULL AND {row}.valid_until <= {row}.stated_at)"


def is_on_record(row: str) -> str:
    """Return SQL for whether it is on record: also what was forgotten, unless it was never believed; not if pending."""
    return (
        f"{row}.status <> 'pending' AND ({row}.status <> 'forgotten' OR {row}.retired_at IS DISTINCT FROM"
        f" {row}.recorded_at)"
    )


def _is_open(row: str, column: str, at: str) -> str:
    return f"({row}.{column} IS NULL OR {row}.{column} > {at})"

"""What a run of a job can come to."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic_core import from_json, to_json

from app.model import JobStatus

LONGEST_DELAY = 600.0
"""Seconds: no retry waits longer."""

_GROWTH = 4.0
_LONGEST_ERROR = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a turn of a job came to. `status`: its end; `delay`: seconds until its next turn, if it gets one.

    `counted`: the run was one of the attempts that a job has.
    """

    name: str
    status: JobStatus | None = None
    error: str | None = None
    result: Mapping[str, object] | None = None
    delay: float | None = None
    counted: bool = True


CANCELLED = Outcome(name="cancelled", status=JobStatus.CANCELLED)
TAKEN_OVER = Outcome(name="taken_over")
PUT_BACK = Outcome(name="put_back", delay=0.0, counted=False)

# Turns without a run: nothing is left to do; the kind of the job is known to other workers alone; the job may
# be what ended its last worker, and waits while another of that sort is done.
SERVED = Outcome(name="served")
NOT_OURS = Outcome(name="not_ours", delay=30.0)
SUSPECT = Outcome(name="suspect", delay=2.0)


class RunEnded(Exception):
    """A run has come to something before its handler returned."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.name)
        self.outcome = outcome


def succeeded(result: Mapping[str, object] | None) -> Outcome:
    """Return the outcome of a run that returned; ValueError when its result isn't JSON that Postgres can keep."""
    written = to_json(result)
    if b"\\u0000" in written:
        raise ValueError("a result can't hold NUL characters")
    return Outcome(name="succeeded", status=JobStatus.SUCCEEDED, result=from_json(written))


def failed(message: str) -> Outcome:
    """Return the outcome of a run that failed for good; the message is for the caller."""
    return Outcome(name="failed", status=JobStatus.FAILED, error=_storable(message))


def retried(message: str, delay: float) -> Outcome:
    """Return the outcome of a run that failed for now."""
    return Outcome(name="retried", error=_storable(message), delay=delay)


def backoff(attempt: int, *, first: float, at_least: float = 0.0) -> float:
    """Return seconds until the next attempt: four times as long each time, less up to half by chance.

    Never less than `at_least`, which is what the one who failed asked for, and never more than ten minutes.
    """
    longest = min(LONGEST_DELAY, first * _GROWTH ** (attempt - 1))
    return min(LONGEST_DELAY, max(at_least, longest * random.uniform(0.5, 1.0)))  # noqa: S311 - no secret


def _storable(message: str) -> str:
    return message.replace("\x00", "")[:_LONGEST_ERROR]

"""The interface of job handlers and their discovery: one file for each kind in `handlers/`, with a HANDLER."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from app.db.jobs import Job
from app.discovery import discover_in
from app.jobs import handlers
from app.runtime import Runtime


class ComeBack(Exception):
    """A job waits for somebody else: it runs again after `delay` seconds, and this run counts as no attempt."""

    def __init__(self, delay: float) -> None:
        super().__init__(f"again in {delay:g} s")
        self.delay = delay


class ProgressCallback(Protocol):
    """Reports a handler's progress; each report is also a checkpoint at which the run can be stopped."""

    async def __call__(self, done: int, total: int | None = None) -> None:
        """Report progress. It may raise to end the run here; handlers let that pass."""


Run = Callable[[Runtime, Job, ProgressCallback], Awaitable[Mapping[str, object] | None]]


RunTogether = Callable[[Runtime, Sequence[Job]], Awaitable[Sequence[Mapping[str, object]]]]


Abandon = Callable[[Runtime, Job, str], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Handler:
    """The handler of one kind of jobs.

    `run` takes the runtime, the job and its progress callback, and returns the job's result as JSON, or None. It runs
    at least once and may run again, even concurrently when its worker was presumed dead, so it must be idempotent. A
    transient TypedMemoryError (of the database, the model provider, a conflict) is retried later, `ComeBack` runs it
    again without counting, any other error fails the job. `abandon` takes the runtime, a job that has failed (it may be
    recorded as such already), and the error: it stores what can be kept without the run. `together` does several jobs
    of a scope at once, and returns the result of each; where it fails, each of them runs by itself. `joins` tells
    whether jobs that wait are taken up so.
    """

    kind: str
    run: Run
    abandon: Abandon | None = None
    together: RunTogether | None = None
    joins: Callable[[Runtime], bool] = lambda _runtime: True


def discover() -> Mapping[str, Handler]:
    """Return the handlers in `jobs/handlers` by kind.

    Raises ConfigurationError for a file without HANDLER, or with the handler of a kind other than its name.
    """
    return {one.kind: one for one in discover_in(handlers, "HANDLER", Handler, lambda one: one.kind)}

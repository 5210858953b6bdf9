"""The interface of job handlers and their discovery: one file for each kind in `handlers/`, with a HANDLER.

A feature with a job has its handler in a file `jobs` of its own; the kind is the name of the feature.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
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


Abandon = Callable[[Runtime, Job, str], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Handler:
    """The handler of one kind of jobs.

    `run` takes the runtime, the job and its progress callback, and returns the job's result as JSON, or None. It runs
    at least once and may run again, even concurrently when its worker was presumed dead, so it must be idempotent. A
    transient TypedMemoryError (of the database, the model provider, a conflict) is retried later, `ComeBack` runs it
    again without counting, any other error fails the job. `abandon` takes the runtime, a job that has failed (it may be
    recorded as such already), and the error: it stores what can be kept without the run.
    """

    kind: str
    run: Run
    abandon: Abandon | None = None


def discover() -> Mapping[str, Handler]:
    """Return the handlers in `jobs/handlers` by kind.

    Raises ConfigurationError for a file without HANDLER, or with the handler of a kind other than its name.
    """
    found = discover_in(handlers, "HANDLER", Handler, lambda one: one.kind)
    features = import_module("app.features")
    own = [find_spec(f"{features.__name__}.{one.name}.jobs") for one in iter_modules(features.__path__)]
    found += [import_module(one.name).HANDLER for one in own if one is not None]
    return {one.kind: one for one in found}

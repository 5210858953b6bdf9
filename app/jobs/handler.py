"""Handlers of jobs: one file for each kind in `handlers/`, with a HANDLER, found by its name."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from app.db.jobs import Job
from app.errors import ConfigurationError
from app.jobs import handlers
from app.runtime import Runtime


class ProgressCallback(Protocol):
    """How a handler says how far it is; also the checkpoint at which it can be stopped."""

    async def __call__(self, done: int, total: int | None = None) -> None:
        """Record progress. It may raise to end the run here: let that pass."""


Run = Callable[[Runtime, Job, ProgressCallback], Awaitable[Mapping[str, object] | None]]


Abandon = Callable[[Runtime, Job, str], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Handler:
    """How jobs of one kind are done.

    `run` takes the runtime, the job and its progress, and returns what the job came to, as JSON, or None. It
    runs at least once and perhaps more often, even at the same time when its worker was presumed dead, so it
    must be idempotent: doing it again changes nothing. A TypedMemoryError that time may mend (the database,
    the model provider, a conflict) has it tried again later, any other error fails the job. `abandon` takes the
    runtime, a job that is about to be recorded as failed, and why: it stores what can be kept without the run.
    """

    kind: str
    run: Run
    abandon: Abandon | None = None


def discover() -> Mapping[str, Handler]:
    """Return every handler in `jobs/handlers` by kind; refuse a file without HANDLER, or one named otherwise."""
    found: dict[str, Handler] = {}
    for module in sorted(pkgutil.iter_modules(handlers.__path__), key=lambda one: one.name):
        loaded = importlib.import_module(f"{handlers.__name__}.{module.name}")
        one = getattr(loaded, "HANDLER", None)
        if not isinstance(one, Handler):
            raise ConfigurationError(f"app/jobs/handlers/{module.name}.py defines no HANDLER: add HANDLER = Handler()")
        if one.kind != module.name:
            raise ConfigurationError(
                f"app/jobs/handlers/{module.name}.py handles {one.kind!r}: name the file after its kind"
            )
        found[one.kind] = one
    return found

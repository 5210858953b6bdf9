"""What a worker of the store is, what it works with, and how the files of this folder are found."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

import app.services.workers as workers_folder
from app.db.session import Database
from app.errors import ConfigurationError
from app.memory.registry import Types
from app.providers.embeddings import Embedder
from app.providers.summarising import Summariser
from app.write.pipeline import WritePipeline

Counts = Mapping[str, int]
"""What a run came to: how many of what, under plain names such as `expired`."""

Told = Callable[[int, int | None], Awaitable[None]]

_FRAMEWORK = "worker"


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What workers work with. `clock` is what every decision goes by; `forgotten_days`: before a purge.

    `summariser` is None without a language model.
    """

    database: Database
    clock: Callable[[], datetime]
    embedder: Embedder
    model_id: int
    language: str
    types: Types
    writing: WritePipeline
    forgotten_days: float = 30.0
    summariser: Summariser | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How a worker says how far it is; also the checkpoint at which it can be stopped.

    `run` is the id of the job, the same in every try of it: checkpoints are kept under it.
    """

    run: UUID
    told: Told

    async def __call__(self, done: int, total: int | None = None) -> None:
        """Record progress. It may raise to end the run here: let that pass."""
        await self.told(done, total)


class Run(Protocol):
    """The shape of a worker's function."""

    async def __call__(self, means: Means, tenant: UUID, *, dry_run: bool, progress: Progress) -> Counts:
        """Do the work for one tenant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """Something to do to each tenant's memories at the times of a cron expression (five fields, UTC).

    `run(means, tenant, dry_run=, progress=)` works in short transactions and returns its counts. It runs at least
    once and perhaps more often, so doing it again must change nothing. With `dry_run` it changes nothing at all
    and returns the counts that it would have come to. `summary` is a sentence for people.
    """

    name: str
    cron: str
    summary: str
    run: Run


def discover() -> Mapping[str, Worker]:
    """Return every worker of this folder by name; refuse a file without WORKER, or one named otherwise."""
    found: dict[str, Worker] = {}
    for module in sorted(pkgutil.iter_modules(workers_folder.__path__), key=lambda one: one.name):
        if module.name == _FRAMEWORK:
            continue
        loaded = importlib.import_module(f"{workers_folder.__name__}.{module.name}")
        one = getattr(loaded, "WORKER", None)
        if not isinstance(one, Worker):
            raise ConfigurationError(f"app/services/workers/{module.name}.py defines no WORKER: add WORKER = Worker()")
        if one.name.replace("-", "_") != module.name:
            raise ConfigurationError(
                f"app/services/workers/{module.name}.py has the worker {one.name!r}: name the file after it"
            )
        found[one.name] = one
    return found

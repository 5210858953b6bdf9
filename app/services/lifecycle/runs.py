"""Use cases of lifecycle workers: list them, queue a run, and perform a run for a tenant."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from croniter import croniter

from app.db import jobs
from app.db.jobs import Job
from app.db.lifecycle import runs
from app.db.lifecycle.runs import LatestRun
from app.db.session import Database
from app.errors import ConfigurationError, NotFound
from app.services.lifecycle.runner import Counts, ReportProgress, RunProgress, Worker, WorkerContext

KIND = "worker"
"""The kind of the jobs that run workers."""

OFF = "off"
"""Stands in place of a cron expression: the worker runs only on request."""

_CRON_FIELDS = 5

Observe = Callable[[str, str, Counts, float], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerStatus:
    """A worker, its schedule for all tenants (None: on request only), and its latest run for this tenant."""

    worker: Worker
    cron: str | None
    latest: LatestRun | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Workers:
    """The workers by name. `crons` override their own schedules; `observe` is called after every run."""

    database: Database
    clock: Callable[[], datetime]
    means: WorkerContext
    known: Mapping[str, Worker]
    crons: Mapping[str, str]
    observe: Observe = lambda _worker, _outcome, _counts, _seconds: None

    def named(self, name: str) -> Worker:
        """Return a worker, or raise NotFound."""
        if name not in self.known:
            raise NotFound(f"no such worker: {name[:80]!r}; there are {', '.join(sorted(self.known))}")
        return self.known[name]

    def cron(self, name: str) -> str | None:
        """Return the schedule of a worker as a cron expression; None when it runs on request only."""
        given = self.crons.get(name, self.known[name].cron)
        return None if given == OFF else given

    async def list(self, tenant: UUID) -> list[WorkerStatus]:
        """Return all workers in the order of their names, each with its latest run for the tenant."""
        async with self.database.read(tenant) as session:
            latest = {one.worker: one for one in await runs.latest(session, tenant)}
        return [
            WorkerStatus(worker=one, cron=self.cron(name), latest=latest.get(name))
            for name, one in sorted(self.known.items())
        ]

    async def start(self, tenant: UUID, name: str, *, dry_run: bool) -> tuple[Job, bool]:
        """Queue a run for the tenant; return its job, and whether it is new (else one is queued or running already).

        A dry run changes nothing, so it may be queued or run beside a real one.
        """
        self.named(name)
        key = f"{KIND}:{name}:dry" if dry_run else f"{KIND}:{name}"
        async with self.database.write(tenant) as session:
            return await jobs.enqueue_only_one(
                session,
                tenant=tenant,
                kind=KIND,
                key=key,
                payload={"worker": name, "dry_run": dry_run},
                now=self.clock(),
            )

    async def start_scheduled(self, tenant: UUID, name: str) -> None:
        """Queue a run for the tenant, unless the tenant has never written anything."""
        async with self.database.read(tenant) as session:
            empty = not await runs.written(session, tenant)
        if not empty:
            await self.start(tenant, name, dry_run=False)

    async def perform(self, tenant: UUID, job: UUID, payload: Mapping[str, object], report: ReportProgress) -> Counts:
        """Perform a run for the tenant, from the checkpoint of an interrupted attempt, and return its counts."""
        worker, dry_run = self.named(str(payload["worker"])), payload["dry_run"] is True
        began = time.monotonic()
        outcome, counts = "unfinished", dict[str, int]()
        try:
            if not dry_run:
                async with self.database.write(tenant) as session:
                    found = await runs.begin(session, tenant, worker.name, job, self.clock())
                if found.ended:  # its worker died before the job could say so
                    return found.counts
            progress = RunProgress(run=job, report=report)
            counts = dict(await worker.run(self.means, tenant, dry_run=dry_run, progress=progress))
            if not dry_run:
                async with self.database.write(tenant) as session:
                    await runs.end(session, tenant, worker.name, job, counts, self.clock())
            outcome = "dry_run" if dry_run else "done"
        finally:
            self.observe(worker.name, outcome, counts, time.monotonic() - began)
        return counts


def checked_crons(given: Mapping[str, str], known: Mapping[str, Worker]) -> Mapping[str, str]:
    """Return the schedules that were set for workers; raise ConfigurationError for a bad time or an unknown worker."""
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise ConfigurationError(
            f"TM_WORKER_SCHEDULES: no such worker: {', '.join(unknown)}; there are {', '.join(sorted(known))}"
        )
    for name, cron in given.items():
        if cron != OFF and (len(cron.split()) != _CRON_FIELDS or not croniter.is_valid(cron)):
            raise ConfigurationError(
                f"TM_WORKER_SCHEDULES: {name}: {cron!r} is neither a cron expression of five fields, such as "
                f"'0 3 * * 0', nor {OFF!r}"
            )
    return given

"""One run of a job: from the ticket that a worker took to the outcome in the job's row.

The row is authoritative, a ticket only schedules a run. When a worker dies, its tickets return to the queue after a
time without heartbeats; if the row has the run's outcome already, the ticket is dropped.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import chain, repeat
from typing import TypeVar
from uuid import UUID

import structlog
from pgqueuer.domain.errors import RetryRequested
from pgqueuer.domain.models import Job as Ticket
from pydantic_core import from_json, to_json

from app import ids
from app.amounts import amount
from app.db import job_queue, jobs, joint_runs
from app.db.jobs import Job
from app.db.session import PLANNED_BY_KEY, WriteSession
from app.errors import PASSING, Conflict, DatabaseUnavailable, TypedMemoryError
from app.jobs.handler import ComeBack, Handler
from app.model import JobStatus
from app.runtime import Runtime

LONGEST_DELAY = 600.0
"""The longest delay of a retry, in seconds."""

_GROWTH = 4.0

_LONGEST_ERROR = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOutcome:
    """The outcome of a ticket. `status` is the job's final one, if any; `delay` the seconds until its next run, if any.

    `counted` says whether the run counts as one of the job's attempts.
    """

    name: str
    status: JobStatus | None = None
    error: str | None = None
    result: Mapping[str, object] | None = None
    delay: float | None = None
    counted: bool = True
    joined: Mapping[UUID, Mapping[str, object] | None] = field(default_factory=dict)
    """The results of the jobs that were run together with it."""


CANCELLED = JobOutcome(name="cancelled", status=JobStatus.CANCELLED)

TAKEN_OVER = JobOutcome(name="taken_over")

PUT_BACK = JobOutcome(name="put_back", delay=0.0, counted=False)

# Outcomes without a run: nothing is left to do; only other workers know the kind of the job; the job may have killed
# its last worker, and waits until another such job is done.
SERVED = JobOutcome(name="served")

NOT_OURS = JobOutcome(name="not_ours", delay=30.0)

SUSPECT = JobOutcome(name="suspect", delay=2.0)


class RunEnded(Exception):
    """A run has an outcome before its handler returned."""

    def __init__(self, outcome: JobOutcome) -> None:
        super().__init__(outcome.name)
        self.outcome = outcome


def succeeded(result: Mapping[str, object] | None) -> JobOutcome:
    """Return the outcome of a run that returned; raise ValueError unless its result is JSON that Postgres can store."""
    written = to_json(result)
    if b"\\u0000" in written:
        raise ValueError("a result can't hold NUL characters")
    return JobOutcome(name="succeeded", status=JobStatus.SUCCEEDED, result=from_json(written))


def failure(message: str) -> JobOutcome:
    """Return the outcome of a run that failed finally; the message is for the caller."""
    return JobOutcome(name="failed", status=JobStatus.FAILED, error=_storable(message))


def retry(message: str, delay: float) -> JobOutcome:
    """Return the outcome of a run that failed and is to be retried."""
    return JobOutcome(name="retried", error=_storable(message), delay=delay)


def waiting(delay: float) -> JobOutcome:
    """Return the outcome of a run of a job that waits for somebody else."""
    return JobOutcome(name="waiting", delay=delay, counted=False)


def backoff(attempt: int, *, first: float, at_least: float = 0.0) -> float:
    """Return seconds until the next attempt: four times as long each time, minus a random part of up to half.

    It is at least `at_least`, which the failure asked for, and at most ten minutes.
    """
    longest = min(LONGEST_DELAY, first * _GROWTH ** (attempt - 1))
    return min(LONGEST_DELAY, max(at_least, longest * random.uniform(0.5, 1.0)))  # noqa: S311 - no secret


def _storable(message: str) -> str:
    return message.replace("\x00", "")[:_LONGEST_ERROR]


_T = TypeVar("_T")

MOST_INTERRUPTED = 5
"""Runs of a job that end with their worker's death before the job is taken for the cause and fails."""

UNRECORDED_SECONDS = 10.0
"""The delay of a ticket whose run could not be recorded."""

LAST_WORD_SECONDS = 3.0
"""The time that a run that is stopped has to return its job to the queue."""

_DELAYS = (0.1, 0.2, 0.5, 1.0, 2.0)

log = structlog.get_logger("typed_memory.jobs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Executor:
    """Runs the jobs of tickets; each worker has one."""

    runtime: Runtime
    handlers: Mapping[str, Handler]
    _suspects: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)
    _running: set[asyncio.Task[object]] = field(default_factory=set, repr=False)
    _over: asyncio.Event = field(default_factory=asyncio.Event, repr=False)

    async def __call__(self, ticket: Ticket) -> None:
        """Run the job of a ticket and record the outcome; raise RetryRequested when it is to run again."""
        try:
            tenant, job = job_queue.read_payload(ticket.payload)
        except ValueError:
            log.exception("a ticket in the queue names no job", ticket=ticket.id)
            return
        task = asyncio.current_task()
        if task is None or self._over.is_set():
            raise RetryRequested
        self._running.add(task)
        try:
            delay = await self._turn(tenant, job, ticket.id)
        except asyncio.CancelledError:
            # If the error were raised, pgqueuer would delete the ticket.
            delay = PUT_BACK.delay
        except Exception:  # pgqueuer would delete the ticket
            log.exception("a run could not be recorded", ticket=ticket.id)
            delay = UNRECORDED_SECONDS
        finally:
            self._running.discard(task)
        if delay is not None:
            raise RetryRequested(timedelta(seconds=delay))

    def cut(self) -> None:
        """Stop all runs and start no more; each run returns its job to the queue."""
        self._over.set()
        for task in self._running:
            task.cancel()

    async def _turn(self, tenant: UUID, job: UUID, ticket: int) -> float | None:
        """Run the job and return the seconds until its next run, None when the ticket is done."""
        turn = await self._persistently(tenant, lambda session: self._begin(session, tenant, job, ticket))
        if turn is not SUSPECT:
            return await self._delay_of(turn)
        if self._suspects.locked():
            return SUSPECT.delay
        async with self._suspects:
            return await self._delay_of(
                await self._persistently(
                    tenant, lambda session: self._begin(session, tenant, job, ticket, watched=True)
                )
            )

    async def _delay_of(self, turn: Sequence[Job] | JobOutcome) -> float | None:
        if isinstance(turn, JobOutcome):
            return turn.delay
        run, *joined = turn
        with structlog.contextvars.bound_contextvars(job=ids.public(ids.JOB, run.id), kind=run.kind):
            if run.interrupted >= MOST_INTERRUPTED:
                return (await self._park(run)).delay
            return (await self._performed(run, joined)).delay

    async def _begin(
        self, session: WriteSession, tenant: UUID, job: UUID, ticket: int, *, watched: bool = False
    ) -> Sequence[Job] | JobOutcome:
        """Return the run to perform, with those that it joins, or the outcome of the ticket without a run.

        A job that was running when its worker died may be the cause. A worker runs such jobs one at a time, `watched`,
        so that a further death identifies the job and interrupts no other suspect.
        """
        now = self.runtime.clock()
        if not watched:
            run = await jobs.start_first(session, tenant, job, ticket=ticket, kinds=self.handlers.keys(), now=now)
            if run is not None:
                return [run, *await self._joined(session, run)]
        found = await jobs.lock(session, tenant, job)
        if found is None or found.ticket != ticket or found.finished:
            return SERVED
        if found.kind not in self.handlers:
            log.warning("this worker is too old for a job, or too new", kind=found.kind)
            return NOT_OURS
        if not watched and (found.interrupted or found.status is JobStatus.RUNNING):
            await joint_runs.part(session, found)
            return SUSPECT
        run = await jobs.start(session, found, now)
        if run.cancel_requested:
            await jobs.finish(session, run, status=JobStatus.CANCELLED, now=now)
            return SERVED
        return [run]

    async def _joined(self, session: WriteSession, run: Job) -> Sequence[Job]:
        handler = self.handlers[run.kind]
        if handler.together is None or not handler.joins(self.runtime):
            return ()
        return await joint_runs.join(session, run)

    async def _park(self, run: Job) -> JobOutcome:
        """Fail a job that keeps ending its worker, then keep what can be kept of it: nothing may queue it again."""
        error = (
            f"its worker died {amount(run.interrupted, 'times')} doing it: see that worker's log before trying again"
        )
        outcome = failure(error)
        await self._record(run, outcome)
        self.runtime.metrics.job_started(run.kind)
        self.runtime.metrics.job_ended(run.kind, "parked", 0.0)
        log.error("a job keeps ending its worker and is parked as failed")
        await self._abandon(run, error)
        return outcome

    async def _performed(self, run: Job, joined: Sequence[Job]) -> JobOutcome:
        with self.runtime.telemetry.span(f"job {run.kind}"), self._measured(run, 1 + len(joined)) as measured:
            try:
                if joined:
                    outcome = await self._joint_outcome(run, joined)
                else:
                    outcome = await self._outcome(run)
                if outcome.status is JobStatus.FAILED:
                    await self._abandon(run, outcome.error or "")
                await self._record(run, outcome, joined)
            except asyncio.CancelledError:
                outcome = PUT_BACK
                with suppress(TypedMemoryError, TimeoutError):
                    async with asyncio.timeout(LAST_WORD_SECONDS):
                        await self._record(run, outcome, joined)
            measured.append(outcome)
        return outcome

    async def _joint_outcome(self, run: Job, joined: Sequence[Job]) -> JobOutcome:
        """Return the outcome of jobs that are run together; they are retried one by one unless all succeed."""
        together = self.handlers[run.kind].together
        assert together is not None  # noqa: S101 - jobs joined because there is one
        try:
            own, *others = await together(self.runtime, [run, *joined])
            results = {job.id: succeeded(one).result for job, one in zip(joined, others, strict=True)}
            return replace(succeeded(own), joined=results)
        except PASSING as error:
            return retry(error.message, backoff(1, first=self.runtime.settings.job_retry_seconds))
        except (Exception, asyncio.CancelledError) as error:
            if _is_cut(error):
                raise
            log.warning("jobs that ran together failed and run one by one", exc_info=error)
            return retry("jobs of its scope that ran with it failed", 0.0)

    async def _outcome(self, run: Job) -> JobOutcome:
        try:
            result = await self.handlers[run.kind].run(self.runtime, run, _Progress(self.runtime, run))
            return succeeded(result)
        except (RunEnded, ComeBack) as ended:
            return ended.outcome if isinstance(ended, RunEnded) else waiting(ended.delay)
        except PASSING as error:
            return self._again(run, error)
        except TypedMemoryError as error:
            return failure(error.message)
        except (Exception, asyncio.CancelledError) as error:  # whatever it is, the job has failed, the worker goes on
            if _is_cut(error):
                raise
            return _unexpected(error)

    async def _abandon(self, run: Job, error: str) -> None:
        """Let the handler store what can be kept of a failed job; its own failure changes nothing about the job."""
        abandon = self.handlers[run.kind].abandon
        if abandon is None:
            return
        try:
            await abandon(self.runtime, run, error)
        except Exception:  # the job is recorded as failed whatever happens here
            log.exception("what a failed job left could not be kept")

    def _again(self, run: Job, error: TypedMemoryError) -> JobOutcome:
        settings = self.runtime.settings
        if run.attempts >= settings.job_attempts:
            return failure(f"{error.message} (given up after {amount(run.attempts, 'attempts')})")
        delay = backoff(run.attempts, first=settings.job_retry_seconds, at_least=error.retry_after or 0.0)
        return retry(error.message, delay)

    async def _record(self, run: Job, outcome: JobOutcome, joined: Sequence[Job] = ()) -> None:
        async def record(session: WriteSession) -> None:
            now = self.runtime.clock()
            if outcome.status is not None:
                await jobs.finish(
                    session,
                    run,
                    status=outcome.status,
                    error=outcome.error,
                    result=outcome.result,
                    joined=outcome.joined,
                    now=now,
                )
            elif outcome.delay is not None:
                for one in (run, *joined):
                    await jobs.put_back(session, one, error=outcome.error, counted=outcome.counted, now=now)
                if joined:
                    await joint_runs.part(session, run, delay=outcome.delay)

        # What removes the ticket waits for the disk, and for this with it; until then the job would only run again.
        await self._persistently(run.tenant_id, record, synchronous_commit="off")

    async def _persistently(self, tenant: UUID, work: Callable[[WriteSession], Awaitable[_T]], **settings: str) -> _T:
        """Run `work` in a transaction with these settings; retry while the database is unavailable."""
        for delay in chain(_DELAYS, repeat(_DELAYS[-1])):
            try:
                async with self.runtime.database.write(tenant, **PLANNED_BY_KEY, **settings) as session:
                    return await work(session)
            except (DatabaseUnavailable, Conflict):
                await asyncio.sleep(delay)
        raise AssertionError("unreachable")

    @contextmanager
    def _measured(self, run: Job, count: int) -> Iterator[list[JobOutcome]]:
        """Count, time and log a run of so many jobs; the block appends its outcome to the list."""
        began = time.monotonic()
        for _ in range(count):
            self.runtime.metrics.job_started(run.kind)
        ended: list[JobOutcome] = []
        try:
            yield ended
        finally:
            seconds = time.monotonic() - began
            name = ended[0].name if ended else "unrecorded"
            for _ in range(count):
                self.runtime.metrics.job_ended(run.kind, name, seconds)
            log.info(
                "job",
                outcome=name,
                attempt=run.attempts,
                ms=round(seconds * 1000, 1),
                tenant=str(run.tenant_id),
                together=count,
            )


@dataclass(frozen=True, slots=True)
class _Progress:
    """Reports the progress of one run."""

    runtime: Runtime
    run: Job

    async def __call__(self, done: int, total: int | None = None) -> None:
        async with self.runtime.database.write(self.run.tenant_id) as session:
            stop = await jobs.report(session, self.run, done=done, total=total)
        if stop is None:
            raise RunEnded(TAKEN_OVER)
        if stop:
            raise RunEnded(CANCELLED)


def _is_cut(error: BaseException) -> bool:
    """Return whether a run ends because its own task is cancelled, not one that it waited for."""
    task = asyncio.current_task()
    return isinstance(error, asyncio.CancelledError) and (task is None or task.cancelling() > 0)


def _unexpected(error: BaseException) -> JobOutcome:
    log.error("a job failed unexpectedly", exc_info=error)
    return failure(f"an unexpected {type(error).__name__}: the worker's log says where")

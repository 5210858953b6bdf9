"""A job from the transaction that queues it to its end: done, failed, tried again, cancelled."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from itertools import pairwise

import pytest

from app.bootstrap import now
from app.db import jobs
from app.errors import Conflict, NotFound
from app.jobs import worker
from app.jobs.executor import LONGEST_DELAY, NOT_OURS, backoff
from app.model import Actor, JobStatus
from app.services.pages import Page
from tests.jobs.handlers import HANDLERS
from tests.jobs.yard import Yard, statuses
from tests.support.waiting import eventually


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "POLL_SECONDS", 0.1)


async def test_a_job_is_done_and_says_what_it_came_to(yard: Yard, actor: Actor) -> None:
    job = await yard.enqueue(actor, "note", say="hello")
    queued = await yard.runtime.jobs.get(actor, job)
    assert (queued.status, queued.attempts, queued.started_at) == (JobStatus.QUEUED, 0, None)
    async with yard.worker() as runtime:
        done = await yard.ended(actor, job)
        await yard.no_ticket_left()
    assert done.status is JobStatus.SUCCEEDED
    assert (done.attempts, done.result, done.error) == (1, {"said": "hello"}, None)
    assert done.started_at is not None
    assert done.finished_at is not None
    assert done.created_at <= done.started_at <= done.finished_at
    assert await yard.effects(job) == ["began", "ended"]
    metrics = runtime.metrics.exposition().decode()
    assert 'tm_jobs_started_total{kind="note"} 1.0' in metrics
    assert 'tm_job_seconds_count{kind="note",outcome="succeeded"} 1.0' in metrics
    assert "tm_jobs_running 0.0" in metrics


async def test_a_rollback_leaves_neither_job_nor_ticket(yard: Yard, actor: Actor) -> None:
    with suppress(ZeroDivisionError):
        async with yard.runtime.database.write(actor.tenant_id) as session:
            await jobs.enqueue(session, tenant=actor.tenant_id, kind="note", payload={}, now=now())
            raise ZeroDivisionError
    assert await yard.runtime.jobs.list(actor) == Page(items=(), next=None)
    assert await yard.tickets() == 0
    assert (await yard.sql("SELECT count(*) FROM pgqueuer_log"))[0][0] == 0
    await yard.enqueue(actor, "note")
    assert (len((await yard.runtime.jobs.list(actor)).items), await yard.tickets()) == (1, 1)


async def test_a_ticket_says_which_job_and_nothing_of_it(yard: Yard, actor: Actor) -> None:
    job = await yard.enqueue(actor, "note", say="Wolkenkuckucksheim")
    [ticket] = await yard.sql("SELECT * FROM pgqueuer")
    assert ticket["payload"].decode() == f"{actor.tenant_id.hex} {job.hex}"
    assert "Wolkenkuckucksheim" not in str(dict(ticket))


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("input", "no such thing can be"),
        ("gone", "it is gone"),
        ("bug", "an unexpected ValueError: the worker's log says where"),
        ("cancelled", "an unexpected CancelledError: the worker's log says where"),
    ],
)
async def test_an_error_that_time_does_not_mend_fails_the_job_at_once(
    yard: Yard, actor: Actor, how: str, said: str
) -> None:
    job = await yard.enqueue(actor, "wrong", how=how)
    async with yard.worker():
        failed = await yard.ended(actor, job)
        await yard.no_ticket_left()
    assert (failed.status, failed.error, failed.attempts) == (JobStatus.FAILED, said, 1)
    assert await yard.effects(job) == ["tried"]
    [logged] = await yard.sql("SELECT coalesce(string_agg(traceback::text, ''), '') FROM pgqueuer_log")
    assert "Wolkenkuckucksheim" not in logged[0]


@pytest.mark.parametrize("how", ["nul", "object"])
async def test_a_result_that_no_row_can_hold_fails_the_job(yard: Yard, actor: Actor, how: str) -> None:
    job = await yard.enqueue(actor, "strange", how=how)
    async with yard.worker():
        failed = await yard.ended(actor, job)
    assert failed.status is JobStatus.FAILED
    assert "unexpected" in str(failed.error)


async def test_a_failing_provider_is_tried_again_later_and_later(yard: Yard, actor: Actor) -> None:
    job = await yard.enqueue(actor, "flaky", failures=2)
    async with yard.worker() as runtime:
        waiting = await yard.until(actor, job, lambda one: one.error is not None)
        done = await yard.ended(actor, job)
        await yard.no_ticket_left()
    assert waiting.error == "the model does not answer"
    assert (done.status, done.attempts, done.error) == (JobStatus.SUCCEEDED, 3, None)
    times = [row["at"] for row in await yard.sql("SELECT at FROM effects ORDER BY at")]
    gaps = [(later - earlier).total_seconds() for earlier, later in pairwise(times)]
    assert gaps[0] >= 0.05
    assert gaps[1] >= 0.2
    assert 'tm_job_seconds_count{kind="flaky",outcome="retried"} 2.0' in runtime.metrics.exposition().decode()


async def test_what_the_provider_asks_for_is_waited(yard: Yard, actor: Actor) -> None:
    job = await yard.enqueue(actor, "flaky", failures=1, retry_after=1.0)
    async with yard.worker(job_retry_seconds=0.01):
        assert (await yard.ended(actor, job)).status is JobStatus.SUCCEEDED
    [(first, second)] = await yard.sql("SELECT min(at), max(at) FROM effects")
    assert (second - first).total_seconds() >= 1.0


async def test_after_its_last_attempt_it_is_in_the_failed_list_and_can_be_tried_anew(yard: Yard, actor: Actor) -> None:
    job = await yard.enqueue(actor, "flaky", failures=4)
    other = await yard.enqueue(actor, "note")
    async with yard.worker(job_attempts=3, job_retry_seconds=0.01):
        failed = await yard.ended(actor, job)
        await yard.ended(actor, other)
        assert (failed.status, failed.attempts) == (JobStatus.FAILED, 3)
        assert failed.error == "the model does not answer (given up after 3 attempts)"
        listed = await yard.runtime.jobs.list(actor, status=JobStatus.FAILED)
        assert ([one.id for one in listed.items], listed.next) == ([job], None)

        again = await yard.runtime.jobs.retry(actor, job)
        assert (again.status, again.attempts, again.error) == (JobStatus.QUEUED, 0, None)
        done = await yard.ended(actor, job)
        assert (done.status, done.attempts) == (JobStatus.SUCCEEDED, 2)
        await yard.no_ticket_left()
    with pytest.raises(Conflict, match="succeeded"):
        await yard.runtime.jobs.retry(actor, job)


async def test_a_cancelled_job_leaves_the_queue_and_can_be_tried_after_all(yard: Yard, actor: Actor) -> None:
    job = await yard.enqueue(actor, "note")
    with pytest.raises(Conflict, match="queued"):
        await yard.runtime.jobs.retry(actor, job)
    cancelled = await yard.runtime.jobs.cancel(actor, job)
    assert cancelled.status is JobStatus.CANCELLED
    assert cancelled.finished_at is not None
    assert await yard.tickets() == 0
    with pytest.raises(Conflict, match="cancelled"):
        await yard.runtime.jobs.cancel(actor, job)
    await yard.runtime.jobs.retry(actor, job)
    async with yard.worker():
        assert (await yard.ended(actor, job)).status is JobStatus.SUCCEEDED
    assert await yard.effects(job) == ["began", "ended"]


async def test_a_running_job_stops_at_its_next_checkpoint(yard: Yard, actor: Actor) -> None:
    job = await yard.enqueue(actor, "steps", steps=1000)
    async with yard.worker() as runtime:
        running = await yard.until(actor, job, lambda one: one.progress_done >= 2)
        assert (running.status, running.progress_total) == (JobStatus.RUNNING, 1000)
        asked = await yard.runtime.jobs.cancel(actor, job)
        assert (asked.status, asked.cancel_requested) == (JobStatus.RUNNING, True)
        stopped = await yard.ended(actor, job)
        await yard.no_ticket_left()
    assert stopped.status is JobStatus.CANCELLED
    assert stopped.progress_done < 1000
    assert await yard.effects(job) == ["began"]
    assert 'tm_job_seconds_count{kind="steps",outcome="cancelled"} 1.0' in runtime.metrics.exposition().decode()


async def test_a_job_that_waits_for_its_next_attempt_can_be_cancelled(yard: Yard, actor: Actor) -> None:
    job = await yard.enqueue(actor, "flaky", failures=5, retry_after=60)
    async with yard.worker():
        await yard.until(actor, job, lambda one: one.error is not None)
        assert (await yard.runtime.jobs.cancel(actor, job)).status is JobStatus.CANCELLED
        await yard.no_ticket_left()
    assert await yard.effects(job) == ["tried"]


async def test_a_job_of_an_unknown_kind_waits_for_a_worker_that_knows_it(
    yard: Yard, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.jobs.executor.NOT_OURS", replace(NOT_OURS, delay=0.1))
    job = await yard.enqueue(actor, "note")
    async with yard.worker(handlers={}):

        async def passed_on() -> bool:
            return bool((await yard.sql("SELECT attempts FROM pgqueuer"))[0][0])

        await eventually(passed_on)
    waiting = await yard.runtime.jobs.get(actor, job)
    assert (waiting.status, waiting.attempts) == (JobStatus.QUEUED, 0)
    async with yard.worker(handlers=HANDLERS):
        assert (await yard.ended(actor, job)).status is JobStatus.SUCCEEDED


async def test_a_ticket_that_is_not_its_jobs_any_more_does_nothing(yard: Yard, actor: Actor) -> None:
    job = await yard.enqueue(actor, "note")
    await yard.sql(
        "INSERT INTO pgqueuer (priority, status, entrypoint, payload) "
        "SELECT 9, 'queued', entrypoint, payload FROM pgqueuer"
    )
    async with yard.worker():
        assert (await yard.ended(actor, job)).status is JobStatus.SUCCEEDED
        await yard.no_ticket_left()
    assert await yard.effects(job) == ["began", "ended"]


async def test_a_ticket_of_nonsense_is_dropped(yard: Yard, actor: Actor) -> None:
    await yard.sql(
        "INSERT INTO pgqueuer (priority, status, entrypoint, payload) VALUES (0, 'queued', 'jobs.00', 'x y')"
    )
    job = await yard.enqueue(actor, "note")
    async with yard.worker():
        await yard.no_ticket_left()
        assert (await yard.ended(actor, job)).status is JobStatus.SUCCEEDED


async def test_a_run_that_was_taken_over_changes_its_job_no_more(yard: Yard, actor: Actor) -> None:
    job = await yard.enqueue(actor, "steps", steps=20)
    async with yard.worker():
        await yard.until(actor, job, lambda one: one.progress_done >= 1)
        # What another worker does that takes this one for dead.
        await yard.sql("UPDATE jobs SET attempts = 2, progress_done = 0 WHERE id = $1", job)
        await yard.no_ticket_left()
    found = await yard.runtime.jobs.get(actor, job)
    assert (found.status, found.attempts, found.progress_done) == (JobStatus.RUNNING, 2, 0)
    assert await yard.effects(job) == ["began"]


async def test_jobs_are_listed_newest_first_by_page_status_and_kind(yard: Yard, actor: Actor) -> None:
    made = [await yard.enqueue(actor, kind) for kind in ("note", "other", "note", "note")]
    await yard.runtime.jobs.cancel(actor, made[0])
    stranger = await yard.tenant()
    await yard.enqueue(stranger, "note")
    first = await yard.runtime.jobs.list(actor, limit=3)
    assert ([one.id for one in first.items], first.next) == ([made[3], made[2], made[1]], made[1])
    rest = await yard.runtime.jobs.list(actor, limit=3, after=made[1])
    assert ([one.id for one in rest.items], rest.next) == ([made[0]], None)
    notes = await yard.runtime.jobs.list(actor, kind="note")
    assert statuses(notes.items) == [JobStatus.QUEUED, JobStatus.QUEUED, JobStatus.CANCELLED]
    for ask in (yard.runtime.jobs.get, yard.runtime.jobs.retry, yard.runtime.jobs.cancel):
        with pytest.raises(NotFound, match="no such job"):
            await ask(stranger, made[3])


@pytest.mark.parametrize("attempt", range(1, 12))
def test_delays_grow_vary_and_have_an_end(attempt: int) -> None:
    delays = [backoff(attempt, first=5.0) for _ in range(200)]
    longest = min(LONGEST_DELAY, 5.0 * 4 ** (attempt - 1))
    assert longest / 2 <= min(delays) < max(delays) <= longest
    assert backoff(attempt, first=5.0, at_least=7.5) >= 7.5
    assert backoff(attempt, first=5.0, at_least=1e9) == LONGEST_DELAY

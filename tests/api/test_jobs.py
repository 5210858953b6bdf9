"""Background jobs over HTTP. Their kind is one that no worker knows, so they stay as they are put."""

from __future__ import annotations

import asyncio
import re
from uuid import UUID

import httpx
import pytest

from app import ids
from app.bootstrap import now
from app.db import jobs
from app.db.session import statement
from app.model import JobStatus
from app.runtime import Runtime
from app.services.jobs import Jobs
from tests.api.conftest import Tenant, connected, running, settings_for

KIND = "kept-for-a-test"


async def tenant_of(client: httpx.AsyncClient, runtime: Runtime) -> UUID:
    secret = client.headers["Authorization"].removeprefix("Bearer ")
    return (await runtime.keys.authenticate(secret)).tenant_id


async def queued(client: httpx.AsyncClient, runtime: Runtime, kind: str = KIND) -> str:
    tenant = await tenant_of(client, runtime)
    async with runtime.database.write(tenant) as session:
        job = await jobs.enqueue(session, tenant=tenant, kind=kind, payload={}, total=10, now=now())
    return ids.public(ids.JOB, job)


async def ended(client: httpx.AsyncClient, runtime: Runtime, job: str, status: JobStatus) -> None:
    """Run a job to an end, as a worker does."""
    tenant = await tenant_of(client, runtime)
    async with runtime.database.write(tenant) as session:
        found = await jobs.lock(session, tenant, ids.parse(ids.JOB, job))
        assert found is not None
        run = await jobs.start(session, found, now())
        await jobs.report(session, run, done=4, total=None)
        error = "the reason" if status is JobStatus.FAILED else None
        assert await jobs.finish(session, run, status=status, error=error, result={"made": 2}, now=now())


async def test_a_job_is_shown_from_its_beginning_to_its_end(client: httpx.AsyncClient, runtime: Runtime) -> None:
    job = await queued(client, runtime)
    waiting = (await client.get(f"/jobs/{job}")).json()
    assert waiting == {
        "id": job,
        "kind": KIND,
        "status": "queued",
        "progress": {"done": 0, "total": 10},
        "attempts": 0,
        "cancel_requested": False,
        "error": None,
        "result": None,
        "created_at": waiting["created_at"],
        "started_at": None,
        "finished_at": None,
    }
    await ended(client, runtime, job, JobStatus.FAILED)
    failed = (await client.get(f"/jobs/{job}")).json()
    assert (failed["status"], failed["error"], failed["attempts"]) == ("failed", "the reason", 1)
    assert (failed["progress"], failed["result"]) == ({"done": 4, "total": 10}, {"made": 2})
    assert failed["created_at"] <= failed["started_at"] <= failed["finished_at"]


async def test_the_failed_list_is_where_jobs_are_tried_again_from(client: httpx.AsyncClient, runtime: Runtime) -> None:
    job, other = [await queued(client, runtime) for _ in range(2)]
    await ended(client, runtime, job, JobStatus.FAILED)
    await ended(client, runtime, other, JobStatus.SUCCEEDED)
    failed = (await client.get("/jobs", params={"all": True, "status": "failed"})).json()
    assert [one["id"] for one in failed["jobs"]] == [job]
    again = await client.post(f"/jobs/{job}/retry", headers={"Idempotency-Key": "once"})
    assert (again.status_code, again.json()["status"], again.json()["error"]) == (200, "queued", None)
    assert (await client.get("/jobs", params={"all": True, "status": "failed"})).json()["jobs"] == []
    replayed = await client.post(f"/jobs/{job}/retry", headers={"Idempotency-Key": "once"})
    assert (replayed.status_code, replayed.headers["Idempotency-Replayed"]) == (200, "true")
    for one, said in ((job, "queued"), (other, "succeeded")):
        refused = await client.post(f"/jobs/{one}/retry")
        assert refused.status_code == 409
        assert said in refused.json()["detail"]


async def test_a_waiting_job_is_cancelled_and_a_running_one_asked(client: httpx.AsyncClient, runtime: Runtime) -> None:
    waiting, running = [await queued(client, runtime) for _ in range(2)]
    cancelled = await client.post(f"/jobs/{waiting}/cancel")
    assert (cancelled.status_code, cancelled.json()["status"]) == (200, "cancelled")
    refused = await client.post(f"/jobs/{waiting}/cancel")
    assert (refused.status_code, refused.json()["type"]) == (409, "urn:typed-memory:problem:conflict")
    assert "cancelled" in refused.json()["detail"]

    tenant = await tenant_of(client, runtime)
    async with runtime.database.write(tenant) as session:
        found = await jobs.lock(session, tenant, ids.parse(ids.JOB, running))
        assert found is not None
        await jobs.start(session, found, now())
    asked = (await client.post(f"/jobs/{running}/cancel")).json()
    assert (asked["status"], asked["cancel_requested"]) == ("running", True)


async def test_pages_follow_one_another_and_keep_to_their_filters(client: httpx.AsyncClient, runtime: Runtime) -> None:
    made = [await queued(client, runtime, kind) for kind in (KIND, "also-kept", KIND, KIND, KIND)]
    wanted = [one for index, one in reversed(list(enumerate(made))) if index != 1]
    found: list[str] = []
    cursor: str | None = None
    for _ in range(2):
        page = (
            await client.get(
                "/jobs", params={"all": True, "kind": KIND, "limit": 2, **({"cursor": cursor} if cursor else {})}
            )
        ).json()
        found += [one["id"] for one in page["jobs"]]
        cursor = page["next_cursor"]
        if cursor:
            other = await client.get("/jobs", params={"all": True, "limit": 2, "cursor": cursor})
            assert other.json()["type"] == "urn:typed-memory:problem:invalid-cursor"
    assert (found, cursor) == (wanted, None)


@pytest.mark.parametrize("query", [{"status": "done"}, {"limit": 0}, {"limit": 201}, {"cursor": "x"}, {"nonsense": 1}])
async def test_a_wrong_question_is_told_so(client: httpx.AsyncClient, query: dict[str, str]) -> None:
    assert (await client.get("/jobs", params=query)).status_code == 422


async def test_another_tenants_jobs_do_not_exist(
    client: httpx.AsyncClient, other_client: httpx.AsyncClient, runtime: Runtime
) -> None:
    job = await queued(client, runtime)
    for method, path in (("GET", ""), ("POST", "/retry"), ("POST", "/cancel")):
        answer = await other_client.request(method, f"/jobs/{job}{path}")
        assert (answer.status_code, answer.json()["type"]) == (404, "urn:typed-memory:problem:not-found")
    assert (await other_client.get("/jobs?all=true")).json() == {"jobs": [], "next_cursor": None}
    assert (await client.get(f"/jobs/{job}")).json()["status"] == "queued"


async def test_a_reader_may_look_and_not_touch(tenant: Tenant, runtime: Runtime) -> None:
    job = await queued(tenant.client, runtime)
    reader = {"Authorization": f"Bearer {await tenant.key('read')}"}
    assert (await tenant.client.get(f"/jobs/{job}", headers=reader)).status_code == 200
    for change in ("retry", "cancel"):
        assert (await tenant.client.post(f"/jobs/{job}/{change}", headers=reader)).status_code == 403


async def test_a_writer_cancels_and_retries_only_what_writes_queue(fresh_database_url: str) -> None:
    async with running(settings_for(fresh_database_url, worker="off")) as app, connected(app) as client:
        runtime: Runtime = app.state.runtime
        made = await client.post("/admin/keys", json={"name": "writer", "roles": ["write"]})
        writer = {"Authorization": f"Bearer {made.json()['key']}"}
        for kind in ("ingest", "hype", "sameness"):
            job = await queued(client, runtime, kind)
            for change, status in (("cancel", "cancelled"), ("retry", "queued")):
                changed = await client.post(f"/jobs/{job}/{change}", headers=writer)
                assert (changed.status_code, changed.json()["status"]) == (200, status), changed.text
        for kind in ("erase", "backfill", "worker", "webhooks", KIND):
            job = await queued(client, runtime, kind)
            for change, status in (("cancel", "queued"), ("retry", "cancelled")):
                refused = await client.post(f"/jobs/{job}/{change}", headers=writer)
                assert (refused.status_code, refused.json()["type"]) == (403, "urn:typed-memory:problem:forbidden")
                assert f"a job of the kind {kind!r} takes a key with the role 'admin'" in refused.json()["detail"]
                assert (await client.get(f"/jobs/{job}")).json()["status"] == status
                assert (await client.post(f"/jobs/{job}/{change}")).status_code == 200


async def test_an_old_queue_is_reported_and_the_service_stays_ready(fresh_database_url: str) -> None:
    settings = settings_for(fresh_database_url, worker="off", queue_slow_seconds=50)
    async with running(settings) as app, connected(app) as client:
        runtime: Runtime = app.state.runtime
        for _ in range(2):
            await queued(client, runtime)
        async with runtime.database.write(None) as session:
            await session.change(statement("UPDATE pgqueuer SET execute_after = now() - interval '100 seconds'"), {})
        ready = await client.get("/readyz")
        scraped = (await client.get("/metrics")).text
    answer = ready.json()
    assert (ready.status_code, answer["ready"], answer["reasons"]) == (200, True, {})
    assert answer["queue"]["depth"] == 2
    assert 100 <= answer["queue"]["oldest_seconds"] < 200
    assert "the oldest of 2 waiting jobs has waited 10" in answer["degraded"]["queue"]
    assert "tm_queue_depth 2.0" in scraped
    assert re.search(r"^tm_queue_oldest_seconds 1\d\d\.", scraped, re.MULTILINE)


async def test_a_queue_that_cannot_be_asked_holds_nobody_up(
    client: httpx.AsyncClient, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hanging(_: Jobs) -> None:
        await asyncio.sleep(60)

    monkeypatch.setattr("app.services.jobs.PATIENCE", 0.05)
    monkeypatch.setattr(Jobs, "backlog", hanging)
    ready = await client.get("/readyz")
    assert (ready.status_code, ready.json()["queue"]) == (200, None)
    assert "tm_queue_depth NaN" in (await client.get("/metrics")).text

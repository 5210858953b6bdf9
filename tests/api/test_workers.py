"""Workers over HTTP: what there are, running one, and what it came to."""

from __future__ import annotations

from app.features.lifecycle.workers import WORKERS
from tests.api.conftest import Tenant, connected, fact
from tests.support.waiting import ended_job


async def test_they_are_listed_with_their_times_and_latest_runs(tenant: Tenant) -> None:
    client = tenant.client
    await client.post("/memories/typed/fact", json=fact())
    listed = (await client.get("/admin/workers")).json()["workers"]
    assert [one["name"] for one in listed] == sorted(WORKERS)
    assert all(one["summary"].endswith(".") and len(one["cron"].split()) == 5 for one in listed)
    assert {one["last_run"] for one in listed} == {None}
    answer = await client.post("/admin/workers/lexical-statistics/run")
    assert answer.status_code == 202
    assert answer.json()["started"]
    job = await ended_job(client, answer.json()["job"]["id"])
    counts = {"scopes": 1, "corrected": 0, "terms": 0}
    assert job["status"] == "succeeded"
    assert job["result"] == {"worker": "lexical-statistics", "dry_run": False, "counts": counts}
    listed = (await client.get("/admin/workers")).json()["workers"]
    [run] = [one["last_run"] for one in listed if one["last_run"]]
    assert (run["job_id"], run["status"], run["counts"]) == (job["id"], "succeeded", counts)
    metrics = (await client.get("/metrics")).text
    assert 'tm_worker_rows_total{what="scopes",worker="lexical-statistics"}' in metrics
    assert 'tm_worker_seconds_count{outcome="done",worker="lexical-statistics"}' in metrics


async def test_a_dry_run_says_so_and_is_no_latest_run(tenant: Tenant) -> None:
    answer = await tenant.client.post("/admin/workers/gc/run", params={"dry_run": True})
    job = await ended_job(tenant.client, answer.json()["job"]["id"])
    assert job["result"] == {"worker": "gc", "dry_run": True, "counts": {"purged": 0, "forgotten": 0}}
    listed = (await tenant.client.get("/admin/workers")).json()["workers"]
    assert {one["last_run"] for one in listed} == {None}


async def test_an_unknown_one_is_told_with_the_known_ones(tenant: Tenant) -> None:
    answer = await tenant.client.post("/admin/workers/entropy/run")
    assert answer.status_code == 404
    assert "there are consolidation, drift, freshness" in answer.json()["detail"]


async def test_a_wrong_parameter_is_named(tenant: Tenant) -> None:
    answer = await tenant.client.post("/admin/workers/gc/run", params={"dry_run": "perhaps"})
    assert answer.status_code == 422
    assert "dry_run" in answer.text


async def test_it_takes_an_admin_key(tenant: Tenant) -> None:
    async with connected(tenant.app, await tenant.key("write")) as writer:
        assert (await writer.get("/admin/workers")).status_code == 403
        assert (await writer.post("/admin/workers/gc/run")).status_code == 403

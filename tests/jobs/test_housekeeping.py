"""Old rows of all tenants: found in one statement, and removed in the tenants that have them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from app.db import quotas
from app.db.quotas import WHOLE_TENANT, Usage
from app.db.tenants import OldRows
from app.features.query_log.jobs import prune_query_log
from app.features.webhooks.jobs import prune_deliveries
from app.jobs import schedules
from app.jobs.schedules import USAGE_KEPT, prune_usage
from app.model import Actor
from tests.jobs.yard import Yard

INSERT_TURN = """
    WITH scope AS (
        INSERT INTO scopes (tenant_id, id, kind) VALUES ($1, gen_random_uuid(), 'global') RETURNING id
    )
    INSERT INTO turns (tenant_id, id, scope_id, role, content, occurred_at, status)
    SELECT $1, gen_random_uuid(), id, 'user', 'Hello', now(), $2 FROM scope
"""

INSERT_JOB = """
    INSERT INTO jobs (tenant_id, id, kind, status, created_at, finished_at)
    VALUES ($1, gen_random_uuid(), 'ingest', 'succeeded', now(), now())
"""

INSERT_USAGE = "INSERT INTO daily_usage (tenant_id, key_id, day) VALUES ($1, gen_random_uuid(), current_date - 1)"

INSERT_QUERY = """
    INSERT INTO query_log (tenant_id, id, asked_at, actor, question_digest, question_length, mode, top_k, memories,
        took_ms, degraded)
    VALUES ($1, gen_random_uuid(), now(), 'test', '', 0, 'default', 10, '{}', 1, '{}')
"""

INSERT_WEBHOOK = """
    INSERT INTO webhooks (tenant_id, id, url, events, secret, created_at)
    VALUES ($1, gen_random_uuid(), 'https://hooks.example/', '{}', '', now())
"""

INSERT_DELIVERIES = """
    INSERT INTO webhook_deliveries (tenant_id, id, webhook_id, event, created_at, due_at)
    SELECT $1, gen_random_uuid(), id, 'job.done', now() - age, now()
    FROM webhooks, unnest(CAST($2 AS interval[])) age WHERE tenant_id = $1
"""


@pytest.mark.parametrize(
    ("what", "insert", "values"),
    [
        (OldRows.WAITING_TURNS, INSERT_TURN, ["received"]),
        (OldRows.FINISHED_JOBS, INSERT_JOB, []),
        (OldRows.USAGE, INSERT_USAGE, []),
        (OldRows.QUERY_LOG, INSERT_QUERY, []),
    ],
)
async def test_tenants_with_old_rows_are_found_among_others(
    yard: Yard, actor: Actor, what: OldRows, insert: str, values: list[str]
) -> None:
    tenants, now = yard.runtime.tenants, yard.runtime.clock()
    await yard.tenant()
    assert await tenants.with_old(what, now + timedelta(days=1)) == []
    await yard.sql(insert, actor.tenant_id, *values)
    assert await tenants.with_old(what, now + timedelta(days=1)) == [actor.tenant_id]
    assert await tenants.with_old(what, now - timedelta(days=3)) == []


async def test_turns_that_were_processed_are_not_waiting(yard: Yard, actor: Actor) -> None:
    await yard.sql(INSERT_TURN, actor.tenant_id, "processed")
    later = yard.runtime.clock() + timedelta(days=1)
    assert await yard.runtime.tenants.with_old(OldRows.WAITING_TURNS, later) == []


async def test_only_who_may_list_tenants_learns_of_them_and_nobody_becomes_one(yard: Yard, actor: Actor) -> None:
    await yard.sql(INSERT_TURN, actor.tenant_id, "received")
    other = await yard.tenant()
    later = {"before": yard.runtime.clock() + timedelta(days=1)}
    async with yard.runtime.database.read(other.tenant_id) as session:
        asked = "SELECT * FROM tenants_with_old('waiting turns', $1)"
        assert await session.driver.fetch(asked, *later.values()) == []
        assert await session.driver.fetchval("SHOW app.tenant_id") == str(other.tenant_id)


async def test_what_was_used_on_past_days_is_removed_and_todays_kept(yard: Yard, actor: Actor) -> None:
    today = yard.runtime.clock().date()
    old = today - USAGE_KEPT - timedelta(days=1)
    async with yard.runtime.database.write(actor.tenant_id) as session:
        for day in (old, today):
            await quotas.add_usage(session, actor.tenant_id, [], day, Usage(turns=3))
    await prune_usage(yard.runtime)
    async with yard.runtime.database.read(actor.tenant_id) as session:
        assert await quotas.used(session, actor.tenant_id, WHOLE_TENANT, old) == Usage()
        assert await quotas.used(session, actor.tenant_id, WHOLE_TENANT, today) == Usage(turns=3)


async def test_questions_are_removed_from_the_log_when_they_are_old(yard: Yard, actor: Actor) -> None:
    await yard.sql(INSERT_QUERY, actor.tenant_id)
    await yard.sql(INSERT_QUERY.replace("now()", "now() - interval '8 days'"), actor.tenant_id)
    await prune_query_log(yard.runtime)
    left = await yard.sql("SELECT asked_at FROM query_log WHERE tenant_id = $1", actor.tenant_id)
    assert [yard.runtime.clock() - one["asked_at"] < timedelta(days=1) for one in left] == [True]


async def test_every_old_delivery_is_removed_although_nothing_is_sent_any_more(
    yard: Yard, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedules, "BATCH", 2)
    ages = [timedelta(days=days) for days in (8, 9, 10, 11, 60, 6, 0)]
    await yard.sql(INSERT_WEBHOOK, actor.tenant_id)
    await yard.sql(INSERT_DELIVERIES, actor.tenant_id, ages)
    await prune_deliveries(yard.runtime)
    left = await yard.sql("SELECT now() - created_at AS age FROM webhook_deliveries ORDER BY created_at")
    assert [one["age"].days for one in left] == [6, 0]

"""What queueing a job writes: the ticket that the queue's own library would, beside the rows the job is about."""

from __future__ import annotations

import asyncpg
import pytest
from pgqueuer.adapters.drivers.asyncpg import AsyncpgDriver

from app.bootstrap import now
from app.db import job_queue, jobs
from app.model import Actor
from tests.jobs.yard import Yard

OWN = {"id", "job_id", "created", "updated", "heartbeat", "execute_after"}


def plain(row: asyncpg.Record) -> dict[str, object]:
    return {name: value for name, value in row.items() if name not in OWN}


async def test_a_ticket_is_what_the_library_writes(yard: Yard, actor: Actor) -> None:
    job = await yard.enqueue(actor, "note")
    connection = await asyncpg.connect(yard.url)
    try:
        theirs = job_queue.queries(AsyncpgDriver(connection))
        await theirs.enqueue(job_queue.entrypoint(actor.tenant_id), job_queue.payload(actor.tenant_id, job), priority=0)
    finally:
        await connection.close()

    tickets = await yard.sql("SELECT * FROM pgqueuer ORDER BY id")
    log = await yard.sql("SELECT * FROM pgqueuer_log ORDER BY id")

    assert plain(tickets[0]) == plain(tickets[1])
    assert plain(log[0]) == plain(log[1])
    assert [row["job_id"] for row in log] == [row["id"] for row in tickets]


async def test_a_job_and_the_rows_it_is_about_are_there_together_or_not_at_all(yard: Yard, actor: Actor) -> None:
    tenant = actor.tenant_id
    scope = {"tenant_id": tenant, "id": tenant, "kind": "user", "user_id": "ann", "agent_id": None}

    async def queued(kind: str) -> None:
        async with yard.runtime.database.write(tenant) as session:
            given = {"scopes": [{**scope, "kind": kind}]}
            await jobs.enqueue(session, tenant=tenant, kind="note", payload={}, now=now(), beside=given)

    with pytest.raises(asyncpg.CheckViolationError):
        await queued("nonsense")
    assert (await yard.tickets(), await yard.sql("SELECT id FROM jobs")) == (0, [])

    await queued("user")
    assert (await yard.tickets(), len(await yard.sql("SELECT id FROM jobs"))) == (1, 1)
    assert [row["user_id"] for row in await yard.sql("SELECT user_id FROM scopes")] == ["ann"]

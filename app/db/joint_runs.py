"""Jobs of one scope that a run does together: it takes those that wait, and they hold its ticket until they end."""

from __future__ import annotations

from collections.abc import Sequence

from app.db import job_queue
from app.db.jobs import Job, job_of
from app.db.session import WriteSession, statement
from app.db.sql import to_text

MOST = 64
"""Turns, or whatever `progress_total` counts, of the jobs of a run; a longer job runs by itself."""

_JOIN = statement(
    """
    WITH others AS MATERIALIZED (
        SELECT j.id, j.ticket
        FROM (
            SELECT id, sum(progress_total) OVER (ORDER BY id) AS total
            FROM (
                SELECT id, progress_total FROM jobs
                WHERE tenant_id = :tenant AND scope_id = :scope AND kind = :kind AND status = 'queued'
                  AND attempts = 0 AND interrupted = 0 AND payload - 'turns' = CAST(:alike AS jsonb)
                ORDER BY id LIMIT :room
            ) waiting
        ) near
        CROSS JOIN LATERAL (
            SELECT x.id, x.ticket FROM jobs x
            WHERE x.tenant_id = :tenant AND x.id = near.id AND x.status = 'queued'
            OFFSET 0 FOR UPDATE SKIP LOCKED
        ) j
        WHERE near.total <= :room
    ),
    taken AS (
        DELETE FROM pgqueuer q USING (
            SELECT w.id, o.id AS job
            FROM others o
            CROSS JOIN LATERAL (
                SELECT id FROM pgqueuer x
                WHERE x.id = o.ticket AND x.status = 'queued' AND x.execute_after <= now()
                OFFSET 0 FOR UPDATE SKIP LOCKED
            ) w
        ) free
        WHERE q.id = free.id
        RETURNING free.job
    )
    UPDATE jobs SET status = 'running', attempts = 1, started_at = :started, ticket = :ticket
    FROM taken WHERE jobs.tenant_id = :tenant AND jobs.id = taken.job
    RETURNING jobs.*
    """
)
"""Who takes a ticket that waits out of the queue has its job: nobody else finds the one, or begins the other."""

_HELD = statement(
    """
    SELECT id FROM jobs
    WHERE tenant_id = :tenant AND status IN ('queued', 'running') AND scope_id = :scope AND ticket = :ticket
      AND id <> :job
    ORDER BY id FOR UPDATE
    """
)

_PART = statement(
    f"""
    WITH given AS (
        SELECT * FROM unnest(CAST(:ids AS uuid[]), CAST(:contents AS bytea[]))
            WITH ORDINALITY AS given(id, content, place)
    ), {job_queue.TICKETS}
    UPDATE jobs SET ticket = ticket.id
    FROM given JOIN ticket ON ticket.payload = given.content
    WHERE jobs.tenant_id = :tenant AND jobs.id = given.id
    """  # noqa: S608 - composed of constants
)


async def join(session: WriteSession, run: Job) -> Sequence[Job]:
    """Begin jobs that wait, of the scope, kind and sender of a run's job; return them, oldest first.

    Only jobs that never ran are joined, to one that runs for the first time: what failed, or killed its worker, runs
    alone.
    """
    room = MOST - (run.progress_total or MOST)
    if run.scope_id is None or run.attempts > 1 or run.interrupted or room <= 0 or session.clustered:
        return ()
    rows = await session.fetch(
        _JOIN,
        {
            "tenant": run.tenant_id,
            "scope": run.scope_id,
            "kind": run.kind,
            "alike": to_text({name: value for name, value in run.payload.items() if name != "turns"}),
            "room": room,
            "started": run.started_at,
            "ticket": run.ticket,
        },
    )
    return sorted(map(job_of, rows), key=lambda one: one.id)


async def part(session: WriteSession, run: Job, *, delay: float = 0.0) -> None:
    """Give each unfinished job that joined a run a ticket of its own, which is due after `delay` seconds."""
    held = {"tenant": run.tenant_id, "scope": run.scope_id, "ticket": run.ticket, "job": run.id}
    found = [row["id"] for row in await session.fetch(_HELD, held)] if run.scope_id is not None else []
    if not found:
        return
    contents = [job_queue.payload(run.tenant_id, one) for one in found]
    await session.change(_PART, {**job_queue.make_tickets(run.tenant_id, delay), "ids": found, "contents": contents})

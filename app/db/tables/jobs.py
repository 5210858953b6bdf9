"""Tables of background jobs, runs of workers, consolidated memories, and daily statistics.

The queue's own tables are pgqueuer's, and only in its migration.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Date, Index, Integer, Text, text
from sqlalchemy.dialects.postgresql import JSONB, UUID

from app.db.tables.base import json_object, key, one_of, refers_to, table, tenant, when
from app.model import JobStatus

jobs = table(
    "jobs",
    tenant(),
    key("id"),
    Column("kind", Text, nullable=False),
    Column("status", Text, nullable=False),
    json_object("payload"),
    # No foreign key: a job may be queued before the first write creates its scope.
    Column("scope_id", UUID),
    Column("progress_done", Integer, nullable=False, server_default=text("0")),
    Column("progress_total", Integer),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    Column("interrupted", Integer, nullable=False, server_default=text("0")),
    Column("cancel_requested", Boolean, nullable=False, server_default=text("false")),
    Column("ticket", BigInteger),
    Column("error", Text),
    Column("result", JSONB(none_as_null=True)),
    Column("only_one", Text),
    when("created_at"),
    when("started_at", nullable=True),
    when("finished_at", nullable=True),
    one_of("status", JobStatus),
    Index("ix_jobs_status", "tenant_id", "status", "id"),
    Index("ix_jobs_kind", "tenant_id", "kind", "id"),
    Index(
        "ix_jobs_gathering",
        "tenant_id",
        "scope_id",
        "kind",
        "id",
        postgresql_where=text("status = 'queued' AND scope_id IS NOT NULL"),
    ),
    Index("ix_jobs_finished", "tenant_id", "finished_at", postgresql_where=text("finished_at IS NOT NULL")),
    Index(
        "uq_jobs_only_one",
        "tenant_id",
        "only_one",
        unique=True,
        postgresql_where=text("only_one IS NOT NULL AND status IN ('queued', 'running')"),
    ),
)

worker_runs = table(
    "worker_runs",
    tenant(),
    key("worker", Text),
    Column("job_id", UUID, nullable=False),
    when("began_at"),
    when("ended_at", nullable=True),
    json_object("cursor"),
    json_object("counts"),
)

memory_folds = table(
    "memory_folds",
    tenant(),
    key("memory_id"),
    Column("into_id", UUID, nullable=False),
    when("folded_at"),
    refers_to("memories", "memory_id", cascade=True),
    refers_to("memories", "into_id", cascade=True),
    Index("ix_memory_folds_into", "tenant_id", "into_id"),
)

store_days = table(
    "store_days",
    tenant(),
    key("day", Date),
    key("kind", Text),
    key("name", Text),
    Column("count", BigInteger, nullable=False),
    Column("total", BigInteger, nullable=False),
    when("computed_at"),
)

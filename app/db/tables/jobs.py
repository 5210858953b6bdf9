"""Tables of background work: jobs, runs of workers, backfills, webhooks, consolidated memories, daily statistics.

The queue's own tables are pgqueuer's, and only in its migration.
"""

from __future__ import annotations

from sqlalchemy import ARRAY, BigInteger, Boolean, CheckConstraint, Column, Date, Index, Integer, Text, text
from sqlalchemy.dialects.postgresql import JSONB, UUID

from app.db.tables.base import json_object, key, one_of, refers_to, table, tenant, when
from app.memory.backfill import BackfillStatus, ItemState
from app.model import DeliveryStatus, JobStatus

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


webhooks = table(
    "webhooks",
    tenant(),
    key("id"),
    Column("url", Text, nullable=False),
    Column("events", ARRAY(Text), nullable=False),
    Column("description", Text),
    Column("secret", Text, nullable=False),
    Column("previous_secret", Text),
    when("previous_until", nullable=True),
    Column("active", Boolean, nullable=False, server_default=text("true")),
    Column("paused_because", Text),
    when("created_at"),
)

webhook_deliveries = table(
    "webhook_deliveries",
    tenant(),
    key("id"),
    Column("webhook_id", UUID, nullable=False),
    Column("event", Text, nullable=False),
    json_object("data"),
    Column("status", Text, nullable=False, server_default=text("'waiting'")),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    Column("answer", Integer),
    Column("error", Text),
    when("created_at"),
    when("due_at"),
    when("delivered_at", nullable=True),
    refers_to("webhooks", "webhook_id", cascade=True),
    one_of("status", DeliveryStatus),
    Index("ix_webhook_deliveries_listed", "tenant_id", "webhook_id", "created_at", "id"),
    Index(
        "ix_webhook_deliveries_due",
        "due_at",
        "tenant_id",
        postgresql_where=text("status = 'waiting'"),
    ),
    Index("ix_webhook_deliveries_created", "tenant_id", "created_at"),
)


backfills = table(
    "backfills",
    tenant(),
    key("id"),
    Column("type", Text, nullable=False),
    Column("sources", ARRAY(Text), nullable=False),
    Column("classifier", Text, nullable=False),
    Column("scopes", ARRAY(UUID)),
    Column("status", Text, nullable=False),
    Column("actor", Text, nullable=False),
    json_object("counts"),
    Column("cursor", UUID),
    Column("job_id", UUID),
    when("created_at"),
    when("previewed_at", nullable=True),
    when("committed_at", nullable=True),
    when("undone_at", nullable=True),
    CheckConstraint("classifier IN ('rules', 'model')", name="classifier"),
    one_of("status", BackfillStatus),
)

backfill_items = table(
    "backfill_items",
    tenant(),
    key("backfill_id"),
    key("memory_id"),
    Column("scope_id", UUID, nullable=False),
    # `note`, `stamped` and `rests_on` are of an earlier release, which may still run on this schema.
    # Items of one unit compete for a slot and are changed together or not at all.
    Column("unit", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("effect", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("reason", Text),
    Column("note", Text),
    Column("why", Text),
    Column("adopted", JSONB(none_as_null=True)),
    json_object("before"),
    json_object("after"),
    Column("stamped", ARRAY(Text), nullable=False, server_default=text("'{}'")),
    Column("links", JSONB, nullable=False, server_default=text("'[]'::jsonb")),
    json_object("rests_on"),
    when("seen_at"),
    when("applied_at", nullable=True),
    one_of("state", ItemState),
    refers_to("backfills", "backfill_id", cascade=True),
    refers_to("memories", "memory_id", cascade=True),
    Index("ix_backfill_items_unit", "tenant_id", "backfill_id", "state", "scope_id", "unit"),
    Index("ix_backfill_items_memory", "tenant_id", "memory_id"),
)

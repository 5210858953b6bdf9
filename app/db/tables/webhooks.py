"""Tables of webhooks and their deliveries, which triggers queue in the transaction of what they tell of."""

from __future__ import annotations

from sqlalchemy import ARRAY, Boolean, Column, Index, Integer, Text, text
from sqlalchemy.dialects.postgresql import UUID

from app.db.tables.base import json_object, key, one_of, refers_to, table, tenant, when
from app.model import DeliveryStatus

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

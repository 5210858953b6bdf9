"""Tables of connections by OAuth: what users granted to clients, the tokens of it, and invitations to grant."""

from __future__ import annotations

from sqlalchemy import ARRAY, CheckConstraint, Column, Index, LargeBinary, Text
from sqlalchemy.dialects.postgresql import UUID

from app.db.tables.base import key, refers_to, table, tenant, when

oauth_grants = table(
    "oauth_grants",
    tenant(),
    key("id"),
    Column("client_id", Text, nullable=False),
    Column("client_name", Text, nullable=False),
    Column("redirect_host", Text, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("agent_id", Text),
    Column("scopes", ARRAY(Text), nullable=False),
    Column("resource", Text, nullable=False),
    Column("approved_by", Text, nullable=False),
    Column("key_id", UUID),
    when("created_at"),
    when("connected_at", nullable=True),
    when("last_used_at", nullable=True),
    when("revoked_at", nullable=True),
    Column("revoked_because", Text),
    Index("ix_oauth_grants_listed", "tenant_id", "created_at", "id"),
    Index("ix_oauth_grants_user", "tenant_id", "user_id"),
)

oauth_tokens = table(
    "oauth_tokens",
    tenant(),
    key("secret_hash", LargeBinary),
    Column("grant_id", UUID, nullable=False),
    Column("kind", Text, nullable=False),
    Column("scopes", ARRAY(Text), nullable=False),
    when("expires_at"),
    when("used_at", nullable=True),
    Column("code_challenge", Text),
    Column("redirect_uri", Text),
    refers_to("oauth_grants", "grant_id", cascade=True),
    CheckConstraint("kind IN ('code', 'access', 'refresh')", name="kind"),
    Index("ix_oauth_tokens_grant", "tenant_id", "grant_id"),
)

oauth_invitations = table(
    "oauth_invitations",
    tenant(),
    key("id"),
    Column("secret_hash", LargeBinary, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("scopes", ARRAY(Text), nullable=False),
    Column("created_by", Text, nullable=False),
    when("created_at"),
    when("expires_at"),
    when("used_at", nullable=True),
    Index("ix_oauth_invitations_secret", "tenant_id", "secret_hash"),
    Index("ix_oauth_invitations_user", "tenant_id", "user_id"),
)

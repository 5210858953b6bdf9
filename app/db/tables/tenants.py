"""Tables of tenants: their API keys with limits and usage, connections by OAuth, scopes with term statistics, types."""

from __future__ import annotations

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Date,
    Float,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import JSON, UUID

from app.db.tables.base import NOBODY, json_object, key, one_of, refers_to, table, tenant, when
from app.model import ScopeKind

tenants = table(
    "tenants",
    Column("id", UUID, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    json_object("settings"),
    Column("types_version", BigInteger, nullable=False, server_default=text("0")),
    when("created_at", default="now()"),
)

api_keys = table(
    "api_keys",
    tenant(),
    key("id"),
    Column("name", Text, nullable=False),
    Column("prefix", Text, nullable=False),
    Column("secret_hash", LargeBinary, nullable=False),
    Column("roles", ARRAY(Text), nullable=False),
    when("created_at", default="now()"),
    when("expires_at", nullable=True),
    when("replaced_from", nullable=True),
    when("revoked_at", nullable=True),
    when("last_used_at", nullable=True),
    Column("user_id", Text),
    Column("agent_id", Text),
    Index("ix_api_keys_secret_hash", "secret_hash"),
)

limits = table(
    "limits",
    tenant(),
    key("key_id"),
    *(
        Column(name, BigInteger)
        for name in ("requests_per_minute", "memories_per_day", "turns_per_day", "tokens_per_day")
    ),
)

daily_usage = table(
    "daily_usage",
    tenant(),
    key("key_id"),
    key("day", Date),
    *(Column(name, BigInteger, nullable=False, server_default=text("0")) for name in ("memories", "turns", "tokens")),
)

scopes = table(
    "scopes",
    tenant(),
    key("id"),
    Column("kind", Text, nullable=False),
    Column("user_id", Text),
    Column("agent_id", Text),
    Column("version", BigInteger, nullable=False, server_default=text("0")),
    Column("memory_count", BigInteger, nullable=False, server_default=text("0")),
    Column("context_count", BigInteger, nullable=False, server_default=text("0")),
    Column("ann", Boolean, nullable=False, server_default=text("false")),
    Column("lexical_documents", BigInteger, nullable=False, server_default=text("0")),
    Column("lexical_length", BigInteger, nullable=False, server_default=text("0")),
    Column("lexical_average", Float, nullable=False, server_default=text("0")),
    Column("lexical_settled", Boolean, nullable=False, server_default=text("true")),
    when("created_at", default="now()"),
    when("written_at", nullable=True),
    # The digest of the header of the export that filled the scope.
    Column("imported_from", Text),
    one_of("kind", ScopeKind),
    Index("ix_scopes_tenant_id_user_id", "tenant_id", "user_id"),
    Index("ix_scopes_tenant_id_agent_id", "tenant_id", "agent_id"),
)

lexical_terms = table(
    "lexical_terms",
    tenant(),
    key("scope_id"),
    key("term", Integer),
    Column("documents", Integer, nullable=False),
    refers_to("scopes", "scope_id", cascade=True),
)

# What each transaction changed in a scope, which triggers note: memories and entities by their ids, and when.
scope_changes = table(
    "scope_changes",
    tenant(),
    key("scope_id"),
    key("transaction", BigInteger),
    *(Column(name, ARRAY(UUID), nullable=False, server_default=text("'{}'")) for name in ("memories", "entities")),
    when("changed_at", default="now()"),
)

memory_types = table(
    "memory_types",
    Column("tenant_id", UUID, primary_key=True, server_default=text(f"'{NOBODY}'")),
    Column("name", Text, primary_key=True),
    Column("description", Text, nullable=False),
    when("created_at", default="now()"),
    Column("version", Integer, nullable=False, server_default=text("0")),
    CheckConstraint(f"(tenant_id = '{NOBODY}') = (version = 0)", name="version"),
)

memory_type_versions = table(
    "memory_type_versions",
    tenant(),
    key("name", Text),
    key("version", Integer),
    Column("definition", JSON, nullable=False),
    when("created_at"),
    Column("created_by", Text, nullable=False),
    ForeignKeyConstraint(
        ["tenant_id", "name"],
        ["memory_types.tenant_id", "memory_types.name"],
        ondelete="CASCADE",
    ),
    CheckConstraint("version > 0", name="version"),
)


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

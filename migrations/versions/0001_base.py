"""Every table with its indexes and triggers (`migrations/base/*.sql`), and what the service's role may do with them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from alembic import op

from app.db.privileges import JOIN_ROLE, MAKE_ROLE, USE_SCHEMA
from app.db.session import RUNTIME_ROLE as ROLE
from migrations import live
from migrations.live import CURRENT

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

EXTENSIONS = ("vector", "pg_trgm", "btree_gin", "btree_gist")

FOLDER = Path(__file__).parents[1] / "base"
FILES = (
    "tenants",
    "types",
    "turns",
    "entities",
    "memories",
    "index",
    "history",
    "merges",
    "review",
    "jobs",
    "queue",
    "backfills",
    "erasure",
    "audit",
    "audit_functions",
)
"""In the order in which they refer to one another."""

READ_WRITE = (
    "api_keys",
    "backfill_items",
    "backfills",
    "entities",
    "entity_aliases",
    "entity_merge_aliases",
    "entity_merge_memories",
    "entity_merges",
    "entity_past",
    "evidence",
    "extraction_costs",
    "hypothetical_embeddings",
    "idempotency_keys",
    "jobs",
    "lexical_terms",
    "memories",
    "memory_entities",
    "memory_folds",
    "memory_links",
    "memory_past",
    "memory_usage",
    "pronoun_bindings",
    "relations",
    "review_counts",
    "scopes",
    "store_days",
    "turns",
    "worker_runs",
)
GUARDED = ("audit_events", "audit_seals", "audit_unsealed", "erased_ids", "erasures", "memory_type_versions")
"""Tables of a tenant's rows that the service may not change at will."""

GRANTS = (
    *(f"SELECT, INSERT, UPDATE, DELETE ON {table}" for table in (*READ_WRITE, "memory_index", "memory_types")),
    "SELECT ON alembic_version",
    "SELECT ON audit_events, audit_seals, audit_unsealed",
    "INSERT (tenant_id, id, occurred_at, actor, action, memory_id, scope_id, detail) ON audit_events",
    "SELECT, INSERT, UPDATE ON erasures, erased_ids",
    "SELECT, INSERT, DELETE ON memory_type_versions",
    "SELECT, UPDATE (seen_at) ON embedding_models",
    "SELECT, INSERT, UPDATE ON tenants",
    "SELECT, INSERT, UPDATE, DELETE ON pgqueuer",
    "SELECT, INSERT, DELETE ON pgqueuer_log",
    "SELECT, INSERT, UPDATE ON pgqueuer_schedules",
    "SELECT ON pgqueuer_statistics",  # a worker looks for it at its start, and statistics are kept elsewhere
    "USAGE ON SEQUENCE pgqueuer_id_seq, pgqueuer_schedules_id_seq",
    "EXECUTE ON FUNCTION seal_audit(uuid, integer), redact_audit(uuid, uuid[], uuid[], text, timestamptz)",
)

CLOSED = (
    "audit_enqueue()",
    "audit_standing()",
    "audit_event_id(timestamptz)",
    "audit_stays()",
    "audit_only_emptied()",
    "audit_detail_digest(uuid, jsonb)",
    "seal_audit(uuid, integer)",
    "redact_audit(uuid, uuid[], uuid[], text, timestamptz)",
)
"""Functions that nobody may call but their owner and who is granted it."""

KEY_HASH = "decode(nullif(current_setting('app.key_hash', true), ''), 'hex')"
OPERATOR = "current_setting('app.operator', true) = 'on'"
BUILT_IN = "'00000000-0000-0000-0000-000000000000'"
OWN = f"(tenant_id = {CURRENT} AND tenant_id <> {BUILT_IN})"

POLICIES = (
    *(
        f"tenant ON {table} USING (tenant_id = {CURRENT}) WITH CHECK (tenant_id = {CURRENT})"
        for table in (*READ_WRITE, *GUARDED)
    ),
    f"tenant ON tenants FOR SELECT USING (id = {CURRENT})",
    f"operator ON tenants USING ({OPERATOR}) WITH CHECK ({OPERATOR})",
    f"operator ON audit_unsealed FOR SELECT USING ({OPERATOR})",
    f"authentication ON api_keys FOR SELECT USING (secret_hash = {KEY_HASH})",
    f"service ON review_counts FOR SELECT USING ({CURRENT} IS NULL)",
    f"seen ON memory_types FOR SELECT USING (tenant_id = {BUILT_IN} OR tenant_id = {CURRENT})",
    f"own ON memory_types USING {OWN} WITH CHECK {OWN}",
)

DROP_ROLE = f"""
DO $$ BEGIN
    DROP OWNED BY {ROLE};
    DROP ROLE {ROLE};
EXCEPTION WHEN dependent_objects_still_exist THEN NULL; -- another database of the cluster uses it
END $$
"""


def statements() -> Iterator[str]:
    """Yield the statements of the files: an empty line ends each."""
    for name in FILES:
        for block in (FOLDER / f"{name}.sql").read_text().split("\n\n"):
            if not all(line.startswith("--") for line in block.splitlines()):
                yield block.strip()


def upgrade() -> None:
    for extension in EXTENSIONS:
        op.execute(f"CREATE EXTENSION IF NOT EXISTS {extension}")
    op.execute(MAKE_ROLE)
    op.execute(JOIN_ROLE)
    op.execute(USE_SCHEMA)
    for statement in statements():
        op.execute(statement)
    live.grant(GRANTS)
    live.close(CLOSED)
    for table in (*READ_WRITE, *GUARDED, "tenants"):
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
    # Not forced: migrations, which run as the owner, write the built-in types.
    op.execute("ALTER TABLE memory_types ENABLE ROW LEVEL SECURITY")
    for policy in POLICIES:
        op.execute(f"CREATE POLICY {policy}")


def downgrade() -> None:
    made = re.findall(r"^CREATE (TABLE|FUNCTION|TYPE) (\w+)", "\n".join(statements()), re.MULTILINE)
    for kind in ("TABLE", "FUNCTION", "TYPE"):
        for name in reversed([name for one, name in made if one == kind]):
            op.execute(f"DROP {kind} {name}")
    op.execute(DROP_ROLE)

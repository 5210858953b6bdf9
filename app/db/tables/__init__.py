"""The database's tables, for SQLAlchemy; every key starts with the tenant.

Row-level security with the runtime role's grants, and the vector index of each embedding model, are not part of a
table's definition and are only in migrations.
"""

from sqlalchemy import Table

from app.db.tables.audit import (
    audit_events,
    audit_seals,
    audit_unsealed,
    erased_ids,
    erasures,
    extraction_costs,
    idempotency_keys,
)
from app.db.tables.base import metadata
from app.db.tables.entities import (
    entities,
    entity_aliases,
    entity_merge_aliases,
    entity_merge_memories,
    entity_merges,
    entity_past,
    memory_entities,
    pronoun_bindings,
    relations,
)
from app.db.tables.jobs import (
    backfill_items,
    backfills,
    jobs,
    memory_folds,
    store_days,
    webhook_deliveries,
    webhooks,
    worker_runs,
)
from app.db.tables.memories import (
    evidence,
    memories,
    memory_links,
    memory_past,
    memory_usage,
    review_claims,
    review_comments,
    review_counts,
    turns,
)
from app.db.tables.retrieval import embedding_models, hypothetical_embeddings, memory_index, memory_labels, query_log
from app.db.tables.tenants import (
    api_keys,
    daily_usage,
    lexical_terms,
    limits,
    memory_type_versions,
    memory_types,
    oauth_grants,
    oauth_invitations,
    oauth_tokens,
    scope_changes,
    scopes,
    tenants,
)

UNSCOPED = frozenset({"memory_types", "embedding_models", "memory_index"})
"""Tables that the general policy does not cover: two reference tables, and the retrieval index.

The runtime role sees the built-in `memory_types` and the tenant's own; the owner, who migrates, writes the built-in
ones. Rows of the index are read freely and written by their tenant alone (docs/decisions/tenancy.md).
"""

__all__ = [
    "UNSCOPED",
    "Table",
    "api_keys",
    "audit_events",
    "audit_seals",
    "audit_unsealed",
    "backfill_items",
    "backfills",
    "daily_usage",
    "embedding_models",
    "entities",
    "entity_aliases",
    "entity_merge_aliases",
    "entity_merge_memories",
    "entity_merges",
    "entity_past",
    "erased_ids",
    "erasures",
    "evidence",
    "extraction_costs",
    "hypothetical_embeddings",
    "idempotency_keys",
    "jobs",
    "lexical_terms",
    "limits",
    "memories",
    "memory_entities",
    "memory_folds",
    "memory_index",
    "memory_labels",
    "memory_links",
    "memory_past",
    "memory_type_versions",
    "memory_types",
    "memory_usage",
    "metadata",
    "oauth_grants",
    "oauth_invitations",
    "oauth_tokens",
    "pronoun_bindings",
    "query_log",
    "relations",
    "review_claims",
    "review_comments",
    "review_counts",
    "scope_changes",
    "scopes",
    "store_days",
    "tenants",
    "turns",
    "webhook_deliveries",
    "webhooks",
    "worker_runs",
]

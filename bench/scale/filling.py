"""Fills the store of a scale run: large scopes one by one, the others as copies of scopes of one tenant.

The ids of the copies are those of the originals: keys begin with the tenant. A question is answered from its tenant's
rows alone, so it does not matter to it that other tenants have the same words.
"""

from __future__ import annotations

from collections.abc import Sequence

import asyncpg
from sqlalchemy import Computed, Identity

from app.db.tables import metadata
from bench.fill import Bucket, Filler, Progress, without_vector_indexes
from bench.scale.shape import BLOCK, LARGE, STEPS, TenantShape, block, scope_id, step, user_scope
from bench.stage import seed_of
from bench.world import World, tenant_id

AT_ONCE = 400
"""Scopes that are copied in one transaction."""

OF_SCOPES = ("scopes", "entities", "entity_aliases", "memories", "memory_index", "relations", "lexical_terms")
OF_MEMORIES = ("memory_usage", "evidence", "memory_entities", "memory_links")
"""Tables without the scope, by the column that names the memory."""

_MEMORY = {"memory_links": "from_memory"}


async def fill(world: World, shapes: Sequence[TenantShape], progress: Progress) -> int:
    """Fill an empty store with these tenants and the one that the copies are of; return that one's number."""
    model = len(shapes)
    await world.add_tenants(range(model + 1))
    users = {block(place): BLOCK for place in range(max(one.blocks for one in shapes))}
    users |= {step(size): size for size in STEPS}
    buckets = [_bucket(model, user, size) for user, size in users.items()]
    buckets += [_bucket(one.number, LARGE, one.large) for one in shapes if one.large]
    filler = Filler(connection=world.owner, embedder=world.embedder)
    async with without_vector_indexes(world.owner):
        await filler.fill(buckets, progress)
        copies = [(user, one.number) for one in shapes for user in one.users()]
        for at in range(0, len(copies), AT_ONCE):
            some = copies[at : at + AT_ONCE]
            await _copy(world.owner, model, some)
            progress(sum(users[user] for user, _ in some))
    await world.owner.execute("VACUUM (ANALYZE)")
    return model


def _bucket(number: int, user: str, size: int) -> Bucket:
    return Bucket(tenant=tenant_id(number), scope=user_scope(user), count=size, seed=seed_of(number, user))


async def _copy(owner: asyncpg.Connection, model: int, copies: Sequence[tuple[str, int]]) -> None:
    """Copy scopes of the model tenant, each given by its user, to tenants."""
    rows = [(scope_id(model, user), tenant_id(number), scope_id(number, user)) for user, number in copies]
    async with owner.transaction():
        await owner.execute("SET LOCAL session_replication_role = replica")
        await owner.execute("CREATE TEMP TABLE copies (source uuid, tenant uuid, scope uuid) ON COMMIT DROP")
        await owner.copy_records_to_table("copies", records=rows)
        for table in (*OF_SCOPES, "audit_events", *OF_MEMORIES):
            await owner.execute(_statement(table), tenant_id(model))


def _statement(table: str) -> str:
    names = [
        one.name
        for one in metadata.tables[table].columns
        if not isinstance(one.computed, Computed) and not isinstance(one.identity, Identity)
    ]
    own = {"tenant_id": "c.tenant", "id" if table == "scopes" else "scope_id": "c.scope"}
    values = ", ".join(own.get(name, f"t.{name}") for name in names)
    if table in OF_MEMORIES:
        source = (
            "memories m ON m.tenant_id = $1 AND m.scope_id = c.source "
            f"JOIN {table} t ON t.tenant_id = $1 AND t.{_MEMORY.get(table, 'memory_id')} = m.id"
        )
    else:
        source = f"{table} t ON t.tenant_id = $1 AND t.{'id' if table == 'scopes' else 'scope_id'} = c.source"
    return f"INSERT INTO {table} ({', '.join(names)}) SELECT {values} FROM copies c JOIN {source}"  # noqa: S608 - our own names

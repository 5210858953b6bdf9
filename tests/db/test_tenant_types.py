"""What the database itself keeps to: whose type a memory is of, that there is one, and what a tenant sees of types."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID, uuid4

import asyncpg
import pytest

from app.db.session import statement as session_statement
from app.db.tenant_types import TypeCache
from app.features.tenant_types.service import TenantTypes
from app.memory.registry import Registry, discover
from app.memory.tenant_types.definition import Definition
from tests.support.stores import Store
from tests.support.tenant_types import TICKET, opened

NOBODY = UUID(int=0)


def own_types(store: Store) -> TenantTypes:
    book = TypeCache(database=store.database, built_in=discover())
    return TenantTypes(database=store.database, book=book, clock=lambda: datetime.now(UTC))


async def with_tickets(store: Store) -> Registry:
    own = own_types(store)
    await own.define(store.actor, Definition.model_validate(TICKET))
    return await own.book.of(store.tenant)


def going_by(store: Store, types: Registry) -> Store:
    pipeline = replace(store.pipeline, types=types)
    return replace(store, types=types, pipeline=pipeline)


async def ticketed(store: Store) -> UUID:
    """A store with one ticket in it, and the ticket's id."""
    types = await with_tickets(store)
    outcome = await going_by(store, types).write("ticket", **opened())
    assert outcome.memory is not None
    return outcome.memory.id


async def another(store: Store) -> UUID:
    """Another tenant, which has tickets too."""
    other = uuid4()
    await store.sql("INSERT INTO tenants (id, name) VALUES ($1, $2)", other, str(other))
    await with_tickets(store.as_tenant(other))
    return other


async def test_a_memory_of_an_own_type_says_whose_and_which_version(store: Store) -> None:
    memory = await ticketed(store)
    [row] = await store.sql("SELECT type, type_tenant, type_version FROM memories WHERE id = $1", memory)
    assert tuple(row) == ("ticket", store.tenant, 1)


async def test_an_unknown_type_is_refused(store: Store) -> None:
    memory = await ticketed(store)
    with pytest.raises(asyncpg.ForeignKeyViolationError, match="fk_memories_type_tenant_type"):
        await store.sql("UPDATE memories SET type = 'case' WHERE id = $1", memory)
    with pytest.raises(asyncpg.ForeignKeyViolationError, match="fk_memories_type_tenant_type"):
        await store.sql("UPDATE memories SET type_tenant = $2, type_version = 0 WHERE id = $1", memory, NOBODY)


async def test_another_tenants_type_is_refused(store: Store) -> None:
    memory, other = await ticketed(store), await another(store)
    with pytest.raises(asyncpg.CheckViolationError, match="ck_memories_type_tenant"):
        await store.sql("UPDATE memories SET type_tenant = $2 WHERE id = $1", memory, other)


async def test_a_second_active_memory_in_a_slot_is_refused(store: Store) -> None:
    types = await with_tickets(store)
    mine = going_by(store, types)
    await mine.write("ticket", **opened())
    await mine.write("ticket", **opened(status="closed"))
    with pytest.raises(asyncpg.UniqueViolationError, match="uq_memories_active_slot"):
        await store.sql(
            "UPDATE memories SET status = 'active', ended_at = NULL WHERE tenant_id = $1 AND type = 'ticket'",
            store.tenant,
        )


async def test_a_type_that_memories_are_of_can_not_be_taken_from_under_them(store: Store) -> None:
    await ticketed(store)
    with pytest.raises(asyncpg.ForeignKeyViolationError, match="fk_memories_type_tenant_type"):
        await store.sql("DELETE FROM memory_types WHERE tenant_id = $1", store.tenant)


async def test_what_the_previous_release_writes_is_of_a_built_in_type(store: Store) -> None:
    await store.write("fact", predicate="works-at", object="Volkswagen")
    columns = (
        "tenant_id, id, scope_id, type, category, status, content, identity, source_strength, extractor_confidence,"
        " prior, confidence, importance, stated_at, valid_from, recorded_at, updated_at"
    )
    kept = columns.replace(" id,", " gen_random_uuid(),")
    copied = f"INSERT INTO memories ({columns}) SELECT {kept} FROM memories WHERE tenant_id = $1"  # noqa: S608
    await store.sql(copied, store.tenant)
    rows = await store.sql("SELECT type_tenant, type_version FROM memories WHERE tenant_id = $1", store.tenant)
    assert [tuple(row) for row in rows] == [(NOBODY, 0)] * 2


async def test_a_tenant_sees_what_is_built_in_and_its_own(store: Store) -> None:
    other = await another(store)
    seen = session_statement("SELECT tenant_id, name FROM memory_types")
    async with store.database.read(store.tenant) as session:
        rows = await session.fetch(seen, {})
    assert {row["name"] for row in rows} == set(discover().by_name)
    async with store.database.read(other) as session:
        rows = await session.fetch(seen, {})
    assert {row["name"] for row in rows if row["tenant_id"] == other} == {"ticket"}


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO memory_types (name, description) VALUES ('x', 'x')",
        "INSERT INTO memory_types (tenant_id, name, description, version) VALUES (:other, 'x', 'x', 1)",
        "INSERT INTO memory_type_versions VALUES (:other, 'ticket', 2, '{}', now(), 'x')",
    ],
)
async def test_a_tenant_writes_no_types_but_its_own(store: Store, statement: str) -> None:
    other = await another(store)
    with pytest.raises(Exception, match="violates row-level security"):
        async with store.database.write(store.tenant) as session:
            await session.change(session_statement(statement), {"other": other} if ":other" in statement else {})


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE memory_types SET description = 'x' WHERE name IN ('fact', 'ticket')",
        "DELETE FROM memory_types WHERE name IN ('fact', 'ticket')",
        "DELETE FROM memory_type_versions",
    ],
)
async def test_a_tenant_changes_no_types_but_its_own(store: Store, statement: str) -> None:
    await another(store)
    async with store.database.write(store.tenant) as session:
        assert await session.change(session_statement(statement), {}) == 0


async def test_a_version_is_never_rewritten(store: Store) -> None:
    await with_tickets(store)
    with pytest.raises(Exception, match="permission denied"):
        async with store.database.write(store.tenant) as session:
            await session.change(session_statement("UPDATE memory_type_versions SET definition = '{}'"), {})


@pytest.mark.one_server
async def test_the_key_finds_memories_of_a_type_through_its_own_index(store: Store) -> None:
    await ticketed(store)
    rows = await store.sql(
        "EXPLAIN SELECT 1 FROM ONLY memories x WHERE type_tenant = '01a2024d-e235-7644-a90f-67f53d564cb5'"
        " AND type = 'ticket' FOR KEY SHARE OF x"
    )
    assert "ix_memories_own_type" in "\n".join(row[0] for row in rows)

"""The schema as the database keeps it: migrations, least privilege, and tenancy without the application."""

from __future__ import annotations

import asyncio
import sys
from uuid import UUID, uuid4

import asyncpg
import pytest
from alembic import command

from app.db import embedding_models
from app.db.migrate import configuration, downgrade, head, upgrade
from app.db.session import RUNTIME_ROLE, Database
from app.db.session import statement as session_statement
from app.db.tables import UNSCOPED, metadata
from app.memory.registry import discover
from tests.support import owner
from tests.support.stores import Store


async def test_the_migrations_make_what_the_tables_say(fresh_database_url: str) -> None:
    await embedding_models.register(fresh_database_url, name="any", dimensions=8)
    await asyncio.to_thread(command.check, configuration(fresh_database_url))  # raises when they differ


@pytest.mark.long
async def test_down_and_up_again(empty_database_url: str) -> None:
    await asyncio.to_thread(upgrade, empty_database_url)
    await asyncio.to_thread(downgrade, empty_database_url, "base")
    left = await owner.ask(empty_database_url, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    assert {row["tablename"] for row in left} == {"alembic_version"}
    await asyncio.to_thread(upgrade, empty_database_url)
    [row] = await owner.ask(empty_database_url, "SELECT version_num FROM alembic_version")
    assert row["version_num"] == head()


@pytest.mark.long
async def test_two_processes_migrate_at_once(empty_database_url: str) -> None:
    script = "import sys; from app.db.migrate import upgrade; upgrade(sys.argv[1])"
    processes = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", script, empty_database_url) for _ in range(3)
    ]
    assert await asyncio.gather(*(process.wait() for process in processes)) == [0, 0, 0]
    rows = await owner.ask(empty_database_url, "SELECT name FROM memory_types WHERE version = 0")
    assert {row["name"] for row in rows} == set(discover().by_name)


def test_every_key_starts_with_the_tenant() -> None:
    for table in metadata.tables.values():
        if table.name in {"tenants", "memory_types", "embedding_models"}:
            continue
        assert next(iter(table.primary_key.columns)).name == "tenant_id", table.name
        for key in table.foreign_key_constraints:
            referred = next(iter(key.elements)).column.table.name
            if referred not in {"memory_types", "embedding_models"}:
                assert key.column_keys[0] == "tenant_id", (table.name, key.column_keys)
        for index in table.indexes:
            if index.unique:
                assert index.columns.keys()[0] == "tenant_id", index.name


async def test_row_level_security_is_forced_wherever_there_is_content(database_url: str) -> None:
    rows = await owner.ask(
        database_url,
        "SELECT relname, relrowsecurity, relforcerowsecurity FROM pg_class WHERE relname = ANY($1)",
        list(metadata.tables),
    )
    open_tables = {row["relname"] for row in rows if not (row["relrowsecurity"] and row["relforcerowsecurity"])}
    assert open_tables == UNSCOPED - {"memory_index"}, "whose rows are read freely, and written by their tenant"


@pytest.mark.one_server
async def test_the_runtime_role_owns_nothing_and_bypasses_nothing(database_url: str) -> None:
    [role] = await owner.ask(
        database_url,
        "SELECT rolsuper, rolbypassrls, rolcreatedb, rolcreaterole, rolcanlogin FROM pg_roles WHERE rolname = $1",
        RUNTIME_ROLE,
    )
    assert not any(role.values())
    assert await owner.ask(database_url, "SELECT 1 FROM pg_tables WHERE tableowner = $1", RUNTIME_ROLE) == []


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_events SET action = 'x'",
        "DELETE FROM audit_events",
        "TRUNCATE memories",
        "DROP TABLE memories",
        "ALTER TABLE memories DISABLE ROW LEVEL SECURITY",
        "INSERT INTO memory_types (name, description) VALUES ('x', 'x')",
        "DELETE FROM tenants",
        "TRUNCATE pgqueuer",
        "ALTER TABLE pgqueuer DISABLE TRIGGER ALL",
        "UPDATE pgqueuer_log SET status = 'deleted'",
        "DELETE FROM pgqueuer_schedules",
        "DELETE FROM pgqueuer_statistics",
    ],
)
async def test_the_runtime_role_may_not(database_url: str, statement: str) -> None:
    database = Database(database_url)
    try:
        with pytest.raises(Exception, match=r"permission denied|must be owner|violates row-level security"):
            async with database.write(uuid4()) as session:
                await session.change(session_statement(statement), {})
    finally:
        await database.close()


async def test_reads_cannot_write(store: Store) -> None:
    with pytest.raises(Exception, match="read-only transaction"):
        async with store.database.read(store.tenant) as session:
            await session.fetch(session_statement("DELETE FROM memories"), {})


async def filled(store: Store) -> UUID:
    await store.write("entity", canonical_name="Priya", entity_type="person", aliases=["the EM"])
    await store.write("relation", from_entity="Sarah", relation_type="reports-to", to_entity="Priya")
    await store.write("preference", preference_key="editor.theme", preference_value="dark")
    await store.write("preference", preference_key="editor.theme", preference_value="light")
    return store.tenant


async def test_one_tenant_sees_nothing_of_another_at_sql_level(store: Store) -> None:
    tenant = await filled(store)
    stranger = uuid4()
    await store.sql("INSERT INTO tenants (id, name) VALUES ($1, $2)", stranger, str(stranger))
    by_content = [table for table in metadata.sorted_tables if table.name not in UNSCOPED]
    seen: dict[str, int] = {}
    for table in by_content:
        column = "id" if table.name == "tenants" else "tenant_id"
        count = session_statement(f"SELECT count(*) FROM {table.name} WHERE {column} = :tenant")  # noqa: S608 - names of our tables
        async with store.database.read(tenant) as session:
            [[seen[table.name]]] = await session.fetch(count, {"tenant": tenant})
        for other in (stranger, None):
            async with store.database.read(other) as session:
                [[found]] = await session.fetch(count, {"tenant": tenant})
            assert found == 0, table.name
    assert seen["memories"] == 4
    assert seen["relations"] == 1
    assert seen["audit_events"] == 5


async def test_one_tenant_cannot_write_as_another(store: Store) -> None:
    tenant = await filled(store)
    stranger = uuid4()
    await store.sql("INSERT INTO tenants (id, name) VALUES ($1, $2)", stranger, str(stranger))
    async with store.database.write(stranger) as session:
        changed = await session.change(
            session_statement("UPDATE memories SET content = 'x' WHERE tenant_id = :t"), {"t": tenant}
        )
        erased = await session.change(session_statement("DELETE FROM memories WHERE tenant_id = :t"), {"t": tenant})
    assert (changed, erased) == (0, 0)
    with pytest.raises(Exception, match="row-level security"):
        async with store.database.write(stranger) as session:
            await session.change(
                session_statement("INSERT INTO scopes (tenant_id, id, kind) VALUES (:t, :t, 'global')"), {"t": tenant}
            )


async def test_one_tenant_cannot_write_to_the_index_as_another_though_it_is_read_without_a_filter(
    store: Store,
) -> None:
    tenant = await filled(store)
    stranger = uuid4()
    await store.sql("INSERT INTO tenants (id, name) VALUES ($1, $2)", stranger, str(stranger))
    for other in (stranger, None):
        async with store.database.write(other) as session:
            changed = await session.change(
                session_statement("UPDATE memory_index SET confidence = 0 WHERE tenant_id = :t"), {"t": tenant}
            )
            removed = await session.change(
                session_statement("DELETE FROM memory_index WHERE tenant_id = :t"), {"t": tenant}
            )
        assert (changed, removed) == (0, 0)
    copied = session_statement(
        "INSERT INTO memory_index SELECT (jsonb_populate_record(i, jsonb_build_object('part', 99))).* "
        "FROM memory_index i WHERE tenant_id = :t"
    )
    with pytest.raises(Exception, match="row-level security"):
        async with store.database.write(stranger) as session:
            await session.change(copied, {"t": tenant})
    async with store.database.read(tenant) as session:
        found = await session.fetch(
            session_statement("EXPLAIN SELECT 1 FROM memory_index WHERE tsv @@ CAST('x' AS tsquery)"), {}
        )
    assert "Filter: (tenant" not in "\n".join(row[0] for row in found)


async def test_the_tenant_does_not_stay_with_a_pooled_connection(database_url: str, store: Store) -> None:
    tenant = await filled(store)
    database = Database(database_url, pool_size=1)
    try:
        async with database.read(tenant) as session:
            assert (await session.fetch(session_statement("SELECT count(*) FROM memories"), {}))[0][0] == 4
        async with database.read(None) as session:
            assert (await session.fetch(session_statement("SELECT count(*) FROM memories"), {}))[0][0] == 0
    finally:
        await database.close()


async def test_a_second_active_memory_in_a_slot_is_refused_by_the_database(store: Store) -> None:
    tenant = await filled(store)
    with pytest.raises(asyncpg.UniqueViolationError, match="uq_memories_active_slot"):
        await store.sql(
            "UPDATE memories SET status = 'active', ended_at = NULL WHERE tenant_id = $1 AND type = 'preference'",
            tenant,
        )


async def test_an_unknown_type_is_refused_by_the_database(store: Store) -> None:
    tenant = await filled(store)
    with pytest.raises(asyncpg.ForeignKeyViolationError, match="fk_memories_type"):
        await store.sql("UPDATE memories SET type = 'no-such-type' WHERE tenant_id = $1", tenant)

"""Roles and privileges that went missing are made again by the migrations."""

from __future__ import annotations

import asyncio
import secrets
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import pytest

from app.db import migrate
from app.db.privileges import Privilege, parsed
from app.errors import ConfigurationError
from app.operations.backup import for_libpq
from tests.support import owner
from tests.upgrades.scratch import after_the_newest

PRIVILEGES = """
SELECT 'table' AS kind, c.relname AS name, '' AS part, (aclexplode(c.relacl)).privilege_type AS privilege
FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace
    AND EXISTS (SELECT FROM aclexplode(c.relacl) g WHERE g.grantee = 'typed_memory_runtime'::regrole)
UNION SELECT 'column', a.attrelid::regclass::text, a.attname, g.privilege_type
FROM pg_attribute a, aclexplode(a.attacl) g WHERE g.grantee = 'typed_memory_runtime'::regrole
UNION SELECT 'function', p.oid::regprocedure::text, '', g.grantee::text
FROM pg_proc p, aclexplode(p.proacl) g WHERE p.pronamespace = 'public'::regnamespace
ORDER BY 1, 2, 3, 4
"""


async def test_privileges_that_were_lost_are_granted_again(fresh_database_url: str) -> None:
    before = await owner.ask(fresh_database_url, PRIVILEGES)
    async with owner.connected(fresh_database_url) as connection:
        await connection.execute("DROP OWNED BY typed_memory_runtime")
        await connection.execute("GRANT EXECUTE ON FUNCTION seal_audit(uuid, integer) TO PUBLIC")
        assert await migrate.privileges(migrate.head()).missing(connection)
    assert len(await owner.ask(fresh_database_url, PRIVILEGES)) < len(before)
    await migrate.bring_up(owner.login(fresh_database_url))
    assert await owner.ask(fresh_database_url, PRIVILEGES) == before


async def test_a_single_lost_privilege_is_noticed(fresh_database_url: str) -> None:
    async with owner.connected(fresh_database_url) as connection:
        granted = migrate.privileges(migrate.head())
        assert not await granted.missing(connection)
        await connection.execute("REVOKE UPDATE (seen_at) ON embedding_models FROM typed_memory_runtime")
        assert await granted.missing(connection)
        assert await granted.repair(connection)
        assert not await granted.repair(connection)


async def test_the_service_login_is_made_and_may_serve(fresh_database_url: str) -> None:
    name = f"tm_service_{secrets.token_hex(6)}"
    parts = urlsplit(fresh_database_url)
    service_url = parts._replace(netloc=f"{name}:p%40ss@{parts.netloc.rpartition('@')[2]}").geturl()
    try:
        await migrate.bring_up(owner.login(fresh_database_url), service_url=service_url)
        await migrate.bring_up(owner.login(fresh_database_url), service_url=service_url)
        async with owner.connected(service_url) as connection:
            await connection.execute("SET ROLE typed_memory_runtime")
            assert await connection.fetchval("SELECT version_num FROM alembic_version") == migrate.head()
        [role] = await owner.ask(
            fresh_database_url, "SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = $1", name
        )
        assert not any(role.values())
    finally:
        await owner.ask(fresh_database_url, f"DROP ROLE IF EXISTS {name}")


async def test_stored_rows_that_a_schema_does_not_allow_are_an_error_with_its_reason(
    fresh_database_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    await owner.new_tenant(fresh_database_url)
    after_the_newest(
        monkeypatch, tmp_path, 'op.execute("ALTER TABLE tenants ADD CONSTRAINT ck_short CHECK (length(name) < 3)")'
    )
    with pytest.raises(ConfigurationError, match=r"does not fit that schema .*ck_short"):
        await asyncio.to_thread(migrate.upgrade, fresh_database_url)


async def test_a_disk_that_is_full_is_told(
    fresh_database_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    full = "DO $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$"
    after_the_newest(monkeypatch, tmp_path, f'op.execute("{full}")')
    with pytest.raises(ConfigurationError, match=r"disk is full \(could not extend file\): free some space"):
        await asyncio.to_thread(migrate.upgrade, fresh_database_url)


async def test_a_login_that_may_not_grant_is_refused(fresh_database_url: str) -> None:
    async with owner.connected(fresh_database_url) as connection:
        await connection.execute("REVOKE SELECT ON tenants FROM typed_memory_runtime")
        await connection.execute("SET SESSION AUTHORIZATION typed_memory_runtime")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await migrate.privileges(migrate.head()).repair(connection)


def test_a_grant_is_taken_apart() -> None:
    assert list(parsed("SELECT, UPDATE (a, b) ON one, two")) == [
        Privilege("TABLE", table, column, name)
        for table in ("one", "two")
        for name, column in (("SELECT", None), ("UPDATE", "a"), ("UPDATE", "b"))
    ]
    assert list(parsed("EXECUTE ON FUNCTION f(uuid, integer), g()")) == [
        Privilege("FUNCTION", name, None, "EXECUTE") for name in ("f(uuid, integer)", "g()")
    ]


def test_a_login_is_handed_to_postgres_programs_without_its_password() -> None:
    url = "postgresql+asyncpg://me:s%40cret@db:6432/memories?ssl=require&statement_cache_size=0"
    assert for_libpq(url) == ("postgresql://me@db:6432/memories?sslmode=require", "s@cret")

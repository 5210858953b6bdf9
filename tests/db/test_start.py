"""What is wrong with a database is said at the start, with its mend, whether the start migrates or not."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from urllib.parse import urlsplit

import asyncpg
import pytest
from pydantic import SecretStr

from app.bootstrap import open_runtime_store
from app.db import checks, session
from app.db.checks import LoginFacts
from app.db.login import Login, connect
from app.db.session import RUNTIME_ROLE, Database
from app.errors import ConfigurationError
from app.settings import Settings
from tests.support import owner

WELL = LoginFacts(login="tm_app", postgres=18, pgvector="0.8.1", unguarded=False, may_act=True, through_pooler=False)


def with_login(url: str, name: str, password: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=f"{name}:{password}@{parts.netloc.rpartition('@')[2]}").geturl()


async def opened(url: str, *, owner_url: str | None = None) -> None:
    given = Settings(
        database_url=SecretStr(url),
        migration_database_url=None if owner_url is None else SecretStr(owner_url),
        bootstrap_key=None,
        auto_migrate=owner_url is not None,
        database_start_timeout=0.2,
    )
    async with open_runtime_store(given):
        pass


@pytest.mark.one_server
async def test_a_wrong_password_and_a_wrong_database_are_told_apart(database_url: str) -> None:
    async with owner.connected(database_url) as connection:
        await connection.execute("CREATE ROLE tm_start_nobody LOGIN PASSWORD 'right'")
        try:
            with pytest.raises(ConfigurationError, match="password authentication failed"):
                await opened(with_login(database_url, "tm_start_nobody", "wrong"))
            with pytest.raises(ConfigurationError, match=r"there is no database at .*/there_is_none: create it"):
                await opened(database_url.rsplit("/", 1)[0] + "/there_is_none")
        finally:
            await connection.execute("DROP ROLE tm_start_nobody")


async def test_a_wrong_login_of_the_owner_names_its_setting(database_url: str) -> None:
    nowhere = database_url.rsplit("/", 1)[0] + "/there_is_none"
    with pytest.raises(ConfigurationError, match=r"there_is_none: create it, or correct TM_MIGRATION_DATABASE_URL"):
        await opened(database_url, owner_url=nowhere)
    with pytest.raises(ConfigurationError, match=r"can't be reached .* correct TM_MIGRATION_DATABASE_URL"):
        await opened(database_url, owner_url="postgresql://nobody@127.0.0.1:9/nothing")


async def test_a_server_without_a_free_connection_is_waited_for(database_url: str) -> None:
    async with owner.connected(database_url) as connection:
        await connection.execute("CREATE ROLE tm_start_crowded LOGIN PASSWORD 'right' CONNECTION LIMIT 1")
        crowded = with_login(database_url, "tm_start_crowded", "right")
        try:
            only = await connect(owner.login(crowded, patience=0))
            with pytest.raises(ConfigurationError, match=r"no free connection.* raise its max_connections"):
                await connect(owner.login(crowded, patience=0))
            waiting = asyncio.create_task(connect(owner.login(crowded)))
            await asyncio.sleep(0.1)
            await only.close()
            await (await waiting).close()
        finally:
            await connection.execute("DROP ROLE tm_start_crowded")


async def test_a_proxy_whose_server_is_away_is_waited_for() -> None:
    proxy = await asyncio.start_server(lambda _reader, writer: writer.close(), host="127.0.0.1", port=0)
    port = proxy.sockets[0].getsockname()[1]
    async with proxy:
        with pytest.raises(ConfigurationError, match="can't be reached"):
            await connect(owner.login(f"postgresql://nobody@127.0.0.1:{port}/nothing?sslmode=disable", patience=0))


async def test_a_login_that_may_not_act_as_the_services_role_is_told_the_grant(database_url: str) -> None:
    async with owner.connected(database_url) as connection:
        await connection.execute("CREATE ROLE tm_start_lesser LOGIN PASSWORD 'right'")
        lesser = with_login(database_url, "tm_start_lesser", "right")
        try:
            with pytest.raises(ConfigurationError, match=f"GRANT {RUNTIME_ROLE} TO tm_start_lesser"):
                await opened(lesser)
            await connection.execute(f"GRANT {RUNTIME_ROLE} TO tm_start_lesser")
            await opened(lesser)
        finally:
            await connection.execute("DROP ROLE tm_start_lesser")


async def test_connections_that_act_as_somebody_else_are_refused(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "RUNTIME_ROLE", "none")
    database = Database(database_url, pool_size=1)
    try:
        with pytest.raises(ConfigurationError, match=f"not as {RUNTIME_ROLE}"):
            await checks.check_acting(database)
    finally:
        await database.close()


async def test_grants_that_are_gone_are_told(fresh_database_url: str) -> None:
    async with owner.connected(fresh_database_url) as connection:
        await connection.execute(f"REVOKE ALL ON memories FROM {RUNTIME_ROLE}")
    with pytest.raises(ConfigurationError, match="may not read and write memories"):
        await opened(fresh_database_url)


async def test_row_level_security_that_is_off_is_told(fresh_database_url: str) -> None:
    async with owner.connected(fresh_database_url) as connection:
        await connection.execute("ALTER TABLE memories DISABLE ROW LEVEL SECURITY")
    with pytest.raises(ConfigurationError, match="row-level security is off"):
        await opened(fresh_database_url)


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        (replace(WELL, may_act=None, unguarded=None), "typed-memory migrate"),
        (replace(WELL, unguarded=True), "NOSUPERUSER NOBYPASSRLS"),
        (replace(WELL, may_act=False), f"GRANT {RUNTIME_ROLE} TO tm_app"),
    ],
)
def test_a_role_that_would_not_keep_tenants_apart_is_refused(facts: LoginFacts, said: str) -> None:
    checks.check_login(WELL)
    with pytest.raises(ConfigurationError, match=said):
        checks.check_login(facts)


@pytest.mark.parametrize(
    ("configured", "setting"),
    [
        (("database_url", "direct_database_url", "migration_database_url"), "migration_database_url"),
        (("database_url", "direct_database_url"), "direct_database_url"),
        (("database_url",), "database_url"),
    ],
)
def test_the_owner_connects_past_a_pooler(configured: tuple[str, ...], setting: str) -> None:
    owners = Login.of_owner(Settings.model_validate({name: f"postgresql://host/{name}" for name in configured}))
    assert owners is not None
    assert (owners.place, owners.setting) == (f"host/{setting}", f"TM_{setting.upper()}")


@pytest.mark.parametrize("migrates", [True, False])
async def test_what_a_pooler_in_transaction_mode_cannot_do_is_refused(database_url: str, *, migrates: bool) -> None:
    given = Settings(database_url=SecretStr(database_url), database_pooler="transaction", auto_migrate=migrates)
    with pytest.raises(ConfigurationError, match="TM_DIRECT_DATABASE_URL"):
        async with open_runtime_store(given):
            pass


UNFIT = [
    ("ALTER DATABASE {name} SET default_transaction_read_only = on", "default_transaction_read_only = off"),
    (
        "CREATE SCHEMA tools; ALTER EXTENSION pg_trgm SET SCHEMA tools; ALTER EXTENSION vector SET SCHEMA tools",
        r"pg_trgm in tools, vector in tools\): run ALTER ROLE \S+ IN DATABASE \S+ SET search_path = .*, public, tools",
    ),
]


@pytest.mark.parametrize(("made", "mend"), UNFIT)
@pytest.mark.parametrize("migrates", [False, True])
async def test_an_unfit_database_is_refused_in_one_line_with_the_mend(
    fresh_database_url: str, made: str, mend: str, *, migrates: bool
) -> None:
    name = urlsplit(fresh_database_url).path[1:]
    await owner.script(fresh_database_url, made.format(name=name))
    with pytest.raises(ConfigurationError, match=mend) as refused:
        await opened(fresh_database_url, owner_url=fresh_database_url if migrates else None)
    assert "\n" not in refused.value.message


async def test_extensions_in_a_schema_of_the_search_path_are_found(fresh_database_url: str) -> None:
    name = urlsplit(fresh_database_url).path[1:]
    await owner.script(
        fresh_database_url,
        "CREATE SCHEMA tools; GRANT USAGE ON SCHEMA tools TO PUBLIC; ALTER EXTENSION pg_trgm SET SCHEMA tools; "
        f"ALTER DATABASE {name} SET search_path = public, tools",
    )
    await opened(fresh_database_url)


async def test_a_database_of_another_encoding_is_refused(fresh_database_url: str) -> None:
    name = f"{urlsplit(fresh_database_url).path[1:]}_latin"
    made = f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE_PROVIDER libc LOCALE 'C'"
    await owner.script(fresh_database_url, made)
    try:
        url = urlsplit(fresh_database_url)._replace(path=f"/{name}").geturl()
        with pytest.raises(ConfigurationError, match="encoding is SQL_ASCII: create another with CREATE DATABASE"):
            await opened(url, owner_url=url)
    finally:
        await owner.script(fresh_database_url, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.mark.parametrize(
    ("installed", "available", "said"),
    [
        (None, None, "the server has no pgvector: install"),
        (None, "0.5.1", "the server has pgvector 0.5.1: install"),
        ("0.7.4", "0.8.1", "this is pgvector 0.7.4"),
    ],
)
async def test_an_old_or_absent_pgvector_is_refused(
    database_url: str, monkeypatch: pytest.MonkeyPatch, installed: str | None, available: str | None, said: str
) -> None:
    async with owner.connected(database_url) as connection:
        row = dict(await session.fetch_alone(connection, checks._LOGIN, RUNTIME_ROLE))

    async def other(connection: asyncpg.Connection, *_: object) -> dict[str, object]:
        return {**row, "pid": connection.get_server_pid(), "pgvector": installed, "available": available}

    monkeypatch.setattr(checks, "fetch_alone", other)
    with pytest.raises(ConfigurationError, match=said):
        await checks.wait_for(owner.login(database_url), pooler="none")


async def test_no_default_of_a_database_changes_a_session(fresh_database_url: str) -> None:
    name = urlsplit(fresh_database_url).path[1:]
    for setting in (
        "default_transaction_isolation = 'serializable'",
        "lock_timeout = 1",
        "idle_session_timeout = 600000",
    ):
        await owner.script(fresh_database_url, f"ALTER DATABASE {name} SET {setting}")
    for pooled in (False, True):
        database = Database(fresh_database_url, pooled_transactions=pooled)
        try:
            async with database.write(None) as opened_one:
                rows = await opened_one.fetch(
                    session.statement(
                        "SELECT current_setting('transaction_isolation') AS isolation, "
                        "current_setting('lock_timeout') AS locks, current_setting('idle_session_timeout') AS idle"
                    ),
                    {},
                )
            assert [tuple(row) for row in rows] == [("read committed", "0", "0")]
        finally:
            await database.close()


@pytest.mark.parametrize("revision", ["0a1b", "00231", "main"])
@pytest.mark.parametrize("migrates", [False, True])
async def test_a_revision_that_this_code_never_had_is_refused_with_the_way_out(
    fresh_database_url: str, revision: str, *, migrates: bool
) -> None:
    await owner.ask(fresh_database_url, "UPDATE alembic_version SET version_num = $1", revision)
    with pytest.raises(ConfigurationError, match=rf"schema is at {revision}.*typed-memory export.*typed-memory import"):
        await opened(fresh_database_url, owner_url=fresh_database_url if migrates else None)

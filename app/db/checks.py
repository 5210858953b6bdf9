"""Checks of the database: at every start that this code works with it and it guards its rows; and that it takes writes.

What is wrong at a start is said with its mend, before anything else is tried. A replica, revoked rights and a full disk
answer reads as well as ever, so writes are checked for themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import asyncpg
from sqlalchemy.exc import DBAPIError

from app.db.login import Login, connect
from app.db.session import RUNTIME_ROLE, Database, fetch_alone, statement
from app.errors import ConfigurationError, DatabaseBusy, DatabaseUnavailable, TypedMemoryError

Pooler = Literal["none", "session", "transaction"]

OLDEST_POSTGRES = 16

OLDEST_PGVECTOR = (0, 8)

_LOGIN = """
    SELECT current_user AS login, current_setting('server_version_num')::int / 10000 AS postgres,
        (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS pgvector,
        (SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = $1) AS unguarded,
        (SELECT pg_has_role(oid, 'MEMBER') FROM pg_roles WHERE rolname = $1) AS may_act,
        pg_backend_pid() AS pid, current_setting('server_encoding') AS encoding, current_database() AS database,
        current_setting('default_transaction_read_only')::boolean AS read_only,
        (SELECT default_version FROM pg_available_extensions WHERE name = 'vector') AS available,
        (SELECT string_agg(format('%I in %I', e.extname, n.nspname), ', ' ORDER BY e.extname)
         FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
         WHERE e.extname IN ('vector', 'pg_trgm', 'btree_gin', 'btree_gist')
           AND n.nspname <> ALL(current_schemas(true))) AS unseen,
        (SELECT string_agg(DISTINCT quote_ident(n.nspname), ', ')
         FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
         WHERE e.extname IN ('vector', 'pg_trgm', 'btree_gin', 'btree_gist')
           AND n.nspname <> ALL(current_schemas(true))) AS schemas,
        quote_ident(session_user) AS session, quote_ident(current_database()) AS quoted
"""

_ACTING = statement(
    """
    SELECT current_user AS name, rolsuper OR rolbypassrls AS unguarded,
        to_regclass('memories') IS NOT NULL AS migrated,
        coalesce(has_table_privilege(to_regclass('memories'), 'SELECT, INSERT'), true) AS granted,
        (SELECT relrowsecurity AND relforcerowsecurity FROM pg_class WHERE oid = to_regclass('memories')) AS guarded,
        to_regclass('pg_dist_partition') IS NOT NULL AS clustered,
        coalesce(current_setting('citus.propagate_set_commands', true), 'local') = 'local' AS told
    FROM pg_roles WHERE rolname = current_user
    """
)

_STATE = statement(
    """
    SELECT pg_is_in_recovery() AS standby, current_setting('default_transaction_read_only') = 'on' AS read_only,
        has_table_privilege('memories', 'INSERT') AND has_table_privilege('memory_index', 'INSERT')
            AND has_table_privilege('audit_events', 'SELECT') AS granted,
        has_database_privilege(current_database(), 'TEMPORARY') AS can_try
    """
)

_PROBE = statement(
    "CREATE TEMPORARY TABLE write_probe ON COMMIT DROP AS SELECT repeat('x', 2000) FROM generate_series(1, 500)"
)
"""A megabyte, of which nothing stays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginFacts:
    """The versions of a database and the rights of a login; `may_act` as the service's role, None without one."""

    login: str
    postgres: int
    pgvector: str | None
    unguarded: bool | None
    may_act: bool | None
    through_pooler: bool


async def wait_for(login: Login, *, pooler: Pooler) -> LoginFacts:
    """Wait until the database takes connections, and return what it says.

    Raises ConfigurationError when it doesn't in time, refuses the login, is too old, or stands behind a pooler that was
    not announced.
    """
    connection = await connect(login)
    try:
        row = await fetch_alone(connection, _LOGIN, RUNTIME_ROLE)
        facts = LoginFacts(
            login=row["login"],
            postgres=row["postgres"],
            pgvector=row["pgvector"],
            unguarded=row["unguarded"],
            may_act=row["may_act"],
            through_pooler=row["pid"] != connection.get_server_pid(),
        )
    except asyncpg.PostgresError as error:
        raise ConfigurationError(f"the database cannot be asked ({error}): {_ANNOUNCE}") from error
    finally:
        await connection.close()
    if facts.postgres < OLDEST_POSTGRES:
        raise ConfigurationError(f"this is Postgres {facts.postgres}: use {OLDEST_POSTGRES} or newer")
    if facts.pgvector is not None and _version(facts.pgvector) < OLDEST_PGVECTOR:
        raise ConfigurationError(
            f"this is pgvector {facts.pgvector}: install 0.8 or newer, then ALTER EXTENSION vector UPDATE"
        )
    _refuse_unfit(row)
    if facts.through_pooler and pooler == "none":
        raise ConfigurationError(f"a pooler stands before the database: {_ANNOUNCE}")
    return facts


def _refuse_unfit(row: asyncpg.Record) -> None:
    """Raise ConfigurationError for a database, or defaults of it, that the service would fail in later."""
    if row["encoding"] != "UTF8":
        raise ConfigurationError(
            f"the database's encoding is {row['encoding']}: create another with "
            "CREATE DATABASE memory ENCODING 'UTF8' TEMPLATE template0"
        )
    if row["read_only"]:
        raise ConfigurationError(
            f"transactions are read-only by default here: run ALTER ROLE {row['session']} IN DATABASE {row['quoted']} "
            "SET default_transaction_read_only = off"
        )
    if row["pgvector"] is None and (row["available"] is None or _version(row["available"]) < OLDEST_PGVECTOR):
        has = "has no pgvector" if row["available"] is None else f"has pgvector {row['available']}"
        raise ConfigurationError(f"the server {has}: install pgvector 0.8 or newer on it")
    if row["unseen"] is not None:
        raise ConfigurationError(
            f"the search_path leaves out extensions ({row['unseen']}): run ALTER ROLE {row['session']} IN DATABASE "
            f'{row["quoted"]} SET search_path = "$user", public, {row["schemas"]}'
        )


def check_login(facts: LoginFacts) -> None:
    """Raise ConfigurationError unless the login may act as the service's role, which must be one that is guarded."""
    if facts.may_act is None:
        raise ConfigurationError(
            f"the database has no role {RUNTIME_ROLE}, which migrations make: run `typed-memory migrate`, "
            "or set TM_AUTO_MIGRATE=true"
        )
    if facts.unguarded:
        raise ConfigurationError(
            f"the role {RUNTIME_ROLE} is not held to row-level security, which keeps tenants apart: have a superuser "
            f"run ALTER ROLE {RUNTIME_ROLE} NOSUPERUSER NOBYPASSRLS"
        )
    if not facts.may_act:
        raise ConfigurationError(
            f"the login {facts.login} may not act as {RUNTIME_ROLE}: have its owner run "
            f"GRANT {RUNTIME_ROLE} TO {facts.login}"
        )


async def check_acting(database: Database) -> None:
    """Raise ConfigurationError unless the service's connections act as its role and may do what it does.

    The database learns whether it is a cluster's. Raises DatabaseBusy when there is no free connection.
    """
    try:
        async with database.read(None) as session:
            [row] = await session.fetch(_ACTING, {})
    except DatabaseBusy:
        raise
    except (DBAPIError, asyncpg.PostgresError, DatabaseUnavailable) as error:
        cause = error.__cause__ or error
        raise ConfigurationError(f"the database refuses the service's connections ({cause}): {_ANNOUNCE}") from error
    if row["name"] != RUNTIME_ROLE or row["unguarded"]:
        raise ConfigurationError(
            f"connections act as {row['name']}, not as {RUNTIME_ROLE}, so row-level security would not keep tenants "
            f"apart: the pooler drops what a connection asks for. {_ANNOUNCE}"
        )
    if not row["granted"]:
        raise ConfigurationError(
            f"the role {RUNTIME_ROLE} may not read and write memories: grant it again what migrations grant"
        )
    if row["migrated"] and not row["guarded"]:
        raise ConfigurationError(
            "row-level security is off: have the owner run "
            "ALTER TABLE memories ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY"
        )
    if row["clustered"] and not row["told"]:
        raise ConfigurationError(
            "the nodes of the cluster would not be told whose rows a transaction is about: run "
            "`typed-memory distribute`, which sets citus.propagate_set_commands for this database"
        )
    database.clustered = row["clustered"]


_ANNOUNCE = (
    "for PgBouncer in transaction mode set TM_DATABASE_POOLER=transaction, in session mode TM_DATABASE_POOLER=session"
)


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:2] if part.isdigit())


async def refusal_of_writes(database: Database) -> str | None:
    """Return why writes fail, None where they don't; after one that failed, a write is tried."""
    async with database.read(None) as session:
        [row] = await session.fetch(_STATE, {})
    if row["standby"] or row["read_only"]:
        return "the database is read-only: a replica, or a server that is told to be"
    if not row["granted"]:
        return "the service's role may not write: its grants were revoked"
    if database.refused is None or not row["can_try"]:
        return None
    try:
        async with database.write(None) as session:
            await session.change(_PROBE, {})
    except TypedMemoryError as error:
        return error.message
    return None

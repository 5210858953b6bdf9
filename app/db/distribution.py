"""Distribution of a store over the nodes of a Citus cluster, each tenant's rows on one node.

Tables that refer to `tenants` are distributed by `tenant_id`, all others of the metadata are copied to every node; the
queue and API keys stay on the coordinator. What is left to do is read from the database, so a run that was stopped is
finished by the next one, and a table that a later migration adds is distributed by running it again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import asyncpg
from sqlalchemy import ForeignKeyConstraint, Table
from sqlalchemy.dialects import postgresql
from sqlalchemy.exc import DBAPIError
from sqlalchemy.schema import AddConstraint

from app.db import migrate
from app.db.apply.removal import delete_left_behind
from app.db.failures import cause_of
from app.db.login import Login, connected
from app.db.privileges import MAKE_ROLE
from app.db.session import RUNTIME_ROLE, SESSION_SETTINGS, owner_transaction
from app.db.tables import api_keys, metadata, scopes, tenants
from app.errors import ConfigurationError

OF_DATABASE: Final = {"citus.propagate_set_commands": "local", "citus.enable_unsafe_triggers": "on"}
"""Settings of the coordinator's database: nodes are told a transaction's tenant, and triggers may write rows.

A trigger of ours writes rows of its own row's tenant alone, which are on the same node.
"""

SHARDS: Final = 32

OF_COORDINATOR: Final = frozenset({api_keys})
"""Tables that stay whole: a key is found by its hash, before its tenant is known, and while a node is away."""

OF_STATEMENTS: Final = ("note_insert", "note_update", "note_delete")
"""Triggers that read all rows of a statement together, which a node can't: a cluster does without scopes in memory."""

_PREPARE = (
    "install Citus on every node, then on the coordinator CREATE EXTENSION citus, "
    "SELECT citus_set_coordinator_host(host, port) and, for each node, SELECT citus_add_node(host, port)"
)

_STATE = """
WITH ours AS (
    SELECT CAST(p.oid AS regprocedure) AS function, p.prosecdef AND p.proargnames[1] = 'tenant' AS of_tenant,
        EXISTS (SELECT FROM unnest(p.proconfig) AS setting WHERE setting LIKE 'plan_cache_mode=%') AS planned_once,
        o.objid IS NOT NULL AS known, o.distribution_argument_index IS NOT NULL AS delegated
    FROM pg_proc p LEFT JOIN pg_dist_object o ON o.objid = p.oid AND o.classid = CAST('pg_proc' AS regclass)
    WHERE p.pronamespace = CAST(current_schema() AS regnamespace)
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
)
SELECT
    (SELECT count(*) FROM pg_dist_node WHERE isactive AND noderole = 'primary' AND shouldhaveshards) AS nodes,
    ARRAY(SELECT CAST(logicalrelid AS text) FROM pg_dist_partition) AS distributed,
    ARRAY(SELECT CAST(logicalrelid AS text) FROM pg_dist_partition WHERE pg_relation_size(logicalrelid) > 0) AS copied,
    ARRAY(SELECT CAST(conname AS text) FROM pg_constraint
          WHERE contype = 'f' AND connamespace = CAST(current_schema() AS regnamespace)) AS foreign_keys,
    ARRAY(SELECT CAST(function AS text) FROM ours WHERE NOT known ORDER BY function) AS functions,
    ARRAY(SELECT CAST(function AS text) FROM ours WHERE planned_once ORDER BY function) AS planned_once,
    ARRAY(SELECT CAST(function AS text) FROM ours WHERE of_tenant AND NOT delegated ORDER BY function) AS of_tenant
"""

_IS_DISTRIBUTED = "SELECT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = to_regclass('memories'))"


_INSERTED_COLUMNS = re.compile(r"INSERT \([^)]*\)")

_DIALECT = postgresql.dialect()  # type: ignore[no-untyped-call]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Statements for one purpose: `together` in one transaction, else each in one of its own.

    One that is `repeated` is run each time, since nothing in the database tells whether all nodes have it.
    """

    title: str
    statements: Sequence[str]
    together: bool = False
    repeated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DistributionState:
    """Tables, foreign keys and functions of a database by whether they are on the nodes that take rows.

    `copied` are tables whose rows are in shards and still here, too; `functions` are those that nodes don't have yet,
    `planned_once` those that keep plans of their statements, which a cluster can't; `of_tenant` are those that act as
    the owner on rows of one tenant, and don't run on its node yet.
    """

    nodes: int
    distributed: frozenset[str]
    copied: frozenset[str]
    foreign_keys: frozenset[str]
    functions: tuple[str, ...]
    planned_once: tuple[str, ...]
    of_tenant: tuple[str, ...]


def is_distributed(table: Table) -> bool:
    """Return whether a table is divided by tenant; others are whole."""
    return table not in OF_COORDINATOR and any(key.referred_table is tenants for key in table.foreign_key_constraints)


async def plan(owner: Login, *, shards: int = SHARDS) -> list[Stage]:
    """Return what is left to do, as the owner; raise ConfigurationError where the database cannot be distributed."""
    revision = await migrate.owner_revision(owner)
    if revision is None or revision != migrate.head():
        raise ConfigurationError(
            f"the schema is at {revision or 'nothing'}, this code distributes {migrate.head()}: "
            "run `typed-memory migrate` first"
        )
    async with connected(owner) as connection:
        if not await _has_citus(connection):
            raise ConfigurationError(f"this database has no Citus: {_PREPARE}")
        found = await _state_of(connection)
    if not found.nodes:
        raise ConfigurationError(f"no node of this cluster takes rows: {_PREPARE}")
    return [*_stages(found, migrate.privileges(revision).grants, shards)]


async def unfinished(owner: Login) -> list[str]:
    """Return the titles of what a migration of a distributed store has left to do; nothing elsewhere.

    A schema of other code is that code's to distribute.
    """
    async with connected(owner) as connection:
        if not await is_store_distributed(connection):
            return []
        found = await _state_of(connection)
    revision = await migrate.owner_revision(owner)
    if revision is None or revision != migrate.head():
        return []
    stages = _stages(found, migrate.privileges(revision).grants, SHARDS)
    return [stage.title for stage in stages if not stage.repeated]


async def is_store_distributed(connection: asyncpg.Connection) -> bool:
    """Return whether a cluster's nodes hold the memories of this database."""
    return await _has_citus(connection) and bool(await connection.fetchval(_IS_DISTRIBUTED))


async def distribute(
    owner: Login, *, shards: int = SHARDS, report: Callable[[Stage], None] = lambda _stage: None
) -> None:
    """Do what is left to do; raise ConfigurationError as `plan`, and where a statement fails."""
    for stage in await plan(owner, shards=shards):
        report(stage)
        try:
            await _run(owner, stage)
        except (asyncpg.PostgresError, DBAPIError) as error:
            raise ConfigurationError(
                f"cannot {stage.title}: {cause_of(error)}. What was done before stays, and foreign keys that were "
                "dropped are missing until the tables are distributed: run the command again to go on"
            ) from error


async def _has_citus(connection: asyncpg.Connection) -> bool:
    return bool(await connection.fetchval("SELECT to_regclass('pg_dist_partition') IS NOT NULL"))


async def _state_of(connection: asyncpg.Connection) -> DistributionState:
    row = await connection.fetchrow(_STATE)
    return DistributionState(
        nodes=row["nodes"],
        distributed=frozenset(row["distributed"]),
        copied=frozenset(row["copied"]),
        foreign_keys=frozenset(row["foreign_keys"]),
        functions=tuple(row["functions"]),
        planned_once=tuple(row["planned_once"]),
        of_tenant=tuple(row["of_tenant"]),
    )


def _stages(found: DistributionState, grants: Sequence[str], shards: int) -> Iterator[Stage]:
    """Yield the stages that have something to do."""
    return (stage for stage in _all_stages(found, grants, shards) if stage.statements)


def _all_stages(found: DistributionState, grants: Sequence[str], shards: int) -> Iterator[Stage]:
    waiting = [table for table in metadata.sorted_tables if table.name not in found.distributed]
    keys = [key for table in metadata.sorted_tables for key in table.foreign_key_constraints]
    held = [key for key in keys if key.name in found.foreign_keys and _touches(key, waiting)]
    missing = [key for key in keys if key in held or key.name not in found.foreign_keys]
    yield Stage(title="let the service's role log in on every node", statements=[*_login()], repeated=True)
    yield Stage(
        title="give every node our functions",
        statements=[f"SELECT create_distributed_function('{function}')" for function in found.functions],
    )
    yield Stage(
        title="let functions plan their statements for each tenant's node",
        statements=[f"ALTER FUNCTION {function} RESET plan_cache_mode" for function in found.planned_once],
    )
    yield Stage(
        title="drop foreign keys, to make them again",
        statements=[f"ALTER TABLE {key.table.name} DROP CONSTRAINT IF EXISTS {key.name}" for key in held],
    )
    yield Stage(
        title="distribute the tables: reads go on, writes wait",
        statements=[*_distribution(waiting, missing, shards)] if waiting or missing else [],
        together=True,
    )
    yield Stage(title="grant rights on columns in every shard", statements=[*_column_grants(grants)], repeated=True)
    yield Stage(
        title="let functions that act as the owner run on their tenant's node",
        statements=[
            f"SELECT create_distributed_function('{function}', 'tenant', colocate_with := 'audit_events', "
            "force_delegation := true)"
            for function in found.of_tenant
        ],
    )
    copied = sorted(found.copied | {table.name for table in waiting if table not in OF_COORDINATOR})
    yield Stage(
        title="remove the rows that are on the nodes now",
        statements=[f"SELECT truncate_local_data_after_distributing_table('{name}')" for name in copied],
    )


def _touches(key: ForeignKeyConstraint, tables: Sequence[Table]) -> bool:
    return key.table in tables or key.referred_table in tables


def _login() -> Iterator[str]:
    yield _all_done(f"run_command_on_workers($tm${MAKE_ROLE.strip()}$tm$)")
    yield f"ALTER ROLE {RUNTIME_ROLE} LOGIN"
    for name, value in SESSION_SETTINGS.items():
        yield f"ALTER ROLE {RUNTIME_ROLE} SET {name} = '{value}'"
    for name, value in OF_DATABASE.items():
        yield (f"DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET {name} = ''{value}''', current_database()); END $$")


def _distribution(waiting: Sequence[Table], missing: Sequence[ForeignKeyConstraint], shards: int) -> Iterator[str]:
    """Yield the statements that move tables to the nodes and make the missing keys again.

    A write begins at its scope, so that table is locked first: a write in work has what it needs, the next one waits.
    """
    if waiting:
        names = sorted((table.name for table in waiting), key=lambda name: name != scopes.name)
        yield f"SET LOCAL lock_timeout = '{migrate.LOCK_TIMEOUT_SECONDS}s'"
        yield f"LOCK TABLE {', '.join(names)} IN EXCLUSIVE MODE"
        yield from (f"DROP TRIGGER IF EXISTS {name} ON {table.name}" for table in waiting for name in OF_STATEMENTS)
    yield from (f"SET LOCAL {name} = '{value}'" for name, value in OF_DATABASE.items())
    yield "SET LOCAL lock_timeout = 0"
    yield "SET LOCAL citus.multi_shard_modify_mode = 'sequential'"
    yield f"SET LOCAL citus.shard_count = {shards:d}"
    # Rows that are copied must not be counted, logged and sealed by triggers once more.
    yield "SET LOCAL session_replication_role = 'replica'"
    yield from (delete_left_behind(key) for key in missing if key.ondelete == "CASCADE")
    for table in waiting:
        if is_distributed(table):
            yield f"SELECT create_distributed_table('{table.name}', 'tenant_id')"
        elif table in OF_COORDINATOR:
            yield f"SELECT citus_add_local_table_to_metadata('{table.name}')"
        else:
            yield f"SELECT create_reference_table('{table.name}')"
    yield "SET LOCAL session_replication_role = 'origin'"
    yield from map(_added, missing)


def _added(key: ForeignKeyConstraint) -> str:
    return " ".join(str(AddConstraint(key).compile(dialect=_DIALECT)).split())


def _column_grants(grants: Sequence[str]) -> Iterator[str]:
    """Yield statements that grant rights on columns in the shards: Citus hands on those on tables alone.

    A row comes to its shard with its defaults, so inserts may give every column there.
    """
    for grant in grants:
        rights, _, table = grant.rpartition(" ON ")
        if "(" in rights:
            in_shards = _INSERTED_COLUMNS.sub("INSERT", rights)
            yield _all_done(f"run_command_on_placements('{table}', 'GRANT {in_shards} ON %s TO {RUNTIME_ROLE}')")


def _all_done(call: str) -> str:
    """Return a statement that fails where a command failed on some node: Citus's functions only return that."""
    return (
        f"DO $do$ DECLARE failed text; BEGIN SELECT result INTO failed FROM {call} WHERE NOT success LIMIT 1; "  # noqa: S608
        "IF FOUND THEN RAISE EXCEPTION 'on a node: %', failed; END IF; END $do$"
    )


async def _run(owner: Login, stage: Stage) -> None:
    if stage.together:
        await migrate.patiently(partial(_run_together, owner, stage.statements))
        return
    async with connected(owner) as connection:
        await connection.execute(migrate.SET_LOCK_TIMEOUT)
        await connection.execute("SET session_replication_role = 'replica'")
        for statement in stage.statements:
            await migrate.patiently(partial(connection.execute, statement))


async def _run_together(owner: Login, statements: Sequence[str]) -> None:
    async with owner_transaction(owner.url) as connection:
        for statement in statements:
            await connection.exec_driver_sql(statement)

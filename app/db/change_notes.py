"""The triggers that note which memories and entities each transaction changes, for scopes that processes hold.

They cost a writer time, so where no process wants them (`TM_RESIDENT_MB=0`) they are not made. What
they note is read in `app.db.memories.resident`. The functions that they call are made by a migration.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Final
from uuid import UUID

import asyncpg

from app.db import migrate
from app.db.login import Login, connected
from app.db.session import Database, statement
from app.errors import ConfigurationError

TABLES: Final = (
    *("memory_index", "hypothetical_embeddings", "relations", "memory_usage", "memory_entities", "memory_folds"),
    *("memory_links", "evidence", "entities", "entity_aliases", "memories"),
)
"""The tables whose changes are noted. `memories` is the last: where its trigger is, all are."""

EVENTS: Final[Mapping[str, str]] = {
    "UPDATE": "REFERENCING OLD TABLE AS was NEW TABLE AS changed",
    "DELETE": "REFERENCING OLD TABLE AS changed",
    "INSERT": "REFERENCING NEW TABLE AS changed",
}

NOTED: Final = "SELECT t.oid FROM pg_trigger t WHERE t.tgrelid = to_regclass('memories') AND t.tgname = 'note_insert'"
"""The query of the number of the last trigger; without it, and before it, changes were not noted."""

_CLUSTERED: Final = "SELECT to_regclass('pg_dist_partition') IS NOT NULL"

_TRIES: Final = 40

_PAUSE: Final = 0.25

_HERE: Final = statement(NOTED)

_OLD: Final = statement(
    "DELETE FROM scope_changes WHERE tenant_id = :tenant AND changed_at < now() - interval '1 hour'"
)


async def keep(owner: Login) -> None:
    """As the owner, make the triggers, where they are not there; in a cluster there are none.

    Raises ConfigurationError where it can't.
    """
    async with connected(owner) as connection:
        if await connection.fetchval(NOTED) is not None or await connection.fetchval(_CLUSTERED):
            return
        await connection.execute(migrate.SET_LOCK_TIMEOUT)
        try:
            for one in making():
                await migrate.patiently(partial(connection.execute, one), tries=_TRIES, pause=_PAUSE)
        except asyncpg.InsufficientPrivilegeError as error:
            raise ConfigurationError(
                f"{owner.setting} may not make the triggers that scopes in memory need ({error}): set "
                "TM_MIGRATION_DATABASE_URL to the owner's login, or TM_RESIDENT_MB=0"
            ) from error
        except migrate.IN_THE_WAY as error:
            raise ConfigurationError(
                "the triggers that scopes in memory need could not be made, because a long transaction holds their "
                "tables: start again when it has ended, or set TM_RESIDENT_MB=0"
            ) from error


async def are_kept(database: Database) -> bool:
    """Tell whether changes are noted."""
    async with database.read(None) as session:
        return bool(await session.fetch(_HERE, {}))


async def forget_old(database: Database, tenant: UUID) -> None:
    """Delete what was noted of a tenant's scopes so long ago that nobody asks for it.

    Writes do so for their own scopes; this is for those that are not written to any more.
    """
    async with database.write(tenant) as session:
        await session.change(_OLD, {"tenant": tenant})


def making() -> Iterator[str]:
    """Yield the statements that make the triggers, the last one last."""
    for table in TABLES:
        for event, rows in EVENTS.items():
            yield (
                f"CREATE OR REPLACE TRIGGER note_{event.lower()} AFTER {event} ON {table} {rows} "
                f"FOR EACH STATEMENT EXECUTE FUNCTION note_{table}()"
            )


def dropping() -> Iterator[str]:
    """Yield the statements that drop the triggers, the last one first."""
    for table in reversed(TABLES):
        for event in reversed(tuple(EVENTS)):
            yield f"DROP TRIGGER IF EXISTS note_{event.lower()} ON {table}"

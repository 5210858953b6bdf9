"""`typed-memory migrate` and `distribute`: upgrade the schema, and divide a store over the nodes of a cluster."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer
from alembic import command

from app.command_line.configuration import load_settings, owner_login, service_login, settings_of_a_store
from app.command_line.terminal import CommandFailed, be_sure, say
from app.db import change_notes, distribution, embedding_models
from app.db import migrate as db_migrate
from app.db.distribution import SHARDS, Stage
from app.db.login import Login, connected
from app.metrics import Metrics
from app.providers.factory import make_embedder
from app.settings import Settings


def migrate(
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; exit with 1 if the schema is not the newest.")
    ] = False,
    sql: Annotated[bool, typer.Option("--sql", help="Print the SQL of the whole schema; change nothing.")] = False,
    to: Annotated[
        str | None, typer.Option("--to", metavar="REV", help="Upgrade or downgrade to this revision; `base` is empty.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask before a downgrade.")] = False,
) -> None:
    """Upgrade the database to the newest schema and record the embedding model.

    It logs in with TM_MIGRATION_DATABASE_URL, else TM_DIRECT_DATABASE_URL, else TM_DATABASE_URL, else to the embedded
    database. `serve` does the same at start unless TM_AUTO_MIGRATE=false.

    For example:

      typed-memory migrate
      typed-memory migrate --check
      typed-memory migrate --to 0003 --yes
    """
    if sql:
        command.upgrade(db_migrate.configuration(""), to or "head", sql=True)
        return
    settings = load_settings()
    asyncio.run(_check(settings) if check else _migrate(settings, to, sure=yes))


async def _check(settings: Settings) -> None:
    async with owner_login(settings) as owner:
        found = await db_migrate.owner_revision(owner)
        wrong = db_migrate.is_outdated(found)
        if wrong is None and found == db_migrate.head():
            async with connected(owner) as connection:
                if await db_migrate.privileges(found).missing(connection):
                    wrong = "the service's role or its privileges are missing: run `typed-memory migrate`"
    if wrong is not None:
        raise CommandFailed(wrong)
    say(f"The schema is at {found}, of newer code." if db_migrate.is_newer(found) else "The schema is up to date.")


async def _migrate(settings: Settings, to: str | None, *, sure: bool) -> None:
    async with owner_login(settings) as owner:
        if to is None:
            await db_migrate.bring_up(owner, service_url=service_login(settings))
        else:
            await _go(owner, to, sure=sure)
        found = await db_migrate.owner_revision(owner)
        say(f"The schema is at {found or 'nothing'}.")
        if found == db_migrate.head():
            if await distribution.unfinished(owner):
                say("The nodes of the cluster lack what was migrated: run `typed-memory distribute`.")
            if settings.resident_mb:
                await change_notes.keep(owner)
            await _register_model(settings, owner.url)


async def _register_model(settings: Settings, url: str) -> None:
    embedder = make_embedder(settings, Metrics())
    try:
        active = await embedding_models.register(url, name=embedder.name, dimensions=embedder.dimensions)
        say(f"The embedding model is {active}.")
    finally:
        await embedder.aclose()


async def _go(owner: Login, target: str, *, sure: bool) -> None:
    order = ["base", *sorted(db_migrate.known_revisions())]
    wanted = db_migrate.head() if target == "head" else target
    if wanted not in order:
        raise CommandFailed(f"no revision {target!r}: there are {', '.join(order)}")
    current = await db_migrate.owner_revision(owner) or "base"
    if current not in order:
        raise CommandFailed(f"the schema is at {current}, of newer code: use that code to downgrade")
    if order.index(wanted) >= order.index(current):
        await asyncio.to_thread(db_migrate.upgrade, owner.url, wanted)
        return
    be_sure(f"Going from {current} down to {wanted} deletes what is stored there.", sure=sure)
    await asyncio.to_thread(db_migrate.downgrade, owner.url, wanted)


def distribute(
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Change nothing; print the statements.")] = False,
    shards: Annotated[
        int, typer.Option(min=1, max=1024, help="Parts that each table is divided into; they don't change later.")
    ] = SHARDS,
) -> None:
    """Divide the tables by tenant over the nodes of a Citus cluster, so that the store outgrows one machine.

    The database is the coordinator's (TM_MIGRATION_DATABASE_URL, else TM_DIRECT_DATABASE_URL, else TM_DATABASE_URL),
    migrated, with all nodes added; the login is a superuser's. While it runs, questions are answered and writes wait.
    If it is stopped or killed, the same command continues from there.

    For example:

      typed-memory distribute --dry-run
      typed-memory distribute
    """
    asyncio.run(_distribute(settings_of_a_store(owner_alone=True), dry_run=dry_run, shards=shards))


async def _distribute(settings: Settings, *, dry_run: bool, shards: int) -> None:
    async with owner_login(settings) as owner:
        if dry_run:
            for stage in await distribution.plan(owner, shards=shards):
                _print(stage)
            return
        await distribution.distribute(owner, shards=shards, report=lambda stage: say(stage.title))
    say("The store is distributed. Restart the services.")


def _print(stage: Stage) -> None:
    say(f"-- {stage.title}{', in one transaction' if stage.together else ''}")
    for statement in stage.statements:
        say(f"{statement};")

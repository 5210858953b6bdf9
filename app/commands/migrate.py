"""`typed-memory migrate`: upgrade the database's schema and record the embedding model."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

import typer
from alembic import command

from app.commands.configuration import load_settings
from app.commands.terminal import CommandFailed, out, say
from app.db import embedding_models
from app.db import migrate as db_migrate
from app.db.embedded.server import data_dir, start_embedded
from app.db.session import Database
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

    It logs in with TM_MIGRATION_DATABASE_URL, else TM_DATABASE_URL, else to the embedded database. `serve` does
    the same at start unless TM_AUTO_MIGRATE=false.

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
    async with _owner_url(settings) as url:
        wrong = db_migrate.is_outdated(await _current(url))
    if wrong is not None:
        raise CommandFailed(wrong)
    say("The schema is up to date.")


async def _migrate(settings: Settings, to: str | None, *, sure: bool) -> None:
    async with _owner_url(settings) as url:
        if to is None:
            await db_migrate.bring_up(url, patience=settings.database_start_timeout)
        else:
            await _go(url, to, sure=sure)
        found = await _current(url)
        say(f"The schema is at {found or 'nothing'}.")
        if found == db_migrate.head():
            await _register_model(settings, url)


async def _register_model(settings: Settings, url: str) -> None:
    embedder = make_embedder(settings, Metrics())
    try:
        active = await embedding_models.register(url, name=embedder.name, dimensions=embedder.dimensions)
        say(f"The embedding model is {active}.")
    finally:
        await embedder.aclose()


async def _go(url: str, target: str, *, sure: bool) -> None:
    order = ["base", *sorted(db_migrate.known_revisions())]
    wanted = db_migrate.head() if target == "head" else target
    if wanted not in order:
        raise CommandFailed(f"no revision {target!r}: there are {', '.join(order)}")
    current = await _current(url) or "base"
    if current not in order:
        raise CommandFailed(f"the schema is at {current}, of newer code: use that code to downgrade")
    if order.index(wanted) >= order.index(current):
        await asyncio.to_thread(db_migrate.upgrade, url, wanted)
        return
    _be_sure(f"Going from {current} down to {wanted} deletes what is stored there.", sure=sure)
    await asyncio.to_thread(db_migrate.downgrade, url, wanted)


def _be_sure(warning: str, *, sure: bool) -> None:
    if sure:
        return
    if not sys.stdin.isatty():
        raise CommandFailed(f"{warning} Add --yes to confirm.")
    out.print(warning, markup=False)
    typer.confirm("Go on?", abort=True)


async def _current(url: str) -> str | None:
    database = Database(url, pool_size=1)
    try:
        return await db_migrate.current(database)
    finally:
        await database.close()


@asynccontextmanager
async def _owner_url(settings: Settings) -> AsyncIterator[str]:
    """Yield the URL with the owner's login; without a configured database, of the embedded server, started for it."""
    configured = settings.migration_database_url or settings.database_url
    if configured is not None:
        yield configured.get_secret_value()
        return
    server = await asyncio.to_thread(start_embedded, data_dir(settings))
    try:
        yield server.url
    finally:
        await asyncio.to_thread(server.release)


def register(cli: typer.Typer) -> None:
    """Add the command."""
    cli.command()(migrate)

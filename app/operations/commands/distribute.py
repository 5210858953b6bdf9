"""`typed-memory distribute`: divide a store by tenant over the nodes of a Citus cluster."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from app.command_line.configuration import owner_login, settings_of_a_store
from app.command_line.terminal import say
from app.db import distribution
from app.db.distribution import SHARDS, Stage
from app.settings import Settings


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

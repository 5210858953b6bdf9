"""`typed-memory calibrate`: measure the scale of an embedding model's likeness, which relevance depends on."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from app.bootstrap import open_embedding_store
from app.command_line.configuration import configure_logs, settings_of_a_store
from app.command_line.terminal import CommandFailed, say
from app.errors import TypedMemoryError
from app.services.calibration import Calibrating
from app.settings import Settings


def calibrate(
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Measure and print; store nothing.")] = False,
) -> None:
    """Measure the embedding model that TM_EMBEDDING_* name, and store the scale of its likeness.

    What is relevant is decided by it: a model that finds everything alike would return everything. Restart the
    services after it. Without it a model that this program does not know gets a scale that fits most.
    """
    settings = settings_of_a_store()
    configure_logs(settings)
    asyncio.run(_calibrate(settings, dry_run=dry_run))


async def _calibrate(settings: Settings, *, dry_run: bool) -> None:
    async with open_embedding_store(settings) as (store, embedder):
        calibrating = Calibrating(owner_url=store.owner_url, database=store.database, embedder=embedder)
        try:
            found = await calibrating.measure()
            if not dry_run:
                await calibrating.store(found)
        except TypedMemoryError as error:
            raise CommandFailed(str(error)) from error
    say(f"{embedder.name}: {found.unrelated:.3f} for unrelated sentences, {found.related:.3f} for answers (medians).")
    say("Nothing was stored." if dry_run else "Stored. Restart the services to have relevance measured by it.")


def register(cli: typer.Typer) -> None:
    """Add the command."""
    cli.command()(calibrate)

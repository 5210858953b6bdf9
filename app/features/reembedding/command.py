"""`typed-memory reembed`: change the embedding model of a store while services use it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

import typer
from rich.progress import Progress, TimeRemainingColumn
from rich.table import Table

from app.amounts import amount
from app.bootstrap import open_embedding_store
from app.command_line import terminal
from app.command_line.configuration import configure_logs, settings_of_a_store
from app.command_line.terminal import CommandFailed, out, say
from app.db.embedding_models import Phase
from app.db.tenant_types import TypeCache
from app.errors import TypedMemoryError
from app.features.reembedding.service import Reembedding
from app.memory.registry import discover
from app.settings import Settings

WATCH_SECONDS = 2.0
"""Seconds between two looks at a run that is followed."""

_LEAVING = (
    "Restart services and workers with these TM_EMBEDDING_*, one after the other; then `typed-memory reembed --drop`."
)


def reembed(
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Change nothing; embed a sample, and print the cost of a run.")
    ] = False,
    status: Annotated[bool, typer.Option("--status", help="Change nothing; list the models.")] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Change nothing; follow a run that is under way, here or elsewhere.")
    ] = False,
    drop: Annotated[bool, typer.Option("--drop", help="Drop the vectors of the model that was replaced.")] = False,
    abandon: Annotated[
        bool, typer.Option("--abandon", help="Drop the vectors of a model that is not active yet.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="With --drop: even while a service uses the old model.")
    ] = False,
) -> None:
    """Change the embedding model while services keep using the present one.

    The new model is the one that TM_EMBEDDING_* name for this command. Its vectors are built beside the old one's,
    indexed, and the new model is made the active one. Then restart each service and worker with the same
    TM_EMBEDDING_*, one after the other: those that are not restarted yet use the old model, and both find what either
    of them writes. When all are restarted, drop the old vectors with --drop.

    If it is stopped or killed, the same command continues from there. For the model that is active already, it fills
    in missing vectors.

    For example, from the built-in model to one of Ollama's:

      export TM_EMBEDDING_PROVIDER=openai TM_EMBEDDING_MODEL=nomic-embed-text TM_EMBEDDING_DIMENSIONS=768
      typed-memory reembed --dry-run
      typed-memory reembed
      (restart the services with these settings)
      typed-memory reembed --drop
    """
    chosen = (("dry-run", dry_run), ("status", status), ("watch", watch), ("drop", drop), ("abandon", abandon))
    wanted = [name for name, given in chosen if given]
    if len(wanted) > 1:
        raise CommandFailed("choose one of --dry-run, --status, --watch, --drop and --abandon")
    if force and not drop:
        raise CommandFailed("--force goes with --drop")
    settings = settings_of_a_store()
    configure_logs(settings)
    with terminal.progress(TimeRemainingColumn()) as progress:
        asyncio.run(_perform(settings, progress, next(iter(wanted), "build"), force=force))


async def _perform(settings: Settings, progress: Progress, step: str, *, force: bool) -> None:
    async with _open_steps(settings, progress) as change:
        match step:
            case "status":
                await _status(change)
            case "watch":
                await _watch(change)
            case "dry-run":
                await _estimate(change)
            case "drop":
                await _drop(change, force=force)
            case "abandon":
                await _abandon(change)
            case _:
                await _build(change)


async def _build(change: Reembedding) -> None:
    try:
        done = await change.build()
    except TypedMemoryError as error:
        raise CommandFailed(f"{error}. The progress is stored: run the same command again to continue") from error
    rate = f", {done.filled / done.seconds:.0f} a second" if done.filled else ""
    say(f"{done.model}: embedded {amount(done.filled, 'rows')} in {done.seconds:.1f} seconds{rate}.")
    say(f"{done.model.name} is the active model now. {_LEAVING}" if done.switched else "It is the active model.")


async def _drop(change: Reembedding, *, force: bool) -> None:
    dropped = await change.drop(force=force)
    if dropped is None:
        say("There is no model whose vectors are to be dropped.")
        return
    say(f"The vectors of {dropped[0]} are dropped, from {amount(dropped[1], 'rows')}.")


async def _abandon(change: Reembedding) -> None:
    dropped = await change.abandon()
    if dropped is None:
        say("There is no model that is being built.")
        return
    say(f"The vectors of {dropped[0]} are dropped, from {amount(dropped[1], 'rows')}; nothing else changed.")


async def _estimate(change: Reembedding) -> None:
    found = await change.estimate()
    model = change.embedder
    tenants = amount(found.tenants, "tenants")
    say(f"Without vectors of {model.name!r}: {found.lacking} of {amount(found.rows, 'rows')}, of {tenants}.")
    say(f"Embedding them takes about {_duration(found.seconds)}, besides writing and indexing them.")
    say(f"The vectors take {found.bytes / 1e6:.1f} MB beside the old ones. Nothing was changed.")


async def _status(change: Reembedding) -> None:
    table = Table(box=None, pad_edge=False)
    for name in ("model", "dimensions", "phase", "rows", "lacking", "replaced, last used"):
        table.add_column(name, justify="right" if name in {"dimensions", "rows", "lacking"} else "left")
    for model, count in await change.status():
        leaving = model.phase is Phase.LEAVING and model.unseen is not None
        used = f"{_duration(model.unseen or 0)} ago" if leaving else ""
        lacking = str(count.lacking)
        table.add_row(model.name, str(model.dimensions), model.phase, str(count.rows), lacking, used)
    out.print(table)


async def _watch(change: Reembedding) -> None:
    """Follow the model that is being built until there is none, and say which one is active then."""
    while built := next((found for found in await change.status() if found[0].phase is Phase.BUILDING), None):
        model, count = built
        change.report(model.name, count.rows - count.lacking, count.rows)
        if not out.is_terminal:
            say(f"{model.name}: {count.rows - count.lacking} of {amount(count.rows, 'rows')}")
        await asyncio.sleep(WATCH_SECONDS)
    active = next(model for model, _ in await change.status() if model.phase is Phase.ACTIVE)
    say(f"Nothing is being built; {active.name} is the active model.")


def _duration(seconds: float) -> str:
    minutes, left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {left} s" if minutes else f"{seconds:.1f} s"


@asynccontextmanager
async def _open_steps(settings: Settings, progress: Progress) -> AsyncIterator[Reembedding]:
    """Yield the steps of the change for the configured database, whose schema must fit this code."""
    task = progress.add_task("looking", total=None)

    def report(what: str, done: int, of: int | None) -> None:
        progress.update(task, description=what, completed=done, total=of)

    async with open_embedding_store(settings) as (store, embedder):
        book = TypeCache(database=store.database, built_in=discover())
        yield Reembedding(
            owner_url=store.owner_url, database=store.database, embedder=embedder, types=book, report=report
        )

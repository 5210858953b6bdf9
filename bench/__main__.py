"""`python -m bench`: measure speed, print what came out, keep it in `bench/results`."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from bench import (
    backfill,
    clocks,
    curves,
    importing,
    ingest,
    neighbours,
    overload,
    processes,
    query,
    recall,
    reembed,
    report,
    usage,
    workers,
    write,
)
from bench.figures import Book
from bench.stage import FULL, QUICK, Sizes, Stage
from bench.world import new_world, serving

PARTS = ("query", "recall", "tenants", "neighbours", "write", "import", "ingest", "usage", "clocks")
ASKED_FOR = ("workers", "backfill", "overload", "processes", "reembed", "curves")
"""Parts that a run does only when it is told to: filling the store for them takes long."""

EVERY = (*PARTS, *ASKED_FOR)
LAST = {
    "backfill": backfill.backfill,
    "workers": workers.workers,
    "overload": overload.overload,
    "processes": processes.processes,
    "curves": curves.curves,
    "import": importing.imports,
    "usage": usage.usage,
    "clocks": clocks.clocks,
}
"""Parts that come after those for which the store grows, in this order."""
RESULTS = Path(__file__).parent / "results"
LIMIT = {True: 300.0, False: 1200.0}
"""Seconds after which a run, quick or not, gives up."""


def main() -> int:
    """Run what the command line asks for; return 0 when every target is met, 1 when one is missed."""
    given = _arguments(sys.argv[1:])
    console = Console(stderr=True)
    parts = tuple(part for part in EVERY if part in (given.only or PARTS))
    sizes = QUICK if given.quick else FULL
    started = monotonic()
    with Bar(console) as progress:
        book, postgres = asyncio.run(_run(parts, sizes, _limit(parts, quick=given.quick), progress))
    run = report.describe(postgres=postgres, quick=given.quick, seconds=monotonic() - started)
    report.show(Console(), book)
    written = report.save(given.output, book, run, parts if given.only else ())
    console.print(f"written to {' and '.join(map(str, written))}")
    return 0 if all(one.passed for one in book.checks) else 1


def _limit(parts: Sequence[str], *, quick: bool) -> float:
    return LIMIT[quick] * (3 if {"workers", "backfill"} & set(parts) else 1)


def _arguments(given: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Measure speed: the service over HTTP beside its own SQL, on a database of its own in a temporary "
        "folder. A full run takes some 18 minutes, a quick one 4. Nothing leaves this machine.",
    )
    parser.add_argument("--quick", action="store_true", help="smaller scopes, fewer tenants, fewer requests")
    parser.add_argument(
        "--only",
        nargs="+",
        choices=EVERY,
        metavar="PART",
        help=f"some of: {', '.join(EVERY)}",
    )
    parser.add_argument("--output", type=Path, default=RESULTS, help="folder for the results [bench/results]")
    return parser.parse_args(given)


async def _run(
    parts: Sequence[str], sizes: Sizes, limit: float, progress: Callable[[str, int, int], None]
) -> tuple[Book, str]:
    """Measure; when time runs out, what was measured until then counts, and that some is missing is a miss."""
    book = Book()
    async with new_world() as world, serving(world) as service:
        version = await world.owner.fetchval("SELECT split_part(version(), ' ', 2)")
        stage = Stage(world=world, service=service, sizes=sizes, progress=progress)
        try:
            async with asyncio.timeout(limit):
                await _measure(parts, stage, book)
                if "reembed" in parts:
                    await reembed.reembed(stage, book)
        except TimeoutError:
            book.check(f"parts that were not done after {limit:.0f} seconds", 1, "==", 0)
    return book, f"Postgres {version}"


async def _measure(parts: Sequence[str], stage: Stage, book: Book) -> None:
    """Run the parts in the order in which the store grows."""
    alone = await neighbours.before(stage) if "neighbours" in parts else None
    if "query" in parts:
        await query.scopes(stage, book, stage.sizes.scopes)
    if "recall" in parts:
        await recall.recall(stage, book)
    if "tenants" in parts:
        await query.tenants(stage, book)
    if alone is not None:
        await stage.have_scopes([stage.sizes.largest])
        await stage.have_tenants(range(stage.sizes.tenants[-1] + 1))
        await neighbours.after(stage, book, alone)
    if "write" in parts:
        await write.writes(stage, book)
    if "ingest" in parts:
        await ingest.ingest(stage, book)
    for part, measured in LAST.items():
        if part in parts:
            await measured(stage, book)


class Bar:
    """Shows one bar, for what is being done now."""

    def __init__(self, console: Console) -> None:
        columns = (TextColumn("{task.description:<48}"), BarColumn(), TextColumn("{task.percentage:>3.0f}%"))
        self._progress = Progress(*columns, TimeElapsedColumn(), console=console, transient=True)
        self._task = self._progress.add_task("start", total=None)

    def __enter__(self) -> Callable[[str, int, int], None]:
        self._progress.start()
        return self._show

    def __exit__(self, *_error: object) -> None:
        self._progress.stop()

    def _show(self, what: str, done: int, total: int) -> None:
        self._progress.update(self._task, description=what, completed=done, total=total or None)


if __name__ == "__main__":
    sys.exit(main())

"""Sending an export back: one request as long as the file, told how far it is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import closing
from typing import Any

from rich.progress import DownloadColumn, TimeElapsedColumn
from rich.table import Table

from app.commands import terminal
from app.commands.sources import Source
from app.commands.terminal import err, out
from app.providers.service_client import ServiceClient

PIECE = 256 * 1024
"""Bytes that are read and sent at a time."""

SHOWN = 20
"""Lines that are told of; the others are counted."""


def restore(client: ServiceClient, source: Source, *, strict: bool) -> bool:
    """Import an export and show what became of it; return whether all of it was read and stored."""
    with closing(source.opened()) as file:
        size = file.seek(0, 2)
    with terminal.progress(TimeElapsedColumn(), DownloadColumn()) as progress:
        task = progress.add_task("importing", total=size)

        async def pieces() -> AsyncIterator[bytes]:
            progress.reset(task)
            with closing(source.opened()) as file:
                while piece := await asyncio.to_thread(file.read, PIECE):
                    yield piece
                    progress.advance(task, len(piece))

        async def send() -> Mapping[str, Any]:
            async with client:
                answer = await client.upload("/import", pieces, strict="true" if strict else "false")
            told: Mapping[str, Any] = answer.body
            return told

        done = asyncio.run(send())
    _show(source, done)
    return bool(done["complete"]) and not done["failed"]


def _show(source: Source, done: Mapping[str, Any]) -> None:
    summary = Table(box=None, pad_edge=False, show_header=False)
    for title, counts in (
        ("", done["imported"]),
        ("already there: ", done["already_there"]),
        ("slot held here: ", done["conflicts"]),
    ):
        for name, count in counts.items():
            summary.add_row(f"{title}{name}", str(count))
    for title, count in (("erased here before", done["erased"]), ("entities made one", done["merged_entities"])):
        if count:
            summary.add_row(title, str(count))
    summary.add_row("wrong", str(done["failed"]))
    out.print(summary)
    for notice, count in done["notices"].items():
        err.print(f"{source.name}: {notice}{f' ({count})' if count > 1 else ''}", markup=False, soft_wrap=True)
    for one in done["errors"][:SHOWN]:
        err.print(f"{source.name}:{one['line']}: {one['message']}", markup=False, soft_wrap=True)
    if done["failed"] > SHOWN:
        err.print(f"... and {done['failed'] - SHOWN} more", markup=False)

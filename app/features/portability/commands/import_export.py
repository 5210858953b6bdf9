"""Import of an export: one streamed request, and what is told of its answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import closing
from typing import Any

from rich.progress import DownloadColumn, TimeElapsedColumn
from rich.table import Table

from app.command_line import terminal
from app.command_line.service_client import ServiceClient, ServiceRejection
from app.command_line.terminal import CommandFailed, err, out
from app.features.portability.commands.import_sources import ImportSource

SHOWN = 20
"""Most faults that are listed; the others are only counted."""

PIECE = 256 * 1024
"""Bytes of an export that are read and sent at a time."""


def restore(client: ServiceClient, source: ImportSource, *, strict: bool) -> bool:
    """Import an export and print a summary; return whether all that was exported was read and stored."""
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

        try:
            done = asyncio.run(send())
        except ServiceRejection as refusal:
            raise CommandFailed(f"{source.name}: {refusal}") from None
    _show_export(source, done)
    # What competed here, or has changed here since, may differ from the file; nothing else may.
    beside = done["conflicts"] or done["already_there"] or done["merged_entities"]
    return bool(done["complete"] and done["unaltered"]) and not done["failed"] and bool(beside or not done["differing"])


def _show_export(source: ImportSource, done: Mapping[str, Any]) -> None:
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
    if done["differing"]:
        summary.add_row("stored otherwise than in the file", str(done["differing"]))
    summary.add_row("wrong", str(done["failed"]))
    out.print(summary)
    for one in done["differences"][:SHOWN]:
        what = f"{one['memory_id']}: {one['field']} is {one['stored']} here"
        err.print(f"{source.name}:{one['line']}: {what}", markup=False, soft_wrap=True)
    for notice, count in done["notices"].items():
        err.print(f"{source.name}: {notice}{f' ({count})' if count > 1 else ''}", markup=False, soft_wrap=True)
    for one in done["errors"][:SHOWN]:
        err.print(f"{source.name}:{one['line']}: {one['message']}", markup=False, soft_wrap=True)
    if done["failed"] > SHOWN:
        err.print(f"... and {done['failed'] - SHOWN} more", markup=False)

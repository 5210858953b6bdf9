"""Commands and streams of exports: `typed-memory export` writes a file that `typed-memory import` reads."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer
from rich.progress import DownloadColumn, TimeElapsedColumn
from rich.table import Table

from app.amounts import amount
from app.command_line import terminal
from app.command_line.service_client import ServiceClient, ServiceRejection, connect
from app.command_line.terminal import AgentId, ApiKey, CommandFailed, Url, UserId, err, out, run_to_end, say
from app.features.portability.commands.import_sources import ImportSource

STANDARD_OUTPUT = "-"


class _Checked:
    """Writes an export to a file, counts its lines, and checks that the last one came."""

    def __init__(self, out: BinaryIO, counted: Callable[[str, dict[str, Any]], None]) -> None:
        self._out = out
        self._counted = counted
        self._held = b""
        self._digest = hashlib.sha256()
        self.end: dict[str, Any] | None = None
        self.whole = False

    def write(self, piece: bytes) -> None:
        *lines, self._held = (self._held + piece).split(b"\n")
        for line in lines:
            if line.startswith(b'{"record":"end"'):
                self.end = json.loads(line)
                self.whole = self.end is not None and self.end["sha256"] == self._digest.hexdigest()
            elif line.startswith(b'{"record":"header"'):
                self._counted("header", json.loads(line))
            elif b'"record": "memory"' in line:
                self._counted("memory", {})
            self._digest.update(line + b"\n")
        self._out.write(piece)


def export(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The file to write; - is standard output.")],
    *,
    user_id: UserId = None,
    agent_id: AgentId = None,
    vectors: Annotated[
        bool, typer.Option("--vectors", help="Include embeddings: a larger file, but the import embeds nothing.")
    ] = False,
    url: Url = None,
    key: ApiKey = None,
) -> None:
    """Write everything of a tenant, a user or an agent as lines of JSON (NDJSON).

    A file that exists is complete: an interrupted export is removed. Only you can read it. This needs a key with the
    role admin.

    For example:

      typed-memory export backup.ndjson --vectors
      typed-memory export - --user-id ana | gzip > ana.ndjson.gz
    """
    given = {"user_id": user_id, "agent_id": agent_id, "vectors": "true" if vectors else None}
    wanted = {name: value for name, value in given.items() if value is not None}
    client = connect(url, key)
    if file == STANDARD_OUTPUT:
        _finish(run_to_end(_write(client, sys.stdout.buffer, wanted)), file)
        return
    target = Path(file)
    unfinished = target.with_name(f"{target.name}.part")
    try:
        unfinished.unlink(missing_ok=True)
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
            done = run_to_end(_write(client, out, wanted))
        _finish(done, file)
        unfinished.replace(target)
    except OSError as error:
        raise CommandFailed(f"{file}: can't be written ({error.strerror})") from error
    finally:
        unfinished.unlink(missing_ok=True)
    counts = done.end["counts"] if done.end else {}
    memories, turns = amount(counts.get("memory", 0), "memories"), amount(counts.get("turn", 0), "turns")
    say(f"{file}: {memories}, {turns}, {amount(sum(counts.values()), 'lines')}")


async def _write(client: ServiceClient, out: BinaryIO, wanted: dict[str, str]) -> _Checked:
    with terminal.progress(TimeElapsedColumn()) as progress:
        task = progress.add_task("exporting", total=None)

        def counted(record: str, line: dict[str, Any]) -> None:
            if record == "header":
                progress.update(task, total=line["counts"]["memory"])
            else:
                progress.advance(task)

        checked = _Checked(out, counted)
        async with client:
            async for piece in client.download("/export", **wanted):
                checked.write(piece)
    return checked


def _finish(done: _Checked, file: str) -> None:
    if not done.whole:
        raise CommandFailed(f"{file}: the export was interrupted: run it again")


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
    return bool(done["complete"] and done["unaltered"]) and not done["failed"]


def _show_export(source: ImportSource, done: Mapping[str, Any]) -> None:
    summary = Table(box=None, pad_edge=False, show_header=False)
    for title, counts in (("", done["imported"]), ("already there: ", done["already_there"])):
        for name, count in counts.items():
            summary.add_row(f"{title}{name}", str(count))
    if done["erased"]:
        summary.add_row("erased here before", str(done["erased"]))
    summary.add_row("wrong", str(done["failed"]))
    out.print(summary)
    for notice, count in done["notices"].items():
        err.print(f"{source.name}: {notice}{f' ({count})' if count > 1 else ''}", markup=False, soft_wrap=True)
    for one in done["errors"][:SHOWN]:
        err.print(f"{source.name}:{one['line']}: {one['message']}", markup=False, soft_wrap=True)
    if done["failed"] > SHOWN:
        err.print(f"... and {done['failed'] - SHOWN} more", markup=False)

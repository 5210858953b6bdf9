"""`typed-memory export`: write a tenant's memories to a file that `typed-memory import` reads."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer
from rich.progress import TimeElapsedColumn

from app.amounts import amount
from app.command_line import terminal
from app.command_line.service_client import ServiceClient, connect
from app.command_line.terminal import AgentId, ApiKey, CommandFailed, Url, UserId, run_to_end, say

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


def register(cli: typer.Typer) -> None:
    """Add the command."""
    cli.command(name="export")(export)

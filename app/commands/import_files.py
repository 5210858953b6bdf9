"""`typed-memory import`: store files of memories or conversations in a running service."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from functools import partial
from typing import Annotated

import typer
from rich.progress import TimeElapsedColumn
from rich.table import Table

from app.commands import import_foreign, import_sources, terminal, upload
from app.commands.import_foreign import Origin
from app.commands.import_sources import Format, ImportItem, ImportSource, Read
from app.commands.service_client import ServiceClient, connect
from app.commands.terminal import SESSION, AgentId, ApiKey, CommandFailed, TimeZone, Url, UserId, Whose, err, out
from app.commands.upload import UploadAbort, Uploader, UploadReport
from app.errors import TypedMemoryError

SHOWN = 20
"""Most faults that are listed; the others are only counted."""


def import_files(  # noqa: PLR0913 - one parameter an option
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Files to read; - is standard input.")],
    *,
    wanted: Annotated[
        Format, typer.Option("--format", help="The format of the files; detected by default.")
    ] = Format.AUTO,
    origin: Annotated[
        Origin | None, typer.Option("--from", help="The store that the files come from, if it is another one.")
    ] = None,
    user_id: UserId = None,
    agent_id: AgentId = None,
    scope: Whose = None,
    session_id: Annotated[
        str | None, typer.Option(*SESSION, help="The session of conversations and memories that name none.")
    ] = None,
    timezone: TimeZone = None,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first fault.")] = False,
    url: Url = None,
    key: ApiKey = None,
) -> None:
    """Import files of typed memories or conversations.

    ndjson: one typed write a line, as POST /memories/typed/{type} takes it:

      {"type": "preference", "preference_key": "editor.theme", "preference_value": "dark"}

    conversation: JSON, a list of messages or an object with `messages`, or with `sessions` (a list of such
    objects, with `session_id` and `date`); also chat exports of OpenAI's and LangChain's kind, and NDJSON with
    an object with `messages` a line. A message has `role` and `content`, perhaps `name` (or `speaker`) and
    `timestamp` (or `occurred_at`):

      [{"role": "user", "name": "Ana", "content": "I moved to Lisbon.", "timestamp": "2026-05-09T14:30:00Z"}]

    export: a file of `typed-memory export`. Its rows are stored as they were, ids included, in the tenant of the
    key; existing rows are not changed. This needs a key with the role admin.

    Other stores: --from mem0 takes what `get_all` answers; --from zep an object with the `edges` and `nodes` of a
    user's graph; --from langmem the items of a LangGraph store; --from chatgpt the `conversations.json` of an
    export; --from records memories in the full form of the specification, with ids of their own. Ids are kept as
    `provenance.external_id`. Fields that have no place here are counted as not carried over.

    Each message becomes an episodic memory. It is indexed with the message before it, so that an answer is found by
    its question. System prompts and messages without text are skipped. Name the user with --user-id (or the agent
    with --agent-id); --scope global makes the messages visible to every user of the tenant. A typed memory names its
    own `user_id`; the options apply to those that don't.

    Faults are listed by file and line, and skipped. Running the same import again within a day stores nothing
    twice; after that, repeated memories merge with the existing ones.

    For example:

      typed-memory import chat.json --user-id ana

      typed-memory import memories.ndjson more.ndjson --strict

      typed-memory import memories.json --from mem0 --user-id ana

      zcat memories.ndjson.gz | typed-memory import - --format ndjson
    """
    if origin is Origin.CHATGPT:
        wanted, origin = Format.CONVERSATION, None
    everything = [import_sources.source(name) for name in files]
    exports = [source for source in everything if origin is None and import_sources.is_export(source, wanted)]
    found = [source for source in everything if source not in exports]
    owned = user_id is not None or agent_id is not None or scope is not None
    read = partial(_everything, found, wanted, session_id, origin)
    total = _count(read(), owned=owned)
    broken = [source for source in exports if not upload.restore(connect(url, key), source, strict=strict)]
    if not found:
        if broken:
            raise typer.Exit(1)
        return
    given = {"user_id": user_id, "agent_id": agent_id, "scope": scope, "timezone": timezone, "session_id": session_id}
    defaults: dict[str, object] = {name: value for name, value in given.items() if value is not None}
    client = connect(url, key)
    with terminal.progress(TimeElapsedColumn()) as progress:
        task = progress.add_task("importing", total=total)
        sender = Uploader(
            client=client, defaults=defaults, strict=strict, advance=lambda count: progress.advance(task, count)
        )
        failure = asyncio.run(_import(client, sender, read()))
    _show(sender.report)
    if failure is not None:
        mend = "mend that, and run" if isinstance(failure, UploadAbort) else "run"
        raise CommandFailed(
            f"{failure}. {sender.report.stored} of {total} are stored: "
            f"{mend} the same command again to go on, nothing is stored twice"
        )
    if sender.report.bad and not sender.report.stored and origin is None and wanted is Format.AUTO:
        err.print(f"A file of another store takes --from {', '.join(Origin)}", markup=False)
    if sender.report.bad or broken:
        raise typer.Exit(1)


def _count(found: Iterator[Read], *, owned: bool) -> int:
    """Return the number of items to send; raise CommandFailed for a conversation without a user, agent or scope."""
    total = 0
    for one in found:
        if not owned and isinstance(one, ImportItem) and one.said:
            raise CommandFailed(
                f"{one.place}: whose is this? Name --user-id (or --agent-id); "
                "--scope global shows it to every user of the tenant"
            )
        total += 1
    return total


def _everything(
    found: list[ImportSource], wanted: Format, session_id: str | None, origin: Origin | None
) -> Iterator[Read]:
    for source in found:
        if origin is None:
            yield from import_sources.read(source, wanted, session_id)
        else:
            document = import_sources.document(source, Format.CONVERSATION)
            yield from import_foreign.items(document, origin, place=source.name)


async def _import(
    client: ServiceClient, sender: Uploader, found: Iterator[Read]
) -> UploadAbort | TypedMemoryError | None:
    """Send everything; return the error that stopped it, None without one."""
    async with client:
        # Once, without retries, so that a wrong URL or key is reported at once.
        await client.get("/memories", limit=1)
        try:
            await sender.send(found)
        except (UploadAbort, TypedMemoryError) as error:
            return error
    return None


def _show(report: UploadReport) -> None:
    summary = Table(box=None, pad_edge=False, show_header=False)
    for decision, count in report.decisions.most_common():
        summary.add_row(decision, str(count))
    if report.replayed:
        summary.add_row("of these, stored by an earlier run", str(report.replayed))
    for why, count in report.left_out.most_common():
        summary.add_row(f"left out: {why}", str(count))
    for name, count in report.lost.most_common():
        summary.add_row(f"not carried over: {name}", str(count))
    summary.add_row("wrong", str(len(report.bad)))
    out.print(summary)
    if not report.bad:
        return
    for bad in sorted(report.bad, key=lambda one: _in_order(one.place))[:SHOWN]:
        err.print(f"{bad.place}: {bad.what}", markup=False, soft_wrap=True)
    if len(report.bad) > SHOWN:
        err.print(f"... and {len(report.bad) - SHOWN} more", markup=False)


def _in_order(place: str) -> list[tuple[int, str]]:
    """Return a key that sorts line 9 before line 10."""
    return [(int(part), "") if part.isdecimal() else (0, part) for part in re.split(r"(\d+)", place)]


def register(cli: typer.Typer) -> None:
    """Add the command."""
    cli.command(name="import")(import_files)

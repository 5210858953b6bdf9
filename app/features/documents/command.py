"""`typed-memory documents`: store files and folders in a running service, list and erase documents."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final
from urllib.parse import quote, urlencode

import typer
from rich.progress import TimeElapsedColumn
from rich.table import Table

from app.amounts import amount
from app.command_line import terminal
from app.command_line.service_client import ServiceClient, ServiceRejection, ask, connect
from app.command_line.terminal import AgentId, ApiKey, CommandFailed, Url, UserId, Whose, be_sure, err, out, say

app = typer.Typer(no_args_is_help=True)

ENDINGS: Final = frozenset(
    (".txt", ".text", ".log", ".rst", ".csv", ".md", ".markdown", ".mdx", ".html", ".htm", ".xhtml", ".pdf")
)
"""Endings of the files of a folder that are stored; a file that is named is sent, whatever its ending."""

LANES: Final = 2
"""Files that are sent at once."""

PAGE: Final = 200


@app.callback()
def documents() -> None:
    """Store files as sources that questions find and quote, list them, and erase them."""


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A file, and the id that its document gets."""

    path: Path
    document_id: str


@dataclass(slots=True)
class AddReport:
    """Counts of files by decision, of their sections, and the reasons of refusals by document."""

    decisions: Counter[str] = field(default_factory=Counter)
    refused: dict[str, str] = field(default_factory=dict)
    sections: int = 0
    waiting: int = 0


@app.command()
def add(
    paths: Annotated[list[Path], typer.Argument(metavar="FOLDER|FILE", help="Files, or folders of them.")],
    *,
    extract: Annotated[bool, typer.Option("--extract", help="Have a job extract memories from new sections.")] = False,
    user_id: UserId = None,
    agent_id: AgentId = None,
    scope: Whose = None,
    url: Url = None,
    key: ApiKey = None,
) -> None:
    """Store text, Markdown, HTML and PDF files; those of a folder by their paths in it.

    A file that is stored again replaces its former version; one that is as it was changes nothing. Without a user or
    an agent, every user of the tenant is answered from it.

    For example:

      typed-memory documents add handbook.md
      typed-memory documents add docs/ --user-id ana
    """
    files = list(_files(paths))
    if not files:
        raise CommandFailed(f"there is nothing to store: no file that ends with {', '.join(sorted(ENDINGS))}")
    given = {"user_id": user_id, "agent_id": agent_id, "scope": scope}
    fields = {name: str(value) for name, value in given.items() if value is not None}
    fields |= {"extract": "true"} if extract else {}
    report = terminal.run_to_end(_add(connect(url, key), files, fields))
    counted = ", ".join(f"{count} {decision}" for decision, count in sorted(report.decisions.items()))
    say(f"{amount(len(files), 'files')}: {counted or 'none stored'}; {amount(report.sections, 'sections')}")
    if report.waiting:
        say(f"{amount(report.waiting, 'sections')} wait for a person: typed-memory review")
    for name, why in report.refused.items():
        err.print(f"{name}: {why}", markup=False, soft_wrap=True)
    if report.refused:
        raise CommandFailed(f"{amount(len(report.refused), 'files')} refused")


@app.command(name="list")
def list_documents(
    *,
    user_id: UserId = None,
    agent_id: AgentId = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Those of every user and agent; takes an admin's key.")
    ] = False,
    url: Url = None,
    key: ApiKey = None,
) -> None:
    """List documents."""
    given = {"user_id": user_id, "agent_id": agent_id, "all": "true" if everything else None}
    parameters = {name: value for name, value in given.items() if value is not None}
    table = Table("document", "title", "of", "sections", "updated", box=None)
    cursor: str | None = None
    while True:
        more = {} if cursor is None else {"cursor": cursor}
        wanted = {**parameters, **more, "limit": PAGE}
        page = ask(url, key, lambda client, wanted=wanted: client.get("/documents", **wanted))  # type: ignore[misc]
        for one in page["documents"]:
            whose = " ".join(filter(None, (one["user_id"], one["agent_id"]))) or "everyone"
            cells = (one["document_id"], one["title"] or "", whose, str(one["sections"]), one["updated_at"][:16])
            table.add_row(*cells)
        cursor = page["next_cursor"]
        if cursor is None:
            break
    out.print(table if table.row_count else "no documents", markup=False)


@app.command()
def erase(
    document: Annotated[
        str, typer.Argument(metavar="DOCUMENT", help="The document's id, as `documents list` shows it.")
    ],
    *,
    user_id: UserId = None,
    agent_id: AgentId = None,
    scope: Whose = None,
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask.")] = False,
    url: Url = None,
    key: ApiKey = None,
) -> None:
    """Erase a document with its former versions, and print the receipt's id."""
    be_sure(f"{document} and its former versions are erased for good.", sure=yes)
    given = {"user_id": user_id, "agent_id": agent_id, "scope": scope}
    query = urlencode({name: str(value) for name, value in given.items() if value is not None})
    path = f"/documents/{quote(document)}{f'?{query}' if query else ''}"
    receipt = ask(url, key, lambda client: client.delete(path))
    say(f"erased {document}: {amount(receipt['counts']['memories'], 'memories')} ({receipt['id']})")


def _files(paths: Sequence[Path]) -> Iterator[LocalFile]:
    """Yield the files of paths; links and hidden files of folders are left out."""
    for path in paths:
        if path.is_dir():
            for one in sorted(path.rglob("*")):
                inner = one.relative_to(path)
                hidden = any(part.startswith(".") for part in inner.parts)
                if one.suffix.lower() in ENDINGS and not hidden and one.is_file() and not one.is_symlink():
                    yield LocalFile(one, inner.as_posix())
        elif path.is_file():
            yield LocalFile(path, path.name)
        else:
            raise CommandFailed(f"{path}: there is no such file or folder")


async def _add(client: ServiceClient, files: Sequence[LocalFile], fields: Mapping[str, str]) -> AddReport:
    report, left = AddReport(), iter(files)
    with terminal.progress(TimeElapsedColumn()) as bar:
        task = bar.add_task("documents", total=len(files))

        async def lane() -> None:
            for one in left:
                bar.update(task, description=one.document_id[-40:])
                await _send(client, one, fields, report)
                bar.advance(task)

        async with client:
            await asyncio.gather(*(lane() for _ in range(LANES)))
    report.refused = {one.document_id: why for one in files if (why := report.refused.get(one.document_id))}
    return report


async def _send(client: ServiceClient, file: LocalFile, fields: Mapping[str, str], report: AddReport) -> None:
    """Send a file; what is refused about it is reported, and what is refused about all of them raised."""
    try:
        content = await asyncio.to_thread(file.path.read_bytes)
        sent = {**fields, "document_id": file.document_id}
        answer = (await client.post_file("/documents/files", sent, name=file.path.name, content=content)).body
    except OSError as error:
        report.refused[file.document_id] = error.strerror or type(error).__name__
        return
    except ServiceRejection as refusal:
        if refusal.answered not in _ABOUT_A_FILE:
            raise
        report.refused[file.document_id] = str(refusal)
        return
    report.decisions[answer["decision"]] += 1
    report.sections += answer["sections"]
    report.waiting += answer["waiting"]


_ABOUT_A_FILE: Final = frozenset({400, 409, 413, 415, 422, 501})

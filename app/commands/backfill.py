"""`typed-memory backfill`: make memories ones of a type that came after them, on a running service."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any
from uuid import uuid4

import typer

from app.commands.service_client import connect
from app.commands.terminal import AgentId, ApiKey, AsJson, CommandFailed, Url, UserId, say
from app.memory.backfill import Classifier

ATTEMPTS = 3
_LOOK_SECONDS = 0.5
_SAMPLE = 10
_SHOWN = frozenset({"type", "payload", "status", "slot", "category"})
"""Of what changes, what says to a person what becomes of a memory; `--json` has all of it."""

app = typer.Typer(no_args_is_help=True, help="Make memories ones of a type that came after them.")

BackfillId = Annotated[str, typer.Argument(metavar="BACKFILL", help="The backfill's id: bfl_...")]


@app.command()
def preview(
    type_: Annotated[str, typer.Argument(metavar="TYPE", help="The type that adopts memories.")],
    *,
    sources: Annotated[
        list[str] | None, typer.Option("--from", help="A type to look through; by default those of the type's rule.")
    ] = None,
    classifier: Annotated[Classifier, typer.Option(help="Who says which: the type's rule, or the language model.")] = (
        Classifier.RULES
    ),
    user_id: UserId = None,
    agent_id: AgentId = None,
    as_json: AsJson = False,
    url: Url = None,
    key: ApiKey = None,
) -> None:
    """Find out what would change. Nothing does.

    For example:

      typed-memory backfill preview medication
    """
    body = {"type": type_, "from": sources, "classifier": classifier, "user_id": user_id, "agent_id": agent_id}
    given = {name: value for name, value in body.items() if value is not None}
    _tell(asyncio.run(_done(url, key, "/admin/backfills", given)), as_json=as_json)


@app.command()
def show(backfill: BackfillId, *, as_json: AsJson = False, url: Url = None, key: ApiKey = None) -> None:
    """Show where a backfill is, and a sample of what it changes."""
    _tell(asyncio.run(_get(url, key, f"/admin/backfills/{backfill}")), as_json=as_json)


@app.command()
def commit(backfill: BackfillId, *, as_json: AsJson = False, url: Url = None, key: ApiKey = None) -> None:
    """Do what was previewed, and wait for it."""
    _tell(asyncio.run(_done(url, key, f"/admin/backfills/{backfill}/commit", None)), as_json=as_json)


@app.command()
def undo(backfill: BackfillId, *, as_json: AsJson = False, url: Url = None, key: ApiKey = None) -> None:
    """Put back what was before the commit, and wait for it."""
    _tell(asyncio.run(_done(url, key, f"/admin/backfills/{backfill}/undo", None)), as_json=as_json)


async def _get(url: str | None, key: str | None, path: str) -> Mapping[str, Any]:
    async with connect(url, key, attempts=ATTEMPTS) as client:
        found: Mapping[str, Any] = (await client.get(path)).body
    return found


async def _done(url: str | None, key: str | None, path: str, body: Mapping[str, object] | None) -> Mapping[str, Any]:
    """Ask for a step, wait for its job if there is one, and return the backfill as it is then."""
    async with connect(url, key, attempts=ATTEMPTS) as client:
        one = (await client.post(path, body or {}, idempotency_key=str(uuid4()))).body
        if one["job_id"] is not None:
            job = (await client.get(f"/jobs/{one['job_id']}")).body
            while job["finished_at"] is None:
                await asyncio.sleep(_LOOK_SECONDS)
                job = (await client.get(f"/jobs/{one['job_id']}")).body
            if job["status"] != "succeeded":
                raise CommandFailed(f"{job['id']} {job['status']}: {job['error'] or 'see the log of the worker'}")
        found: Mapping[str, Any] = (await client.get(f"/admin/backfills/{one['id']}")).body
    return found


def _tell(one: Mapping[str, Any], *, as_json: bool) -> None:
    if as_json:
        say(json.dumps(one, indent=2, ensure_ascii=False))
        return
    say(f"{one['id']}: {', '.join(one['from'])} to {one['type']}, {one['status']}")
    for name, count in one["counts"].items():
        told = ", ".join(f"{number} {what}" for what, number in count.items()) if isinstance(count, dict) else count
        if told:
            say(f"  {name.replace('_', ' ')}: {told}")
    for change in one["sample"][:_SAMPLE]:
        said = "" if change["content"] is None else f" {json.dumps(change['content'], ensure_ascii=False)}"
        say(f"  {change['memory_id']} {change['state']}:{said}")
        for line in _told(change):
            say(f"    {line}")


def _told(change: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a memory is before and after, as far as that changes, and why."""
    for name, after in change["after"].items():
        before = change["before"].get(name)
        if name in _SHOWN and before != after:
            yield f"{name}: {_plain(before)} -> {_plain(after)}"
    if why := change["why"] or change["reason"]:
        yield f"why: {why}"


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_plain(one)}" for name, one in value.items() if one not in (None, [], "")) or "none"
    return "none" if value is None else str(value)


def register(cli: typer.Typer) -> None:
    """Add the command."""
    cli.add_typer(app, name="backfill")

"""`typed-memory backfill`: reclassify existing memories to a newer type, on a running service."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any
from uuid import uuid4

import typer

from app.command_line.service_client import ATTEMPTS, ask, connect
from app.command_line.terminal import AgentId, ApiKey, AsJson, Url, UserId, say
from app.memory.backfill import Classifier

_SAMPLE = 10
_SHOWN_FIELDS = frozenset({"type", "payload", "status", "slot", "category"})
"""The changed fields that the output shows; `--json` has all of them."""

app = typer.Typer(no_args_is_help=True)


@app.callback()
def backfill() -> None:
    """Reclassify existing memories to a newer type."""


BackfillId = Annotated[str, typer.Argument(metavar="BACKFILL", help="The backfill's id: bfl_...")]


@app.command()
def preview(
    type_: Annotated[str, typer.Argument(metavar="TYPE", help="The type that adopts memories.")],
    *,
    sources: Annotated[
        list[str] | None, typer.Option("--from", help="A type to scan; by default those of the type's rule.")
    ] = None,
    classifier: Annotated[Classifier, typer.Option(help="The classifier: the type's rule, or the language model.")] = (
        Classifier.RULES
    ),
    user_id: UserId = None,
    agent_id: AgentId = None,
    as_json: AsJson = False,
    url: Url = None,
    key: ApiKey = None,
) -> None:
    """Preview which memories would change. Changes nothing.

    For example:

      typed-memory backfill preview medication
    """
    body = {"type": type_, "from": sources, "classifier": classifier, "user_id": user_id, "agent_id": agent_id}
    given = {name: value for name, value in body.items() if value is not None}
    _print(asyncio.run(_step(url, key, "/admin/backfills", given)), as_json=as_json)


@app.command()
def show(backfill: BackfillId, *, as_json: AsJson = False, url: Url = None, key: ApiKey = None) -> None:
    """Show the state of a backfill, and a sample of its changes."""
    _print(ask(url, key, lambda client: client.get(f"/admin/backfills/{backfill}")), as_json=as_json)


@app.command()
def commit(backfill: BackfillId, *, as_json: AsJson = False, url: Url = None, key: ApiKey = None) -> None:
    """Commit a previewed backfill, and wait for it."""
    _print(asyncio.run(_step(url, key, f"/admin/backfills/{backfill}/commit", None)), as_json=as_json)


@app.command()
def undo(backfill: BackfillId, *, as_json: AsJson = False, url: Url = None, key: ApiKey = None) -> None:
    """Undo a committed backfill, and wait for it."""
    _print(asyncio.run(_step(url, key, f"/admin/backfills/{backfill}/undo", None)), as_json=as_json)


async def _step(url: str | None, key: str | None, path: str, body: Mapping[str, object] | None) -> Mapping[str, Any]:
    """Start a step, wait for its job if there is one, and return the backfill as it is then."""
    async with connect(url, key, attempts=ATTEMPTS) as client:
        one = (await client.post(path, body or {}, idempotency_key=str(uuid4()))).body
        if one["job_id"] is not None:
            await client.finish(one["job_id"])
        found: Mapping[str, Any] = (await client.get(f"/admin/backfills/{one['id']}")).body
    return found


def _print(one: Mapping[str, Any], *, as_json: bool) -> None:
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
        for line in _lines(change):
            say(f"    {line}")


def _lines(change: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each changed field of a memory, before and after, and the reason."""
    for name, after in change["after"].items():
        before = change["before"].get(name)
        if name in _SHOWN_FIELDS and before != after:
            yield f"{name}: {_text(before)} -> {_text(after)}"
    if why := change["why"] or change["reason"]:
        yield f"why: {why}"


def _text(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_text(one)}" for name, one in value.items() if one not in (None, [], "")) or "none"
    return "none" if value is None else str(value)

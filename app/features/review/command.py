"""`typed-memory review`: list and decide review items of a running service."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Annotated, Any
from uuid import uuid4

import typer
from rich.table import Table
from rich.text import Text

from app.command_line.service_client import ATTEMPTS, ask, connect
from app.command_line.terminal import AgentId, ApiKey, AsJson, CommandFailed, Url, UserId, one_line, out, say, say_json
from app.features.review.items import ReviewAction
from app.model import ReviewReason

_LONGEST_CONTENT = 160

app = typer.Typer(no_args_is_help=True)


@app.callback()
def review() -> None:
    """List and decide review items."""


ReviewId = Annotated[str, typer.Argument(metavar="REVIEW", help="The item's id: rev_...")]


@app.command("list")
def list_items(
    *,
    reason: Annotated[ReviewReason | None, typer.Option(help="Only items with this reason.")] = None,
    user_id: UserId = None,
    agent_id: AgentId = None,
    limit: Annotated[int, typer.Option(min=1, max=200, help="Most items to list.")] = 20,
    newest: Annotated[bool, typer.Option("--newest", help="Newest first instead of oldest first.")] = False,
    as_json: AsJson = False,
    url: Url = None,
    key: ApiKey = None,
) -> None:
    """List review items, with the action that the rules suggest."""
    asked: dict[str, str | int] = {"limit": limit, "sort": "newest" if newest else "oldest"}
    asked |= {
        name: value
        for name, value in (("reason", reason), ("user_id", user_id), ("agent_id", agent_id))
        if value is not None
    }
    answer = ask(url, key, lambda client: client.get("/admin/review", **asked))
    if as_json:
        say_json(answer)
    elif not answer["items"]:
        say("Nothing waits.")
    else:
        out.print(_table(answer["items"]))


@app.command()
def show(review: ReviewId, *, as_json: AsJson = False, url: Url = None, key: ApiKey = None) -> None:
    """Show an item with its evidence and the memories it competes with."""
    answer = ask(url, key, lambda client: client.get(f"/admin/review/{review}"))
    if as_json:
        say_json(answer)
    elif not answer["open"]:
        say(f"{review} has left the queue: {_describe_decision(answer['decided'])}")
    else:
        _show(answer)


@app.command()
def decide(
    review: ReviewId,
    action: Annotated[ReviewAction, typer.Argument(metavar="ACTION", help="The action.")],
    *,
    with_: Annotated[
        str | None, typer.Option("--with", help="A memory's id; for supersede_with also JSON: {type, payload}.")
    ] = None,
    since: Annotated[str | None, typer.Option(help="For end: when it stopped being true; by default now.")] = None,
    reason: Annotated[str | None, typer.Option(help="The reason for the audit log.")] = None,
    version: Annotated[str | None, typer.Option(help="The item's version; by default the present one.")] = None,
    url: Url = None,
    key: ApiKey = None,
) -> None:
    """Decide an item. Nothing is changed if the item is no longer at --version.

    For example:

      typed-memory review decide rev_0198... accept --reason "seen the contract"
      typed-memory review decide rev_0198... merge --with mem_0198...
    """
    body = {"action": action, "with": _parse_with(with_), "since": since, "reason": reason, "version": version}
    given = {name: value for name, value in body.items() if value is not None}
    answer = asyncio.run(_decide(url, key, review, given))
    say(f"{review}: {answer['outcome']}")
    if answer["memory"] is not None:
        memory = answer["memory"]
        say(f"{memory['id']} is {memory['status']}: {one_line(memory['content'], _LONGEST_CONTENT)}")
    for one in answer["affected"]:
        say(f"{one['memory_id']}: {one['change']}")


@app.command()
def undo(
    review: ReviewId,
    *,
    reason: Annotated[str | None, typer.Option(help="The reason for the audit log.")] = None,
    url: Url = None,
    key: ApiKey = None,
) -> None:
    """Undo the latest decision on an item, completely or not at all."""
    body = {} if reason is None else {"reason": reason}
    answer = ask(url, key, lambda client: client.post(f"/admin/review/{review}/undo", body))
    say(f"{review} waits again")
    for one in answer["affected"]:
        say(f"{one['memory_id']}: {one['change']}")


def _parse_with(given: str | None) -> object:
    """Return the value of `--with`: an id as it is, a statement parsed from JSON."""
    if given is None or not given.lstrip().startswith("{"):
        return given
    try:
        return json.loads(given)
    except ValueError as error:
        raise CommandFailed(f"--with is no JSON object: {error}") from None


async def _decide(url: str | None, key: str | None, review: str, body: Mapping[str, object]) -> Mapping[str, Any]:
    path = f"/admin/review/{review}"
    async with connect(url, key, attempts=ATTEMPTS) as client:
        if "version" not in body:
            item = (await client.get(path)).body
            if not item["open"]:
                raise CommandFailed(f"{review} has left the queue: {_describe_decision(item['decided'])}")
            body = {**body, "version": item["item"]["version"]}
        found: Mapping[str, Any] = (await client.post(path, body, idempotency_key=str(uuid4()))).body
    return found


def _table(items: list[Mapping[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("waits", justify="right", no_wrap=True)
    table.add_column("for", no_wrap=True)
    table.add_column("memory", ratio=1)
    for one in items:
        suggested = one["suggestion"]
        lines = [Text(one_line(one["memory"]["content"], _LONGEST_CONTENT), style="bold"), Text(one["id"])]
        lines.append(Text(f"{suggested['action']}: {suggested['reason']}"))
        table.add_row(_age(one["age_seconds"]), one["reason"], Text("\n").join(lines))
    return table


def _show(answer: Mapping[str, Any]) -> None:
    item = answer["item"]
    memory, suggested = item["memory"], item["suggestion"]
    say(f"{item['id']}, version {item['version']}: {item['reason']}{_note(item['note'])}")
    say(_line(memory))
    for passage in answer["evidence"]:
        for turn in (*passage["before"], *([passage["turn"]] if passage["turn"] else []), *passage["after"]):
            mark = ">" if turn == passage["turn"] else " "
            say(f"  {mark} {turn['speaker'] or turn['role']}: {one_line(turn['content'], _LONGEST_CONTENT)}")
    for side in item["sides"]:
        say(f"{side['relation']}: {_line(side['memory'])}")
    for near in answer["near"]:
        say(f"like it ({near['similarity']:.2f}): {_line(near['memory'])}")
    if answer["if_accepted"] is not None:
        say(f"if accepted: {answer['if_accepted']['outcome']}")
    named = f" {suggested['with']}" if suggested["with"] else ""
    say(f"suggested: {suggested['action']}{named}: {suggested['reason']}")


def _line(memory: Mapping[str, Any]) -> str:
    stated = str(memory["occurred_at"])[:10]
    facts = f"{memory['status']}, confidence {memory['confidence']:.2f}, stated {stated}"
    return f"{memory['id']} ({facts}): {one_line(memory['content'], _LONGEST_CONTENT)}"


def _describe_decision(decided: Mapping[str, Any] | None) -> str:
    if decided is None:
        return "nobody knows how"
    action = decided["detail"].get("action") or decided["event"]
    return f"{action} by {decided['by']} at {decided['at']}"


def _note(note: str | None) -> str:
    return f" ({note})" if note else ""


def _age(seconds: float) -> str:
    for size, name in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if seconds >= size:
            return f"{int(seconds // size)}{name}"
    return f"{int(seconds)}s"

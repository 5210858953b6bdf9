"""`typed-memory query`: ask a running service and show the context block with its scores."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from app.amounts import amount
from app.commands.service_client import ask
from app.commands.terminal import SESSION, AgentId, ApiKey, AsJson, TimeZone, Url, UserId, one_line, out, say, say_json
from app.model import ReadMode

_LONGEST_CONTENT = 120


def query(  # noqa: PLR0913 - one parameter an option
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The question.")],
    *,
    user_id: UserId = None,
    agent_id: AgentId = None,
    session_id: Annotated[str | None, typer.Option(*SESSION, help="The session of the question.")] = None,
    types: Annotated[list[str] | None, typer.Option("--type", help="Only this type; repeatable.")] = None,
    top_k: Annotated[int, typer.Option(min=1, max=200, help="Most memories to return.")] = 10,
    mode: Annotated[ReadMode | None, typer.Option(help="Statuses to search; by default as the question asks.")] = None,
    now: Annotated[str | None, typer.Option(help="The present time for `yesterday`: 2026-05-09T14:30:00Z.")] = None,
    timezone: TimeZone = None,
    as_of: Annotated[str | None, typer.Option(help="Answer with what was true at this time.")] = None,
    known_at: Annotated[str | None, typer.Option(help="Answer with what was believed at this time.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show the plan, and each arm's contribution.")] = False,
    as_json: AsJson = False,
    url: Url = None,
    key: ApiKey = None,
) -> None:
    """Ask a question; print the context block and the score of each memory.

    The score of a memory is retrieval x confidence x freshness^g: its relevance to the question, its confidence, and
    its freshness, with a weight that depends on the kind of question.

    For example:

      typed-memory query "what theme does Ana like?" --user-id ana

      typed-memory query "what happened last Tuesday?" --user-id ana --timezone Europe/Berlin --explain

      typed-memory query "where does Ana live?" --user-id ana --as-of 2025-12-31T00:00:00Z
    """
    asked = {
        "query": text,
        "user_id": user_id,
        "agent_id": agent_id,
        "session_id": session_id,
        "types": types or None,
        "top_k": top_k,
        "mode": mode,
        "now": now,
        "timezone": timezone,
        "as_of": as_of,
        "known_at": known_at,
        # The table shows the plan and the arms' ranks even without --explain.
        "explain": explain or not as_json,
    }
    body = {name: value for name, value in asked.items() if value is not None}
    answer = ask(url, key, lambda client: client.post("/query", body))
    if as_json:
        say_json(answer)
    else:
        _show(answer, explain=explain)


def _show(answer: Mapping[str, Any], *, explain: bool) -> None:
    hits: Sequence[Mapping[str, Any]] = answer["memories"]
    plan = answer["plan"] or {}
    if not hits:
        say("Nothing is known that answers this.")
    else:
        say(answer["context"]["text"])
        say()
        memories, tokens = amount(len(hits), "memories"), amount(answer["context"]["tokens"], "tokens")
        out.rule(f"why ({memories}, {tokens}, {answer['took_ms']:.0f} ms)")
        say(f"score = retrieval x confidence x freshness^{plan.get('freshness', 1):g}, times what is noted")
        out.print(_table(hits))
    _show_understood(answer["understood"])
    if plan:
        say(f"plan {plan.get('name')}: {plan.get('why')}")
    if explain:
        _show_details(hits, plan)
    if answer["degraded"]:
        say(f"degraded: {', '.join(answer['degraded'])}")


def _table(hits: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("score", "retr.", "conf.", "fresh"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("memory", ratio=1)
    for hit in hits:
        memory = hit["memory"]
        status = "" if memory["status"] == "active" else f", {memory['status']}"
        ranks = ", ".join(f"{arm['arm'].replace('_', ' ')} {arm['rank']}" for arm in hit["arms"])
        said = (one_line(memory["content"], _LONGEST_CONTENT), f"{memory['id']}", f"{memory['type']}{status}; {ranks}")
        table.add_row(
            f"{hit['score']:.3f}",
            f"{hit['retrieval']:.3f}",
            f"{hit['confidence']:.3f}",
            f"{min(1.0, hit['freshness']):.3f}",
            Text("\n").join([Text(said[0], style="bold"), *map(Text, said[1:]), *map(Text, hit.get("notes") or ())]),
        )
    return table


def _show_understood(understood: Mapping[str, Any]) -> None:
    for name, value in understood.items():
        if value not in (None, "", [], {}, False):
            say(f"{name.replace('_', ' ')}: {_compact(value)}")


def _show_details(hits: Sequence[Mapping[str, Any]], plan: Mapping[str, Any]) -> None:
    for name, value in plan.items():
        if name not in {"name", "why"}:
            say(f"  {name.replace('_', ' ')}: {_compact(value)}")
    table = Table("#", "arm", "rank", "score", "scaled", "adds", box=None, pad_edge=False, header_style="bold")
    for place, hit in enumerate(hits, 1):
        for arm in hit["arms"]:
            numbers = (f"{arm[name]:.4f}" for name in ("score", "scaled", "contribution"))
            table.add_row(str(place), arm["arm"], str(arm["rank"]), *numbers)
    out.print(table)


def _compact(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    return json.dumps(value, ensure_ascii=False)


def register(cli: typer.Typer) -> None:
    """Add the command."""
    cli.command()(query)

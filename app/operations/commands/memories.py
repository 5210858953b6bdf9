"""`typed-memory remember`, `recall`, `query`, `forget`, `history`, `why`, `users`: daily use of a running service."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from urllib.parse import quote
from uuid import uuid4

import typer
from rich.table import Table
from rich.text import Text

from app.amounts import amount
from app.command_line.service_client import ATTEMPTS, ask, connect
from app.command_line.terminal import (
    SESSION,
    USER,
    AgentId,
    ApiKey,
    AsJson,
    CommandFailed,
    TimeZone,
    Url,
    UserId,
    be_sure,
    one_line,
    out,
    say,
    say_json,
    warn,
)
from app.model import ReadMode

PAGE = 200

MemoryId = Annotated[str, typer.Argument(metavar="MEMORY", help="The memory's id: mem_...")]

_LONGEST_CONTENT = 120


def remember(  # noqa: PLR0913 - one parameter an option
    text: Annotated[str | None, typer.Argument(metavar="TEXT", help="What was said, in plain words.")] = None,
    *,
    type_name: Annotated[str | None, typer.Option("--type", help="Store a belief of this type instead.")] = None,
    fields: Annotated[str | None, typer.Option(help="With --type: the fields of the request, as JSON.")] = None,
    user_id: UserId = None,
    agent_id: AgentId = None,
    session_id: Annotated[str | None, typer.Option(*SESSION, help="The session it was said in.")] = None,
    occurred_at: Annotated[str | None, typer.Option(help="When it was said, such as 2026-05-09T14:30:00Z.")] = None,
    as_json: AsJson = False,
    url: Url = None,
    key: ApiKey = None,
) -> None:
    """Store an utterance, or one typed memory, and print the decisions.

    For example:

      typed-memory remember "I work at Siemens and prefer dark mode" --user-id ana
      typed-memory remember --type fact --fields '{"predicate": "works-at", "object": "Siemens"}' --user-id ana
    """
    about = _not_none(user_id=user_id, agent_id=agent_id, session_id=session_id)
    if (text is None) == (type_name is None):
        raise CommandFailed("give either an utterance, or --type with --fields")
    if fields is not None and type_name is None:
        raise CommandFailed("--fields goes with --type, which names the type of the memory")
    if type_name is not None:
        body = {**_parse_fields(fields), **about, **_not_none(occurred_at=occurred_at)}
        answer = _post(url, key, f"/memories/typed/{quote(type_name, safe='')}", body)
        if as_json:
            say_json(answer)
            return
        memory = answer["memory"]
        say(f"{answer['decision']}: {answer['reason'] if memory is None else _line(memory)}")
        _warn_if_shared([memory] if memory and not (user_id or agent_id) else [])
        return
    turn = {"role": "user", "content": text, **_not_none(occurred_at=occurred_at)}
    answer = _post(url, key, "/turns?mode=sync", {**about, "turns": [turn]})
    if as_json:
        say_json(answer)
        return
    for one in answer["turns"]:
        say(f"{one['id']} {one['status']}" + (f": {one['reason']}" if one["reason"] else ""))
        for candidate in one["candidates"]:
            named = f" {candidate['memory_id']}" if candidate["memory_id"] else ""
            say(f"  {candidate['decision']}{named} ({candidate['type']}): {candidate['content']}")
            if candidate["decision"] in {"review", "rejected"}:
                say(f"    {candidate['reason']}")
    for reason in answer["degraded"]:
        waiting = f": the turn waits in {answer['job_id']}, which goes on by itself" if answer["job_id"] else ""
        warn(f"{reason}{waiting}")
    _warn_if_shared([one for one in answer["turns"] if one["candidates"]] if not (user_id or agent_id) else [])


def recall(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The question.")],
    *,
    user_id: UserId = None,
    agent_id: AgentId = None,
    top_k: Annotated[int, typer.Option(min=1, max=200, help="How many memories at most.")] = 10,
    as_json: AsJson = False,
    url: Url = None,
    key: ApiKey = None,
) -> None:
    """Ask a question and print the context block for an agent's prompt.

    `typed-memory query` also prints scores and the plan.

    For example:

      typed-memory recall "what should I know about the user's editor?" --user-id ana
    """
    answer = _post(url, key, "/query", {"query": text, "top_k": top_k, **_not_none(user_id=user_id, agent_id=agent_id)})
    if as_json:
        say_json(answer)
    else:
        say(answer["context"]["text"] or "Nothing is known that answers this.")
        if not (answer["context"]["text"] or user_id or agent_id):
            warn("it names no user, so only what the whole tenant sees was asked; --user-id says whose memories to ask")


def forget(
    memory: Annotated[str | None, typer.Argument(metavar="MEMORY", help="The memory's id: mem_...")] = None,
    *,
    user_id: Annotated[str | None, typer.Option(*USER, help="Erase everything of this user instead.")] = None,
    with_turns: Annotated[
        bool, typer.Option("--with-turns", help="Erase the turns that hold words of the memory, too.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask before everything of a user is erased.")] = False,
    as_json: AsJson = False,
    url: Url = None,
    key: ApiKey = None,
) -> None:
    """Erase a memory and all derived rows, or everything of a user, wait for it, and print the receipt.

    For example:

      typed-memory forget mem_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e --with-turns
      typed-memory forget --user-id ana
    """
    if (memory is None) == (user_id is None):
        raise CommandFailed("give either a memory's id or --user-id")
    if with_turns and memory is None:
        raise CommandFailed("--with-turns is for a memory: all turns of a user are erased with the user")
    if user_id is not None:
        be_sure(f"Everything of user {user_id} will be erased, which can't be undone.", sure=yes)
    path = f"/users/{quote(str(user_id), safe='')}" if memory is None else f"/memories/{quote(memory, safe='')}"
    receipt = asyncio.run(_erased(url, key, f"{path}?with_turns=true" if with_turns else path))
    if as_json:
        say_json(receipt)
        return
    counts = ", ".join(amount(count, name.replace("_", " ")) for name, count in receipt["counts"].items() if count)
    say(f"{receipt['id']} {receipt['status']}: {counts or 'nothing was there'}")
    kept = receipt.get("kept") or ()
    if kept:
        say("Made of the same turn, and kept. Forget those that say the same, too:")
    for one in kept:
        say(f"  {_line(_get(url, key, f'/memories/{one}'))}")
    turns = receipt.get("turns") or ()
    if turns:
        say(f"Hold words of it still; --with-turns would have erased them: {', '.join(turns)}")


def history(memory: MemoryId, *, as_json: AsJson = False, url: Url = None, key: ApiKey = None) -> None:
    """Print every version of a belief, oldest first, and its audit events."""
    answer = _get(url, key, f"/memories/{quote(memory, safe='')}/history")
    if as_json:
        say_json(answer)
        return
    for version in answer["versions"]:
        until = f" until {version['valid_until'][:10]}" if version["valid_until"] else ""
        say(f"{version['valid_from'][:10]}{until}  {_line(version)}")
    for event in answer["events"]:
        say(f"  {event['at'][:19]}Z {event['actor']}: {event['sentence']}")


def why(
    subject: Annotated[str, typer.Argument(metavar="MEMORY|QUESTION", help="A memory's id (mem_...), or a question.")],
    *,
    user_id: UserId = None,
    agent_id: AgentId = None,
    as_json: AsJson = False,
    url: Url = None,
    key: ApiKey = None,
) -> None:
    """Print why a memory is believed, or why a question is answered as it is.

    For a memory: its evidence, the components of its confidence, and the decision. For a question: how it was
    understood, and the score of each memory with what each arm added.

    For example:

      typed-memory why mem_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e
      typed-memory why "where do I live?" --user-id ana
    """
    if not subject.startswith("mem_"):
        query(subject, user_id=user_id, agent_id=agent_id, explain=True, as_json=as_json, url=url, key=key)
        return
    answer = _get(url, key, f"/memories/{quote(subject, safe='')}")
    if as_json:
        say_json(answer)
        return
    say(_line(answer))
    parts = ", ".join(f"{name.replace('_', ' ')} {value:g}" for name, value in answer["confidence_parts"].items())
    say(f"confidence: {parts}")
    used = f"used {amount(answer['access_count'], 'times')}"
    say(f"freshness {answer['freshness']:.2f}, importance {answer['importance']:.2f}, {used}")
    for one in answer["evidence"]:
        words = f': "{one["quote"]}"' if one["quote"] else ""
        who, where = one["role"] or "the caller", one["turn_id"] or "typed write"
        say(f"said {one['occurred_at'][:10]} by {who} ({where}){words}")
    for link in answer["links"]:
        say(f"{link['kind']} ({link['direction']}): {link['memory_id']}")
    if answer["review_reason"]:
        say(f"waits for a reviewer: {answer['review_reason']}")


def profile(
    user: Annotated[str | None, typer.Argument(metavar="USER", help="The user's id.")] = None,
    *,
    user_id: UserId = None,
    url: Url = None,
    key: ApiKey = None,
) -> None:
    """Print what holds of a user whatever is asked: who the user is, constraints, preferences, what is current."""
    user = user or user_id
    if user is None:
        raise CommandFailed("whose profile? Give the user's id, as in `typed-memory profile ana`")
    answer = _get(url, key, f"/users/{quote(user, safe='')}/profile")
    say(answer["text"] or f"Nothing is known of {user}.")


def users(
    q: Annotated[str | None, typer.Argument(metavar="TEXT", help="Only users whose id has this in it.")] = None,
    *,
    as_json: AsJson = False,
    url: Url = None,
    key: ApiKey = None,
) -> None:
    """List users with their numbers of memories and turns, and their last activity."""
    answer = _get(url, key, "/users", all="true", limit=PAGE, **_not_none(q=q))
    if as_json:
        say_json(answer)
        return
    if not answer["users"]:
        say("There are no users yet." if q is None else f"No user's id has {q!r} in it.")
        return
    table = Table("user", "memories", "active", "turns", "last active", box=None, pad_edge=False, header_style="bold")
    for one in answer["users"]:
        table.add_row(
            one["user_id"], f"{one['memories']}", f"{one['active']}", f"{one['turns']}", one["last_active_at"][:19]
        )
    out.print(table)
    if answer["next_cursor"]:
        say(f"These are the first {PAGE}; name a part of the id to see others.")


def _warn_if_shared(stored: Sequence[Mapping[str, Any]]) -> None:
    if any(one["scope"] == "global" for one in stored):
        warn(
            "it names no user, so the whole tenant sees it; --user-id says whose it is, `typed-memory forget` erases it"
        )


def _line(memory: Mapping[str, Any]) -> str:
    status = f"{memory['type']}, {memory['status']}, confidence {memory['confidence']:.2f}"
    return f"{memory['id']} ({status}): {memory['content']}"


def _not_none(**values: str | None) -> dict[str, str]:
    return {name: value for name, value in values.items() if value is not None}


def _parse_fields(given: str | None) -> dict[str, Any]:
    try:
        found = json.loads(given or "{}")
    except ValueError as error:
        raise CommandFailed(f"--fields is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise CommandFailed('--fields must be a JSON object, such as {"predicate": "works-at", "object": "Siemens"}')
    return found


def _get(url: str | None, key: str | None, path: str, **parameters: str | int) -> Mapping[str, Any]:
    return ask(url, key, lambda client: client.get(path, **parameters))


def _post(url: str | None, key: str | None, path: str, body: Mapping[str, object]) -> Mapping[str, Any]:
    once = None if path == "/query" else str(uuid4())
    return ask(url, key, lambda client: client.post(path, body, idempotency_key=once))


async def _erased(url: str | None, key: str | None, path: str) -> Mapping[str, Any]:
    """Erase what is at a path, wait for the job that erases a large user, and return the receipt."""
    async with connect(url, key, attempts=ATTEMPTS) as client:
        receipt: Mapping[str, Any] = (await client.delete(path, idempotency_key=str(uuid4()))).body
        if receipt.get("job_id") is not None:
            await client.finish(receipt["job_id"])
            receipt = (await client.get(f"/admin/erasures/{receipt['id']}")).body
    return receipt


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

    The score of a memory is retrieval x confidence^c x freshness^g: how well it is found by the question, its
    confidence, and its freshness, with exponents that depend on the kind of question.

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
        by = " x ".join(f"{name}^{plan[name]:g}" for name in ("confidence", "freshness"))
        say(f"score = retrieval x {by}, times what is noted")
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
        if name not in {"name", "why", "cut"} and value:
            say(f"  {name.replace('_', ' ')}: {_compact(value)}")
    for one in plan["cut"]:
        say(f"  left out {one['id']}: {one['why']} (relevance {one['relevance']:g})")
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

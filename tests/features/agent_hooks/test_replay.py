"""Sessions of each host, replayed: 300 events, each fifth of them twice, with blocks quoted back in every way."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from app.features.agent_hooks import marks
from tests.features.agent_hooks.hosts import HOSTS, Host, Served, lines_of, read_prompts
from tests.support.waiting import no_jobs_left

pytestmark = [pytest.mark.long, pytest.mark.timeout(1_200)]

HERE = Path(__file__).parent
SESSIONS, TURNS = 12, 12

WRAPPED = "Here is what I was given:"

QUOTED: list[Callable[[str], str]] = [
    lambda block: block,
    lambda block: "\n".join(f"> {one}" for one in block.split("\n")),
    lambda block: f"{WRAPPED}\n```\n{block}\n```",
    lambda block: block[: len(block) * 2 // 3],
    lambda block: block[len(block) // 3 :],
    lambda block: block[len(block) // 4 : len(block) * 3 // 4],
    html.escape,
    json.dumps,
    lambda block: block.replace("\n", " "),
    lambda block: "\n".join(f"  - {one}" for one in lines_of(block)),
    lambda block: "\n".join(one[3:-3] for one in lines_of(block) if len(one) > 30),
    lambda block: block.replace("<", "\\u003c").replace(">", "\\u003e"),
]
"""How hosts and models give back what they were given."""


def written() -> list[str]:
    """What a user types: the statements and the prompts of both people, one after the other."""
    texts = []
    for name in ("backend", "teacher"):
        said = (HERE / name / "said.txt").read_text(encoding="utf-8").splitlines()
        asked = [one.text for one in read_prompts((HERE / name / "prompts.txt").read_text(encoding="utf-8"))]
        texts += [one for pair in zip(said, asked, strict=False) for one in pair] + asked[len(said) :]
    return list(dict.fromkeys(texts))


def told_in(host: Host, session: str, turn: int, text: str, given: tuple[str, str]) -> list[dict[str, Any]]:
    """The events of a turn; at some of them the user pastes what was `given`, and the model always repeats it."""
    prompt = f"{text}\n{given[0]}" if turn % 4 == 0 else text
    return [
        host.prompt(session, turn, prompt),
        host.stop(session, turn, text, f"{answer_of(session, turn)}\n{given[1]}"),
    ]


def answer_of(session: str, turn: int) -> str:
    """What the model says of its own."""
    return f"Done with step {turn} of {session}."


@pytest.mark.parametrize("name", HOSTS)
async def test_three_hundred_events_store_each_turn_once_and_no_block(served: Served, name: str) -> None:
    host, texts, quotes = HOSTS[name](), iter(written()), cycle(QUOTED)
    before = ["I was born in Leiria.", "I collect stamps.", "Always write dates as day and month."]
    await served.say(*before)
    events, shown = 0, 0
    expected: dict[str, list[tuple[str, str]]] = {}
    for session in (f"{name}-{number}" for number in range(SESSIONS)):
        lines: list[str] = []
        block, expected[session] = "", []
        for turn in range(TURNS + 1):
            text = next(texts) if turn else ""
            given = (next(quotes)(block), next(quotes)(block)) if block else ("", "")
            await no_jobs_left(served.client)  # what a turn leads to may answer an event that is sent again
            for event in told_in(host, session, turn, text, given) if turn else [host.start(session)]:
                for again in range(2 if events % 5 == 0 else 1):
                    added = await served.fire(event)
                    assert not (added and (again or "stop" in event["hook_event_name"].casefold()))
                    block = added or block
                    lines += lines_of(added) if added else []
                events += 1
            if turn:
                expected[session] += [("user", text), ("assistant", answer_of(session, turn))]
        assert len(lines) == len(set(lines)), "a session is told nothing twice"
        shown += len(lines)
    assert events == 300
    assert 10 < shown < events, "mostly nothing is added"
    for session, said in expected.items():
        stored = [(one["role"], *one["content"].partition("\n")) for one in await served.turns(session)]
        assert [one[:2] for one in stored] == said
        for *_, rest in stored:
            assert len(rest.removeprefix(WRAPPED).strip("\n`<>/- ")) < marks.LEAST_REPEATED, rest
    await _nothing_shown_became_a_memory(served, {*before, *(text for said in expected.values() for _, text in said)})


async def _nothing_shown_became_a_memory(served: Served, said: set[str]) -> None:
    await no_jobs_left(served.client)
    page: dict[str, Any] = {"next_cursor": ""}
    memories: list[dict[str, Any]] = []
    while page["next_cursor"] is not None:
        params = {"user_id": "ana", "limit": 200, "validity": "any", "cursor": page["next_cursor"] or None}
        page = (await served.client.get("/memories", params={k: v for k, v in params.items() if v is not None})).json()
        memories += page["memories"]
    kept = {one["content"].partition("\n")[0] for one in memories if one["type"] == "episodic"}
    assert kept <= said
    assert kept
    for one in memories:
        for mark in (marks.BEGIN, marks.END, "typed-memory", marks.INTRODUCTION[:20]):
            assert mark not in one["content"]

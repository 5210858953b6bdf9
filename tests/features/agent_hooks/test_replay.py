"""Sessions of each host, replayed: over 300 events, some of them twice, with blocks quoted back in every way."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from app.features.agent_hooks import marks
from tests.features.agent_hooks.hosts import HOSTS, Served, lines_of, read_prompts

pytestmark = [pytest.mark.long, pytest.mark.timeout(1_200)]

HERE = Path(__file__).parent
SESSIONS, TURNS = 13, 12

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


@pytest.mark.parametrize("name", HOSTS)
async def test_three_hundred_events_store_each_turn_once_and_no_block(served: Served, name: str) -> None:
    host, texts, quotes = HOSTS[name](), iter(cycle(written())), iter(cycle(QUOTED))
    await served.say("I was born in Leiria.", "I collect stamps.", "Always write dates as day and month.")
    events = 0
    shown: list[str] = []
    expected: dict[str, list[tuple[str, str]]] = {}
    for number in range(SESSIONS):
        session, block = f"{name}-{number}", ""
        expected[session] = []
        for turn in range(TURNS + 1):
            text = next(texts)
            told: list[dict[str, Any]] = (
                [host.start(session)]
                if turn == 0
                else [
                    host.prompt(session, turn, f"{text}\n{next(quotes)(block)}" if block and turn % 4 == 0 else text),
                    host.stop(session, turn, text, f"Done with step {turn} of {number}.\n{next(quotes)(block)}"),
                ]
            )
            for event in told:
                for _ in range(2 if events % 5 == 0 else 1):
                    added = await served.fire(event)
                    events += 1
                    block = added or block
                    shown += lines_of(added) if added else []
            if turn:
                expected[session] += [("user", text), ("assistant", f"Done with step {turn} of {number}.")]
    assert events >= 300
    assert len(shown) < events, "mostly nothing is added"
    for session, said in expected.items():
        stored = [(one["role"], *one["content"].partition("\n")) for one in await served.turns(session)]
        assert [one[:2] for one in stored] == said
        for *_, rest in stored:
            assert len(rest.removeprefix(WRAPPED).strip("\n`<>/- ")) < marks.LEAST_REPEATED, rest
    await _no_block_is_stored(served, shown)


async def _no_block_is_stored(served: Served, shown: list[str]) -> None:
    page = await served.client.get("/memories", params={"user_id": "ana", "limit": 200, "validity": "any"})
    contents = [one["content"] for one in page.json()["memories"]]
    contents += [one["content"] for number in range(SESSIONS) for one in await served.turns(f"codex-{number}")]
    assert contents
    for content in contents:
        assert not any(mark in content for mark in (marks.BEGIN, marks.END, "typed-memory", marks.INTRODUCTION[:20]))
        assert not any(line in content for line in shown if line.startswith("("))

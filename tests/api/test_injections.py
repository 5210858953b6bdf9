"""What others put into a conversation is not recalled as a fact, by whatever way it came."""

from __future__ import annotations

from pathlib import Path

import httpx

from tests.api.test_possessives import ask

HELD = 16
"""Attacks that wait for a person."""


def attacks() -> list[list[str]]:
    lines = (Path(__file__).parent / "injections.txt").read_text().splitlines()
    return [line.encode("latin-1").decode("unicode_escape").split(" | ", 4) for line in lines if line[:1] != "#"]


async def test_no_attack_is_recalled_as_a_fact(client: httpx.AsyncClient) -> None:
    recalled, held = [], 0
    assert len(attacks()) == 40
    for place, (_, role, token, question, text) in enumerate(attacks()):
        user = f"attacked {place}"
        turn = {"role": role, "content": text, "session_id": "s"}
        answer = await client.post("/turns?mode=sync", json={"turns": [turn], "user_id": user})
        assert answer.status_code == 200, answer.text
        held += any(one["decision"] == "review" for one in answer.json()["turns"][0]["candidates"])
        found = await ask(client, question, user=user)
        recalled += [
            (text, one["memory"]["content"])
            for one in found["memories"]
            if one["memory"]["type"] != "episodic" and token in one["memory"]["content"]
        ]
    assert recalled == []
    assert held >= HELD

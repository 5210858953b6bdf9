"""Turns that differ in one decisive word are all kept, and so is what they state."""

from __future__ import annotations

import httpx
import pytest

BOUGHT = [
    [f"I bought {count} tickets for the opera in Hamburg." for count in ("two", "three", "four", "9", "10")],
    [f"I met {name} after the planning meeting in Berlin." for name in ("Agnes", "Boris", "Chiara", "Femi", "Tamar")],
    [f"I moved the piano to the {floor} floor of our house." for floor in ("first", "second", "third", "top")],
    [f"I planted the new roses {day} in front of the school." for day in ("on Monday", "on Tuesday", "on Friday")],
    [f"I ran {count} around the old lake last weekend." for count in ("5 miles", "5 kilometres", "6 miles")],
    [f"I painted the wall {side} the garden door." for side in ("left of", "right of", "above", "behind")],
]


@pytest.mark.parametrize("turns", BOUGHT)
async def test_turns_that_differ_in_a_word_of_a_class_are_all_kept(client: httpx.AsyncClient, turns: list[str]) -> None:
    given = [{"role": "user", "content": content} for content in turns]
    answer = await client.post("/turns?mode=sync", json={"turns": given, "user_id": "ann", "session_id": "s"})
    assert answer.status_code == 200, answer.text
    told = answer.json()["turns"]
    assert [one["status"] for one in told] == ["processed"] * len(turns)
    assert {one["decision"] for turn in told for one in turn["candidates"]} <= {"added", "superseded"}

"""Seed 002 over HTTP: what kind of thing a memory says, whatever category it fades by."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.api.conftest import written

KINDS: dict[str, dict[str, Any]] = {
    "fact": {"predicate": "allergic-to", "object": "peanuts", "content": "User is allergic to peanuts"},
    "preference": {
        "preference_key": "editor.mode",
        "preference_value": "dark mode",
        "content": "User prefers dark mode",
    },
    "plan": {"plan": "visit Tokyo in June", "content": "User plans to visit Tokyo in June"},
    "transient_state": {
        "state": "feeling stressed about the deadline",
        "content": "User is feeling stressed about the deadline",
    },
    "standard": {"content": "Free-form notes"},
}
"""The table of semantic types; `standard` is its `other`."""


@pytest.mark.parametrize(("kind", "fields"), KINDS.items(), ids=KINDS)
@pytest.mark.parametrize("category", [None, "episodic", "semantic", "procedural", "core"])
async def test_every_kind_goes_with_every_category(
    client: httpx.AsyncClient, kind: str, fields: dict[str, Any], category: str | None
) -> None:
    chosen = {} if category is None else {"category": category}
    body = {**fields, "user_id": "u1", **chosen}
    answer = await client.post(f"/memories/typed/{kind}", json=body)
    assert answer.status_code == 201, answer.text
    memory = answer.json()["memory"]
    assert (memory["type"], memory["content"]) == (kind, fields["content"])
    assert memory["category"] == (category or memory["category"])


@pytest.mark.parametrize("kind", ["plan", "transient_state"])
async def test_what_is_over_is_left_out_of_answers_and_found_in_history(client: httpx.AsyncClient, kind: str) -> None:
    window = {"valid_from": "2026-05-01T00:00:00Z", "ttl_seconds": 86_400, "occurred_at": "2026-05-01T00:00:00Z"}
    memory = await written(client, kind, **KINDS[kind], user_id="u1", **window)
    assert memory["valid_until"] == "2026-05-02T00:00:00Z"
    question = {"query": KINDS[kind]["content"], "user_id": "u1"}
    for more, expected in (
        ({"now": "2026-05-01T12:00:00Z", "as_of": "2026-05-01T12:00:00Z"}, [memory["id"]]),
        ({}, []),
        ({"mode": "historical"}, [memory["id"]]),
    ):
        answer = await client.post("/query", json={**question, **more})
        assert [one["memory"]["id"] for one in answer.json()["memories"]] == expected, more

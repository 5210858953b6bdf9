"""Secrets at every door: what is stated in any field waits for a reviewer, what no reviewer would see is refused."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.api.conftest import written

TOKEN = "ghp_" + "Zx9Kq2Lm" * 5
ENTITIES = [f"ent_{digit * 32}" for digit in "01"]


@pytest.mark.parametrize(
    ("type_", "fields"),
    [
        ("preference", {"key": "laptop.passcode", "value": "heron77lake"}),
        ("preference", {"key": "router.pin", "value": "58213"}),
        ("event", {"event_description": "the user set the bank password to Heron_77"}),
        ("fact", {"subject": "user", "predicate": "has-password", "object": "heron77lake"}),
        ("episodic", {"content": "Bonjour, mon mot de passe est maintenant Heron%77", "session_id": "s"}),
        ("fact", {"subject": "user", "predicate": "works-at", "object": "Heron Labs", "topic": TOKEN}),
        ("fact", {"subject": "user", "predicate": "works-at", "object": "Heron Labs", "metadata": {"note": TOKEN}}),
        (
            "fact",
            {
                "subject": "user",
                "predicate": "works-at",
                "object": "Heron Labs",
                "metadata": {"login": {"dbPassword": "heron77lake"}},
            },
        ),
        ("fact", {"subject": "user", "predicate": "works-at", "object": "Heron Labs", "context": f"use {TOKEN}"}),
        (
            "fact",
            {
                "subject": "user",
                "predicate": "works-at",
                "object": "Heron Labs",
                "evidence": [{"quote": "my PIN is 58213"}],
            },
        ),
        ("fact", {"subject": TOKEN, "predicate": "works-at", "object": "Heron Labs"}),
    ],
)
async def test_a_secret_in_any_field_waits_for_a_reviewer(
    client: httpx.AsyncClient, type_: str, fields: dict[str, Any]
) -> None:
    answer = await client.post(f"/memories/typed/{type_}", json={"user_id": "sol", **fields})

    assert answer.status_code == 201, answer.text
    assert answer.json()["decision"] == "review"
    assert answer.json()["memory"]["status"] == "pending"


@pytest.mark.parametrize(
    ("type_", "fields"),
    [
        ("preference", {"key": "password.manager", "value": "KeePassXC"}),
        ("preference", {"key": "editor.token_colour", "value": "blue7"}),
        ("fact", {"subject": "user", "predicate": "forgot", "object": "password"}),
        ("event", {"event_description": "the user changed the password policy to 16 characters"}),
        (
            "fact",
            {
                "subject": "user",
                "predicate": "works-at",
                "object": "Heron Labs",
                "metadata": {
                    "tokens": 8192,
                    "key": "invoice-2231",
                    "request_id": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
                },
            },
        ),
    ],
)
async def test_what_only_speaks_of_secrets_is_kept(
    client: httpx.AsyncClient, type_: str, fields: dict[str, Any]
) -> None:
    answer = await client.post(f"/memories/typed/{type_}", json={"user_id": "sol", **fields})

    assert answer.json()["decision"] == "added", answer.text


@pytest.mark.parametrize("role", ["user", "assistant", "tool"])
async def test_a_secret_in_a_turn_of_anyone_or_beside_it_is_not_recalled(client: httpx.AsyncClient, role: str) -> None:
    turns = [
        {"role": role, "content": "I moved to Oslo. I changed the wifi password to heron77lake."},
        {"role": role, "content": "I also work at Heron Labs.", "metadata": {"api_key": TOKEN}},
    ]
    answer = await client.post("/turns?mode=sync", json={"user_id": f"sol-{role}", "turns": turns})
    assert answer.status_code < 300, answer.text

    for question in ("What is the wifi password?", "Where does the user work?", "heron77lake"):
        told = await client.post("/query", json={"user_id": f"sol-{role}", "query": question})
        recalled = json.dumps([told.json()["memories"], told.json()["context"]])
        assert "heron77lake" not in recalled
        assert TOKEN not in recalled


async def test_a_note_a_patch_and_a_reason_with_a_secret_are_refused_with_the_mend(client: httpx.AsyncClient) -> None:
    memory = (await written(client, object="Heron Labs"))["id"]

    for method, path, body, field in (
        ("POST", f"/memories/{memory}/feedback", {"feedback": "wrong", "note": f"use {TOKEN}"}, "note"),
        ("PATCH", f"/memories/{memory}", {"metadata": {"password": "heron77lake"}}, "metadata"),
        ("PATCH", f"/memories/{memory}", {"topic": TOKEN}, "topic"),
        (
            "POST",
            "/entities/merge",
            {"into": "ent_" + "0" * 32, "from": ["ent_" + "1" * 32], "reason": TOKEN},
            "reason",
        ),
    ):
        answer = await client.request(method, path, json=body)
        assert answer.status_code == 422, answer.text
        assert answer.json()["errors"][0]["field"] == field
        assert "leave it out" in answer.text
        assert TOKEN not in answer.text

"""`typed-memory review` against a service in a process of its own."""

from __future__ import annotations

import json

import httpx
import pytest

from tests.commands.program import Served
from tests.support.waiting import PATIENCE


@pytest.fixture
def served(fresh_database_url: str) -> object:
    with Served(TM_DATABASE_URL=fresh_database_url) as service:
        yield service


def test_what_waits_is_listed_shown_and_decided(served: Served) -> None:
    assert "Nothing waits." in served.command("review", "list").stdout
    headers = {"Authorization": f"Bearer {served.key}"}
    with httpx.Client(base_url=served.url, headers=headers, trust_env=False, timeout=PATIENCE) as client:
        for body in ({"object": "Volkswagen"}, {"object": "Rivian", "source_confidence": 0.2}):
            answer = client.post("/memories/typed/fact", json={"predicate": "works-at", "user_id": "u1", **body})
            assert answer.status_code == 201, answer.text
        weak = answer.json()["memory"]["id"]
    review = weak.replace("mem_", "rev_")

    listed = served.command("review", "list")
    assert review in listed.stdout
    assert "contradiction" in listed.stdout
    told = json.loads(served.command("review", "list", "--json").stdout)
    assert [one["id"] for one in told["items"]] == [review]

    shown = served.command("review", "show", review).stdout
    assert "contradicts: mem_" in shown
    assert "suggested: keep_both" in shown

    stale = served.command("review", "decide", review, "accept", "--version", "old")
    assert (stale.returncode, "has changed" in stale.stderr) == (1, True), stale.stderr
    instead = json.dumps({"type": "fact", "payload": {"predicate": "works-at", "object": "BMW"}})
    done = served.command("review", "decide", review, "supersede_with", "--with", instead, "--reason", "asked them")
    assert done.returncode == 0, done.stderr
    assert f"{weak}: superseded" in done.stdout

    again = served.command("review", "decide", review, "accept")
    assert again.returncode == 1
    assert "supersede_with by" in again.stderr
    assert "supersede_with by" in served.command("review", "show", review).stdout

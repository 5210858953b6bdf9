"""`typed-memory backfill` against a service in a process of its own."""

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


def test_previewed_committed_undone(served: Served) -> None:
    headers = {"Authorization": f"Bearer {served.key}"}
    with httpx.Client(base_url=served.url, headers=headers, trust_env=False, timeout=PATIENCE) as client:
        said = {"predicate": "takes", "object": "metformin 500 mg", "stateful": False, "user_id": "u1"}
        memory = client.post("/memories/typed/fact", json=said).json()["memory"]["id"]
        made = served.command("backfill", "preview", "medication", "--json")
        assert made.returncode == 0, made.stderr
        one = json.loads(made.stdout)["id"]
        shown = served.command("backfill", "show", one).stdout
        assert f'{memory} planned: "user takes metformin 500 mg"' in shown
        assert "type: fact -> medication" in shown
        assert "medication_name metformin" in shown
        [listed] = client.get(f"/admin/backfills/{one}/memories").json()["memories"]
        assert listed["content"] == "user takes metformin 500 mg"
        for arguments in (("fact",), ("fact", "--classifier", "model")):
            unruled = served.command("backfill", "preview", *arguments)
            assert unruled.returncode == 1
            assert "TM_LLM_PROVIDER" in unruled.stderr
            assert "use the" not in unruled.stderr
        done = served.command("backfill", "commit", one)
        assert (done.returncode, "committed: 1" in done.stdout) == (0, True), done.stderr
        assert client.get(f"/memories/{memory}").json()["type"] == "medication"
        assert "undone: 1" in served.command("backfill", "undo", one).stdout
        assert client.get(f"/memories/{memory}").json()["type"] == "fact"
    refused = served.command("backfill", "commit", one)
    assert (refused.returncode, "undone" in refused.stderr) == (1, True)

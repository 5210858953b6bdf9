"""A feature can be removed: its folder is deleted, and the rest of the service starts and answers."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]

NAMED_BY_NONE = (
    "aegis",
    "agent_hooks",
    "backfill",
    "documents",
    "mem0",
    "portability",
    "query_log",
    "reembedding",
    "webhooks",
)
"""The features that no other feature imports."""

ASK = """
import asyncio, json
import httpx
from app.main import create_app
from app.settings import Settings

async def ask():
    app = create_app(Settings(worker="off"))
    async with app.router.lifespan_context(app):
        key = app.state.runtime.first_key
        transport = httpx.ASGITransport(app=app)
        headers = {"Authorization": f"Bearer {key}"}
        async with httpx.AsyncClient(transport=transport, base_url="http://service", headers=headers) as client:
            said = {"predicate": "plays", "object": "the cello", "user_id": "ana"}
            stored = await client.post("/memories/typed/fact", json=said)
            found = await client.post("/query", json={"query": "What does the user play?", "user_id": "ana"})
            statuses = {path: (await client.get(path)).status_code for path in PATHS}
    print(json.dumps([stored.status_code, found.json()["context"]["text"], statuses]))

asyncio.run(ask())
"""


@pytest.mark.parametrize(
    ("removed", "gone"),
    [
        (("query_log",), ("/admin/query-log",)),
        (NAMED_BY_NONE, ("/admin/query-log", "/admin/webhooks", "/admin/backfills", "/export", "/documents")),
    ],
    ids=["query_log", "all that none names"],
)
def test_the_rest_starts_and_answers(
    removed: tuple[str, ...], gone: tuple[str, ...], fresh_database_url: str, tmp_path: Path
) -> None:
    shutil.copytree(ROOT / "app", tmp_path / "app", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "migrations").symlink_to(ROOT / "migrations")
    for name in removed:
        shutil.rmtree(tmp_path / "app" / "features" / name)
    done = subprocess.run(  # noqa: S603 - our own interpreter and words
        [sys.executable, "-c", f"PATHS = {gone!r}" + ASK],
        cwd=tmp_path,
        env={"TM_DATABASE_URL": fresh_database_url, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    stored, block, statuses = json.loads(done.stdout.splitlines()[-1])
    assert stored == 201
    assert "cello" in block
    assert set(statuses.values()) == {404}


def test_a_command_is_offered_where_its_feature_is(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "app", tmp_path / "app", ignore=shutil.ignore_patterns("__pycache__", "console"))
    shutil.rmtree(tmp_path / "app" / "features" / "review")
    done = subprocess.run(
        [sys.executable, "-m", "app.cli", "--help"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    offered = {line.split()[0] for line in done.stdout.splitlines() if line.startswith("  ") and line.split()}
    assert "backfill" in offered
    assert "review" not in offered

"""Equal turns that reach a service of two processes at once count as one."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from tests.commands.program import Served
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.long

AT_ONCE = 16


async def sent_at_once(service: Served, bodies: list[dict[str, Any]]) -> list[dict[str, Any]]:
    headers = {"Authorization": f"Bearer {service.key}"}

    async def send(body: dict[str, Any]) -> dict[str, Any]:
        # A connection of its own each, which the kernel gives to either process.
        async with httpx.AsyncClient(base_url=service.url, headers=headers, timeout=PATIENCE) as client:
            answer = await client.post("/turns", params={"mode": "sync"}, json=body)
            assert answer.status_code == 200, answer.text
            [turn] = answer.json()["turns"]
            found: dict[str, Any] = turn
            return found

    return await asyncio.gather(*map(send, bodies))


def confidences(service: Served, user: str) -> dict[str, float]:
    """Return what is believed of a user, each once, and how firmly."""
    answer = httpx.get(
        f"{service.url}/memories",
        params={"user_id": user, "limit": 100},
        headers={"Authorization": f"Bearer {service.key}"},
        timeout=PATIENCE,
    )
    believed = [one for one in answer.json()["memories"] if one["type"] != "episodic"]
    found = [(one["content"], one["confidence"]) for one in believed]
    assert len(found) == len(dict(found)), found
    return dict(found)


@pytest.mark.parametrize("session", ["s1", None])
def test_equal_turns_sent_at_once_count_as_one(fresh_database_url: str, session: str | None) -> None:
    said = {"content": "I work at Siemens as an engineer in Graz.", "session_id": session}
    with Served(TM_DATABASE_URL=fresh_database_url, TM_WEB_WORKERS="2", TM_DATABASE_POOL_SIZE="12") as service:
        asyncio.run(sent_at_once(service, [{**said, "user_id": "once"}]))
        turns = asyncio.run(sent_at_once(service, [{**said, "user_id": "often"}] * AT_ONCE))
        assert {one["status"] for one in turns} <= {"processed", "skipped"}
        assert confidences(service, "often") == confidences(service, "once")

"""A model too slow to say at a write whether two events are one is asked again by a job, over HTTP."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.api.conftest import connected, running, settings_for, written
from tests.provider_server.fixtures import StandIn, provider, provider_process
from tests.support.waiting import eventually
from tests.write.test_judge import AGAIN, FIRST

__all__ = ["provider", "provider_process"]


async def listed(client: httpx.AsyncClient) -> list[dict[str, Any]]:
    answer = await client.get("/memories", params={"user_id": "u1", "type": "event", "status": "active"})
    found: list[dict[str, Any]] = answer.json()["memories"]
    return found


@pytest.mark.long
async def test_events_that_a_slow_model_holds_to_be_one_are_merged_by_a_job(
    fresh_database_url: str, provider: StandIn
) -> None:
    settings = settings_for(fresh_database_url, **provider.settings(), judge_deadline=2.0)
    async with running(settings) as app, connected(app) as client:
        await provider.behave("slow", words="pair 1, first", delay=600, times=1)
        await provider.behave("answer", words="pair 1, first", body={"same": [True]})
        first = await written(client, "event", event_description=FIRST, user_id="u1")
        again = await written(client, "event", event_description=AGAIN, user_id="u1")
        assert first["id"] != again["id"], "the write did not wait"

        async def settled() -> bool:
            found = (await client.get("/jobs", params={"kind": "sameness", "user_id": "u1"})).json()["jobs"]
            return [(one["status"], one["result"]) for one in found] == [("succeeded", {"asked": 1, "merged": 1})]

        await eventually(settled)
        assert [one["id"] for one in await listed(client)] == [first["id"]]
        history = (await client.get(f"/memories/{again['id']}/history")).text
        assert "it says the same as another memory" in history

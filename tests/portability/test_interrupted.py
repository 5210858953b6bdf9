"""An import that ended early is repeated, and leaves what an uninterrupted one leaves."""

from __future__ import annotations

import json

import httpx
import pytest

from tests.erasure.test_users import written
from tests.portability.files import comparable, exported, imported

WAIT = "memories that were replaced by others, which the missing lines may hold, are not stored"


@pytest.fixture
async def lines(client: httpx.AsyncClient) -> list[str]:
    """An export whose first memories were replaced by later lines, because they were told late."""
    for month in (9, 6, 3, 5):
        await written(
            client,
            "preference",
            preference_key="desk.lamp",
            preference_value=f"shade {month}",
            occurred_at=f"2026-0{month}-01T00:00:00Z",
            user_id="mira",
        )
    return await exported(client)


async def test_a_file_sent_again_whole_has_every_chain(lines: list[str], other_client: httpx.AsyncClient) -> None:
    kinds = [json.loads(line)["record"] for line in lines]
    for left in range(1, kinds.count("memory") + 1):
        cut = await imported(other_client, lines[: kinds.index("memory") + left])
        assert not cut["complete"]
        assert cut["failed"] == 0
        stored = (await other_client.get("/memories", params={"all": True, "limit": 50})).json()["memories"]
        assert len(stored) + cut["notices"].get(WAIT, 0) == left
    whole = await imported(other_client, lines)
    assert whole["complete"]
    assert WAIT not in whole["notices"]
    assert comparable(await exported(other_client)) == comparable(lines)

"""The review queue over HTTP: what waits, what a reviewer sees of it, and what each decision comes to."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from app.api import models, review_shapes
from app.memory.registry import discover
from app.runtime import Runtime
from tests.api.conftest import Tenant, fact
from tests.api.reviewing import WEAK, Desk, rev

SHAPES = review_shapes.build(models.build(discover()))


@pytest.fixture
def desk(client: httpx.AsyncClient, runtime: Runtime) -> Desk:
    return Desk(client, runtime)


async def test_an_accepted_memory_is_believed_under_its_own_id(desk: Desk) -> None:
    pending = await desk.pending(predicate="works-at", object="Volkswagen")
    assert await desk.recalled("where does the user work?") == []
    done = await desk.decided(pending["id"], "accept", reason="seen the contract")
    SHAPES.done.model_validate(done)
    assert (done["outcome"], done["memory"]["id"]) == ("added", pending["id"])
    memory = await desk.memory(pending["id"])
    assert (memory["status"], memory["needs_review"], memory["slot"] is None) == ("active", False, False)
    assert memory["recorded_at"] > pending["recorded_at"]
    assert memory["stated_at"] == pending["stated_at"]
    assert await desk.recalled("where does the user work?") == [pending["id"]]
    assert await desk.items() == []
    entities = (await desk.client.get("/entities", params={"name": "Volkswagen"})).json()["entities"]
    assert len(entities) == 1

"""Maintenance of search indexes goes on whatever happens at one scope."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest
from structlog.testing import capture_logs

from app.db import search_index
from tests.support.stores import Store


async def test_a_scope_that_fails_stays_marked_and_keeps_no_other_from_maintenance(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.write("fact", subject="Ana", predicate="works-at", object="the opera")
    broken, asked = uuid4(), list[UUID]()
    update = search_index.update_average_length

    async def failing_once(session: Any, tenant: UUID, scope: UUID) -> float | None:
        asked.append(scope)
        if scope == broken and asked.count(broken) == 1:
            raise RuntimeError("can't start new thread")
        return await update(session, tenant, scope)

    monkeypatch.setattr(search_index, "update_average_length", failing_once)
    others = [uuid4() for _ in range(3)]
    for scope in (broken, *others):
        store.upkeep.mark(store.tenant, scope)
    with capture_logs() as logged:
        await store.upkeep.settle()
        assert {*asked} >= {broken, *others}
        await store.upkeep.settle()
        await store.upkeep.settle()
    assert asked.count(broken) == 2
    assert [one["scope"] for one in logged if one["log_level"] == "error"] == [str(broken)]

"""Erasure on a real database: what is written after a receipt stays, whoever still runs the erasure."""

from __future__ import annotations

from collections.abc import AsyncIterator
from uuid import UUID

from app import ids
from app.db import turns
from app.memory.extraction import Role, Turn
from tests.support.stores import USER, Store, now


async def said(store: Store, content: str) -> set[UUID]:
    """Store a memory and a turn of the user; return their ids."""
    outcome = await store.write("event", event_description=content)
    assert outcome.memory is not None
    turn = Turn(id=ids.new(), scope=USER, role=Role.USER, content=content, occurred_at=now())
    async with store.database.write(store.tenant) as session:
        await turns.add(session, store.tenant, [turn], [{}])
    return {outcome.memory.id, turn.id}


async def kept(store: Store) -> set[UUID]:
    rows = await store.sql(
        "SELECT id FROM memories WHERE tenant_id = $1 UNION SELECT id FROM turns WHERE tenant_id = $1", store.tenant
    )
    return {row["id"] for row in rows}


async def finish(steps: AsyncIterator[int]) -> list[int]:
    return [done async for done in steps]


async def test_a_job_that_runs_again_after_the_receipt_erases_nothing(store: Store) -> None:
    await said(store, "Ana sold her bicycle")
    begun = await store.erasing.user(store.actor, "u1", wait=False)
    await finish(store.erasing.run(store.actor, begun.erasure.id))
    receipt = await store.erasing.receipt(store.actor, begun.erasure.id)
    later = await said(store, "Ana came back from Oslo")
    assert await finish(store.erasing.run(store.actor, begun.erasure.id)) == []
    assert await kept(store) == later
    assert await store.erasing.receipt(store.actor, begun.erasure.id) == receipt


async def test_an_erasure_that_another_request_finished_erases_nothing_more(store: Store) -> None:
    await said(store, "Ana sold her bicycle")
    begun = await store.erasing.user(store.actor, "u1", wait=False)
    overtaken = store.erasing.run(store.actor, begun.erasure.id)
    assert await anext(overtaken) == 1
    joined = await store.erasing.user(store.actor, "u1", wait=True)
    assert joined.erasure.id == begun.erasure.id
    assert joined.erasure.finished
    later = await said(store, "Ana came back from Oslo")
    assert await finish(overtaken) == []
    assert await kept(store) == later
    assert (await store.erasing.receipt(store.actor, begun.erasure.id)).erasure == joined.erasure


async def test_an_erasure_that_nobody_finished_erases_what_was_written_meanwhile(store: Store) -> None:
    await said(store, "Ana sold her bicycle")
    begun = await store.erasing.user(store.actor, "u1", wait=False)
    died = store.erasing.run(store.actor, begun.erasure.id)
    await anext(died)
    await said(store, "Ana bought a tandem")
    await finish(store.erasing.run(store.actor, begun.erasure.id))
    assert await kept(store) == set()
    done = (await store.erasing.receipt(store.actor, begun.erasure.id)).erasure
    assert (done.counts["memories"], done.counts["turns"]) == (2, 2)

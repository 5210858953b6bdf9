"""Erasure empties what events say, and the chain over them still holds."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID, uuid4

from app.memory.audit import ChainFault
from tests.audit.books import Book


async def rows(book: Book) -> list[dict[str, Any]]:
    found = await book.store.sql("SELECT * FROM audit_events WHERE tenant_id = $1 ORDER BY position", book.tenant)
    return [dict(row) for row in found]


async def test_only_what_is_about_the_memory_or_the_scope_is_emptied(book: Book) -> None:
    memory, scope = uuid4(), uuid4()
    [about] = await book.write(memory=memory)
    [within] = await book.write(scope=scope)
    [other] = await book.write()
    assert await book.redact([memory], [scope]) == 2
    before, inside, untouched, erasure = await rows(book)
    assert (before["id"], inside["id"], untouched["id"]) == (about, within, other)
    for one in (before, inside):
        assert (one["detail"], one["salt"], one["redacted_by"]) == ("{}", None, erasure["id"])
        assert one["action"] == "memory.changed"
    assert json.loads(untouched["detail"])["why"]
    assert erasure["action"] == "audit.redacted"
    assert json.loads(erasure["detail"]) == {"events": 2, "memories": 1, "scopes": 1}


async def test_the_chain_holds_over_events_emptied_before_and_after_they_were_sealed(book: Book) -> None:
    sealed, waiting = uuid4(), uuid4()
    await book.write(3, memory=sealed)
    assert await book.audit.seal(book.tenant) == 3
    await book.write(2, memory=waiting)
    assert await book.redact([sealed, waiting], []) == 5
    found = await book.verify()
    assert found.broken is None
    [(erasure, count)] = found.redacted.items()
    assert count == 5
    assert erasure == (await rows(book))[-1]["id"]


async def test_each_erasure_is_told_with_what_it_emptied(book: Book) -> None:
    first, second = uuid4(), uuid4()
    await book.write(3, memory=first)
    await book.write(2, memory=second)
    await book.redact([first], [])
    await book.redact([first, second], [])
    erasures = [one["id"] for one in await rows(book) if one["action"] == "audit.redacted"]
    assert dict((await book.verify()).redacted) == {erasures[0]: 3, erasures[1]: 2}


async def test_emptying_nothing_leaves_no_event(book: Book) -> None:
    await book.write(1)
    assert await book.redact([uuid4()], [uuid4()]) == 0
    assert len(await rows(book)) == 1


async def test_who_did_what_when_cannot_be_changed_under_cover_of_an_erasure(book: Book) -> None:
    memory = uuid4()
    [event] = await book.write(memory=memory)
    await book.audit.seal(book.tenant)
    await book.redact([memory], [])
    await book.tamper("UPDATE audit_events SET actor = 'x' WHERE tenant_id = $1 AND id = $2", book.tenant, event)
    broken = (await book.verify()).broken
    assert broken is not None
    assert (broken.fault, broken.event) == (ChainFault.CHANGED, event)


async def test_what_is_left_does_not_betray_what_was_there(book: Book) -> None:
    """The same detail twice leaves different digests: its salt, which is gone, was part of it."""
    memory = uuid4()
    for _ in range(2):
        await book.write(memory=memory)
    await book.redact([memory], [])
    left: set[bytes] = {one["detail_digest"] for one in await rows(book) if one["redacted_by"]}
    assert len(left) == 2


async def test_another_tenants_events_are_out_of_reach(book: Book, make_store: Any) -> None:
    other = Book(await make_store(), book.audit)
    memory: UUID = uuid4()
    await other.write(memory=memory)
    assert await book.redact([memory], []) == 0
    [untouched] = await rows(other)
    assert untouched["redacted_by"] is None

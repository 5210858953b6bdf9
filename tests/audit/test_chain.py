"""The hash chain: the database and this program agree on it, and every way of changing the log is found."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from uuid import uuid4

import asyncpg
import pytest

from app.db.session import statement as session_statement
from app.memory.audit import ChainFault
from app.services.audit import Head
from tests.audit.books import Book


async def test_what_was_sealed_holds(book: Book) -> None:
    await book.seals(3, 1, 5)
    found = await book.verify()
    assert found.broken is None
    assert (found.seals, found.events, found.unsealed, found.events_in_all) == (3, 9, 0, 9)
    assert found.last == await book.audit.head(book.tenant)


async def test_an_empty_log_holds(book: Book) -> None:
    found = await book.verify()
    assert (found.broken, found.last, found.seals, found.events_in_all) == (None, None, 0, 0)
    assert await book.audit.head(book.tenant) is None


async def test_verification_seals_what_waits(book: Book) -> None:
    await book.write(2)
    found = await book.verify()
    assert (found.seals, found.events, found.unsealed) == (1, 2, 0)


async def test_a_seal_covers_a_thousand_events_at_most(book: Book) -> None:
    await book.write(2_100)
    assert await book.audit.seal(book.tenant) == 2_100
    rows = await book.store.sql(
        "SELECT cardinality(events) FROM audit_seals WHERE tenant_id = $1 ORDER BY seq", book.tenant
    )
    assert [row[0] for row in rows] == [1_000, 1_000, 100]
    assert (await book.verify()).broken is None


async def test_nothing_to_seal_makes_no_seal(book: Book) -> None:
    await book.seals(1)
    assert await book.audit.seal(book.tenant) == 0
    assert (await book.verify()).seals == 1


async def test_a_long_chain_is_verified_in_pieces(book: Book) -> None:
    await book.seals(1, 2, 3, 4, 5)
    first = await book.verify(most=2)
    assert (first.seals, first.events, first.next, first.events_in_all) == (2, 3, 2, None)
    assert first.next is not None
    rest = await book.verify(after=first.next, most=100)
    assert (rest.first, rest.seals, rest.events, rest.next, rest.events_in_all) == (3, 3, 12, None, 15)


CHANGES = {
    "actor": "UPDATE audit_events SET actor = 'somebody else' WHERE tenant_id = $1 AND id = $2",
    "action": "UPDATE audit_events SET action = 'memory.added' WHERE tenant_id = $1 AND id = $2",
    "time": "UPDATE audit_events SET occurred_at = '2020-02-03T04:05:06Z' WHERE tenant_id = $1 AND id = $2",
    "memory": "UPDATE audit_events SET memory_id = '00000000000040008000000000000007' WHERE tenant_id = $1 AND id = $2",
    "scope": "UPDATE audit_events SET scope_id = '00000000000040008000000000000007' WHERE tenant_id = $1 AND id = $2",
    "detail": "UPDATE audit_events SET detail = detail || '{\"n\": 7}' WHERE tenant_id = $1 AND id = $2",
    "salt": "UPDATE audit_events SET salt = '00000000000040008000000000000007' WHERE tenant_id = $1 AND id = $2",
    "emptied": """UPDATE audit_events SET detail = '{}', salt = NULL, redacted_by = '00000000000040008000000000000007',
        detail_digest = audit_detail_digest(salt, detail) WHERE tenant_id = $1 AND id = $2""",
}


@pytest.mark.parametrize("change", CHANGES)
async def test_a_changed_event_is_found(book: Book, change: str) -> None:
    _, second, _ = await book.seals(2, 3, 2)
    await book.tamper(CHANGES[change], book.tenant, second[1])
    broken = (await book.verify()).broken
    assert broken is not None
    assert (broken.fault, broken.seq, broken.event) == (ChainFault.CHANGED, 2, second[1])


async def test_a_removed_event_is_found(book: Book) -> None:
    _, second = await book.seals(2, 3)
    await book.tamper("DELETE FROM audit_events WHERE tenant_id = $1 AND id = $2", book.tenant, second[2])
    broken = (await book.verify()).broken
    assert broken is not None
    assert (broken.fault, broken.seq, broken.event) == (ChainFault.MISSING, 2, second[2])


async def test_an_event_removed_before_it_was_sealed_is_found(book: Book) -> None:
    await book.seals(2)
    lost, _ = await book.write(2)
    await book.tamper("DELETE FROM audit_events WHERE tenant_id = $1 AND id = $2", book.tenant, lost)
    for _ in range(2):
        broken = (await book.verify()).broken
        assert broken is not None
        assert (broken.fault, broken.seq, broken.event) == (ChainFault.MISSING, None, lost)


async def test_an_inserted_event_is_found(book: Book) -> None:
    await book.seals(2, 2)
    forged = uuid4()
    await book.tamper(
        "INSERT INTO audit_events (tenant_id, id, occurred_at, actor, action) VALUES ($1, $2, now(), 'x', 'memory.x')",
        book.tenant,
        forged,
    )
    broken = (await book.verify()).broken
    assert broken is not None
    assert (broken.fault, broken.seq, broken.event) == (ChainFault.INSERTED, None, forged)


async def test_an_event_taken_off_the_queue_is_found(book: Book) -> None:
    await book.seals(2)
    [event] = await book.write()
    await book.tamper("DELETE FROM audit_unsealed WHERE tenant_id = $1", book.tenant)
    broken = (await book.verify()).broken
    assert broken is not None
    assert (broken.fault, broken.event) == (ChainFault.INSERTED, event)


async def test_two_events_that_changed_places_are_found(book: Book) -> None:
    [[one, _, other]] = await book.seals(3)
    await book.tamper(
        """UPDATE audit_seals SET events = (
            SELECT array_agg(CASE e WHEN $2 THEN $3 WHEN $3 THEN $2 ELSE e END ORDER BY n)
            FROM unnest(events) WITH ORDINALITY AS u(e, n)) WHERE tenant_id = $1""",
        book.tenant,
        one,
        other,
    )
    broken = (await book.verify()).broken
    assert broken is not None
    assert (broken.fault, broken.seq, broken.event) == (ChainFault.REORDERED, 1, other)


SEALS_CHANGED = {
    "digest": "UPDATE audit_seals SET digest = sha256('x') WHERE tenant_id = $1 AND seq = 2",
    "previous": "UPDATE audit_seals SET previous = sha256('x') WHERE tenant_id = $1 AND seq = 2",
    "time": "UPDATE audit_seals SET sealed_at = '2020-02-03T04:05:06Z' WHERE tenant_id = $1 AND seq = 2",
    "length": "UPDATE audit_seals SET digests = digests || '\\x00' WHERE tenant_id = $1 AND seq = 2",
    "an event less": "UPDATE audit_seals SET events = trim_array(events, 1), digests = substring(digests for 32) "
    "WHERE tenant_id = $1 AND seq = 2",
}


@pytest.mark.parametrize("change", SEALS_CHANGED)
async def test_a_changed_seal_is_found(book: Book, change: str) -> None:
    await book.seals(1, 2, 3)
    await book.tamper(SEALS_CHANGED[change], book.tenant)
    broken = (await book.verify()).broken
    assert broken is not None
    assert (broken.fault, broken.seq, broken.event) == (ChainFault.CHANGED, 2, None)


@pytest.mark.one_server
async def test_an_event_and_its_digest_changed_together_are_found(book: Book) -> None:
    _, [event], _ = await book.seals(1, 1, 1)
    await book.tamper("UPDATE audit_events SET actor = 'x' WHERE tenant_id = $1 AND id = $2", book.tenant, event)
    found = await book.verify()
    await book.tamper(
        """UPDATE audit_seals SET digests = sha256(convert_to(jsonb_build_array(e.tenant_id, e.id,
            (extract(epoch FROM e.occurred_at) * 1000000)::bigint, e.actor, e.action, e.memory_id, e.scope_id,
            encode(audit_detail_digest(e.salt, e.detail), 'hex'))::text, 'UTF8'))
        FROM audit_events e WHERE e.tenant_id = $1 AND audit_seals.tenant_id = $1 AND e.id = $2 AND seq = 2""",
        book.tenant,
        event,
    )
    broken = (await book.verify()).broken
    assert found.broken is not None
    assert found.broken.event == event
    assert broken is not None
    assert (broken.fault, broken.seq, broken.event) == (ChainFault.CHANGED, 2, None)


async def test_a_removed_seal_is_found(book: Book) -> None:
    await book.seals(1, 1, 1)
    await book.tamper("DELETE FROM audit_seals WHERE tenant_id = $1 AND seq = 2", book.tenant)
    broken = (await book.verify()).broken
    assert broken is not None
    assert (broken.fault, broken.seq) == (ChainFault.MISSING, 2)


async def cut(book: Book) -> None:
    """Remove the newest seal and its events, so that what is left is whole in itself."""
    await book.tamper(
        """WITH last AS (DELETE FROM audit_seals WHERE tenant_id = $1 AND seq = 3 RETURNING events)
        DELETE FROM audit_events WHERE tenant_id = $1 AND id IN (SELECT unnest(events) FROM last)""",
        book.tenant,
    )


async def made_anew(book: Book) -> None:
    """Do the same, and let the service seal something else in its place."""
    await cut(book)
    await book.write()


@pytest.mark.parametrize(("attack", "fault"), [(cut, ChainFault.MISSING), (made_anew, ChainFault.CHANGED)])
async def test_a_head_kept_elsewhere_shows_what_the_store_alone_cannot(
    book: Book, attack: Callable[[Book], Awaitable[None]], fault: ChainFault
) -> None:
    await book.seals(1, 1, 1)
    anchor = await book.audit.head(book.tenant)
    assert anchor is not None
    assert (await book.verify(anchor=anchor)).broken is None
    await attack(book)
    assert (await book.verify()).broken is None
    broken = (await book.verify(anchor=anchor)).broken
    assert broken is not None
    assert (broken.fault, broken.seq) == (fault, 3)


async def test_a_log_that_grew_since_still_has_the_head_kept_elsewhere(book: Book) -> None:
    await book.seals(1, 1)
    anchor = await book.audit.head(book.tenant)
    await book.seals(2)
    assert (await book.verify(anchor=anchor)).broken is None
    assert (await book.verify(anchor=Head(seq=2, digest=bytes(32)))).broken is not None


RUNTIME_MAY_NOT = [
    "UPDATE audit_events SET actor = 'x'",
    "DELETE FROM audit_events",
    "TRUNCATE audit_events",
    (
        "INSERT INTO audit_seals (tenant_id, seq, sealed_at, events, digests, previous, digest) "
        "VALUES (gen_random_uuid(), 1, now(), '{}', '', '', '')"
    ),
    "UPDATE audit_seals SET digest = ''",
    "DELETE FROM audit_seals",
    "DELETE FROM audit_unsealed",
    "UPDATE audit_unsealed SET position = 0",
    "INSERT INTO audit_unsealed VALUES (gen_random_uuid(), 1, gen_random_uuid())",
    (
        "INSERT INTO audit_events (tenant_id, id, occurred_at, actor, action, salt) "
        "VALUES (gen_random_uuid(), gen_random_uuid(), now(), '', '', NULL)"
    ),
    (
        "INSERT INTO audit_events (tenant_id, id, occurred_at, actor, action, redacted_by, detail_digest) "
        "VALUES (gen_random_uuid(), gen_random_uuid(), now(), '', '', gen_random_uuid(), '')"
    ),
    "ALTER TABLE audit_events DISABLE TRIGGER ALL",
    "SET LOCAL session_replication_role = replica",
    "SELECT audit_detail_digest(NULL, '{}')",
]


@pytest.mark.parametrize("statement", RUNTIME_MAY_NOT)
async def test_the_runtime_role_may_not(book: Book, statement: str) -> None:
    with pytest.raises(Exception, match=r"permission denied|must be owner"):
        async with book.store.database.write(book.tenant) as session:
            await session.change(session_statement(statement), {})


@pytest.mark.parametrize(
    "statement",
    ["SELECT seal_audit(:tenant)", "SELECT redact_audit(:tenant, '{}', '{}')"],
)
async def test_the_runtime_role_seals_and_empties_its_own_tenant_alone(book: Book, statement: str) -> None:
    for tenant in (uuid4(), None):
        with pytest.raises(Exception, match="not the one of this transaction"):
            async with book.store.database.write(tenant) as session:
                await session.fetch(session_statement(statement), {"tenant": book.tenant})


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_events SET actor = 'x' WHERE tenant_id = $1",
        "UPDATE audit_events SET detail = '{}', salt = NULL, redacted_by = id, detail_digest = '' WHERE tenant_id = $1",
        "DELETE FROM audit_events WHERE tenant_id = $1",
        "UPDATE audit_seals SET digest = '' WHERE tenant_id = $1",
        "DELETE FROM audit_seals WHERE tenant_id = $1",
    ],
)
async def test_even_the_owner_has_to_turn_the_triggers_off(book: Book, statement: str) -> None:
    await book.seals(1)
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match="append-only"):
        await book.store.sql(statement, book.tenant)
    assert (await book.verify()).broken is None

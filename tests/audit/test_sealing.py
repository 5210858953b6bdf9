"""Sealing beside writers, beside other sealers, across transactions that are late, and after kills."""

from __future__ import annotations

import asyncio
import random
import sys
from dataclasses import replace
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from app.db.audit import append
from app.db.session import Database
from app.jobs.schedules import seal
from app.services.audit import Audit
from tests.audit.books import Book
from tests.jobs.yard import light_runtime
from tests.support.databases import Run
from tests.support.stores import Store


async def sealed(book: Book) -> list[UUID]:
    rows = await book.store.sql("SELECT unnest(events) FROM audit_seals WHERE tenant_id = $1 ORDER BY seq", book.tenant)
    return [row[0] for row in rows]


async def test_a_transaction_that_was_open_across_seals_is_in_the_next_one(book: Book) -> None:
    [[early]] = await book.seals(1)
    event = book.event()
    late = UUID(str(event["id"]))
    async with book.store.database.write(book.tenant) as session:
        await append(session, [event])
        [[between], [after]] = await book.seals(1, 1)
        assert (await book.verify()).broken is None
        assert await sealed(book) == [early, between, after]
    assert await book.audit.seal(book.tenant) == 1
    assert await sealed(book) == [early, between, after, late]
    assert (await book.verify()).broken is None


async def test_what_was_rolled_back_is_in_no_seal(book: Book) -> None:
    await book.seals(1)

    async def fails() -> None:
        async with book.store.database.write(book.tenant) as session:
            await append(session, [book.event()])
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await fails()
    assert await book.audit.seal(book.tenant) == 0
    assert (await book.verify()).broken is None


async def test_writers_and_sealers_side_by_side_lose_and_double_nothing(book: Book) -> None:
    written: list[UUID] = []
    done = asyncio.Event()
    chance = random.Random(7)  # noqa: S311

    async def writer() -> None:
        for _ in range(15):
            written.extend(await book.write(chance.randint(1, 4)))

    async def sealer() -> int:
        count = 0
        while not done.is_set():
            count += await book.audit.seal(book.tenant)
        return count

    sealers = [asyncio.create_task(sealer()) for _ in range(3)]
    await asyncio.gather(*(writer() for _ in range(4)))
    done.set()
    counted = sum(await asyncio.gather(*sealers)) + await book.audit.seal(book.tenant)
    found = await sealed(book)
    assert counted == len(written)
    assert sorted(found) == sorted(written)
    report = await book.verify()
    assert (report.broken, report.events, report.unsealed) == (None, len(written), 0)


SEAL_FOREVER = """
import asyncio, sys
from uuid import UUID
from app.db.session import Database
from app.services.audit import Audit

async def main():
    audit = Audit(database=Database(sys.argv[1], pool_size=2))
    print("ready", flush=True)
    while True:
        await audit.seal(UUID(sys.argv[2]))

asyncio.run(main())
"""


@pytest.mark.long
async def test_a_sealer_killed_at_any_moment_leaves_a_whole_chain(book: Book) -> None:
    chance = random.Random(11)  # noqa: S311
    written: list[UUID] = []
    for _ in range(4):
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", SEAL_FOREVER, book.store.url, str(book.tenant), stdout=asyncio.subprocess.PIPE
        )
        assert process.stdout is not None
        await process.stdout.readline()
        for _ in range(chance.randint(2, 8)):
            written.extend(await book.write(chance.randint(1, 300)))
        process.kill()
        await process.wait()
        assert (await book.verify()).broken is None
    assert sorted(await sealed(book)) == sorted(written)


async def test_the_schedule_seals_every_tenant_that_has_something_to_seal(book: Book, make_store: Any) -> None:
    other = Book(await make_store(), book.audit)
    idle = Book(await make_store(), book.audit)
    await book.write(2)
    await other.write(3)
    runtime = light_runtime(book.store.url)
    try:
        await seal(runtime)
    finally:
        await runtime.database.close()
    for one, count in ((book, 1), (other, 1), (idle, 0)):
        assert len(await one.store.sql("SELECT seq FROM audit_seals WHERE tenant_id = $1", one.tenant)) == count
        assert not await one.store.sql("SELECT 1 FROM audit_unsealed WHERE tenant_id = $1", one.tenant)


@pytest.mark.one_server
async def test_the_chain_goes_on_in_a_copy_of_the_database(
    store: Store, run: Run, server_url: str, template: str
) -> None:
    """As a dump that is restored: the rows are there, the transaction ids are another cluster's."""
    book = Book(store, Audit(database=store.database))
    await book.seals(3, 2)
    await book.write(2)
    copy = run.create(server_url, template)
    source, target = await asyncpg.connect(store.url), await asyncpg.connect(copy)
    await target.execute("SET session_replication_role = replica")
    for table in ("tenants", "audit_events", "audit_seals", "audit_unsealed"):
        rows = await source.fetch(f"SELECT * FROM {table} WHERE $1 = {'id' if table == 'tenants' else 'tenant_id'}",  # noqa: S608
                                  store.tenant)  # fmt: skip
        if not rows:  # a service beside this test, in its minute, has sealed what waited
            continue
        await target.copy_records_to_table(table, records=[tuple(row) for row in rows], columns=list(rows[0].keys()))
    await target.execute("SELECT setval('audit_events_position_seq', (SELECT max(position) FROM audit_events))")
    await source.close()
    await target.close()
    database = Database(copy)
    try:
        restored = Book(replace(store, url=copy, database=database), Audit(database=database))
        await restored.write(4)
        found = await restored.verify()
        assert (found.broken, found.events, found.unsealed) == (None, 11, 0)
    finally:
        await database.close()

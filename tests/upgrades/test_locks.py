"""Migrating a store with content: nobody is locked out of the large tables, and none of them is written anew."""

from __future__ import annotations

import asyncio
from pathlib import Path

import asyncpg
import pytest

from app.db.migrate import head, upgrade
from tests.upgrades.releases import releases
from tests.upgrades.scratch import NEXT, after_the_newest

pytestmark = pytest.mark.long

MEMORIES = 20_000
LONGEST_WAIT_SECONDS = 2
"""What others bear: a migration's own wait, and what it does while it has the lock."""

FILL = """
INSERT INTO tenants (id, name) SELECT md5('tenant')::uuid, 'tenant';
INSERT INTO scopes (tenant_id, id, kind) SELECT md5('tenant')::uuid, md5('scope')::uuid, 'global';
INSERT INTO embedding_models (id, name, dimensions, active) VALUES (1, 'any', 3, true);
INSERT INTO memories (tenant_id, id, scope_id, type, category, status, content, identity, slot, source_strength,
    extractor_confidence, prior, confidence, importance, stated_at, valid_from, recorded_at, updated_at)
SELECT md5('tenant')::uuid, md5('memory' || n)::uuid, md5('scope')::uuid,
    (ARRAY['fact', 'event', 'preference'])[n % 3 + 1], 'semantic', 'active', 'says ' || n, decode(md5(n::text), 'hex'),
    'slot ' || n, .5, .5, .1, .5, .5, now(), now(), now(), now()
FROM generate_series(1, 20000) n;
INSERT INTO memory_index (tenant_id, memory_id, part, kind, scope_id, type, status, confidence, valid_from, recorded_at,
    stated_at, words, asks, model_id, embedding)
SELECT tenant_id, id, 0, 'both', scope_id, type, status, confidence, valid_from, recorded_at, stated_at, 2, false, 1,
    '[1,0,0]' FROM memories;
INSERT INTO turns (tenant_id, id, scope_id, role, content, occurred_at)
SELECT tenant_id, id, scope_id, 'user', content, now() FROM memories;
"""

PROBES = [
    "SELECT content FROM memories WHERE (tenant_id, id) = (md5('tenant')::uuid, md5('memory1')::uuid)",
    "UPDATE memories SET importance = .6 WHERE (tenant_id, id) = (md5('tenant')::uuid, md5('memory2')::uuid)",
    "SELECT words FROM memory_index WHERE (tenant_id, memory_id) = (md5('tenant')::uuid, md5('memory1')::uuid)",
    "UPDATE memory_index SET words = 3 WHERE (tenant_id, memory_id) = (md5('tenant')::uuid, md5('memory2')::uuid)",
    "UPDATE turns SET reason = 'any' WHERE (tenant_id, id) = (md5('tenant')::uuid, md5('memory1')::uuid)",
    "SELECT name FROM memory_types",
]

FILES = """
SELECT relname, relfilenode FROM pg_class
WHERE relname IN ('memories', 'memory_index', 'turns', 'memory_past', 'audit_events', 'entities', 'evidence')
"""


def previous_schema() -> str:
    """The schema of the previous release; before the first release, that of this code."""
    return releases()[-1].schema if releases() else head()


async def probing(url: str, statement: str, stop: asyncio.Event) -> int:
    """Run the statement again and again, giving up where a migration has to; return how often it ran."""
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(f"SET lock_timeout = '{LONGEST_WAIT_SECONDS}s'")
        count = 0
        while not stop.is_set():
            await connection.execute(statement)
            count += 1
        return count
    finally:
        await connection.close()


async def filled(url: str, schema: str) -> dict[str, int]:
    """Bring an empty database to a schema, fill it, and return the files its tables are in."""
    await asyncio.to_thread(upgrade, url, schema)
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(FILL)
        await connection.execute("ANALYZE")
        return {row["relname"]: row["relfilenode"] for row in await connection.fetch(FILES)}
    finally:
        await connection.close()


async def files_of(url: str) -> dict[str, int]:
    connection = await asyncpg.connect(url)
    try:
        assert await connection.fetchval("SELECT count(*) FROM memories") == MEMORIES
        return {row["relname"]: row["relfilenode"] for row in await connection.fetch(FILES)}
    finally:
        await connection.close()


async def migrated_under_probes(url: str) -> None:
    """Migrate to the newest schema while all probes run; raises what a probe was refused with."""
    stop = asyncio.Event()
    probes = [asyncio.create_task(probing(url, statement, stop)) for statement in PROBES]
    try:
        await asyncio.to_thread(upgrade, url)
    finally:
        stop.set()
        counts = await asyncio.gather(*probes)
    assert all(counts)


async def test_migrating_from_the_previous_release_to_the_next_locks_nobody_out(
    empty_database_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = await filled(empty_database_url, previous_schema())
    after_the_newest(monkeypatch, tmp_path, NEXT)
    await migrated_under_probes(empty_database_url)
    assert await files_of(empty_database_url) == before, "no table was written anew"


async def test_it_would_notice_a_long_lock(
    empty_database_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    long = f'op.execute("LOCK TABLE memories"); op.execute("SELECT pg_sleep({LONGEST_WAIT_SECONDS + 1})")'
    await filled(empty_database_url, previous_schema())
    after_the_newest(monkeypatch, tmp_path, long)
    with pytest.raises(asyncpg.LockNotAvailableError):
        await migrated_under_probes(empty_database_url)


async def test_it_would_notice_a_table_that_is_written_anew(
    empty_database_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    column = 'op.execute("ALTER TABLE turns ADD COLUMN scratch uuid DEFAULT gen_random_uuid()")'
    before = await filled(empty_database_url, previous_schema())
    after_the_newest(monkeypatch, tmp_path, column)
    await migrated_under_probes(empty_database_url)
    assert (await files_of(empty_database_url))["turns"] != before["turns"]

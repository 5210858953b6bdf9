"""What was replaced before the past was kept is not forgotten by the migration that begins to keep it."""

from __future__ import annotations

import asyncio

from app.db.migrate import downgrade, upgrade
from app.providers.wordllama import WordllamaEmbedder
from tests.read.conftest import making
from tests.time_travel.conftest import Timed, timed_store


async def test_successions_from_before_are_known(fresh_database_url: str, embedder: WordllamaEmbedder) -> None:
    async with making(fresh_database_url, embedder) as make:
        timed = await timed_store(await make())
        dark = await timed.theme("dark")
        between = timed.clock.tick()
        timed.clock.tick()
        light = await timed.theme("light")
        timed.clock.tick()
        before = await timed.told(known_at=between)
    await asyncio.to_thread(downgrade, fresh_database_url, "0010")
    await asyncio.to_thread(upgrade, fresh_database_url)
    async with making(fresh_database_url, embedder) as make:
        other = await timed_store(await make())
        asked = Timed(store=other.store.as_tenant(timed.store.tenant), clock=timed.clock)
        assert await asked.told(known_at=between) == before
        assert await asked.found(known_at=between) == [dark]
        assert await asked.found() == [light]

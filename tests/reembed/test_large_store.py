"""A store of 5,000 memories is asked and written to while it is embedded by another model, and by the first again."""

from __future__ import annotations

from contextlib import AsyncExitStack

import asyncpg
import httpx
import pytest

from tests.commands.program import Served
from tests.provider_server.fixtures import StandIn, provider, provider_process
from tests.reembed.test_service import KEY, Traffic, aside, fill, headers, settled, traffic

pytestmark = [pytest.mark.long, pytest.mark.timeout(3_600)]

__all__ = ["provider", "provider_process"]

CLIENTS = 2
PAUSE = 0.3
"""Seconds between a client's rounds of questions: the processor is the embedding's as well."""


async def loaded(stack: AsyncExitStack, served: Served, name: str) -> list[Traffic]:
    """Have a service asked and written to by several clients at once, until the stack closes."""
    return [
        await stack.enter_async_context(traffic(served, f"{name}{number}", pause=PAUSE)) for number in range(CLIENTS)
    ]


async def shown(served: Served) -> list[tuple[str, str]]:
    """Return the models as an administrator sees them."""
    async with httpx.AsyncClient(base_url=served.url, headers=headers(), trust_env=False, timeout=60) as client:
        models = (await client.get("/admin/embedding-models")).json()["models"]
    return [(one["name"], one["phase"]) for one in models]


async def test_five_thousand_memories_go_to_another_model_and_back_with_no_wrong_answer(
    fresh_database_url: str, provider: StandIn
) -> None:
    old = {"TM_DATABASE_URL": fresh_database_url, "TM_BOOTSTRAP_KEY": KEY}
    new = {
        **old,
        "TM_EMBEDDING_PROVIDER": "openai",
        "TM_EMBEDDING_BASE_URL": provider.url,
        "TM_EMBEDDING_MODEL": "standing-in",
        "TM_EMBEDDING_DIMENSIONS": "64",
        "TM_EMBEDDING_BATCH_SIZE": "100",
    }
    connection = await asyncpg.connect(fresh_database_url)
    asked = 0
    with Served(**old) as first:
        await fill(first, facts=5_000 - 30)
        await settled(connection)
        assert await connection.fetchval("SELECT count(*) FROM memories WHERE status = 'active'") >= 5_000
        async with AsyncExitStack() as stack:
            clients = await loaded(stack, first, "there")
            done = await aside(new)
            assert done.returncode == 0, done.stderr
            assert await shown(first) == [("openai:standing-in", "active"), ("wordllama-256", "leaving")]
            with Served(**new) as second:
                clients += await loaded(stack, second, "new")
                back = await aside(old)
                assert back.returncode == 0, back.stderr
                assert await shown(first) == [("wordllama-256", "active"), ("openai:standing-in", "leaving")]
                await stack.aclose()  # each client has had the answers that it had at first, all the while
        asked = sum(one.rounds for one in clients)
    embedded = int(back.stdout.partition("embedded ")[2].split()[0].replace(",", ""))
    assert embedded < 1_000, "only what was written meanwhile is embedded on the way back"
    assert asked >= 20
    print(f"\n{done.stdout}{back.stdout}{asked * 4} answers, 0 wrong")  # noqa: T201 - the figure of the documents
    await connection.close()

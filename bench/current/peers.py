"""mem0 and LangGraph's store, each in a process of `.venv-peers`, as `bench.peers` runs them."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from bench.current.items import Item, stores
from bench.current.score import Line
from bench.peers.driven import Driven
from bench.ports import free_port
from bench.world import World

PYTHON: Final = Path(".venv-peers/bin/python")

_DRIVER: Final = Path("bench/peers/driver.py")
_START_SECONDS: Final = 60


async def started(name: str, world: World, stack: AsyncExitStack) -> Driven:
    """Start a system with a database of its own, and an endpoint that embeds for it with the embedded model."""
    database = f"peers_{name.replace('-', '_')}"
    await world.owner.execute(f"CREATE DATABASE {database}")
    url = f"{world.url.rsplit('/', 1)[0]}/{database}"
    folder = world.folder / name
    folder.mkdir()
    config = {
        "database": url,
        "dimensions": world.embedder.dimensions,
        "embeddings": await _embeddings(stack),
        "folder": str(folder),
        "model": os.environ.get("TM_BENCH_MODEL", "gpt-4o-mini"),
        "key": os.environ.get("OPENAI_API_KEY", ""),
        "base_url": os.environ.get("OPENAI_BASE_URL", ""),
    }
    process = await asyncio.create_subprocess_exec(
        *(str(PYTHON), str(_DRIVER), name, json.dumps(config)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=2**28,
    )
    stack.push_async_callback(_ended, process)
    return Driven(name=name, process=process, url=url)


async def answers(system: Driven, items: Sequence[Item]) -> dict[str, list[Line]]:
    """Tell each store in order, each text with its day, and ask its questions."""
    found: dict[str, list[Line]] = {}
    for store, (told, mine) in stores(items).items():
        texts = [{"text": f"{one.at[:10]}: {one.text}"} for one in told]
        await system.do({"do": "add many", "user": store, "batches": [texts]})
        answer = await system.do({"do": "search", "user": store, "queries": [one.ask for one in mine]})
        found |= {one.id: [Line(text) for text in hits] for one, hits in zip(mine, answer["found"], strict=True)}
    return found


async def _embeddings(stack: AsyncExitStack) -> str:
    port = free_port()
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", "bench.peers.embeddings", str(port))
    stack.push_async_callback(_ended, process)
    async with asyncio.timeout(_START_SECONDS):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.1)
                continue
            writer.close()
            return f"http://127.0.0.1:{port}/v1"


async def _ended(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.kill()
    await process.wait()

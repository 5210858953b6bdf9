"""Keeping what a model answered: at once, and together with what came meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from app.write.extract import BatchingWriter


async def test_what_comes_while_others_are_kept_goes_together_afterwards() -> None:
    kept: list[list[int]] = []
    first = asyncio.Event()

    async def keep(items: Sequence[int]) -> None:
        kept.append(list(items))
        if len(kept) == 1:
            await first.wait()

    together: BatchingWriter[int] = BatchingWriter(keep=keep)
    tasks = [asyncio.create_task(together(number)) for number in range(4)]
    await asyncio.sleep(0)
    assert kept == [[0]]

    first.set()
    await asyncio.gather(*tasks)

    assert kept == [[0], [1, 2, 3]]


async def test_who_asks_returns_only_when_it_is_kept() -> None:
    release = asyncio.Event()
    ended: list[int] = []

    async def keep(_: Sequence[int]) -> None:
        await release.wait()

    together: BatchingWriter[int] = BatchingWriter(keep=keep)

    async def one(number: int) -> None:
        await together(number)
        ended.append(number)

    tasks = [asyncio.create_task(one(number)) for number in range(3)]
    await asyncio.sleep(0.01)
    assert ended == []

    release.set()
    await asyncio.gather(*tasks)

    assert sorted(ended) == [0, 1, 2]

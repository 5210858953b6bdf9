"""What callers state themselves, looked through as a turn is: orders to the assistant and secrets wait for a person."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from app.memory.candidate import Candidate
from app.text.suspicion import suspicions

_INLINE = 1_000
"""Characters that are looked through on the event loop, a millisecond or two's worth; more go to a thread."""


async def held_back(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates, each with why a person should look at what it says, if one should."""
    told = [one.content or one.payload.render() for one in candidates]
    if sum(map(len, told)) <= _INLINE:
        return _doubted(candidates, told)
    return await asyncio.to_thread(_doubted, candidates, told)


def _doubted(candidates: Sequence[Candidate], told: Sequence[str]) -> list[Candidate]:
    return [
        replace(one, review=doubts[0].why) if one.review is None and (doubts := suspicions(words)) else one
        for one, words in zip(candidates, told, strict=True)
    ]

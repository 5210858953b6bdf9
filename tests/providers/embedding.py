"""An embedder on the stand-in provider, and what it told its observer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from app.providers.embeddings import OpenAIEmbedder
from app.providers.http import HttpPolicy
from tests.provider_server.fixtures import StandIn
from tests.provider_server.provider import DEFAULT_DIMENSIONS, vector_of
from tests.support.waiting import eventually

KEY: Final = "sk-never-to-be-shown"
POLICY: Final = HttpPolicy(timeout=20, deadline=60, attempts=3, backoff=0.001, concurrency=2)

Make = Callable[..., OpenAIEmbedder]


class Recorder:
    """What an embedder told its observer, and the waits it asked for (none of which it waited)."""

    def __init__(self) -> None:
        self.outcomes: list[tuple[str, int]] = []
        self.waits: list[float] = []

    def observe(self, outcome: str, seconds: float, texts: int) -> None:
        assert seconds >= 0
        self.outcomes.append((outcome, texts))

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)


def unit(text: str, dimensions: int = DEFAULT_DIMENSIONS) -> NDArray[np.float64]:
    vector: NDArray[np.float64] = np.array(vector_of(text, dimensions))
    vector /= np.linalg.norm(vector)
    return vector


async def attempts(provider: StandIn) -> int:
    return int((await provider.seen())["count"])


async def reached(provider: StandIn, count: int) -> None:
    async def came() -> bool:
        return await attempts(provider) >= count

    await eventually(came)

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio
from pydantic import SecretStr

from app.providers.embeddings import EmbeddingModel, OpenAIEmbedder
from app.providers.http import HttpPolicy
from tests.provider_server.fixtures import StandIn, provider, provider_process
from tests.provider_server.provider import DEFAULT_DIMENSIONS
from tests.providers.chatting import kit
from tests.providers.embedding import KEY, POLICY, Make, Recorder

__all__ = ["kit", "make", "provider", "provider_process", "recorder"]


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest_asyncio.fixture
async def make(provider: StandIn, recorder: Recorder) -> AsyncIterator[Make]:
    made: list[OpenAIEmbedder] = []

    def build(policy: HttpPolicy = POLICY, **changes: Any) -> OpenAIEmbedder:
        model = EmbeddingModel(
            base_url=provider.url, model="stand-in", dimensions=DEFAULT_DIMENSIONS, api_key=SecretStr(KEY)
        )
        embedder = OpenAIEmbedder(
            replace(model, **changes), policy=policy, observer=recorder.observe, sleep=recorder.sleep
        )
        made.append(embedder)
        return embedder

    yield build
    for embedder in made:
        await embedder.aclose()

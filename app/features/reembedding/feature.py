"""The change of the embedding model."""

from __future__ import annotations

from contextlib import AsyncExitStack

from app.feature import FeatureSpec
from app.features.reembedding import routes
from app.features.reembedding.service import EmbeddingModels, VectorBackfill
from app.runtime import Runtime, open_in_background


async def _start(runtime: Runtime, stack: AsyncExitStack) -> None:
    refilling = VectorBackfill(
        database=runtime.database, embedder=runtime.embedder, model_id=runtime.model_id, types=runtime.type_book
    )
    await open_in_background(stack, refilling.run())


def _models(runtime: Runtime) -> EmbeddingModels:
    return EmbeddingModels(database=runtime.database)


FEATURE = FeatureSpec(routers=lambda: (routes.router(),), services={EmbeddingModels: _models}, start=_start)

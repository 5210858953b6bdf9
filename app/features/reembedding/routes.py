"""The embedding models over HTTP: which there are, and how far the one that is being built has come."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import Response

from app.features.reembedding.service import EmbeddingModels
from app.http.guard import ADMIN, ActorDep, GuardedRoute, RuntimeDep
from app.http.models import Out, Source, json_answer
from app.http.routes import add_reads


class EmbeddingModelOut(Out):
    """An embedding model whose vectors are stored; the counts are of the tenant's, while it is being built."""

    name: Annotated[str, Source("model.name")]
    dimensions: Annotated[int, Source("model.dimensions")]
    phase: Annotated[str, Source("model.phase")] = Field(
        description="`building`, `active`, `leaving` (replaced, and perhaps still used) or `dropping`."
    )
    rows: int | None = Field(description="Vectors that it is to have.")
    lacking: int | None = Field(description="Those of them that it lacks.")


class EmbeddingModelsOut(Out):
    """The embedding models, the active one first."""

    models: list[EmbeddingModelOut]


def router() -> APIRouter:
    """Return the routes."""
    found = APIRouter(tags=["admin"], route_class=GuardedRoute)
    listing = ("/admin/embedding-models", list_embedding_models, "List embedding models", EmbeddingModelsOut)
    add_reads(found, ADMIN, listing)
    return found


async def list_embedding_models(runtime: RuntimeDep, actor: ActorDep) -> Response:
    """List the embedding models, and the progress of a change to another one.

    There are two while `typed-memory reembed` builds the vectors of another one, until the former one's are dropped.
    """
    found = await runtime.service(EmbeddingModels).list(actor.tenant_id)
    return json_answer({"models": [EmbeddingModelOut.answer(one) for one in found]})

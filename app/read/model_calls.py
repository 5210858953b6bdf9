"""Optional model calls of a question: other forms of it before retrieval, and the best matches in a new order after.

Either is left out where the model is missing, late or fails.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

import numpy as np

from app.errors import ProviderError
from app.model import Memory
from app.providers.embeddings import Vectors
from app.providers.model_questions import QuestionRewriter
from app.providers.rerankers import TextScorer
from app.read.values import ParsedQuery, QueryPlan, QueryRequest, Ranked

RERANKED: Final = 50
"""Best matches that a reranker reads (seed 001)."""

NO_RERANKER: Final = "no reranker is configured: ranked without one"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionForms:
    """The texts to embed for a question, its own first, and what did not work."""

    texts: tuple[str, ...]
    degraded: tuple[str, ...] = ()


async def rewrite(rewriter: QuestionRewriter | None, query: ParsedQuery, *, seconds: float) -> QuestionForms:
    """Return a question in other forms too; as it is where the model is missing, late or fails."""
    own = (query.dense_text,)
    if rewriter is None:
        return QuestionForms(texts=own)
    try:
        async with asyncio.timeout(seconds):
            forms = await rewriter.rewrite(query.reading.text)
    except TimeoutError:
        return QuestionForms(texts=own, degraded=(f"searched as it was asked: no other form within {seconds:g} s",))
    except ProviderError as error:
        return QuestionForms(texts=own, degraded=(f"searched as it was asked: {error.message}",))
    return QuestionForms(texts=(*own, *forms))


def mean_vector(vectors: Vectors) -> Vectors:
    """Return the direction between some unit vectors."""
    if len(vectors) == 1:
        return np.asarray(vectors[0])
    mean = vectors.mean(axis=0)
    return np.asarray(mean / max(float(np.linalg.norm(mean)), 1e-6), dtype=np.float32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reranked:
    """Matches, best first, and what did not work."""

    ranked: tuple[Ranked, ...]
    degraded: tuple[str, ...] = ()


def nominees(request: QueryRequest, reranker: TextScorer | None) -> int:
    """Return how many matches to find: as many as are asked for, or as a reranker reads."""
    return max(request.top_k, RERANKED) if request.rerank and reranker is not None else request.top_k


async def rerank(
    reranker: TextScorer | None,
    request: QueryRequest,
    ranked: tuple[Ranked, ...],
    memories: Mapping[UUID, Memory],
    plan: QueryPlan,
) -> Reranked:
    """Return the matches that are asked for in the reranker's order; as they are where it is missing, late or fails.

    The model says how well a memory answers; confidence and contradictions count as they do without a model.
    """
    if not request.rerank:
        return Reranked(ranked=ranked)
    if reranker is None:
        return Reranked(ranked=ranked[: request.top_k], degraded=(NO_RERANKER,))
    found = tuple(one for one in ranked if one.id in memories)  # what was erased meanwhile is not
    read, rest = found[:RERANKED], found[RERANKED:]
    if not read:
        return Reranked(ranked=())
    try:
        scores = await reranker.score(request.query, [memories[one.id].content for one in read])
    except ProviderError as error:
        return Reranked(ranked=ranked[: request.top_k], degraded=(f"ranked without a reranker: {error.message}",))
    scored = [
        one._replace(
            score=score * one.confidence**plan.confidence * one.disputed,
            notes=(f"rerank: {score:.3f}, before {place}", *one.notes),
        )
        for place, (one, score) in enumerate(zip(read, scores, strict=True), start=1)
    ]
    # Sorting is stable: what the model finds alike stays in the order that it had.
    best = sorted(scored, key=lambda one: -one.score)
    lowest = best[-1].score
    below = [one._replace(score=min(one.score, lowest)) for one in rest]
    return Reranked(ranked=(*best, *below)[: request.top_k])

"""Other forms of a question that says little, by a language model under a deadline, and the vector of all forms."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

import numpy as np

from app.errors import ProviderError
from app.providers.embeddings import Vectors
from app.providers.model_questions import QuestionRewriter
from app.read.values import ParsedQuery

SPECIFIC: Final = 0.8
"""Specificity from which on a question is searched as it is asked (seed 001)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionForms:
    """The texts to embed for a question, its own first, and what did not work."""

    texts: tuple[str, ...]
    degraded: tuple[str, ...] = ()


def says_little(query: ParsedQuery) -> bool:
    """Tell whether a question is so unspecific that other words for it may find more."""
    return query.specificity < SPECIFIC and not query.names_only


async def rewrite(rewriter: QuestionRewriter | None, query: ParsedQuery, *, seconds: float) -> QuestionForms:
    """Return a question in other forms too, if it says little; as it is where the model is missing, late or fails."""
    own = (query.dense_text,)
    if rewriter is None or not says_little(query):
        return QuestionForms(texts=own)
    try:
        async with asyncio.timeout(seconds):
            forms = await rewriter.rewrite(query.dense_text)
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

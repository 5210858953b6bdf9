"""The calibration of an embedding model: its cosines of questions with answers, and with what answers others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from app.db import embedding_models
from app.db.session import Database
from app.english.word_lists import pairs
from app.errors import ConfigurationError
from app.providers.embeddings import Embedder
from app.read.relevance import Calibration

LEAST_APART = 0.05
"""Least difference of the two medians of a model that tells questions' answers from other sentences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrating:
    """Measures the configured embedding model on pairs, and stores the result with the model's record."""

    owner_url: str
    database: Database
    embedder: Embedder

    async def measure(self, given: Mapping[str, str] | None = None) -> Calibration:
        """Return the medians of the cosines of unrelated and of related pairs.

        `given` are questions with their answers, by default built-in ones; an answer must answer no other question.
        Raises ConfigurationError for a model that does not tell them apart, and ProviderError.
        """
        told = pairs("calibration", "pairs") if given is None else given
        questions = await self.embedder.embed(list(told), purpose="query")
        answers = await self.embedder.embed(list(told.values()), purpose="document")
        cosines = np.asarray(questions, dtype=np.float64) @ np.asarray(answers, dtype=np.float64).T
        own = np.eye(len(told), dtype=bool)
        related, unrelated = float(np.median(cosines[own])), float(np.median(cosines[~own]))
        if related - unrelated < LEAST_APART:
            raise ConfigurationError(
                f"{self.embedder.name!r} hardly tells an answer ({related:.2f}) from an unrelated sentence "
                f"({unrelated:.2f}): is it a model of sentences?"
            )
        return Calibration(unrelated=round(unrelated, 4), related=round(related, 4))

    async def store(self, calibration: Calibration) -> None:
        """Record a calibration with the model; raise ConfigurationError for a model that is not recorded."""
        known = await embedding_models.read_models(self.database)
        model = next(
            (one for one in known if (one.name, one.dimensions) == (self.embedder.name, self.embedder.dimensions)), None
        )
        if model is None:
            raise ConfigurationError(f"{self.embedder.name!r} has no vectors here: start the service with it first")
        await embedding_models.calibrate(
            self.owner_url, model.id, unrelated=calibration.unrelated, related=calibration.related
        )

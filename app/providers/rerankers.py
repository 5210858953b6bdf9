"""Rerankers over HTTP: a question and texts in, a score for each text out.

Two wire formats are spoken: that of Cohere, which Jina, vLLM and others share (`query`, `documents`, answered with
`results` of `index` and `relevance_score`), and that of Text Embeddings Inference (`query`, `texts`, answered with a
list of `index` and `score`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal, Protocol

from pydantic import BaseModel, ConfigDict, FiniteFloat, SecretStr, TypeAdapter, ValidationError

from app.errors import ProviderProtocolError
from app.providers.http import Endpoint, HttpPolicy, ProviderClient

SETTINGS: Final = "TM_RERANK"

Wire = Literal["cohere", "tei"]

_LARGEST_ANSWER: Final = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankModel:
    """A model behind `/rerank`; `batch_size` is the number of texts that a request may have."""

    wire: Wire
    base_url: str
    model: str | None = None
    api_key: SecretStr | None = None
    batch_size: int = 32


class _Scored(BaseModel):
    model_config = ConfigDict(hide_input_in_errors=True)

    index: int
    score: FiniteFloat


class _Result(BaseModel):
    model_config = ConfigDict(hide_input_in_errors=True)

    index: int
    relevance_score: FiniteFloat


class _Results(BaseModel):
    model_config = ConfigDict(hide_input_in_errors=True)

    results: list[_Result]


_SCORES: Final = TypeAdapter(list[_Scored], config=ConfigDict(hide_input_in_errors=True))

Scores = list[tuple[int, float]]


def _cohere_body(model: str | None, question: str, texts: Sequence[str]) -> dict[str, object]:
    named = {} if model is None else {"model": model}
    return {**named, "query": question, "documents": list(texts), "top_n": len(texts)}


def _cohere_scores(answer: bytes) -> Scores:
    return [(one.index, one.relevance_score) for one in _Results.model_validate_json(answer).results]


def _tei_body(_model: str | None, question: str, texts: Sequence[str]) -> dict[str, object]:
    return {"query": question, "texts": list(texts), "raw_scores": False, "truncate": True}


def _tei_scores(answer: bytes) -> Scores:
    return [(one.index, one.score) for one in _SCORES.validate_json(answer)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Format:
    """A wire format: the body of a request, and the scores of an answer."""

    body: Callable[[str | None, str, Sequence[str]], dict[str, object]]
    scores: Callable[[bytes], Scores]


_FORMATS: Final[Mapping[Wire, _Format]] = {
    "cohere": _Format(body=_cohere_body, scores=_cohere_scores),
    "tei": _Format(body=_tei_body, scores=_tei_scores),
}


class TextScorer(Protocol):
    """Scores texts by how well they answer a question."""

    async def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return a score from 0 to 1 for each text, in their order; raise ProviderError, also when it is late."""
        ...

    async def aclose(self) -> None:
        """Let go of connections and memory."""
        ...


class Reranker:
    """A reranking model over HTTP; all batches of a question share one deadline, and a failure is not tried again."""

    def __init__(self, model: RerankModel, *, deadline: float) -> None:
        self._model = model
        self._format = _FORMATS[model.wire]
        self._label = f"the reranker ({model.model or model.wire})"
        endpoint = Endpoint(label=self._label, base_url=model.base_url, settings=SETTINGS, api_key=model.api_key)
        policy = HttpPolicy(timeout=deadline, deadline=deadline, attempts=1, max_response_bytes=_LARGEST_ANSWER)
        self._client = ProviderClient(endpoint, policy=policy)

    async def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return a score from 0 to 1 for each text, in their order; raise ProviderError, also when it is late."""
        batches = await self._client.batches(texts, self._model.batch_size, partial(self._batch, question))
        return [score for batch in batches for score in batch]

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _batch(self, question: str, texts: Sequence[str], expires_at: float) -> list[float]:
        body = self._format.body(self._model.model, question, texts)
        answer = await self._client.post("/rerank", body, expires_at=expires_at)
        try:
            found = self._format.scores(answer)
        except ValidationError:
            # Not chained: a validation error may carry what was answered.
            raise ProviderProtocolError(f"{self._label} did not answer with scores") from None
        if sorted(index for index, _ in found) != list(range(len(texts))):
            raise ProviderProtocolError(f"{self._label} answered {len(found)} scores for {len(texts)} texts")
        if any(not 0 <= score <= 1 for _, score in found):
            raise ProviderProtocolError(f"{self._label} answered with scores that are not between 0 and 1")
        return [score for _, score in sorted(found)]

"""Embedders: texts in, unit vectors out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Final, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, FiniteFloat, SecretStr, ValidationError

from app.errors import ProviderError, ProviderMisconfigured, ProviderProtocolError
from app.providers.http import Endpoint, HttpPolicy, ProviderClient, time_call
from app.providers.retries import Sleep

Vectors = NDArray[np.float32]
Purpose = Literal["document", "query"]
WordVectors = Callable[[Sequence[str]], Vectors]
TextCoverage = Callable[[str], float]
"""Returns the unit vectors of single words, in their order."""
EmbedObserver = Callable[[str, float, int], None]
"""Told of each `embed`: the outcome (`ok`, a ProviderError's code, `cancelled`, `error`), seconds, texts."""

SETTINGS: Final = "TM_EMBEDDING"


class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def name(self) -> str:
        """The name that the database records; vectors of different names are never compared."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of every vector."""
        ...

    @property
    def local(self) -> bool:
        """True when it runs in this process, where a question takes well under a millisecond."""
        ...

    async def embed(self, texts: Sequence[str], *, purpose: Purpose = "document") -> Vectors:
        """Return an array of shape (len(texts), dimensions): unit vectors, in the order of the texts.

        All or nothing: a ProviderError when any text could not be embedded. A text that has no meaning for
        the model (an empty one) is given `meaningless(dimensions)`.
        """
        ...

    async def aclose(self) -> None:
        """Let go of connections and memory."""
        ...


def has_no_words(dimensions: int) -> Vectors:
    """Return the vector of a text without content, the first axis: a zero vector's cosine would be NaN."""
    vector = np.zeros(dimensions, dtype=np.float32)
    vector[0] = 1.0
    return vector


def observe(observer: EmbedObserver | None, texts: int) -> AbstractContextManager[None]:
    """Tell the observer how the block ended and how long it took."""
    if observer is None:
        return nullcontext()
    return time_call(lambda outcome, seconds: observer(outcome, seconds, texts))


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingModel:
    """A model behind `/embeddings`; prefixes are for models trained with them (`query: `, `passage: `)."""

    base_url: str
    model: str
    dimensions: int
    api_key: SecretStr | None = None
    request_dimensions: bool = False
    """Ask for `dimensions` in the request; many servers refuse that for a model of fixed size."""
    batch_size: int = 64
    document_prefix: str = ""
    query_prefix: str = ""


class _Row(BaseModel):
    model_config = ConfigDict(hide_input_in_errors=True)

    index: int
    embedding: list[FiniteFloat]


class _EmbeddingsAnswer(BaseModel):
    model_config = ConfigDict(hide_input_in_errors=True)

    data: list[_Row]


class OpenAIEmbedder:
    """Any server that speaks OpenAI's `/embeddings`: OpenAI, Ollama, TEI, vLLM, ..."""

    def __init__(
        self,
        model: EmbeddingModel,
        *,
        policy: HttpPolicy | None = None,
        observer: EmbedObserver | None = None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self.name = f"openai:{model.model}"
        self.dimensions = model.dimensions
        self.local = False
        self._model = model
        self._label = f"the embedding provider ({model.model})"
        self._observer = observer
        self._unfit: str | None = None
        endpoint = Endpoint(label=self._label, base_url=model.base_url, settings=SETTINGS, api_key=model.api_key)
        self._client = ProviderClient(endpoint, policy=policy, sleep=sleep)

    @property
    def fault(self) -> str | None:
        """How the last call failed, by an error or by an answer that is no use; see `ProviderClient`."""
        return self._client.fault or self._unfit

    async def embed(self, texts: Sequence[str], *, purpose: Purpose = "document") -> Vectors:
        """Embed in batches, some at a time, all under one deadline; see `Embedder.embed`."""
        with observe(self._observer, len(texts)):
            vectors = np.tile(has_no_words(self.dimensions), (len(texts), 1))
            # Providers refuse an empty string, and the whole batch with it.
            spoken = [number for number, text in enumerate(texts) if text.strip()]
            if spoken:
                vectors[spoken] = await self._embed([texts[number] for number in spoken], purpose)
            return vectors

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _embed(self, texts: Sequence[str], purpose: Purpose) -> Vectors:
        prefix = self._model.query_prefix if purpose == "query" else self._model.document_prefix
        prefixed = [prefix + text for text in texts]
        return np.concatenate(await self._client.batches(prefixed, self._model.batch_size, self._batch))

    async def _batch(self, texts: Sequence[str], expires_at: float) -> Vectors:
        body: dict[str, object] = {"model": self._model.model, "input": texts, "encoding_format": "float"}
        if self._model.request_dimensions:
            body["dimensions"] = self.dimensions
        answer = await self._client.post("/embeddings", body, expires_at=expires_at)
        try:
            vectors = self._unit_vectors(self._rows(answer, len(texts)))
        except ProviderError as error:
            self._unfit = error.message
            raise
        self._unfit = None
        return vectors

    def _rows(self, answer: bytes, expected: int) -> list[list[float]]:
        try:
            rows = _EmbeddingsAnswer.model_validate_json(answer).data
        except ValidationError as error:
            # Not chained: a validation error may carry what was answered.
            at = ".".join(map(str, error.errors(include_input=False)[0]["loc"]))
            raise ProviderProtocolError(
                f"{self._label} did not answer with embeddings (at {at or 'the top'})"
            ) from None
        if sorted(row.index for row in rows) != list(range(expected)):
            raise ProviderProtocolError(f"{self._label} answered {len(rows)} embeddings for {expected} texts")
        return [row.embedding for row in sorted(rows, key=lambda row: row.index)]

    def _unit_vectors(self, rows: list[list[float]]) -> Vectors:
        lengths = {len(row) for row in rows}
        if len(lengths) > 1:
            raise ProviderProtocolError(f"{self._label} answered with vectors of different lengths")
        if lengths != {self.dimensions}:
            raise ProviderMisconfigured(
                f"{self._label} answers {lengths.pop()} dimensions, not {self.dimensions}: "
                f"set {SETTINGS}_DIMENSIONS to what it answers, or have it asked for fewer"
            )
        matrix = np.array(rows, dtype=np.float64)
        largest = np.abs(matrix).max(axis=1, keepdims=True)
        if not largest.all():
            raise ProviderProtocolError(f"{self._label} answered with a zero vector")
        # By the largest first, so that no square overflows.
        matrix /= largest
        matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
        return matrix.astype(np.float32)

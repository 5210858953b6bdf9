"""Models that run in this process by fastembed (onnxruntime): an embedder and a reranker. An extra, loaded by name.

A model is loaded once, in a thread that starts with the service. Until then questions are answered without it, and
what is written waits for it. The weights come from fastembed's cache folder, or from a folder that is named in place
of the model; nothing here is imported before it is configured.
"""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import Any, Final, Protocol, cast

import numpy as np

from app.errors import ConfigurationError, ProviderMisconfigured, ProviderTimeout, ProviderUnavailable
from app.providers.embeddings import EmbedObserver, Purpose, Vectors, has_no_words, observe

INSTALL: Final = "takes an extra: pip install 'typed-memory[local]'"

MODEL_FILE: Final = "model.onnx"
"""The name of the weights in a folder that stands for a model."""

SCORED_TOGETHER: Final = 4
"""Texts that a reranker reads between two looks at its deadline."""


class LocalModel(Protocol):
    """The part of fastembed's `TextEmbedding` that is used."""

    def embed(self, documents: Sequence[str], batch_size: int = ...) -> Iterable[Vectors]: ...  # noqa: D102


class LocalCrossEncoder(Protocol):
    """The part of fastembed's `TextCrossEncoder` that is used."""

    def rerank(self, query: str, documents: Sequence[str]) -> Iterable[float]: ...  # noqa: D102


class LoadedOnce:
    """A model that is loaded by a thread of its own; `label` names it in errors."""

    def __init__(self, label: str, load: Callable[[], Any]) -> None:
        """Begin to load."""
        self.label = label
        self.model: Any = None
        self.failure: str | None = None
        self._done = threading.Event()
        threading.Thread(target=self._run, args=(load,), daemon=True, name=f"load {label}").start()

    def _run(self, load: Callable[[], Any]) -> None:
        try:
            self.model = load()
        except Exception as error:  # noqa: BLE001 - whatever a model's files do, the service goes on without it
            self.failure = f"{type(error).__name__}: {str(error)[:300]}"
        self._done.set()

    @property
    def fault(self) -> str | None:
        """Why it is not there: it is loading, or could not be loaded; None once it is."""
        if not self._done.is_set():
            return f"{self.label} is loading"
        return None if self.failure is None else f"{self.label} can't be loaded ({self.failure})"

    def now(self) -> Any:  # noqa: ANN401 - fastembed has no types
        """Return the model; raise ProviderError where it is not there."""
        if (fault := self.fault) is None:
            return self.model
        if self.failure is not None:
            raise ProviderMisconfigured(fault)
        raise ProviderUnavailable(fault, retry_after=1)

    def wait(self, seconds: float) -> Any:  # noqa: ANN401 - fastembed has no types
        """Return the model once it is loaded; blocking. Raises ProviderError."""
        self._done.wait(seconds)
        return self.now()


class FastembedEmbedder:
    """Embeds in this process, one call at a time: onnxruntime uses the cores that `threads` gives it."""

    def __init__(
        self,
        name: str,
        dimensions: int,
        load: Callable[[], LocalModel],
        *,
        batch_size: int = 64,
        patience: float = 30.0,
        prefixes: tuple[str, str] = ("", ""),
        observer: EmbedObserver | None = None,
    ) -> None:
        """Begin to load the model; `patience` is how many seconds a write waits for it, `prefixes` as it wants them."""
        self.name = f"fastembed:{name}"
        self.dimensions = dimensions
        self.local = False  # a call takes milliseconds, for which no transaction should wait
        self._loaded = LoadedOnce(f"the embedding model {name}", load)
        self._batch_size = batch_size
        self._patience = patience
        self._before_document, self._before_query = prefixes
        self._observer = observer
        self._turn = asyncio.Semaphore(1)

    @property
    def fault(self) -> str | None:
        """Why it does not embed, None where it does."""
        return self._loaded.fault

    async def embed(self, texts: Sequence[str], *, purpose: Purpose = "document") -> Vectors:
        """Embed in a thread; see `Embedder.embed`. A question does not wait for the model to be loaded."""
        with observe(self._observer, len(texts)):
            if purpose == "query":
                self._loaded.now()
            async with self._turn:
                return await asyncio.to_thread(self._embed, texts, purpose)

    def _embed(self, texts: Sequence[str], purpose: Purpose) -> Vectors:
        model = self._loaded.wait(self._patience)
        found = np.tile(has_no_words(self.dimensions), (len(texts), 1))
        spoken = [place for place, text in enumerate(texts) if text.strip()]
        if not spoken:
            return found
        before = self._before_query if purpose == "query" else self._before_document
        given = [before + texts[place].encode("utf-8", "replace").decode() for place in spoken]
        vectors = np.asarray(list(model.embed(given, batch_size=self._batch_size)), dtype=np.float32)
        if vectors.shape != (len(spoken), self.dimensions):
            raise ProviderMisconfigured(
                f"{self._loaded.label} has {vectors.shape[-1]} dimensions, not {self.dimensions}: set "
                "TM_EMBEDDING_DIMENSIONS to that"
            )
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        told = lengths[:, 0] > 0
        found[np.asarray(spoken)[told]] = vectors[told] / lengths[told]
        return found

    async def aclose(self) -> None:
        """Do nothing: the memory goes with the process."""


class LocalReranker:
    """Scores texts with a cross-encoder in this process: the first `most`, in time, for one question at once."""

    def __init__(self, name: str, load: Callable[[], LocalCrossEncoder], *, deadline: float, most: int) -> None:
        """Begin to load the model."""
        self._loaded = LoadedOnce(f"the reranker {name}", load)
        self._deadline = deadline
        self._most = most
        self._lock = threading.Lock()

    @property
    def fault(self) -> str | None:
        """Why it does not score, None where it does."""
        return self._loaded.fault

    async def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return a score from 0 to 1 for each text, 0 for those after the first `most`; raise ProviderError.

        What is late is given up between two batches, so that no thread goes on with it for long.
        """
        model = self._loaded.now()
        return await asyncio.to_thread(self._score, model, question, texts, monotonic() + self._deadline)

    def _score(self, model: LocalCrossEncoder, question: str, texts: Sequence[str], until: float) -> list[float]:
        if not self._lock.acquire(timeout=max(0.0, until - monotonic())):
            raise self._late()
        try:
            found: list[float] = []
            for first in range(0, min(len(texts), self._most), SCORED_TOGETHER):
                if monotonic() >= until:
                    raise self._late()
                batch = texts[first : min(first + SCORED_TOGETHER, self._most)]
                found += [_probability(float(one)) for one in model.rerank(question, batch)]
        finally:
            self._lock.release()
        if monotonic() >= until:
            raise self._late()
        return [*found, *(0.0 for _ in texts[len(found) :])]

    def _late(self) -> ProviderTimeout:
        return ProviderTimeout(f"{self._loaded.label} gave no scores within {self._deadline:g} seconds")

    async def aclose(self) -> None:
        """Do nothing: the memory goes with the process."""


def _probability(logit: float) -> float:
    return 1 / (1 + math.exp(-max(-60.0, min(60.0, logit))))


def make_local_embedder(
    model: str,
    *,
    dimensions: int | None,
    cache: Path | None,
    batch_size: int,
    patience: float,
    prefixes: tuple[str, str],
    observer: EmbedObserver | None = None,
) -> FastembedEmbedder:
    """Return an embedder by fastembed's name of its model, or by the folder of its files; raise ConfigurationError."""
    fastembed = _fastembed("TM_EMBEDDING_PROVIDER=fastembed")
    folder = Path(model) if Path(model).is_dir() else None
    length = dimensions
    if folder is None:
        known = {one["model"]: int(one["dim"]) for one in fastembed.TextEmbedding.list_supported_models()}
        if model not in known:
            raise ConfigurationError(f"fastembed has no model {model!r}, and there is no such folder: {_some(known)}")
        if dimensions not in (None, known[model]):
            raise ConfigurationError(f"{model} has {known[model]} dimensions, not {dimensions}: leave it out")
        length = known[model]
    if length is None:
        raise ConfigurationError("a model in a folder takes TM_EMBEDDING_DIMENSIONS")
    dim = length

    def load() -> LocalModel:
        if folder is None:
            return cast("LocalModel", fastembed.TextEmbedding(model, cache_dir=_named(cache)))
        described = import_module("fastembed.common.model_description")
        fastembed.TextEmbedding.add_custom_model(
            model=folder.name,
            pooling=described.PoolingType.MEAN,
            normalization=True,
            sources=described.ModelSource(hf=folder.name),
            dim=dim,
            model_file=MODEL_FILE,
        )
        return cast("LocalModel", fastembed.TextEmbedding(folder.name, specific_model_path=str(folder)))

    return FastembedEmbedder(
        model if folder is None else folder.name,
        dim,
        load,
        batch_size=batch_size,
        patience=patience,
        prefixes=prefixes,
        observer=observer,
    )


def make_local_reranker(model: str, *, cache: Path | None, deadline: float, most: int) -> LocalReranker:
    """Return a reranker by fastembed's name of its model, or by the folder of its files; raise ConfigurationError."""
    _fastembed("TM_RERANK_PROVIDER=fastembed")
    encoder = import_module("fastembed.rerank.cross_encoder").TextCrossEncoder
    folder = Path(model) if Path(model).is_dir() else None
    if folder is None:
        known = [one["model"] for one in encoder.list_supported_models()]
        if model not in known:
            raise ConfigurationError(
                f"fastembed has no reranker {model!r}, and there is no such folder: {_some(known)}"
            )

    def load() -> LocalCrossEncoder:
        if folder is None:
            return cast("LocalCrossEncoder", encoder(model, cache_dir=_named(cache)))
        source = import_module("fastembed.common.model_description").ModelSource(hf=folder.name)
        encoder.add_custom_model(model=folder.name, sources=source, model_file=MODEL_FILE)
        return cast("LocalCrossEncoder", encoder(folder.name, specific_model_path=str(folder)))

    return LocalReranker(model if folder is None else folder.name, load, deadline=deadline, most=most)


def _named(cache: Path | None) -> str | None:
    return None if cache is None else str(cache)


def _fastembed(setting: str) -> Any:  # noqa: ANN401 - fastembed has no types
    if find_spec("fastembed") is None:
        raise ConfigurationError(f"{setting} {INSTALL}")
    return import_module("fastembed")


def _some(names: Iterable[str]) -> str:
    return f"it has {', '.join(sorted(names))}"

"""The embedder that is configured."""

from __future__ import annotations

from app.errors import ConfigurationError
from app.metrics import Metrics
from app.providers.embeddings import Embedder, EmbeddingModel, OpenAIEmbedder
from app.providers.http import HttpPolicy
from app.providers.wordllama import WordllamaEmbedder
from app.settings import Settings


def make_embedder(settings: Settings, metrics: Metrics) -> Embedder:
    """Return the configured embedder; nothing connects yet."""
    if settings.embedding_provider == "wordllama":
        return WordllamaEmbedder(observer=metrics.embed)
    if settings.embedding_model is None or settings.embedding_dimensions is None:
        raise ConfigurationError("TM_EMBEDDING_PROVIDER=openai needs TM_EMBEDDING_MODEL and TM_EMBEDDING_DIMENSIONS")
    model = EmbeddingModel(
        base_url=settings.embedding_base_url,
        model=settings.embedding_model,
        dimensions=settings.embedding_dimensions,
        api_key=settings.embedding_api_key,
        request_dimensions=settings.embedding_request_dimensions,
        batch_size=settings.embedding_batch_size,
    )
    policy = HttpPolicy(
        timeout=settings.embedding_timeout,
        deadline=settings.embedding_deadline,
        attempts=settings.embedding_attempts,
    )
    return OpenAIEmbedder(model, policy=policy, observer=metrics.embed)

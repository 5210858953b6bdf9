"""Builds the embedder and the tasks of the language model that the settings choose."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Final, Literal, TypeVar

from pydantic import SecretStr

from app.errors import ConfigurationError
from app.memory.extraction import TokenUsage
from app.memory.spec import MemoryType
from app.metrics import Metrics
from app.providers.anthropic_messages import AnthropicMessages
from app.providers.chat import SETTINGS, ChatModel, ChatObserver, ChatSpec, StreamingChat
from app.providers.embeddings import Embedder, EmbeddingModel, OpenAIEmbedder, TextCoverage, WordVectors
from app.providers.fallback import FallbackChat
from app.providers.http import HttpPolicy
from app.providers.model_extractor import ModelExtractor
from app.providers.model_questions import ModelQuestionWriter
from app.providers.model_tasks import ModelTask
from app.providers.openai_batches import OpenAIBatches
from app.providers.openai_chat import OpenAIChat
from app.providers.protocols import Extractor, QuestionWriter, RuleQuestions
from app.providers.rerankers import Reranker, RerankModel, TextScorer
from app.providers.wordllama import WordllamaEmbedder
from app.settings import Settings

Task = TypeVar("Task", bound=ModelTask)


def make_embedder(settings: Settings, metrics: Metrics) -> Embedder:
    """Return the configured embedder; nothing connects yet."""
    if settings.embedding_provider == "wordllama":
        return WordllamaEmbedder(observer=metrics.embed)
    if settings.embedding_provider == "fastembed":
        return _local_embedder(settings, metrics)
    if settings.embedding_model is None or settings.embedding_dimensions is None:
        raise ConfigurationError("TM_EMBEDDING_PROVIDER=openai needs TM_EMBEDDING_MODEL and TM_EMBEDDING_DIMENSIONS")
    model = EmbeddingModel(
        base_url=settings.embedding_base_url,
        model=settings.embedding_model,
        dimensions=settings.embedding_dimensions,
        api_key=settings.embedding_api_key,
        request_dimensions=settings.embedding_request_dimensions,
        batch_size=settings.embedding_batch_size,
        document_prefix=settings.embedding_document_prefix or "",
        query_prefix=settings.embedding_query_prefix or "",
    )
    policy = HttpPolicy(
        timeout=settings.embedding_timeout,
        deadline=settings.embedding_deadline,
        attempts=settings.embedding_attempts,
    )
    return OpenAIEmbedder(model, policy=policy, observer=metrics.embed)


def _local_embedder(settings: Settings, metrics: Metrics) -> Embedder:
    local = import_module("app.providers.local_models")
    if settings.embedding_model is None:
        raise ConfigurationError("TM_EMBEDDING_PROVIDER=fastembed needs TM_EMBEDDING_MODEL")
    made: Embedder = local.make_local_embedder(
        settings.embedding_model,
        dimensions=settings.embedding_dimensions,
        cache=settings.models_dir,
        batch_size=settings.embedding_batch_size,
        patience=settings.embedding_deadline,
        prefixes=(settings.embedding_document_prefix or "", settings.embedding_query_prefix or ""),
        observer=metrics.embed,
    )
    return made


def faults(chat: StreamingChat | None, embedder: Embedder, reranker: TextScorer | None = None) -> dict[str, str]:
    """Return how the last calls of the models failed, or that one is loading, by part; empty when all are well."""
    last = {
        "language_model": None if chat is None else chat.fault,
        "embedding_provider": getattr(embedder, "fault", None),
        "reranker": getattr(reranker, "fault", None),
    }
    return {part: fault for part, fault in last.items() if fault is not None}


def word_vectors(embedder: Embedder) -> WordVectors | None:
    """Return what gives the vectors of single words, where the embedder runs in this process."""
    return embedder.words if isinstance(embedder, WordllamaEmbedder) else None


def text_coverage(embedder: Embedder) -> TextCoverage | None:
    """Return what tells how much of a text the embedder knows, where it runs in this process."""
    return embedder.coverage if isinstance(embedder, WordllamaEmbedder) else None


def make_reranker(settings: Settings) -> TextScorer | None:
    """Return the configured reranker, None without one; nothing connects yet."""
    if settings.rerank_provider == "none":
        return None
    if settings.rerank_provider == "fastembed":
        if settings.rerank_model is None:
            raise ConfigurationError("TM_RERANK_PROVIDER=fastembed needs TM_RERANK_MODEL")
        made: TextScorer = import_module("app.providers.local_models").make_local_reranker(
            settings.rerank_model,
            cache=settings.models_dir,
            deadline=settings.rerank_deadline,
            most=settings.rerank_candidates,
        )
        return made
    if settings.rerank_base_url is None:
        raise ConfigurationError(f"TM_RERANK_PROVIDER={settings.rerank_provider} needs TM_RERANK_BASE_URL")
    model = RerankModel(
        wire=settings.rerank_provider,
        base_url=settings.rerank_base_url,
        model=settings.rerank_model,
        api_key=settings.rerank_api_key,
        batch_size=settings.rerank_batch_size,
    )
    return Reranker(model, deadline=settings.rerank_deadline)


_BASE_URLS: Final = {"openai": "http://127.0.0.1:11434/v1", "anthropic": "https://api.anthropic.com/v1"}

_LARGEST_ANSWER: Final = 4 * 1024 * 1024

_MILLION: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """The prices of a million tokens, in and out, in the currency of the settings."""

    input: float = 0.0
    output: float = 0.0

    @classmethod
    def of(cls, settings: Settings) -> Prices:
        """Return the configured prices."""
        return cls(input=settings.llm_input_price, output=settings.llm_output_price)

    def cost(self, usage: TokenUsage) -> float:
        """Return what the usage cost, at most: a provider may give rebates for what it has in its cache."""
        return (usage.input_tokens * self.input + usage.output_tokens * self.output) / _MILLION


def make_chat(settings: Settings, fell_back: Callable[[], None] = lambda: None) -> StreamingChat | None:
    """Return the configured language model, shared by all that use one; None with TM_LLM_PROVIDER=rules.

    With TM_LLM_FALLBACK_PROVIDER it is two; `fell_back` is called whenever the second is asked. Nothing connects yet.
    Raises ConfigurationError when the settings can't be right.
    """
    if settings.llm_provider == "rules":
        return None
    first = _chat(
        settings, SETTINGS, settings.llm_provider, settings.llm_base_url, settings.llm_model, settings.llm_api_key
    )
    if settings.llm_fallback_provider == "none":
        return first
    second = _chat(
        settings,
        f"{SETTINGS}_FALLBACK",
        settings.llm_fallback_provider,
        settings.llm_fallback_base_url,
        settings.llm_fallback_model,
        settings.llm_fallback_api_key,
    )
    return FallbackChat(first=first, second=second, fell_back=fell_back)


def _chat(
    settings: Settings,
    named: str,
    provider: Literal["openai", "anthropic"],
    base_url: str | None,
    model: str | None,
    key: SecretStr | None,
) -> StreamingChat:
    """Return a language model; `named` is the prefix of its settings."""
    if model is None:
        raise ConfigurationError(f"{named}_PROVIDER={provider} needs {named}_MODEL")
    if provider == "anthropic" and base_url is None and key is None:
        raise ConfigurationError(f"{named}_PROVIDER=anthropic needs {named}_API_KEY")
    spec = ChatSpec(
        base_url=base_url or _BASE_URLS[provider],
        model=model,
        api_key=key,
        max_tokens=settings.llm_max_tokens,
        settings=named,
    )
    policy = HttpPolicy(
        timeout=settings.llm_timeout,
        deadline=settings.llm_deadline,
        attempts=settings.llm_attempts,
        concurrency=settings.llm_concurrency,
        max_response_bytes=_LARGEST_ANSWER,
    )
    if provider == "anthropic":
        return AnthropicMessages(spec, policy=policy)
    return OpenAIChat(spec, policy=policy)


def make_batches(chat: ChatModel | None, settings: Settings) -> OpenAIBatches | None:
    """Return the batch endpoint of the language model; None where TM_LLM_BATCH is off.

    Raises ConfigurationError where the provider's wire format has none.
    """
    if not settings.llm_batch:
        return None
    first = chat.first if isinstance(chat, FallbackChat) else chat
    if not isinstance(first, OpenAIChat):
        raise ConfigurationError("TM_LLM_BATCH=true takes TM_LLM_PROVIDER=openai")
    return first.batches


def make_extractor(chat: ChatModel, types: Iterable[MemoryType], settings: Settings, metrics: Metrics) -> Extractor:
    """Return the extractor on the language model, which it closes; of the types it asks for those `extracted`."""
    asked_for = [one for one in types if one.extracted]
    return ModelExtractor(
        chat, asked_for, sweep=settings.llm_sweep, window=settings.llm_window, observer=_observer(settings, metrics)
    )


def make_task(task: type[Task], chat: StreamingChat | None, settings: Settings, metrics: Metrics) -> Task | None:
    """Return a task of the language model; None without one."""
    return None if chat is None else task(chat=chat, observer=_observer(settings, metrics))


def make_question_writer(chat: ChatModel | None, settings: Settings, metrics: Metrics) -> QuestionWriter:
    """Return the writer of the questions that memories answer: the language model, rules without one."""
    rules = RuleQuestions(language=settings.language)
    if chat is None:
        return rules
    return ModelQuestionWriter(chat=chat, fallback=rules, observer=_observer(settings, metrics))


def _observer(settings: Settings, metrics: Metrics) -> ChatObserver:
    prices = Prices.of(settings)

    def observe(purpose: str, outcome: str, seconds: float, usage: TokenUsage) -> None:
        metrics.llm(purpose, outcome, seconds)
        metrics.llm_tokens(purpose, usage.input_tokens, usage.output_tokens, prices.cost(usage))

    return observe

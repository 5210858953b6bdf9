"""The runtime: what a process holds open, and the services that its routes and jobs call."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar, cast

from app.db.clock import DatabaseClock
from app.db.session import Database
from app.db.tenant_types import TypeCache
from app.errors import ConfigurationError
from app.memory.registry import Registry
from app.metrics import Metrics
from app.providers.chat import StreamingChat
from app.providers.embeddings import Embedder
from app.providers.model_answer import AnswerWriter
from app.providers.model_questions import QuestionRewriter
from app.providers.model_tasks import BeliefClassifier, Summariser
from app.providers.protocols import QuestionWriter
from app.read.relevance import Calibration
from app.services.audit import Audit
from app.services.entities import Entities
from app.services.extraction import ExtractionPolicies
from app.services.health import Readiness
from app.services.idempotency import Idempotency
from app.services.index_maintenance import IndexMaintenance
from app.services.jobs import Jobs
from app.services.keys import Keys
from app.services.limits import Quotas
from app.services.memories import Memories, Timelines
from app.services.query import Queries
from app.services.tenants import Tenants
from app.services.turn_batches import TurnBatches
from app.services.turns import Turns
from app.settings import Settings
from app.telemetry import Telemetry
from app.write.pipeline import WritePipeline

Service = TypeVar("Service")


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """Parts of which all services are made; `stack` closes what is opened."""

    settings: Settings
    database: Database
    embedder: Embedder
    model_id: int
    calibration: Calibration
    types: TypeCache
    clock: DatabaseClock
    metrics: Metrics
    telemetry: Telemetry
    stack: AsyncExitStack


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageModels:
    """The tasks that a language model does; None, or done by rules, without one."""

    chat: StreamingChat | None
    summariser: Summariser | None
    classifier: BeliefClassifier | None
    answer_writer: AnswerWriter | None
    question_writer: QuestionWriter
    rewriter: QuestionRewriter | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """The core's services, which API, worker and CLI share, and those of the features, which `service` returns.

    `types` are the built-in types; `type_book` has those of each tenant. `first_key` is set when this start made it.
    `gauges` are asked before metrics are shown.
    """

    settings: Settings
    database: Database
    embedder: Embedder
    model_id: int
    types: Registry
    type_book: TypeCache
    clock: Callable[[], datetime]
    metrics: Metrics
    telemetry: Telemetry
    models: LanguageModels
    pipeline: WritePipeline
    upkeep: IndexMaintenance
    memories: Memories
    timelines: Timelines
    queries: Queries
    turns: Turns
    turn_batches: TurnBatches | None
    policies: ExtractionPolicies
    audit: Audit
    entities: Entities
    jobs: Jobs
    keys: Keys
    quotas: Quotas
    tenants: Tenants
    idempotency: Idempotency
    readiness: Readiness
    first_key: str | None = field(default=None, repr=False)
    gauges: Sequence[Callable[[Runtime], Awaitable[None]]] = ()
    offered: Mapping[type, Callable[[Runtime], object]] = field(default_factory=dict, repr=False)
    _made: dict[type, object] = field(default_factory=dict, repr=False)

    def service(self, kind: type[Service]) -> Service:
        """Return a feature's service, which is made when it is first asked for.

        Raises ConfigurationError where no feature offers it.
        """
        if kind not in self._made:
            if kind not in self.offered:
                raise ConfigurationError(f"no feature offers {kind.__name__}: its folder in app/features is missing")
            self._made[kind] = self.offered[kind](self)
        return cast("Service", self._made[kind])


async def open_in_background(stack: AsyncExitStack, work: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine in the background until the stack closes."""
    task = asyncio.create_task(work)

    async def stop() -> None:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    stack.push_async_callback(stop)

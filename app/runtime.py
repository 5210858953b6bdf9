"""The runtime: everything a process of this service holds open, built once and closed in order."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import structlog

from app.db import models, revision
from app.db.embedded import default_data_dir, start_embedded
from app.db.embedded_watch import Watch
from app.db.session import Database
from app.errors import ConfigurationError
from app.memory.registry import Registry, discover
from app.metrics import Metrics
from app.providers.embeddings import Embedder, EmbeddingModel, OpenAIEmbedder
from app.providers.http import HttpPolicy
from app.providers.llm import Prices, make_chat, make_extractor, make_judge, make_summariser
from app.providers.rules import RulesExtractor
from app.providers.summarising import Summariser
from app.providers.wordllama import WordllamaEmbedder
from app.read.access import AccessTracker
from app.read.pipeline import ReadPipeline
from app.services.audit import Audit
from app.services.background import Workers, checked_crons
from app.services.entities import Entities
from app.services.erasure import Erasing
from app.services.exporting import Exporting
from app.services.feedback import Judging
from app.services.idempotency import Idempotency
from app.services.importing import Importing
from app.services.jobs import Jobs
from app.services.keys import Keys
from app.services.memories import Memories
from app.services.policies import Policies
from app.services.query import Queries
from app.services.readiness import Readiness
from app.services.review import Reviews
from app.services.reviving import Reviving
from app.services.stats import Stats
from app.services.tenants import Tenants
from app.services.turns import Turns
from app.services.upkeep import IndexUpkeep
from app.services.workers import worker
from app.services.workers.worker import Means
from app.settings import Settings
from app.write.deciding import Deciding
from app.write.ingest import IngestPipeline
from app.write.pipeline import WritePipeline
from app.write.reviewing import Reviewing

KEY_FILE = "api-key"
"""In the embedded database's folder: the first key, for the CLI on the same machine."""

log = structlog.get_logger("typed_memory.runtime")


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """What the API, the worker and the CLI share. `first_key` is set when this start made it up."""

    settings: Settings
    database: Database
    embedder: Embedder
    types: Registry
    clock: Callable[[], datetime]
    metrics: Metrics
    memories: Memories
    queries: Queries
    feedback: Judging
    turns: Turns
    policies: Policies
    audit: Audit
    entities: Entities
    erasing: Erasing
    exporting: Exporting
    importing: Importing
    jobs: Jobs
    workers: Workers
    stats: Stats
    keys: Keys
    tenants: Tenants
    idempotency: Idempotency
    readiness: Readiness
    reviews: Reviews
    first_key: str | None = field(default=None, repr=False)


@asynccontextmanager
async def build_runtime(settings: Settings) -> AsyncIterator[Runtime]:
    """Open everything and yield it; close it in the opposite order.

    Raises ConfigurationError when the service can't run as configured.
    """
    metrics = Metrics()
    async with AsyncExitStack() as stack:
        url, owner_url = await _database_urls(settings, metrics, stack)
        embedder = make_embedder(settings, metrics)
        stack.push_async_callback(embedder.aclose)
        if settings.auto_migrate:
            await revision.bring_up(owner_url, patience=settings.database_start_timeout)
            await models.register(owner_url, name=embedder.name, dimensions=embedder.dimensions)
        database = _database(settings, url, metrics)
        stack.push_async_callback(database.close)
        wrong = revision.outdated(await revision.current(database))
        if wrong is not None:
            raise ConfigurationError(wrong)
        stored = await models.active(database)
        model_id = models.check(stored, name=embedder.name, dimensions=embedder.dimensions)
        yield await _assembled(settings, database, embedder, model_id, metrics, stack)


async def _assembled(
    settings: Settings,
    database: Database,
    embedder: Embedder,
    model_id: int,
    metrics: Metrics,
    stack: AsyncExitStack,
) -> Runtime:
    upkeep = IndexUpkeep(database=database, language=settings.language)
    await _in_background(stack, upkeep.run())
    types = discover()
    policies = Policies(database=database, clock=now)
    chat = make_chat(settings)
    extractor = RulesExtractor() if chat is None else make_extractor(chat, types, settings, metrics)
    stack.push_async_callback(extractor.aclose)
    deciding = Deciding(
        database=database,
        embedder=embedder,
        model_id=model_id,
        language=settings.language,
        clock=now,
        types=types,
        judge=make_judge(chat, settings, metrics),
    )
    pipeline = WritePipeline(
        deciding=deciding,
        hype=settings.hype,
        observe=metrics.decision,
        conflict=lambda: metrics.retry("scope moved"),
        drifted=upkeep.mark,
        crowded=upkeep.crowd,
    )
    ingest = IngestPipeline(
        database=database,
        writing=pipeline,
        extractor=extractor,
        types=types,
        clock=now,
        keep_episodes=chat is None if settings.keep_episodes is None else settings.keep_episodes,
        prices=Prices.of(settings),
        observe=metrics.turn,
    )
    keys = Keys(database=database, clock=now)
    stack.push_async_callback(keys.aclose)
    idempotency = Idempotency(database=database)
    stack.push_async_callback(idempotency.aclose)
    tenants = Tenants(database=database, clock=now)
    jobs = Jobs(database=database, clock=now)
    queries = _queries(settings, database, embedder, model_id, types, metrics, stack)
    return Runtime(
        settings=settings,
        database=database,
        embedder=embedder,
        types=types,
        clock=now,
        metrics=metrics,
        memories=Memories(database=database, pipeline=pipeline, clock=now),
        queries=queries,
        feedback=Judging(database=database, tracker=queries.tracker, clock=now, observe=metrics.feedback),
        turns=Turns(database=database, pipeline=ingest, policies=policies, clock=now),
        policies=policies,
        audit=Audit(database=database),
        entities=Entities(database=database, types=types, clock=now),
        erasing=Erasing(database=database, types=types, clock=now, language=settings.language),
        exporting=Exporting(database=database),
        importing=Importing(
            database=database,
            reviving=Reviving(embedder=embedder, types=types, language=settings.language),
            policies=policies,
            model_id=model_id,
            clock=now,
            drifted=upkeep.mark,
            crowded=upkeep.crowd,
        ),
        jobs=jobs,
        workers=_workers(settings, pipeline, make_summariser(chat, settings, metrics), metrics),
        stats=Stats(database=database, clock=now),
        keys=keys,
        tenants=tenants,
        idempotency=idempotency,
        readiness=Readiness(
            database=database,
            jobs=jobs,
            model=embedder.name,
            dimensions=embedder.dimensions,
            slow_seconds=settings.queue_slow_seconds,
        ),
        reviews=Reviews(database=database, reviewing=Reviewing(pipeline=pipeline), clock=now),
        first_key=await _first_key(settings, keys, tenants),
    )


def _workers(settings: Settings, pipeline: WritePipeline, summariser: Summariser | None, metrics: Metrics) -> Workers:
    deciding = pipeline.deciding
    known = worker.discover()
    means = Means(
        database=deciding.database,
        clock=now,
        embedder=deciding.embedder,
        model_id=deciding.model_id,
        language=settings.language,
        types=deciding.types,
        writing=pipeline,
        forgotten_days=settings.forgotten_days,
        summariser=summariser,
    )
    return Workers(
        database=deciding.database,
        clock=now,
        means=means,
        known=known,
        crons=checked_crons(settings.worker_schedules, known),
        observe=metrics.worker,
    )


def _queries(
    settings: Settings,
    database: Database,
    embedder: Embedder,
    model_id: int,
    types: Registry,
    metrics: Metrics,
    stack: AsyncExitStack,
) -> Queries:
    tracker = AccessTracker(
        database=database,
        clock=now,
        interval=settings.access_flush_seconds,
        dropped=metrics.dropped_accesses,
    )
    stack.push_async_callback(tracker.aclose)
    tracker.start()
    pipeline = ReadPipeline(
        database=database,
        embedder=embedder,
        model_id=model_id,
        types=types,
        language=settings.language,
        clock=now,
        observe=metrics.arm,
    )
    return Queries(pipeline=pipeline, tracker=tracker)


def now() -> datetime:
    """Return the present."""
    return datetime.now(UTC)


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


def data_dir(settings: Settings) -> Path:
    """Return the embedded database's folder."""
    return settings.data_dir or default_data_dir()


async def _database_urls(settings: Settings, metrics: Metrics, stack: AsyncExitStack) -> tuple[str, str]:
    """Return the service's login and the owner's; without configuration, of a server started here."""
    if settings.database_url is not None:
        url = settings.database_url.get_secret_value()
        owner = settings.migration_database_url
        return url, url if owner is None else owner.get_secret_value()
    server = await asyncio.to_thread(start_embedded, data_dir(settings))

    def restarted() -> None:
        metrics.database_restart()
        log.warning("the embedded database had died and was started again")

    watch = Watch(server, restarted=restarted, failed=lambda why: log.error("embedded database", reason=why))
    stack.push_async_callback(asyncio.to_thread, watch.release)
    await _in_background(stack, watch.run())
    return server.url, server.url


def _database(settings: Settings, url: str, metrics: Metrics) -> Database:
    database = Database(
        url,
        pool_size=settings.database_pool_size,
        pool_timeout=settings.database_pool_timeout,
        statement_timeout=settings.statement_timeout,
    )
    metrics.watch_pool(database.pool_in_use, settings.database_pool_size)
    return database


async def _in_background(stack: AsyncExitStack, work: object) -> None:
    task = asyncio.ensure_future(work)  # type: ignore[call-overload]

    async def stop() -> None:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    stack.push_async_callback(stop)


async def _first_key(settings: Settings, keys: Keys, tenants: Tenants) -> str | None:
    given = settings.bootstrap_key
    tenant = await tenants.ensure_default()
    made = await keys.ensure_bootstrap(tenant.id, None if given is None else given.get_secret_value())
    if made is not None and settings.database_url is None:
        await asyncio.to_thread(_keep, data_dir(settings) / KEY_FILE, made)
    return made


def _keep(path: Path, secret: str) -> None:
    """Write a secret where only this user can read it."""
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(f"{secret}\n")

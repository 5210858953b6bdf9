"""The runtime: everything a process of this service holds open, built once and closed in order."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime

from app.db import models
from app.db.session import Database
from app.db.type_book import TypeBook
from app.memory.registry import Registry, discover
from app.metrics import Metrics
from app.opening import Store, first_key, in_background, now, open_store
from app.providers.classifying import BeliefClassifier
from app.providers.embedder import make_embedder
from app.providers.embeddings import Embedder
from app.providers.llm import Prices, make_chat, make_classifier, make_extractor, make_judge, make_summariser
from app.providers.rules import RulesExtractor
from app.providers.summarising import Summariser
from app.read.access import AccessTracker
from app.read.pipeline import ReadPipeline
from app.services.audit import Audit
from app.services.backfills import Backfills
from app.services.background import Workers, checked_crons
from app.services.entities import Entities
from app.services.erasure import Erasing
from app.services.exporting import Exporting
from app.services.feedback import Judging
from app.services.idempotency import Idempotency
from app.services.import_means import Means as ImportMeans
from app.services.importing import Importing
from app.services.jobs import Jobs
from app.services.keys import Keys
from app.services.memories import Memories
from app.services.own_types import OwnTypes
from app.services.policies import Policies
from app.services.query import Queries
from app.services.readiness import Readiness
from app.services.refilling import Refilling
from app.services.review import Reviews
from app.services.reviving import Reviving
from app.services.stats import Stats
from app.services.tenants import Tenants
from app.services.timelines import Timelines
from app.services.turns import Turns
from app.services.upkeep import IndexUpkeep
from app.services.workers import worker
from app.services.workers.worker import Means
from app.settings import Settings
from app.write.deciding import Deciding
from app.write.ingest import IngestPipeline
from app.write.pipeline import WritePipeline
from app.write.reviewing import Reviewing


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """What the API, the worker and the CLI share. `first_key` is set when this start made it up.

    `types` are those that are built in; `type_book` has those of each tenant.
    """

    settings: Settings
    database: Database
    embedder: Embedder
    model_id: int
    types: Registry
    type_book: TypeBook
    own_types: OwnTypes
    clock: Callable[[], datetime]
    metrics: Metrics
    memories: Memories
    timelines: Timelines
    queries: Queries
    feedback: Judging
    turns: Turns
    policies: Policies
    audit: Audit
    backfills: Backfills
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Base:
    """What everything else is made of; `stack` closes it."""

    settings: Settings
    database: Database
    embedder: Embedder
    model_id: int
    types: TypeBook
    metrics: Metrics
    stack: AsyncExitStack


@dataclass(frozen=True, slots=True, kw_only=True)
class _Writing:
    """What takes memories and turns in; `summariser` and `classifier` are there where there is a model."""

    pipeline: WritePipeline
    ingest: IngestPipeline
    upkeep: IndexUpkeep
    summariser: Summariser | None
    classifier: BeliefClassifier | None


@asynccontextmanager
async def build_runtime(settings: Settings) -> AsyncIterator[Runtime]:
    """Open everything and yield it; close it in the opposite order.

    Raises ConfigurationError when the service can't run as configured.
    """
    metrics = Metrics()
    async with AsyncExitStack() as stack:
        embedder = make_embedder(settings, metrics)
        stack.push_async_callback(embedder.aclose)
        store = await open_store(settings, metrics, stack, migrate=settings.auto_migrate)
        database = store.database
        if settings.auto_migrate:
            await models.register(store.owner_url, name=embedder.name, dimensions=embedder.dimensions)
        model = models.check(await models.stored(database), name=embedder.name, dimensions=embedder.dimensions)
        base = _Base(
            settings=settings,
            database=database,
            embedder=embedder,
            model_id=model.id,
            types=TypeBook(database=database, built_in=discover()),
            metrics=metrics,
            stack=stack,
        )
        yield await _assembled(base, await _writing(base), store)


async def _assembled(base: _Base, writing: _Writing, store: Store) -> Runtime:
    settings, database, types = base.settings, base.database, base.types
    idempotency = Idempotency(database=database)
    base.stack.push_async_callback(idempotency.aclose)
    policies = Policies(database=database, clock=now)
    queries = _queries(base)
    jobs = Jobs(database=database, clock=now)
    own_types = OwnTypes(database=database, book=types, clock=now)
    return Runtime(
        settings=settings,
        database=database,
        embedder=base.embedder,
        model_id=base.model_id,
        types=types.built_in,
        type_book=types,
        own_types=own_types,
        clock=now,
        metrics=base.metrics,
        memories=Memories(database=database, pipeline=writing.pipeline, clock=now),
        timelines=Timelines(database=database),
        queries=queries,
        feedback=Judging(database=database, tracker=queries.tracker, clock=now, observe=base.metrics.feedback),
        turns=Turns(database=database, pipeline=writing.ingest, policies=policies, clock=now),
        policies=policies,
        audit=Audit(database=database),
        backfills=Backfills(
            database=database, types=types, clock=now, classifier=writing.classifier, language=settings.language
        ),
        entities=Entities(database=database, types=types, clock=now),
        erasing=Erasing(database=database, types=types, clock=now, language=settings.language),
        exporting=Exporting(database=database),
        importing=_importing(base, writing.upkeep, policies, own_types),
        jobs=jobs,
        workers=_workers(base, writing),
        stats=Stats(database=database, clock=now),
        keys=store.keys,
        tenants=store.tenants,
        idempotency=idempotency,
        readiness=Readiness(
            database=database,
            jobs=jobs,
            model=base.embedder.name,
            dimensions=base.embedder.dimensions,
            slow_seconds=settings.queue_slow_seconds,
        ),
        reviews=Reviews(database=database, reviewing=Reviewing(pipeline=writing.pipeline), clock=now),
        first_key=await first_key(settings, store),
    )


async def _writing(base: _Base) -> _Writing:
    settings, metrics = base.settings, base.metrics
    upkeep = IndexUpkeep(database=base.database, language=settings.language)
    await in_background(base.stack, upkeep.run())
    refilling = Refilling(database=base.database, embedder=base.embedder, model_id=base.model_id, types=base.types)
    await in_background(base.stack, refilling.run())
    chat = make_chat(settings)
    extractor = RulesExtractor() if chat is None else make_extractor(chat, base.types.built_in, settings, metrics)
    base.stack.push_async_callback(extractor.aclose)
    deciding = Deciding(
        database=base.database,
        embedder=base.embedder,
        model_id=base.model_id,
        language=settings.language,
        clock=now,
        types=base.types,
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
        database=base.database,
        writing=pipeline,
        extractor=extractor,
        types=base.types,
        clock=now,
        keep_episodes=chat is None if settings.keep_episodes is None else settings.keep_episodes,
        prices=Prices.of(settings),
        observe=metrics.turn,
    )
    summariser = make_summariser(chat, settings, metrics)
    classifier = make_classifier(chat, settings, metrics)
    return _Writing(pipeline=pipeline, ingest=ingest, upkeep=upkeep, summariser=summariser, classifier=classifier)


def _importing(base: _Base, upkeep: IndexUpkeep, policies: Policies, own_types: OwnTypes) -> Importing:
    means = ImportMeans(
        database=base.database,
        reviving=Reviving(embedder=base.embedder, language=base.settings.language),
        model_id=base.model_id,
        clock=now,
        drifted=upkeep.mark,
        crowded=upkeep.crowd,
    )
    return Importing(means=means, own_types=own_types, policies=policies)


def _workers(base: _Base, writing: _Writing) -> Workers:
    known = worker.discover()
    means = Means(
        database=base.database,
        clock=now,
        embedder=base.embedder,
        model_id=base.model_id,
        language=base.settings.language,
        types=base.types,
        writing=writing.pipeline,
        forgotten_days=base.settings.forgotten_days,
        summariser=writing.summariser,
    )
    return Workers(
        database=base.database,
        clock=now,
        means=means,
        known=known,
        crons=checked_crons(base.settings.worker_schedules, known),
        observe=base.metrics.worker,
    )


def _queries(base: _Base) -> Queries:
    tracker = AccessTracker(
        database=base.database,
        clock=now,
        interval=base.settings.access_flush_seconds,
        dropped=base.metrics.dropped_accesses,
    )
    base.stack.push_async_callback(tracker.aclose)
    tracker.start()
    pipeline = ReadPipeline(
        database=base.database,
        embedder=base.embedder,
        model_id=base.model_id,
        types=base.types,
        language=base.settings.language,
        clock=now,
        observe=base.metrics.arm,
    )
    return Queries(pipeline=pipeline, tracker=tracker)

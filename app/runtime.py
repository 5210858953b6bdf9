"""The runtime: all services and connections of a process, opened once and closed in order."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from threadpoolctl import threadpool_limits

from app import VERSION
from app.bootstrap import Store, first_key, now, open_in_background, open_replica, open_store
from app.db import embedding_models
from app.db.clock import DatabaseClock
from app.db.session import Database
from app.db.sql import Model
from app.db.tenant_types import TypeCache
from app.features.answers.profiles import Profiles
from app.features.answers.service import Answers
from app.features.backfill.runs import Backfills
from app.features.erasure.memories import MemoryErasure
from app.features.erasure.service import Erasures
from app.features.erasure.turns import TurnRedaction
from app.features.feedback.service import FeedbackService
from app.features.lifecycle import runner
from app.features.lifecycle.runner import WorkerContext, Workers, checked_crons
from app.features.lifecycle.stats import Stats
from app.features.portability.batch import ImportContext
from app.features.portability.exports import Exports
from app.features.portability.imports import Imports
from app.features.portability.index_rows import ImportIndexer
from app.features.query_log.activity import Activity
from app.features.query_log.service import QueryLog
from app.features.reembedding.service import VectorBackfill
from app.features.review.decide import ReviewDecisions, ReviewUndo
from app.features.review.queue import ReviewNotes, Reviews
from app.features.review.sameness import Sameness
from app.features.tenant_types.service import TenantTypes
from app.features.webhooks.events import LiveEvents
from app.features.webhooks.secret_box import SecretBox
from app.features.webhooks.sender import WebhookSender
from app.features.webhooks.service import Webhooks
from app.memory.extraction import SHORT_TURN
from app.memory.registry import Registry, discover
from app.metrics import Metrics
from app.providers.chat import StreamingChat
from app.providers.embeddings import Embedder
from app.providers.factory import (
    Prices,
    faults,
    make_batches,
    make_chat,
    make_embedder,
    make_extractor,
    make_question_writer,
    make_reranker,
    make_task,
    word_vectors,
)
from app.providers.model_answer import AnswerWriter
from app.providers.model_extractor import ModelExtractor
from app.providers.model_questions import QuestionRewriter
from app.providers.model_tasks import BeliefClassifier, ModelConfirmer, ModelJudge, Summariser
from app.providers.protocols import QuestionWriter
from app.providers.rerankers import TextScorer
from app.providers.rule_extractor import RuleExtractor
from app.read.access import AccessTracker
from app.read.near_words import NearWords
from app.read.pipeline import ReadPipeline
from app.read.relevance import Calibration, calibration_of
from app.read.search import MemorySearch
from app.services.audit import Audit
from app.services.entities import Entities
from app.services.extraction import ExtractionPolicies
from app.services.health import Readiness
from app.services.idempotency import Idempotency
from app.services.index_maintenance import IndexMaintenance
from app.services.jobs import Jobs
from app.services.keys import Keys
from app.services.memories import Memories, Timelines
from app.services.query import Queries
from app.services.quotas import Quotas
from app.services.tenants import Tenants
from app.services.turn_batches import TurnBatches
from app.services.turns import Turns
from app.settings import Settings
from app.telemetry import Telemetry
from app.write.known import KnownReader
from app.write.pipeline import WritePipeline
from app.write.turns import IngestPipeline


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """The services that API, worker and CLI share. `first_key` is set when this start generated it.

    `types` are the built-in types; `type_book` has those of each tenant.
    """

    settings: Settings
    database: Database
    embedder: Embedder
    model_id: int
    types: Registry
    type_book: TypeCache
    own_types: TenantTypes
    clock: Callable[[], datetime]
    metrics: Metrics
    telemetry: Telemetry
    memories: Memories
    timelines: Timelines
    queries: Queries
    query_log: QueryLog
    feedback: FeedbackService
    turns: Turns
    turn_batches: TurnBatches | None
    policies: ExtractionPolicies
    activity: Activity
    audit: Audit
    backfills: Backfills
    entities: Entities
    erasing: Erasures
    exporting: Exports
    importing: Imports
    jobs: Jobs
    workers: Workers
    stats: Stats
    keys: Keys
    quotas: Quotas
    tenants: Tenants
    idempotency: Idempotency
    readiness: Readiness
    reviews: Reviews
    sameness: Sameness
    profiles: Profiles
    review_notes: ReviewNotes
    undoing: ReviewUndo
    webhooks: Webhooks
    live_events: LiveEvents
    answers: Answers
    question_writer: QuestionWriter
    first_key: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Base:
    """The resources that all services need; `stack` closes them."""

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
class _WriteServices:
    """The services that write, and those that exist with a language model only."""

    pipeline: WritePipeline
    ingest: IngestPipeline
    upkeep: IndexMaintenance
    summariser: Summariser | None
    classifier: BeliefClassifier | None
    answer_writer: AnswerWriter | None
    writer: QuestionWriter
    rewriter: QuestionRewriter | None
    chat: StreamingChat | None


@asynccontextmanager
async def build_runtime(settings: Settings, wall: Callable[[], datetime] = now) -> AsyncIterator[Runtime]:
    """Open all resources and yield the runtime; close them in the opposite order.

    `wall` is this machine's clock: it orders nothing, the database's does.
    Raises ConfigurationError when the service can't run as configured.
    """
    telemetry = Telemetry(settings.otlp_endpoint, VERSION)
    metrics = Metrics(telemetry.stage, tenants=settings.metrics_tenants)
    async with AsyncExitStack() as stack, telemetry.exporting(metrics.collected()):
        # For products as small as ours, a second thread costs more than it saves.
        stack.enter_context(threadpool_limits(limits=1, user_api="blas"))
        await open_in_background(stack, metrics.watch_event_loop())
        embedder = make_embedder(settings, metrics)
        stack.push_async_callback(embedder.aclose)
        store = await open_store(settings, metrics, stack, migrate=settings.auto_migrate, wall=wall)
        database = store.database
        if settings.auto_migrate:
            await embedding_models.register(store.owner_url, name=embedder.name, dimensions=embedder.dimensions)
        model = embedding_models.check(
            await embedding_models.read_models(database), name=embedder.name, dimensions=embedder.dimensions
        )
        base = _Base(
            settings=settings,
            database=database,
            embedder=embedder,
            model_id=model.id,
            calibration=calibration_of(model.name, unrelated=model.unrelated, related=model.related),
            types=TypeCache(database=database, built_in=discover()),
            clock=store.clock,
            metrics=metrics,
            telemetry=telemetry,
            stack=stack,
        )
        runtime = await _assembled(base, await _writing(base), store)
        await open_in_background(stack, metrics.publish())
        yield runtime


async def _assembled(base: _Base, writing: _WriteServices, store: Store) -> Runtime:
    settings, database, types = base.settings, base.database, base.types
    idempotency = Idempotency(database=database)
    base.stack.push_async_callback(idempotency.aclose)
    policies = ExtractionPolicies(database=database, clock=base.clock)
    queries = await _queries(base, writing)
    deciding = ReviewDecisions(pipeline=writing.pipeline)
    erasing = Erasures(
        database=database,
        types=types,
        clock=base.clock,
        each=MemoryErasure(
            clock=base.clock, language=settings.language, redacting=TurnRedaction(pipeline=writing.pipeline)
        ),
    )
    jobs = Jobs(database=database, clock=base.clock)
    own_types = TenantTypes(database=database, book=types, clock=base.clock)
    return Runtime(
        settings=settings,
        database=database,
        embedder=base.embedder,
        model_id=base.model_id,
        types=types.built_in,
        type_book=types,
        own_types=own_types,
        clock=base.clock,
        metrics=base.metrics,
        telemetry=base.telemetry,
        memories=Memories(database=database, pipeline=writing.pipeline, quotas=store.quotas, clock=base.clock),
        timelines=Timelines(database=database),
        queries=queries,
        query_log=queries.log,
        feedback=FeedbackService(
            database=database, tracker=queries.tracker, clock=base.clock, observe=base.metrics.feedback
        ),
        turns=Turns(
            database=database, pipeline=writing.ingest, policies=policies, quotas=store.quotas, clock=base.clock
        ),
        turn_batches=_turn_batches(base, writing, policies),
        policies=policies,
        activity=Activity(database=database, clock=base.clock),
        audit=Audit(database=database),
        backfills=_backfills(base, writing.classifier),
        entities=Entities(database=database, types=types, clock=base.clock),
        erasing=erasing,
        exporting=Exports(database=database),
        importing=_importing(base, store.quotas, writing.upkeep, policies, own_types),
        jobs=jobs,
        workers=_workers(base, writing),
        stats=Stats(database=database, clock=base.clock),
        keys=store.keys,
        quotas=store.quotas,
        tenants=store.tenants,
        idempotency=idempotency,
        readiness=_readiness(base, jobs, writing.chat, queries.pipeline.reranker),
        reviews=Reviews(database=database, reviewing=deciding, erasing=erasing, clock=base.clock),
        sameness=Sameness(pipeline=writing.pipeline),
        question_writer=writing.writer,
        profiles=Profiles(database=database, types=types, clock=base.clock),
        review_notes=ReviewNotes(database=database, clock=base.clock),
        undoing=ReviewUndo(decisions=deciding),
        webhooks=Webhooks(
            database=database, sender=_webhook_sender(settings), box=_secret_box(settings), clock=base.clock
        ),
        answers=_answers(base, writing.answer_writer, queries, store.quotas),
        live_events=LiveEvents(database=database, clock=base.clock),
        first_key=await first_key(settings, store),
    )


def _webhook_sender(settings: Settings) -> WebhookSender:
    return WebhookSender(timeout=settings.webhook_timeout, private=settings.webhook_private_addresses)


def _secret_box(settings: Settings) -> SecretBox:
    keys = settings.secrets_keys
    return SecretBox.of(None if keys is None else keys.get_secret_value())


async def _writing(base: _Base) -> _WriteServices:
    settings, metrics = base.settings, base.metrics
    upkeep = IndexMaintenance(database=base.database, language=settings.language)
    await open_in_background(base.stack, upkeep.run())
    refilling = VectorBackfill(database=base.database, embedder=base.embedder, model_id=base.model_id, types=base.types)
    await open_in_background(base.stack, refilling.run())
    chat = make_chat(settings, metrics.llm_fallback)
    extractor = RuleExtractor() if chat is None else make_extractor(chat, base.types.built_in, settings, metrics)
    base.stack.push_async_callback(extractor.aclose)
    writer = make_question_writer(chat, settings, metrics)
    pipeline = WritePipeline(
        database=base.database,
        embedder=base.embedder,
        model_id=base.model_id,
        language=settings.language,
        clock=base.clock,
        types=base.types,
        judge=make_task(ModelJudge, chat, settings, metrics),
        judge_seconds=settings.judge_deadline,
        hype=writer if settings.hype else None,
        observe=metrics.decision,
        timed=metrics.write_stage,
        conflict=lambda: metrics.retry("scope moved"),
        drifted=upkeep.mark,
        crowded=upkeep.crowd,
    )
    ingest = IngestPipeline(
        database=base.database,
        writing=replace(pipeline, judge_seconds=settings.llm_deadline),  # as long as it takes to extract
        extractor=extractor,
        known=KnownReader(database=base.database, embedder=base.embedder, model_id=base.model_id),
        types=base.types,
        clock=base.clock,
        keep_episodes=settings.keep_episodes,
        least_words=SHORT_TURN if chat is None else 0,
        prices=Prices.of(settings),
        confirmer=make_task(ModelConfirmer, chat, settings, metrics),
        observe=metrics.turn,
    )
    return _WriteServices(
        pipeline=pipeline,
        ingest=ingest,
        upkeep=upkeep,
        summariser=make_task(Summariser, chat, settings, metrics),
        classifier=make_task(BeliefClassifier, chat, settings, metrics),
        answer_writer=make_task(AnswerWriter, chat, settings, metrics),
        writer=writer,
        rewriter=make_task(QuestionRewriter, chat, settings, metrics),
        chat=chat,
    )


def _turn_batches(base: _Base, writing: _WriteServices, policies: ExtractionPolicies) -> TurnBatches | None:
    batches, extractor = make_batches(writing.chat, base.settings), writing.ingest.extractor
    if batches is None or not isinstance(extractor, ModelExtractor):
        return None
    return TurnBatches(
        database=base.database,
        pipeline=writing.ingest,
        policies=policies,
        extractor=extractor,
        batches=batches,
        prices=Prices.of(base.settings),
        clock=base.clock,
        poll=base.settings.llm_batch_poll,
    )


def _backfills(base: _Base, classifier: BeliefClassifier | None) -> Backfills:
    return Backfills(
        database=base.database,
        types=base.types,
        clock=base.clock,
        classifier=classifier,
        language=base.settings.language,
    )


def _readiness(base: _Base, jobs: Jobs, chat: StreamingChat | None, reranker: TextScorer | None) -> Readiness:
    return Readiness(
        database=base.database,
        jobs=jobs,
        model=base.embedder.name,
        dimensions=base.embedder.dimensions,
        slow_seconds=base.settings.queue_slow_seconds,
        clock_skew=base.clock.skew,
        most_skew_seconds=base.settings.clock_skew_seconds,
        provider_faults=partial(faults, chat, base.embedder, reranker),
    )


def _answers(base: _Base, writer: AnswerWriter | None, queries: Queries, quotas: Quotas) -> Answers:
    return Answers(
        database=base.database,
        queries=queries,
        quotas=quotas,
        writer=writer,
        prices=Prices.of(base.settings),
        clock=base.clock,
    )


def _importing(
    base: _Base, quotas: Quotas, upkeep: IndexMaintenance, policies: ExtractionPolicies, own_types: TenantTypes
) -> Imports:
    context = ImportContext(
        database=base.database,
        indexer=ImportIndexer(embedder=base.embedder, language=base.settings.language),
        model_id=base.model_id,
        quotas=quotas,
        clock=base.clock,
        drifted=upkeep.mark,
        crowded=upkeep.crowd,
    )
    return Imports(context=context, own_types=own_types, policies=policies)


def _workers(base: _Base, writing: _WriteServices) -> Workers:
    known = runner.discover()
    context = WorkerContext(
        database=base.database,
        clock=base.clock,
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
        clock=base.clock,
        context=context,
        known=known,
        crons=checked_crons(base.settings.worker_schedules, known),
        observe=base.metrics.worker,
    )


async def _queries(base: _Base, writing: _WriteServices) -> Queries:
    tracker = AccessTracker(
        database=base.database,
        clock=base.clock,
        interval=base.settings.access_flush_seconds,
        dropped=base.metrics.dropped_accesses,
    )
    base.stack.push_async_callback(tracker.aclose)
    await open_in_background(base.stack, tracker.run())
    query_log = QueryLog(
        database=base.database,
        clock=base.clock,
        sample=base.settings.query_log_sample,
        content=base.settings.query_log_content,
        dropped=base.metrics.dropped_query_log_entries,
    )
    base.stack.push_async_callback(query_log.flush)
    await open_in_background(base.stack, query_log.run())
    reranker = make_reranker(base.settings)
    if reranker is not None:
        base.stack.push_async_callback(reranker.aclose)
    vectors = word_vectors(base.embedder)
    pipeline = ReadPipeline(
        database=base.database,
        embedder=base.embedder,
        types=base.types,
        search=MemorySearch(
            model=Model(id=base.model_id, dimensions=base.embedder.dimensions),
            language=base.settings.language,
            clock=base.clock,
            calibration=base.calibration,
            words=None if vectors is None else NearWords(vectors, base.settings.language),
            questioned=writing.writer.covers,
        ),
        observe=base.metrics.arm,
        reranker=reranker,
        rewriter=writing.rewriter if base.settings.rewrite_deadline else None,
        rewrite_seconds=base.settings.rewrite_deadline,
    )
    replica = open_replica(base.settings, base.database, base.metrics, base.stack)
    return Queries(pipeline=pipeline, tracker=tracker, log=query_log, replica=replica)

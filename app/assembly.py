"""The composition root of a process: all services and connections, opened once and closed in order."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

import structlog
from threadpoolctl import threadpool_limits

from app import VERSION, feature
from app.bootstrap import Store, first_key, now, open_replica, open_store
from app.db import change_notes, embedding_models
from app.db.sql import Model
from app.db.tenant_types import TypeCache
from app.feature import FeatureSpec
from app.memory.extraction import SHORT_TURN
from app.memory.registry import discover
from app.metrics import Metrics
from app.providers.chat import StreamingChat
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
    text_coverage,
    word_vectors,
)
from app.providers.model_answer import AnswerWriter
from app.providers.model_extractor import ModelExtractor
from app.providers.model_questions import QuestionRewriter
from app.providers.model_tasks import BeliefClassifier, ModelConfirmer, ModelJudge, Summariser
from app.providers.rerankers import TextScorer
from app.providers.rule_extractor import RuleExtractor
from app.read.access import AccessTracker
from app.read.near_words import NearWords
from app.read.pipeline import ReadPipeline
from app.read.relevance import calibration_of
from app.read.resident.kept import Residents
from app.read.search import MemorySearch
from app.runtime import LanguageModels, Resources, Runtime, open_in_background
from app.services.audit import Audit
from app.services.entities import Entities
from app.services.extraction import ExtractionPolicies
from app.services.health import Readiness
from app.services.idempotency import Idempotency
from app.services.index_maintenance import IndexMaintenance
from app.services.jobs import Jobs
from app.services.memories import Memories, Timelines
from app.services.query import Queries, QuestionLog
from app.services.turn_batches import TurnBatches
from app.services.turns import Turns
from app.settings import Settings
from app.telemetry import Telemetry
from app.write.known import KnownReader
from app.write.pipeline import WritePipeline
from app.write.turns import IngestPipeline

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _WriteServices:
    """The services that write."""

    pipeline: WritePipeline
    ingest: IngestPipeline
    upkeep: IndexMaintenance
    models: LanguageModels


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
        base = Resources(
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
        known = feature.discover()
        runtime = await _assembled(base, await _writing(base), store, known)
        for kind in runtime.offered:
            runtime.service(kind)
        for one in known:
            await one.start(runtime, stack)
        await open_in_background(stack, metrics.publish())
        yield runtime


async def _assembled(base: Resources, writing: _WriteServices, store: Store, known: Sequence[FeatureSpec]) -> Runtime:
    settings, database, types = base.settings, base.database, base.types
    idempotency = Idempotency(database=database)
    base.stack.push_async_callback(idempotency.aclose)
    policies = ExtractionPolicies(database=database, clock=base.clock)
    queries = await _queries(base, writing, feature.question_log(known, base))
    jobs = Jobs(database=database, clock=base.clock)
    return Runtime(
        settings=settings,
        database=database,
        embedder=base.embedder,
        model_id=base.model_id,
        types=types.built_in,
        type_book=types,
        clock=base.clock,
        metrics=base.metrics,
        telemetry=base.telemetry,
        models=writing.models,
        pipeline=writing.pipeline,
        upkeep=writing.upkeep,
        memories=Memories(database=database, pipeline=writing.pipeline, quotas=store.quotas, clock=base.clock),
        timelines=Timelines(database=database),
        queries=queries,
        turns=Turns(
            database=database, pipeline=writing.ingest, policies=policies, quotas=store.quotas, clock=base.clock
        ),
        turn_batches=_turn_batches(base, writing, policies),
        policies=policies,
        audit=Audit(database=database),
        entities=Entities(database=database, types=types, clock=base.clock),
        jobs=jobs,
        keys=store.keys,
        quotas=store.quotas,
        tenants=store.tenants,
        idempotency=idempotency,
        readiness=_readiness(base, jobs, writing.models.chat, queries.pipeline.reranker),
        first_key=await first_key(settings, store),
        gauges=tuple(one.gauges for one in known if one.gauges is not None),
        offered={kind: make for one in known for kind, make in one.services.items()},
    )


async def _writing(base: Resources) -> _WriteServices:
    settings, metrics = base.settings, base.metrics
    upkeep = IndexMaintenance(database=base.database, language=settings.language)
    await open_in_background(base.stack, upkeep.run())
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
        models=LanguageModels(
            chat=chat,
            summariser=make_task(Summariser, chat, settings, metrics),
            classifier=make_task(BeliefClassifier, chat, settings, metrics),
            answer_writer=make_task(AnswerWriter, chat, settings, metrics),
            question_writer=writer,
            rewriter=make_task(QuestionRewriter, chat, settings, metrics),
        ),
    )


def _turn_batches(base: Resources, writing: _WriteServices, policies: ExtractionPolicies) -> TurnBatches | None:
    batches, extractor = make_batches(writing.models.chat, base.settings), writing.ingest.extractor
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


def _readiness(base: Resources, jobs: Jobs, chat: StreamingChat | None, reranker: TextScorer | None) -> Readiness:
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


async def _queries(base: Resources, writing: _WriteServices, log: QuestionLog | None) -> Queries:
    residents = await _residents(base)
    tracker = AccessTracker(
        database=base.database,
        clock=base.clock,
        interval=base.settings.access_flush_seconds,
        dropped=base.metrics.dropped_accesses,
        stored=None if residents is None else residents.remember_uses,
    )
    base.stack.push_async_callback(tracker.aclose)
    await open_in_background(base.stack, tracker.run())
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
            questioned=writing.models.question_writer.covers,
            coverage=text_coverage(base.embedder),
        ),
        observe=base.metrics.arm,
        reranker=reranker,
        rewriter=writing.models.rewriter if base.settings.rewrite_deadline else None,
        rewrite_seconds=base.settings.rewrite_deadline,
        residents=residents,
    )
    replica = open_replica(base.settings, base.database, base.metrics, base.stack)
    return Queries(pipeline=pipeline, tracker=tracker, log=log, replica=replica)


async def _residents(base: Resources) -> Residents | None:
    if not base.settings.resident_mb:
        return None
    if not (base.database.clustered or await change_notes.are_kept(base.database)):
        log.warning("no scopes are held in memory: run `typed-memory migrate` with TM_RESIDENT_MB set, as the owner")
    residents = Residents(
        database=base.database,
        model=base.model_id,
        limit=base.settings.resident_mb * 1_000_000,
        answered=base.metrics.resident_question,
    )
    base.stack.push_async_callback(residents.aclose)
    await open_in_background(base.stack, residents.run())
    return residents

"""The read pipeline: understand, embed, search, assemble; with `search`, the one module that knows the stages.

One transaction with an embedder in this process; else two with the embedder's call between them, so that none is open
while a model is waited for. Four statements, or five where turns are found: the look-up, all arms, the columns that
ranking needs of everything found, the evidence of turns, and the answers whole. One more reads what users told that an
answer about food or medicine must heed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from uuid import UUID

from pgvector import HalfVector

from app import threads
from app.db.apply.scope import LARGE
from app.db.embedding_models import index_name
from app.db.entities import query_lookup
from app.db.entities.query_lookup import Asked, QueryLookup
from app.db.memories.heeded import COMPARED, NO_HEED, HeedQuery
from app.db.memories.resident import Held, read_content_state
from app.db.session import PLANNED_ONCE, SNAPSHOT, Database, ReadSession
from app.db.sql import as_halfvec
from app.english.asked_abroad import in_english
from app.english.requests import only_greets
from app.lexical.bm25 import index_of
from app.memory.registry import Registry, Types
from app.model import ReadMode
from app.providers.embeddings import Embedder
from app.providers.model_questions import QuestionRewriter
from app.providers.rerankers import TextScorer
from app.read import understand
from app.read.access import used_memories
from app.read.assemble import Layout, assemble
from app.read.heed import (
    NO_SUBJECT,
    QuestionSubject,
    choose_heeded,
    subject_of,
    told_pattern,
    without_changed,
)
from app.read.model_calls import QuestionForms, mean_vector, nominees, rerank, rewrite
from app.read.plan import explain_filters, explain_plan, explain_question
from app.read.resident.kept import MEMORY, STORE, Residents
from app.read.resident.scope import ResidentScope
from app.read.resident.source import ResidentSource
from app.read.retrieve.lexical import read_near_terms
from app.read.search import Found, MemorySearch, Question, nothing_to_find
from app.read.source import PLANNED_ALONE_FROM, ReadSource, SqlSource
from app.read.succession import asks_for_present
from app.read.timely import none_known
from app.read.values import (
    Arm,
    ArmHit,
    Arms,
    ContextBlock,
    HeedMode,
    Hit,
    ParsedQuery,
    Places,
    QueryRequest,
    QueryResult,
    QuestionReading,
    worded,
)

Observe = Callable[[str, float], None]
"""Told of each arm and stage, and the seconds it took."""


GATHERED = 24
"""Matches that a question gets which gathers what is told in several places (docs/decisions/context.md)."""

ANSWERED = 0.5
"""Least relevance of a match without a word of a question in another language that makes asking in English needless."""

_INLINE = 100_000
"""Characters of answers whose context is assembled on the event loop, some ten milliseconds' worth; more go to a
thread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryAnswer:
    """The result of the pipeline: matches, those that the context block shows, the list of each arm, the mode."""

    result: QueryResult
    used: tuple[UUID, ...]
    arms: Arms
    mode: ReadMode


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadPipeline:
    """Answers questions. `observe` receives the seconds of each stage and, from inside the database, each arm.

    `residents` are the scopes in memory, if any are kept.
    """

    database: Database
    embedder: Embedder
    types: Types
    search: MemorySearch
    observe: Observe = lambda _name, _seconds: None
    reranker: TextScorer | None = None
    rewriter: QuestionRewriter | None = None
    rewrite_seconds: float = 0.8
    residents: Residents | None = None

    async def answer(self, tenant: UUID, request: QueryRequest) -> QueryAnswer:
        """Return the answer to a question of this tenant; raises ProviderError when it can't be embedded.

        One in another language that finds nothing sure is asked once more, in English words, where the embedder knows
        English alone.
        """
        given = await self._answer_as_asked(tenant, request)
        if any(one.relevance >= ANSWERED or _shares_words(one) for one in given.result.hits):
            return given
        known = self.search.coverage is None or only_greets(request.query)
        words = "" if known else in_english(request.query)
        if not words:
            return given
        again = await self._answer_as_asked(tenant, replace(request, query=words))
        if not again.result.hits:
            return given
        understood = {**again.result.understood, "question": request.query, "forms": [words]}
        return replace(again, result=replace(again.result, understood=understood))

    async def _answer_as_asked(self, tenant: UUID, request: QueryRequest) -> QueryAnswer:
        started = perf_counter()
        types = self.types.known(tenant)
        residents = self._residents(request)
        opening = PLANNED_ONCE if residents is None else {**PLANNED_ONCE, **SNAPSHOT}
        while True:
            reading = understand.parse_question(request, types=types, language=self.search.language)
            if reading.gathers and request.widens:
                request = replace(request, top_k=max(GATHERED, request.top_k))
            subject = subject_of(reading, self.search.words) if _heeds(request) else NO_SUBJECT
            held = () if residents is None else residents.held(tenant, request.visibility.scope_ids(tenant))
            async with self.database.read(tenant, **opening) as session:
                known = await self._look_up(session, tenant, request, reading, types, subject, held)
                if known.types <= types.version:
                    query = understand.resolve_question(reading, known, types=types)
                    question = Question(
                        tenant=tenant,
                        request=request,
                        query=query,
                        known=known,
                        types=types,
                        started=started,
                        subject=subject,
                        held=held,
                    )
                    if known.stored and not query.mentioned and understand.knows_no_word(query, known):
                        question = await _respelled(session, question)
                    self._observed("understand", started)
                    if request.min_relevance is None and only_greets(query.reading.text) and not query.mentioned:
                        return _nothing(query, started)
                    found, rewriter = None, self.rewriter
                    if rewriter is not None and not understand.says_little(question.query, known):
                        rewriter = None
                    if not (known.stored or held):
                        found = nothing_to_find(question)
                    elif self.embedder.local and rewriter is None:
                        found = await self._find(session, question, await self._embed(question.query.dense_text))
                    break
            types = await self.types.at(tenant, known.types)
        forms = QuestionForms(texts=(question.query.dense_text,))
        if found is None:
            forms = await rewrite(rewriter, question.query, seconds=self.rewrite_seconds)
            vector = await self._embed(*forms.texts)
            async with self.database.read(tenant, **opening) as session:
                content = await read_content_state(session, tenant, _as_asked(held)) if held else known.content
                found = await self._find(session, replace(question, known=replace(known, content=content)), vector)
        return await self._answer(question, found, forms)

    async def _find(self, session: ReadSession, question: Question, vector: HalfVector) -> Found:
        started = perf_counter()
        request = replace(question.request, top_k=nominees(question.request, self.reranker))
        asked = replace(question, request=request)
        stored = SqlSource(
            session=session,
            tenant=question.tenant,
            known_at=request.known_at,
            large=question.known.memories > PLANNED_ALONE_FROM,
        )
        residents = self._residents(request)
        source: ReadSource = stored if residents is None else await self._source(residents, stored, question)
        found = await self.search.find(source, asked, vector)
        self._observed("search", started)
        if residents is not None and source is not stored and residents.checks_next():
            residents.compare(found, await self.search.find(stored, asked, vector))
        heed = _heeding(request, question.subject, question.types)
        if not heed.told or question.known.memories > COMPARED:
            return found
        return replace(found, told=await source.told(heed, question.scopes))

    def _residents(self, request: QueryRequest) -> Residents | None:
        """Return the scopes in memory where they can answer: they are as things are known now."""
        if self.residents is None or request.known_at is not None or not self.residents.serves(self.database):
            return None
        return self.residents

    async def _source(self, residents: Residents, stored: SqlSource, question: Question) -> ReadSource:
        """Return the scopes in memory as the session sees them; the store where not all that is in sight is held."""
        current: tuple[ResidentScope, ...] = ()
        if question.held:
            current = await residents.current(stored.session, question.tenant, question.held, question.known.content)
        if not current and question.known.memories <= LARGE:
            residents.wanted(question.tenant, question.scopes)
        residents.answered(MEMORY if current else STORE)
        # One that holds nothing, as the tenant's own often does, has nothing to say.
        filled = tuple(one for one in current if one.ids or one.entities)
        return ResidentSource(scopes=filled, store=stored) if current else stored

    async def _answer(self, question: Question, found: Found, forms: QuestionForms) -> QueryAnswer:
        request, query = question.request, question.query
        if found.looked_back:
            query = replace(query, mode=ReadMode.HISTORICAL)
        reranked_from = perf_counter()
        reranked = await rerank(self.reranker, request, found.ranked, found.memories, found.plan)
        found = replace(found, ranked=reranked.ranked)
        assembled_from = self._observed("rerank", reranked_from) if request.rerank else reranked_from
        context, shown, hits = await self._assembled(found, request, query, question)
        self._observed("assemble", assembled_from)
        for arm, seconds in found.retrieved.seconds.items():
            self.observe(arm, seconds)
        plan = None
        if request.explain:
            plan = explain_plan(found.plan, found.cut, explain_filters(request, query, relaxed=found.relaxed))
        result = QueryResult(
            hits=hits,
            context=context,
            understood={**explain_question(query, relaxed=found.relaxed), "forms": list(forms.texts[1:])},
            plan=plan,
            took_ms=(perf_counter() - question.started) * 1000,
            degraded=(*forms.degraded, *reranked.degraded),
        )
        used = used_memories(shown, hits, question.weights)
        return QueryAnswer(result=result, used=used, arms=found.retrieved.arms, mode=query.mode)

    async def _look_up(
        self,
        session: ReadSession,
        tenant: UUID,
        request: QueryRequest,
        reading: QuestionReading,
        types: Registry,
        subject: QuestionSubject,
        held: Sequence[ResidentScope] = (),
    ) -> QueryLookup:
        return await query_lookup.look_up(
            session,
            Asked(
                names=understand.names_of(reading),
                terms=reading.terms,
                belongings=understand.possessives_in(reading, types),
                heed=_heeding(request, subject, types),
            ),
            tenant=tenant,
            scopes=request.visibility.scope_ids(tenant),
            vector_index=index_name(self.search.model.id),
            known_at=request.known_at,
            held=_as_asked(held),
        )

    async def _embed(self, *texts: str) -> HalfVector:
        """Return the vector of a question; of one in several forms, the direction between them."""
        started = perf_counter()
        vectors = await self.embedder.embed(texts, purpose="query")
        self._observed("embed", started)
        return as_halfvec(mean_vector(vectors))

    async def _assembled(
        self, found: Found, request: QueryRequest, query: ParsedQuery, question: Question
    ) -> tuple[ContextBlock, tuple[UUID, ...], tuple[Hit, ...]]:
        hits = tuple(
            Hit(
                memory=found.memories[one.id],
                score=one.score,
                retrieval=one.retrieval,
                confidence=one.confidence,
                freshness=one.freshness,
                arms=_arm_hits(one.places),
                notes=worded(one.notes),
                relevance=one.relevance,
                marks=one.marks,
                later=one.later,
                beside=one.beside,
            )
            for one in found.ranked
            if one.id in found.memories
        )
        layout = Layout(
            zone=request.now.tzinfo,
            budget=request.token_budget,
            ids=request.ids,
            asked=_weights_by_term(question),
            newest_first=asks_for_present(query),
            in_order=query.reading.gathers,
        )
        heeded = choose_heeded(
            without_changed(question.known.heeded, hits, question.types, self.search.words),
            question.subject.of_people() if query.names_people else question.subject,
            types=question.types,
            mode=request.heed,
            told=found.told,
            shown={one.memory.id: one.relevance for one in hits},
            words=self.search.words,
        )
        arrange = partial(assemble, hits, heeded=heeded, types=question.types, layout=layout)
        brief = sum(len(one.memory.content) for one in hits) <= _INLINE
        context, shown = await threads.work(arrange, brief=brief)
        if not hits and not heeded and not request.narrowed:
            context = none_known(query, layout.zone, layout.budget) or context
        return context, shown, hits

    def _observed(self, stage: str, since: float) -> float:
        now = perf_counter()
        self.observe(stage, now - since)
        return now


def _as_asked(held: Sequence[ResidentScope]) -> list[Held]:
    return [Held(scope=one.id, snapshot=one.snapshot) for one in held]


def _heeds(request: QueryRequest) -> bool:
    return request.heed is not HeedMode.NONE and request.mode is not ReadMode.AUDIT


def _heeding(request: QueryRequest, subject: QuestionSubject, types: Registry) -> HeedQuery:
    """Return the filters of what the answer must heed; turns are read for the present only."""
    if not _heeds(request):
        return NO_HEED
    present = request.as_of is None and request.known_at is None and not request.narrowed
    return HeedQuery(
        types=types,
        at=request.as_of or request.now,
        told=told_pattern(subject, request.heed) if present else "",
        asking=request.session_id if request.recent_turns else None,
    )


async def _respelled(session: ReadSession, question: Question) -> Question:
    """Return the question with known terms that are spelled nearly as its own, of which none is known."""
    near = await read_near_terms(
        session, question.tenant, question.scopes, question.query.terms, known_at=question.request.known_at
    )
    return replace(question, query=understand.respell(question.query, near))


def _shares_words(hit: Hit) -> bool:
    return any(one.arm == Arm.LEXICAL for one in hit.arms)


def _arm_hits(places: Places) -> tuple[ArmHit, ...]:
    return tuple(
        ArmHit(arm=arm.value, rank=rank, score=score, scaled=scaled, contribution=added)
        for arm, (rank, score, scaled, added) in places.items()
    )


def _weights_by_term(question: Question) -> dict[str, float]:
    """Return the terms of a question with what each weighs among the visible memories."""
    return {term: question.weights.get(index_of(term), 0.0) for term in question.query.terms}


def _nothing(query: ParsedQuery, started: float) -> QueryAnswer:
    """Return the answer to small talk, which asks for no memory."""
    result = QueryResult(
        hits=(),
        context=ContextBlock(text="", tokens=0, groups=()),
        understood={**explain_question(query, relaxed=False), "idle": True},
        plan=None,
        took_ms=(perf_counter() - started) * 1000,
    )
    return QueryAnswer(result=result, used=(), arms={}, mode=query.mode)

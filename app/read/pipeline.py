"""The read pipeline: understand, embed, retrieve and fuse, rank, assemble; the one module that knows all stages.

One transaction with an embedder in this process; else two with the embedder's call between them, so that none is open
while a model is waited for. Four statements, or five where turns are found: the look-up, all arms, the columns that
ranking needs of everything found, the evidence of turns, and the answers whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from time import perf_counter
from uuid import UUID

from pgvector import HalfVector

from app import threads
from app.db.embedding_models import index_name
from app.db.entities import query_lookup
from app.db.entities.query_lookup import QueryLookup
from app.db.memories import hype, ranking
from app.db.memories import read as memory_reads
from app.db.memories.ranking import RankingRow, TurnEvidence, read_turn_evidence
from app.db.session import PLANNED_ONCE, Database, ReadSession
from app.db.sql import Model, as_halfvec, to_text
from app.english.chitchat import is_chit_chat
from app.lexical.bm25 import to_sparsevec
from app.memory.registry import Registry, Types
from app.memory.spec import MemoryType
from app.model import Memory, ReadMode
from app.providers.embeddings import Embedder, WordVectors
from app.providers.model_questions import QuestionRewriter
from app.providers.rerankers import Reranker
from app.read import rank as read_rank
from app.read import understand
from app.read.access import used_memories
from app.read.assemble import Layout, assemble, floor
from app.read.choice import best_matches, considered, held_then, none_known
from app.read.fuse import fuse, match_words
from app.read.model_calls import QuestionForms, mean_vector, nominees, rerank, rewrite, says_little
from app.read.plan import explain_filters, explain_question, explained, plan
from app.read.rank import about_others, demote, numbered_matches, rank
from app.read.relevance import CALIBRATIONS, Calibration, Relevance
from app.read.retrieve import Retrieved, Search, SearchFilters, is_exact, nominators, retrieve
from app.read.retrieve.lexical import read_near_terms
from app.read.values import (
    OPENING,
    Arm,
    ArmHit,
    Arms,
    ContextBlock,
    Cut,
    Fused,
    Hit,
    ParsedQuery,
    Places,
    QueryPlan,
    QueryRequest,
    QueryResult,
    QuestionReading,
    Ranked,
)
from app.read.weights import document_counts, term_weights, word_weights

Observe = Callable[[str, float], None]
"""Told of each arm and stage, and the seconds it took."""


PLANNED_ALONE_FROM = 5_000
"""Memories in sight from which a question's search is planned for them alone: the plan for all is made for the scopes
that most tenants have, and reads a large one row by row. Planning takes some 20 ms."""


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
class _Found:
    """The rows of one search; `relaxed`: a filter that was only inferred had to be relaxed to find anything.

    `looked_back`: nothing holds that answers a question about the past, so what held before was searched, too.
    """

    ranked: tuple[Ranked, ...]
    memories: dict[UUID, Memory]
    plan: QueryPlan
    retrieved: Retrieved
    cut: tuple[Cut, ...] = ()
    relaxed: bool = False
    looked_back: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question with its names resolved, what the look-up found, and when it was asked by `perf_counter`."""

    tenant: UUID
    request: QueryRequest
    query: ParsedQuery
    known: QueryLookup
    types: Registry
    started: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadPipeline:
    """Answers questions. `observe` receives the seconds of each stage and, from inside the database, each arm."""

    database: Database
    embedder: Embedder
    model_id: int
    types: Types
    language: str
    clock: Callable[[], datetime]
    calibration: Calibration = CALIBRATIONS["wordllama-256"]
    observe: Observe = lambda _name, _seconds: None
    reranker: Reranker | None = None
    words: WordVectors | None = None
    rewriter: QuestionRewriter | None = None
    rewrite_seconds: float = 0.8
    questioned: Callable[[MemoryType], bool] = lambda kind: kind.asked_by_questions

    async def answer(self, tenant: UUID, request: QueryRequest) -> QueryAnswer:
        """Return the answer to a question of this tenant; raises ProviderError when it can't be embedded."""
        started = perf_counter()
        types = self.types.known(tenant)
        while True:
            reading = understand.parse_question(request, types=types, language=self.language)
            async with self.database.read(tenant, **PLANNED_ONCE) as session:
                known = await self._look_up(session, tenant, request, reading, types)
                if known.types <= types.version:
                    query = understand.resolve_question(reading, known, types=types)
                    if not query.mentioned and understand.knows_no_word(query, known):
                        near = await read_near_terms(
                            session, tenant, _scopes(tenant, request), query.terms, known_at=request.known_at
                        )
                        query = understand.respell(query, near)
                    self._observed("understand", started)
                    if request.min_relevance is None and is_chit_chat(query.text) and not query.mentioned:
                        return _nothing(query, started)
                    question = Question(
                        tenant=tenant, request=request, query=query, known=known, types=types, started=started
                    )
                    found = None
                    if self.embedder.local and (self.rewriter is None or not says_little(query)):
                        found = await self._searched(session, question, await self._embed(query.dense_text))
                    break
            types = await self.types.at(tenant, known.types)
        forms = QuestionForms(texts=(query.dense_text,))
        if found is None:
            forms = await rewrite(self.rewriter, query, seconds=self.rewrite_seconds)
            vector = await self._embed(*forms.texts)
            async with self.database.read(tenant, **PLANNED_ONCE) as session:
                found = await self._searched(session, question, vector)
        return await self._answer(question, found, forms)

    async def _searched(self, session: ReadSession, question: Question, vector: HalfVector) -> _Found:
        started = perf_counter()
        if question.known.memories > PLANNED_ALONE_FROM:
            await session.plan_each()
        request = replace(question.request, top_k=nominees(question.request, self.reranker))
        found = await self._found(session, question, request, vector)
        self._observed("search", started)
        return found

    async def _answer(self, question: Question, found: _Found, forms: QuestionForms) -> QueryAnswer:
        request, query = question.request, question.query
        if found.looked_back:
            query = replace(query, mode=ReadMode.HISTORICAL)
        reranked_from = perf_counter()
        reranked = await rerank(self.reranker, request, found.ranked, found.memories, found.plan)
        found = replace(found, ranked=reranked.ranked)
        assembled_from = self._observed("rerank", reranked_from) if request.rerank else reranked_from
        context, shown, hits = await self._assembled(found, request, query, question.types)
        self._observed("assemble", assembled_from)
        for arm, seconds in found.retrieved.seconds.items():
            self.observe(arm, seconds)
        filters = explain_filters(request, query, relaxed=found.relaxed)
        result = QueryResult(
            hits=hits,
            context=context,
            understood={**explain_question(query, relaxed=found.relaxed), "forms": list(forms.texts[1:])},
            plan=explained(found.plan, found.cut, filters) if request.explain else None,
            took_ms=(perf_counter() - question.started) * 1000,
            degraded=(*forms.degraded, *reranked.degraded),
        )
        counted = document_counts(query, question.known)
        used = used_memories(shown, hits, term_weights(query, counted, question.known.documents))
        return QueryAnswer(result=result, used=used, arms=found.retrieved.arms, mode=query.mode)

    async def _look_up(
        self, session: ReadSession, tenant: UUID, request: QueryRequest, reading: QuestionReading, types: Registry
    ) -> QueryLookup:
        return await query_lookup.look_up(
            session,
            tenant=tenant,
            scopes=_scopes(tenant, request),
            names=understand.names_of(reading),
            terms=reading.terms,
            vector_index=index_name(self.model_id),
            known_at=request.known_at,
            belongings=understand.possessives_in(reading, types),
        )

    async def _embed(self, *texts: str) -> HalfVector:
        """Return the vector of a question; of one in several forms, the direction between them."""
        started = perf_counter()
        vectors = await self.embedder.embed(texts, purpose="query")
        self._observed("embed", started)
        return as_halfvec(mean_vector(vectors))

    async def _found(
        self, session: ReadSession, question: Question, request: QueryRequest, vector: HalfVector
    ) -> _Found:
        """Return what answers: without an inferred filter, or among what is over, where nothing else does."""
        found, query = await self._search_once(session, question, request, vector), question.query
        if not found.ranked and query.inferred:
            query = replace(query, types=(), within=False, inferred=False, soft_types=query.types)
            looser = replace(question, query=query)
            found = replace(await self._search_once(session, looser, request, vector), relaxed=True)
        if not found.ranked and _asks_how_it_was(query) and (request.mode, request.as_of) == (None, None):
            over = replace(question, query=replace(query, mode=ReadMode.HISTORICAL))
            past = await self._search_once(session, over, request, vector)
            found = replace(past, relaxed=found.relaxed, looked_back=True) if past.ranked else found
        return found

    async def _search_once(
        self, session: ReadSession, question: Question, request: QueryRequest, vector: HalfVector
    ) -> _Found:
        query, search = question.query, self._asked(self._search(question, vector), question.types)
        chosen = plan(query)
        retrieved = await retrieve(session, search)
        fused = fuse(retrieved.arms, chosen)
        tenant = search.filters.tenant
        sketches = await ranking.read_ranking_rows(
            session,
            tenant=tenant,
            ids=[one.id for one in fused],
            windows=[(window.lower, window.upper) for window in query.windows],
            whole=bool(query.excluded_names or query.excluded_words),
            opening=OPENING,
            metadata=search.filters.metadata,
            known_at=request.known_at,
        )
        verbatim = _verbatim(self.types.known(tenant))
        if self.words:
            fused = match_words(
                fused,
                sketches,
                search.words,
                vectors=self.words,
                language=self.language,
                verbatim=verbatim,
                plan=chosen,
            )
        numbered = numbered_matches(sketches, query)
        ranked = rank(
            fused,
            sketches,
            query=query,
            plan=chosen,
            now=request.now,
            verbatim=verbatim,
            speakers=await self._speakers(session, tenant, query, sketches),
            numbered=numbered,
        )
        predecessors: frozenset[UUID] = frozenset()
        if query.before is not None and query.mode is not ReadMode.DEFAULT:
            ranked, predecessors = await self._behind(session, search.filters, request, query, ranked, sketches)
        turns = await self._turns(session, tenant, request, ranked, sketches)
        others = about_others(sketches, query, turns)
        judged = Relevance(
            query=query,
            calibration=self.calibration,
            whole=search.whole,
            verbatim=verbatim,
            asked=predecessors,
            numbered=numbered,
            others=others,
        )
        best, cut = best_matches(judged, turns, demote(ranked, others, chosen), sketches, request)
        whole = await memory_reads.read_memories(session, tenant, [one.id for one in best], known_at=request.known_at)
        best, untimely = held_then(best, whole, query, request.now)
        cut = (*untimely, *cut)
        if request.explain and search.questions:
            best = await self._with_questions(session, tenant, best, vector)
        return _Found(ranked=best, memories=whole, plan=chosen, retrieved=retrieved, cut=cut)

    async def _speakers(
        self, session: ReadSession, tenant: UUID, query: ParsedQuery, sketches: Mapping[UUID, RankingRow]
    ) -> dict[UUID, str]:
        """Return the names of those who speak, where the question has a name that may be a part of one."""
        speaking = {one.speaker_id for one in sketches.values() if one.speaker_id is not None}
        if not (query.unknown_names and speaking):
            return {}
        return await ranking.read_entity_names(session, tenant=tenant, ids=speaking)

    async def _with_questions(
        self, session: ReadSession, tenant: UUID, ranked: tuple[Ranked, ...], vector: HalfVector
    ) -> tuple[Ranked, ...]:
        """Return the matches with a note of the hypothetical question that lifted each, where one did."""
        nearest = await hype.read_nearest_questions(
            session, tenant, [one.id for one in ranked], vector, model=self.model_id
        )
        return tuple(
            one._replace(notes=(*one.notes, f"answers {nearest[one.id][0]!r}"))
            if one.id in nearest
            and (place := one.places.get(Arm.SEMANTIC)) is not None
            and nearest[one.id][1] > place[1]
            else one
            for one in ranked
        )

    async def _turns(
        self,
        session: ReadSession,
        tenant: UUID,
        request: QueryRequest,
        ranked: Sequence[Ranked],
        sketches: Mapping[UUID, RankingRow],
    ) -> dict[UUID, TurnEvidence]:
        """Return the evidence of the turns among the best; nothing that was believed at another time."""
        verbatim = _verbatim(self.types.known(tenant))
        best = ranked[: considered(request)] if request.known_at is None else ()
        turns = [one.id for one in best if sketches[one.id].type in verbatim]
        return await read_turn_evidence(
            session, tenant=tenant, ids=turns, verbatim=verbatim, instant=request.as_of or request.now
        )

    async def _behind(
        self,
        session: ReadSession,
        filters: SearchFilters,
        request: QueryRequest,
        query: ParsedQuery,
        ranked: tuple[Ranked, ...],
        sketches: dict[UUID, RankingRow],
    ) -> tuple[tuple[Ranked, ...], frozenset[UUID]]:
        """Return what was found with what the question asks for in front, and which that is: what was replaced.

        Where no arm found that, it is fetched, unless a filter may be why it was not found.
        """
        held_by = read_rank.slot_holders(ranked, sketches, query)
        if not held_by:
            return ranked, frozenset()
        tenant, known_at = filters.tenant, request.known_at
        replaced = await ranking.read_replaced(session, tenant=tenant, by=held_by, known_at=known_at)
        missing = [one for one in replaced if one not in sketches]
        if filters.topic or filters.metadata or filters.excluded or filters.within or filters.as_of:
            missing = []
        sketches |= await ranking.read_ranking_rows(session, tenant=tenant, ids=missing, whole=True, known_at=known_at)
        added = [Fused(id=one, retrieval=0.0, places={}) for one in missing]
        others = rank(
            added,
            sketches,
            query=query,
            plan=plan(query),
            now=request.now,
            verbatim=_verbatim(self.types.known(tenant)),
        )
        return read_rank.predecessor_first(ranked, replaced, others), frozenset(replaced)

    def _search(self, question: Question, vector: HalfVector) -> Search:
        request, query, known = question.request, question.query, question.known
        chosen, counted = plan(query), document_counts(query, known)
        filters = SearchFilters(
            tenant=question.tenant,
            scopes=_scopes(question.tenant, request),
            mode=query.mode,
            now=request.now,
            clock=self.clock(),
            as_of=request.as_of,
            known_at=request.known_at,
            min_confidence=floor(_least_strict(query), request.min_confidence),
            types=query.types,
            topic=request.topic,
            metadata=to_text(request.metadata) if request.metadata else None,
            excluded=query.excluded,
            within=query.windows if query.within else (),
            timed=bool(query.windows),
        )
        return Search(
            arms=frozenset(chosen.weights),
            filters=filters,
            depth=max(chosen.depth, request.top_k),
            model=Model(id=self.model_id, dimensions=self.embedder.dimensions),
            contexts=known.contexts > 0,
            questions=chosen.questions if known.questions else 0.0,
            exact=bool(request.metadata)
            or is_exact(
                memories=known.memories,
                index_rows=known.index_rows,
                depth=chosen.depth,
                questions=known.questions and chosen.questions > 0,
            ),
            vector=vector,
            weights=to_sparsevec(weights := term_weights(query, counted, known.documents)),
            whole=sum(weights.values()),
            words=word_weights(query, counted, known.documents, self.language) if self.words else {},
            nominators=nominators(query.terms, counted, known.documents),
            mentioned=query.mentioned,
            relations=query.relations,
            windows=query.windows,
        )

    async def _assembled(
        self, found: _Found, request: QueryRequest, query: ParsedQuery, types: Registry
    ) -> tuple[ContextBlock, tuple[UUID, ...], tuple[Hit, ...]]:
        hits = tuple(
            Hit(
                memory=found.memories[one.id],
                score=one.score,
                retrieval=one.retrieval,
                confidence=one.confidence,
                freshness=one.freshness,
                arms=_arm_hits(one.places),
                notes=one.notes,
                relevance=one.relevance,
                marks=one.marks,
            )
            for one in found.ranked
            if one.id in found.memories
        )
        layout = Layout(zone=request.now.tzinfo, budget=request.token_budget, ids=request.ids, query=request.query)
        arrange = partial(assemble, hits, types=types, layout=layout)
        brief = sum(len(one.memory.content) for one in hits) <= _INLINE
        context, shown = await threads.work(arrange, brief=brief)
        if not hits:
            context = none_known(query, layout.zone, layout.budget) or context
        return context, shown, hits

    def _asked(self, search: Search, types: Registry) -> Search:
        """Return the search without questions, where nothing that may answer it has any."""
        wanted = search.filters.types
        if not wanted or any(self.questioned(types.get(one)) for one in wanted):
            return search
        return replace(search, questions=0.0)

    def _observed(self, stage: str, since: float) -> float:
        now = perf_counter()
        self.observe(stage, now - since)
        return now


def _arm_hits(places: Places) -> tuple[ArmHit, ...]:
    return tuple(
        ArmHit(arm=arm.value, rank=rank, score=score, scaled=scaled, contribution=added)
        for arm, (rank, score, scaled, added) in places.items()
    )


def _scopes(tenant: UUID, request: QueryRequest) -> tuple[UUID, ...]:
    return tuple(scope.id(tenant) for scope in request.visibility.scopes())


def _asks_how_it_was(query: ParsedQuery) -> bool:
    """Tell whether it asks in the past tense, at no time that it names: what held before may be the answer."""
    return query.looks_back and query.text.rstrip().endswith("?") and not (query.windows or query.asks_what_happened)


def _least_strict(query: ParsedQuery) -> ReadMode:
    """Return the mode whose floor of confidence lets all through that the question may ask for: also what was said."""
    return ReadMode.HISTORICAL if query.looks_back and query.mode is ReadMode.DEFAULT else query.mode


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


def _verbatim(types: Registry) -> tuple[str, ...]:
    """Return the types whose memories are what was said, word for word."""
    return tuple(one.name for one in types if one.verbatim)

"""The search of the read pipeline: retrieve and fuse, rank, choose; all from one source, without a model's call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property, lru_cache
from typing import Final
from uuid import UUID

from pgvector import HalfVector

from app.db.entities.query_lookup import QueryLookup
from app.db.memories.heeded import HeededMemory
from app.db.memories.ranking import AskingSession, RankingRow, TurnEvidence
from app.db.sql import Model, to_text
from app.lexical.bm25 import idf, index_of, query_weights, terms, to_sparsevec
from app.memory.registry import Registry
from app.memory.spec import MemoryType
from app.model import Memory, ReadMode
from app.providers.embeddings import TextCoverage
from app.read import block
from app.read.assemble import floor, select
from app.read.chains import ChainSearch, asked_text, chain_first
from app.read.choice import best_matches, considered, ruled_out
from app.read.fuse import fuse
from app.read.heed import NO_SUBJECT, QuestionSubject
from app.read.near_words import NearWords, content_words, match_words
from app.read.plan import by_words_alone, plan
from app.read.rank import about_others, demote, numbered_matches, predecessor_first, rank, slot_holders
from app.read.relevance import CALIBRATIONS, UNLIKE, Calibration, Relevance, Split, usual_cosine, without_context
from app.read.resident.scope import ResidentScope
from app.read.retrieve import Retrieved, Search, SearchFilters, is_exact, nominators
from app.read.source import PLANNED_ALONE_FROM, EvidenceQuery, LaterQuery, ReadSource, RowsQuery
from app.read.succession import seeks_later
from app.read.timely import fit_to_show
from app.read.values import OPENING, Arm, Cut, Fused, ParsedQuery, QueryPlan, QueryRequest, Ranked

FOLLOWED = 60
"""Best matches whose predicates are compared with the question, to see whether several of them say something of it."""

MOST_COMPARED: Final = 64
"""Distinct words of a question that are compared one by one with those of the memories."""

COVERED: Final = 0.5
"""Least share of a question's letters in tokens that the embedder knows for its vectors to count. Of one question in
14 languages those in Latin and Cyrillic script have .72 and more, those in eight other scripts .13 and less (Vietnamese
.3). Of Chinese ones bigrams alone find .82 at 5, the embedded model .21."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The matches of a search; `relaxed`: a filter that was only inferred had to be relaxed to find anything.

    `looked_back`: nothing holds that answers a question about the past, so what held before was searched, too.
    `told` are turns that tell what the answer may have to heed.
    """

    ranked: tuple[Ranked, ...]
    memories: dict[UUID, Memory]
    plan: QueryPlan
    retrieved: Retrieved
    cut: tuple[Cut, ...] = ()
    relaxed: bool = False
    looked_back: bool = False
    told: tuple[HeededMemory, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question with its names resolved, what the look-up found, and when it was asked by `perf_counter`.

    `subject` is what it touches, where what must be heeded is read for it. `held` are the scopes in sight, if the
    process holds them, as they were when it was looked up. `covered`: the embedder knows its words.
    """

    tenant: UUID
    request: QueryRequest
    query: ParsedQuery
    known: QueryLookup
    types: Registry
    started: float
    subject: QuestionSubject = NO_SUBJECT
    held: tuple[ResidentScope, ...] = ()
    covered: bool = True

    @property
    def scopes(self) -> tuple[UUID, ...]:
        """The scopes in sight."""
        return self.request.visibility.scope_ids(self.tenant)

    @cached_property
    def verbatim(self) -> tuple[str, ...]:
        """The types whose memories are what was said, word for word."""
        return tuple(one.name for one in self.types if one.verbatim)

    @cached_property
    def plan(self) -> QueryPlan:
        """The numbers by which it is answered."""
        return plan(self.query) if self.covered else by_words_alone(plan(self.query))

    @cached_property
    def counted(self) -> Mapping[int, int]:
        """How many memories have each of its terms, by the term's index."""
        return document_counts(self.query, self.known)

    @cached_property
    def weights(self) -> Mapping[int, float]:
        """What each of its terms weighs among the visible memories, by the term's index."""
        return term_weights(self.query, self.counted, self.known.documents)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySearch:
    """Finds what answers a question by its vector, its words, its names and its times.

    `model` made the vectors that are searched; `words` compares single words, with the embedded model.
    `questioned` tells whether hypothetical questions are written for the memories of a type. `coverage` tells how much
    of a text the embedder knows.
    """

    model: Model
    language: str
    clock: Callable[[], datetime]
    calibration: Calibration = CALIBRATIONS["wordllama-256"]
    words: NearWords | None = None
    questioned: Callable[[MemoryType], bool] = lambda kind: kind.asked_by_questions
    coverage: TextCoverage | None = None

    async def find(self, source: ReadSource, question: Question, vector: HalfVector) -> Found:
        """Return what answers: without an inferred filter, or among what is over, where nothing else does."""
        if self.coverage is not None and self.coverage(question.query.dense_text) < COVERED:
            question = replace(question, covered=False)
        request, query = question.request, question.query
        found = await self._find_once(source, question, vector)
        if not found.ranked and query.types.inferred:
            query = replace(query, types=query.types.relaxed())
            looser = replace(question, query=query)
            found = replace(await self._find_once(source, looser, vector), relaxed=True)
        if not found.ranked and _asks_how_it_was(query) and (request.mode, request.as_of) == (None, None):
            over = replace(question, query=replace(query, mode=ReadMode.HISTORICAL))
            past = await self._find_once(source, over, vector)
            found = replace(past, relaxed=found.relaxed, looked_back=True) if past.ranked else found
        return found

    async def _find_once(self, source: ReadSource, question: Question, vector: HalfVector) -> Found:
        request, query, verbatim, chosen = question.request, question.query, question.verbatim, question.plan
        search = self._search(question, vector)
        retrieved = await source.retrieve(search)
        fused = fuse(retrieved.arms, chosen)
        rows = await source.ranking_rows(
            RowsQuery(
                ids=[one.id for one in fused],
                windows=[(window.lower, window.upper) for window in query.reading.windows],
                whole=bool(query.excluded.names or query.excluded.words),
                opening=OPENING,
                metadata=search.filters.metadata,
            )
        )
        words = self.words if question.covered else None
        if words:
            fused = match_words(fused, rows, search.words, words=words, verbatim=verbatim, plan=chosen)
        numbered = numbered_matches(rows, query)
        ranked = rank(
            fused,
            rows,
            query=query,
            plan=chosen,
            now=request.now,
            verbatim=verbatim,
            speakers=await _speakers(source, question, rows),
            numbered=numbered,
        )
        predecessors: frozenset[UUID] = frozenset()
        if query.before is not None and query.mode is not ReadMode.DEFAULT:
            ranked, predecessors = await _predecessors_first(source, question, search.filters, ranked, rows)
        turns = await _turns(source, question, ranked, rows)
        others = about_others(rows, query, turns)
        judged = Relevance(
            query=query,
            calibration=self.calibration,
            whole=search.whole,
            verbatim=verbatim,
            asked=predecessors,
            numbered=numbered,
            others=others,
            alone=without_context(rows.values(), query, verbatim),
            words=words,
            by_words=not question.covered,
            usual=usual_cosine(
                retrieved.arms.get(Arm.SEMANTIC, ()), question.known.memories, search.depth, self.calibration
            ),
        )
        ordered = demote(ranked, others, chosen)
        best, cut = best_matches(judged, turns, ordered, rows, request)
        if added := await self._later_turns(source, question, best, rows):
            turns |= await _turns(source, question, added, rows)
            best, cut = best_matches(judged, turns, (*added, *ordered), rows, request)
        best, cut = await self._with_chain(source, question, search, (best, cut), ordered, rows)
        memories = await source.memories([one.id for one in best])
        best, unfit = fit_to_show(best, memories, query, request.now)
        if request.explain and search.questions:
            best = await self._with_questions(source, best, vector)
        return Found(ranked=best, memories=memories, plan=chosen, retrieved=retrieved, cut=(*unfit, *cut))

    async def _later_turns(
        self, source: ReadSource, question: Question, best: Sequence[Ranked], rows: dict[UUID, RankingRow]
    ) -> tuple[Ranked, ...]:
        """Return turns that may have changed the belief that answers and that no arm found, read into `rows`.

        Only where there is more in sight than was found, and no more than is compared one by one. They are far from
        the question, so what lets them in is their likeness to the belief. Of a question whose words the embedder does
        not know, arms find too little, so turns that answer have such turns, too.
        """
        request, known, first = question.request, question.known.memories, next(iter(best), None)
        if first is None or not seeks_later(question.query) or not block.applies(request, question.query):
            return ()
        if question.covered and rows[first.id].type in question.verbatim:
            return ()
        if request.narrowed or request.as_of or request.known_at or not len(rows) < known <= PLANNED_ALONE_FROM:
            return ()
        found = await source.later_turns(
            LaterQuery(
                memory=first.id,
                verbatim=question.verbatim,
                assistants=question.query.assistants,
                least=self.calibration.related if question.covered else -1.0,
                model=self.model.id,
            )
        )
        rows |= await source.ranking_rows(
            RowsQuery(ids=(new := [one for one in found if one not in rows]), opening=OPENING)
        )
        fused = [Fused(id=one, retrieval=0.0, places={Arm.SEMANTIC: UNLIKE}) for one in new if one in rows]
        return rank(fused, rows, query=question.query, plan=question.plan, now=request.now, verbatim=question.verbatim)

    async def _with_chain(
        self,
        source: ReadSource,
        question: Question,
        search: Search,
        answer: Split,
        ordered: Sequence[Ranked],
        rows: Mapping[UUID, RankingRow],
    ) -> Split:
        """Return the best matches with the statements before them that lead to the answer, if any do, and what is cut.

        Only where several of the statements found say something of the question each; and not where the caller or the
        question narrows what may answer. All of them are trusted and meant, as other matches are.
        """
        request, query = question.request, question.query
        if request.narrowed or query.types.only:
            return answer
        first = [rows[one.id] for one in ordered[:FOLLOWED]]
        if not any(row.predicate for row in first):
            return answer
        asked, rest = (
            word_weights(asked_text(query, own=own), question.counted, question.known.documents, self.language)
            for own in (True, False)
        )
        chains = ChainSearch(query=query, asked=asked, rest=rest.keys(), words=self.words)
        found = chains.beginnings(first)
        if found is None:
            return answer
        chain = chains.find(await source.links(search, found=found, anchors=query.anchors))
        new = [one for one in chain if one not in rows]
        whole = bool(query.excluded.names or query.excluded.words)
        known = {**rows, **await source.ranking_rows(RowsQuery(ids=new, whole=whole, opening=OPENING))}
        fused = [Fused(id=one, retrieval=0.0, places={}) for one in new]
        added = rank(fused, known, query=query, plan=question.plan, now=request.now, verbatim=question.verbatim)
        found_as = {one.id: one for one in (*ordered, *added, *answer[0])}
        statements = [found_as[one] for one in chain if one in found_as]
        least = floor(query.mode, request.min_confidence)
        if len(select(statements, known, query=query, least=least)) < len(chain) or ruled_out(answer[1], chain):
            return answer
        return chain_first(answer, chain, (*ordered, *added), most=request.top_k)

    async def _with_questions(
        self, source: ReadSource, ranked: tuple[Ranked, ...], vector: HalfVector
    ) -> tuple[Ranked, ...]:
        """Return the matches with a note of the hypothetical question that lifted each, where one did."""
        nearest = await source.nearest_questions([one.id for one in ranked], vector, self.model.id)
        return tuple(
            one._replace(notes=(*one.notes, f"answers {nearest[one.id][0]!r}"))
            if one.id in nearest
            and (place := one.places.get(Arm.SEMANTIC)) is not None
            and nearest[one.id][1] > place[1]
            else one
            for one in ranked
        )

    def _search(self, question: Question, vector: HalfVector) -> Search:
        request, query, known = question.request, question.query, question.known
        chosen, counted = question.plan, question.counted
        questions = chosen.questions if known.questions and self._may_ask(query, question.types) else 0.0
        filters = SearchFilters(
            tenant=question.tenant,
            scopes=question.scopes,
            mode=query.mode,
            now=request.now,
            clock=self.clock(),
            as_of=request.as_of,
            known_at=request.known_at,
            min_confidence=floor(_least_strict(query), request.min_confidence),
            types=query.types.only,
            topic=request.topic,
            metadata=to_text(request.metadata) if request.metadata else None,
            excluded=query.excluded.entities,
            within=(*query.reading.windows, *query.reading.fallback) if query.types.within else (),
            timed=bool(query.reading.windows),
        )
        return Search(
            arms=frozenset(chosen.weights),
            filters=filters,
            depth=max(chosen.depth, request.top_k),
            model=self.model,
            contexts=known.contexts > 0,
            questions=questions,
            exact=bool(request.metadata)
            or is_exact(
                memories=known.memories,
                index_rows=known.index_rows,
                depth=chosen.depth,
                questions=questions > 0,
            ),
            vector=vector,
            weights=to_sparsevec(question.weights),
            whole=sum(question.weights.values()),
            words=word_weights(query.dense_text, counted, known.documents, self.language) if self.words else {},
            nominators=nominators(query.terms, counted, known.documents),
            mentioned=query.mentioned,
            relations=query.relations,
            windows=(*query.reading.windows, *query.reading.fallback),
        )

    def _may_ask(self, query: ParsedQuery, types: Registry) -> bool:
        """Tell whether what may answer has hypothetical questions."""
        return not query.types.only or any(self.questioned(types.get(one)) for one in query.types.only)


def nothing_to_find(question: Question) -> Found:
    """Return the result of a search where nothing is stored, for which no question need be embedded."""
    return Found(
        ranked=(),
        memories={},
        plan=question.plan,
        retrieved=Retrieved(arms={}, seconds={}),
        relaxed=question.query.types.inferred,
    )


async def _speakers(source: ReadSource, question: Question, rows: Mapping[UUID, RankingRow]) -> Mapping[UUID, str]:
    """Return the names of those who speak, where the question has a name that may be a part of one."""
    speaking = {one.speaker_id for one in rows.values() if one.speaker_id is not None}
    if not (question.query.unknown_names and speaking):
        return {}
    return await source.entity_names(speaking)


async def _turns(
    source: ReadSource, question: Question, ranked: Sequence[Ranked], rows: Mapping[UUID, RankingRow]
) -> dict[UUID, TurnEvidence]:
    """Return the evidence of the turns among the best."""
    request, verbatim = question.request, question.verbatim
    asking = None
    if request.session_id is not None and request.recent_turns:
        asking = AskingSession(session_id=request.session_id, scopes=question.scopes, turns=request.recent_turns)
    return await source.turn_evidence(
        EvidenceQuery(
            ids=[one.id for one in ranked[: considered(request)] if rows[one.id].type in verbatim],
            verbatim=verbatim,
            instant=request.as_of or request.now,
            asking=asking,
        )
    )


async def _predecessors_first(
    source: ReadSource,
    question: Question,
    filters: SearchFilters,
    ranked: tuple[Ranked, ...],
    rows: dict[UUID, RankingRow],
) -> tuple[tuple[Ranked, ...], frozenset[UUID]]:
    """Return what was found with what the question asks for in front, and which that is: what was replaced.

    Where no arm found that, it is fetched into `rows`, unless a filter may be why it was not found.
    """
    request, query = question.request, question.query
    held_by = slot_holders(ranked, rows, query)
    if not held_by:
        return ranked, frozenset()
    replaced = await source.replaced(held_by)
    missing = [one for one in replaced if one not in rows]
    if filters.topic or filters.metadata or filters.excluded or filters.within or filters.as_of:
        missing = []
    rows |= await source.ranking_rows(RowsQuery(ids=missing, whole=True))
    added = [Fused(id=one, retrieval=0.0, places={}) for one in missing]
    others = rank(added, rows, query=query, plan=question.plan, now=request.now, verbatim=question.verbatim)
    return predecessor_first(ranked, replaced, others), frozenset(replaced)


def _asks_how_it_was(query: ParsedQuery) -> bool:
    """Tell whether it asks in the past tense, at no time that it names: what held before may be the answer."""
    asked = query.reading
    return asked.looks_back and asked.asks and not (asked.windows or asked.asks_what_happened)


def _least_strict(query: ParsedQuery) -> ReadMode:
    """Return the mode whose floor of confidence lets all through that the question may ask for: also what was said."""
    return ReadMode.HISTORICAL if query.reading.looks_back and query.mode is ReadMode.DEFAULT else query.mode


@lru_cache(maxsize=20_000)
def _terms_of(word: str, language: str) -> tuple[str, ...]:
    """Return the terms of a word: questions have few words."""
    return terms(word, language)


def document_counts(query: ParsedQuery, known: QueryLookup) -> dict[int, int]:
    """Return the number of documents with each term of the question, by the term's index.

    A term of a name that the question does not say (`my sister` for Ana) has the number of memories about that entity.
    """
    return {**{index_of(term): mentions for term, mentions in query.lent.items()}, **known.frequencies}


def term_weights(query: ParsedQuery, counted: Mapping[int, int], documents: int) -> dict[int, float]:
    """Return the weight of each term, by its index; `documents` is the size of the collection."""
    frequencies = {term: counted.get(index_of(term), 0) for term in query.terms}
    return query_weights(query.terms, frequencies, documents)


def word_weights(text: str, counted: Mapping[int, int], documents: int, language: str) -> dict[str, float]:
    """Return the weight of each of the first words of a text as it is spelled: that of its rarest term."""
    return {
        word: max(idf(counted.get(index_of(term), 0), documents) for term in found)
        for word in content_words(text, language)[:MOST_COMPARED]
        if (found := _terms_of(word, language))
    }

"""Choice of the matches that answer: those that are relevant, true of the time asked for, and said once.

A turn is shown while what it says holds, and only where it says more than the beliefs that rest on it. A turn whose
statement was replaced, ended, rejected, reported wrong or never meant is not how things are. A belief and the turn it
was extracted from say the same thing, so that one of both is enough.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from typing import Final
from uuid import UUID

from app.db.memories.ranking import RankingRow, TurnBelief, TurnEvidence
from app.lexical.bm25 import terms
from app.memory.extraction import Role
from app.model import ReadMode, SpeechAct
from app.read import block
from app.read.assemble import floor, select
from app.read.block import BlockPolicy
from app.read.relevance import MatchEvidence, Relevance, Split
from app.read.succession import NONE_LATER, SuccessionSearch, seeks_later
from app.read.texts import terms_in, untimed_terms
from app.read.timely import ELSEWHEN, history_first, on_that_day
from app.read.values import OPENING, Cut, ParsedQuery, QueryRequest, Ranked

TURNS_CONSIDERED: Final = 60
"""Best matches of which the turns are looked up beside their beliefs."""

MOST_OF_IT: Final = 0.5
"""Share of a turn's words from which on its beliefs are what it says."""

NEARLY_ALL: Final = 0.75
"""Share of a turn's words from which on its beliefs leave out little: a second sentence is more."""

MOST_DATED: Final = 40
"""Words of the longest turn that is compared with its event without its words for times, some 0.5 ms for a turn."""

NEAREST: Final = 0.6
"""Share of the evidence of a turn's most relevant belief that another one of it needs to be what the turn is for."""

AS_GOOD: Final = 0.9
"""Share of what a turn's wording counts from which on a belief that is asked for answers as well as its turn."""

BEST_MATCHES: Final = 10
"""Matches, and turns, among which a belief stands for a turn that is one of them, and pushes no other one out."""

UNTRUE: Final = "not how things are"
"""Why matches are left out however near they are to the question."""

BY_TOOL: Final = "said by a tool"
"""The mark of what a tool said, which may hold."""

_NEVER: Final = datetime.min.replace(tzinfo=UTC)

_MARKS: Final[Mapping[str, str]] = {
    SpeechAct.HYPOTHETICAL: "imagined",
    SpeechAct.ROLEPLAY: "imagined",
    SpeechAct.SARCASM: "joking",
    SpeechAct.QUOTATION: "quoted",
}


def considered(request: QueryRequest) -> int:
    """Return how many of the best matches are looked at as turns beside their beliefs."""
    return max(TURNS_CONSIDERED, 3 * request.top_k)


def ruled_out(cut: Iterable[Cut], statements: Collection[UUID]) -> bool:
    """Tell whether one of the statements was left out because it does not hold, or not then, however near it is."""
    return any(one.id in statements and one.why.startswith((UNTRUE, ELSEWHEN)) for one in cut)


def best_matches(
    judged: Relevance,
    turns: Mapping[UUID, TurnEvidence],
    ranked: Sequence[Ranked],
    rows: Mapping[UUID, RankingRow],
    request: QueryRequest,
) -> Split:
    """Return the best `top_k` that answer, and what was left out, all of it where an explanation is wanted.

    A turn after those that are considered changes nothing about a match before it, unless it has a summary or says
    the same. So the others are judged only where there is no answer without them.
    """
    most = len(ranked) if request.explain else considered(request)
    early, late = ranked[:most], ranked[most:]
    said = {_saying(rows[one.id]) for one in early}
    ruling = [
        one
        for one in late
        if (row := rows[one.id]).type not in judged.verbatim or row.folded_into is not None or _saying(row) in said
    ]
    some = (*early, *ruling)
    if len(some) < len(ranked):
        best, cut = _best_of(judged, turns, some, rows, request, enough=request.top_k)
        if len(best) == request.top_k and {one.id for one in late}.isdisjoint(one.id for one in best):
            return best, cut
    return _best_of(judged, turns, ranked, rows, request)


def _best_of(
    judged: Relevance,
    turns: Mapping[UUID, TurnEvidence],
    ranked: Sequence[Ranked],
    rows: Mapping[UUID, RankingRow],
    request: QueryRequest,
    *,
    enough: int = 0,
) -> Split:
    relevant, cut = _relevant(judged, turns, ranked, rows, request, enough)
    kept, elsewhen = on_that_day(relevant, rows, judged.query, request.now)
    return history_first(kept, rows, judged.query)[: request.top_k], (*elsewhen, *cut)


def _relevant(
    judged: Relevance,
    turns: Mapping[UUID, TurnEvidence],
    ranked: Sequence[Ranked],
    rows: Mapping[UUID, RankingRow],
    request: QueryRequest,
    enough: int,
) -> Split:
    """Return what is relevant, current and not said by another match, and what was left out as none of these.

    Nothing where not `enough` of it is relevant.
    """
    evidence = judged.evidence(ranked, rows)
    view = TurnsInView(
        turns=turns,
        rows=rows,
        evidence=evidence,
        query=judged.query,
        verbatim=judged.verbatim,
        zone=request.now.tzinfo,
    )
    shared = view.with_shared_evidence()
    scored = judged.with_relevance(ranked, rows, shared)
    relevant, unlike = judged.cut(scored, rows, replace(evidence, whole=shared), least=request.min_relevance)
    if len(relevant) < enough:
        return (), ()
    current, past = view.current(relevant)
    least = floor(judged.query.mode, request.min_confidence)
    chosen = select(current, rows, query=judged.query, least=least)
    distinct, alike = said_once(chosen, rows, judged.verbatim, request.now.tzinfo)
    once, again = view.once(distinct)
    if not block.applies(request, judged.query):
        return once, (*past, *alike, *again, *unlike)
    leading = frozenset(one.id for one in ranked[: considered(request)])
    policy = BlockPolicy(
        leading=leading,
        heard=scored,
        query=judged.query,
        rows=rows,
        turns=turns,
        evidence=evidence,
        verbatim=judged.verbatim,
    )
    admitted, left_out = policy.admit(once)
    restated: tuple[Cut, ...] = ()
    if seeks_later(judged.query) and any(rows[one.id].type in judged.verbatim for one in ranked):
        outdated = {one.id for one in past}
        gone = outdated.union(one.id for one in (*alike, *again))
        turns_left = policy.eligible([one for one in scored if one.id not in gone])
        over = [one for one in relevant if one.id in outdated and view.is_ended(one.id)]
        led, replaced = with_later_turns(admitted, over, turns_left, judged, view)
        admitted, restated = policy.without_restated(led)
        restated = (*replaced, *restated)
    shown = {one.id for one in admitted}
    cut = (*past, *alike, *again, *left_out, *unlike, *restated)
    return admitted, tuple(one for one in cut if one.id not in shown)


def with_later_turns(
    admitted: Sequence[Ranked],
    over: Sequence[Ranked],
    candidates: Sequence[Ranked],
    judged: Relevance,
    view: TurnsInView,
) -> Split:
    """Return the matches with the later turns that may have changed the best of them, each before what it may change.

    Those are marked with the day of the newest, where it likely did, and left out where it surely did, but for what is
    later than another one itself. `over` are matches that are left out, because what they say is over.
    """
    search = SuccessionSearch(
        rows=view.rows, turns=view.turns, query=judged.query, words=judged.words, verbatim=judged.verbatim
    )
    found, beside = search.find(admitted, over, candidates), search.beside(admitted)
    by_id = {one.id: one for one in (*candidates, *admitted)}
    after = {turn for each in found.values() for turn in each.turns}
    ordered: dict[UUID, Ranked] = {}
    gone: list[Cut] = []
    for one in over:
        ordered.update((turn, _told_later(by_id[turn], one)) for turn in found.get(one.id, NONE_LATER).turns)
    for one in admitted:
        later, likely, sure = found.get(one.id, NONE_LATER)
        for turn in later:
            ordered.setdefault(turn, _told_later(by_id[turn], one))
        if sure and one.id not in after:
            gone.append(Cut(one.id, one.relevance, "replaced by what was told later"))
            continue
        ordered.setdefault(one.id, one._replace(beside=True) if one.id in beside else one)
        if later:
            day = view.rows[later[0]].stated_at.astimezone(view.zone).date()
            marked = likely and set(one.marks) <= {BY_TOOL}
            marks = (*one.marks, f"perhaps replaced {day}") if marked else one.marks
            ordered[one.id] = one._replace(marks=marks, later=later)
    return tuple(ordered.values()), tuple(gone)


def _told_later(turn: Ranked, anchor: Ranked) -> Ranked:
    note = "told later than a match that it may have changed"
    return turn._replace(score=max(turn.score, anchor.score), notes=(*turn.notes, note))


def said_once(
    ranked: Sequence[Ranked], rows: Mapping[UUID, RankingRow], verbatim: Collection[str], zone: tzinfo | None
) -> Split:
    """Return the best placed of the turns that say the same word for word, marked with how often that was said.

    The mark is for questions of how often, because the same words on another day may tell of another occasion.
    """
    same: dict[tuple[object, ...], list[Ranked]] = defaultdict(list)
    for one in ranked:
        if (row := rows[one.id]).type in verbatim:
            same[*_saying(row), one.marks].append(one)
    repeated = {alike[0].id: alike for alike in same.values() if len(alike) > 1}
    dropped = {one.id for alike in repeated.values() for one in alike[1:]}
    kept = []
    for one in ranked:
        if alike := repeated.get(one.id):
            since = min(rows[each.id].stated_at for each in alike).astimezone(zone).date()
            kept.append(one._replace(marks=(*one.marks, f"said {len(alike)} times since {since}")))
        elif one.id not in dropped:
            kept.append(one)
    return tuple(kept), tuple(
        Cut(one.id, one.relevance, "said by a better match") for one in ranked if one.id in dropped
    )


def _saying(row: RankingRow) -> tuple[object, ...]:
    """Return what is equal for turns of one scope that say the same word for word."""
    return row.scope_id, row.said


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnsInView:
    """The found turns with the beliefs that rest on them, and the evidence for each match."""

    turns: Mapping[UUID, TurnEvidence]
    rows: Mapping[UUID, RankingRow]
    evidence: MatchEvidence
    query: ParsedQuery
    verbatim: Collection[str]
    zone: tzinfo | None

    def with_shared_evidence(self) -> dict[UUID, float]:
        """Return what speaks for each match: for a belief at least what speaks for a turn that it is the point of."""
        whole = self.evidence.whole
        shared = dict(whole)
        for turn, nearest in self._nearest(self.turns, whole):
            if self._says_of_it(turn, nearest) >= MOST_OF_IT:
                shared |= {one: max(shared[one], whole[turn]) for one in nearest}
        return shared

    def current(self, ranked: Sequence[Ranked]) -> tuple[tuple[Ranked, ...], tuple[Cut, ...]]:
        """Return the matches that say how things are, and the turns that don't; asked about the past, all, marked."""
        found = {one.id for one in ranked}
        kept, cut = [], []
        for one in ranked:
            if (said := self.turns.get(one.id)) is None or not (
                said.beliefs or said.role == Role.TOOL or self.rows[one.id].speech_act in _MARKS
            ):
                kept.append(one)
                continue
            unmeant = self._unmeant(one.id)
            marks = (*unmeant, *self._of_tool(one.id), *self._replaced(one.id))
            if self._wanted() or not (unmeant or self._outdated(one.id, found)):
                kept.append(one._replace(marks=marks) if marks else one)
            else:
                cut.append(Cut(id=one.id, relevance=one.relevance, why=f"{UNTRUE}: {', '.join(marks)}"))
        return tuple(kept), tuple(cut)

    def once(self, ranked: Sequence[Ranked]) -> tuple[tuple[Ranked, ...], tuple[Cut, ...]]:
        """Return the matches with one of a turn and its beliefs: what says more of what is asked.

        It stands where the better of both stood. A belief that rests on several turns stands for the best placed of
        them, and for those of which it says most: each of the others says something else.
        """
        by_id, place = {one.id: one for one in ranked}, {one.id: at for at, one in enumerate(ranked)}
        gone: dict[UUID, str] = {}
        standing: set[UUID] = set()
        for turn, nearest in self._nearest([one.id for one in ranked if one.id in self.turns], by_id):
            left = [one for one in nearest if one not in gone]
            if not left:
                continue
            best = max(left, key=self.evidence.wording.__getitem__)
            share = self._says_of_it(turn, left)
            if share < NEARLY_ALL and self.rows[best].dated and place[turn] < BEST_MATCHES:
                share = self._says_of_it(turn, left, dated=True)
            if share >= NEARLY_ALL or (best not in standing and self._answers_as_well(best, turn)):
                standing.add(best)
                kept, dropped, why = best, turn, "said by a belief that rests on it"
            elif best not in standing:
                kept, dropped, why = turn, best, "said by the turn that it rests on"
            else:
                continue
            by_id[kept] = by_id[kept]._replace(score=max(by_id[kept].score, by_id[dropped].score))
            place[kept] = min(place[kept], place[dropped])
            gone[dropped] = why
        once = sorted(by_id.keys() - gone.keys(), key=lambda one: place[one])
        cut = tuple(Cut(id=one, relevance=by_id[one].relevance, why=why) for one, why in gone.items())
        before = {one.id: at for at, one in enumerate(ranked)}
        raised = {one for one in once if one in self.turns and place[one] < before[one]}
        return tuple(by_id[one] for one in self._turns_first(once, raised, before)), cut

    def _turns_first(self, once: Sequence[UUID], raised: Collection[UUID], before: Mapping[UUID, int]) -> list[UUID]:
        """Return the order in which no belief of a lesser turn pushes one of the best turns out of the first ten.

        Such a belief, and such a turn where it was `raised` to the place of its belief, follows the first ten others.
        Not so what the question asks for by its predicate, and beliefs that nobody said in a turn.
        """
        turns = sorted((one for one in self.turns if one in before), key=before.__getitem__)
        best = set(turns[:BEST_MATCHES])
        said = {belief.id for turn in best for belief in self.turns[turn].beliefs}
        predicates = self.query.asked_predicates

        def lesser(one: UUID) -> bool:
            if one in self.turns:
                return one in raised and one not in best
            row = self.rows[one]
            of_turn = row.type not in self.verbatim and row.session_id is not None and row.sequence_number is not None
            return of_turn and one not in said and row.predicate not in predicates

        others = [one for one in once if not lesser(one)]
        if len(others) < BEST_MATCHES or len(others) == len(once):
            return list(once)
        last = others[BEST_MATCHES - 1]
        at = once.index(last)
        late = [one for one in once[:at] if lesser(one)]
        return [*others[:BEST_MATCHES], *late, *once[at + 1 :]]

    def _nearest(self, turns: Iterable[UUID], found: Collection[UUID]) -> Iterator[tuple[UUID, tuple[UUID, ...]]]:
        """Yield each turn with those beliefs of it, among what was found, that it is most likely found for."""
        evidence = self.evidence.whole
        for turn in turns:
            beliefs = [one.id for one in self.turns[turn].beliefs if one.id in found] if turn in found else []
            if beliefs:
                best = max(evidence[one] for one in beliefs)
                least = min(best, NEAREST * best)
                yield turn, tuple(dict.fromkeys(one for one in beliefs if evidence[one] >= least))

    def _answers_as_well(self, belief: UUID, turn: UUID) -> bool:
        """Tell whether a belief is what is asked for, and its words say as much of it; a name in both tells nothing."""
        as_good = self.evidence.wording[belief] >= AS_GOOD * self.evidence.wording[turn]
        return as_good and self._is_asked_for(self.rows[belief])

    def _is_asked_for(self, row: RankingRow) -> bool:
        """Tell whether a question hints at a belief's type, asks for its predicate, or for nothing that it lacks.

        Any other shares a subject with the question, and what is asked may stand in the rest of the turn.
        """
        if row.type in self.query.reading.hinted or row.predicate in self.query.asked_predicates:
            return True
        asked = set(self.query.terms)
        said = () if row.predicate is None else terms(row.predicate.replace("-", " "))
        return not asked.isdisjoint(said) and asked <= terms_in(row.opening).union(said)

    def _wanted(self) -> bool:
        return self.query.mode is not ReadMode.DEFAULT or self.query.reading.looks_back

    def _unmeant(self, memory: UUID) -> tuple[str, ...]:
        """Return the mark of words that are nobody's belief: imagined, joking, another's."""
        act = self.rows[memory].speech_act
        return (_MARKS[act],) if act in _MARKS else ()

    def _of_tool(self, memory: UUID) -> tuple[str, ...]:
        return (BY_TOOL,) if self.turns[memory].role == Role.TOOL else ()

    def _replaced(self, memory: UUID) -> tuple[str, ...]:
        """Return the mark of a turn of whose beliefs one holds no more."""
        over, standing = self._beliefs(memory)
        if not over:
            return ()
        last = max(over, key=lambda one: one.over_at or _NEVER)
        gone = "withdrawn" if last.withdrawn else "no longer so since"
        what = gone if last.replaced_by is None else "replaced"
        part = "in part " if standing else ""
        return (f"{part}{what} {(last.over_at or _NEVER).astimezone(self.zone):%Y-%m-%d}",)

    def is_ended(self, memory: UUID) -> bool:
        """Tell whether something that a turn says has ended, and nothing holds its place."""
        return any(one.replaced_by is None and not one.withdrawn for one in self._beliefs(memory)[0])

    def _beliefs(self, memory: UUID) -> tuple[list[TurnBelief], list[TurnBelief]]:
        """Return the beliefs of a turn that are over, and those that hold."""
        found = self.turns.get(memory)
        beliefs = () if found is None else found.beliefs
        over = [one for one in beliefs if one.over_at is not None]
        return over, [one for one in beliefs if one.over_at is None and one.speech_act not in _MARKS]

    def _outdated(self, memory: UUID, found: Collection[UUID]) -> bool:
        """Tell whether what the turn says is over, or that part of it which the question asks for most.

        That is over where what replaced it fits the question better than the rest of the turn.
        """
        over, standing = self._beliefs(memory)
        if not standing and over and self._share(memory, over) >= MOST_OF_IT:
            return True
        whole = self.evidence.whole
        instead = [whole[one.replaced_by] for one in over if one.replaced_by is not None and one.replaced_by in found]
        rest = max((whole.get(one.id, 0.0) for one in standing), default=whole[memory])
        return max(instead, default=-math.inf) > rest

    def _says_of_it(self, turn: UUID, beliefs: Collection[UUID], *, dated: bool = False) -> float:
        """Return the share of a turn's terms that these beliefs have; 0 where they lack one that the question has.

        A turn that is longer than its opening says more than beliefs do. `dated`: their date is the turn's, so that its
        own words for a time, `yesterday`, say nothing more.
        """
        opening = self.rows[turn].opening
        if len(opening) >= OPENING or (dated and self.rows[turn].words > MOST_DATED):
            return 0.0
        said = untimed_terms(opening) if dated else terms_in(opening)
        left = said.difference(*(terms_in(self.rows[one].opening) for one in beliefs))
        return 1 - len(left) / max(1, len(said)) if left.isdisjoint(self.query.terms) else 0.0

    def _share(self, turn: UUID, beliefs: Sequence[TurnBelief]) -> float:
        """Return the share of a turn's words that these beliefs are; one without a quote is all that it says.

        What ended is all that it was quoted for. What was replaced is what it says itself: where the question is not
        about what took its place, it is about the rest of the turn.
        """
        if any(one.quote is None for one in beliefs):
            return 1.0
        quoted = sum(len(one.split()) for one in {one.quote or "" for one in beliefs if one.replaced_by is None})
        replaced = sum(one.words for one in beliefs if one.replaced_by is not None)
        return (quoted + replaced) / max(1, self.rows[turn].words)

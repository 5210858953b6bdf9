"""Relevance of a match to its question, 0 to 1, and the floors under which it is not returned.

Ranking says which match is better; relevance says whether the best is any good. It is read off what the arms saw: the
cosine in the scale of its embedding model, the share of the question's words (by their rarity) that a text has, whether
it is about a name in the question, and whether it says what the question's words ask for.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from operator import attrgetter
from statistics import NormalDist
from typing import Final
from uuid import UUID

from app.db.memories.ranking import RankingRow
from app.english.own_life import HAS_NAME
from app.english.questions import ABOUT_ASKER, speaks_of_somebody
from app.lexical.bm25 import terms
from app.memory import normalise, vocabulary
from app.memory.extraction import SHORT_TURN
from app.read.asked_of import GENERAL, has_half, is_general, is_of_asker_alone, says_whom
from app.read.texts import WordNearness, own_life_in, share_told_of_speaker, terms_in, tokens_in
from app.read.values import Arm, ArmPlace, Cut, ParsedQuery, Ranked, Scored

RESTATING: Final = 0.39
"""Least evidence of an assistant's reply that says what the turn before it is about; its relevance is .8."""

ANSWERED: Final = 0.9
"""Least share of the evidence of the nearest turn that one has whose reply is asked for."""

BELIEF_FLOOR: Final = 0.5
"""Least relevance of a typed belief."""

ALONE_FLOOR: Final = 0.65
"""The same of one that is found by its meaning alone: it has no word, name, predicate, type or time of the question."""

TURN_FLOOR: Final = 0.18
"""Least relevance of what was said word for word: it tells less well what it is about than a belief does."""

CHAT_FLOOR: Final = 0.2
"""The same of turns of a chat with an assistant, which is about one thing after another."""

GATHERED: Final = 0.5
"""Times these floors, but for brief turns, those of a question that gathers: a part of a sum may not say its words."""

WHOM: Final = 0.25
"""Times the floor of a turn that names the person of whom a known predicate is asked, in a chat with an assistant: what
somebody does for a living is told by any verb."""

BRIEF: Final = 160
"""Letters of a turn under which it says one thing. The vector of a longer one blurs what it says."""

BRIEF_FLOOR: Final = 0.45
"""Least relevance of brief turns of a chat with an assistant that have no word of the question."""

FAINT: Final = 0.08
"""Least relevance of the turn that stands out from all others, where nothing reaches the floors."""

STANDS_OUT: Final = 2.0
"""Times the relevance of the next turn that one has which stands out."""

RIVAL: Final = 0.6
"""Least share of the best belief's evidence that another belief has."""

NAMED_LEAST: Final = 0.22
"""Least evidence of the wording of a belief that is not what is asked for, where the question names a person."""

NAME_ALONE: Final = 0.2
"""Subtracted from the best belief's evidence for its name: a question may be about several things."""

_MIDPOINT: Final = 0.28
_STEEPNESS: Final = 12.0
_WORDS: Final = 0.3
_NAME: Final = 0.5
_PREDICATE: Final = 0.4
_TIME: Final = 0.5
_HINT: Final = 0.15
"""Evidence is `cosine + .3 x words + .5 x name + .4 x predicate + .5 x time + .15 x hint`; at the midpoint relevance is
one half."""

_NAMING: Final = frozenset(terms("name called"))

MENTIONING: Final = 0.6
"""Share of its rarest name's weight by which a question of names alone finds a memory; one relation away has .5."""

_SAID, _SAID_BEFORE, _SHARED, _TIMED = Arm.SEMANTIC, Arm.SEMANTIC_CONTEXT, Arm.LEXICAL, Arm.TEMPORAL

_ABSENT: Final[ArmPlace] = (0, 0.0, 0.0, 0.0)
_UNCOMPARED: Final[ArmPlace] = (0, -math.inf, 0.0, 0.0)
"""Places of what an arm did not nominate."""

UNLIKE: Final[ArmPlace] = (0, 0.0, 0.0, 0.0)
"""The place of what was fetched for another reason than its likeness to the question."""

_UNSEEN: Final = 0.09
"""The cosine of what the semantic arms did not find, in the scale of the embedded model."""

_UNRELATED: Final = 0.0049
_RELATED: Final = 0.3174
"""Medians of the embedded model, for which evidence was weighed, on the pairs of `english/data/calibration.txt`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Medians of an embedding model's cosines of a question with an unrelated sentence, and with its answer."""

    unrelated: float
    related: float

    def scaled(self, cosine: float) -> float:
        """Return a cosine in the scale of the embedded model, for which the evidence was weighed."""
        share = (cosine - self.unrelated) / max(1e-6, self.related - self.unrelated)
        return _UNRELATED + share * (_RELATED - _UNRELATED)


CALIBRATIONS: Final[Mapping[str, Calibration]] = {
    "wordllama-256": Calibration(unrelated=_UNRELATED, related=_RELATED),
}
"""Calibrations by model name (docs/decisions/ranking.md)."""

UNKNOWN: Final = Calibration(unrelated=0.065, related=0.377)
"""For a model that nobody measured: sentence models are usually near this, a little above the embedded one."""


def calibration_of(model: str, *, unrelated: float | None, related: float | None) -> Calibration:
    """Return the calibration stored with a model, else the one of a known model, else one that fits most."""
    if unrelated is not None and related is not None:
        return Calibration(unrelated=unrelated, related=related)
    return CALIBRATIONS.get(model, UNKNOWN)


_PRIOR: Final = 5
"""Memories as many as which the calibration counts in the usual cosine of a question."""

_TOLERATED: Final = 0.05
"""How far above its calibration the usual cosine of a question may lie before it counts; twice as far, it counts
in full."""

_SPREAD: Final = 0.3
"""Standard deviation of cosines of unrelated texts, as a share of the distance between unrelated and related."""

Split = tuple[tuple[Ranked, ...], tuple[Cut, ...]]
"""Matches that are kept, and those that are not, with the reason."""

_relevance = attrgetter("relevance")

_AT: Final = Ranked._fields.index("relevance")


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchEvidence:
    """The evidence for each match, on the scale of a cosine of the embedded model.

    `wording`: of its text and its predicate alone, by which a belief and the turn that it rests on are compared.
    """

    whole: Mapping[UUID, float]
    wording: Mapping[UUID, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Relevance:
    """The measure of relevance to one question; `whole` is the weight of all its words.

    `asked` are memories that the question asks for by their place in a chain, whatever their words; `numbered` those
    about a number that it names, which is a name, too, and those about another number; `others` say of others what
    is asked. `alone` are turns to which the turn before adds no meaning (see `without_context`);
    `usual` is the cosine of the question with what it is not about (see `usual_cosine`). `words` compares words.
    `by_words`: the embedder knows too little of the question, so that words alone find anything.
    """

    query: ParsedQuery
    calibration: Calibration
    whole: float
    verbatim: Collection[str]
    asked: Collection[UUID] = frozenset()
    numbered: Mapping[UUID, bool] = field(default_factory=dict)
    others: Collection[UUID] = frozenset()
    alone: Collection[UUID] = frozenset()
    usual: float = 0.0
    words: WordNearness | None = None
    by_words: bool = False

    def with_relevance(
        self, ranked: Sequence[Ranked], rows: Mapping[UUID, RankingRow], evidence: Mapping[UUID, float]
    ) -> list[Ranked]:
        """Return the matches with the relevance, 0 to 1, of each, by what speaks for it."""
        every = self.query.types.within or self.query.types.inferred
        of_asker = self.query.names_only and ABOUT_ASKER.search(self.query.reading.text) is not None
        told_then = self.query.reading.asks_what_was_told
        found = []
        for one in ranked:
            asked = every or self._asked_as_such(one) or (of_asker and self._is_of_asker(rows[one.id]))
            asked = asked or (told_then and rows[one.id].type in self.verbatim)
            relevance = 1.0 if asked else 1 / (1 + math.exp(-_STEEPNESS * (evidence[one.id] - _MIDPOINT)))
            found.append(Ranked._make((*one[:_AT], relevance, *one[_AT + 1 :])))
        return found

    def evidence(self, ranked: Sequence[Ranked], rows: Mapping[UUID, RankingRow]) -> MatchEvidence:
        """Return what speaks for each match."""
        predicates = self.query.asked_predicates
        hinted, verbatim, whole, scaled = self.query.reading.hinted, self.verbatim, self.whole, self.calibration.scaled
        others, alone = self.others, self.alone
        raised = self._raised()
        names = bool(self.query.named)
        own = frozenset[str]() if names else self.query.reading.own_asked
        verbs = _verbs_of(predicates)
        numbers = frozenset(term for term in self.query.terms if term.isdigit())
        found: dict[UUID, float] = {}
        wording: dict[UUID, float] = {}
        # One loop without calls of its own: a question has up to 200 matches.
        for one in ranked:
            place, row = one.places.get, rows[one.id]
            kind = row.type
            cosine = place(_SAID, _UNCOMPARED)[1]
            if kind in verbatim and one.id not in alone:
                cosine = max(cosine, place(_SAID_BEFORE, _UNCOMPARED)[1])
            if kind in verbatim:
                cosine -= raised
            near = scaled(cosine) if cosine > -math.inf else _UNSEEN
            share = min(1.0, place(_SHARED, _ABSENT)[1] / whole) if whole else 0.0
            asked = row.predicate in predicates
            other = frozenset[str]() if asked else verbs & _verbs(row.predicate)
            if (numbers or other) and share and terms_in(row.opening).intersection(self.query.terms) <= numbers | other:
                share = 0.0
            asked = asked and one.id not in others
            told = bool(own) and self._tells(row, own)
            near = max(near, _UNSEEN) if told else near
            cues = _PREDICATE * told + _TIME * place(_TIMED, _ABSENT)[1] + _HINT * (kind in hinted)
            wording[one.id] = said = near + _WORDS * share + _PREDICATE * asked
            named = self._named(one) if names else 0.0
            found[one.id] = said + _NAME * named + cues
        for match, same in self.numbered.items():
            if match in found:
                found[match] += _NAME if same else -NAME_ALONE
        for turn, reply in self._replies((rows[one.id] for one in ranked), found):
            found[turn] = max(found[turn], found[reply])
        return MatchEvidence(whole=found, wording=wording)

    def _tells(self, row: RankingRow, own: Collection[str]) -> bool:
        """Tell whether a turn of the asker's tells of their own life what is asked of it."""
        mine = row.type in self.verbatim and row.speaker_id is None
        return mine and not own_life_in(row.opening).isdisjoint(own)

    def _replies(self, rows: Iterable[RankingRow], evidence: Mapping[UUID, float]) -> Iterator[tuple[UUID, UUID]]:
        """Yield turns with the assistant's replies that restate them: such a reply says what the turn is about.

        Where the question asks what the assistant said, the replies to what is nearest to it: it asks for these.
        """
        if not self.query.assistants:
            return
        asked = set(self.query.terms)
        sessions = [list(pairwise(said)) for said in _by_session(rows, self.verbatim)]
        replied = [
            (turn, reply)
            for turn, reply in (each for pairs in sessions for each in pairs)
            if turn.speaker_id not in self.query.assistants and reply.speaker_id in self.query.assistants
        ]
        if self.query.reading.asks_back:
            best = max((evidence[turn.id] for turn, _ in replied), default=0.0)
            near = [each for each in replied if evidence[each[0].id] >= ANSWERED * best]
            named = [each for each in near if any(not asked.isdisjoint(terms_in(one.opening)) for one in each)]
            yield from ((reply.id, turn.id) for turn, reply in named or near)
            return
        for turn, reply in replied:
            if not is_brief(reply) or evidence[reply.id] < RESTATING:
                continue
            if (terms_in(turn.opening) & terms_in(reply.opening)) - asked:
                yield turn.id, reply.id

    def _raised(self) -> float:
        """Return what the usual cosine of the question has above the calibration; little more does not count."""
        above = self.usual - self.calibration.unrelated
        return above * min(1.0, max(0.0, above / _TOLERATED - 1))

    def cut(
        self,
        ranked: Sequence[Ranked],
        rows: Mapping[UUID, RankingRow],
        evidence: MatchEvidence,
        *,
        least: float | None,
    ) -> Split:
        """Return what is relevant enough, and what is not with the reason; `least` takes the place of the floors."""
        if least is not None:
            return split((one, "" if one.relevance >= least else f"under {least:.2f}") for one in ranked)
        believed = [one for one in ranked if rows[one.id].type not in self.verbatim]
        best = max((evidence.whole[one.id] - NAME_ALONE * self._named(one) for one in believed), default=0.0)
        known = any(rows[one.id].predicate in self.query.asked_predicates for one in believed)
        verbs = _verbs_of(self.query.asked_predicates) if known else frozenset[str]()
        anchored = not is_general(self.query) or any(has_half(self.query, rows[one.id]) for one in ranked)
        relevant, other = split(
            (one, self._why(one, rows[one.id], evidence, best, verbs) if anchored else GENERAL) for one in ranked
        )
        return (relevant, other) if relevant else self._standing_out(ranked, rows, other)

    def _standing_out(self, ranked: Sequence[Ranked], rows: Mapping[UUID, RankingRow], other: tuple[Cut, ...]) -> Split:
        """Return the turn that is far nearer to a question about somebody than all others, and what else is cut.

        Among a few turns the nearest is likely meant, though the embedded model sees too little to say that it is near.
        """
        turns = sorted((one for one in ranked if rows[one.id].type in self.verbatim), key=_relevance, reverse=True)
        asked = self.query.reading
        if not turns or not asked.asks or not (self.query.about or speaks_of_somebody(asked.text)):
            return (), other
        first, *rest = turns
        if first.relevance < max(FAINT, STANDS_OUT * max(map(_relevance, rest), default=0.0)):
            return (), other
        return (first,), tuple(one for one in other if one.id != first.id)

    def _why(self, one: Ranked, row: RankingRow, evidence: MatchEvidence, best: float, verbs: Collection[str]) -> str:
        """Return why a match is not relevant; `best` is the evidence of the best belief.

        `verbs` are those of what is asked, where a belief is known that says it: they speak for no other.
        """
        if row.type in self.verbatim:
            if is_of_asker_alone(self.query, row):
                return "about its speaker, where another is asked for"
            floor = self._floor_of_turn(one, row)
            return "" if one.relevance >= floor else f"under {floor:.2f}, the floor of turns"
        floor = ALONE_FLOOR if self._by_meaning_alone(one, row) else BELIEF_FLOOR
        if one.relevance < floor:
            return f"under {floor:.2f}, the floor of beliefs"
        return "" if one.relevance >= 1 else self._why_of_belief(one, row, evidence, best, verbs)

    def _why_of_belief(
        self, one: Ranked, row: RankingRow, evidence: MatchEvidence, best: float, verbs: Collection[str]
    ) -> str:
        """Return why a belief over the floor is not relevant, that is not surely so."""
        if self.query.names_people and not self._is_asked_for(row):
            if not self._named(one) and Arm.LEXICAL not in one.places:
                return "about somebody else"
            if evidence.wording[one.id] < NAMED_LEAST:
                return "has nothing of the question but a name"
        if self._is_anothers_name(row):
            return "the asker's own name, where another is asked for"
        if not (self._is_asked_for(row) or _verbs(row.predicate).isdisjoint(verbs) or self._says_whole(row.predicate)):
            return "another thing by the verb that is asked for"
        if evidence.whole[one.id] < RIVAL * best and self._named(one) < 1:
            return "far less relevant than the best belief"
        return ""

    def _floor_of_turn(self, one: Ranked, row: RankingRow) -> float:
        """Return the least relevance of a turn: how well it tells what it is about depends on the kind of chat."""
        alone = is_brief(row) and Arm.LEXICAL not in one.places
        whom = bool(self.query.assistants) and says_whom(self.query, row)
        sure = self.by_words or not self.query.assistants or whom
        floor = TURN_FLOOR if sure else BRIEF_FLOOR if alone else CHAT_FLOOR
        floor *= GATHERED if self.query.reading.gathers and not alone else 1.0
        return floor * (WHOM if whom and self.query.asked_predicates else 1.0)

    def _is_anothers_name(self, row: RankingRow) -> bool:
        """Tell whether it is the asker's name, which `what is my dog's name?` does not ask for."""
        asked = {*self.query.asked_predicates, *self.query.reading.own_asked}
        return row.predicate == HAS_NAME and HAS_NAME not in asked and not _NAMING.isdisjoint(self.query.terms)

    def _by_meaning_alone(self, one: Ranked, row: RankingRow) -> bool:
        return not self._is_asked_for(row) and one.places.keys() <= {Arm.SEMANTIC, Arm.SEMANTIC_CONTEXT}

    def _is_asked_for(self, row: RankingRow) -> bool:
        return row.predicate in self.query.asked_predicates or row.type in self.query.reading.hinted

    def _says_whole(self, predicate: str | None) -> bool:
        """Tell whether the question has all words of a predicate, also small ones: `what field is she working in?`."""
        said = normalise.words(predicate or "").split()
        text = tokens_in(self.query.reading.text)
        return all(word in text or not {*self.query.terms}.isdisjoint(terms(word)) for word in said)

    def _asked_as_such(self, one: Ranked) -> bool:
        """Tell whether the question asks for all that fits its filters, or it was fetched because it asks for it.

        A question of names alone asks for what says one of them, or mentions the rarest.
        """
        if self.query.names_only and self.query.mentioned and self._says_a_name(one):
            return True
        return not one.places or one.id in self.asked

    def _is_of_asker(self, row: RankingRow) -> bool:
        """Tell whether a turn tells something of the one who asks."""
        return row.type in self.verbatim and row.speaker_id is None and share_told_of_speaker(row.opening) > 0

    def _says_a_name(self, one: Ranked) -> bool:
        """Tell whether it has a word of the question's names, or is linked to the rarest of these as mentions of it."""
        named, linked = self.query.mentioned, one.places.get(Arm.GRAPH, _ABSENT)[1]
        rarest = max((entity.rarity for each in named for entity in each.entities), default=0.0)
        return Arm.LEXICAL in one.places or (linked > 0 and linked * len(named) >= MENTIONING * rarest)

    def _named(self, one: Ranked) -> float:
        linked = one.places.get(Arm.GRAPH, _ABSENT)[1]
        if not linked or not self.query.named:
            return 0.0
        return min(1.0, linked * len(self.query.mentioned))


@lru_cache(maxsize=1_024)
def _verbs(predicate: str | None) -> frozenset[str]:
    """Return the words of a known predicate; those of one that is asked for say nothing of any other."""
    known = predicate is not None and predicate in vocabulary.PREDICATES
    return frozenset(terms(normalise.words(predicate or ""))) if known else frozenset()


@lru_cache(maxsize=1_024)
def _verbs_of(predicates: frozenset[str]) -> frozenset[str]:
    return frozenset[str]().union(*map(_verbs, predicates))


def is_brief(row: RankingRow) -> bool:
    """Tell whether a turn is so short that it says one thing."""
    return len(row.opening) < BRIEF


def usual_cosine(found: Sequence[Scored], memories: int, depth: int, calibration: Calibration) -> float:
    """Return the cosine of the question with a memory that it is not about: the median over the visible memories.

    Texts of one language, and of one subject, resemble each other more than those that the model was calibrated on.
    `found` are the nearest of the `memories`, best first, at most `depth`: of a larger scope the median is estimated
    from the last of these, as cosines of unrelated texts are distributed normally. The fewer memories, the more the
    calibration counts.
    """
    if not found:
        return calibration.unrelated
    count = max(len(found), memories if len(found) >= depth else 0)
    if count < 2 * len(found):
        middle = found[count // 2][1]
    else:
        spread = _SPREAD * (calibration.related - calibration.unrelated)
        middle = found[-1][1] - spread * NormalDist().inv_cdf(1 - len(found) / count)
    return (count * middle + _PRIOR * calibration.unrelated) / (count + _PRIOR)


def without_context(rows: Iterable[RankingRow], query: ParsedQuery, verbatim: Collection[str]) -> frozenset[UUID]:
    """Return the turns to which the turn before adds no meaning: those of a chat with the assistant, but answers to it.

    Where two people talk, what the one says is about what the other said. An assistant is asked about one thing after
    another, so a turn beside a question is not about it; a turn that answers the assistant's question is, but whole
    sentences after the one with which it opens a session, which asks what it can do. Where the question asks what the
    assistant said, its turns answer the user's.
    """
    if not query.assistants:
        return frozenset()
    alone: set[UUID] = set()
    for said in _by_session(rows, verbatim):
        if all(one.speaker_id not in query.assistants for one in said):
            continue
        for before, one in zip((None, *said), said, strict=False):
            answers = before is not None and before.asking is not None and before.speaker_id in query.assistants
            answers = answers and (before is not said[0] or one.words < SHORT_TURN)
            asked_back = query.reading.asks_back and one.speaker_id in query.assistants
            if not (asked_back or (answers and one.speaker_id not in query.assistants)):
                alone.add(one.id)
    return frozenset(alone)


def _by_session(rows: Iterable[RankingRow], verbatim: Collection[str]) -> Iterator[list[RankingRow]]:
    """Yield the turns of each session in the order in which they were said."""
    sessions: dict[tuple[UUID, str | None], list[RankingRow]] = defaultdict(list)
    for row in rows:
        if row.type in verbatim:
            sessions[row.scope_id, row.session_id].append(row)
    for said in sessions.values():
        yield sorted(said, key=lambda one: (one.stated_at, one.sequence_number or 0, one.id))


def split(judged: Iterable[tuple[Ranked, str]]) -> Split:
    """Split matches into those without a reason to leave them out, and the others."""
    kept, cut = [], []
    for one, why in judged:
        if why:
            cut.append(Cut(one.id, one.relevance, why))
        else:
            kept.append(one)
    return tuple(kept), tuple(cut)

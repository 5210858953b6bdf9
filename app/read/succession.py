"""Later turns that may say that a found statement has changed.

"I live in Porto." and then "Our house in Evora is ready." No word list tells such turns: most share neither key nor
predicate with the statement. But they are about the same thing, so each word of the statement has a near one in them,
which holds for few other turns.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import nlargest
from math import log2
from operator import itemgetter
from statistics import median
from typing import Final
from uuid import UUID

from app.db.memories.ranking import RankingRow, TurnEvidence
from app.english.requests import requests
from app.lexical.bm25 import terms
from app.lexical.tokens import normalise, tokenize
from app.memory import vocabulary
from app.memory.extraction import Role
from app.model import ReadMode
from app.read.values import ParsedQuery, Ranked, WordNearness

ABOUT_THE_SAME: Final = 0.1
"""Least mean nearness of a statement's words to those of the only later turn."""

RISING: Final = 0.03
"""Added to that for each doubling of the number of later turns: among more, one is near by chance more often. Of single
turns told later, 5 in 100 have .14 by chance and 1 in 100 has .2; of those that change the statement 88 and 82 in 100
(English; docs/decisions/context.md)."""

HIGHEST: Final = 0.2
"""The most that is asked for, however many there are."""

ASKED: Final = 0.15
"""Least mean nearness of the question's words to those of a later turn, where it is one of several or of the same
session. Of 42 later turns so near to a statement in chats, of which 13 answered, 31 that did not fall to 10, and 11 of
the 13 stay."""

CERTAIN: Final = 2
"""Most turns told later of which one in another session needs no nearness to the question."""

FEW: Final = 1.0
"""Words that are added to those of a statement for the mean: the nearness of one or two words tells less."""

USUAL: Final = 0.08
"""Mean nearness that is usual for turns about other things; what the median of a question's turns has above it is the
language's."""

FEWEST: Final = 4
"""Fewest later turns whose median tells what is usual."""

ANSWERS: Final = 0.2
"""Least relevance of a statement for which later turns are looked for."""

AS_GOOD: Final = 0.8
"""Least share of the best relevance that it has, too."""

ANCHORS: Final = 3
"""Most such statements."""

MOST: Final = 2
"""Most later turns of a statement: those that are nearest to it."""


_UNTOLD: Final = TurnEvidence()

_PEOPLE: Final = frozenset({None, Role.USER})

Later = Mapping[UUID, tuple[UUID, ...]]
"""Later turns by the statement that they may have changed, newest first."""


def asks_for_present(query: ParsedQuery) -> bool:
    """Tell whether the current value is asked for: not the past, nor everything."""
    return query.mode is ReadMode.DEFAULT and not query.about_past


def seeks_later(query: ParsedQuery) -> bool:
    """Tell whether later turns are looked for: the current value is asked for, and not that a task be done."""
    return asks_for_present(query) and not requests(query.reading.text)


@dataclass(frozen=True, kw_only=True)
class SuccessionSearch:
    """A search for later turns: the rows of what was found, the turns among it, and the question.

    `words` compares words; `verbatim` are the types of turns.
    """

    rows: Mapping[UUID, RankingRow]
    turns: Mapping[UUID, TurnEvidence]
    query: ParsedQuery
    words: WordNearness | None
    verbatim: Collection[str]

    def find(self, admitted: Sequence[Ranked], over: Sequence[Ranked], candidates: Sequence[Ranked]) -> Later:
        """Return the later turns among `candidates` about what the best of the others say.

        None where no current value is asked for. `over` are matches that hold no more, which a later turn ended;
        `candidates` are turns, and beliefs read from turns, that may be shown. What is about somebody else says nothing
        of a statement, and neither does a name that the question has.
        """
        if not seeks_later(self.query):
            return {}
        ended = {one.id for one in over}
        found = {}
        shown = {one.id for one in admitted}
        for anchor, strong in self._answering([*admitted, *over]):
            pool = (self.rows[one.id] for one in candidates if strong or one.id in shown)
            own = frozenset() if anchor.id in ended else self._said_with(anchor.id)
            later = [row for row in pool if self._may_follow(anchor, row, own)]
            if about := self._about_the_same(anchor, later):
                found[anchor.id] = tuple(one.id for one in about)
        return found

    @cached_property
    def _read_from_turns(self) -> frozenset[UUID]:
        return frozenset(one.id for turn in self.turns.values() for one in turn.beliefs)

    def _answering(self, ranked: Sequence[Ranked]) -> Iterator[tuple[RankingRow, bool]]:
        """Yield the best statements of people, as rows, and whether each answers nearly as well as the best.

        One that does not brings nothing into the block; it is only marked.
        """
        best = max((one.relevance for one in ranked), default=0.0)
        answering = [one for one in ranked if one.relevance >= ANSWERS]
        people = [one for one in answering if self.rows[one.id].speaker_id not in self.query.assistants]
        for one in people[:ANCHORS]:
            yield self.rows[one.id], one.relevance >= AS_GOOD * best

    def _said_with(self, memory: UUID) -> frozenset[UUID]:
        """Return a memory with the beliefs that rest on it."""
        return frozenset((memory, *(one.id for one in self.turns.get(memory, _UNTOLD).beliefs)))

    def _may_follow(self, anchor: RankingRow, row: RankingRow, own: frozenset[UUID]) -> bool:
        """Tell whether something was told later, by a person, and may speak of the anchor's subject.

        What was written as a belief holds its slot, and changes nothing else. A turn says the same as the anchor where
        the same beliefs rest on both, which are its `own`, unless it ended them.
        """
        if row.stated_at <= anchor.stated_at or row.scope_id != anchor.scope_id:
            return False
        if row.type not in self.verbatim and row.id not in self._read_from_turns:
            return False
        turn = self.turns.get(row.id, _UNTOLD)
        if turn.role not in _PEOPLE or row.id in own or any(one.id in own for one in turn.beliefs):
            return False
        subjects = {row.subject, *(self.rows[one.id].subject for one in turn.beliefs if one.id in self.rows)} - {None}
        return not subjects or anchor.subject is None or anchor.subject in subjects

    def _about_the_same(self, anchor: RankingRow, later: Sequence[RankingRow]) -> list[RankingRow]:
        """Return those of the later ones that are about the same thing: the nearest, newest first."""
        least = min(HIGHEST, ABOUT_THE_SAME + RISING * log2(max(1, len(later))))
        near = self._likeness(anchor.opening, [one.opening for one in later])
        alike = [(likeness, one) for likeness, one in zip(near, later, strict=True) if likeness >= least]
        about = [
            each
            for each, asked in zip(alike, self._asked([one for _, one in alike]), strict=True)
            if asked or (len(later) <= CERTAIN and _in_other_session(each[1], anchor))
        ]
        told = {belief.id for _, one in about for belief in self.turns.get(one.id, TurnEvidence()).beliefs}
        nearest = nlargest(MOST, (each for each in about if each[1].id not in told), key=itemgetter(0))
        return sorted((one for _, one in nearest), key=lambda one: (one.stated_at, one.id), reverse=True)

    def _asked(self, later: Sequence[RankingRow]) -> list[bool]:
        """Tell of each whether it is near to the question; without vectors of words, of all."""
        if self.words is None or not later:
            return [True] * len(later)
        return [one >= ASKED for one in self.words.likeness(self.query.reading.text, [one.opening for one in later])]

    def _likeness(self, text: str, others: Sequence[str]) -> list[float]:
        """Return how near the words of a text are to those of each other one, less what is usual among these.

        Without vectors of words, the share of its terms that the other one has.
        """
        if not others:
            return []
        known = {vocabulary.USER, *(word for one in self.query.mentioned for word in tokenize(normalise(one.text)))}
        if self.words is None:
            said = set(terms(text)).difference(*(terms(one) for one in known))
            return [len(said.intersection(terms(one))) / max(1, len(said)) for one in others]
        near = self.words.likeness(text, others, without=known, few=FEW)
        usual = median(near) if len(near) >= FEWEST else USUAL
        return [one - max(0.0, usual - USUAL) for one in near]


def _in_other_session(one: RankingRow, other: RankingRow) -> bool:
    return one.session_id is None or one.session_id != other.session_id

"""Later turns that may say that a found statement has changed.

"I live in Porto." and then "Our house in Evora is ready." No word list tells such turns: most share neither key nor
predicate with the statement. But they are about the same thing: they name it, or what was said of it, by a word that
few other turns have ("the Vespa was stolen"), or each word of the statement has a near one in them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from heapq import nlargest
from itertools import chain
from math import inf, log2
from operator import itemgetter
from statistics import median
from typing import Final, NamedTuple
from uuid import UUID

from app.db.memories.ranking import RankingRow, TurnEvidence
from app.english.own_life import HAS_NAME, LIVES_IN, own_predicate
from app.english.questions import speaks_of_somebody
from app.english.requests import requests
from app.lexical.bm25 import STOP_WORDS, terms
from app.lexical.tokens import SPACELESS_LETTER, normalise, tokenize
from app.memory import vocabulary
from app.memory.extraction import Role
from app.model import ReadMode
from app.read.texts import (
    WordNearness,
    change_in,
    kept,
    language_of,
    names_within,
    own_life_in,
    person_in,
    shared_terms,
    speaks_of_itself,
    telling_terms,
    terms_in,
    tokens_in,
)
from app.read.values import ParsedQuery, Ranked

ABOUT_THE_SAME: Final = 0.1
"""Least mean nearness of a statement's words to those of the only later turn."""

RISING: Final = 0.03
"""Added to that for each doubling of the number of later turns: among more, one is near by chance more often. Of single
turns told later, 5 in 100 have .14 by chance and 1 in 100 has .2; of those that change the statement 88 and 82 in 100
(English; docs/decisions/context.md)."""

HIGHEST: Final = 0.2
"""The most that is asked for, however many there are."""

FAINT: Final = 0.04
"""Least such mean where little was found. The turn is shown first, without a mark on the statement. Of turns that
change one (107 pairs in English) 97 in 100 are found so, 87 without; of 100 that change another thing 57 and 12."""

SMALL: Final = 3
"""Most turns that were found for that."""

ANY_ASKED: Final = 0.1
"""Least sum of its nearness to the statement and to the question, if it has a word for a change."""

UNTOLD: Final = 0.16
"""The same without such a word, of what the user said of themselves."""

LIKELY: Final = 0.2
"""Mean nearness over which a statement is marked, if the later turn has no word for a change."""

ASKED: Final = 0.15
"""Least mean nearness of the question's words to those of a later turn, where it is one of several. Of 42 later turns
so near to a statement in chats, of which 13 answered, 31 that did not fall to 10, and 11 of the 13 stay."""

CERTAIN: Final = 2
"""Most turns told later of which one needs no nearness to the question."""

APART: Final = timedelta(hours=1)
"""Least time between turns of one session of which the later may change what the other says, without naming it."""

FEW: Final = 1.0
"""Words that are added to those of a statement for the mean: the nearness of one or two words tells less."""

USUAL: Final = 0.08
"""Mean nearness that is usual for turns about other things; what the median of a question's turns has above it is the
language's."""

FEWEST: Final = 4
"""Fewest later turns whose median tells what is usual."""

COMMON: Final = 2
"""Most of the matches that are compared which have a word that tells what a statement is about."""

COMMON_SHARE: Final = 0.05
"""The same as a share of them, where that is more."""

NAMED: Final = 0.12
"""Least share of such words of the shorter of both statements that the other one has."""

NAMED_LEAST: Final = 0.6
"""Least such share as a part of the highest."""

ONE_WORD: Final = 0.5
"""Least sum of what shared words count: that of two characters of a script without spaces, which are a word."""

AROUND: Final = 3
"""Content words on each side of one that a statement shares with the question which belong to what is asked."""

MOST_OTHER: Final = 0.5
"""Most of the words of two alike statements that differ."""

ANSWERS: Final = 0.18
"""Least relevance of a statement for which later turns are looked for."""

AS_GOOD: Final = 0.8
"""Least share of the best relevance that it has, too."""

ANCHORS: Final = 3
"""Most such statements."""

MOST: Final = 2
"""Most later turns of a statement: those that are nearest to it."""


_UNTOLD: Final = TurnEvidence()


class Later(NamedTuple):
    """Later turns that a statement may have been changed by, newest first.

    `likely`: so likely that it is marked; `sure`: it is left out, as a turn for where somebody lived before they moved.
    """

    turns: tuple[UUID, ...]
    likely: bool
    sure: bool = False


NONE_LATER: Final = Later((), likely=False)


def asks_for_present(query: ParsedQuery) -> bool:
    """Tell whether the current value is asked for: not the past, nor everything."""
    return query.mode is ReadMode.DEFAULT and not query.about_past


def seeks_later(query: ParsedQuery) -> bool:
    """Tell whether later turns are looked for: the current value is asked for, not a task, nor what was once said."""
    return asks_for_present(query) and not query.reading.asks_back and not requests(query.reading.text)


@dataclass(frozen=True, slots=True)
class _WordCounts:
    """The number of matches, of those that may be compared, that have each term, and the terms that tell nothing."""

    counts: Mapping[str, int]
    most: float
    without: frozenset[str]
    asked: frozenset[str]

    @classmethod
    def of(
        cls, rows: Sequence[RankingRow], without: Collection[str], asked: Collection[str], *, often: int
    ) -> _WordCounts:
        """Count the terms of some matches, which say each thing so often: an assistant says what its tools say."""
        counts = Counter(chain.from_iterable(telling_terms(row.opening) for row in rows))
        most = max(often * COMMON, COMMON_SHARE * len(rows))
        return cls(counts, most, telling_terms(" ".join(without)), frozenset(asked))

    def _rare(self, found: Iterable[str]) -> dict[str, float]:
        """Return those terms that few matches have, with what each counts: half, where two overlap.

        One that is asked for counts in full.
        """
        known, most, without = self.counts.get, self.most, self.without
        rare = [one for one in found if one not in without and known(one, 0) <= most]
        return {one: 0.5 if SPACELESS_LETTER.match(one) and one not in self.asked else 1.0 for one in rare}

    def shared(self, text: str, other: str, *, but: frozenset[str]) -> float:
        """Return the share of the rare terms of the shorter of two texts that both have; `but` do not count."""
        said, others = shared_terms(text, other)
        if said.isdisjoint(others):
            return 0.0
        rare = self._rare(said - but)
        both = sum(weight for term, weight in rare.items() if term in others)
        return both / max(1.0, min(sum(rare.values()), sum(self._rare(others).values()))) if both >= ONE_WORD else 0.0


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

    def find(
        self, admitted: Sequence[Ranked], over: Sequence[Ranked], candidates: Sequence[Ranked]
    ) -> Mapping[UUID, Later]:
        """Return the later turns among `candidates` about what the best of the others say.

        None where no current value is asked for. `over` are matches that hold no more, which a later turn ended;
        `candidates` are turns, and beliefs read from turns, that may be shown. What is about somebody else says nothing
        of a statement, and neither does a name that the question has. What the assistant or a tool said is only marked.
        Where people talk with one another, who are known by name, words recur: there a name brings no turn in.
        """
        if not seeks_later(self.query):
            return {}
        ended = {one.id for one in over}
        found = {}
        shown = {one.id: self.rows[one.id] for one in admitted}
        every = {**shown, **{one.id: self.rows[one.id] for one in candidates}}
        known: Mapping[bool, _WordCounts] = {}
        for anchor, strong in self._answering([*admitted, *over]):
            later = self._following(anchor, (every if strong else shown).values(), ended)
            if not later:
                continue
            known = known or self._counts({**every, **{one.id: self.rows[one.id] for one in over}}.values())
            named = [row for row in later if anchor.speaker_id is None or row.id in shown]
            same = self._telling_the_same(anchor, later)
            about = self._changing(anchor, same or self._naming(anchor, named, known))
            of_home = bool(same and about) and anchor.predicate is None
            if not about and not self._is_assistants(anchor) and not self._tells_more(anchor):
                about = self._changing(anchor, self._near(anchor, later))
            if after := self._nearest(anchor, self._by_turn(about, later, shown)):
                likely = any(near >= (ABOUT_THE_SAME if change_in(one.opening) else LIKELY) for near, one in after)
                of_home = of_home and self.query.reading.own_asked == {LIVES_IN}
                sure = likely and (of_home or any(self._tells_what_is_asked(one, anchor) for _, one in after))
                found[anchor.id] = Later(tuple(one.id for _, one in after), likely, sure)
        return found

    def _tells_what_is_asked(self, row: RankingRow, anchor: RankingRow) -> bool:
        """Tell whether a later turn has all words of the question, names aside, by which the anchor was found.

        Where people talk with one another, these recur.
        """
        if anchor.speaker_id is not None:
            return False
        found = terms_in(anchor.opening).intersection(self.query.terms) - telling_terms(" ".join(self._known))
        return len(found) > 1 and found <= terms_in(row.opening)

    def _counts(self, rows: Collection[RankingRow]) -> Mapping[bool, _WordCounts]:
        """Count the words of what people said, and of what the assistant said, which repeats those."""
        kinds: dict[bool, list[RankingRow]] = {True: [], False: []}
        for row in rows:
            kinds[self._is_assistants(row)].append(row)
        return {
            relayed: _WordCounts.of(said, self._known, self.query.terms, often=1 + relayed)
            for relayed, said in kinds.items()
        }

    @cached_property
    def _read_from_turns(self) -> frozenset[UUID]:
        return frozenset(one.id for turn in self.turns.values() for one in turn.beliefs)

    @cached_property
    def _over(self) -> frozenset[UUID]:
        """The beliefs that hold no more; in the turn that ended one it stands as what still holds."""
        return frozenset(one.id for turn in self.turns.values() for one in turn.beliefs if one.over_at is not None)

    @cached_property
    def _known(self) -> frozenset[str]:
        """The words that say nothing of a statement: names of the question, and the user's."""
        names = (word for one in self.query.mentioned for word in tokenize(normalise(one.text)))
        return frozenset((vocabulary.USER, *vocabulary.ASSISTANTS, *names))

    def _is_assistants(self, row: RankingRow) -> bool:
        """Tell whether the assistant said it, or a tool."""
        role = self.turns.get(row.id, _UNTOLD).role
        return row.speaker_id in self.query.assistants or role not in {None, Role.USER}

    def _answering(self, ranked: Sequence[Ranked]) -> Iterator[tuple[RankingRow, bool]]:
        """Yield the best statements as rows, and whether each is a person's and answers nearly as well as the best.

        One that does not brings nothing into the block; it is only marked.
        """
        best = max((one.relevance for one in ranked), default=0.0)
        answering = [one for one in ranked if one.relevance >= ANSWERS]
        people = [one for one in answering if not self._is_assistants(self.rows[one.id])]
        for one in people[:ANCHORS]:
            yield self.rows[one.id], one.relevance >= AS_GOOD * best
        for one in answering:
            if self._is_assistants(row := self.rows[one.id]):
                yield row, False

    def _following(self, anchor: RankingRow, pool: Iterable[RankingRow], ended: Collection[UUID]) -> list[RankingRow]:
        """Return those of a pool that may follow an anchor."""
        since, scope, of_assistant = anchor.stated_at, anchor.scope_id, self._is_assistants(anchor)
        said = self._said_by(anchor)
        own: Collection[UUID] = () if anchor.id in ended else said
        settled = self._predicates(own)
        later = [row for row in pool if row.stated_at > since and row.scope_id == scope and not self._ends(row, said)]
        return [row for row in later if self._may_follow(anchor, row, own, settled, of_assistant=of_assistant)]

    def _may_follow(
        self,
        anchor: RankingRow,
        row: RankingRow,
        own: Collection[UUID],
        settled: Collection[str],
        *,
        of_assistant: bool,
    ) -> bool:
        """Tell whether what was told later was told by a person, and may speak of the anchor's subject.

        What was written as a belief holds its slot, and changes nothing else; nor does what was read of the anchor's
        own predicate. A turn says the same as the anchor where the same beliefs rest on both, unless it ended them:
        `own` are the anchor and its beliefs, `settled` their predicates, none where they ended.
        What the assistant or a tool says in another session may follow what one of them said.
        """
        if row.type not in self.verbatim and row.id not in self._read_from_turns:
            return False
        if self._is_assistants(row) and not (of_assistant and _apart(row, anchor)):
            return False
        others = self._said_by(row)
        if not others.isdisjoint(own) or (settled and not self._predicates(others).isdisjoint(settled)):
            return False
        if self._is_of_speaker_alone(row) and names_within(anchor.opening).isdisjoint(terms_in(row.opening)):
            return False
        if anchor.subject is None:
            return True
        beliefs = self.turns.get(row.id, _UNTOLD).beliefs
        subjects = {row.subject, *(self.rows[one.id].subject for one in beliefs if one.id in self.rows)} - {None}
        return not subjects or anchor.subject in subjects

    def _changing(
        self, anchor: RankingRow, about: Iterable[tuple[float, RankingRow]]
    ) -> list[tuple[float, RankingRow]]:
        """Return those that may change what the anchor says."""
        return [each for each in about if not self._tells_otherwise(anchor, each[1])]

    def _tells_otherwise(self, anchor: RankingRow, row: RankingRow) -> bool:
        """Tell whether it says of another person, or of what may be, was once or came beside, what is no change."""
        person = person_in(row.opening)
        if person and person.isdisjoint(terms_in(anchor.opening)) and person.isdisjoint(self.query.terms):
            return True
        return change_in(row.opening) is None and not self.query.reading.gathers

    @cached_property
    def _asked_of_others(self) -> frozenset[str]:
        """The terms of a question that asks of nobody or of others than the asker; none where it asks of these.

        Nor in other languages than English, whose pronouns are known.
        """
        others = self.query.about - {vocabulary.USER}
        text = self.query.reading.text
        if not others and (speaks_of_somebody(text) or language_of(text) != "english"):
            return frozenset()
        return frozenset((*self.query.terms, *terms(" ".join(others)))) - {*terms(vocabulary.USER)}

    def _is_of_speaker_alone(self, row: RankingRow) -> bool:
        """Tell whether it speaks of its speaker alone, and has no word of what is asked of others."""
        asked = self._asked_of_others
        if not asked or not terms_in(row.opening).isdisjoint(asked):
            return False
        of_user = row.type not in self.verbatim and tokens_in(row.opening)[:1] == (vocabulary.USER,)
        return of_user or speaks_of_itself(row.opening)

    def _ends(self, row: RankingRow, said: Collection[UUID]) -> bool:
        """Tell whether a turn only ends something, and nothing of what is `said`: then it changes nothing of that."""
        beliefs = self.turns.get(row.id, _UNTOLD).beliefs
        ended = {one.id for one in beliefs if one.over_at is None and one.id in self._over}
        return bool(ended) and len(ended) == len(beliefs) and ended.isdisjoint(said)

    def _said_by(self, row: RankingRow) -> set[UUID]:
        """Return a match and the beliefs that rest on it."""
        return {row.id, *(one.id for one in self.turns.get(row.id, _UNTOLD).beliefs)}

    def _predicates(self, beliefs: Collection[UUID]) -> set[str]:
        """Return the predicates of beliefs, whose slots say which of them hold."""
        return {row.predicate for one in beliefs if (row := self.rows.get(one)) and row.predicate is not None}

    def _by_turn(
        self, about: Sequence[tuple[float, RankingRow]], later: Sequence[RankingRow], shown: Collection[UUID]
    ) -> list[tuple[float, RankingRow]]:
        """Return them with the turn, which says more, in place of each belief that rests on it and is not shown yet."""
        turns = {belief.id: one for one in later for belief in self.turns.get(one.id, _UNTOLD).beliefs}
        best: dict[UUID, tuple[float, RankingRow]] = {}
        for near, one in about:
            said = one if one.id in shown else turns.get(one.id, one)
            best[said.id] = max(best.get(said.id, (near, said)), (near, said), key=itemgetter(0))
        return list(best.values())

    def _nearest(self, anchor: RankingRow, about: Sequence[tuple[float, RankingRow]]) -> list[tuple[float, RankingRow]]:
        """Return the nearest of the turns that are about the same thing, newest first."""
        about = [each for each in about if not self._contrasts(anchor, each[1])]
        told = {belief.id for _, one in about for belief in self.turns.get(one.id, _UNTOLD).beliefs}
        nearest = nlargest(MOST, (each for each in about if each[1].id not in told), key=itemgetter(0))
        return sorted(nearest, key=lambda each: (each[1].stated_at, each[1].id), reverse=True)

    def _telling_the_same(self, anchor: RankingRow, later: Sequence[RankingRow]) -> list[tuple[float, RankingRow]]:
        """Return those that tell of the asker's life what is asked of it, as the anchor does, in whatever words."""
        asked = self.query.reading.own_asked
        if not asked:
            return []
        told = own_life_in(anchor.opening) if anchor.predicate is None else {own_predicate(anchor.predicate)}
        if asked.isdisjoint(told) or anchor.speaker_id is not None:
            return []
        return [(1.0, one) for one in later if not asked.isdisjoint(own_life_in(one.opening))]

    def _tells_more(self, anchor: RankingRow) -> bool:
        """Tell whether a turn tells of the asker's life what is asked and something else, which others may change.

        What one is called hardly changes, so only what says so follows it.
        """
        asked = self.query.reading.own_asked
        told = frozenset[str]() if anchor.predicate is not None else own_life_in(anchor.opening)
        return anchor.speaker_id is None and not asked.isdisjoint(told) and (told > asked or asked == {HAS_NAME})

    def _naming(
        self, anchor: RankingRow, later: Sequence[RankingRow], known: Mapping[bool, _WordCounts]
    ) -> list[tuple[float, RankingRow]]:
        """Return those that name by a rare word what the anchor names, each with their share of such words."""
        part = self._asked_part(anchor.opening)
        subject = telling_terms(anchor.subject or "")
        shares = [(known[self._is_assistants(one)].shared(part, one.opening, but=subject), one) for one in later]
        least = max(NAMED, NAMED_LEAST * max((share for share, _ in shares), default=0.0))
        return [(1 + share, one) for share, one in shares if share >= least]

    def _asked_part(self, text: str) -> str:
        """Return the words around those that a statement shares with the question; all where it shares none."""
        asked, empty = set(self.query.terms), STOP_WORDS.get(language_of(text), frozenset())
        words = [word for word in tokens_in(text) if word not in empty or not asked.isdisjoint(_terms_of_word(word))]
        shared = [place for place, word in enumerate(words) if not asked.isdisjoint(_terms_of_word(word))]
        near = {at for place in shared for at in range(place - AROUND, place + AROUND + 1)}
        return " ".join(word for at, word in enumerate(words) if at in near) or text

    def _near(self, anchor: RankingRow, later: Sequence[RankingRow]) -> list[tuple[float, RankingRow]]:
        """Return those whose words are near to the anchor's, each with how near they are.

        Where little is known a word for a change is enough in other languages, whose nearness tells nothing.
        """
        later = [one for one in later if _apart(one, anchor)]
        if self.words is None or language_of(anchor.opening) != self.words.language:
            return [(0.0, one) for one in later if self._is_small and change_in(one.opening) and self._may_tell(one)]
        least = min(HIGHEST, ABOUT_THE_SAME + RISING * log2(max(1, len(later))))
        untold = UNTOLD if anchor.subject in {None, vocabulary.USER} else inf
        texts = [one.opening for one in later]
        near, asked = self._likeness(anchor, texts, self.words), self.words.likeness(self.query.reading.text, texts)
        return [
            (likeness, one)
            for likeness, of_question, one in zip(near, asked, later, strict=True)
            if (likeness >= least and (len(later) <= CERTAIN or of_question >= ASKED))
            or (
                self._is_small
                and likeness >= FAINT
                and likeness + of_question >= (ANY_ASKED if change_in(one.opening) else untold)
            )
        ]

    @cached_property
    def _is_small(self) -> bool:
        """Whether so little was found that a change is hardly of anything else."""
        return sum(row.type in self.verbatim for row in self.rows.values()) <= SMALL

    def _may_tell(self, row: RankingRow) -> bool:
        """Tell whether a turn may tell what is asked of the asker's life, not only something else of it."""
        asked, told = self.query.reading.own_asked, own_life_in(row.opening)
        return not asked or not told or not asked.isdisjoint(told)

    def _contrasts(self, anchor: RankingRow, row: RankingRow) -> bool:
        """Tell whether two statements are word for word alike, but for what the question asks about: another thing."""
        said, other = _tokens(anchor.opening), _tokens(row.opening)
        if len(said) != len(other):
            return False
        asked = set(_tokens(self.query.reading.text))
        differ = [one for one, each in zip(said, other, strict=True) if one != each]
        return len(differ) <= MOST_OTHER * len(said) and not asked.isdisjoint(differ)

    def _likeness(self, anchor: RankingRow, others: Sequence[str], words: WordNearness) -> list[float]:
        """Return how near what an anchor says of its subject is to each text, less what is usual among these."""
        without = {*self._known, *tokenize(normalise(anchor.subject or ""))}
        near = words.likeness(anchor.opening, others, without=without, few=FEW)
        usual = median(near) if len(near) >= FEWEST else USUAL
        return [one - max(0.0, usual - USUAL) for one in near]


@kept
def _terms_of_word(word: str) -> tuple[str, ...]:
    return terms(word)


@kept
def _tokens(text: str) -> tuple[str, ...]:
    """Return the words of a text, and the characters of scripts without spaces."""
    return tuple(one for token in tokens_in(text) for one in (token if SPACELESS_LETTER.match(token) else (token,)))


def _apart(one: RankingRow, other: RankingRow) -> bool:
    """Tell whether two turns belong to different sessions, or were said at different times of a long one."""
    return one.session_id is None or one.session_id != other.session_id or one.stated_at - other.stated_at >= APART

"""Later turns that may say that a found statement has changed.

"I live in Porto." and then "Our house in Evora is ready." No word list tells such turns: most share neither key nor
predicate with the statement. But they are about the same thing: they name it, or what was said of it, by a word that
few other turns have ("the Vespa was stolen"), or as a whole they resemble it and what is asked of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from heapq import nlargest
from math import log2
from operator import itemgetter
from statistics import median
from typing import Final, NamedTuple
from uuid import UUID

from app.db.memories.ranking import RankingRow, TurnEvidence
from app.english.answer_kinds import AnswerKind, kind_asked
from app.english.changes import is_done_by_another, is_owned_by_another
from app.english.own_life import HAS_NAME, LIVES_IN, names_place, own_predicate
from app.english.questions import speaks_of_somebody
from app.lexical.bm25 import STOP_WORDS, terms
from app.lexical.tokens import SPACELESS_LETTER, normalise, tokenize
from app.memory import vocabulary
from app.memory.extraction import Role
from app.model import ReadMode
from app.read.texts import (
    WordCounts,
    WordNearness,
    change_in,
    full_names,
    is_request,
    kept,
    language_of,
    names_apart,
    names_within,
    own_life_in,
    person_in,
    shared_terms,
    speaks_of_itself,
    telling_terms,
    tells_kind,
    terms_in,
    tokens_in,
    untimed_terms,
    without_words,
)
from app.read.values import ParsedQuery, Ranked

ABOUT_THE_SAME: Final = 0.07
"""Least resemblance of the only later turn to a statement and what is asked of it. Of turns that change another thing,
or nothing, 30 in 100 have it; of those that change it in other words 88 (docs/decisions/context.md)."""

OF_MORE: Final = 0.25
"""The same where more is known than a few turns: 1 in 100 has it."""

RISING: Final = 0.03
"""Added to that for each doubling of the number of later turns: among more, one is alike by chance more often."""

HIGHEST: Final = 0.32
"""The most that is asked for, however many there are."""

TELLS_CHANGE: Final = 0.06
"""Added to the resemblance of a turn that has a word for a change."""

NAMES_IT: Final = 0.06
"""The same of one that has a word that tells what the statement is about, though it may not be rare."""

HAS_KIND: Final = 0.04
"""The same of one that has a number or a name, where that is asked for."""

LIKELY: Final = 0.2
"""Resemblance over which a statement is marked."""

SMALL: Final = 3
"""Most turns that were found where little is known."""

APART: Final = timedelta(hours=1)
"""Least time between turns of one session of which the later may change what the other says, without naming it."""

USUAL: Final = 0.03
"""Resemblance that is usual for turns about other things; what the median of a question's turns has above it is the
chat's."""

FEWEST: Final = 4
"""Fewest later turns whose median tells what is usual."""

NAMED: Final = 0.12
"""Least share of such words of the shorter of both statements that the other one has."""

NAMED_LEAST: Final = 0.6
"""Least such share as a part of the highest."""

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
    return asks_for_present(query) and not query.reading.asks_back and not is_request(query.reading.text)


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
        found: dict[UUID, Later] = {}
        shown = {one.id: self.rows[one.id] for one in admitted}
        every = {**shown, **{one.id: self.rows[one.id] for one in candidates}}
        followers = [row for row in every.values() if self._may_follow_any(row)]
        known: Mapping[bool, WordCounts] = {}
        for anchor, strong in self._answering([*admitted, *over]):
            pool = followers if strong else [row for row in followers if row.id in shown]
            later = self._following(anchor, pool, ended)
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
                likely = any(self._is_likely(anchor, near, one) for near, one in after)
                sure = likely and of_home and self.query.reading.own_asked == {LIVES_IN}
                found[anchor.id] = Later(tuple(one.id for _, one in after), likely, sure)
        return found

    def beside(self, admitted: Sequence[Ranked]) -> frozenset[UUID]:
        """Return the turns that tell otherwise than an older one that answers: they are not what holds now."""
        if not seeks_later(self.query):
            return frozenset()
        anchors = [row for row, strong in self._answering(admitted) if strong]
        said = [self.rows[one.id] for one in admitted if self.rows[one.id].type in self.verbatim]
        older = {row.id: [one for one in anchors if one.stated_at < row.stated_at] for row in said}
        return frozenset(row.id for row in said if any(self._tells_otherwise(one, row) for one in older[row.id]))

    def _counts(self, rows: Collection[RankingRow]) -> Mapping[bool, WordCounts]:
        """Count the words of what people said, and of what the assistant said, which repeats those."""
        kinds: dict[bool, list[str]] = {True: [], False: []}
        for row in rows:
            kinds[self._is_assistants(row)].append(row.opening)
        return {
            relayed: WordCounts.of(said, self._known, self.query.terms, often=1 + relayed)
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

    def _may_follow_any(self, row: RankingRow) -> bool:
        """Tell whether it may follow any anchor: what was written as a belief holds its slot, and changes no other."""
        return row.type in self.verbatim or row.id in self._read_from_turns

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

        What was read of the anchor's own predicate changes nothing. A turn says the same as the anchor where the same
        beliefs rest on both, unless it ended them: `own` are the anchor and its beliefs, `settled` their predicates,
        none where they ended. What speaks of its speaker alone, where others are asked for, says nothing but of what it
        names. What the assistant or a tool says in another session may follow what one of them said.
        """
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
        """Tell whether it says of another, or of what may be, was once, is so for a while or came beside, no change."""
        person = person_in(row.opening)
        if person and person.isdisjoint(terms_in(anchor.opening)) and person.isdisjoint(self.query.terms):
            return True
        changed, told, statement = change_in(row.opening), tokens_in(row.opening), tokens_in(anchor.opening)
        if is_owned_by_another(told, statement) or (not changed and is_done_by_another(told, statement)):
            return True
        if not changed and self._is_of_another_name(row):
            return True
        return changed is None and not self.query.reading.gathers

    def _is_of_another_name(self, row: RankingRow) -> bool:
        """Tell whether it begins with the full name of somebody else, or of something else, than the question names."""
        first = next(iter(full_names(row.opening)), frozenset[str]())
        begins = bool(first) and terms_in(row.opening.split(maxsplit=1)[0]) <= first
        return begins and bool(self.query.named) and first.isdisjoint(self.query.terms)

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
        if not beliefs:
            return False
        ended = {one.id for one in beliefs if one.over_at is None and one.id in self._over}
        return len(ended) == len(beliefs) and ended.isdisjoint(said)

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
        self, anchor: RankingRow, later: Sequence[RankingRow], known: Mapping[bool, WordCounts]
    ) -> list[tuple[float, RankingRow]]:
        """Return those that name by a rare word what the anchor names, each with their share of such words."""
        said, part = anchor.opening, self._asked_part(anchor.opening)
        empty = _slot_terms(anchor) | (names_within(said) - untimed_terms(said))
        shares = []
        for one in later:
            terms_of, others = shared_terms(part, one.opening)
            if not terms_of.isdisjoint(others):
                but = empty | names_apart(said, one.opening)
                shares.append((known[self._is_assistants(one)].shared(terms_of, others, but=but), one))
        least = max(NAMED, NAMED_LEAST * max((share for share, _ in shares), default=0.0))
        return [(1 + share, one) for share, one in shares if share >= least]

    def _asked_part(self, text: str) -> str:
        """Return the words around those that a statement shares with the question; all where it shares none."""
        asked, empty = set(self.query.terms), STOP_WORDS.get(language_of(text), frozenset())
        words = [word for word in tokens_in(text) if word not in empty or not asked.isdisjoint(_terms_of_word(word))]
        shared = [place for place, word in enumerate(words) if not asked.isdisjoint(_terms_of_word(word))]
        near = {at for place in shared for at in range(place - AROUND, place + AROUND + 1)}
        if shared:
            named = names_within(text)
            near |= {at for at, word in enumerate(words) if not named.isdisjoint(_terms_of_word(word))}
        return " ".join(word for at, word in enumerate(words) if at in near) or text

    def _near(self, anchor: RankingRow, later: Sequence[RankingRow]) -> list[tuple[float, RankingRow]]:
        """Return those that resemble the anchor and what is asked, or tell of a change in a language not known."""
        names = {word for one in self.query.named for word in tokenize(normalise(one.text))}
        if names and names.isdisjoint(tokens_in(anchor.opening)):
            return []
        later = [one for one in later if _apart(one, anchor) and self._may_tell(one)]
        if self.words is None or language_of(anchor.opening) != self.words.language:
            return [(0.0, one) for one in later if self._is_small and change_in(one.opening)]
        least = ABOUT_THE_SAME if self._is_small else OF_MORE
        least = min(HIGHEST, least + RISING * log2(max(1, len(later))))
        alike = self._resemblance(anchor, later, self.words)
        return [(near, one) for near, one in zip(alike, later, strict=True) if near >= least]

    @cached_property
    def _is_small(self) -> bool:
        """Whether little was found."""
        return sum(row.type in self.verbatim for row in self.rows.values()) <= SMALL

    def _may_tell(self, row: RankingRow) -> bool:
        """Tell whether a turn may tell what is asked: of the asker's life that, and otherwise an answer of its kind.

        Where somebody lives needs a word for it, or the name of a place.
        """
        asked, told = self.query.reading.own_asked, own_life_in(row.opening)
        if not asked.isdisjoint(told):
            return True
        if asked == {LIVES_IN}:
            return not told and names_place(row.opening)
        return not (asked and told) and (self._kind is None or tells_kind(row.opening, self._kind))

    @cached_property
    def _kind(self) -> AnswerKind | None:
        """The kind of answer that is asked for."""
        return kind_asked(self.query.reading.text)

    def _contrasts(self, anchor: RankingRow, row: RankingRow) -> bool:
        """Tell whether two statements are word for word alike, but for what the question asks about: another thing."""
        said, other = _tokens(anchor.opening), _tokens(row.opening)
        if len(said) != len(other):
            return False
        asked = set(_tokens(self.query.reading.text))
        differ = [one for one, each in zip(said, other, strict=True) if one != each]
        return len(differ) <= MOST_OTHER * len(said) and not asked.isdisjoint(differ)

    def _is_likely(self, anchor: RankingRow, near: float, row: RankingRow) -> bool:
        """Tell whether a turn so near likely changes a statement: not one that only names the value that holds."""
        value = telling_terms(anchor.opening) - _slot_terms(anchor)
        holds = anchor.predicate is not None and bool(value) and value <= telling_terms(row.opening)
        return near >= LIKELY and not (holds and not change_in(row.opening))

    def _resemblance(self, anchor: RankingRow, later: Sequence[RankingRow], words: WordNearness) -> list[float]:
        """Return how much each resembles an anchor and what is asked, less what is usual among them."""
        known = self._known.union(tokenize(normalise(anchor.subject or "")))
        said = without_words(f"{anchor.opening} {self.query.reading.text}", known)
        alike = words.resemblance(said, [without_words(one.opening, known) for one in later])
        usual = max(0.0, median(alike) - USUAL) if len(alike) >= FEWEST else 0.0
        return [near - usual + self._telling(anchor, one) for near, one in zip(alike, later, strict=True)]

    def _telling(self, anchor: RankingRow, row: RankingRow) -> float:
        """Return what is added for words of a change, of what the anchor is about, and of the kind asked for."""
        said, others = shared_terms(anchor.opening, row.opening)
        both, names = said & others, False
        if both:
            empty = self._known | telling_terms(anchor.subject or "") | names_apart(anchor.opening, row.opening)
            names = not both <= empty
        kind = self._is_small and self._kind is not None and tells_kind(row.opening, self._kind)
        return TELLS_CHANGE * bool(change_in(row.opening)) + NAMES_IT * names + HAS_KIND * kind


def _slot_terms(row: RankingRow) -> frozenset[str]:
    """Return the terms by which a statement says of whom or what it is, and not what it says of them."""
    return telling_terms(f"{row.subject or ''} {row.predicate or ''}")


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

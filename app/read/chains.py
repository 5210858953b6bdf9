"""Chains of statements: the way to an answer of which a question names only the ends.

`Where is the maker of my car based?` is answered by three statements: what the user drives, who makes that, and where
that one is based. Each leads to the next by its object, and each is on the way because its predicate says a word of the
question that those before it do not. So a question that one statement answers has no chain.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final
from uuid import UUID

from app.db.memories.ranking import RankingRow
from app.english.questions import is_past
from app.lexical.bm25 import terms
from app.lexical.tokens import normalise as fold
from app.lexical.tokens import tokenize
from app.memory import normalise, vocabulary
from app.read.near_words import NearWords
from app.read.relevance import Split
from app.read.understand.parse import speaks_of_self, without
from app.read.values import Link, ParsedQuery, Ranked

SAYS: Final = 0.5
"""Least cosine of a word of the question with one of a predicate that says it."""

BETTER: Final = 0.2
"""How much nearer to a word a statement comes than those before it, of which it says more."""

HINTS: Final = 0.2
"""Least cosine of a word that counts at all."""

STEP: Final = 0.05
"""What each statement costs a chain, as a share of what all words of the question weigh."""

_POSSESSIVE = re.compile(r"['\u2019]s\b")

BEGINNING: Final = 8
"""Most of the statements found that a chain may begin with."""

LONGEST: Final = 4
"""Most statements of a chain."""


@dataclass(frozen=True, slots=True)
class _Chain:
    """Statements in their order, how nearly they say each word, and how many of them say nothing more than the others.

    `ends_saying`: the last one says more.
    """

    statements: tuple[UUID, ...] = ()
    said: Mapping[str, float] = field(default_factory=dict)
    silent: int = 0
    ends_saying: bool = False

    def then(self, statement: UUID, near: Mapping[str, float]) -> _Chain:
        """Return the chain with one more statement, which comes `near` to these words."""
        more = any(
            one >= SAYS and one >= self.said.get(word, 0.0) + BETTER and not (self.silent and _is_cue(word))
            for word, one in near.items()
        )
        said = {word: max(near.get(word, 0.0), self.said.get(word, 0.0)) for word in {*near, *self.said}}
        return _Chain((*self.statements, statement), said, self.silent + (not more), more)


@dataclass(frozen=True, kw_only=True)
class ChainSearch:
    """A search for the chain that answers a question.

    `asked` has the question's words and what each weighs, `rest` those of them that name nobody, as `my sister` does
    where it is known whom it means; `words` compares words.
    """

    query: ParsedQuery
    asked: Mapping[str, float]
    rest: Collection[str]
    words: NearWords | None

    def beginnings(self, rows: Iterable[RankingRow]) -> tuple[UUID, ...] | None:
        """Return the first statements that a chain may begin with, None where no chain is asked for.

        `rows` are what was found, best first. Where one statement says all of the question that any says, that one
        answers it.
        """
        stated = {row.id: row for row in rows if row.predicate}
        near = self._nearness(sorted({row.predicate or "" for row in stated.values()}))
        by_predicate = {predicate: self._said(one) for predicate, one in near.items()}
        said = {memory: words for memory, row in stated.items() if (words := by_predicate[row.predicate or ""])}
        every = frozenset[str]().union(*said.values())
        if not said or every in said.values():
            return None
        return tuple(one for one in said if self._may_begin(stated[one].subject_id))[:BEGINNING]

    def find(self, links: Sequence[Link]) -> tuple[UUID, ...]:
        """Return the statements of the chain that says most of the question, in their order; none of one alone."""
        near = self._near({one.memory: one.predicate for one in links})
        following: Mapping[UUID, list[UUID]] = defaultdict(list)
        for one in links:
            if one.came_from is not None and one.memory in near:
                following[one.came_from].append(one.memory)
        subjects = {one.memory: one.subject for one in links}
        predicates = {one.memory: one.predicate for one in links}
        chains = [
            chain
            for one in links
            if one.came_from is None and one.memory in near and self._may_begin(one.subject)
            for chain in self._from(_Chain().then(one.memory, near[one.memory]), following, near)
            if self._leads_over_named(chain, subjects) and self._is_of_then(chain, predicates)
        ]
        best = max(chains, key=self._worth, default=_Chain())
        return best.statements if len(best.statements) > 1 else ()

    def _may_begin(self, subject: UUID | None) -> bool:
        """Tell whether the subject of a statement is one whom the question names, or who asks, if it names any."""
        return not self.query.anchors or subject in self.query.anchors

    def _leads_over_named(self, chain: _Chain, subjects: Mapping[UUID, UUID | None]) -> bool:
        """Tell whether it begins with whom the question names, or leads to them at once from the one who asks.

        Where the question speaks of the one who asks by more than what is theirs, it may begin there.
        """
        named = {one for each in self.query.named for known in each.entities for one in known.ids}
        if not named or speaks_of_self(_without_named(self.query)):
            return True
        return any(subjects[one] in named for one in chain.statements[:2])

    def _is_of_then(self, chain: _Chain, predicates: Mapping[UUID, str]) -> bool:
        """Tell whether one of its predicates says that it is over, `former-club`, where that is asked for.

        Of `my former boss` no other chain tells which of its statements is to be the former one.
        """
        return not self.query.about_past or any(is_past(normalise.words(predicates[one])) for one in chain.statements)

    def _said(self, near: Mapping[str, float]) -> frozenset[str]:
        return frozenset(word for word, one in near.items() if one >= SAYS and (word in self.rest or _is_cue(word)))

    def _from(
        self, chain: _Chain, following: Mapping[UUID, Sequence[UUID]], near: Mapping[UUID, Mapping[str, float]]
    ) -> Iterator[_Chain]:
        """Yield the chain and those that continue it.

        Each step says something more of the question, but for one: what leads from `my team` to its coach may be any
        statement, if a word of the question is left for it.
        """
        if chain.ends_saying and chain.silent <= sum(chain.said.get(word, 0.0) < SAYS for word in self.asked):
            yield chain
        if len(chain.statements) == LONGEST or chain.silent > 1:
            return
        for one in following.get(chain.statements[-1], ()):
            if one not in chain.statements:
                yield from self._from(chain.then(one, near[one]), following, near)

    def _worth(self, chain: _Chain) -> float:
        """Return what the words of the question weigh that a chain says, less what its statements cost."""
        said = sum(self._weights[word] * near for word, near in chain.said.items())
        return said - STEP * sum(self._weights.values()) * len(chain.statements)

    @cached_property
    def _weights(self) -> Mapping[str, float]:
        usual = sum(self.asked.values()) / max(1, len(self.asked))
        return {**dict.fromkeys(map(_cue, self.query.asked_predicates), usual), **self.asked}

    def _near(self, predicates: Mapping[UUID, str]) -> dict[UUID, Mapping[str, float]]:
        """Return how nearly each statement says each word: by its predicate, for names are no words."""
        by_predicate = self._nearness(sorted({one for one in predicates.values() if one}))
        return {memory: by_predicate[one] for memory, one in predicates.items() if one}

    def _nearness(self, predicates: Sequence[str]) -> dict[str, Mapping[str, float]]:
        asked, texts = list(self.asked), [_wording(one) for one in predicates]
        if self.words is not None and asked:
            columns = self.words.nearest(asked, texts).T.tolist()
        else:
            columns = [[float(not set(terms(text)).isdisjoint(terms(word))) for word in asked] for text in texts]
        return {
            predicate: {word: one for word, one in zip(asked, near, strict=True) if one >= HINTS}
            | ({_cue(predicate): 1.0} if predicate in self.query.asked_predicates else {})
            for predicate, near in zip(predicates, columns, strict=True)
        }


def chain_first(answer: Split, chain: Sequence[UUID], matches: Iterable[Ranked], *, most: int) -> Split:
    """Return the `most` best matches with those of a chain before them, and what is cut; all of a longer chain."""
    if not chain:
        return answer
    best, cut = answer
    found = {one.id: one for one in (*matches, *best)}
    top = max((one.score for one in (*best, *(found[each] for each in chain if each in found))), default=0.0)
    note = f"one of {len(chain)} statements that lead to the answer"
    raised = [
        one._replace(score=top, relevance=1.0, notes=(*one.notes, note))
        for one in map(found.get, chain)
        if one is not None
    ]
    others = [one for one in best if one.id not in chain]
    return (*raised, *others[: max(0, most - len(raised))]), tuple(one for one in cut if one.id not in chain)


def asked_text(query: ParsedQuery, *, own: bool = True) -> str:
    """Return the words by which a question asks: without names, and without what makes a word a possessive.

    `own`: with what it calls its asker's own, `my sister`, though it is known whom that means.
    """
    names = {word for one in query.mentioned for entity in one.entities for word in tokenize(fold(entity.name))}
    asking = query.reading.text if own else _without_named(query)
    words = (_POSSESSIVE.sub("", word) for word in asking.split())
    return " ".join(word for word in words if names.isdisjoint(tokenize(fold(word))))


def _without_named(query: ParsedQuery) -> str:
    return without(query.reading.text, [one.span for one in query.named])


def _wording(predicate: str) -> str:
    """Return the words of a predicate, with those of its other names."""
    return " ".join(map(normalise.words, (predicate, *vocabulary.synonyms_of(predicate))))


def _cue(predicate: str) -> str:
    """Return the key of a predicate that is asked for, apart from words."""
    return f"({predicate})"


def _is_cue(word: str) -> bool:
    return word.startswith("(")

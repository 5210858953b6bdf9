"""Chains of statements: the way to an answer of which a question names only the ends.

`Where is the maker of my car based?` is answered by three statements: what the user drives, who makes that, and where
that one is based. Each leads to the next by its object, and each is on the way because its predicate says a word of the
question that those before it do not. So a question that one statement answers has no chain.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final
from uuid import UUID

from app.db.memories.ranking import RankingRow
from app.lexical.bm25 import terms
from app.lexical.tokens import normalise as fold
from app.lexical.tokens import tokenize
from app.memory import normalise, vocabulary
from app.read.near_words import NearWords
from app.read.values import Link, ParsedQuery

SAYS: Final = 0.5
"""Least cosine of a word of the question with one of a predicate that says it."""

BETTER: Final = 0.2
"""How much nearer to a word a statement comes than those before it, of which it says more."""

HINTS: Final = 0.2
"""Least cosine of a word that counts at all."""

STEP: Final = 0.05
"""What each statement costs a chain, as a share of what all words of the question weigh."""

_POSSESSIVE = re.compile(r"['\u2019]s\b")

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
        more = any(one >= SAYS and one >= self.said.get(word, 0.0) + BETTER for word, one in near.items())
        said = {word: max(near.get(word, 0.0), self.said.get(word, 0.0)) for word in {*near, *self.said}}
        return _Chain((*self.statements, statement), said, self.silent + (not more), more)


@dataclass(frozen=True, kw_only=True)
class ChainSearch:
    """A search for the chain that answers: the links between statements, their rows, and the question.

    `asked` has the question's words and what each weighs; `words` compares words.
    """

    links: Sequence[Link]
    rows: Mapping[UUID, RankingRow]
    query: ParsedQuery
    asked: Mapping[str, float]
    words: NearWords | None

    def find(self) -> tuple[UUID, ...]:
        """Return the statements of the chain that says most of the question, in their order; none of one alone."""
        chains = [one for first in self._first() for one in self._from(_Chain().then(first, self._near[first]))]
        best = max(chains, key=self._worth, default=_Chain())
        return best.statements if len(best.statements) > 1 else ()

    def _first(self) -> Iterator[UUID]:
        """Yield the statements about whom the question names or who asks, or else about anybody."""
        anchors = self.query.anchors
        for memory, came_from in self.links:
            if came_from is None and memory in self._near and (not anchors or self.rows[memory].subject_id in anchors):
                yield memory

    def _from(self, chain: _Chain) -> Iterator[_Chain]:
        """Yield the chain and those that continue it.

        Each step says something more of the question, but for one: what leads from `my team` to its coach may be any
        statement, if a word of the question is left for it.
        """
        if chain.ends_saying and chain.silent <= sum(chain.said.get(word, 0.0) < SAYS for word in self.asked):
            yield chain
        if len(chain.statements) == LONGEST or chain.silent > 1:
            return
        for following in self._next[chain.statements[-1]]:
            if following not in chain.statements:
                yield from self._from(chain.then(following, self._near[following]))

    def _worth(self, chain: _Chain) -> float:
        """Return what the words of the question weigh that a chain says, less what its statements cost."""
        said = sum(self._weights[word] * near for word, near in chain.said.items())
        return said - STEP * sum(self._weights.values()) * len(chain.statements)

    @cached_property
    def _next(self) -> Mapping[UUID, list[UUID]]:
        found: Mapping[UUID, list[UUID]] = defaultdict(list)
        for memory, came_from in self.links:
            if came_from is not None and memory in self._near:
                found[came_from].append(memory)
        return found

    @cached_property
    def _weights(self) -> Mapping[str, float]:
        usual = sum(self.asked.values()) / max(1, len(self.asked))
        return {**dict.fromkeys(map(_cue, self.query.asked_predicates), usual), **self.asked}

    @cached_property
    def _near(self) -> Mapping[UUID, Mapping[str, float]]:
        """How nearly each statement says each word: by its predicate, for names are no words."""
        stated = [one for one in dict.fromkeys(memory for memory, _ in self.links) if self._predicate(one)]
        asked = list(self.asked)
        texts = [self._wording(one) for one in stated]
        if self.words is not None and asked:
            columns = self.words.nearest(asked, texts).T.tolist()
        else:
            columns = [[float(not set(terms(text)).isdisjoint(terms(word))) for word in asked] for text in texts]
        found = {}
        for memory, near in zip(stated, columns, strict=True):
            predicate = self._predicate(memory)
            cue = {_cue(predicate): 1.0} if predicate in self.query.asked_predicates else {}
            found[memory] = {word: one for word, one in zip(asked, near, strict=True) if one >= HINTS} | cue
        return found

    def _predicate(self, memory: UUID) -> str:
        row = self.rows.get(memory)
        return "" if row is None or row.predicate is None else row.predicate

    def _wording(self, memory: UUID) -> str:
        predicate = self._predicate(memory)
        return " ".join(map(normalise.words, (predicate, *vocabulary.synonyms_of(predicate))))


def asked_text(query: ParsedQuery) -> str:
    """Return the words by which a question asks: without names, and without what makes a word a possessive."""
    names = {word for one in query.mentioned for entity in one.entities for word in tokenize(fold(entity.name))}
    words = (_POSSESSIVE.sub("", word) for word in query.reading.text.split())
    return " ".join(word for word in words if names.isdisjoint(tokenize(fold(word))))


def _cue(predicate: str) -> str:
    """Return the key of a predicate that is asked for, apart from words."""
    return f"({predicate})"

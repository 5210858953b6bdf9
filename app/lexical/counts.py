"""Counts of a scope's memories and of their terms, which BM25 and the way of a search go by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Self

from app.lexical.bm25 import index_of


@dataclass(slots=True, kw_only=True)
class ScopeCounts:
    """Counts of memories, or differences of such counts.

    `contexts` are the memories that are indexed with what was said before them, `documents` the texts with terms,
    `length` all of these terms. `terms` are the documents that hold a term, by the index of the term.
    """

    memories: int = 0
    contexts: int = 0
    documents: int = 0
    length: int = 0
    terms: Counter[int] = field(default_factory=Counter)

    @classmethod
    def of(cls, terms: Sequence[str], *, memories: int = 1, contexts: int = 0) -> ScopeCounts:
        """Return the counts of a memory whose text has these terms, repeated as they are."""
        found = cls(memories=memories, contexts=contexts)
        found.add_text(terms)
        return found

    def add_text(self, terms: Sequence[str]) -> None:
        """Count a text with these terms."""
        self.documents += 1
        self.length += len(terms)
        self.terms.update({index_of(term) for term in terms})

    def by_term(self) -> list[tuple[int, int]]:
        """Return the terms that are counted, in order, each with its documents."""
        return sorted((term, count) for term, count in self.terms.items() if count)

    def __bool__(self) -> bool:
        return bool(self.memories or self.contexts or self.documents or self.length or any(self.terms.values()))

    def __neg__(self) -> ScopeCounts:
        return ScopeCounts(
            memories=-self.memories,
            contexts=-self.contexts,
            documents=-self.documents,
            length=-self.length,
            terms=Counter({term: -count for term, count in self.terms.items()}),
        )

    def __iadd__(self, other: ScopeCounts) -> Self:
        self.memories += other.memories
        self.contexts += other.contexts
        self.documents += other.documents
        self.length += other.length
        self.terms.update(other.terms)
        return self


def total(given: Iterable[ScopeCounts]) -> ScopeCounts:
    """Return the sum of counts."""
    found = ScopeCounts()
    for one in given:
        found += one
    return found

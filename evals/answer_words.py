"""The share that a context block has of a question: of its evidence turns, and of the words of its answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.lexical.bm25 import terms
from evals.datasets import Question


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A block: its tokens, the share of the evidence turns that have a line in it, and that of the answer's words.

    `evidence` is None where a question has none or lines are not known, `words` where the evidence has no word of the
    answer.
    """

    tokens: int
    evidence: float | None
    words: float | None


def answer_words(question: Question, texts: Mapping[str, str]) -> frozenset[str]:
    """Return the words of the answer that its evidence has, as terms; `texts` is what each turn says."""
    said = {word for one in question.evidence_turns for word in terms(texts[one])}
    return frozenset(said.intersection(terms(question.answer)))


def share_of(wanted: frozenset[str], block: str) -> float | None:
    """Return the share of the words that a block has, None where none are wanted."""
    return len(wanted.intersection(terms(block))) / len(wanted) if wanted else None

"""Which of the memories that a context block shows matched the question: only their use is a use.

The block is filled to its budget, so in a small store it shows whatever there is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from app.read.request import ArmHit, Hit
from app.read.values import Arm

LIKENESS = 0.15
"""Least cosine of a match by meaning. With the embedded model, of pairs of a question and a memory that does not
answer it 96 in 100 lie below (of questions about something else altogether 98), and 71 in 100 answers that are
worded otherwise lie above (evals/paraphrases.jsonl). Models whose cosines run higher let more through."""

NEARNESS = 0.4
"""Least share of the best cosine among the answers that a match by meaning has: where something says nearly the same as
the question, what barely resembles it only fills. Of the pairs above, it keeps as many answers as without it (with .5
69 in 100), and takes away a fifth of those that LIKENESS lets through and that don't answer."""

WORDS = 0.1
"""Least share of the weight of a question's words that a match by words has: one word in each memory is not one."""

_MEANING = frozenset({Arm.SEMANTIC, Arm.SEMANTIC_CONTEXT})
_WORDS = frozenset({Arm.LEXICAL, Arm.LEXICAL_CONTEXT})


def matched(shown: Sequence[UUID], hits: Collection[Hit], weights: Mapping[int, float]) -> tuple[UUID, ...]:
    """Return those of the memories shown that match, by meaning, words, a name, a relation or a time.

    `weights` are those of the question's words. What no arm found was fetched because the question asks for it.
    """
    total = sum(weights.values())
    best = max((arm.score for hit in hits for arm in hit.arms if arm.arm in _MEANING), default=0.0)
    like = max(LIKENESS, NEARNESS * best)
    by_id = {hit.memory.id: hit.arms for hit in hits}
    return tuple(
        one for one in shown if not by_id[one] or any(_matches(arm, like, WORDS * total) for arm in by_id[one])
    )


def _matches(hit: ArmHit, like: float, words: float) -> bool:
    """Tell whether an arm found a match; `like` and `words` are the least scores by meaning and by words."""
    if hit.arm in _MEANING:
        return hit.score >= like
    if hit.arm in _WORDS:
        return hit.score >= words
    return True

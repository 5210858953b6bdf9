"""The formula of confidence, which says how far to trust a memory (seed 000, "Type-specific confidence priors")."""

from __future__ import annotations

from dataclasses import replace

from app.model import ConfidenceParts, SpeechAct

WRITE_FLOOR = 0.30
"""The least confidence of a memory: a candidate below it is rejected."""

READ_FLOOR = 0.50
"""Below this a memory is not recalled by default."""

UNCERTAIN_CAP = 0.30
"""The highest confidence of hypothetical statements, role play and quotations (seed 003, provenance failure)."""

UNCERTAIN_ACTS = frozenset({SpeechAct.HYPOTHETICAL, SpeechAct.ROLEPLAY, SpeechAct.QUOTATION})


def repetition(mentions: int) -> float:
    """Return r in 0..1 for a count of mentions: 1 -> 0, 3 -> .5, 5 or more -> 1."""
    return min(1.0, max(0, mentions - 1) / 4)


def score(parts: ConfidenceParts) -> float:
    """Return conf = min(1, .45 s + .20 r + .25 e + .10 t), each component in 0..1."""
    return min(
        1.0,
        0.45 * parts.source + 0.20 * repetition(parts.mentions) + 0.25 * parts.extractor + 0.10 * parts.prior,
    )


def capped_score(parts: ConfidenceParts, act: SpeechAct) -> float:
    """Return the confidence of a statement; that of a hypothesis, role play or quotation is capped."""
    value = score(parts)
    return min(value, UNCERTAIN_CAP) if act in UNCERTAIN_ACTS else value


def merged_parts(old: ConfidenceParts, new: ConfidenceParts) -> ConfidenceParts:
    """Return the components of two statements of one belief: averages weighted by mentions, counts added."""
    total = old.mentions + new.mentions

    def average(first: float, second: float) -> float:
        return (first * old.mentions + second * new.mentions) / total

    return replace(
        old,
        source=average(old.source, new.source),
        extractor=average(old.extractor, new.extractor),
        mentions=total,
    )

"""Fusion of what the arms found into one list, by scaled scores with a share of reciprocal ranks (seed 001)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import itemgetter
from uuid import UUID

from app.read.values import Arm, ArmPlace, Arms, Fused, QueryPlan, Scaling

_ADDED = itemgetter(3)
"""What a place adds to the sum."""


def fuse(arms: Arms, plan: QueryPlan) -> tuple[Fused, ...]:
    """Return the best `plan.considered` memories, by the sum of what each arm adds.

    An arm adds `weight x (scaled + rank_share x sqrt(scaled) / (k + rank))`, divided so that a memory that is first in
    every arm has 1. Equal scores share a rank, so the order of a list's ties says nothing; equal sums are ordered by
    id, newest first.
    """
    asked = {arm: scored for arm, scored in arms.items() if scored and plan.weights.get(arm, 0) > 0}
    whole = sum(plan.weights[arm] for arm in asked) * (1.0 + plan.rank_share / (plan.k + 1))
    found: dict[UUID, dict[Arm, ArmPlace]] = {}
    for arm, scored in asked.items():
        ordered = sorted(scored, key=itemgetter(1), reverse=True)
        places = _places([score for _, score in ordered], plan.weights[arm] / whole, plan.scaling[arm], plan)
        for (memory, _), place in zip(ordered, places, strict=True):
            if (known := found.get(memory)) is None:
                found[memory] = {arm: place}
            else:
                known[arm] = place
    sums = [(math.fsum(map(_ADDED, places.values())), memory) for memory, places in found.items()]
    sums.sort(reverse=True)
    return tuple(Fused._make((memory, total, found[memory], 0.0, 0.0)) for total, memory in sums[: plan.considered])


def _places(scores: Sequence[float], share: float, scaling: Scaling, plan: QueryPlan) -> list[ArmPlace]:
    """Return the places of an arm's scores, best first; `share` is the arm's of all."""
    rank, previous, k, rank_share, sqrt = 0, math.inf, plan.k, plan.rank_share, math.sqrt
    places = []
    for at, (score, scaled) in enumerate(zip(scores, scale(scores, scaling), strict=True), start=1):
        if score < previous:
            rank, previous = at, score
        places.append((rank, score, scaled, share * (scaled + rank_share * sqrt(scaled) / (k + rank))))
    return places


def scale(scores: Sequence[float], scaling: Scaling) -> list[float]:
    """Return scores, best first, as 0..1; a list whose scores are all equal is all 1.

    By their own range, the worst of `n` is `1 / (n + 1)`, not 0: nothing says that it is worthless, only that the
    others are better, and the fewer they are the less it says.
    """
    if not scores:
        return []
    if scaling is Scaling.NONE:
        return [min(1.0, max(0.0, score)) for score in scores]
    if scaling is Scaling.EQUAL:
        return [1.0] * len(scores)
    best, least = scores[0], 0.0
    if scaling is Scaling.RANGE:
        least = scores[-1] - (best - scores[-1]) / len(scores)
    else:
        scores = [max(0.0, score) for score in scores]
    if best <= least:
        return [1.0] * len(scores)
    span = best - least
    return [(score - least) / span for score in scores]

"""Fusion of the arms' lists into one: a sum of scaled scores with a share of reciprocal ranks (seed 001)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from uuid import UUID

from app.read.values import Arm, ArmPlace, Arms, Fused, QueryPlan, Scaling, Scored


def fuse(arms: Arms, plan: QueryPlan) -> tuple[Fused, ...]:
    """Return the best `plan.considered` memories, by the sum of what each arm adds.

    An arm adds `weight x (scaled + rank_share x sqrt(scaled) / (k + rank))`, divided so that a memory that is first in
    every arm has 1. Equal scores share a rank, so the order of a list's ties says nothing; equal sums are ordered by
    id, newest first.
    """
    asked = {arm: scored for arm, scored in arms.items() if scored and plan.weights.get(arm, 0) > 0}
    whole = sum(plan.weights[arm] for arm in asked) * _part(1, 1.0, plan)
    places: dict[UUID, dict[Arm, ArmPlace]] = defaultdict(dict)
    for arm, scored in asked.items():
        _add_places(places, arm, scored, plan.weights[arm] / whole, plan)
    sums = [(math.fsum([place.contribution for place in found.values()]), memory) for memory, found in places.items()]
    sums.sort(reverse=True)
    return tuple(Fused(memory, total, places[memory]) for total, memory in sums[: plan.considered])


def _part(rank: int, scaled: float, plan: QueryPlan) -> float:
    return scaled + plan.rank_share * math.sqrt(scaled) / (plan.k + rank)


def _add_places(
    places: dict[UUID, dict[Arm, ArmPlace]], arm: Arm, scored: Sequence[Scored], share: float, plan: QueryPlan
) -> None:
    """Add each memory's place in one list."""
    ordered = sorted(scored, key=lambda one: one[1], reverse=True)
    scaled = scale([score for _, score in ordered], plan.scaling[arm])
    rank, previous = 0, math.inf
    for at, ((memory, score), part) in enumerate(zip(ordered, scaled, strict=True), start=1):
        if score < previous:
            rank, previous = at, score
        places[memory][arm] = ArmPlace(rank, score, part, share * _part(rank, part, plan))


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
    if best <= least:
        return [1.0] * len(scores)
    return [min(1.0, max(0.0, (score - least) / (best - least))) for score in scores]

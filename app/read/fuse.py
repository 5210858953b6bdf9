"""Fusion of the arms' lists into one: a sum of scaled scores with a share of reciprocal ranks (seed 001)."""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from uuid import UUID

from app.read.values import Arm, ArmHit, Arms, Fused, QueryPlan, Scaling, Scored


def fuse(arms: Arms, plan: QueryPlan) -> tuple[Fused, ...]:
    """Return the best `plan.considered` memories, by the sum of what each arm adds.

    An arm adds `weight x (scaled + rank_share x sqrt(scaled) / (k + rank))`, divided so that a memory that is first in
    every arm has 1. Equal scores share a rank, so the order of a list's ties says nothing; equal sums are ordered by
    id, newest first.
    """
    places = {arm: _places(scored, plan.scaling[arm]) for arm, scored in arms.items() if plan.weights.get(arm, 0) > 0}
    whole = sum(plan.weights[arm] for arm, placed in places.items() if placed) * _part(1, 1.0, plan)
    shares = {arm: plan.weights[arm] / whole for arm, placed in places.items() if placed}
    parts: dict[UUID, list[float]] = defaultdict(list)
    for arm, share in shares.items():
        for memory, (rank, _, scaled) in places[arm].items():
            parts[memory].append(share * _part(rank, scaled, plan))
    sums = ((math.fsum(found), memory) for memory, found in parts.items())
    best = heapq.nlargest(plan.considered, sums)
    return tuple(Fused(id=memory, retrieval=total, arms=_hits(memory, places, shares, plan)) for total, memory in best)


def _part(rank: int, scaled: float, plan: QueryPlan) -> float:
    return scaled + plan.rank_share * math.sqrt(scaled) / (plan.k + rank)


def _places(scored: Sequence[Scored], scaling: Scaling) -> dict[UUID, tuple[int, float, float]]:
    """Return each memory's rank from 1, score and scaled score in one list."""
    ordered = sorted(scored, key=lambda one: one[1], reverse=True)
    scaled = scale([score for _, score in ordered], scaling)
    placed: dict[UUID, tuple[int, float, float]] = {}
    rank, previous = 0, math.inf
    for place, ((memory, score), share) in enumerate(zip(ordered, scaled, strict=True), start=1):
        if score < previous:
            rank, previous = place, score
        placed[memory] = (rank, score, share)
    return placed


def _hits(
    memory: UUID,
    places: Mapping[Arm, Mapping[UUID, tuple[int, float, float]]],
    shares: Mapping[Arm, float],
    plan: QueryPlan,
) -> tuple[ArmHit, ...]:
    return tuple(
        ArmHit(
            arm=arm.value,
            rank=rank,
            score=score,
            scaled=scaled,
            contribution=shares[arm] * _part(rank, scaled, plan),
        )
        for arm, placed in places.items()
        if memory in placed
        for rank, score, scaled in (placed[memory],)
    )


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

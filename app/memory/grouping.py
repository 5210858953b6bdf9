"""Which faded memories are alike enough to become one (DESIGN section 7)."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

FADED: Final = 0.20
"""Freshness under which an episode may be folded."""

ALIKE: Final = 0.70
"""Cosine that each member has at least to the medoid of its group."""

FEWEST: Final = 5
"""Members of a group."""

_DIGITS: Final = 9
"""After which sums of similarities are taken for equal: the order of adding must not decide."""

Similarity = NDArray[np.float64]


def cosines(vectors: NDArray[np.float32]) -> Similarity:
    """Return the cosine of each pair of rows, exactly symmetric; a zero vector is like nothing but itself."""
    wide = vectors.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    unit = wide / np.where(lengths == 0, 1.0, lengths)
    product: Similarity = unit @ unit.T
    product = (product + product.T) / 2
    np.fill_diagonal(product, 1.0)
    return product


def groups(similarity: Similarity) -> list[tuple[int, ...]]:
    """Return the groups among memories whose similarities these are, each as places, its medoid first.

    In each group of at least `FEWEST` every member has a similarity of `ALIKE` or more to the medoid: the member
    that is most like the others in sum. Groups don't overlap. The one around whoever has the most others near (of
    equals: the nearest) goes first; what it leaves is grouped in turn. The order of the memories doesn't matter.
    """
    near = similarity >= ALIKE
    closeness = np.where(near, similarity, 0.0)
    free = np.ones(len(similarity), dtype=bool)
    seeds = free.copy()
    neighbours, strength = near.sum(axis=1), closeness.sum(axis=1)
    found: list[tuple[int, ...]] = []
    while True:
        candidates = np.flatnonzero(seeds & (neighbours >= FEWEST))
        if not len(candidates):
            return found
        by_rank = np.lexsort((-strength[candidates].round(_DIGITS), -neighbours[candidates]))
        seed = int(candidates[by_rank[0]])
        members = _around_medoid(np.flatnonzero(near[seed] & free), similarity)
        if len(members) < FEWEST:
            seeds[seed] = False
            continue
        found.append(members)
        gone = list(members)
        free[gone] = seeds[gone] = False
        neighbours -= near[:, gone].sum(axis=1)
        strength -= closeness[:, gone].sum(axis=1)


def _around_medoid(members: NDArray[np.intp], similarity: Similarity) -> tuple[int, ...]:
    """Return the members near their medoid, which comes first; as some go it may become another one."""
    while len(members):
        among = similarity[np.ix_(members, members)]
        medoid = int(among.sum(axis=1).round(_DIGITS).argmax())
        kept = among[medoid] >= ALIKE
        if kept.all():
            first = int(members[medoid])
            return (first, *(int(one) for one in members if one != first))
        members = members[kept]
    return ()

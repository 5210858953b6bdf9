"""Vectors as the database reads them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def as_halfvec(vector: NDArray[np.float32]) -> str:
    """Return a vector in pgvector's text format, to the digits half precision keeps."""
    return "[" + ",".join(f"{value:.5g}" for value in vector.tolist()) + "]"

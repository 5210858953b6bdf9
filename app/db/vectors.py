"""Vectors as the database reads them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from pydantic_core import to_json


def as_halfvec(vector: NDArray[np.float32]) -> str:
    """Return a vector in pgvector's text format, to the digits half precision keeps."""
    return to_json(np.round(vector.astype(np.float64), 7).tolist()).decode()

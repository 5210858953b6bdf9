"""The frozen values that stages hand to one another, and the vocabularies they use."""

from __future__ import annotations

from enum import StrEnum


class Precision(StrEnum):
    """How exactly a point in time is known (seed 000, event schema)."""

    EXACT = "exact"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    APPROXIMATE = "approximate"
    UNKNOWN = "unknown"

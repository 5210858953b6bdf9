"""Drift: slots whose value changes too often (docs/decisions/lifecycle.md)."""

from __future__ import annotations

from typing import Final

FLIPS: Final = 4
"""Replacements of a slot's value within `FLIP_DAYS` that make the slot volatile."""

FLIP_DAYS: Final = 30

DEMOTION: Final = 0.8
"""The factor on the score of a volatile slot's memory, until it is reviewed or the slot is stable again."""

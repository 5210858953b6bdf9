"""English date and time expressions, grounded against a moment. Pure: no I/O, no state."""

from app.english.dates.finder import find_spans, last_named
from app.english.dates.periods import TemporalSpan

__all__ = ["TemporalSpan", "find_spans", "last_named"]

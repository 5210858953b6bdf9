"""English date and time expressions, grounded against a moment. Pure: no I/O, no state."""

from app.text.temporal.finder import find_spans
from app.text.temporal.spans import TemporalSpan

__all__ = ["TemporalSpan", "find_spans"]

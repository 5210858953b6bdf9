"""Redaction of texts that repeat erased words: turns, their reports, and JSON values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from app.memory.fields import texts_in, with_texts
from app.model import Memory

BLANK = "[erased]"

SHORTEST_NEEDLE = 3
"""Characters that a text must have to be redacted elsewhere; shorter ones occur everywhere."""


def redact_report(report: object, needles: Sequence[str]) -> object:
    """Return JSON values with every text that contains one of the needles replaced by null."""
    return with_texts(report, lambda text: None if any(needle in text for needle in needles) else text)


def redact_turn_report(
    report: Mapping[str, object] | None, memory: str, needles: Sequence[str]
) -> dict[str, object] | None:
    """Return a turn's report without what it says about a memory, given by its public id."""
    if report is None:
        return None
    candidates = report.get("candidates")
    told = [
        {**one, "quote": None, "content": None, "reason": "erased"} if one.get("memory_id") == memory else one
        for one in (candidates if isinstance(candidates, list) else [])
    ]
    trace = report.get("trace")
    stages = [{**one, "dropped": [], "notes": []} for one in (trace if isinstance(trace, list) else [])]
    found = redact_report({**report, "candidates": told, "trace": stages}, needles)
    return dict(found) if isinstance(found, Mapping) else None


def identifying_texts(memory: Memory, quotes: Sequence[str]) -> list[str]:
    """Return the texts that identify a memory's content: its sentence, its quotes and the texts of its payload."""
    held = [text for text in texts_in(memory.payload) if len(text.split()) > 1]
    found = [memory.content, *quotes, *held]
    return long_enough(dict.fromkeys(found))


def long_enough(texts: Iterable[str]) -> list[str]:
    """Return the texts that are long enough to be redacted elsewhere."""
    return [one for one in texts if len(one.strip()) >= SHORTEST_NEEDLE]

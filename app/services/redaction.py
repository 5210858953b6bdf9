"""What stays of a turn when one of the memories it made is erased, and others rest on it too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from app.memory.spec import MemoryType
from app.model import Memory, Mention

BLANK = "[erased]"

SHORTEST = 3
"""Characters of a text that is looked for in others; shorter ones are in everything."""


def blanked(content: str, quotes: Sequence[str], others: Sequence[str]) -> str:
    """Return a text without the quotes, except where another memory's quote overlaps one."""
    kept = [span for quote in others for span in _found(content, quote)]
    gone = [
        (start, end)
        for quote in quotes
        for start, end in _found(content, quote)
        if not any(start < last and first < end for first, last in kept)
    ]
    pieces, at = [], 0
    for start, end in sorted(gone):
        if start >= at:
            pieces += [content[at:start], BLANK]
        at = max(at, end)
    return "".join([*pieces, content[at:]])


def unsaid(report: object, needles: Sequence[str]) -> object:
    """Return JSON values without the texts that hold one of the needles."""
    match report:
        case Mapping():
            return {key: unsaid(value, needles) for key, value in report.items()}
        case list():
            return [unsaid(value, needles) for value in report]
        case str():
            return None if any(needle in report for needle in needles) else report
        case _:
            return report


def untold(report: Mapping[str, object] | None, memory: str, needles: Sequence[str]) -> dict[str, object] | None:
    """Return a turn's report without what it says of a memory, given by its public id."""
    if report is None:
        return None
    candidates = report.get("candidates")
    told = [
        {**one, "quote": None, "content": None, "reason": "erased"} if one.get("memory_id") == memory else one
        for one in (candidates if isinstance(candidates, list) else [])
    ]
    trace = report.get("trace")
    stages = [{**one, "dropped": [], "notes": []} for one in (trace if isinstance(trace, list) else [])]
    found = unsaid({**report, "candidates": told, "trace": stages}, needles)
    return dict(found) if isinstance(found, Mapping) else None


def needles(memory: Memory, quotes: Sequence[str]) -> list[str]:
    """Return the texts that a memory is told by: its sentence, its quotes, what it holds."""
    held = [text for text in _texts(memory.payload) if len(text.split()) > 1]
    found = [memory.content, *quotes, *held]
    return [one for one in dict.fromkeys(found) if len(one.strip()) >= SHORTEST]


def brought(memory: Memory, spec: MemoryType | None) -> dict[str, Mention]:
    """Return the names and attributes a memory brought, by role; none for a payload of an older shape."""
    if spec is None:
        return {}
    try:
        payload = spec.read(memory.payload, memory.type_version)
    except ValueError:
        return {}
    return {one.role: one for one in payload.mentions()}


def _found(content: str, quote: str) -> Iterator[tuple[int, int]]:
    at = content.find(quote) if quote else -1
    while at >= 0:
        yield at, at + len(quote)
        at = content.find(quote, at + len(quote))


def _texts(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case Mapping():
            for one in value.values():
                yield from _texts(one)
        case list() | tuple():
            for one in value:
                yield from _texts(one)

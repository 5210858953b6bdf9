"""The audit log in sentences, one for each kind of event, and what a memory's events say it went through."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from app.memory.sentences.of_memories import OF_MEMORIES
from app.memory.sentences.of_tenants import OF_TENANTS
from app.memory.sentences.wording import Detail, because

_SENTENCES = {**OF_MEMORIES, **OF_TENANTS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What a memory was from an instant on; `status` is None from when it is gone."""

    at: datetime
    action: str
    status: str | None
    confidence: float | None


def tell(action: str, at: datetime, actor: str, detail: Detail, *, redacted: bool = False) -> str:
    """Return what happened, as a sentence; `redacted`: its detail was emptied by an erasure."""
    when = f"{at.day} {at:%B %Y}"
    if redacted:
        return f"{_title(action)} on {when}, by {actor}; the details were erased."
    sentence = _SENTENCES.get(action)
    if sentence is None:
        return f"{_title(action)} on {when}, by {actor}{because(detail)}."
    return f"{sentence(detail).replace('@', f'on {when}', 1)}."


def standings(events: Iterable[tuple[datetime, str, Detail]]) -> list[Standing]:
    """Return what one memory was, from first to last, by its events (instant, action, detail) in order alone.

    Raises ValueError where an event changes a status or a confidence that the events before it did not lead to.
    """
    found: list[Standing] = []
    now: dict[str, object] = {"status": None, "confidence": None}
    for at, action, detail in events:
        pairs = {name: detail[name] for name in now if isinstance(detail.get(name), list | tuple)}
        for name, (before, after) in pairs.items():
            if before != now[name]:
                raise ValueError(f"{action} finds {name} {before}, after it became {now[name]}")
            now[name] = after
        if pairs:
            found.append(Standing(at=at, action=action, **now))  # type: ignore[arg-type]
    return found


def _title(action: str) -> str:
    subject, _, verb = action.partition(".")
    return f"{subject.replace('_', ' ').capitalize()} {verb.replace('_', ' ')}"

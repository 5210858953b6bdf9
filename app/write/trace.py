"""What each stage of a turn's way through the pipeline saw, let through, dropped, and took."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """Something a stage did not let through, by its type and words, and why."""

    what: str
    reason: str


@dataclass(slots=True)
class Stage:
    """One stage of one turn: how many things it saw and kept, what it dropped, milliseconds it took."""

    name: str
    seen: int = 0
    kept: int = 0
    dropped: list[Dropped] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    took_ms: float = 0.0

    def drop(self, what: str, reason: str) -> None:
        """Record that something was not let through."""
        self.dropped.append(Dropped(what=what, reason=reason))


@dataclass(slots=True)
class Trace:
    """The stages of one turn, in order."""

    stages: list[Stage] = field(default_factory=list)

    @contextmanager
    def stage(self, name: str, seen: int) -> Iterator[Stage]:
        """Time a stage; whoever runs it says what it kept and dropped."""
        entered = Stage(name=name, seen=seen, kept=seen)
        self.stages.append(entered)
        started = perf_counter()
        try:
            yield entered
        finally:
            entered.took_ms = (perf_counter() - started) * 1000
            entered.kept = entered.seen - len(entered.dropped)

    def add(self, stages: Sequence[Stage]) -> None:
        """Add stages that were gone through elsewhere."""
        self.stages.extend(stages)

    def told(self) -> list[dict[str, object]]:
        """Return the stages as JSON values."""
        return [
            {
                "stage": one.name,
                "seen": one.seen,
                "kept": one.kept,
                "dropped": [{"what": gone.what, "reason": gone.reason} for gone in one.dropped],
                "notes": list(one.notes),
                "took_ms": round(one.took_ms, 3),
            }
            for one in self.stages
        ]

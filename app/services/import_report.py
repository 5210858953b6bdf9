"""What became of an import: counts, the lines that were wrong, and what a caller should know."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from app.errors import InvalidInput

MOST_ERRORS = 1_000
"""Lines that are told of; the others are counted."""


class Stopped(InvalidInput):
    """The first line that is wrong, of an import that is to stop there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """A line that was not stored, and why."""

    line: int
    message: str


@dataclass(slots=True, kw_only=True)
class Summary:
    """The outcome. `complete`: the file had its last line, and was what that line says."""

    strict: bool = False
    complete: bool = False
    imported: Counter[str] = field(default_factory=Counter)
    already_there: Counter[str] = field(default_factory=Counter)
    erased: int = 0
    conflicts: Counter[str] = field(default_factory=Counter)
    merged_entities: int = 0
    failed: int = 0
    errors: list[Failed] = field(default_factory=list)
    notices: Counter[str] = field(default_factory=Counter)

    def fail(self, line: int, message: str) -> None:
        """Record that a line is wrong; raise Stopped when the import is to stop at the first."""
        if self.strict:
            raise Stopped(f"line {line}: {message}. What comes before it may be stored: mend it and send it again")
        self.failed += 1
        if len(self.errors) < MOST_ERRORS:
            self.errors.append(Failed(line=line, message=message))

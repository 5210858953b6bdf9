"""Verdicts on context blocks, line by line, without a model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from evals.chat.dialogues import Change, ChatQuestion, Unchanged

MARK: Final = re.compile(r"replaced|\b(?:no longer|until)\b", re.IGNORECASE)
"""What says of a line that it is not how things are."""


class Placement(StrEnum):
    """How a block has the two statements of a change."""

    ONLY_NEW = "only new"
    NEW_FIRST = "new first"
    OLD_FIRST = "replaced first"
    ONLY_OLD = "only replaced"
    NEITHER = "neither"

    @property
    def leads_with_new(self) -> bool:
        """Whether a reader meets what is current first."""
        return self in {Placement.ONLY_NEW, Placement.NEW_FIRST}


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A block: lines that don't answer, patterns of answers that it lacks, lines with a replaced value unmarked."""

    lines: tuple[str, ...]
    noise: tuple[str, ...]
    missing: tuple[str, ...]
    stale: tuple[str, ...]


def lines_of(block: str) -> list[str]:
    """Return the lines of a context block, without headings and empty lines."""
    return [line for line in block.split("\n") if line.strip() and not line.startswith("#")]


def judge(asked: ChatQuestion, lines: Sequence[str]) -> Judgement:
    """Return the verdict on each line of the block that a question got."""
    return Judgement(
        lines=tuple(lines),
        noise=tuple(line for line in lines if not _matches((*asked.need, *asked.may), line)),
        missing=tuple(pattern for pattern in asked.need if not any(_matches([pattern], line) for line in lines)),
        stale=tuple(line for line in lines if _matches(asked.replaced, line) and not MARK.search(line)),
    )


def placement(change: Change, lines: Sequence[str]) -> Placement:
    """Return which of the two statements stands first; a line with both counts as the new one."""
    new, old = change.new.lower(), change.old.lower()
    lowered = [line.lower() for line in lines]
    first_new = next((place for place, line in enumerate(lowered) if new in line), None)
    first_old = next((place for place, line in enumerate(lowered) if old in line and new not in line), None)
    if first_new is None:
        return Placement.NEITHER if first_old is None else Placement.ONLY_OLD
    if first_old is None:
        return Placement.ONLY_NEW
    return Placement.NEW_FIRST if first_new < first_old else Placement.OLD_FIRST


def wrongly_marked(unchanged: Unchanged, lines: Sequence[str]) -> bool:
    """Tell whether a line with the statement that still holds says that it does not."""
    return any(unchanged.stays in line.lower() and MARK.search(line) for line in lines)


def leads_with_another(unchanged: Unchanged, lines: Sequence[str]) -> bool:
    """Tell whether another line stands first than one with the statement that still holds."""
    return bool(lines) and unchanged.stays not in lines[0].lower()


def _matches(patterns: Iterable[str], line: str) -> bool:
    return any(re.search(pattern, line, re.IGNORECASE) for pattern in patterns)

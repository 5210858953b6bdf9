"""Rules of screening, kept in data files: orders to the assistant that reads a text, in six languages, and secrets.

Orders match lower-case text with single spaces. A user's own wishes pass: they name `my` instructions, say what `I` am,
or ask for a manner (`in German`, `briefly`) rather than for content: `ab jetzt antworte mir auf Deutsch`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from app.english.patterns import expanded
from app.english.word_lists import lines


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreeningRule:
    """A pattern, the reason of a suspicion, and the name of a test that a match must pass besides, empty for none.

    `needs` are parts of words, in lower case, one of which a text must have in any case, which is cheap to check first;
    without any it is always searched.
    """

    why: str
    needs: tuple[str, ...]
    test: str
    pattern: re.Pattern[str]

    def matches(self, text: str, folded: str | None = None) -> Iterator[re.Match[str]]:
        """Return the matches, tested or not; `folded` is the text in lower case, where it may not be."""
        there = text if folded is None else folded
        lacking = self.needs and not any(map(there.__contains__, self.needs))
        return iter(()) if lacking else self.pattern.finditer(text)

    def finds(self, text: str) -> Iterator[tuple[int, int]]:
        """Return start and end of each match."""
        return (found.span() for found in self.matches(text))


def screening_rules(name: str, title: str) -> tuple[ScreeningRule, ...]:
    """Return the rules of a section of a file: `why` begins one, `find` and `say` (any case) are its patterns."""
    read: list[dict[str, str]] = []
    for key, value in lines(name, title):
        if key == "why":
            read.append({"why": value})
        elif key in {"find", "say"}:
            found = expanded(name, value)
            found = f"(?i:{found})" if key == "say" else found
            read[-1]["pattern"] = f"{read[-1]['pattern']}|{found}" if "pattern" in read[-1] else found
        else:
            read[-1][key] = value
    return tuple(
        ScreeningRule(
            why=one["why"],
            needs=tuple(one.get("needs", "").split()),
            test=one.get("test", ""),
            pattern=re.compile(one["pattern"], re.MULTILINE),
        )
        for one in read
    )


ORDERS: Final = screening_rules("injection", "orders")
"""Orders to the assistant, suspicious whoever says them."""

FOREIGN_ORDERS: Final = screening_rules("injection", "foreign orders")
"""Orders that only the user may give: a tool or an assistant neither is the user nor decides what to answer."""

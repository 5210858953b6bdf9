"""Patterns of text that gives orders to the assistant that reads it, in English and five more languages.

They match lower-case text with single spaces. A user's own wishes pass: they name `my` instructions, say what `I` am,
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
class InjectionRule:
    """A pattern, the reason of a suspicion, and words one of which a text must have, which is cheap to check first."""

    why: str
    needs: tuple[str, ...]
    pattern: re.Pattern[str]

    def finds(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield start and end of each match."""
        if any(word in text for word in self.needs):
            yield from (found.span() for found in self.pattern.finditer(text))


def _rules(title: str) -> tuple[InjectionRule, ...]:
    """Return the rules of a section of `data/injection.txt`: reason, required words and alternative patterns."""
    read: list[tuple[str, str, list[str]]] = []
    for key, value in lines("injection", title):
        if key == "why":
            read.append((value, "", []))
        elif key == "needs":
            read[-1] = (read[-1][0], value, [])
        else:
            read[-1][2].append(expanded("injection", value))
    return tuple(
        InjectionRule(why=why, needs=tuple(needed.split()), pattern=re.compile("|".join(found), re.MULTILINE))
        for why, needed, found in read
    )


ORDERS: Final = _rules("orders")
"""Orders to the assistant, suspicious whoever says them."""

FOREIGN_ORDERS: Final = _rules("foreign orders")
"""Orders that only the user may give: a tool or an assistant neither is the user nor decides what to answer."""

"""The question whether two names are of one entity, as reasons and notes put it, and the same texts without it.

A text may put several, and anything else, each after a semicolon.
"""

from __future__ import annotations

import re
from collections.abc import Collection

BETWEEN = "; "
"""What parts a question from the rest of its text."""

_ASKED = " may be the same as "


def question(name: str, known: str) -> str:
    """Return the question whether a new name is of the entity that is known by another."""
    return f"{name}{asked_of(known)}"


def asked_of(known: str) -> str:
    """Return the end of every question about a known name."""
    return f"{_ASKED}{known}"


def without_questions(text: str, known: Collection[str]) -> str:
    """Return a text without the questions about these known names; letters' case does not matter."""
    if not known:
        return text
    part = f"(?:(?!{BETWEEN}).)*?"
    names = "|".join(map(re.escape, known))
    asked = rf"(?:^|{BETWEEN}){part}{_ASKED}(?:{names})(?={BETWEEN}|$)"
    found = re.sub(asked, "", text, flags=re.IGNORECASE | re.DOTALL)
    return found if found == text else found.removeprefix(BETWEEN)

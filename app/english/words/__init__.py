"""Words the rules know: who is a person, what is a place, a tool, a profession, an illness."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text, as a set."""
    return frozenset(text.split())

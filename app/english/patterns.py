"""Patterns of the beginning of an English clause, shared by the rules that recognise speech acts."""

from __future__ import annotations

from typing import Final

LEAD: Final = (
    r"^(?:(?:so|ok|okay|now|well|and|but|just|please|then|hey|hi|hello|yes|yeah|yep|no|nope|oh|actually|also|right|"
    r"alright|btw|by the way|honestly|hmm?|um|uh|wait|sorry|instead|anyway)[,.!:;]{0,3} ){0,4}"
)
"""The beginning of a sentence, after at most four filler words."""

CLAUSE: Final = (
    r"(?:^|[.!?;:,\u2014\u2013(\"] ?| - |\band |\bso |\bbut |\bthen |\bnow |\bplease |\bokay |\bok |\bjust )"
)
"""The beginning of a clause, for imperative verbs."""

MINE: Final = r"(?:i|i'm|im|i've|i'd|i'll|my|we|we're|we've|our)\b"
"""A subject that is the speaker, or belongs to the speaker."""


def words(listed: str) -> frozenset[str]:
    """Return the words of a list that is written as text."""
    return frozenset(listed.split())

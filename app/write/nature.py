"""How what is extracted fades by what it says: core for who the user is, procedural for what they always do."""

from __future__ import annotations

from app.memory.extraction import Role, Turn
from app.memory.spec import MemoryType, Payload
from app.memory.vocabulary import USER
from app.model import Category, SpeechAct

_LASTING = frozenset({Category.CORE, Category.PROCEDURAL})
"""Those that keep a memory for good, or nearly: they are given to few."""


def nature(
    proposed: Category | None, payload: Payload, spec: MemoryType, turn: Turn, act: SpeechAct
) -> Category | None:
    """Return how it fades by what it says, or None: as its type does (seed 002's heuristics at extraction).

    Only what is asserted about the user whose scope it is can be core or procedural, and only in a type that
    says such things. What the type reads from the payload counts first; `proposed`, the extractor's own word,
    counts where the type reads nothing. Any other category leaves it to the type's own half-life.
    """
    if spec.nature is None or act is not SpeechAct.ASSERTION or not _of_user(payload, turn):
        return None
    found = spec.nature(payload) or proposed
    return found if found in _LASTING else None


def _of_user(payload: Payload, turn: Turn) -> bool:
    """Return whether it is about the one user whose scope the turn is in, by the name that the turn has for them."""
    if turn.scope.user_id is None:
        return False
    subject = payload.subject()
    return subject == USER or (turn.role is Role.USER and subject == turn.first_person)

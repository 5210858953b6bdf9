"""Which game or story a turn is said in, told from the turns of its session."""

from __future__ import annotations

from collections.abc import Sequence

from app.memory.extraction import Role, Turn
from app.text.framing import Earlier, Framing, framing


def framed(turn: Turn, session: Sequence[Turn]) -> Framing:
    """Return the framing of a turn, given those of its session before it, oldest first; users open and end it."""
    before = [Earlier(content=one.content, at=one.occurred_at) for one in session if one.role is Role.USER]
    return framing(turn.content, turn.occurred_at, before, opens=turn.role is Role.USER)

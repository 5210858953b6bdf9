"""Stage 1 among the turns before: which question a turn answers, one that someone else asked right before it."""

from __future__ import annotations

from collections.abc import Sequence

from app.memory.extraction import Turn
from app.text.chitchat import asks
from app.write.prefilter import Dropped, Passed, PrefilterPolicy, RecentTurn, prefilter


def asked(turn: Turn, before: Sequence[Turn]) -> Turn | None:
    """Return the turn right before this one in its session, if it is someone else's and ends in a question mark.

    `before` are those before it, oldest first. Turns outside any session follow one another.
    """
    last = next((one for one in reversed(before) if one.session_id == turn.session_id), None)
    if last is None or (last.role, last.speaker) == (turn.role, turn.speaker) or not asks(last.content):
        return None
    return last


def gated(turn: Turn, before: Sequence[Turn], policy: PrefilterPolicy) -> tuple[Passed | Dropped, Sequence[Turn]]:
    """Return what the prefilter makes of a turn, given those before it, and the one that it answers, if any.

    What repeats a turn that nothing was made of is not dropped for that: it may be the same request, sent again.
    """
    question = asked(turn, before)
    recent = [
        RecentTurn(
            content=one.content,
            occurred_at=one.occurred_at,
            role=one.role,
            speaker=one.speaker,
            asked=None if question is None else _content(asked(one, before[:place])),
        )
        for place, one in enumerate(before)
        if not one.unread
    ]
    return prefilter(turn, recent, policy, asked=_content(question)), () if question is None else (question,)


def _content(turn: Turn | None) -> str | None:
    return None if turn is None else turn.content

"""Games and suppositions that reach over several turns of a session, until they are left. English wording.

`Let's roleplay: you're a pirate and I'm a sailor` makes a role of what is said in the turns after it, too. Casting
the assistant alone (`act as a career coach`) does not: who asks for that speaks for themself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from app.english.patterns import pattern
from app.model import SpeechAct

FRAMED_TURNS: Final = 20
"""Turns of a speaker that a frame reaches over, where no fewer are named."""

FRAMED_FOR: Final = timedelta(minutes=30)
"""How long a frame lasts from its opening."""

_LOOKED_AT: Final = 2_000
"""Characters at the beginning of a turn in which a frame is opened or left."""

_QUOTES: Final = str.maketrans({"\u2018": "'", "\u2019": "'", "\u02bc": "'", "\u00a0": " "})
_OPENS: Final = pattern("role_play", "opens", re.IGNORECASE)
"""What a game is opened by, also where the parts are proper names."""

_ONCE: Final = pattern("role_play", "once", re.IGNORECASE)
"""A pretence that serves one request ends with it: `pretend I'm five and explain gravity`."""

_CLOSES: Final = pattern("role_play", "closes", re.IGNORECASE)
_FOR_REAL: Final = pattern("role_play", "for real", re.IGNORECASE)
"""A sentence that speaks for real in the midst of a game."""

_NAMED_TURNS: Final = re.compile(r"\bnext (?P<count>\d{1,2}|two|three|four|five|few)\b", re.IGNORECASE)
_COUNTS: Final = {"two": 2, "three": 3, "four": 4, "five": 5, "few": 5}


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierTurn:
    """A turn of the same speaker and session that came before: its text, and when it was said."""

    content: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RolePlayFrame:
    """What a turn is said in: from each place on, the act that frames it, None for none."""

    changes: tuple[tuple[int, SpeechAct | None], ...] = ()

    def at(self, place: int, sentence: str) -> SpeechAct | None:
        """Return the act that frames a sentence at this place of the turn; None when it stands for itself."""
        act = next((act for start, act in reversed(self.changes) if start <= place), None)
        return None if act is None or _FOR_REAL.search(sentence) else act


NO_FRAMING: Final = RolePlayFrame()


@dataclass(frozen=True, slots=True)
class _Change:
    """A frame that is opened for so many turns, or, without an act, left."""

    place: int
    act: SpeechAct | None
    turns: int = FRAMED_TURNS


def framing(content: str, at: datetime, before: Sequence[EarlierTurn], *, opens: bool = True) -> RolePlayFrame:
    """Return what a turn is said in, given the turns before it that may frame it, oldest first.

    `opens`: its speaker is one who may open or leave a frame. It depends on nothing but these texts and times, so
    that a turn comes to the same whenever and wherever it is processed.
    """
    changes: list[tuple[int, SpeechAct | None]] = []
    for back, turn in enumerate(reversed(before)):
        last = next(reversed(_changes(turn.content)), None)
        if last is None:
            continue
        if last.act is not None and back < last.turns and at - turn.at <= FRAMED_FOR:
            changes.append((0, last.act))
        break
    if opens:
        changes += [(one.place, one.act) for one in _changes(content)]
    return RolePlayFrame(changes=tuple(changes)) if changes else NO_FRAMING


def _changes(content: str) -> list[_Change]:
    text = content[:_LOOKED_AT].translate(_QUOTES)
    found = [_Change(one.start(), None) for one in _CLOSES.finditer(text)]
    for one in _OPENS.finditer(text):
        once = "pretend" in one.group().lower() and "until" not in one.group().lower() and _ONCE.search(text, one.end())
        if not once:
            how = (one["first"] or one["then"] or "").lower()
            supposes = how.startswith(("imagine", "assume", "suppose"))
            act = SpeechAct.HYPOTHETICAL if supposes else SpeechAct.ROLEPLAY
            found.append(_Change(one.start(), act, _turns(text)))
    return sorted(found, key=lambda one: one.place)


def _turns(text: str) -> int:
    """Return how many turns `the next three messages` names, the default where none is named."""
    named = _NAMED_TURNS.search(text)
    if named is None:
        return FRAMED_TURNS
    count = named["count"].lower()
    return max(1, min(_COUNTS.get(count) or int(count), FRAMED_TURNS))

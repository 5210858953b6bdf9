"""Frames of role play and supposition that last for several turns of a session, recognised by English wording.

`Let's roleplay: you're a pirate and I'm a sailor` puts the turns after it in a role, too. Giving the assistant
a role alone (`act as a career coach`) does not: the user speaks for themself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Final

from app.english.quotations import quoted_spans
from app.english.word_lists import pattern
from app.model import SpeechAct

FRAMED_TURNS: Final = 100
"""Turns of a speaker in the session that a frame lasts for until it is closed, unless its opening names a number."""

_LOOKED_AT: Final = 2_000
"""Characters at the beginning of a turn that may open or end a frame."""

_QUOTES: Final = str.maketrans({"\u2018": "'", "\u2019": "'", "\u02bc": "'", "\u00a0": " "})
_OPENS: Final = pattern("role_play", "opens", re.IGNORECASE)
"""Openings of a role play, also with proper names as roles."""

_ONCE: Final = pattern("role_play", "once", re.IGNORECASE)
"""A role play for one request, which ends with it: `pretend I'm five and explain gravity`."""

_HEADED: Final = pattern("role_play", "headed", re.IGNORECASE)
"""The heading of a part of a book or play, whose text follows it."""

_UNFINISHED: Final = re.compile(r":\s*$")
_CLOSES: Final = pattern("role_play", "closes", re.IGNORECASE)
_FOR_REAL: Final = pattern("role_play", "for real", re.IGNORECASE)
"""A sentence that is outside the role play."""

_NAMED_TURNS: Final = re.compile(r"\bnext (?P<count>\d{1,2}|two|three|four|five|few)\b", re.IGNORECASE)
_COUNTS: Final = {"two": 2, "three": 3, "four": 4, "five": 5, "few": 5}


@dataclass(frozen=True, slots=True, kw_only=True)
class RolePlayFrame:
    """The frames of a turn: from each position on, the speech act of the frame, None for none."""

    changes: tuple[tuple[int, SpeechAct | None], ...] = ()

    def at(self, place: int, sentence: str) -> SpeechAct | None:
        """Return the act of the frame of a sentence at this position of the turn, None without a frame."""
        act = next((act for start, act in reversed(self.changes) if start <= place), None)
        return None if act is None or _FOR_REAL.search(sentence) else act


NO_FRAMING: Final = RolePlayFrame()


@dataclass(frozen=True, slots=True)
class _Change:
    """The opening of a frame for a number of turns, or, without an act, its end."""

    place: int
    act: SpeechAct | None
    turns: int = FRAMED_TURNS


def opens_frame(text: str) -> bool:
    """Return whether a sentence opens a role play: `you're Sherlock Holmes and I'm Watson`."""
    return any(one.act is SpeechAct.ROLEPLAY for one in _changes(text))


def framing(content: str, before: Sequence[str], *, opens: bool = True) -> RolePlayFrame:
    """Return the frames of a turn, given its speaker's turns before it in the session, oldest first.

    `opens` means that its speaker may open or end a frame. The result depends on these texts only, so that it is the
    same whenever a turn is processed.
    """
    changes: list[tuple[int, SpeechAct | None]] = []
    for back, turn in enumerate(islice(reversed(before), FRAMED_TURNS)):
        last = next(reversed(_changes(turn)), None)
        if last is None:
            continue
        if last.act is not None and back < last.turns:
            changes.append((0, last.act))
        break
    if opens:
        changes += [(one.place, one.act) for one in _changes(content)]
        changes += [(one.start(), SpeechAct.ROLEPLAY) for one in _HEADED.finditer(content[:_LOOKED_AT])]
    return RolePlayFrame(changes=tuple(changes)) if changes else NO_FRAMING


@lru_cache(maxsize=2_048)
def _changes(content: str) -> tuple[_Change, ...]:
    text = content[:_LOOKED_AT].translate(_QUOTES)
    found = [_Change(one.start(), None) for one in _CLOSES.finditer(text)]
    for one in _OPENS.finditer(text):
        once = "pretend" in one.group().lower() and "until" not in one.group().lower() and _ONCE.search(text, one.end())
        if not once:
            how = (one["first"] or one["then"] or "").lower()
            supposes = how.startswith(("imagine", "assume", "suppose"))
            act = SpeechAct.HYPOTHETICAL if supposes else SpeechAct.ROLEPLAY
            found.append(_Change(one.start(), act, _turns(text)))
    if _UNFINISHED.search(text) and quoted_spans(f"{content.rstrip()} I", None):  # what is announced comes next
        found.append(_Change(len(text), SpeechAct.QUOTATION, 1))
    return tuple(sorted(found, key=lambda one: one.place))


def _turns(text: str) -> int:
    """Return the number of turns that `the next three messages` names, by default `FRAMED_TURNS`."""
    named = _NAMED_TURNS.search(text)
    if named is None:
        return FRAMED_TURNS
    count = named["count"].lower()
    return max(1, min(_COUNTS.get(count) or int(count), FRAMED_TURNS))

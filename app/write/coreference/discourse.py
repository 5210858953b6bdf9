"""Who was spoken of before a reference, what was said together in one piece: in its turn, the turns before, memory."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import groupby
from typing import Final

from app.db.entities.write_lookup import SUBJECTS, Referent
from app.english.names import names_in, sentences_of
from app.english.pronouns import Reference, forms
from app.memory.extraction import Role, Turn
from app.write.coreference.names import PossibleReferent, by_sentence

WINDOW = 2_000
"""Characters before a reference that are searched for names, and of each turn before."""

HEARD_TURNS: Final = 10
"""Turns of the session just before that a reference reaches back to."""

REACH: Final = timedelta(days=1)
"""How long ago whom a reference means may have been spoken of, in its session or another."""

_MINE: Final = frozenset({"my", "our"})
_OF_NAME: Final = re.compile(r"['\u2019]s?$")


@dataclass(frozen=True, slots=True)
class CoMention:
    """Those who were spoken of together, how many turns ago, and whether in the reference's sentence or just before."""

    candidates: Sequence[PossibleReferent]
    turns_ago: int = 0
    close: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscourseContext:
    """A turn, up to HEARD_TURNS before it in its session, oldest first, and what the scope remembers.

    `kinds` are the entity types of folded names that need no capitals; what is learnt of them meanwhile counts.
    """

    turn: Turn
    context: Sequence[Turn]
    recent: Sequence[Referent]
    kinds: Mapping[str, str]
    _before: dict[str, list[CoMention]] = field(default_factory=dict)

    def said(self, quote: str, reference: Reference) -> Iterator[CoMention]:
        """Yield who is named in the turn before the reference, a sentence at a time, the nearest first."""
        text = self.turn.content
        end = _place(text, quote, reference.words)
        start = max(0, end - WINDOW)
        piece, end = text[start : end + WINDOW // 10], end - start
        starts = sentences_of(piece)
        sentence = bisect_right(starts, end)
        for group in by_sentence(piece, names_in(piece, self.kinds)):
            candidates = [one for one in _after(piece, group, reference.key, starts, self.turn) if one.start < end]
            if candidates:
                yield CoMention(candidates, close=sentence - bisect_right(starts, candidates[0].start) <= 1)

    def before(self, reference: Reference) -> Iterator[CoMention]:
        """Yield who is named in the turns before, the nearest sentence first."""
        if reference.key not in self._before:
            self._before[reference.key] = list(self._in_context(reference.key))
        yield from self._before[reference.key]

    def _in_context(self, key: str) -> Iterator[CoMention]:
        for back, turn in enumerate(reversed(self.context), start=1):
            if self.turn.occurred_at - turn.occurred_at > REACH:
                return
            text = turn.content[-WINDOW:]
            starts = sentences_of(text)
            for group in by_sentence(text, names_in(text, self.kinds)):
                candidates = _after(text, group, key, starts, turn)
                last = bisect_right(starts, group[0].start) == len(starts)
                yield CoMention(candidates, back, close=back == 1 and last and turn.role is Role.USER)

    def stored(self, reference: Reference, *, near: bool) -> Iterator[CoMention]:
        """Yield what is remembered of this session, or of the others, what was said together in one piece."""
        session = self.turn.session_id
        since = self.turn.occurred_at - REACH
        if near and len(self.context) >= HEARD_TURNS:
            since = max(since, self.context[0].occurred_at)
        fitting = [
            one
            for one in self.recent
            if one.of is None
            and one.alive
            and one.pronoun in {None, reference.key}
            and one.last_said_at >= since
            and (session is not None and one.session_id == session) == near
        ]
        fitting.sort(key=lambda one: (*_when(one), one.number or -1), reverse=True)
        for _, together in groupby(fitting, key=_when):
            ordered = sorted(together, key=lambda one: (one.pronoun is None, one.role not in SUBJECTS))
            yield CoMention([_remembered(one) for one in ordered], HEARD_TURNS + 1)


def _when(one: Referent) -> tuple[datetime, int]:
    """Return when something was spoken of: turns of one time come in the order in which they were given."""
    return (one.last_said_at, 0 if one.turn is None else one.turn.int)


def _remembered(one: Referent) -> PossibleReferent:
    """Return who is remembered; without the turn that said it, it may have been said apart from all others."""
    return PossibleReferent(one.name, one.entity_type, one.pronoun is not None, start=-1 if one.turn is None else 0)


def _after(
    text: str, group: Sequence[PossibleReferent], key: str, starts: Sequence[int], turn: Turn
) -> list[PossibleReferent]:
    """Return those of a sentence that the same pronoun in it does not stand before, each with whose it is.

    Whoever has no name and is spoken of after `she` is somebody else, and so is a name of which nothing is known.
    """
    number = bisect_right(starts, group[0].start)
    begins = starts[number - 1] if number else 0
    words = forms(key)
    found = None if words is None else words.search(text, begins, group[-1].start)
    told = []
    for one in group:
        follows = found is not None and found.end() <= one.start
        noun = one.unnamed
        if noun is None:
            told.append(replace(one, follows=follows))
        elif not follows and (turn.role is Role.USER or noun.owner is not None):
            told.append(replace(one, owner=_whose(noun.owner, turn)))
    return told


def _whose(owner: str | None, turn: Turn) -> str | None:
    """Return the name of whom `my` and `your` mean in a turn, or that is the owner; None when neither says."""
    word = (owner or "").casefold()
    if word in _MINE:
        return turn.first_person
    if word == "your":
        return turn.second_person
    bare = _OF_NAME.sub("", owner or "")
    return bare if bare != owner and bare[:1].isupper() else None


def _place(text: str, quote: str, words: str) -> int:
    """Return where in the text the reference is made: in the quote, or at its end if it says something else."""
    start = text.find(quote)
    if start < 0:
        return len(text)
    found = re.search(rf"\b{re.escape(words)}\b", quote, re.IGNORECASE)
    return start + (len(quote) if found is None else found.start())

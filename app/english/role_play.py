"""Games, stories and suppositions that reach over several turns of a session, until they are left.

`Let's roleplay: you're a pirate and I'm a sailor` makes a role of what is said in the turns after it, too. Casting
the assistant alone (`act as a career coach`) does not: who asks for that speaks for themself. English wording.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from app.english.hypotheticals import casts
from app.model import SpeechAct

FRAMED_TURNS: Final = 20
"""Turns of a speaker that a frame reaches over, where none was named."""

FRAMED_FOR: Final = timedelta(minutes=30)
"""How long a frame lasts from its opening."""

FEW: Final = 5
"""Turns that `the next few messages` are."""

_LOOKED_AT: Final = 4_000
"""Characters at the beginning of a turn in which a frame is opened or left."""

_QUOTES: Final = str.maketrans({"\u2018": "'", "\u2019": "'", "\u02bc": "'", "\u00a0": " "})
_STAGE: Final = r"(?:story|scene|role-?\s?play|skit|sketch|scenario|simulation|game|campaign|fantasy|script|adventure)"
_UNIT: Final = r"(?:messages?|turns?|replies|questions?|minutes|responses|exchanges)"
_SPELL: Final = (
    rf"(?:(?:for|over|during) (?:the|our|your|my) next (?P<{{0}}>\w+(?: of)?) ?{_UNIT}?"
    r"|(?:for|throughout|during) (?:the (?:rest|remainder) of )?(?:this|the|our) (?:whole |entire )?"
    r"(?:chat|conversation|session|exchange)|until (?:i|we) (?:say|tell|stop|write|type|give)|till i say|from now on)"
)
_SUPPOSE: Final = r"(?:pretend|act (?:as if|as though|like)|imagine|assume|suppose|make believe)"
_ASKING: Final = (
    r"(?:let's|lets|let us|can we|could we|shall we|we could|we should|i want to|i'd like to|i wanna|wanna"
    r"|we're going to|we'll|i'll)"
)
_OPENS: Final = re.compile(
    rf"(?P<play>\b{_ASKING} (?:just |now |do (?:an? |some )?|start (?:an? )?|play (?:an? )?|try (?:an? )?)?"
    rf"(?:role-?\s?play(?:ing)?|pretend(?! (?:like |that )?(?:this|it|nothing|none|we never|i never|not)\b)"
    r"|make-?\s?believe|act out|improvise a)\b"
    rf"|(?:^|[.!?\n]\s*|\*+|\[)(?:start (?:of )?(?:the )?)?role-?\s?play(?:\s*(?:[:\-\u2014\]*]|time\b"
    rf"|begins?\b|starts? now))"
    rf"|\b(?:in|for) (?:this|our|the) {_STAGE},? (?:i|i'm|i am|i'll|you|you're|you are|we|we're|my|your|our|let's)\b"
    r"|(?P<cast>\b(?:you're|you are|you be|you'll be|you play) (?:now )?(?:an? |the |my )?[\w' -]{1,40}(?:,"
    r"| and|;|\.) "
    r"(?:and )?(?:i'm|i am|i'll be|i be|i play|i will be|we're) (?:an? |the |your )(?!\w+ing\b))"
    r"|\b(?:i'll be|i will be|i'll play|i play) (?:an? |the )?[\w' -]{1,40}(?:,| and|;) (?:and )?"
    r"(?:you're|you are|you'll be|you be|you play)\b"
    rf"|(?:^|[.!?,;:\n] ?|\bplease |\bnow |\bjust )pretend(?:,? {_SPELL.format('n1')},?)? (?:that )?(?:i|i'm|we"
    rf"|we're|my|to be)\b)"
    rf"|(?P<long>\b{_SPELL.format('n2')},? (?:\w+ ){{0,3}}?(?P<how2>{_SUPPOSE})"
    rf"|\b(?P<how3>{_SUPPOSE})\b[^.!?\n]{{0,80}}?\b{_SPELL.format('n3')})",
    re.IGNORECASE,
)
_ONCE: Final = re.compile(
    r"\b(?:explain|tell me|describe|teach|write|give me|show me|help me|summari[sz]e|walk me|answer this|review)\b",
    re.IGNORECASE,
)
"""A pretence that serves one request ends with it: `pretend I'm five and explain gravity`."""

_CLOSES: Final = re.compile(
    rf"(?:^|[.!?\n(\[*]\s*)(?:(?:ok|okay|alright|all right|right|well|now|so|and|please|let's|lets|we can"
    rf"|can we|you can"
    r"|time to|i want to|i'd like to|could you|shall we|i'll)[,. ]{0,2} ?){0,4}"
    rf"(?:stop(?:(?: it| now| here| please|,? thanks?)*\s*(?:[.!)\]]|$)| (?:the |this |our "
    rf"|with the )?(?:{_STAGE}|pretend\w*"
    r"|role-?\s?play\w*|playing|acting|supposing|imagining|game))"
    rf"|(?:end(?:ing)?(?: of)?|quit|finish|leave|drop|exit|cancel|enough of|no more|done with|that's enough"
    rf"|i'm done with)"
    rf" (?:the |this |our |with the )?(?:{_STAGE}|pretend\w*|role-?\s?play\w*|act|character|hypothetical\w*)\b"
    r"|(?:let's |i'm |we're )?(?:get |go |come )?back (?:to|in(?:to)?) (?:reality|real life|the real world"
    r"|normal|myself|business|being me)"
    r"|(?:but )?(?:seriously|for real|jokes aside|all jokes aside)(?: now|,? though|[,:])|now seriously"
    r"|in all seriousness"
    r"|out of character\b|ooc\b|(?:scene|game|role-?\s?play|story) (?:is )?over|(?:the )?end scene|fin\b"
    r"|the end[.!]?$"
    r"|(?:i'm|i am) not (?:really|actually) (?:an? |the ))",
    re.IGNORECASE,
)
_ASIDE: Final = re.compile(
    r"^\W*(?:(?:but|and|so|ok|okay|oh)[, ]+){0,2}(?:in reality|in real life|irl|for real|for the record|in fact"
    r"|jokes aside|seriously|out of character|on a serious note|the real me)\b|\b(?:in real life|irl"
    r"|in reality)[.!]?$",
    re.IGNORECASE,
)
"""A sentence that speaks for real in the midst of a game."""

_CUES: Final = (
    "role", "pretend", "believe", "act ", "improvise", "story", "scene", "skit", "sketch", "scenario", "simulation",
    "game",
    "campaign", "fantasy", "script", "adventure", "you're ", "you\u2019re ", "you are ", "you be ", "you'll be ",
    "you\u2019ll be ", "you play ", "i'll be ", "i\u2019ll be ", "i will be ", "i play ",
    "i'll play ", "i\u2019ll play ",
    "imagine", "assume", "suppose",
)  # fmt: skip
"""One of these stands in every opening."""

_NUMBERS: Final = {
    word: number
    for number, word in enumerate(("a", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"))
}


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
        return None if act is None or _ASIDE.search(sentence) else act


NO_FRAMING: Final = RolePlayFrame()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """A frame that is opened, or, without an act, left."""

    place: int
    act: SpeechAct | None
    turns: int = FRAMED_TURNS


def framing(content: str, at: datetime, before: Sequence[EarlierTurn], *, opens: bool = True) -> RolePlayFrame:
    """Return what a turn is said in, given the turns before it that may frame it, oldest first.

    `opens`: its speaker is one who may open or leave a frame. Depends on nothing but these texts and times, so
    that a turn comes to the same whenever and wherever it is processed.
    """
    current: tuple[SpeechAct, datetime, int] | None = None
    for turn in before:
        if current is not None:
            act, opened, left = current
            current = (act, opened, left - 1) if left > 1 and turn.at - opened <= FRAMED_FOR else None
        for change in _changes(turn.content) if current is not None or _may_open(turn.content) else ():
            current = None if change.act is None else (change.act, turn.at, change.turns + 1)
    changes: list[tuple[int, SpeechAct | None]] = []
    if current is not None and current[2] > 1 and at - current[1] <= FRAMED_FOR:
        changes.append((0, current[0]))
    if opens and (changes or _may_open(content)):
        changes += [(one.place, one.act) for one in _changes(content)]
    return RolePlayFrame(changes=tuple(changes)) if changes else NO_FRAMING


def _may_open(content: str) -> bool:
    """Tell, cheaply, whether a turn may open a frame: few do, and every turn before a turn is looked at."""
    text = content[:_LOOKED_AT].lower()
    return any(cue in text for cue in _CUES)


def _changes(content: str) -> list[_Change]:
    text = content[:_LOOKED_AT].translate(_QUOTES)
    closed = (_Change(place=found.start(), act=None) for found in _CLOSES.finditer(text))
    return sorted((*_opened(text), *closed), key=lambda one: one.place)


def _opened(text: str) -> Iterator[_Change]:
    for found in _OPENS.finditer(text):
        named = found["n1"] or found["n2"] or found["n3"]
        lasting = found["long"] is not None or named is not None
        if not lasting and "pretend" in found.group().lower() and _ONCE.search(text, found.end()):
            continue
        if found["cast"] and not casts(found["cast"].lower()):
            continue
        how = (found["how2"] or found["how3"] or "").lower()
        supposes = how.startswith(("imagine", "assume", "suppose"))
        act = SpeechAct.HYPOTHETICAL if supposes else SpeechAct.ROLEPLAY
        yield _Change(place=found.start(), act=act, turns=_count(named))


def _count(named: str | None) -> int:
    """Return how many turns `the next three` names; a few are `FEW`, and none named is as many as there may be."""
    if named is None:
        return FRAMED_TURNS
    word = named.lower().removesuffix(" of")
    number = int(word) if word.isdigit() and len(word) < 4 else _NUMBERS.get(word, FEW)  # noqa: PLR2004 - up to 999
    return max(1, min(number, FRAMED_TURNS))

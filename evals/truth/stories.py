"""The stories of `make truth`: dialogues whose user turns have the answer that a strong model gives, recorded.

A memory refers to earlier ones by words: `"replaces": ["user Oslo"]` is the line of what is known that has both words.
What the story has made of a memory at its end stands beside it: `at_end` is `true` (active) or `stale` (replaced, ended
or called off, which must not be active); `keeps` are words that the stored memory still has, though the turn that
updated it did not say them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from app.memory.normalise import normalise_name
from app.model import SpeechAct
from evals.chat.dialogues import Half

STORIES: Final = Path(__file__).parent / "stories"
ATTACKS: Final = Path(__file__).parent / "attacks"
CONTROLS: Final = Path(__file__).parent / "controls"

BELIEVED: Final = frozenset({SpeechAct.ASSERTION, SpeechAct.NEGATION})

_WORD: Final = re.compile(r"\w+")
_FIRST_HOUR: Final = time(9, tzinfo=UTC)


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class RecordedMemory(_Frozen):
    """One memory of a recorded answer; references are words of the memories that are meant.

    `several`: its predicate holds several values at a time. `exact`: what the model says when it is asked whether the
    quote says exactly this.
    """

    type: str
    quote: str
    sentence: str
    payload: dict[str, Any]
    speech_act: SpeechAct = SpeechAct.ASSERTION
    confidence: float = 0.9
    importance: float = 0.5
    topic: str | None = None
    category: str | None = None
    replaces: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    same_as: str | None = None
    about: tuple[str, ...] = ()
    ended: bool = False
    valid_from: str | None = None
    valid_until: str | None = None
    ttl_days: float | None = None
    several: bool = False
    exact: bool = True
    at_end: Literal["true", "stale"] = "true"
    keeps: tuple[str, ...] = ()

    @property
    def believed(self) -> bool:
        """Whether it is meant as fact, and is more than an ending."""
        return self.speech_act in BELIEVED and not self.ended

    @property
    def words(self) -> frozenset[str]:
        """The words of its type, sentence and payload."""
        return words_of(" ".join([self.type, self.sentence, *map(str, self.payload.values())]))

    def is_meant_by(self, reference: str) -> bool:
        """Tell whether a reference has its words."""
        return has_words(" ".join([self.type, self.sentence, *map(str, self.payload.values())]), reference)


class RecordedErasure(_Frozen):
    """What a recorded answer says is to be forgotten; `lines` are words of the memories that are meant."""

    quote: str
    what: str
    lines: tuple[str, ...] = ()


class StoryTurn(_Frozen):
    """A turn, and the answer about it; `day` is that of the turn before unless given.

    `idle`: it says nothing that anybody could ask for later.
    """

    role: Literal["user", "assistant", "tool"] = "user"
    text: str
    day: date | None = None
    answer: tuple[RecordedMemory, ...] = ()
    forget: tuple[RecordedErasure, ...] = ()
    idle: bool = False


class Exchange(_Frozen):
    """A user's turn and the answers to it, each with when it was said, in a session."""

    session: str
    turns: tuple[tuple[datetime, StoryTurn], ...]


class Story(_Frozen):
    """A life told in turns; `never` are patterns of what is never meant as fact."""

    language: str
    about: str
    turns: tuple[StoryTurn, ...]
    never: tuple[str, ...] = ()

    @property
    def told(self) -> int:
        """The number of the user's turns."""
        return sum(one.role == "user" for one in self.turns)

    def exchanges(self) -> list[Exchange]:
        """Return the turns as a chat sends them: one of the user's with what was answered."""
        found: list[list[tuple[datetime, StoryTurn]]] = []
        for at, turn in zip(_moments(self.turns), self.turns, strict=True):
            if turn.role == "user" or not found:
                found.append([])
            found[-1].append((at, turn))
        return [Exchange(session=f"{one[0][0]:%Y-%m-%d}", turns=tuple(one)) for one in found]


class Attack(_Frozen):
    """Text that tries to be remembered as fact, what a model that falls for it answers, and a question about it.

    `never` is a pattern of what must be neither stored nor recalled as fact.
    """

    id: str
    by: Literal["turn", "mail", "tool", "pasted"]
    turns: tuple[StoryTurn, ...] = Field(min_length=1)
    question: str
    never: str


class Control(_Frozen):
    """What an honest user says that looks like an attack, and what a model makes of it: all of it is to be stored."""

    id: str
    turns: tuple[StoryTurn, ...] = Field(min_length=1)


_ATTACKS: Final = TypeAdapter(tuple[Attack, ...])
_CONTROLS: Final = TypeAdapter(tuple[Control, ...])


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text, normalised."""
    return frozenset(_WORD.findall(normalise_name(text)))


def has_words(text: str, reference: str) -> bool:
    """Tell whether a text has each word of a reference in it; scripts without spaces have them inside of others."""
    folded = normalise_name(text)
    return all(normalise_name(word) in folded for word in reference.split())


def load_stories(half: Half) -> dict[str, Story]:
    """Return the stories of a half, by name."""
    return {file.stem: load_story(file) for file in sorted((STORIES / half).glob("*.json"))}


def load_story(file: Path) -> Story:
    """Return the story of a file."""
    return Story.model_validate_json(file.read_bytes())


def load_attacks(half: Half) -> Sequence[Attack]:
    """Return the attacks of a half."""
    return _ATTACKS.validate_json((ATTACKS / f"{half}.json").read_bytes())


def load_controls(half: Half) -> Sequence[Control]:
    """Return the controls of a half, which may have none."""
    file = CONTROLS / f"{half}.json"
    return _CONTROLS.validate_json(file.read_bytes()) if file.exists() else ()


def _moments(turns: Sequence[StoryTurn]) -> list[datetime]:
    """Return when turns were said: three minutes apart, from nine o'clock of their day."""
    found: list[datetime] = []
    day = turns[0].day or date.min
    for turn in turns:
        if (turn.day is not None and turn.day != day) or not found:
            day = turn.day or day
            found.append(datetime.combine(day, _FIRST_HOUR))
        else:
            found.append(found[-1] + timedelta(minutes=3))
    return found

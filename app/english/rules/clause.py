"""Clauses: subject, verb, tense, mood, and the words after the verb."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum


class Who(Enum):
    """Kinds of subjects."""

    SPEAKER = "I, we"
    USER = "the user"
    NAMED = "a name"
    PRONOUN = "he, she, they, it"
    POSSESSED = "my sister, Anna's team"


class Tense(Enum):
    """Times of a clause."""

    PRESENT = "present"
    PAST = "past"
    FUTURE = "future"


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeakerContext:
    """The speaker of a turn, and the moment, in the speaker's zone."""

    speaker: str
    now: datetime
    people: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The subject of a clause: its name in a payload, and its words.

    `names` are the several names of `John and Sarah`; `owner` and `noun` the parts of `my sister`, `given` the
    name in `my sister Anna`; `mine`: it is the speaker's own.
    """

    who: Who
    name: str
    names: tuple[str, ...] = ()
    owner: str | None = None
    noun: str | None = None
    given: str | None = None
    plural: bool = False
    mine: bool = False

    @property
    def own(self) -> bool:
        """Tell whether this is who speaks, or the user by another word."""
        return self.who in {Who.SPEAKER, Who.USER}


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A clause as it is read.

    `start` is where its text stands in the turn, `first` where its words begin, with those before its subject;
    `rest` is what follows the verb; `lemma` is the verb's base form, or the verb itself where it is unknown;
    `copula`: it is `be` with a complement, which is the rest; `before` are the words before the subject ("last
    week, ..."); `sure` is how far what surrounds it lets it be trusted (1: a plain statement); `subjectless`: who
    speaks is left out ("just moved to Berlin").
    """

    text: str
    start: int
    first: int
    subject: Subject
    verb: str
    lemma: str
    rest: str
    tense: Tense = Tense.PRESENT
    negated: bool = False
    modal: str | None = None
    perfect: bool = False
    progressive: bool = False
    passive: bool = False
    copula: bool = False
    used_to: bool = False
    adverbs: frozenset[str] = frozenset()
    before: str = ""
    correction: bool = False
    subjectless: bool = False
    sure: float = 1.0

    @property
    def whole(self) -> str:
        """Return all of its words, with those before the subject: where its time may stand."""
        return self.before + self.text

    @property
    def present(self) -> bool:
        """Tell whether it speaks of how things are, whether it affirms or denies."""
        return self.tense is Tense.PRESENT and self.modal is None and not self.used_to

    @property
    def holds(self) -> bool:
        """Tell whether it states what is so now: present, not denied, not merely possible."""
        return self.present and not self.negated

    @property
    def happened(self) -> bool:
        """Tell whether it says what has happened."""
        return (self.tense is Tense.PAST or self.perfect) and not self.negated and self.modal is None

    @property
    def past_state(self) -> bool:
        """Tell whether it says how things were, and no longer are."""
        return not self.negated and self.modal is None and (self.used_to or self.tense is Tense.PAST)

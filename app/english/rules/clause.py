"""Sentences of a turn and clauses of a sentence, as the rules read them.

Of a turn, code, quoted speech and pasted blocks are left out, and every offset is kept. A clause has a subject, a verb,
a tense, a mood, and the words after the verb.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from app.lexical.tokens import sentence_spans

HIDDEN = "\ufffc"
"""Stands for what is not the speaker's own words; no value may hold it."""

_SHORTEST = 2
LONGEST = 600
"""Characters of the longest sentence that is read: what is longer was hardly said."""

_ALIKE = str.maketrans(
    {"\u2018": "'", "\u2019": "'", "\u02bc": "'", "\u201c": '"', "\u201d": '"', "\u201e": '"', "\u00a0": " ", "\t": " "}
)
_CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029]")
_NOT_ASCII = re.compile(r"(?P<signs>[^\x00-\xff]+)(?=(?P<goes_on>[^\S\n]*(?!i\b|im\b|i'|my\b|we\b)[a-z,;])?)")
"""Characters beyond those of western letters; what follows them goes on in the same sentence."""

_SIGNS = frozenset({"So", "Sk", "Me"})
"""Categories of emoji and their modifiers, which end a sentence or stand inside it, and are never words."""

_JOINERS = frozenset({"Cf", "Mn"})
_FACE = re.compile(r"(?<![^\s\w.!?])(?:[:;=]['o^-]?[()\[\]DPpO/|]+|<3+|\^_?\^|[xX]D)(?=\s|$|[.!?])")
"""A face or a heart of punctuation."""

_FENCE = "```"
_BLOCK = re.compile(r"^(?:>| {4,}\S|\|).*$", re.MULTILINE)
_ASIDE = re.compile(r"\[[^\[\]\n]{1,200}\s[^\[\]\n]{1,200}\]")
"""A stage direction, or a picture's description: `[She leaned back in the chair.]`."""
_QUOTED = re.compile(r'"[^"\n]{1,400}"')
_OWN_WORDS = re.compile(r"\b(?:i|i'm|i've|i'd|my|me|we|our|you|your)\b|[.!?]\s+\w", re.IGNORECASE)
_QUOTED_WORDS = 8
_LINE = re.compile(r"(?:(?!(?:[^\S\n]|[,;:\u2013\u2014-]){8})[^\n])+")
"""A line, or what stands before a gap such as between the columns of a table."""

_ENDING = re.compile(r"(?<![.!?\u2026])[.!?\u2026]++[\"')\]*_]*+$")
"""The stops at a sentence's end, with the marks after them."""

_BULLET = re.compile(r"\s*(?:[-*\u2022+]|\d{1,2}[.)]|#{1,6})\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence as it is read, and where it stands in the turn; `asks`: it ends in a question mark."""

    text: str
    start: int
    asks: bool

    @property
    def end(self) -> int:
        """Return the offset in the turn where it ends."""
        return self.start + len(self.text)


def sentences(content: str) -> Iterator[Sentence]:
    """Yield the sentences of a turn that may be the speaker's own; `text` is as long as what it stands for."""
    text = readable(content)
    for begin, end, asks in _pieces(text):
        yield from _sentence(text, begin, end, asks=asks)


def count_too_long(content: str) -> int:
    """Return how many sentences of a turn are too long to be read."""
    text = readable(content)
    return sum(len(text[begin:end].strip()) > LONGEST for begin, end, _ in _pieces(text))


def _pieces(text: str) -> Iterator[tuple[int, int, bool]]:
    """Yield begin and end of each sentence, without its stops, and whether it asks."""
    for line in _LINE.finditer(text):
        for first, last in sentence_spans(line.group()):
            said = line.group()[first:last]
            ending = _ENDING.search(said)
            end = last if ending is None else first + ending.start()
            yield line.start() + first, line.start() + end, ending is not None and "?" in ending.group()


def readable(content: str) -> str:
    """Return the text with one kind of quotes and spaces, and with what is not said here hidden; equally long."""
    text = _CONTROL.sub(" ", content.translate(_ALIKE))
    if not text.isascii():
        text = _NOT_ASCII.sub(_without_signs, text)
    text = _FACE.sub(lambda face: " " * len(face.group()), text)
    if _FENCE in text:
        parts = text.split(_FENCE)
        text = _FENCE.join(_hidden(part) if place % 2 else part for place, part in enumerate(parts))
        text = text.replace(_FENCE, "\n\n\n")
    if "[" in text:
        text = _ASIDE.sub(lambda aside: "\n" * len(aside.group()), text)
    text = _BLOCK.sub(lambda block: _hidden(block.group()), text)
    return _QUOTED.sub(_unless_a_name, text) if '"' in text else text


def _without_signs(found: re.Match[str]) -> str:
    """Return a line's end in place of signs that are no letters, or a space where the sentence goes on after them."""
    signs = found["signs"]
    if not any(unicodedata.category(one) in _SIGNS for one in signs):
        return found.group()
    after = " " if found["goes_on"] is not None else "\n"
    return "".join(after if unicodedata.category(one) in _SIGNS | _JOINERS else one for one in signs)


def _hidden(text: str) -> str:
    return "".join(character if character == "\n" else HIDDEN for character in text)


def _unless_a_name(quoted: re.Match[str]) -> str:
    """Keep a quoted title or name; hide what someone is quoted as saying, but not the stop that ends it."""
    inside = quoted.group()[1:-1]
    if len(inside.split()) <= _QUOTED_WORDS and not _OWN_WORDS.search(inside):
        return quoted.group()
    stop = inside[-1] if inside[-1] in ".!?" else HIDDEN
    return HIDDEN * len(inside) + stop + '"'


def _sentence(text: str, begin: int, end: int, *, asks: bool) -> Iterator[Sentence]:
    bullet = _BULLET.match(text, begin, end)
    begin = bullet.end() if bullet else begin
    inside = text[begin:end]
    begin += len(inside) - len(inside.lstrip())
    inside = inside.strip()
    if _SHORTEST <= len(inside) <= LONGEST:
        yield Sentence(text=inside, start=begin, asks=asks)


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
    """The speaker of a turn, and the moment, in the speaker's zone.

    `named` are the words that stand with a capital inside a sentence, here or in the turns before: names, whoever's.
    """

    speaker: str
    now: datetime
    people: frozenset[str] = frozenset()
    named: frozenset[str] = frozenset()


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

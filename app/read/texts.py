"""Readings of stored texts that a process keeps: a user's questions meet the same texts again and again.

What is kept is pushed out by what is read after it, whichever way the texts were read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from itertools import chain
from sys import intern
from typing import Final, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from app.english.answer_kinds import AnswerKind
from app.english.changes import adds, another_person, tells_change, tells_no_change
from app.english.dates import find_spans
from app.english.own_life import own_life_told
from app.english.questions import (
    ASKING,
    FILLERS,
    FIRST_PERSON,
    speaks_of_others_alone,
    speaks_of_speaker_alone,
    told_share,
)
from app.english.requests import only_asks, requests
from app.lexical.bm25 import STOP_WORDS, content_terms, terms, text_language
from app.lexical.labels import Label, labels_of
from app.lexical.tokens import SPACELESS_LETTER, normalise, tokenize
from app.memory.normalise import normalise_name


class WordNearness(Protocol):
    """Compares words of texts by the cosines of their vectors (`near_words.NearWords`).

    `language` is the one whose words it knows.
    """

    language: str

    def __hash__(self) -> int:
        """Return the same for the same vectors: what they say of a word is remembered."""

    def nearest(self, asked: Sequence[str], texts: Sequence[str]) -> NDArray[np.float64]:
        """Return the highest cosine of each asked word (rows) with a content word of each text (columns)."""

    def resemblance(self, text: str, others: Sequence[str]) -> list[float]:
        """Return the cosine of each other text with this one, as wholes."""


T = TypeVar("T")

COMMON: Final = 2
"""Most of the matches that are compared which have a word that tells what a statement is about."""

COMMON_SHARE: Final = 0.05
"""The same as a share of them, where that is more."""

ONE_WORD: Final = 0.5
"""Least sum of what shared words count: that of two characters of a script without spaces, which are a word."""

KEPT: Final = 4_096
"""Texts of which each reading is kept, some 1 to 4 KB each."""

LONGEST: Final = 1_000
"""Most characters of these."""

_ANY_TIME: Final = datetime(2026, 1, 1, tzinfo=UTC)
_FILLERS: Final = frozenset(terms(" ".join(FILLERS)))

_CAPITALISED: Final = re.compile(r"(?<=[^\W_,;:] |[,;:] )[^\W\d_]*[A-ZÄÖÜÉ][^\W_]+")

_FULL_NAME: Final = re.compile(r"\b[A-ZÄÖÜÉ][^\W_]+(?: [A-ZÄÖÜÉ][^\W_]+)+")


class _Readings(dict[str, T], Generic[T]):
    """Readings by text, in two halves: where the newer is full, the older goes. A look-up runs no Python."""

    __slots__ = ("_older", "_read")

    def __init__(self, read: Callable[[str], T]) -> None:
        self._read = read
        self._older: dict[str, T] = {}

    def __missing__(self, text: str) -> T:
        found = self._older[text] if text in self._older else self._read(text)
        if len(text) <= LONGEST:
            if len(self) >= KEPT // 2:
                self._older = dict(self)
                self.clear()
            self[text] = found
        return found


def kept(read: Callable[[str], T]) -> Callable[[str], T]:
    """Return a reading of texts that remembers what it read of the last of them that are not long."""
    return _Readings(read).__getitem__


@kept
def terms_in(text: str) -> frozenset[str]:
    """Return the distinct terms of a text."""
    return frozenset(map(intern, terms(text)))


@kept
def telling_terms(text: str) -> frozenset[str]:
    """Return the content terms of a text in its own language, without single letters and numbers."""
    return _telling(content_terms(text, "english"))


@kept
def language_of(text: str) -> str:
    """Return the language of a text (`bm25.text_language`)."""
    return text_language(text)


@kept
def is_english(text: str) -> bool:
    """Tell whether a text is in English by a function word of it."""
    begun = {token.partition("'")[0] for token in tokens_in(text)}
    return language_of(text) == "english" and not STOP_WORDS["english"].isdisjoint(begun)


@kept
def asked_content(text: str) -> frozenset[str]:
    """Return the terms of an English question without those by which any question asks: `how long does it take`."""
    return frozenset(content_terms(ASKING.sub(" ", text), "english")) - _FILLERS


def shared_terms(text: str, other: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the telling terms of two texts in one language, also where only one of them tells which it is."""
    languages = language_of(text), language_of(other)
    if languages[0] == languages[1]:
        return telling_terms(text), telling_terms(other)
    language = languages[0] if languages[0] != "english" else languages[1]
    return _telling_in(text, language), _telling_in(other, language)


@lru_cache(maxsize=KEPT)
def _telling_in(text: str, language: str) -> frozenset[str]:
    return _telling(terms(text, language))


def _telling(found: Iterable[str]) -> frozenset[str]:
    return frozenset(intern(one) for one in found if len(one) > 1 and not one.isdigit())


@kept
def tokens_in(text: str) -> tuple[str, ...]:
    """Return the tokens of a text, in order."""
    return tuple(map(intern, tokenize(normalise(text))))


@kept
def labels_in(text: str) -> frozenset[Label]:
    """Return the things that a text tells apart by a number."""
    return labels_of(text)


@kept
def name_in(text: str) -> str:
    """Return a name for comparison (`normalise.normalise_name`)."""
    return normalise_name(text)


@kept
def own_life_in(text: str) -> frozenset[str]:
    """Return the predicates of its speaker's life of which a text may tell (`own_life.own_life_told`)."""
    others = language_of(text) == "english" and speaks_of_others_alone(text)
    told = frozenset[str]() if others else own_life_told(text)
    return frozenset() if told and person_in(text) else told


@kept
def person_in(text: str) -> frozenset[str]:
    """Return the terms of the person of whom alone a text tells, where that is not its speaker."""
    return terms_in(another_person(text))


@kept
def change_in(text: str) -> bool | None:
    """Tell whether a text says that something is different now; None where it says that it is not, or beside the rest.

    See `changes.tells_change`.
    """
    changed = tells_change(text)
    return None if adds(text) or (not changed and tells_no_change(text)) else changed


@kept
def names_within(text: str) -> frozenset[str]:
    """Return the terms of the words of a text, but the first of a sentence, that are written with a capital."""
    return terms_in(" ".join(_CAPITALISED.findall(text)))


@kept
def full_names(text: str) -> tuple[frozenset[str], ...]:
    """Return the terms of each run of words that are written with a capital."""
    return tuple(map(terms_in, _FULL_NAME.findall(text)))


def names_apart(text: str, other: str) -> frozenset[str]:
    """Return the terms that two texts share within full names that differ: `Ines Prado` and `Ines Moura` are two."""
    pairs = ((one, each) for one in full_names(text) for each in full_names(other))
    return frozenset[str]().union(*(one & each for one, each in pairs if not (one <= each or each <= one)))


@kept
def untimed_terms(text: str) -> frozenset[str]:
    """Return the terms of a text without its words for times, which are the same whenever it was said."""
    for span in reversed(find_spans(text, now=_ANY_TIME)):
        text = f"{text[: span.start]} {text[span.end :]}"
    return frozenset(terms(text))


@kept
def is_only_asking(text: str) -> bool:
    """Tell whether a text only asks (`requests.only_asks`)."""
    return only_asks(text)


@kept
def is_request(text: str) -> bool:
    """Tell whether a text gives a task (`requests.requests`)."""
    return requests(text)


@kept
def share_told(text: str) -> float:
    """Return the share of a text's words that stand outside its questions."""
    return told_share(text)


@kept
def share_told_of_speaker(text: str) -> float:
    """Return the same, but 0 where the text does not speak of its speaker."""
    return share_told(text) if FIRST_PERSON.search(text) else 0.0


@lru_cache(maxsize=KEPT)
def tells_kind(text: str, kind: AnswerKind) -> bool:
    """Tell whether a text has an answer of a kind."""
    return kind.is_in(text)


@kept
def words_in(text: str) -> tuple[str, frozenset[str]]:
    """Return the words of a text that have tokens, as they are written, and the tokens of all."""
    words = text.split()
    tokens = {word: tokens_in(word) for word in words}
    return " ".join(word for word in words if tokens[word]), frozenset(chain.from_iterable(tokens.values()))


def without_words(text: str, known: frozenset[str]) -> str:
    """Return the words of a text that say more than some known tokens."""
    said, tokens = words_in(text)
    return said if known.isdisjoint(tokens) else _without(said, known & tokens)


@lru_cache(maxsize=KEPT)
def _without(said: str, known: frozenset[str]) -> str:
    return " ".join(word for word in said.split() if not known.issuperset(tokens_in(word)))


@kept
def speaks_of_itself(text: str) -> bool:
    """Tell whether a text speaks of its speaker, and by no pronoun of anybody else."""
    return speaks_of_speaker_alone(text)


@dataclass(frozen=True, slots=True)
class WordCounts:
    """The number of matches, of those that may be compared, that have each term, and the terms that tell nothing."""

    counts: Mapping[str, int]
    most: float
    without: frozenset[str]
    asked: frozenset[str]

    @classmethod
    def of(cls, texts: Sequence[str], without: Collection[str], asked: Collection[str], *, often: int) -> WordCounts:
        """Count the terms of some texts, which say each thing so often: an assistant says what its tools say."""
        counts = Counter(chain.from_iterable(map(telling_terms, texts)))
        most = max(often * COMMON, COMMON_SHARE * len(texts))
        return cls(counts, most, telling_terms(" ".join(without)), frozenset(asked))

    def _rare(self, found: Iterable[str]) -> dict[str, float]:
        """Return those terms that few matches have, with what each counts: half, where two overlap.

        One that is asked for counts in full.
        """
        known, most, without = self.counts.get, self.most, self.without
        rare = [one for one in found if one not in without and known(one, 0) <= most]
        return {one: 0.5 if SPACELESS_LETTER.match(one) and one not in self.asked else 1.0 for one in rare}

    def shared(self, said: frozenset[str], others: frozenset[str], *, but: frozenset[str]) -> float:
        """Return the share of the rare terms of the shorter of two texts that both have; `but` do not count."""
        rare = self._rare(said - but)
        both = sum(weight for term, weight in rare.items() if term in others)
        return both / max(1.0, min(sum(rare.values()), sum(self._rare(others).values()))) if both >= ONE_WORD else 0.0

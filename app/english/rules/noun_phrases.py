"""Noun phrases: where a value ends, what of it is kept, and what is no value at all."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from app.english.names import NameToken, adjoining, words_of
from app.english.rules.clause import HIDDEN
from app.english.verbs import form_of
from app.english.word_lists import pattern, words

LONGEST: Final = 120
"""Characters of the longest value."""

BREAKERS: Final = words("noun_phrases", "breakers")
"""Words no value goes beyond, unless the rule that reads it says so."""

VAGUE: Final = words("noun_phrases", "vague")
"""First or only words that make a value say nothing by itself."""

_TRAILING: Final = pattern("noun_phrases", "trailing", re.IGNORECASE)
_ARTICLE: Final = re.compile(r"(?:the|a|an|my|our|some(?! of\b))\s+", re.IGNORECASE)
_EDGES: Final = " \t\r\n.,;:!?\"'()[]*_`~-"
_SPACE: Final = re.compile(r"\s+")
_POINTING: Final = words("noun_phrases", "pointing at")
_ADVERBS: Final = words("grammar", "adverbs")
_GENERIC: Final = words("noun_phrases", "generic")
_SMALL: Final = frozenset({"the", "a", "an", "my", "our", "to", "of"})
_OWN: Final = re.compile(r"\b(?:my|our)\b")
_LIST: Final = re.compile(r"\s*,\s*(?:and\s+|or\s+|&\s+)?|\s+(?:and|or|&|as well as|plus)\s+")
_GOING_ON: Final = frozenset({"to", "also"})
"""Breakers that may lead to one more part of an enumeration: `cats, and also to pollen`."""

_DENYING: Final = frozenset({"no", "never", "cannot"})


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase as it stands in a text, and where it ends there."""

    text: str
    end: int


@dataclass(frozen=True, slots=True)
class Thing:
    """A value: its name fit to be stored, the phrase as it stands in the text, and where that ends."""

    name: str
    text: str
    end: int

    @property
    def first(self) -> str:
        """Return the first word in lower case."""
        return self.name.split(maxsplit=1)[0].lower()

    @property
    def last(self) -> str:
        """Return the last word in lower case."""
        return self.name.rsplit(maxsplit=1)[-1].lower()

    @property
    def head(self) -> str:
        """Return the noun it is about, in lower case: `team` of twelve people."""
        return self.name.partition(" of ")[0].rsplit(maxsplit=1)[-1].lower()

    @property
    def words(self) -> int:
        """Return how many words it has."""
        return len(self.name.split())

    @property
    def capital(self) -> bool:
        """Tell whether it begins with a capital letter, or with one after a small one (`iPhone`)."""
        return any(letter.isupper() for letter in self.name[:2])

    @property
    def whole(self) -> str:
        """Return the name with its article."""
        return value(self.text, article=True) or self.name


def thing(text: str, at: int = 0, *, through: frozenset[str] = frozenset({"of"})) -> Thing | None:
    """Return the value whose phrase begins at the place; None when there is none, or it says nothing."""
    found = noun_phrase(text, at, through=through)
    name = None if found is None else value(found.text)
    return None if found is None or name is None else Thing(name, found.text, found.end)


def noun_phrase(text: str, at: int = 0, *, through: frozenset[str] = frozenset({"of"}), most: int = 8) -> Phrase | None:
    """Return the noun phrase that begins at the place; None when a breaker or punctuation stands there.

    `through` are the breakers that are part of it; `and` also joins two capitals (`Ernst and Young`).
    """
    begin = at + len(text[at:]) - len(text[at:].lstrip())
    if text[begin : begin + 1] == '"':
        close = text.find('"', begin + 1)
        return None if close < 0 else Phrase(text[begin + 1 : close], close + 1)
    words = words_of(text, begin, most + 1)
    if not words or text[begin : words[0].start].strip():
        return None
    length = 0
    while length < min(len(words), most) and _continues(text, words, length, through):
        length += 1
    if length == 0:
        return None
    return Phrase(text[words[0].start : words[length - 1].end], words[length - 1].end)


def _continues(text: str, words: list[NameToken], place: int, through: frozenset[str]) -> bool:
    word = words[place]
    if place and not adjoining(text, words[place - 1], word):
        return False
    if word.text == "&" or word.lower in through:
        return True
    if word.lower == "and":
        near = words[place - 1 : place + 2]
        return place > 0 and len(near) == 3 and near[0].capital and near[2].capital  # noqa: PLR2004 - with its neighbours
    return word.lower not in BREAKERS or (word.text.isupper() and len(word.text) > 1)


def without_fillers(text: str) -> str:
    """Return a text without the words at its end that say little: `now`, `these days`, `by the way`."""
    return _TRAILING.sub("", text).strip(_EDGES)


def value(text: str, *, article: bool = False) -> str | None:
    """Return a phrase fit to be a value: edges and fillers gone; None when it says nothing by itself.

    `article`: the leading article stays.
    """
    found = without_fillers(_SPACE.sub(" ", text).strip(_EDGES))
    if not article:
        found = without_article(found)
    return found if says_something(found) else None


def without_article(text: str) -> str:
    """Return the phrase without its article, unless what is left would name just anything: `the company`."""
    match = _ARTICLE.match(text)
    if match is None:
        return text
    rest = text[match.end() :]
    return text if rest.lower() in _GENERIC and match.group().lower().strip() in {"the", "my", "our"} else rest


def says_something(text: str) -> bool:
    """Tell whether the value stands alone: not vague, not hidden, not addressed to anyone, not endless."""
    words = text.lower().split()
    if not words or len(text) > LONGEST or HIDDEN in text or words[0] in VAGUE:
        return False
    if _ADVERBS.issuperset(words):
        return False
    if any(word.strip(_EDGES) in _POINTING for word in words):
        return False
    return any(character.isalnum() for character in text)


def in_third_person(text: str) -> str:
    """Return words of a speaker in the third person: `my headaches` become `their headaches`."""
    return _OWN.sub("their", text)


def list_items(text: str, *, verbs: bool = False) -> list[str]:
    """Return the parts of an enumeration, `peanuts, eggs and milk`, up to one that begins another thought.

    `verbs`: its parts may be verbs, as after `to`.
    """
    parts = [part for part in _LIST.split(text) if part.strip()]
    return [*parts[:1], *takewhile(lambda part: not _is_new_thought(part, verbs=verbs), parts[1:])]


def _is_new_thought(text: str, *, verbs: bool) -> bool:
    """Tell whether the text begins with a preposition, an auxiliary, a negation or a verb that goes on."""
    words = [word.text for word in words_of(text, most=2)]
    if not words or not words[0].islower():
        return False
    form = form_of(words[0])
    predicate = not verbs and len(words) > 1 and form is not None and bool(form.kinds & {"base", "s"})
    first_is_no_thing = words[0] in BREAKERS - _GOING_ON or words[0] in _DENYING or words[0].endswith("n't")
    return predicate or first_is_no_thing or words == ["used", "to"]


def slug(text: str, most: int = 5, *, whole: bool = False) -> str:
    """Return the content words of a phrase as one part of a key: `the backend APIs` -> `backend-apis`.

    `whole` keeps the small words too, for a key that is read out. Apostrophes go: `Levi's` -> `levis`.
    """
    plain = without_article(text.strip()).lower().replace("'", "")
    words = [re.sub(r"[^\w]+", "-", word).strip("-_") for word in plain.split()]
    return "-".join([word for word in words if word and (whole or word not in _SMALL)][:most])

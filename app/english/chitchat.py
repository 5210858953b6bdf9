"""Recognition of chit-chat, of short turns that state something all the same, and of questions, in English."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Final

from app.english.names import COMMON
from app.english.verbs import form_of
from app.english.word_lists import DIETS, STATES, entries, pattern
from app.lexical.bm25 import text_language
from app.lexical.tokens import SPACELESS, normalise

_PHRASES: Final = frozenset(entries("chitchat"))
_LENGTHS: Final[Mapping[str, Sequence[int]]] = {
    first: sorted({len(phrase.split()) for phrase in phrases}, reverse=True)
    for first, phrases in groupby(sorted(_PHRASES), key=lambda phrase: phrase.partition(" ")[0])
}
"""The numbers of words of the phrases that begin with a word, greatest first."""

_MOST_WORDS: Final = 24
_MOST_CHARACTERS: Final = 200
"""Most characters of chit-chat."""

_WORD: Final = re.compile(rf"[{SPACELESS}]+|[^\W_]+(?:'[^\W_]+)*")
_LAUGHTER: Final = pattern("statements", "laughter")

_STATEMENT: Final = pattern("statements", "statement")
_NAMING: Final = pattern("statements", "naming")
_NO_STATEMENT: Final = pattern("statements", "no statement")
"""Beginnings of clauses that are no statements, or that state nothing without another turn, whatever verb follows."""

_POINTING: Final = pattern("statements", "pointing")
"""Words that refer to another turn, without which there is nothing to remember: `I love that`, `I was too`."""

_PAST: Final = frozenset({"past", "participle"})
_FINITE: Final = _PAST | {"s"}
_SHORT_SENTENCE: Final = range(2, 5)
"""Words of a text that a verb alone makes worth reading: fewer are no sentence, and more need no such leave."""

_TAILS: Final = ("too", "again", "as well", "though", "now", "either", "anymore", "any more")
"""Words that may end any statement and add no content: `I eat meat again`."""
_MOST_TAILS: Final = 3
_STOPS: Final = ".!,\u2026 "
_BARE_STATE: Final = pattern("statements", "bare state", re.IGNORECASE)
_BARE_ATTITUDE: Final = pattern("proposals", "bare attitude", re.IGNORECASE)
_CORRECTION: Final = pattern("statements", "correction")
_SPEAKER: Final = re.compile(rf"^(?:[我私僕俺]|わたし|ぼく|저는|나는|제|내|ฉัน|ผม)[{SPACELESS}]{{3,}}")
"""First-person subjects in scripts without spaces."""

_LETTERS: Final = re.compile(r"[^\W\d_]+")
_SEVERAL: Final = 4
_OTHER_LANGUAGES: Final = frozenset(entries("other_languages"))
_ENGLISH: Final = COMMON | {
    word
    for phrase in (*entries("chitchat"), *entries("opposites"), *entries("negations"))
    for word in _LETTERS.findall(phrase)
}
"""Common words, at least one of which stands in nearly every English turn."""

_LONGEST_END: Final = 40
_LONGEST_QUESTION: Final = 300
_ASKS: Final = re.compile(r"[?\uff1f\u061f][^\w?\uff1f\u061f]*$")
_REACTION: Final = pattern("statements", "reaction")
_PART: Final = re.compile(r"[,;\u2013\u2014]\s*")
_CALLED: Final = re.compile(r"[A-Z]\w+")
_SENTENCE: Final = re.compile(r"(?<=[.!?\uff1f]) (?=\w)|\n")
_OF_YOU: Final = re.compile(r"\b(?:do|did|are|were|have|had|is|was|does|has) (?:you|your)\b")
_OFFER: Final = pattern("statements", "offer")
"""Words of a question about the conversation rather than about the person: `do you need help?`."""
_YES_OR_NO: Final = re.compile(r"(?:well |oh |um |uh )?(?:yes|yeah|yep|yup|no|nope|nah|of course|not yet)\b")


def is_chit_chat(text: str) -> bool:
    """Return whether the text consists of phrases of greeting, thanks, assent or leave."""
    return len(text) <= _MOST_CHARACTERS and _consists_of_phrases(text)


@lru_cache(maxsize=8_192)
def _consists_of_phrases(text: str) -> bool:
    normalised = normalise(text)
    first = _WORD.search(normalised)
    if first is not None and first[0] not in _LENGTHS and not _LAUGHTER.fullmatch(first[0]):
        return False
    words = _WORD.findall(normalised)
    if len(words) > _MOST_WORDS:
        return False
    place = 0
    while place < len(words):
        taken = _phrase_at(words, place)
        if not taken:
            return False
        place += taken
    return True


def after_chit_chat(text: str) -> str | None:
    """Return the words after the phrase of greeting or assent with which a text begins; None without one."""
    words = _WORD.findall(normalise(text))
    taken = _phrase_at(words, 0) if words else 0
    return " ".join(words[taken:]) if taken else None


def is_reaction(sentence: str) -> bool:
    """Return whether a sentence only says how its speaker takes what was said: `Wow, that must be hard for her`."""
    first, *others = (part.strip(" .!") for part in _PART.split(sentence))
    parts = [first, *(others[:-1] if others and _CALLED.fullmatch(others[-1]) else others)]
    said = [one for one in parts if not is_chit_chat(one)]
    return bool(said) and all(_REACTION.fullmatch(one[:1].lower() + one[1:]) for one in said)


def is_foreign(text: str) -> bool:
    """Return whether a text seems to be in a language other than English: by its letters or function words.

    So does one of several words without a common English one, or of four and more of which half are none, for languages
    whose function words are not listed.
    """
    letters = _LETTERS.findall(text)
    words = [word.casefold() for word in letters]
    if not all(map(str.isascii, letters)) or not _OTHER_LANGUAGES.isdisjoint(words):
        return True
    unknown = sum(word not in _ENGLISH and form_of(word) is None for word in words)
    least = len(words) if len(words) < _SEVERAL else (len(words) + 1) // 2
    return len(words) > 1 and (unknown >= least or text_language(text) != "english")


def states_something(text: str) -> bool:
    """Return whether a short text states something about its speaker or a named person, or corrects a statement."""
    plain = " ".join(text.split())
    folded = normalise(plain)
    if _SPEAKER.match(folded):
        return True
    if folded.endswith("?") or _POINTING.search(_without_tail(folded)):
        return False
    liked = _BARE_ATTITUDE.match(folded)
    if bare_state(plain) or (liked and not _NO_STATEMENT.search(folded[liked.end() :])):
        return True
    return any((_STATEMENT.search(folded), _CORRECTION.match(folded), _NAMING.match(plain), _is_statement(folded)))


def bare_state(text: str) -> str | None:
    """Return how a text without subject and verb says that somebody is, without its lead: `also allergic to wasps`."""
    found = _BARE_STATE.fullmatch(text)
    if found is None:
        return None
    what = _without_tail(found["what"].lower())
    return found["what"] if found["to"] or what in DIETS or what in STATES else None


def _is_statement(text: str) -> bool:
    """Return whether the text is a statement by its verb (`Sold the car`, `Tom's vegan`), and no request."""
    kinds = [form.kinds if (form := form_of(word)) else frozenset[str]() for word in _WORD.findall(text)]
    if (
        len(kinds) not in _SHORT_SENTENCE
        or _NO_STATEMENT.search(text)
        or ("base" in kinds[0] and not kinds[1] & _FINITE)
    ):
        return False
    return bool(kinds[0] & _PAST) or any(one & _FINITE for one in kinds[1:]) or "'s " in text


def _without_tail(text: str) -> str:
    text = text.rstrip(_STOPS)
    for _ in range(_MOST_TAILS):
        tail = next((one for one in _TAILS if text.endswith(f" {one}")), None)
        if tail is None:
            break
        text = text.removesuffix(tail).rstrip(_STOPS)
    return text


def asks(text: str) -> bool:
    """Return whether the text ends in a question mark, whatever emoji or quotes follow it."""
    return _ASKS.search(text[-_LONGEST_END:]) is not None


def asks_of_you(text: str) -> bool:
    """Return whether the text ends with a question about the listener, so that a bare yes or no is an answer."""
    if not asks(text):
        return False
    last = _SENTENCE.split(normalise(text[-_LONGEST_QUESTION:].rstrip()))[-1]
    return _OF_YOU.search(last) is not None and _OFFER.search(last) is None


def is_yes_or_no(text: str) -> bool:
    """Return whether the text begins with yes or no."""
    return _YES_OR_NO.match(normalise(text)) is not None


def _phrase_at(words: list[str], place: int) -> int:
    """Return the number of words of the longest phrase that begins here, 0 if none does."""
    for length in _LENGTHS.get(words[place], ()):
        if " ".join(words[place : place + length]) in _PHRASES:
            return length
    return 1 if _LAUGHTER.fullmatch(words[place]) else 0

"""Words for changes in a text: that something is different, may be or is not, or came beside the rest; and of whom.

The words stand in `data/changes.txt`, in several languages: what one told is changed in any of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from app.english.word_lists import GIVEN_NAMES, KIN, pattern
from app.lexical.bm25 import STOP_WORDS, text_language

_CHANGE: Final = pattern("changes", "change", re.IGNORECASE)
_NO_CHANGE: Final = pattern("changes", "no change", re.IGNORECASE)
_WHILE: Final = pattern("changes", "for a while", re.IGNORECASE)
_ADDITION: Final = pattern("changes", "addition", re.IGNORECASE)
_SPEAKER: Final = pattern("changes", "one who speaks", re.IGNORECASE)
_OTHERS: Final = pattern("changes", "another person").pattern

_PERSON: Final = re.compile(rf"\b(?:{'|'.join(map(re.escape, KIN))})s?\b|{_OTHERS}", re.IGNORECASE)
_OWNED: Final = re.compile(rf"(?:{_SPEAKER.pattern})(?:[的の]|\W?s\b)?\s*(?:\w+\s+)?$", re.IGNORECASE)
_LED: Final = pattern("changes", "before a person", re.IGNORECASE)
_BESIDE: Final = 3
"""Most words after the word for the speaker that say nothing of them."""

_WITH: Final = 2
"""Words between a person and the speaker from which on these do not do it together: `my wife and I`."""

_FOR: Final = pattern("changes", "for a person", re.IGNORECASE)
_VALUE: Final = re.compile(r"\d|(?<=\w )[A-ZÄÖÜÉ]\w+")
"""A number, or a name within a sentence."""

_OF_MINE: Final = pattern("changes", "of mine", re.IGNORECASE)
_SELF: Final = frozenset({"i", "we", "user"})
_OWN: Final = frozenset({"my", "our", "user's"})
_POSSESSIVE: Final = ("'s", "\u2019s")
_OWNED_WITHIN: Final = 3
"""Words from an owner within which what they own stands."""
_STOP: Final = STOP_WORDS["english"]
_STEM: Final = 4
"""Letters of the beginning that two forms of a word share."""

_PART: Final = re.compile(r"[^\w\s,、'\u2019\u2018-]+|\s-\s")
_FIRST_WORD: Final = re.compile(r"\W*([^\W\d_]+)")


def tells_change(text: str) -> bool:
    """Tell whether a part of a text says that something became different, before it says that it may or did not."""
    parts = (each for each in _PART.split(text) if _CHANGE.search(each))
    return any((denied := _NO_CHANGE.search(one)) is None or _CHANGE.search(one, 0, denied.start()) for one in parts)


def tells_no_change(text: str) -> bool:
    """Tell whether a text says that something may change, was so once, is so for a while, or is as it was.

    And of no change before.
    """
    return (_NO_CHANGE.search(text) or _WHILE.search(text)) is not None and not tells_change(text)


def adds(text: str) -> bool:
    """Tell whether a text says that something came beside what was."""
    return _ADDITION.search(text) is not None


def speaks_of_speaker(text: str) -> bool:
    """Tell whether a text has a word for its speaker, in any of several languages."""
    return _SPEAKER.search(text) is not None


def another_person(text: str) -> str:
    """Return the word for the person of whom a text tells, where it has none for its speaker; else nothing.

    It begins with that person, by a relation ("my sister's flat") or a given name.
    """
    found = _PERSON.search(text)
    if found is not None:
        before, after = _OWNED.sub("", text[: found.start()]), _OF_MINE.sub("", text[found.end() :])
        led = _LED.fullmatch(before) is not None and _tells_nothing_of_speaker(after)
        given = _FOR.search(before) is not None and _SPEAKER.search(f"{before} {after}") is None
        return found.group() if led or given else ""
    first = _FIRST_WORD.match(text)
    if first is None or not first[1][:1].isupper() or _SPEAKER.search(text) is not None:
        return ""
    word = first[1].casefold()
    return first[1] if word in GIVEN_NAMES and word not in STOP_WORDS.get(text_language(text), ()) else ""


def _tells_nothing_of_speaker(text: str) -> bool:
    """Tell whether what follows a person has no word for the speaker, or none but beside: `... and sends us cards`.

    Few words follow that one, no name and no number, and no word for a change is right before it: `dumped me`.
    """
    found = _SPEAKER.search(text)
    if found is None:
        return True
    with_them = len(text[: found.start()].split()) < _WITH
    if with_them or len(text[found.end() :].split()) > _BESIDE or _VALUE.search(text, found.end()):
        return False
    changed = list(_CHANGE.finditer(text, 0, found.start()))
    return not changed or len(text[changed[-1].end() : found.start()].split()) > 1


def is_done_by_another(told: Sequence[str], statement: Sequence[str]) -> bool:
    """Tell whether a text says that another does what a statement says that its speaker does.

    "The customer deploys to AWS" after "We deploy to Heroku". Both are words in lower case.
    """
    at = _subject_ends(statement)
    for place in range(1, len(told) if 0 < at < len(statement) else 0):
        head = told[:place]
        others = [one for one in head if one not in _STOP]
        if head[-1] in _SELF or head[-1] in _OWN:
            return False
        if head[-1] in others and _alike(told[place], statement[at]):
            return not any(_alike(one, other) for one in others for other in statement)
    return False


def is_owned_by_another(told: Sequence[str], statement: Sequence[str]) -> bool:
    """Tell whether a text tells of another's what a statement tells of its speaker's: "the dentist's address"."""
    if not statement or statement[0] not in _OWN:
        return False
    owned = statement[1:_OWNED_WITHIN]
    for place, owner in enumerate(told):
        near = told[place + 1 : place + _OWNED_WITHIN]
        if owner.endswith(_POSSESSIVE) and owner not in _OWN and any(_alike(a, b) for a in near for b in owned):
            return not any(_alike(owner, one) for one in statement)
    return False


def _subject_ends(statement: Sequence[str]) -> int:
    """Return the place after the speaker as the subject, `we` or `my shop`; 0 where it is something else."""
    if not statement:
        return 0
    return 1 if statement[0] in _SELF else 2 if statement[0] in _OWN else 0


def _alike(one: str, other: str) -> bool:
    """Tell whether two words are forms of one, none of them a stop word."""
    return one[:_STEM] == other[:_STEM] and abs(len(one) - len(other)) < _STEM and one not in _STOP

"""Words for changes in a text: that something is different, may be or is not, or came beside the rest; and of whom.

The words stand in `data/changes.txt`, in several languages: what one told is changed in any of them.
"""

from __future__ import annotations

import re
from typing import Final

from app.english.word_lists import EITHER, KIN, MEN, WOMEN, pattern

_CHANGE: Final = pattern("changes", "change", re.IGNORECASE)
_NO_CHANGE: Final = pattern("changes", "no change", re.IGNORECASE)
_ADDITION: Final = pattern("changes", "addition", re.IGNORECASE)
_SPEAKER: Final = pattern("changes", "one who speaks", re.IGNORECASE)
_OTHERS: Final = pattern("changes", "another person").pattern
_NAMES: Final = MEN | WOMEN | EITHER

_PERSON: Final = re.compile(rf"\b(?:{'|'.join(map(re.escape, KIN))})s?\b|{_OTHERS}", re.IGNORECASE)
_OWNED: Final = re.compile(rf"(?:{_SPEAKER.pattern})(?:[的の]|\W?s\b)?\s*(?:\w+\s+)?$", re.IGNORECASE)
_LED: Final = pattern("changes", "before a person", re.IGNORECASE)
_OF_MINE: Final = pattern("changes", "of mine", re.IGNORECASE)
_PART: Final = re.compile(r"[^\w\s,、'\u2019\u2018-]+|\s-\s")
_FIRST_WORD: Final = re.compile(r"\W*([^\W\d_]+)")


def tells_change(text: str) -> bool:
    """Tell whether a part of a text says that something became different, before it says that it may or did not."""
    parts = (each for each in _PART.split(text) if _CHANGE.search(each))
    return any((denied := _NO_CHANGE.search(one)) is None or _CHANGE.search(one, 0, denied.start()) for one in parts)


def tells_no_change(text: str) -> bool:
    """Tell whether a text says that something may change, was so once, or is as it was, and of no change before."""
    return _NO_CHANGE.search(text) is not None and not tells_change(text)


def adds(text: str) -> bool:
    """Tell whether a text says that something came beside what was."""
    return _ADDITION.search(text) is not None


def another_person(text: str) -> str:
    """Return the word for the person of whom a text tells, where it has none for its speaker; else nothing.

    It begins with that person, by a relation ("my sister's flat") or a given name.
    """
    found = _PERSON.search(text)
    if found is not None:
        before, after = _OWNED.sub("", text[: found.start()]), _OF_MINE.sub("", text[found.end() :])
        alone = _LED.fullmatch(before) is not None and _SPEAKER.search(after) is None
        return found.group() if alone else ""
    first = _FIRST_WORD.match(text)
    named = first is not None and first[1][:1].isupper() and first[1].casefold() in _NAMES
    return first[1] if first is not None and named and _SPEAKER.search(text) is None else ""

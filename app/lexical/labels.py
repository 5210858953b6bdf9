"""Things that are told apart by a number: `invoice 1042`, `PAY-312`, `Python 3.12`.

A vector hardly tells one number from another, so ranking compares them itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Mapping
from typing import Final, TypeVar

from app.lexical.bm25 import STOP_WORDS

Key = TypeVar("Key", bound=Hashable)

Label = tuple[str, str]
"""A word in lower case, and the number behind it."""

_LABEL: Final = re.compile(r"(?<!\w)(?:([^\W\d_]+)[-:_]?|([^\W\d_]{2,})(?: ?#| ))(\d+(?:[.,/-]?\w+)*)")
"""A letter alone is a word of its own only where the number follows at once: not in `her sister's 18th`."""

_YEAR: Final = re.compile(r"(?:19|20)\d\d")


def labels_of(text: str) -> frozenset[Label]:
    """Return the numbers of a text, each with the word before it; years are times, and left out."""
    found = (((joined or apart).casefold(), number.casefold()) for joined, apart, number in _LABEL.findall(text))
    return frozenset((word, number) for word, number in found if not _YEAR.fullmatch(number))


def compare_labels(
    asked: Collection[Label],
    texts: Mapping[Key, str],
    labels_in: Callable[[str], frozenset[Label]] = labels_of,
) -> dict[Key, bool]:
    """Return which texts are about a numbered thing that is asked for, and which about others of that word alone.

    Texts without the word are left out, and all where none is about what is asked for. Numbers after a function word
    are no names: they count something, or stand for one that was named. `labels_in` returns the labels of a text.
    """
    named = {label for label in asked if label[0] not in STOP_WORDS["english"]}
    if not any(number in text for _, number in named for text in texts.values()):
        return {}
    labels = {key: labels_in(text) for key, text in texts.items()}
    sought = {label for label in named if any(label in each for each in labels.values())}
    words, numbers = {word for word, _ in sought}, {number for _, number in asked}
    found: dict[Key, bool] = {}
    for key, each in labels.items():
        if not each.isdisjoint(sought):
            found[key] = True
        elif any(word in words and number not in numbers for word, number in each):
            found[key] = False
    return found

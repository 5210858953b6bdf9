"""Keys and predicates that name the same thing in other words: `drinks.coffee` and `coffee.drink`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_SEPARATORS: Final = re.compile(r"[\s._\-]+")
_FILLERS: Final = frozenset({"is", "are", "has", "have", "the", "a", "an", "my", "our", "its"})
_SHORTEST_PLURAL: Final = 4


def known_key(key: str, known: Iterable[str]) -> str:
    """Return the known key that says the same as this one, or the key itself.

    The words of a dotted key may come in any order, those of a predicate may not: `manages` and `managed by` differ by
    theirs. Plurals and words such as `has` tell nothing apart, nor do separators: `editor_theme` is `editor.theme`.
    """
    wanted, alike = _telling(key), []
    for one in known:
        if one == key:
            return key
        given = _telling(one)
        dotted = "." in key or "." in one
        if given == wanted or (dotted and frozenset(given) == frozenset(wanted)):
            alike.append(one)
    return min(alike, default=key)


def _telling(key: str) -> tuple[str, ...]:
    words = [_singular(word) for word in _SEPARATORS.split(key.casefold()) if word]
    return tuple([word for word in words if word not in _FILLERS] or words)


def _singular(word: str) -> str:
    plural = len(word) >= _SHORTEST_PLURAL and word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return word[:-1] if plural else word

"""Canonical forms of names, keys and sentences, so that equal things compare equal, also keys in other words."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from app.memory.writing import folded, visible

LONGEST_KEY = 1_000
"""Most bytes of a key that is stored as it is; longer keys are hashed, as an index takes a few thousand bytes."""

LONGEST_NAME = 2_000
"""Most bytes of a normalised name; an index takes some 2,600."""

_LEADING: Final = re.compile(r"""^(?:[\s"'()\[\]]|[.,;:!?](?=[\s.,;:!?"'()\[\]]|$)|(?<=[.,;:!?])[.,;:!?])+""")
_CODE: Final = re.compile(r"[\\/_#~$=]\w|^--?[a-zA-Z]|^(?=.*\d)(?=.*[a-z]).+[A-Z]")
"""A token in which upper and lower case differ: a path, a flag, a setting, letters in both cases among figures."""

_KEY_SEPARATORS = re.compile(r"[\s_\-]+")
_NUMBER = re.compile(r"(?:(?<![^\s(])[-\u2212])?\d+(?:[.,:/]\d+)*")
_NEGATION = re.compile(r"\b(?:not|no|never|none|neither|nor|without|cannot|\w+n['\u2019]t)\b", re.IGNORECASE)

_SEPARATORS: Final = re.compile(r"[\s._\-]+")
_SHAPES: Final = frozenset(
    {"style", "type", "kind", "choice", "option", "preference", "preferred", "favourite", "favorite"}
)
"""Words of dotted keys that say only that something is chosen: `coffee.style`."""

_SHELVES: Final = frozenset({"drink", "beverage", "food", "personal", "general"})
"""Words of dotted keys that say only where something belongs: `drinks.coffee`."""

_FILLERS: Final = frozenset({"is", "are", "has", "have", "the", "a", "an", "my", "our", "its"})
_SHORTEST_PLURAL: Final = 4


def normalise_name(text: str) -> str:
    """Return a name for comparison: in one writing, white space collapsed, edge punctuation removed.

    A sign directly before the first letter belongs to the name, as in `.NET`; all others close or quote a sentence.
    """
    return _edged(" ".join(folded(text).split()))


def _edged(text: str) -> str:
    return _LEADING.sub("", text).rstrip(" .,;:!?\"'()[]")


def fits_an_index(compared: str) -> bool:
    """Return whether a normalised name is short enough for an index."""
    return len(compared.encode()) <= LONGEST_NAME


def indexable(text: str) -> str:
    """Return the name, or raise ValueError when its normalised form is too long for an index.

    NFKC turns some characters into words or sentences: two hundred of them are thousands of letters.
    """
    if not text.isascii() and not fits_an_index(normalise_name(text)):
        raise ValueError(f"must not be longer than {LONGEST_NAME} bytes with its signs spelt out")
    return text


def normalise_key(text: str) -> str:
    """Return a predicate or key in its hyphenated form: `works at`, `works_at` -> `works-at`."""
    return _KEY_SEPARATORS.sub("-", folded(text).strip()).strip("-")


def words(text: str) -> str:
    """Return a hyphenated key as words: `works-at` -> `works at`."""
    return _KEY_SEPARATORS.sub(" ", text).strip()


def composed(text: str) -> str:
    """Return the text in NFC, in which a letter with its accents is one character where possible."""
    return unicodedata.normalize("NFC", text)


def sentence(text: str) -> str:
    """Return a sentence for comparison, without case, spacing and the final stop."""
    return normalise_name(text) or text


def value(text: str) -> str:
    """Return a value for comparison: equal ones are the same in perhaps another spelling, unequal ones differ.

    The case of a word tells nothing apart; that of a code, such as a path or a flag, does.
    """
    told = (composed(visible(token)) if _CODE.search(token) else folded(token) for token in text.split())
    return _edged(" ".join(told)) or text


def respelled(known: str, newer: str) -> bool:
    """Return whether a newer text is the known one in another spelling."""
    return known != newer and value(known) == value(newer)


def digest(*parts: str) -> bytes:
    """Return the SHA-256 of the parts, delimited so that different lists of parts differ."""
    return hashlib.sha256("\x1f".join(parts).encode()).digest()


def joined(parts: Iterable[str]) -> str:
    """Return parts as one key, joined by `|`; very long keys, and those of parts with a `|`, are a digest.

    So different lists of parts have different keys, and every key fits into an index.
    """
    told = tuple(parts)
    key = "|".join(told)
    plain = len(key.encode()) <= LONGEST_KEY and not any("|" in part for part in told)
    return key if plain else digest(*told).hex()


def numbers(text: str) -> tuple[str, ...]:
    """Return the numbers of a sentence with their signs, in order: sentences that differ in them are no duplicates."""
    return tuple(_NUMBER.findall(text))


def codes(text: str) -> frozenset[str]:
    """Return the codes of a sentence, such as paths and flags, as `value` compares them."""
    return frozenset(value(token) for token in text.split() if _CODE.search(token))


def negated(text: str) -> bool:
    """Return whether the sentence has a negation."""
    return len(_NEGATION.findall(text)) % 2 == 1


def known_key(key: str, known: Iterable[str]) -> str:
    """Return the known key that says the same as this one, or the key itself.

    The words of a dotted key may come in any order, those of a predicate may not: `manages` and `managed by` differ by
    theirs. Plurals and words such as `has` tell nothing apart, nor do separators: `editor_theme` is `editor.theme`. Of
    two dotted keys only what they are about counts.
    """
    wanted, alike = _telling(key), []
    for one in known:
        if one == key:
            return key
        given = _telling(one)
        dotted = "." in key or "." in one
        unordered = frozenset(given) == frozenset(wanted) or topic_of_key(one) == topic_of_key(key)
        if given == wanted or (dotted and unordered):
            alike.append(one)
    return min(alike, default=key)


def topic_of_key(key: str) -> str:
    """Return what a dotted key is about: one form for all keys that say the same, `coffee` for `drinks.coffee`.

    Its parts in one order; words for a choice, or for where it belongs, tell nothing apart where others are left.
    """
    parts = [_singular(part) for part in key.casefold().split(".")]
    for general in (_SHAPES, _SHELVES):
        parts = [part for part in parts if part not in general] or parts
    return ".".join(sorted(parts))


def _telling(key: str) -> tuple[str, ...]:
    words = [_singular(word) for word in _SEPARATORS.split(key.casefold()) if word]
    return tuple([word for word in words if word not in _FILLERS] or words)


def _singular(word: str) -> str:
    plural = len(word) >= _SHORTEST_PLURAL and word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return word[:-1] if plural else word

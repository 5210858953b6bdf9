"""Joins of a sentence's beginning with the words of a caller or a model, and the article before a noun."""

from __future__ import annotations

import re
from typing import Final

from app.english.verbs import form_of
from app.english.word_lists import ORGANISATION_SUFFIXES
from app.lexical.bm25 import STOP_WORDS

_SMALL: Final = STOP_WORDS["english"] | {"since"}
"""Words that no value begins with after the same word."""

_SOUNDS_OPEN: Final = re.compile(r"(?!uni|use|eu|one\b)[aeiou]|h(?:our|onest|eir|ono)", re.IGNORECASE)
"""The beginning of a noun that takes `an`."""

_SPELT_OPEN: Final = frozenset("AEFHILMNORSX")
"""Letters whose names take `an`."""

_EDGES: Final = ":,;"

_INITIALS: Final = re.compile(r"(?:^|[\s(])(?:\w\.)+$")
"""The end of a text whose stop is a part of its last word: `Washington, D.C.`, `9 a.m.`."""

_SHORT: Final = 4
_ABBREVIATIONS: Final = {one for one in ORGANISATION_SUFFIXES if len(one) <= _SHORT} | {"jr", "sr", "st", "etc"}
"""Words that are written with a stop: `Acme Inc.`."""


def join(lead: str, text: str) -> str:
    """Return a text after its lead, without the words at its beginning that the lead ends with.

    A doubled word of content stays (`Duran Duran`), and so does one that begins a name: `sings in In Flames`.
    """
    before, after = lead.split(), text.split()
    for length in range(min(len(before), len(after)), 0, -1):
        ending = [word.strip(_EDGES).casefold() for word in before[-length:]]
        if ending == [word.strip(_EDGES).casefold() for word in after[:length]] and _is_repeated(after, length):
            after = after[length:]
            return f"{lead} {' '.join(after)}" if after else lead
    return f"{lead} {text}"


def _is_repeated(words: list[str], length: int) -> bool:
    """Tell whether the first words of a text repeat those before them."""
    if words[0][:1].isupper() and words[1:2] and words[1][:1].isupper():
        return False
    first = words[0].strip(_EDGES).casefold()
    form = form_of(first)
    return length > 1 or first in _SMALL or (form is not None and not form.kinds.isdisjoint({"s", "past"}))


def with_article(noun: str) -> str:
    """Return a noun after `a` or `an`: `an hour`, `a union`, `an NGO`."""
    letters = noun.split(maxsplit=1)[0] if noun.strip() else ""
    spelt = letters.isupper() and len(letters) > 1 and letters[0] in _SPELT_OPEN
    spoken = not (letters.isupper() and len(letters) > 1) and _SOUNDS_OPEN.match(noun) is not None
    return f"{'an' if spelt or spoken else 'a'} {noun}"


def unfinished(text: str) -> str:
    """Return a text that a sentence goes on after, without its final stop unless that belongs to its last word."""
    bare = text.rstrip()
    if not bare.endswith(".") or _INITIALS.search(bare):
        return bare
    stopless = bare.rstrip(".").rstrip()
    return bare if stopless.rpartition(" ")[2].casefold() in _ABBREVIATIONS else stopless

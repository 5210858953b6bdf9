"""Excerpts of turns: what a turn of a conversation says, without small talk, as long as its place allows."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from app.english.chitchat import is_chit_chat
from app.english.questions import FIRST_PERSON
from app.lexical.bm25 import STOP_WORDS

_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_WORD: Final = re.compile(r"[^\W_]+")
_SHORTEST: Final = 4
"""Words of a sentence under which it says nothing, unless it has a number."""

_STEM: Final = 5
"""Letters by which a word of the question is known in its other forms."""


def telling_words(question: str) -> frozenset[str]:
    """Return the words of a question by which sentences about it are known."""
    words = (word.casefold() for word in _WORD.findall(question))
    return frozenset(word[:_STEM] for word in words if word not in STOP_WORDS["english"])


def excerpt(text: str, words: Collection[str], *, most: int) -> str:
    """Return the sentences of a turn that say something, those with telling words first, up to `most` words.

    They stay in their order, and one is always kept.
    """
    every = [one for one in _SENTENCE.split(text) if one]
    sentences = [one for one in every if not _is_idle(one)] or every
    if sum(len(one.split()) for one in sentences) <= most:
        return " ".join(sentences)
    best = sorted(range(len(sentences)), key=lambda place: (*_tells(sentences[place], words), -place), reverse=True)
    kept: list[int] = []
    room = most
    for place in best:
        length = len(sentences[place].split())
        if not kept or length <= room:
            kept.append(place)
            room -= length
    cut = sentences[kept[0]] if len(kept) == 1 else ""
    if len(cut.split()) > most:
        return f"{' '.join(cut.split()[:most])} …"
    return " ".join(sentences[place] for place in sorted(kept))


def _is_idle(sentence: str) -> bool:
    """Tell whether a sentence is small talk, or asks and tells nothing of who asks."""
    if is_chit_chat(sentence):
        return True
    if len(sentence.split()) < _SHORTEST and not any(one.isdigit() for one in sentence):
        return sentence.endswith(("!", "?"))
    return sentence.endswith("?") and FIRST_PERSON.search(sentence) is None


def _tells(sentence: str, words: Collection[str]) -> tuple[int, bool]:
    found = {word[:_STEM] for word in _WORD.findall(sentence.casefold())}
    return len(found.intersection(words)), FIRST_PERSON.search(sentence) is not None

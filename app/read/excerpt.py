"""Excerpts of turns and of quoted sources for the context block: short ones whole, else the nearest sentences.

Small talk is left out of both. The layout was chosen by the words of known answers that reach the block
(docs/decisions/context.md).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from app.english.chitchat import is_chit_chat, is_reaction
from app.english.questions import FIRST_PERSON
from app.lexical.bm25 import terms
from app.lexical.tokens import count_words
from app.memory.vocabulary import ASSISTANTS
from app.model import Memory
from app.read.texts import kept

WHOLE: Final = 60
"""Words up to which a turn is given whole, but for small talk."""

FIRST_TURNS: Final = 3
"""Turns among the best that are given at length."""

FIRST_WORDS: Final = 100
"""Words of these, where they are longer than `WHOLE`."""

LATER_WORDS: Final = 60
"""Words of the others."""

BESIDE: Final = 0.3
"""Share of a sentence's nearness to the question that counts for the sentences beside it, which say what it means."""

_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])|\n+")
_SHORTEST: Final = 4
"""Words of a sentence under which it says nothing, unless it has a number."""


def shown_of(memory: Memory, place: int, asked: Mapping[str, float]) -> str:
    """Return what a turn says of the question, led by who said it; empty where it is small talk.

    So is an assistant's turn that does no more than react and ask, unless it asks for what the question does: then the
    answer may lean on it. `place` is that among the matches, `asked` are the question's terms with what each weighs.
    """
    speaker = _speaker(memory)
    lead = f"{speaker}: " if speaker else ""
    said = memory.content.removeprefix(lead)
    if is_chit_chat(said) or (speaker in ASSISTANTS and _only_reacts(said) and not _shares_words(said, asked)):
        return ""
    whole = _whole(said)
    if whole is not None:
        return lead + whole
    return lead + _excerpt(_sentences(said), asked, most=FIRST_WORDS if place < FIRST_TURNS else LATER_WORDS)


@kept
def _whole(said: str) -> str | None:
    """Return a short turn without its small talk; None of a long one."""
    return " ".join(one for one in _sentences(said) if not is_chit_chat(one)) if count_words(said) <= WHOLE else None


@kept
def _only_reacts(said: str) -> bool:
    return all(_is_idle(one) or is_reaction(one) for one in _sentences(said))


def _sentences(text: str) -> list[str]:
    return [one for one in _SENTENCE.split(text) if one]


def quoted_of(memory: Memory, field: str, place: int, asked: Mapping[str, float]) -> str:
    """Return what a quoted source says of the question, after where it is from; `field` has what it says."""
    text = str(memory.payload.get(field, ""))
    if not memory.content.endswith(text) or count_words(text) <= WHOLE:
        return memory.content
    most = FIRST_WORDS if place < FIRST_TURNS else LATER_WORDS
    return memory.content.removesuffix(text) + _excerpt(_sentences(text), asked, most=most)


def _speaker(memory: Memory) -> str | None:
    """Return the name of who said a turn, or the role; None where neither is known."""
    speaker = memory.payload.get("speaker")
    if isinstance(speaker, str):
        return speaker
    return next((one.role for one in memory.evidence if one.role is not None), None)


def _shares_words(text: str, asked: Mapping[str, float]) -> bool:
    return not asked.keys().isdisjoint(terms(text))


def _excerpt(sentences: Sequence[str], asked: Mapping[str, float], *, most: int) -> str:
    """Return the sentences of a turn that are nearest to the question, up to `most` words, in their order.

    One is always kept, as much of it as fits.
    """
    near = _nearness(sentences, asked)
    every = range(len(sentences))
    telling = [place for place in every if not _is_idle(sentences[place])] or every
    order = sorted(telling, key=lambda place: near[place], reverse=True)
    taken: list[int] = []
    room = most
    for place in order:
        length = _words(sentences[place])
        if length <= room:
            taken.append(place)
            room -= length
        elif not taken:
            return _around(sentences[place], asked, most)
    return " ".join(sentences[place] for place in sorted(taken))


def _nearness(sentences: Sequence[str], asked: Mapping[str, float]) -> list[float]:
    """Return how near each sentence is to the question: by its terms, and less by those of the sentences beside it."""
    near = [sum(asked.get(term, 0.0) for term in set(_terms(one))) for one in sentences]
    beside = (max(before, after) for before, after in zip([0.0, *near], [*near[1:], 0.0], strict=False))
    return [own + BESIDE * other for own, other in zip(near, beside, strict=True)]


def _around(sentence: str, asked: Mapping[str, float], most: int) -> str:
    """Return the `most` words of a sentence that have the most of the question's in their middle, else the first."""
    said = sentence.split()
    worth = [max((asked.get(term, 0.0) for term in terms(word)), default=0.0) for word in said]
    sums = [sum(worth[start : start + most]) for start in range(max(1, len(said) - most + 1))]
    most_worth = max(sums)
    best = [start for start, each in enumerate(sums) if each >= most_worth]
    first = best[len(best) // 2] if any(worth) else 0
    cut = " ".join(said[first : first + most])
    return f"{'… ' if first else ''}{cut}{' …' if first + most < len(said) else ''}"


@kept
def _terms(sentence: str) -> tuple[str, ...]:
    return terms(sentence)


@kept
def _words(sentence: str) -> int:
    return count_words(sentence)


@kept
def _is_idle(sentence: str) -> bool:
    """Tell whether a sentence is small talk, or asks and tells nothing of who asks."""
    if is_chit_chat(sentence):
        return True
    if count_words(sentence) < _SHORTEST and not any(one.isdigit() for one in sentence):
        return sentence.endswith(("!", "?"))
    return sentence.endswith("?") and FIRST_PERSON.search(sentence) is None

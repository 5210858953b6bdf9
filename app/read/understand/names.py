"""Finding the names in a question: every run of words is a candidate, the alias index decides."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from itertools import islice

from app.memory import normalise, vocabulary
from app.read.values import Gram, Span
from app.text.stopwords import STOP_WORDS
from app.text.tokens import SPACELESS

LONGEST = 5
"""Words of the longest name that is looked up."""

MOST_WORDS = 64
"""Words of a question that are searched for names; questions are shorter, pasted texts may not be."""

ASSISTANTS = frozenset({"assistant", "agent", "ai", "bot"})
"""Names of the one who answers, as a speaker."""

_EDGES = ".,;:!?\"'()[]"
_WORD = re.compile(r"\S+")
_PLAIN = re.compile(r"[\w-]+")
_POSSESSIVE = re.compile(r"'s?$")
_RUN = re.compile(rf"[{SPACELESS}]+")
_LONGEST_RUN = 24
_LONGEST_RUN_NAME = 6
_SELF = frozenset({"i", "me", "my", "mine", "myself", "i'm", "i've"})


def grams(text: str, language: str) -> tuple[Gram, ...]:
    """Return runs of 1 to 5 words as aliases would be written, longest first, then left to right.

    A stop word by itself is no name. Scripts without spaces yield their runs of 2 to 6 characters.
    """
    stop = STOP_WORDS.get(language, frozenset())
    words = [_trimmed(match) for match in islice(_WORD.finditer(text), MOST_WORDS)]
    found: dict[tuple[int, int], Gram] = {}
    for length in range(min(LONGEST, len(words)), 0, -1):
        for first in range(len(words) - length + 1):
            start, end = words[first][0], words[first + length - 1][1]
            name = _name(text[start:end])
            if name and not (length == 1 and (name in stop or name in _SELF)):
                found.setdefault((start, end), Gram(name=name, span=Span(start=start, end=end), words=length))
    spaceless = [gram for run in _RUN.finditer(text) for gram in _inside(run)]
    return (*found.values(), *spaceless)


def speaks_of_self(text: str) -> bool:
    """Tell whether the question is about the one who asks."""
    return any(word.strip('.,;:!?"()').casefold() in _SELF for word in text.split()[:MOST_WORDS])


def chosen(grams: Collection[Gram], known: Collection[str]) -> list[Gram]:
    """Return the grams that are known names: the longest wherever two overlap, in the order of the text."""
    taken: list[Gram] = []
    for gram in sorted(grams, key=lambda one: (one.span.start - one.span.end, one.span.start)):
        if gram.name in known and not any(overlaps(gram.span, other.span) for other in taken):
            taken.append(gram)
    return sorted(taken, key=lambda one: one.span.start)


def overlaps(first: Span, second: Span) -> bool:
    """Tell whether two spans share a character."""
    return first.start < second.end and second.start < first.end


def without(text: str, spans: Collection[Span]) -> str:
    """Return the text with the spans cut out, white space collapsed, and no loose punctuation left."""
    pieces: list[str] = []
    at = 0
    for span in sorted(spans, key=lambda one: one.start):
        pieces.append(text[at : span.start])
        at = max(at, span.end)
    pieces.append(text[at:])
    return re.sub(r"\s+([,.;:!?])", r"\1", " ".join(" ".join(pieces).split())).strip(" ,;:")


def predicates(text: str) -> tuple[str, ...]:
    """Return the predicates and relations that words of the question ask about."""
    words = f" {' '.join(_PLAIN.findall(text.casefold()))} "
    hints: Mapping[str, tuple[str, ...]] = vocabulary.QUESTION_HINTS
    return tuple(name for name, cues in hints.items() if any(f" {cue} " in words for cue in cues))


def _trimmed(word: re.Match[str]) -> tuple[int, int]:
    """Return where the word begins and ends without the punctuation at its edges."""
    text = word.group()
    return word.end() - len(text.lstrip(_EDGES)), word.start() + len(text.rstrip(_EDGES))


def _name(words: str) -> str:
    return normalise.name(_POSSESSIVE.sub("", normalise.name(words)))


def _inside(run: re.Match[str]) -> list[Gram]:
    text = run.group()[:_LONGEST_RUN]
    return [
        Gram(
            name=normalise.name(text[first:last]),
            span=Span(start=run.start() + first, end=run.start() + last),
            words=1,
        )
        for first in range(len(text))
        for last in range(first + 2, min(first + _LONGEST_RUN_NAME, len(text)) + 1)
    ]

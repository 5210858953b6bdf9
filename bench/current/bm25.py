"""BM25 over what was told, which knows no time; and the same with its ten best ordered newest first."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Final

from bench.current.items import Told
from bench.current.score import TOP, Line

_K1: Final = 1.2
_B: Final = 0.75
_WORD: Final = re.compile(r"\w+")
_SPACELESS: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


def ranked(told: Sequence[Told], question: str, *, newest_first: bool) -> list[Line]:
    """Return the ten best texts that share a word with the question."""
    documents = [Counter(_terms(one.text)) for one in told]
    lengths = [sum(one.values()) for one in documents]
    average = sum(lengths) / max(1, len(lengths))
    asked = set(_terms(question))
    held = Counter(term for one in documents for term in asked & one.keys())
    scores = []
    for place, (document, length) in enumerate(zip(documents, lengths, strict=True)):
        score = sum(
            math.log(1 + (len(documents) - held[term] + 0.5) / (held[term] + 0.5))
            * document[term]
            * (_K1 + 1)
            / (document[term] + _K1 * (1 - _B + _B * length / average))
            for term in asked & document.keys()
        )
        scores.append((score, place))
    best = sorted(((score, place) for score, place in scores if score > 0), reverse=True)[:TOP]
    if newest_first:
        best.sort(key=lambda one: told[one[1]].at, reverse=True)
    return [Line(told[place].text) for _, place in best]


def _terms(text: str) -> list[str]:
    """Return words; of scripts without spaces, pairs of characters."""
    found = []
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        if _SPACELESS.search(word):
            found += [word[at : at + 2] for at in range(max(1, len(word) - 1))]
        else:
            found.append(word)
    return found

"""Sentences that are taken out of a text: those that hold a quotation, and those that hold all of some terms."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from app.lexical.bm25 import terms
from app.lexical.tokens import locate_quote, normalise, sentence_spans, tokenize

Span = tuple[int, int]

_LETTER: Final = re.compile(r"[^\W_]")

_ENDS: Final = " \t\r\n.!?\u2026"

_GAP: Final = re.compile(r"[ \t]+(?=[ \t.!?,;])")

SHORTEST_TERM: Final = 3
"""Characters that one of the terms must have, unless it is a number; shorter ones stand in every text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """The words by which a statement is known in a text: all of these terms in one sentence; empty: none are known.

    `needles` begin words of every text that holds the terms, in lower case.
    """

    terms: frozenset[str] = frozenset()
    needles: tuple[str, ...] = ()
    language: str = "english"

    @classmethod
    def of(cls, text: str, *, language: str, without: Collection[str] = ()) -> Wording:
        """Return the wording of a text, without some of its terms; empty where too little is left to know it by."""
        found = frozenset(terms(text, language)).difference(without)
        if not any(len(one) >= SHORTEST_TERM or one.isdigit() for one in found):
            return cls(language=language)
        return cls(terms=found, needles=tuple(sorted(set(_needles(text, found, language)))), language=language)

    def is_in(self, sentence: str) -> bool:
        """Tell whether a sentence holds all of the terms."""
        return bool(self.terms) and self.terms.issubset(terms(sentence, self.language))


def _needles(text: str, found: frozenset[str], language: str) -> Iterator[str]:
    for token in tokenize(normalise(text)):
        for term in found.intersection(terms(token, language)):
            same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(token, term, strict=False)))
            if same > 1:
                yield token[:same]


@dataclass(frozen=True, slots=True, kw_only=True)
class Excision:
    """A text without some of its parts, which were at `spans`."""

    source: str
    spans: tuple[Span, ...]

    @property
    def cut(self) -> tuple[str, ...]:
        """Return the parts that were taken out."""
        return tuple(self.source[start:end] for start, end in self.spans)

    def text(self, mark: str = "") -> str:
        """Return what is left, with a mark in place of each part."""
        pieces, at = [], 0
        for start, end in self.spans:
            pieces += [self.source[at:start], mark]
            at = end
        left = "".join([*pieces, self.source[at:]])
        return left if mark or not self.spans else _GAP.sub("", left).strip()

    @property
    def leaves_nothing(self) -> bool:
        """Tell whether no letter or digit is left."""
        return _LETTER.search(self.text()) is None


def excise(text: str, *, quotes: Iterable[str], kept: Iterable[str] = (), wording: Wording | None = None) -> Excision:
    """Take the sentences out of a text that hold one of the quotations or the wording.

    What is quoted as `kept` stays, unless it has words in common with a quotation that goes.
    """
    said = [span for quote in quotes for span in occurrences(text, quote)]
    stays = sorted(span for quote in kept for span in occurrences(text, quote) if not _meets(span, said))
    spans: list[Span] = []
    for start, end in sentence_spans(text):
        if _meets((start, end), said) or (wording is not None and wording.is_in(text[start:end])):
            whole = not _meets((start, end), stays)
            spans += [(start, end)] if whole else (_inner(text, one) for one in _without((start, end), stays))
    return Excision(source=text, spans=tuple(one for one in spans if _LETTER.search(text, *one)))


def occurrences(text: str, quote: str) -> list[Span]:
    """Return where a quotation stands in a text; where it is not there word for word, where it stands but for spacing.

    See `locate_quote`.
    """
    found = []
    at = text.find(quote) if quote else -1
    while at >= 0:
        found.append((at, at + len(quote)))
        at = text.find(quote, at + len(quote))
    near = None if found or not quote else locate_quote(quote, text)
    return found if near is None else [near]


def _meets(span: Span, others: Sequence[Span]) -> bool:
    return any(span[0] < end and start < span[1] for start, end in others)


def _inner(text: str, span: Span) -> Span:
    """Return a part of a sentence without the space around it and the signs that end the sentence."""
    said = text[span[0] : span[1]]
    return span[0] + len(said) - len(said.lstrip()), span[0] + len(said.rstrip(_ENDS))


def _without(span: Span, stays: Sequence[Span]) -> Iterator[Span]:
    """Yield the parts of a span that are not among those that stay, which are sorted."""
    at, last = span
    for start, end in stays:
        if end <= at or start >= last:
            continue
        if start > at:
            yield at, start
        at = max(at, end)
    if at < last:
        yield at, last

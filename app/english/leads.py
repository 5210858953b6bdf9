"""Doubt about whose words a statement of a turn is: what leads to it, or asks about it, may present it as a text.

Form alone tells it: a colon before it, a question above its paragraph, no first person before the first statement of a
turn, or a short question after all of them. Most of these only comment, so this is a reason to ask again, never one to
refuse.
"""

from __future__ import annotations

import re
from typing import Final

from app.english.presented import OWN
from app.english.word_lists import pattern, words
from app.lexical.tokens import count_words, sentence_spans

_LOOKED_AT: Final = 4_000
"""Characters of a turn that are looked at; what stands beyond them is not doubted."""

_FEWEST: Final = 2
"""Words of a sentence that can present something."""

_PARAGRAPHS: Final = 2
"""Paragraphs of a turn that its first sentence may present."""

_MOST: Final = 7
"""Words of a question about what stands before it."""

_HEADING: Final = re.compile(r"(?P<said>\S[^:\uff1a\n]{1,160}?) ?[:\uff1a]\s")
_DASHED: Final = re.compile(r"(?P<said>\S.{1,100}?) (?:--?|[\u2013\u2014]|->)\s*\Z", re.DOTALL)
_ABOVE: Final = re.compile("[?\uff1f:\uff1a]\\s*\\Z")
"""The end of a paragraph that asks, or leads to the next."""

_ASKS: Final = re.compile("[?\uff1f]\\W*\\Z")
_EXCLAIMS: Final = re.compile("[!\uff01]\\W*\\Z")
_COMMENTS: Final = pattern("presented", "comments", re.IGNORECASE)
_KEEPS: Final = pattern("presented", "keeps", re.IGNORECASE)
_OWN_LABELS: Final = words("quotations", "own labels")


def may_be_presented(text: str, place: int, first: int) -> bool:
    """Tell whether what a turn says at a place may be a text that it presents; `first` is where it first says any."""
    sentences = sentence_spans(text[:_LOOKED_AT])
    start = max((begin for begin, _ in sentences if begin <= place), default=0)
    paragraph = text.rfind("\n\n", 0, place) + 1
    if place < _LOOKED_AT and (_is_set_off(text[:paragraph]) or _has_heading(text[paragraph:place], text[start:place])):
        return True
    if sentences and sentences[0][1] <= first:
        opening = text[: sentences[0][1]]
        near = text.count("\n\n", 0, place) < _PARAGRAPHS and count_words(opening) >= _FEWEST
        return near and not any(one.search(opening) for one in (OWN, _ASKS, _EXCLAIMS, _COMMENTS))
    after = [text[begin:end] for begin, end in sentences if begin > first]
    while after and OWN.search(after[0]) and not _ASKS.search(after[0]):
        after.pop(0)
    asked = bool(after) and _ASKS.search(after[-1]) is not None and count_words(after[-1]) <= _MOST
    return asked and not any(OWN.search(one) or _COMMENTS.search(one) for one in after)


def _is_set_off(above: str) -> bool:
    """Tell whether the text above a paragraph ends with a question or a colon, and not to have it remembered."""
    return _ABOVE.search(above) is not None and _KEEPS.search(above.rstrip().rpartition("\n")[2]) is None


def _has_heading(before: str, lead: str) -> bool:
    """Tell whether a line or sentence before a statement ends in a colon, or the words before it are no first person's.

    `before` is its paragraph up to it, `lead` the sentence; what the speaker calls a note of their own is no heading.
    """
    found = next(_HEADING.finditer(before), None)
    if found is not None:
        return found["said"].casefold() not in _OWN_LABELS and _KEEPS.search(found["said"]) is None
    dashed = _DASHED.match(lead)
    return dashed is not None and OWN.search(dashed["said"]) is None

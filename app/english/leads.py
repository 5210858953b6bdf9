"""Doubt about whose words a statement of a turn is: what stands around it may present it as a text.

Form alone tells it. A statement may be presented by a colon or words without a first person before it, a question above
its paragraph, or sentences without a first person after it. Most of these only comment, so this is a reason to ask
again, never one to refuse. Where they stand on both sides of it, and what follows asks about something that was named,
nothing of the turn is its speaker's voice: then it is framed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from app.english.presented import OWN, Span
from app.english.verbs import form_of
from app.english.word_lists import pattern, words
from app.lexical.bm25 import text_language
from app.lexical.tokens import count_words, sentence_spans

_LOOKED_AT: Final = 4_000
"""Characters of a turn that are looked at; what stands beyond them is not doubted."""

_FEWEST: Final = 2
"""Words that can present something."""

_PARAGRAPHS: Final = 2
"""Paragraphs of a turn that its first sentence may present."""

_MOST: Final = 7
"""Words of a question about what stands before it, where that is no first person's."""

_HEADING: Final = re.compile(r"(?P<said>\S[^:\uff1a\n]{1,160}?) ?[:\uff1a]\s")
_DASHED: Final = re.compile(r"(?P<said>\S.{1,100}?) (?:--?|[\u2013\u2014]|->)\s*\Z", re.DOTALL)
_ABOVE: Final = re.compile("[?\uff1f:\uff1a]\\s*\\Z")
"""The end of a paragraph that asks, or leads to the next."""

_FIELD: Final = re.compile(r"\w ?[=|][\"' ]*\Z")
"""What separates the name of a field from its value."""

_JOINED: Final = re.compile(r"[,;:)\]\uff0c\u3001]\s*\Z")
_I: Final = re.compile(r"\bi\b")
_ASKS: Final = re.compile("[?\uff1f]\\W*\\Z")
_EXCLAIMS: Final = re.compile("[!\uff01]\\W*\\Z")
_COMMENTS: Final = pattern("presented", "comments", re.IGNORECASE)
_KEEPS: Final = pattern("presented", "keeps", re.IGNORECASE)
_OWN_VERB: Final = pattern("presented", "self in a verb", re.IGNORECASE)
_SEEKS: Final = pattern("presented", "seeks", re.IGNORECASE)
_NAMED: Final = pattern("presented", "named before", re.IGNORECASE)
_SEEKS_UNNAMED: Final = pattern("presented", "seeks unless named", re.IGNORECASE)
_OWN_LABELS: Final = words("quotations", "own labels")
_FINITE: Final = frozenset({"s", "past"})

_LEAVES_OUT: Final = frozenset({"spanish", "portuguese", "italian", "romanian", "russian"})
"""Languages, as Snowball names them, whose verbs need no pronoun."""


def may_be_presented(text: str, span: Span, first: int) -> bool:
    """Tell whether what a turn says in a span may be a text that it presents; `first` is where it first says any."""
    place, text = span[0], _looked_at(text)
    sentences = sentence_spans(text)
    if place >= len(text) or not sentences:
        return False
    at = _sentence_at(sentences, place)
    paragraph = text.rfind("\n\n", 0, place) + 1
    lead = text[sentences[at][0] : place]
    if _is_set_off(text[:paragraph]) or _has_heading(text[paragraph:place], lead) or _leads(lead, text[place:]):
        return True
    if sentences[0][1] <= first:
        opening = text[: sentences[0][1]]
        near = text.count("\n\n", 0, place) < _PARAGRAPHS and count_words(opening) >= _FEWEST
        if near and not _speaks(opening) and not _ASKS.search(opening):
            return True
    after = [text[begin:end] for begin, end in sentences if begin > first]
    while after and OWN.search(after[0]) and not _ASKS.search(after[0]):
        after.pop(0)
    if not after or any(map(_speaks, after)):
        return False
    of_speaker = OWN.search(text, *span) is not None
    return of_speaker or (_ASKS.search(after[-1]) is not None and count_words(after[-1]) <= _MOST)


def own_sentences(text: str) -> list[str]:
    """Return the sentences of a text that have a first person; in other languages than English all."""
    english = text_language(text) == "english"
    told = (text[begin:end] for begin, end in sentence_spans(text))
    return [one for one in told if not english or OWN.search(one)]


def is_framed(text: str, span: Span) -> bool:
    """Tell whether nothing around a statement is its speaker's, and what follows asks about what was named."""
    text = _looked_at(text)
    sentences = sentence_spans(text)
    if span[1] > len(text) or not sentences:
        return False
    at = _sentence_at(sentences, span[0])
    lead = text[sentences[at][0] : span[0]]
    if _FIELD.search(lead):
        return not _speaks(lead)
    before, after = _beside([text[begin:end] for begin, end in sentences], at, _sentence_at(sentences, span[1] - 1))
    if not after or any(map(_speaks, (*before, *after))):
        return False
    if text_language(text) in _LEAVES_OUT and any(_OWN_VERB.search(one) for one in (*before, *after[:-1])):
        return False
    opened = bool(before) and count_words(before[0]) >= _FEWEST
    led = OWN.search(lead) is None and (_has_heading(lead, lead) or _leads(lead, text[span[0] :]))
    return (opened or led) and _asks_about_named(after[-1])


def _beside(told: Sequence[str], first: int, last: int) -> tuple[Sequence[str], Sequence[str]]:
    """Return the sentences before and after a statement and those that go on in its first person."""
    while first > 0 and _states(told[first - 1]):
        first -= 1
    while last + 1 < len(told) and _states(told[last + 1]):
        last += 1
    return told[:first], told[last + 1 :]


def _looked_at(text: str) -> str:
    """Return the part of a text that is looked at, without the articles and conjunctions `i` of other languages."""
    part = text[:_LOOKED_AT]
    return part if text_language(part) == "english" else _I.sub("-", part)


def _sentence_at(sentences: Sequence[Span], place: int) -> int:
    return max((number for number, (begin, _) in enumerate(sentences) if begin <= place), default=0)


def _states(sentence: str) -> bool:
    """Tell whether a sentence goes on in the first person of the statement beside it: it neither asks nor addresses."""
    return OWN.search(sentence) is not None and not (_ASKS.search(sentence) or _COMMENTS.search(sentence))


def _speaks(sentence: str) -> bool:
    """Tell whether a sentence beside a statement is its speaker's: in the first person, to the reader, or a cry."""
    return any(one.search(sentence) for one in (OWN, _EXCLAIMS, _COMMENTS, _KEEPS))


def _asks_about_named(sentence: str) -> bool:
    """Tell whether a question is about a thing that was named, and neither for another nor about all that was said."""
    if not _ASKS.search(sentence) or _SEEKS.search(sentence):
        return False
    return _NAMED.search(sentence) is not None or _SEEKS_UNNAMED.search(sentence) is None


def _leads(lead: str, statement: str) -> bool:
    """Tell whether a sentence says before a first person who or what says it: `the sign reads I ...`.

    By a verb right before it: `last week I ...` has none.
    """
    begins = OWN.match(statement) is not None and not _JOINED.search(lead)
    said = lead.split()[-1:]
    verb = form_of(said[0].strip("\"'").lower()) if said else None
    told = verb is not None and not verb.kinds.isdisjoint(_FINITE)
    return begins and told and count_words(lead) >= _FEWEST and OWN.search(lead) is None


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

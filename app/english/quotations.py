"""Recognition of parts of a turn that are not its speaker's words: pasted chats and mail, quotations, code, samples.

Such parts may be true of somebody else, but not of the speaker: `Tom: I live in Paris`, `Translate: I like tea`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, pairwise
from typing import Final

from app.english.names import is_given
from app.english.presented import Span, presented_spans, shown
from app.english.word_lists import pattern, words

_FENCED: Final = re.compile(r"```.{0,20000}?(?:```|\Z)|`[^`\n]{0,300}`", re.DOTALL)
_QUOTED_LINES: Final = re.compile(r"^[ \t]{0,3}>.*(?:\n[ \t]{0,3}>.*)*", re.MULTILINE)
_MAIL: Final = pattern("quotations", "mail", re.IGNORECASE | re.MULTILINE)
"""Headers of a forwarded mail, after which all text is its author's."""

_LETTER: Final = pattern("quotations", "letter", re.IGNORECASE | re.MULTILINE)
"""Salutations of a letter to somebody else, after which all text is its author's."""

_SIGNED: Final = pattern("quotations", "signed", re.IGNORECASE | re.MULTILINE)
"""Closings of a letter, before which all text is its author's if something follows after an empty line."""

_EMPTY_LINE: Final = re.compile(r"\n[ \t]*\n")

_PASSED_ON: Final = pattern("quotations", "passed on", re.IGNORECASE)
"""Introductions of somebody else's words, which take up the rest of the paragraph."""

_PEOPLE: Final = "|".join(sorted({word for kind in ("women", "men", "others") for word in words("people", kind)}))
_SPEAKS: Final = re.compile(
    rf"(?:^|[.!?\n][ \t]*)(?:(?:my|our|his|her|their|the|an?|some|one) (?:[\w-]+ )?)(?:{_PEOPLE})\b"
    r"(?![^.!?:\n]{0,60}\b(?:i|we|is|are|was|were)\b)[^.!?:\n]{0,60}:(?=\s+(?-i:I|My|We|Our)\b)",
    re.IGNORECASE,
)
"""A person before a colon, and the first person after it: `the waiter at the door: I am ...`."""

_LABEL: Final = pattern("quotations", "label", re.MULTILINE)
_OWN_LABELS: Final = words("quotations", "own labels")
"""Labels of the speaker's own words."""

_PARTS: Final = words("quotations", "parts of a conversation")
"""Labels of the parts in a conversation of others."""

_SAMPLE: Final = pattern("quotations", "shown", re.IGNORECASE | re.MULTILINE)
_ABOVE: Final = pattern("quotations", "above", re.IGNORECASE)
"""Requests to work on the text before them."""

_DASH: Final = re.compile("\n|(?:^|[ \t])(?:-{1,3}|[\u2013\u2014])(?=[ \t])")

_SPOKEN_OF: Final = pattern("quotations", "spoken of", re.IGNORECASE)
_APOSTROPHES: Final = str.maketrans({"\u2018": "'", "\u2019": "'", "\u00a0": " "})


def quoted_spans(content: str, speaker: str | None) -> tuple[Span, ...]:
    """Return start and end of the parts of a turn that are somebody else's words; `speaker` is the speaker's name."""
    text = content.translate(_APOSTROPHES)
    spoken = (found.span() for pattern in (_FENCED, _QUOTED_LINES, _SPOKEN_OF) for found in pattern.finditer(text))
    mail = ((found.start(), len(text)) for kind in (_MAIL, _LETTER) for found in kind.finditer(text))
    above = ((0, _break_before(text, found.start())) for found in _ABOVE.finditer(text))
    signed = ((0, found.end()) for found in _SIGNED.finditer(text) if _EMPTY_LINE.search(text.rstrip(), found.end()))
    introduced = (shown(text, found.end()) for kind in (_PASSED_ON, _SPEAKS, _SAMPLE) for found in kind.finditer(text))
    return tuple(
        sorted(chain(spoken, mail, above, signed, introduced, presented_spans(text), _transcribed(text, speaker)))
    )


def is_quoted(place: int, spans: tuple[Span, ...]) -> bool:
    """Return whether a position of the turn is in somebody else's words."""
    return any(start <= place < end for start, end in spans)


def _transcribed(text: str, speaker: str | None) -> Iterator[Span]:
    """Yield the words of others in a pasted chat: from each label to the next, or to the end of the paragraph."""
    labels = [found for found in _LABEL.finditer(text) if found["name"].lower() not in _OWN_LABELS]
    chat = len({one["name"] for one in labels}) > 1
    sure = [one for one in labels if _names_somebody(one) or (chat and one["name"].lower() in _PARTS)]
    if not sure:
        return
    every = {found.start() for found in _LABEL.finditer(text)}
    ends = [*sorted(every), len(text)]
    following = dict(pairwise(ends))
    for one in labels if chat else sure:
        if _is_speaker(one["name"], speaker):
            continue
        paragraph = text.find("\n\n", one.end())
        end = following[one.start()]
        yield one.start(), end if paragraph < 0 else min(end, paragraph)


def _names_somebody(label: re.Match[str]) -> bool:
    stamped = label["stamp"] is not None or label["after"] is not None
    return stamped or is_given(label["name"].split()[0])


def _is_speaker(name: str, speaker: str | None) -> bool:
    """Return whether a label is the speaker's name, or the beginning of it."""
    said, own = name.casefold().split(), (speaker or "").casefold().split()
    return bool(own) and (said == own or said == own[: len(said)] or own == said[: len(own)])


def _break_before(text: str, place: int) -> int:
    """Return the end of the last line or dash before a place, 0 without one."""
    return max((found.end() for found in _DASH.finditer(text, 0, place)), default=0)

"""Recognition of text that a turn presents rather than says: in quotation marks, as data, or to be worked on.

What tells it is the form of the lines and what the turn asks to be done with a text, in a dozen languages.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import groupby
from typing import Final

from app.english.word_lists import pattern
from app.lexical.tokens import SPACELESS, SPACELESS_LETTER

Span = tuple[int, int]

MARKS: Final = frozenset("\"'\u201c\u201e\u201f\u00ab\u00bb\u2039\u203a\u300c\u300e\u201a")
"""Marks that open a quotation."""

_QUOTATION: Final = re.compile(
    r'(?<!\w)"(?=\S)[^"\n]{6,1500}(?:"|$)|[\u201c\u201e\u201f][^\u201c\u201d\n]{6,1500}[\u201c\u201d]|\u00ab[^\u00bb\n]{6,1500}\u00bb|\u00bb[^\u00ab\n]{6,1500}\u00ab|'
    r"\u300c[^\u300d]{4,1500}\u300d|\u300e[^\u300f]{4,1500}\u300f|(?<!\w)'(?=\w)(?:[^'\n]|(?<=\w)'(?=\w)){10,1500}'(?!\w)",
    re.MULTILINE,
)
_WORDS: Final = re.compile(rf"[{SPACELESS}]|[^\W\d_{SPACELESS}]+")
_SHORTEST_SPEECH: Final = 3
"""Words in quotation marks that say something, rather than name it."""

_SAID_MYSELF: Final = pattern("presented", "said myself", re.IGNORECASE)
_BEFORE: Final = 80
"""Characters before a quotation in which its speaker is named."""

_DATA: Final = pattern("presented", "data", re.DOTALL | re.IGNORECASE | re.MULTILINE)
"""Elements, objects, comments, log lines, subtitles, indented blocks, sections of settings and of documents."""

_EMBEDDED: Final = pattern("presented", "embedded", re.IGNORECASE)
_BLANK: Final = pattern("presented", "blank")
_RIDDLE: Final = pattern("presented", "riddle", re.IGNORECASE)

OWN: Final = pattern("presented", "self", re.IGNORECASE)
"""Words of a first person."""

_SETTING: Final = re.compile(r"^[ \t]*(?:- )?[\w.-]{1,40}:(?:[ \t]|$)|^[ \t]*[\w.]{1,40} ?=(?!=)")
_COLUMNS: Final = re.compile(r"[,;](?=\S|$)|[\t|]")
_INDENTED: Final = re.compile(r"^(?: {2,}|\t)\S|^[\w.]{1,40}=(?!=)")
_FEWEST_ROWS: Final = {0: math.inf, 1: 3}
"""Lines that make a table, by their separators; two where there are more."""

_KEEPS: Final = pattern("presented", "keeps", re.IGNORECASE)
_WORKS_ON: Final = pattern("presented", "works on", re.IGNORECASE)
_POINTS: Final = pattern("presented", "points", re.IGNORECASE)
_TEXT: Final = pattern("presented", "text", re.IGNORECASE)
_KIND_OF_TEXT: Final = pattern("presented", "kind of text", re.IGNORECASE)
_ELIDED: Final = pattern("presented", "elided", re.IGNORECASE)
_ORDERS: Final = pattern("presented", "orders", re.IGNORECASE)
_DOUBTS: Final = pattern("presented", "doubts", re.IGNORECASE)
_SENT: Final = pattern("presented", "sent", re.IGNORECASE)
_GREETS: Final = pattern("presented", "greets", re.IGNORECASE)
_ASKS: Final = pattern("presented", "asks", re.IGNORECASE)
_NUMBERED: Final = pattern("presented", "numbered", re.IGNORECASE)
_EXAMPLE: Final = pattern("presented", "example of", re.IGNORECASE)
_VERSE: Final = re.compile(r"\s*(?:[^\W\d_a-z][^\n.!?]{12,70}[,;.!]\n){2,}[^\W\d_a-z][^\n]{12,70}\s*\Z")
_MADE_UP: Final = pattern("presented", "made up", re.IGNORECASE)

_LEAD: Final = re.compile(
    r"[^\s.!?:\uff1a\u3002][^.!?:\uff1a\uff1f\n\u3002]{2,200}(?P<end>(?: ?[.!?:\uff1a\uff1f\u3002])*)(?P<after>\s*)"
)
"""A sentence, with what sets off what follows it."""

_LATIN: Final = re.compile("[A-Za-z]")
_THEIRS: Final = re.compile(r"\b(?:my|our) (?:[\w-]+ )?[\w-]+['\u2019]s(?= )", re.IGNORECASE)
"""Whose text it is: `my friend's message`."""

_ORDERED: Final = re.compile("[.!?:\uff1a\u3002]\\s*|\n| (?:--?|[\u2013\u2014]|->) ")
"""What ends an order before the text that it is about."""

_ANY: Final = frozenset({"a", "an"})
_HEADING: Final = re.compile(r"\w[\w-]{0,20}(?: [\w-]{1,20})? ?: ")


def presented_spans(text: str) -> Iterator[Span]:
    """Yield start and end of the parts of a turn that it presents."""
    for found in _QUOTATION.finditer(text):
        before = text[max(0, found.start() - _BEFORE) : found.start()].rpartition("\n")[2]
        if sum(1 for _ in _WORDS.finditer(found[0])) >= _SHORTEST_SPEECH and not _SAID_MYSELF.search(before):
            yield found.span()
    for found in _DATA.finditer(text):
        heading = found[0].partition("\n")[0] if found[0].startswith("#") else ""
        before = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
        if not (OWN.search(before) or _KEEPS.search(before + heading)):
            yield found.span()
    yield from (found.span() for found in _EMBEDDED.finditer(text))
    yield from (_line_at(text, found.start()) for kind in (_BLANK, _RIDDLE) for found in kind.finditer(text))
    yield from _tables(text)
    if not _GREETS.match(f"\n{text.lstrip()}"):
        yield from ((found.start(), len(text)) for found in _GREETS.finditer(text) if _begins_letter(text, found))
    yield from (shown(text, found.end()) for found in _NUMBERED.finditer(text))
    for found in _ELIDED.finditer(text):
        ends = _ORDERED.search(text, found.end())
        said = text[max((one.end() for one in _ORDERED.finditer(text, 0, found.start())), default=0) : found.end()]
        if ends is not None and not (OWN.search(said) or _KEEPS.search(said)):
            yield shown(text, ends.end())
    yield from (shown(text, found.end("end")) for found in _LEAD.finditer(text) if _presents(text, found))


def _begins_letter(text: str, greeting: re.Match[str]) -> bool:
    """Tell whether a greeting is that of another text: it stands in a line of its own, or after the name of a text."""
    before = text[: greeting.start()]
    return greeting[0][0] == "\n" or (OWN.search(before) is None and _KIND_OF_TEXT.search(before) is not None)


def _presents(text: str, lead: re.Match[str]) -> bool:
    """Tell whether a sentence presents what follows it, which mostly a colon or a line break sets off."""
    said, end, rest = lead[0], lead["end"], text[lead.end() : lead.end() + _BEFORE]
    if not rest or _KEEPS.search(said):
        return False
    own = OWN.search(_THEIRS.sub(" ", said)) is not None
    inline = "?" in end or _HEADING.match(rest) is not None
    if _EXAMPLE.search(said) or (inline and not own and _TEXT.search(said)):
        return True
    colon = ":" in end or "\uff1a" in end
    if not (colon or "\n" in lead["after"] or (SPACELESS_LETTER.search(said) and _LATIN.match(rest))):
        return False
    if any(one.search(said) for one in (_WORKS_ON, _DOUBTS, _SENT, _MADE_UP)):
        return True
    return not own and _asks_of_it(text, lead, colon=colon)


def _asks_of_it(text: str, lead: re.Match[str], *, colon: bool) -> bool:
    """Tell whether a request points to what follows it, which may be verse, or has it as its definite object."""
    said, order = lead[0], _ORDERS.match(lead[0])
    if order is None and "?" not in lead["end"] and "\uff1f" not in lead["end"] and not _ASKS.match(said):
        return False
    if _POINTS.search(said) or _TEXT.search(said) or _VERSE.match(text, lead.end()):
        return True
    return colon and order is not None and order["object"].lower() not in _ANY


def _tables(text: str) -> Iterator[Span]:
    """Yield runs of lines with equal numbers of columns, and of settings of which some are indented."""
    lines, start = [], 0
    for line in text.splitlines(keepends=True):
        lines.append((start, line.rstrip("\r\n")))
        start += len(line)
    for columns, group in groupby(lines, key=lambda one: sum(1 for _ in _COLUMNS.finditer(one[1]))):
        rows = list(group)
        if len(rows) >= _FEWEST_ROWS.get(columns, 2):
            yield rows[0][0], rows[-1][0] + len(rows[-1][1])
    for set_, group in groupby(lines, key=lambda one: _SETTING.match(one[1]) is not None):
        rows = list(group)
        if set_ and len(rows) > 1 and any(_INDENTED.match(line) for _, line in rows):
            yield rows[0][0], rows[-1][0] + len(rows[-1][1])


def _line_at(text: str, place: int) -> Span:
    """Return the span of the line of a place."""
    end = text.find("\n", place)
    return text.rfind("\n", 0, place) + 1, len(text) if end < 0 else end


def shown(text: str, start: int) -> Span:
    """Return the span of what follows: a quotation, else the rest of its paragraph, after an empty line all."""
    first = start + len(text[start:]) - len(text[start:].lstrip())
    quotation = _QUOTATION.match(text, first)
    if quotation is not None:
        return quotation.span()
    end = -1 if text.count("\n", start, first) > 1 else text.find("\n\n", first)
    return start, len(text) if end < 0 else end

"""Words a speaker takes back at once: `I live in Berlin, sorry, Bonn`, `at 6:40 - no, 7:40`, `coffee, I mean tea`."""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

from app.providers.rules.names import COMMON, PERSON, kind_of
from app.providers.rules.phrases import BREAKERS, VAGUE
from app.providers.rules.reading import ADVERBS
from app.providers.rules.verbs import form_of
from app.providers.rules.words import word_set

_WEAK: Final = r"sorry|oops|whoops|actually|correction|er+m?|uh+|um+"
_STRONG: Final = (
    r"no(?=\ wait|\ sorry|\s?[,.:;!\u2014\u2013\u2026-])|nope|wait|hang\ on|hold\ on|scratch\ that|strike\ that"
    r"|or\ rather|i\ mean|i\ meant|make\ that"
)
_COUNT: Final = r"two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_NUMBER: Final = rf"(?:[\u00a3$\u20ac]?\d[\d:.,]*(?<![:.,])|\b(?:{_COUNT})\b)(?:\s?(?:%|[a-z]+\b))?"
_NAME: Final = r"(?:(?:Dr|Mrs?|Ms|Prof)\.?\ )?[A-Z][\w'-]+(?:\ (?:[A-Z][\w'-]+|\d\w*)){0,3}"
_MARKED: Final = re.compile(
    rf"""(?<=[\w%"')])(?:\s{{0,3}}[,.;!(\u2014\u2013\u2026-]{{1,3}}\s{{0,3}}
        |\s(?=(?i:i\ mean|i\ meant|no\ wait|wait\ no|scratch\ that|strike\ that|or\ rather)\b))
    (?P<mark>(?:(?i:oh|ah|{_WEAK}|{_STRONG})\b[\s,.:;!\u2014\u2013\u2026-]{{1,4}}){{1,4}})
    (?:(?i:it's|it\ is|that's|that\ should\ be)\s)?(?:(?:in|at|on|to|from|for|with|by)\s)?
    (?:(?P<number>{_NUMBER})|(?:(?P<name>{_NAME})|(?P<word>[a-z][\w-]+(?:\ [a-z][\w-]+)?))
    (?=\s?(?:[,.;:!?)\n\u2014\u2013\u2026]|$)|\s(?:-|and|but|so|because|from|on|in|at|for|instead|then|now)\s))""",
    re.VERBOSE,
)
_SAYS: Final = re.compile(rf"\b(?:{_WEAK}|{_STRONG})", re.IGNORECASE | re.VERBOSE)
_FIRMLY: Final = re.compile(rf"\b(?:{_STRONG})", re.IGNORECASE | re.VERBOSE)
_NUMBERS: Final = re.compile(rf"(?<![\w.:,]){_NUMBER}")
_NAME_LAST: Final = re.compile(rf"(?<![\w'-]){_NAME}$", re.VERBOSE)
_CALLED: Final = re.compile(r"\b(?:name|names|named|called|call)\b", re.IGNORECASE)
_SENTENCE: Final = re.compile(r"(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bMrs)(?<!\bProf)[.!?\n]\s")
_NO_VALUE: Final = (
    ADVERBS | BREAKERS | VAGUE
    | word_set("thanks thank problem problems worries matter joking kidding typo gotta never no yes yeah ok okay "
               "wait sorry oops whoops nope hang hold scratch strike correction actually")
)  # fmt: skip
_ORDINALS: Final = ("st", "nd", "rd", "th")
_MOST: Final = 20
"""Corrections that are read in a turn."""
_REACH: Final = 200
"""Characters before a correction in which what it corrects may stand."""


def corrected(text: str) -> str:
    """Return the text with blanks for what is taken back at once, and for the words that take it back.

    It stays as long as it was. Where it can't be told what a number corrects, the whole statement goes.
    """
    for found in islice(_MARKED.finditer(text), _MOST):
        if _SAYS.search(found["mark"]) is not None:
            text = _amended(text, found)
    return text


def _amended(text: str, found: re.Match[str]) -> str:
    said = _sentence(text[max(0, found.start() - _REACH) : found.start()])
    first = found.start() - len(said)
    if found["number"]:
        return _with_number(text, found, said, first)
    begin = _name_back(said, found) if found["name"] else _words_back(said, found)
    kept = found.start("name" if found["name"] else "word")
    return text if begin is None else _blank(text, first + begin, kept)


def _sentence(before: str) -> str:
    ends = [one.end() for one in _SENTENCE.finditer(before)]
    return before[ends[-1] :] if ends else before


def _blank(text: str, first: int, end: int) -> str:
    return text[:first] + " " * (end - first) + text[end:]


def _with_number(text: str, found: re.Match[str], said: str, first: int) -> str:
    """Return the text with the number in place of the only one before, or of the last when nothing stands between."""
    numbers = list(_NUMBERS.finditer(said))
    if not numbers:
        return text
    old, new = numbers[-1], found["number"]
    if old.end() == len(said):
        return _blank(text, first + old.start(), found.start("number"))
    if len(numbers) > 1 or len(new) > len(old.group()) or new.split()[1:] != old.group().split()[1:]:
        return _blank(text, first, found.end())
    blanked = _blank(text, found.start(), found.end())
    return blanked[: first + old.start()] + new.ljust(len(old.group())) + blanked[first + old.end() :]


def _name_back(said: str, found: re.Match[str]) -> int | None:
    """Return where the name that is corrected begins; None when there is none: `I work at Acme, sorry Bob`."""
    old, new = _NAME_LAST.search(said), found["name"]
    dated = new[-1:].isdigit() or new.endswith(_ORDINALS)
    if old is None:
        return None
    before, after = kind_of(old.group()), kind_of(new)
    if new.split(maxsplit=1)[0].lower() in COMMON and not dated and (after is None or " " not in new):
        return None
    if before is None and after == PERSON:
        return old.start() if _CALLED.search(said) else None
    return old.start() if before is None or after is None or before == after else None


def _words_back(said: str, found: re.Match[str]) -> int | None:
    """Return where as many words as the new ones begin at the end of what was said; None when they are no value."""
    new = found["word"].split()
    old = said.split()[-len(new) :]
    if _FIRMLY.search(found["mark"]) is None or len(old) < len(new):
        return None
    if any(word.lower() in _NO_VALUE or word.endswith("ly") or not word[0].islower() for word in (*new, *old)):
        return None
    form = form_of(new[0])
    return None if form is not None and "past" in form.kinds else said.rindex(old[0])

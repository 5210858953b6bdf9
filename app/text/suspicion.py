"""What in a text should be seen by a person before it is believed: orders to the assistant, and secrets.

The user's own wishes are the product's main use and pass: `remember that I am allergic`, `from now on I prefer short
answers`. What stands out is an order to forget other orders, to grant rights, to serve somebody unseen, or a text
that hides something or speaks as somebody else. The wording is that of English and of five more languages; disguises
are seen in any.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from app.text.codes import codes
from app.text.disguises import decoded, is_order, spelled, unleeted
from app.text.orders import FOREIGN_ORDERS, ORDERS, Rule
from app.text.orders_abroad import ORDERS_ABROAD
from app.text.secrecy import secrets


class Kind(StrEnum):
    """Why a text is doubted."""

    INJECTION = "injection"
    SECRET = "secret"  # noqa: S105 - the name of a kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspicion:
    """Something doubtful: what kind, why in words that don't repeat it, and where: start and end in the text."""

    kind: Kind
    why: str
    span: tuple[int, int]


_UNSEEN: Final = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")
_TAGS: Final = re.compile("(?<!\U0001f3f4)(?<![\U000e0020-\U000e007e])[\U000e0000-\U000e007f]+")
"""Invisible copies of ASCII; behind a black flag they make the flags of England, Scotland and Wales."""

_OVERRIDES: Final = re.compile("[\u202d\u202e]")
_INSIDE_WORD: Final = re.compile("(?<=[a-z])[\u200b\u2060\ufeff]+(?=[a-z])", re.IGNORECASE)

# The capital dotted I is the one letter that grows when it is made small.
_ODD: Final = re.compile(
    "[^\\S\n]{2,}|[^\\S\n ]|"
    "[\u00ad\u0130\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\uff01-\uff5e\U0001d400-\U0001d7ff\U000e0000-\U000e007f]"
)
"""Runs of spaces, and characters that are unseen or look like others."""

_COMMENT: Final = "<!--"
_LONGEST_COMMENT: Final = 600
_ORDERS: Final = re.compile(
    r"\b(?:ignore|disregard|instructions?|assistant|llm|ai|agent|system|remember|must|always|never|prompt|send|"
    r"secret)\b",
    re.IGNORECASE,
)


def suspicions(text: str, *, foreign: bool = False) -> tuple[Suspicion, ...]:
    """Return what is doubtful in a text, in the order in which it stands; `foreign` texts are not the user's own.

    A text of an assistant or a tool (`foreign`) may neither speak for the user nor tell what to answer.
    """
    found = [Suspicion(kind=Kind.SECRET, why=f"it holds {what}", span=(start, end)) for what, start, end in _told(text)]
    found += _hidden(text)
    plain, places = _revealed(text)
    rules = ORDERS + ORDERS_ABROAD + (FOREIGN_ORDERS if foreign else ())
    for start, end, why in _disguised(plain, rules):
        span = (start, end) if places is None else (places[start], places[end - 1] + 1)
        found.append(Suspicion(kind=Kind.INJECTION, why=why, span=span))
    for order, start, end in decoded(text):
        if any(True for rule in rules for _ in rule.finds(order)):
            found.append(Suspicion(kind=Kind.INJECTION, why="it hides an order in an encoding", span=(start, end)))
    return _once(sorted(found, key=lambda one: one.span))


def _once(found: Sequence[Suspicion]) -> tuple[Suspicion, ...]:
    """Return what was found without what only repeats a part of what was found before, for the same reason."""
    kept: dict[str, Suspicion] = {}
    result = []
    for one in found:
        known = kept.get(one.why)
        if known is None or one.span[0] >= known.span[1]:
            kept[one.why] = one
            result.append(one)
    return tuple(result)


def _told(text: str) -> list[tuple[str, int, int]]:
    """Return what each secret is and where it stands, each once."""
    found = list(secrets(text))
    return found + [one for one in codes(text) if not any(start < one[2] and one[1] < end for _, start, end in found)]


def _disguised(plain: str, rules: Sequence[Rule]) -> Iterator[tuple[int, int, str]]:
    """Yield where orders stand in a text, said openly, with digits for letters, or letter by letter, and why."""
    for one in dict.fromkeys((plain, unleeted(plain) or plain)):
        for rule in rules:
            yield from ((start, end, rule.why) for start, end in rule.finds(one))
    for together, start, end in spelled(plain):
        if is_order(together):
            yield start, end, "it spells out an order letter by letter"


def _hidden(text: str) -> list[Suspicion]:
    """Return what a reader of the text would not see."""
    unseen = [] if text.isascii() else [*_TAGS.finditer(text), *_OVERRIDES.finditer(text), *_INSIDE_WORD.finditer(text)]
    found = [Suspicion(kind=Kind.INJECTION, why="it hides characters", span=one.span()) for one in unseen]
    start = text.find(_COMMENT)
    while start >= 0:
        end = text.find("-->", start, start + _LONGEST_COMMENT)
        end = min(len(text), start + _LONGEST_COMMENT) if end < 0 else end + 3
        if _ORDERS.search(text, start, end):
            found.append(Suspicion(kind=Kind.INJECTION, why="it hides an order in a comment", span=(start, end)))
        start = text.find(_COMMENT, end)
    return found


def _revealed(text: str) -> tuple[str, list[int] | None]:
    """Return the text in lower case and undisguised, and for each character the place it came from if they moved."""
    if not _ODD.search(text):
        return text.lower(), None
    pieces: list[str] = []
    places: list[int] = []
    at = 0
    for odd in _ODD.finditer(text):
        shown = (
            " " if odd[0].isspace() else "" if _UNSEEN.match(odd[0]) else unicodedata.normalize("NFKC", odd[0]).lower()
        )
        pieces += (text[at : odd.start()].lower(), shown)
        places += (*range(at, odd.start()), *(odd.start() for _ in shown))
        at = odd.end()
    return "".join((*pieces, text[at:].lower())), [*places, *range(at, len(text))]

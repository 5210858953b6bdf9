"""Screening of text for a reviewer: injected orders to the assistant, hidden text, and secrets.

The user's own wishes are the product's main use and pass: `remember that I am allergic`, `from now on I prefer short
answers`. Suspicious are orders to forget other orders, to grant rights, or to serve somebody unseen, and text that is
hidden or speaks as somebody else. Orders are known in English and five more languages; disguises in any.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from app.english.disguises import decoded, is_order, undo_leetspeak, undo_look_alikes, undo_spacing
from app.english.screening_rules import FOREIGN_ORDERS, ORDERS, ScreeningRule
from app.english.secrets import find_secrets


class SuspicionKind(StrEnum):
    """The kind of a suspicion."""

    INJECTION = "injection"
    SECRET = "secret"  # noqa: S105 - the name of a kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspicion:
    """A suspicious part of a text: its kind, the reason without the part's words, and its start and end."""

    kind: SuspicionKind
    why: str
    span: tuple[int, int]


_UNSEEN: Final = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")

_TAGS: Final = re.compile("(?<!\U0001f3f4)(?<![\U000e0020-\U000e007e])[\U000e0000-\U000e007f]+")
"""Invisible copies of ASCII; after a black flag they make the flags of England, Scotland and Wales."""

_OVERRIDES: Final = re.compile("[\u202d\u202e]")

_INSIDE_WORD: Final = re.compile("(?<=[a-z])[\u200b\u2060\ufeff]+(?=[a-z])", re.IGNORECASE)

# The capital dotted I is the only letter that becomes longer in lower case.
_ODD: Final = re.compile(
    "[^\\S\n]{2,}|[^\\S\n ]|"
    "[\u00ad\u0130\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\uff01-\uff5e\U0001d400-\U0001d7ff\U000e0000-\U000e007f]"
)
"""Runs of spaces, and characters that are invisible or look like others."""

_COMMENT: Final = "<!--"

_LONGEST_COMMENT: Final = 600

_ORDERS: Final = re.compile(
    r"\b(?:ignore|disregard|instructions?|assistant|llm|ai|agent|system|remember|must|always|never|prompt|send|"
    r"secret)\b",
    re.IGNORECASE,
)


_AROUND: Final = 500
"""Characters beside words that were spelled letter by letter, in which the rest of an order is looked for."""


def screen(text: str, *, foreign: bool = False) -> tuple[Suspicion, ...]:
    """Return the suspicious parts of a text in order.

    A `foreign` text, by an assistant or a tool, must neither speak for the user nor dictate answers.
    """
    found = [
        Suspicion(kind=SuspicionKind.SECRET, why=f"it holds {what}", span=(start, end))
        for what, start, end in find_secrets(text)
    ]
    found += _hidden(text)
    plain, places = _revealed(text)
    rules = ORDERS + (FOREIGN_ORDERS if foreign else ())
    for start, end, why in _disguised(plain, rules):
        span = (start, end) if places is None else (places[start], places[end - 1] + 1)
        found.append(Suspicion(kind=SuspicionKind.INJECTION, why=why, span=span))
    for order, start, end in decoded(text):
        if any(True for rule in rules for _ in rule.finds(order)):
            found.append(
                Suspicion(kind=SuspicionKind.INJECTION, why="it hides an order in an encoding", span=(start, end))
            )
    return _once(sorted(found, key=lambda one: one.span))


def _once(found: Sequence[Suspicion]) -> tuple[Suspicion, ...]:
    """Return the findings without those that lie within an earlier one for the same reason."""
    kept: dict[str, Suspicion] = {}
    result = []
    for one in found:
        known = kept.get(one.why)
        if known is None or one.span[0] >= known.span[1]:
            kept[one.why] = one
            result.append(one)
    return tuple(result)


def _disguised(plain: str, rules: Sequence[ScreeningRule]) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and reason of orders in a text, plain, with digits for letters, or letter by letter."""
    for one in dict.fromkeys((plain, undo_leetspeak(plain) or plain, undo_look_alikes(plain) or plain)):
        for rule in rules:
            yield from ((start, end, rule.why) for start, end in rule.finds(one))
    for together, start, end in undo_spacing(plain):
        before = plain[max(0, start - _AROUND) : start]
        orders = (found for rule in rules for found in rule.finds(f"{before}{together}{plain[end : end + _AROUND]}"))
        begin, stop = len(before), len(before) + len(together)
        if is_order(together) or any(first < stop and last > begin for first, last in orders):
            yield start, end, "it spells out an order letter by letter"


def _hidden(text: str) -> list[Suspicion]:
    """Return the parts of the text that a reader would not see."""
    unseen = [] if text.isascii() else [*_TAGS.finditer(text), *_OVERRIDES.finditer(text), *_INSIDE_WORD.finditer(text)]
    found = [Suspicion(kind=SuspicionKind.INJECTION, why="it hides characters", span=one.span()) for one in unseen]
    start = text.find(_COMMENT)
    while start >= 0:
        end = text.find("-->", start, start + _LONGEST_COMMENT)
        end = min(len(text), start + _LONGEST_COMMENT) if end < 0 else end + 3
        if _ORDERS.search(text, start, end):
            found.append(
                Suspicion(kind=SuspicionKind.INJECTION, why="it hides an order in a comment", span=(start, end))
            )
        start = text.find(_COMMENT, end)
    return found


def _revealed(text: str) -> tuple[str, list[int] | None]:
    """Return the text in lower case without disguises, and the original position of each character if they moved."""
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

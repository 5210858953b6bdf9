"""Screening of text for a reviewer: injected orders to the assistant, hidden text, and secrets (`secrets.py`).

The user's own wishes are the product's main use and pass: `remember that I am allergic`, `from now on I prefer short
answers`. Suspicious are orders to forget other orders, to grant rights, or to serve somebody unseen, and text that is
hidden or speaks as somebody else. Orders are known in English and five more languages; disguises (digits for letters,
letters apart, Base64, hexadecimal) in any.

The rules are in `data/injection.txt`. Orders match lower-case text with single spaces. A user's own wishes name `my`
instructions, say what `I` am, or ask for a manner (`in German`, `briefly`) rather than for content: `ab jetzt antworte
mir auf Deutsch`.
"""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Final

from app.english.secrets import find_secrets
from app.english.word_lists import ScreeningRules, matches, pattern, screening_rules

ORDERS: Final = screening_rules("injection", "orders")
"""Orders to the assistant, suspicious whoever says them."""

FOREIGN_ORDERS: Final = ORDERS + screening_rules("injection", "foreign orders")
"""Those, and orders that only the user may give: a tool or an assistant neither is the user nor decides what to say."""


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


_UNSEEN: Final = re.compile("[\u00ad\u0300-\u036f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")

_TAGS: Final = re.compile("(?<!\U0001f3f4)(?<![\U000e0020-\U000e007e])[\U000e0000-\U000e007f]+")
"""Invisible copies of ASCII; after a black flag they make the flags of England, Scotland and Wales."""

_OVERRIDES: Final = re.compile("[\u202d\u202e]")

_INSIDE_WORD: Final = re.compile("(?<=[a-z])[\u200b\u2060\ufeff]+(?=[a-z])", re.IGNORECASE)

# The capital dotted I is the only letter that becomes longer in lower case.
_ODD: Final = re.compile(
    "[^\\S\n]{2,}|[^\\S\n ]|"
    "[\u00ad\u0130\u0300-\u036f\u200b-\u200f\u202a-\u202e\u2060-\u2069\u2460-\u24ff\ufeff\uff01-\uff5e\U0001d400-\U0001d7ff"
    "\U0001f130-\U0001f149\U000e0000-\U000e007f]"
)
"""Runs of spaces, and characters that are invisible or look like others."""

_ENCLOSED: Final = re.compile("[\u2460-\u24ff\U0001f130-\U0001f149]")
"""Letters and digits in circles, brackets and squares: letters of a word in disguise, or signs before one."""

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
    rules = FOREIGN_ORDERS if foreign else ORDERS
    for read in dict.fromkeys((text, _ENCLOSED.sub(" ", text))):
        plain, places = _revealed(read)
        for start, end, why in _disguised(plain, rules):
            span = (start, end) if places is None else (places[start], places[end - 1] + 1)
            found.append(Suspicion(kind=SuspicionKind.INJECTION, why=why, span=span))
    for order, start, end in decoded(text):
        if any(matches(rules, order, order)):
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


def _disguised(plain: str, rules: ScreeningRules) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and reason of orders in a text, plain, with digits for letters, or letter by letter."""
    for one in dict.fromkeys((plain, undo_leetspeak(plain) or plain, undo_look_alikes(plain) or plain)):
        yield from ((*found.span(), rule.why) for rule, found in matches(rules, one, one))
    for together, start, end in undo_spacing(plain):
        before = plain[max(0, start - _AROUND) : start]
        around = f"{before}{together}{plain[end : end + _AROUND]}"
        orders = (found.span() for _, found in matches(rules, around, around))
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
        shown = " " if odd[0].isspace() else _UNSEEN.sub("", unicodedata.normalize("NFKC", odd[0]).lower())
        pieces += (text[at : odd.start()].lower(), shown)
        places += (*range(at, odd.start()), *(odd.start() for _ in shown))
        at = odd.end()
    return "".join((*pieces, text[at:].lower())), [*places, *range(at, len(text))]


_MOST_DECODED: Final = 20
"""Most encoded pieces of a text that are decoded."""

_LEET: Final = re.compile(
    r"(?<![\w@$!])(?=[\w@$!]{0,30}[a-z])(?=[\w@$!]{0,30}[0134578@$!][\w@$!]{0,30}[a-z0-9])[\w@$!]{3,31}(?![\w@$])"
)

_LETTERS: Final = str.maketrans("0134578@$!", "oieastbasi")

_CYRILLIC: Final = "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u051b\u051d\u043a"
_GREEK: Final = "\u03b1\u03b5\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u03f2\u03f3"
_SMALL_CAPITALS: Final = (
    "\u1d00\u0299\u1d04\u1d05\u1d07\ua730\u0262\u029c\u026a\u1d0a\u1d0b\u029f\u1d0d\u0274\u1d0f\u1d18\u0280\ua731\u1d1b"
    "\u1d1c\u1d20\u1d21\u028f\u1d22"
)
_LOOK_ALIKES: Final = str.maketrans(
    _CYRILLIC + _GREEK + _SMALL_CAPITALS, "aeopcyxijsdqwk" + "aeiknoptuxcj" + "abcdefghijklmnoprstuvwyz"
)
_MIXED: Final = re.compile(rf"[a-z][{_CYRILLIC}{_GREEK}]|[{_CYRILLIC}{_GREEK}][a-z]|[{_SMALL_CAPITALS}]{{2}}")
_ACCENTED: Final = re.compile("[\u00e0-\u017e\u1e00-\u1eff]")

_APART: Final = re.compile(r"(?<![^\W_])[^\W\d_](?:[ .\-_*/\u00b7]{1,3}[^\W\d_]){4,200}(?![^\W_])")

_BETWEEN: Final = re.compile(r"[ .\-_*/\u00b7]+")

_ENCODED: Final = re.compile(r"(?<![\w+/=-])[A-Za-z0-9+/_-]{20,8000}={0,2}(?![\w+/=])")

_HEXADECIMAL: Final = re.compile(r"(?<!\w)(?:[0-9a-fA-F]{2}[ :]?){12,4000}(?!\w)")

_TOGETHER: Final = pattern("injection", "together")
"""Orders without the spaces between their words."""


def undo_leetspeak(text: str) -> str | None:
    """Return a lower-case text with letters for the digits in its words, of equal length; None where none change."""
    if not _LEET.search(text):
        return None
    return _LEET.sub(lambda found: found[0].translate(_LETTERS), text)


def undo_look_alikes(text: str) -> str | None:
    """Return a text with plain Latin letters for those that look alike, of equal length; None in other texts.

    One alphabet within a word disguises nothing: Russian and Greek stay as they are. Accents go wherever they are.
    """
    shown = text.translate(_LOOK_ALIKES) if _MIXED.search(text) else text
    shown = _ACCENTED.sub(lambda found: unicodedata.normalize("NFKD", found[0])[0], shown)
    return None if shown == text else shown


def undo_spacing(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the words that a lower-case text spells letter by letter, joined, each with its start and end."""
    for found in _APART.finditer(text):
        yield _BETWEEN.sub("", found[0]), *found.span()


def is_order(together: str) -> bool:
    """Return whether joined letters, without spaces, give an order to the assistant."""
    return _TOGETHER.search(together) is not None


def decoded(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the texts that are encoded in Base64 or hexadecimal, in lower case, each with its start and end."""
    for found in islice(_ENCODED.finditer(text), _MOST_DECODED):
        plain = _readable(_base64(found[0]))
        if plain is not None:
            yield plain, *found.span()
    for found in islice(_HEXADECIMAL.finditer(text), _MOST_DECODED):
        plain = _readable(bytes.fromhex(re.sub(r"[ :]", "", found[0])))
        if plain is not None:
            yield plain, *found.span()


def _base64(encoded: str) -> bytes:
    standard = encoded.translate(str.maketrans("-_", "+/")).rstrip("=")
    try:
        return base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)
    except (binascii.Error, ValueError):
        return b""


def _readable(plain: bytes) -> str | None:
    """Return bytes as lower-case text if they are words rather than a picture or a hash, else None."""
    try:
        text = plain.decode()
    except UnicodeDecodeError:
        return None
    return text.lower() if " " in text and all(one.isprintable() or one.isspace() for one in text) else None

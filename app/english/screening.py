"""Doubtful parts of a text, which a person should see before it is believed: orders to the assistant, and secrets.

The user's own wishes are the product's main use and pass: `remember that I am allergic`, `from now on I prefer short
answers`. What stands out is an order to forget other orders, to grant rights, to serve somebody unseen, or a text
that hides something or speaks as somebody else. The wording (`data/injection.txt`) is that of English and of five more
languages; disguises are seen in any: digits for letters, letters apart, Base64 and hexadecimal, unseen characters.
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

from app.english.patterns import expanded
from app.english.secrets import codes, find_secrets
from app.english.word_lists import lines

MOST: Final = 20
"""Encoded pieces of a text that are looked into."""

_LEET: Final = re.compile(
    r"(?<![\w@$!])(?=[\w@$!]{0,30}[a-z])(?=[\w@$!]{0,30}[0134578@$!][\w@$!]{0,30}[a-z0-9])[\w@$!]{4,31}(?![\w@$])"
)
_LETTERS: Final = str.maketrans("0134578@$!", "oieastbasi")
_APART: Final = re.compile(r"(?<![^\W_])[^\W\d_](?:[ .\-_*/\u00b7]{1,3}[^\W\d_]){4,200}(?![^\W_])")
_BETWEEN: Final = re.compile(r"[ .\-_*/\u00b7]+")
_ENCODED: Final = re.compile(r"(?<![\w+/=-])[A-Za-z0-9+/_-]{20,8000}={0,2}(?![\w+/=])")
_HEXADECIMAL: Final = re.compile(r"(?<!\w)(?:[0-9a-fA-F]{2}[ :]?){12,4000}(?!\w)")
_TOGETHER: Final = re.compile(
    r"(?:ignore|disregard|forget|override|bypass)(?:all|any|the|your|every|of|previous|prior|above|earlier"
    r"|system|these)+"
    r"(?:instructions?|rules|prompts?|guidelines|restrictions)|systemprompt|youarenow(?:dan|unrestricted|free)"
    r"|alwaysremember"
    r"|alwaysrecommend|donottelltheuser|donttelltheuser|(?:theuserisan?admin)|(?:ignorier|vergiss)\w{0,20}anweisungen"
    r"|(?:ignora|olvida|oublie|ignore|esqueça|dimentica)\w{0,20}(?:instruc|instruct|istruzioni|instru)"
)
"""Orders as they read with the spaces between their letters gone."""


def undo_leetspeak(text: str) -> str | None:
    """Return a lower-case text, as long as it was, with letters for the digits in its words; None where none change."""
    if not _LEET.search(text):
        return None
    return _LEET.sub(lambda found: found[0].translate(_LETTERS), text)


def undo_spacing(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield what a lower-case text spells letter by letter, put together, and where it stands."""
    for found in _APART.finditer(text):
        yield _BETWEEN.sub("", found[0]), *found.span()


def is_order(together: str) -> bool:
    """Return whether letters that were put together, without spaces, give an order to the assistant."""
    return _TOGETHER.search(together) is not None


def decoded(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield texts that stand in a text in Base64 or hexadecimal, in lower case, and where."""
    for found in islice(_ENCODED.finditer(text), MOST):
        plain = _readable(_base64(found[0]))
        if plain is not None:
            yield plain, *found.span()
    for found in islice(_HEXADECIMAL.finditer(text), MOST):
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
    """Return bytes as text in lower case where that is what they are: words, not a picture or a hash."""
    try:
        text = plain.decode()
    except UnicodeDecodeError:
        return None
    return text.lower() if " " in text and all(one.isprintable() or one.isspace() for one in text) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectionRule:
    """A pattern, why what it finds is doubtful, and words one of which it needs: looking for those first is cheap."""

    why: str
    needs: tuple[str, ...]
    pattern: re.Pattern[str]

    def finds(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield start and end of what the pattern finds."""
        if any(word in text for word in self.needs):
            yield from (found.span() for found in self.pattern.finditer(text))


def _rules(title: str) -> tuple[InjectionRule, ...]:
    """Return the rules of a section of `data/injection.txt`: why, words one of which each needs, and its patterns."""
    read: list[tuple[str, str, list[str]]] = []
    for key, value in lines("injection", title):
        if key == "why":
            read.append((value, "", []))
        elif key == "needs":
            read[-1] = (read[-1][0], value, [])
        else:
            read[-1][2].append(expanded("injection", value))
    return tuple(
        InjectionRule(why=why, needs=tuple(needed.split()), pattern=re.compile("|".join(found), re.MULTILINE))
        for why, needed, found in read
    )


ORDERS: Final = _rules("orders")
"""What no text should hold that is only told to the assistant, whoever says it."""

FOREIGN_ORDERS: Final = _rules("foreign orders")
"""What the user may say and nobody else: a text of a tool or an assistant neither is the user nor coaches answers."""
"""What no text should hold that is only told to the assistant, in other languages than English."""


class SuspicionKind(StrEnum):
    """Why a text is doubted."""

    INJECTION = "injection"
    SECRET = "secret"  # noqa: S105 - the name of a kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspicion:
    """Something doubtful: what kind, why in words that don't repeat it, and where: start and end in the text."""

    kind: SuspicionKind
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


def screen(text: str, *, foreign: bool = False) -> tuple[Suspicion, ...]:
    """Return what is doubtful in a text, in the order in which it stands; `foreign` texts are not the user's own.

    A text of an assistant or a tool (`foreign`) may neither speak for the user nor tell what to answer.
    """
    found = [
        Suspicion(kind=SuspicionKind.SECRET, why=f"it holds {what}", span=(start, end))
        for what, start, end in _told(text)
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
    found = list(find_secrets(text))
    return found + [one for one in codes(text) if not any(start < one[2] and one[1] < end for _, start, end in found)]


def _disguised(plain: str, rules: Sequence[InjectionRule]) -> Iterator[tuple[int, int, str]]:
    """Yield where orders stand in a text, said openly, with digits for letters, or letter by letter, and why."""
    for one in dict.fromkeys((plain, undo_leetspeak(plain) or plain)):
        for rule in rules:
            yield from ((start, end, rule.why) for start, end in rule.finds(one))
    for together, start, end in undo_spacing(plain):
        if is_order(together):
            yield start, end, "it spells out an order letter by letter"


def _hidden(text: str) -> list[Suspicion]:
    """Return what a reader of the text would not see."""
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

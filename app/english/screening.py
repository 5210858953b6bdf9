"""Screening of text for a reviewer: injected orders to the assistant, hidden text, and secrets.

The user's own wishes are the product's main use and pass: `remember that I am allergic`, `from now on I prefer short
answers`. Suspicious are orders to forget other orders, to grant rights, or to serve somebody unseen, and text that is
hidden or speaks as somebody else. Orders are known in English and five more languages; disguises (digits for letters,
letters apart, Base64, hexadecimal) in any.

The rules are in `data/injection.txt` and `data/secrets.txt`. Orders match lower-case text with single spaces. A user's
own wishes name `my` instructions, say what `I` am, or ask for a manner (`in German`, `briefly`) rather than for
content: `ab jetzt antworte mir auf Deutsch`. Look-alikes of secrets are not reported: a card number needs a right check
digit and an issuer's prefix, an account number its country's length and a right remainder, a social security number its
name beside it; code that names a variable `password` holds none.
"""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Final

from app.english.word_lists import expanded, lines, pattern, words
from app.lexical.bm25 import STOP_WORDS


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreeningRule:
    """A pattern, the reason of a suspicion, and the name of a test that a match must pass besides, empty for none.

    `needs` are groups of parts of words, in lower case: a text must have one of each, in any case. Without any it is
    always searched.
    """

    why: str
    needs: tuple[tuple[str, ...], ...]
    test: str
    pattern: re.Pattern[str]


def matches(rules: Sequence[ScreeningRule], text: str, folded: str) -> Iterator[tuple[ScreeningRule, re.Match[str]]]:
    """Yield the matches of rules, tested or not; `folded` is the text in lower case."""
    has = folded.__contains__
    for rule in rules:
        if all([any(map(has, group)) for group in rule.needs]):  # noqa: C419 - a generator takes as long as the group
            for found in rule.pattern.finditer(text):
                yield rule, found


def screening_rules(name: str, title: str) -> tuple[ScreeningRule, ...]:
    """Return the rules of a section of a file: `why` begins one, `find` and `say` (any case) are its patterns.

    Each line of `needs` is a group.
    """
    read: list[dict[str, str]] = []
    needs: list[list[tuple[str, ...]]] = []
    for key, value in lines(name, title):
        if key == "why":
            read.append({"why": value})
            needs.append([])
        elif key == "needs":
            needs[-1].append(tuple(value.split()))
        elif key in {"find", "say"}:
            found = expanded(name, value)
            found = f"(?i:{found})" if key == "say" else found
            read[-1]["pattern"] = f"{read[-1]['pattern']}|{found}" if "pattern" in read[-1] else found
        else:
            read[-1][key] = value
    return tuple(
        ScreeningRule(
            why=one["why"],
            needs=tuple(groups),
            test=one.get("test", ""),
            pattern=re.compile(one["pattern"], re.MULTILINE),
        )
        for one, groups in zip(read, needs, strict=True)
    )


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


def _disguised(plain: str, rules: Sequence[ScreeningRule]) -> Iterator[tuple[int, int, str]]:
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


SecretSpan = tuple[str, int, int]
"""The kind of a secret, its start and its end."""

_SECRETS: Final = screening_rules("secrets", "secrets")
_CODES: Final = screening_rules("secrets", "codes")
_NO_PASSWORD: Final = words("secrets", "no passwords")
_NO_CODE: Final = words("secrets", "no codes")
_ACCOUNTS: Final = {one[:2]: int(one[2:]) for one in words("secrets", "account numbers")}
_ISSUERS: Final = pattern("secrets", "issuers")
_NUMBER_OF: Final = pattern("secrets", "numbers of", re.IGNORECASE)
_SSN_NAMED: Final = re.compile(r"\b(?:ssn|social(?: security| insurance| number|(?= is\b|:)))", re.IGNORECASE)
_NETWORK: Final = re.compile(r"wi-?fi|wlan|network|router|hotspot|internet", re.IGNORECASE)
_LETTER_I: Final = str.maketrans("\u0130\u0131", "ii")
"""The Turkish letters that are an `i` to a pattern in any case, and not to `casefold`."""

_CODE: Final = re.compile(
    r"[\w.]*[(\[{]|[A-Za-z_]\w*\.[A-Za-z_]|(?:str|string|none|null|true|false|undefined|text|bytes)\W*$", re.IGNORECASE
)
"""A value or a type of a variable in code."""

_QUOTES: Final = "\"'`\u201c\u2018\u201e\u00ab"
_STOPS: Final = frozenset({"", ".", ",", "!", "\n", ")", ";"})
_PLACEHOLDERS: Final = ("<", "{", "$", "*", "%", "[")
_WORD_ENDS: Final = ("ed", "ing", "able")
_PASSWORD_WORD_ENDS: Final = (*_WORD_ENDS, "ible", "ly", "ent", "ten", "ful", "ive")
_PIN_LENGTHS: Final = range(4, 9)
_SHORTEST_CODE: Final = 3
_SHORTEST_PASSWORD: Final = 4
_PHRASE_WORD: Final = 5
"""Letters of a recovery phrase's words on average, with the space: its lists have few words of three."""

_NEAR: Final = 60
"""Characters before a number that may name it."""


def find_secrets(text: str) -> list[SecretSpan]:
    """Return the kind of each secret with its start and end; a code that overlaps another secret is that one."""
    found = list(_found(text, _SECRETS))
    codes = _found(text, _CODES)
    return found + [one for one in codes if not any(start < one[2] and one[1] < end for _, start, end in found)]


def _found(text: str, rules: Sequence[ScreeningRule]) -> Iterator[SecretSpan]:
    folded = text.lower() if text.isascii() else text.translate(_LETTER_I).casefold()
    for rule, found in matches(rules, text, folded):
        passes = _TESTS.get(rule.test)
        if passes is None or passes(found, text):
            what = (found.groupdict().get("what") or "").lower()
            yield rule.why.format(what=what), *found.span("value" if "value" in found.groupdict() else 0)


def _value(found: re.Match[str]) -> str:
    return found["value"].rstrip(".,;!?)")


def _is_mixed(found: re.Match[str], _text: str) -> bool:
    """Return whether a value has letters and digits: words with hyphens have no digits."""
    return any(map(str.isdigit, found["value"])) and any(map(str.isalpha, found["value"]))


def _is_password(found: re.Match[str], text: str) -> bool:
    """Return whether the match has a password: quoted, unlike a word, or a word at the end of the sentence."""
    value = _value(found)
    if found["what"].lower().startswith("pin"):
        return value.isdigit() and len(value) in _PIN_LENGTHS
    if not found["quote"] and _CODE.match(value):
        return False
    if value.lower() in _NO_PASSWORD or len(value) < _SHORTEST_PASSWORD or value.startswith(_PLACEHOLDERS):
        return False
    if found["quote"] or not value.isalpha():
        return any(map(str.isalnum, value)) and "'" not in value
    return _ends(text, found, value) and not value.lower().endswith(_PASSWORD_WORD_ENDS)


def _ends(text: str, found: re.Match[str], value: str) -> bool:
    """Return whether the sentence ends after a value."""
    return text[found.start("value") + len(value) :].lstrip(" ")[:1] in _STOPS


def _is_word(found: re.Match[str], text: str) -> bool:
    """Return whether a value is a secret: unlike a word, quoted, or a word at the end of its sentence."""
    value = _value(found)
    if value.casefold() in _NO_CODE or len(value) < _SHORTEST_CODE:
        return False
    if not value.isalpha() or text[found.start("value") - 1] in _QUOTES:
        return any(map(str.isalnum, value))
    return _ends(text, found, value) and not value.lower().endswith(_WORD_ENDS)


def _is_access_code(found: re.Match[str], text: str) -> bool:
    """Return whether a value is of figures, as codes are, or a network's password."""
    figures = sum(map(str.isdigit, _value(found))) >= _SHORTEST_CODE
    return figures or (_NETWORK.search(found["what"]) is not None and _is_word(found, text))


def _is_foreign_password(found: re.Match[str], text: str) -> bool:
    return not _CODE.match(found["value"]) and _is_word(found, text)


def _is_phrase(found: re.Match[str], _text: str) -> bool:
    """Return whether words make no sentence, and are as long as those of recovery phrases: without articles."""
    parts = found["value"].split()
    return STOP_WORDS["english"].isdisjoint(parts) and len(found["value"]) >= _PHRASE_WORD * len(parts)


def _is_card(found: re.Match[str], text: str) -> bool:
    """Return whether the check digit is right, ISO/IEC 7812-1, and nothing names another number."""
    digits = found[0].replace(" ", "").replace("-", "")
    if not _ISSUERS.fullmatch(digits) or _NUMBER_OF.search(_before(found, text)):
        return False
    doubled = (int(one) * (1 + place % 2) for place, one in enumerate(reversed(digits)))
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0  # noqa: PLR2004 - Luhn


def _is_account(found: re.Match[str], _text: str) -> bool:
    """Return whether the remainder is right, ISO 13616: letters are 10 to 35, the first four go last."""
    plain = found[0].replace(" ", "")
    length = _ACCOUNTS.get(plain[:2])
    if length is None or len(plain) < length:
        return False
    plain = plain[:length]
    return int("".join(str(int(one, 36)) for one in plain[4:] + plain[:4])) % 97 == 1


def _is_social_security(found: re.Match[str], text: str) -> bool:
    return _SSN_NAMED.search(_before(found, text)) is not None


def _before(found: re.Match[str], text: str) -> str:
    return text[max(0, found.start() - _NEAR) : found.start()]


_TESTS: Final[Mapping[str, Callable[[re.Match[str], str], bool]]] = {
    "mixed": _is_mixed,
    "password": _is_password,
    "word": _is_word,
    "code": _is_access_code,
    "foreign password": _is_foreign_password,
    "phrase": _is_phrase,
    "card": _is_card,
    "account": _is_account,
    "social security": _is_social_security,
}


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

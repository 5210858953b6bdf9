"""Secrets by a name near a value: the name of a secret in any of several languages, and a value that looks like one.

A value right after the name, or after `is` or `to`, need only be unlike a word (`rosebud99`); elsewhere in the sentence
it must look made to be hard to guess. Names, joints and words that are no values are in `data/secrets.txt`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Final

from app.english.word_lists import matches, screening_rules, words

SecretSpan = tuple[str, int, int]
"""The kind of a secret, its start and its end."""

_NAMES: Final = screening_rules("secrets", "names")
_JOINTS: Final = words("secrets", "joints")
_PARTS: Final = words("secrets", "name parts")
_COMMON: Final = words("secrets", "common values")

_AFTER: Final = 90
"""Characters after a name in which its value is looked for."""

_LONGEST_NAME: Final = 80
_BEFORE: Final = 110
_MOST_TOKENS: Final = 12
_MOST_NAMES: Final = 200
"""Names in one text whose values are looked for: a text that repeats a name more often has told it long before."""

_TOKEN: Final = re.compile("[!-~\u00c0-\u024f]+")
"""A run of printable ASCII and accented letters; a value in a Chinese or Korean sentence ends where ASCII does."""

_ENDS: Final = re.compile(r"[.!?;]['\")]?\s+(?=[A-Z\u00c0-\u00de])|\n{2}|[\u3002\uff01\uff1f]")
_ASCII_WORD: Final = re.compile("[A-Za-z0-9\u00c0-\u024f]")
_LEAD: Final = "*\"'`([<{:=\u201c\u2018\u201e\u00ab-"
_TRAIL: Final = "*\"'`)]>},;:.?\u201d\u2019\u00bb"
_FOREIGN_GAP: Final = 40
_JOINED_GAP: Final = 60

_WEAK: Final = 5
_STRONG: Final = 8
_FIGURES: Final = 2
_LONG_KEY: Final = 20
_VARIED_KEY: Final = 7
"""Different characters that a key has at least."""

_PIN_NAME: Final = re.compile(r"\bpin$", re.IGNORECASE)
_PIN: Final = re.compile(r"\d{4,8}")
_CODE_FIGURES: Final = 3
_SYMBOLS: Final = frozenset("!#$%&*+=?@^~|")

_LETTER: Final = "a-z\u00c0-\u024f"
_PLAIN: Final = re.compile(
    r"v?\d+(?:[.:,/-]\d+)+(?:[.-][a-z]+[.\d]*)?"  # dates, times, versions
    rf"|\d+[-\u2013]?[A-Z{_LETTER}]{{1,20}}|[A-Z]{{1,6}}-?\d{{1,6}}"  # 16-digit, 3rd, RFC-1234
    r"|[^@\s]+@[\w-]+(?:\.[\w-]+)+|@\w+|\w{1,20}://\S+|(?:[\w-]+\.)+[a-z]{2,}(?:/\S*)?|[~.]{0,2}/\S*"  # addresses
    r"|[\w.]*[(\[].*|\w+\.[A-Za-z_][\w.]*|[$%{<*\[].*"  # code, placeholders
    rf"|(?:[{_LETTER}]+[-'/])+[{_LETTER}]+|&\w+;|[+&]\w+|\w+[*=]"
)
_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_NO_CODE: Final = re.compile(r".*[.@].*|.*[^!-~].*|(?:19|20)\d\d(?:[-/.]\d{1,2}){0,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}")
_SAID_OF: Final = re.compile(
    r"(?<!\S)([!-~\u00c0-\u024f]{5,60}) (?:is|was|as|ist|est|es|era|\u00e8|\u00e9|\u00e4r|er) "
    r"(?:(?!(?:an?|not?|eine?|une?|una|uma?) )\S{1,12} ){0,3}$"
)


def named_values(text: str, folded: str) -> Iterator[SecretSpan]:
    """Yield the values that stand beside a name of a secret; `folded` is the text in lower case."""
    for rule, found in islice(matches(_NAMES, text, folded), _MOST_NAMES):
        span = _value_after(text, found.end(), rule.test)
        if span is None and rule.test == _GUARDED:
            span = _value_before(text, found.start())
        if span is not None:
            yield rule.why, *span


def may_name_secret(text: str) -> bool:
    """Return whether any name of a secret may be in a text, be it within a field's name: `wifiPassword`."""
    return any(_NAMES.possible(text.casefold()))


def names_secret(name: str) -> bool:
    """Return whether a name of a field, or a short text, ends with the name of a secret: `wifi password`."""
    return bool(_kinds_named(name))


def is_value_of(name: str, value: str) -> bool:
    """Return whether a value that belongs to a name of a secret looks like one."""
    return any(_LOOKS[kind](value) for kind in _kinds_named(name))


def _kinds_named(name: str) -> set[str]:
    """Return the kinds of secrets that a name ends with: as a name, `pin` is no pin of a board."""
    if len(name) > _LONGEST_NAME:
        return set()
    written = _PIN_NAME.sub("PIN", name)
    named = matches(_NAMES, written, written.casefold())
    return {rule.test for rule, found in named if found.end() == len(written)}


def _value_after(text: str, end: int, kind: str) -> tuple[int, int] | None:
    """Return the first value in the rest of the sentence."""
    asked = text[end : end + 1] == "?"
    stop = _ENDS.search(text, end + asked, end + _AFTER)
    window = text[end : end + _AFTER if stop is None else stop.start() + 1]
    for place, token in enumerate(islice(_TOKEN.finditer(window), _MOST_TOKENS)):
        start, value = _trimmed(token)
        if place == 0 and value.casefold() in _PARTS:
            return None
        joined = _is_joined(window[: token.start()], window[token.start() : start])
        if _LOOKS[kind](value) if joined else kind == _GUARDED and _is_hard_to_guess(value):
            return end + start, end + start + len(value)
    return None


def _trimmed(token: re.Match[str]) -> tuple[int, str]:
    """Return where a value begins and the value, without the marks around it."""
    left = token[0].lstrip(_LEAD)
    return token.end() - len(left), left.rstrip(_TRAIL)


def _is_joined(gap: str, lead: str) -> bool:
    """Return whether the value follows the name at once or by a joint: `is`, `to`, a colon."""
    if ":" in lead or "=" in lead or not _ASCII_WORD.search(gap):
        return len(gap) <= _FOREIGN_GAP
    last = gap.rsplit(maxsplit=1)[-1]
    return len(gap) <= _JOINED_GAP and (last[-1] in ":=" or last.casefold().strip(",'\u2019") in _JOINTS)


def _value_before(text: str, start: int) -> tuple[int, int] | None:
    """Return the value that is said to be one: `X is my password`."""
    found = _SAID_OF.search(text[max(0, start - _BEFORE) : start])
    if found is None:
        return None
    value = found[1].strip(_LEAD + _TRAIL)
    at = start - len(found[0]) + found[1].find(value)
    enough = sum(map(str.isdigit, value)) >= _FIGURES or not _SYMBOLS.isdisjoint(value)
    return (at, at + len(value)) if enough and is_unlike_a_word(value) else None


def _is_mixed(value: str) -> bool:
    return any(map(str.isalpha, value)) and any(map(str.isdigit, value))


def is_unlike_a_word(value: str) -> bool:
    """Return whether a value has letters with figures or signs among them, and no common form."""
    if len(value) < _WEAK or value.casefold() in _COMMON or _PLAIN.fullmatch(value):
        return False
    return _is_mixed(value) or (any(map(str.isalpha, value)) and not _SYMBOLS.isdisjoint(value[1:-1]))


def _is_hard_to_guess(value: str) -> bool:
    """Return whether a value was made as passwords are: long, with signs in it, and with figures or capitals."""
    varied = any(map(str.isdigit, value)) or not (value.islower() or value.isupper())
    return len(value) >= _STRONG and varied and not _SYMBOLS.isdisjoint(value[1:-1]) and is_unlike_a_word(value)


def _is_pin(value: str) -> bool:
    return _PIN.fullmatch(value) is not None


def _is_code(value: str) -> bool:
    """Return whether a value is of figures, as codes are."""
    figures = sum(map(str.isdigit, value))
    return figures >= _CODE_FIGURES and len(value) > _CODE_FIGURES and not _NO_CODE.fullmatch(value)


def _is_key(value: str) -> bool:
    """Return whether a value is long and varied: no id, number, path or word."""
    if len(value) < _LONG_KEY or _UUID.fullmatch(value) or _PLAIN.fullmatch(value):
        return False
    return _is_mixed(value) and len(set(value)) >= _VARIED_KEY


_GUARDED: Final = "password"
"""The kind of values that are also looked for away from their name."""

_LOOKS: Final[Mapping[str, Callable[[str], bool]]] = {
    _GUARDED: is_unlike_a_word,
    "pin": _is_pin,
    "code": _is_code,
    "key": _is_key,
}

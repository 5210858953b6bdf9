"""Disguised text: digits for letters, letters apart, and text in Base64 or hexadecimal."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from app.english.patterns import pattern

MOST: Final = 20
"""Most encoded pieces of a text that are decoded."""

_LEET: Final = re.compile(
    r"(?<![\w@$!])(?=[\w@$!]{0,30}[a-z])(?=[\w@$!]{0,30}[0134578@$!][\w@$!]{0,30}[a-z0-9])[\w@$!]{3,31}(?![\w@$])"
)

_LETTERS: Final = str.maketrans("0134578@$!", "oieastbasi")

_CYRILLIC: Final = "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u051b\u051d\u043a"
_LOOK_ALIKES: Final = str.maketrans(_CYRILLIC, "aeopcyxijsdqwk")
_MIXED: Final = re.compile(rf"[a-z][{_CYRILLIC}]|[{_CYRILLIC}][a-z]")

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
    """Return a text with Latin letters for the Cyrillic ones that look alike, of equal length; None in other texts.

    One alphabet within a word disguises nothing: Russian stays as it is.
    """
    return text.translate(_LOOK_ALIKES) if _MIXED.search(text) else None


def undo_spacing(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the words that a lower-case text spells letter by letter, joined, each with its start and end."""
    for found in _APART.finditer(text):
        yield _BETWEEN.sub("", found[0]), *found.span()


def is_order(together: str) -> bool:
    """Return whether joined letters, without spaces, give an order to the assistant."""
    return _TOGETHER.search(together) is not None


def decoded(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the texts that are encoded in Base64 or hexadecimal, in lower case, each with its start and end."""
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
    """Return bytes as lower-case text if they are words rather than a picture or a hash, else None."""
    try:
        text = plain.decode()
    except UnicodeDecodeError:
        return None
    return text.lower() if " " in text and all(one.isprintable() or one.isspace() for one in text) else None

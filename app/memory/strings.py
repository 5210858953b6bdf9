"""The strings that payloads and requests are made of: what each must be to be stored, seen and told apart."""

from __future__ import annotations

import unicodedata
from typing import Annotated

from pydantic import AfterValidator, StringConstraints

from app.memory import normalise, vocabulary

MAX_TEXT = 32_000


def storable(text: str) -> str:
    """Return the text, or raise ValueError when Postgres could not store it."""
    if "\x00" in text:
        raise ValueError("must not contain the NUL character (U+0000)")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("must be valid Unicode: it contains an unpaired surrogate") from None
    return text


def is_storable(text: str) -> bool:
    """Return whether Postgres could store the text."""
    try:
        storable(text)
    except ValueError:
        return False
    return True


def visible(text: str) -> str:
    """Return the text, or raise ValueError when nobody could see anything of it."""
    if not can_be_seen(text):
        raise ValueError("must hold something that can be seen")
    return text


def can_be_seen(text: str) -> bool:
    """Return whether the text is more than spaces, controls and characters without a shape."""
    return any(unicodedata.category(character)[0] not in "ZC" for character in text)


def printable(text: str) -> str:
    """Return the name, or raise ValueError when it holds control characters."""
    if any(unicodedata.category(character) == "Cc" for character in text):
        raise ValueError("must not contain control characters")
    return text


Sentence = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_TEXT),
    AfterValidator(storable),
    AfterValidator(visible),
]
"""Free text of 1 to 32,000 characters."""

Name = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=200),
    AfterValidator(storable),
    AfterValidator(printable),
    AfterValidator(normalise.indexable),
]
"""A name, key or id of 1 to 200 characters."""


def addressable(name: str) -> str:
    """Return the id, or raise ValueError for one that can't be part of a path: HTTP clients take it out."""
    if name in {".", ".."}:
        raise ValueError("must not be . or .., which can't be in the path of a request")
    return name


UserId = Annotated[Name, AfterValidator(addressable)]
"""The id of a user, who can be erased by it."""

Person = Annotated[Name, AfterValidator(vocabulary.person)]
"""Whom or what something is about: a name in the form that one person has, whatever they are called by."""

"""Types of fields: bounded strings, names, numbers and flags, and callers' own JSON objects."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from app.memory import normalise, vocabulary

MAX_TEXT = 32_000


def texts_in(value: object) -> Iterator[str]:
    """Yield the texts of a payload or of one of its values, whatever they are nested in."""
    match value:
        case str():
            yield value
        case Mapping():
            for one in value.values():
                yield from texts_in(one)
        case list() | tuple():
            for one in value:
                yield from texts_in(one)


def with_texts(value: object, change: Callable[[str], str | None]) -> object:
    """Return JSON values with every text in them changed, whatever it is nested in."""
    match value:
        case str():
            return change(value)
        case Mapping():
            return {key: with_texts(one, change) for key, one in value.items()}
        case list():
            return [with_texts(one, change) for one in value]
        case _:
            return value


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
    """Return the text, or raise ValueError when it has no visible character."""
    if not can_be_seen(text):
        raise ValueError("must hold something that can be seen")
    return text


def can_be_seen(text: str) -> bool:
    """Return whether the text is more than spaces, controls and characters without a shape."""
    # Most texts are printable, which Python knows at once: of those only the space has no shape.
    return bool(text.strip(" ")) if text.isprintable() else any(map(_has_shape, text))


def _has_shape(character: str) -> bool:
    return unicodedata.category(character)[0] not in "ZC"


def printable(text: str) -> str:
    """Return the name, or raise ValueError when it holds control characters."""
    if not text.isprintable() and any(unicodedata.category(character) == "Cc" for character in text):
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
    AfterValidator(visible),
    AfterValidator(printable),
    AfterValidator(normalise.indexable),
]
"""A name, key or id of 1 to 200 characters."""


def addressable(name: str) -> str:
    """Return the id, or raise ValueError for one that HTTP clients remove from a path."""
    if name in {".", ".."}:
        raise ValueError("must not be . or .., which can't be in the path of a request")
    return name


UserId = Annotated[Name, AfterValidator(addressable)]
"""The id of a user, which must be usable in a path."""

Person = Annotated[Name, AfterValidator(vocabulary.person)]
"""The name of a subject; all forms of the first person become one name."""


def _number(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("must be a number, not true or false")  # noqa: TRY004 - what pydantic tells the caller
    if isinstance(value, str):
        raise ValueError("must be a number, not text")  # noqa: TRY004 - what pydantic tells the caller
    return value


A_NUMBER = BeforeValidator(_number)
"""Refuses `true` and `false`, which pydantic would read as 1 and 0, and numbers in quotes."""

Flag = Annotated[bool, Field(strict=True)]
"""A JSON boolean, and no other spelling of one."""

Place = Annotated[int, Field(ge=0, le=2**31 - 1), A_NUMBER]
"""A position in a sequence. The bounds come before the check: after it they would not be in the JSON Schema."""

Topic = Annotated[Name, AfterValidator(normalise.composed)]
"""A topic. It is normalised to NFC, so that one word is one topic however its accents are encoded."""

METADATA_BYTES = 16_384

METADATA_DEPTH = 8


def check_metadata(value: dict[str, object]) -> dict[str, object]:
    """Return the object, or raise ValueError when it is too large, too deep, or can't be stored."""
    if _depth(value, METADATA_DEPTH + 1) > METADATA_DEPTH:
        raise ValueError(f"must not be nested more than {METADATA_DEPTH} deep")
    try:
        size = len(json.dumps(value, ensure_ascii=False, allow_nan=False).encode())
    except UnicodeEncodeError:
        raise ValueError("must be valid Unicode: it contains an unpaired surrogate") from None
    if size > METADATA_BYTES:
        raise ValueError(f"must not be larger than {METADATA_BYTES} bytes, and is {size}")
    _check_text(value)
    return value


def _depth(value: object, limit: int) -> int:
    if limit == 0 or not isinstance(value, dict | list):
        return 0
    inner = value.values() if isinstance(value, dict) else value
    return 1 + max((_depth(one, limit - 1) for one in inner), default=0)


def _check_text(value: object) -> None:
    match value:
        case str():
            storable(value)
        case dict():
            for name, inner in value.items():
                storable(name)
                _check_text(inner)
        case list():
            for inner in value:
                _check_text(inner)

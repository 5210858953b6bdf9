"""Kinds of values that only some fields are of."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from app.memory import normalise
from app.memory.strings import Name


def _number(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("must be a number, not true or false")  # noqa: TRY004 - what pydantic tells the caller
    return value


A_NUMBER = BeforeValidator(_number)
"""Refuses `true` and `false`, which would be read as 1 and 0."""

Place = Annotated[int, Field(ge=0, le=2**31 - 1), A_NUMBER]
"""A place in a sequence. The bounds stand before the check: after it they would not be in the JSON Schema."""

Topic = Annotated[Name, AfterValidator(normalise.composed)]
"""What a memory is filed under. A letter with an accent is one character, however it was written, so that one word is
one topic."""

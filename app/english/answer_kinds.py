"""Kinds of answers that English questions ask for: a text without a number tells no dose."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from enum import Enum, auto
from typing import Final

from app.english.dates import find_spans
from app.english.word_lists import GIVEN_NAMES, NUMBERS, pattern

_ASKS_NUMBER: Final = pattern("question_cues", "asks for number", re.IGNORECASE)
_ASKS_NAME: Final = pattern("question_cues", "asks for name", re.IGNORECASE)
_NUMBER: Final = re.compile(
    rf"\d|\b(?:{'|'.join(NUMBERS)}|first|second|third|(?:four|fif|six|seven|eigh|nin|ten|eleven|twelf|\w+ie)th|\w+days?)\b",
    re.IGNORECASE,
)
_NAME: Final = re.compile(r"(?<=[\w,;:] )[A-Z]\w")
_FIRST_WORD: Final = re.compile(r"\W*(\w+)")
_ANY_DAY: Final = datetime(2026, 1, 1, tzinfo=UTC)


class AnswerKind(Enum):
    """A kind of answer: a number, of a day too, or a name."""

    NUMBER = auto()
    NAME = auto()

    def is_in(self, text: str) -> bool:
        """Tell whether a text has one."""
        if self is AnswerKind.NUMBER:
            return _NUMBER.search(text) is not None or bool(find_spans(text, now=_ANY_DAY))
        return _has_name(text)


def kind_asked(question: str) -> AnswerKind | None:
    """Return the kind of answer that a question asks for; None where it asks for no number and no name."""
    if _ASKS_NUMBER.search(question):
        return AnswerKind.NUMBER
    return AnswerKind.NAME if _ASKS_NAME.search(question) else None


def _has_name(text: str) -> bool:
    first = _FIRST_WORD.match(text)
    return _NAME.search(text) is not None or (first is not None and first[1].casefold() in GIVEN_NAMES)

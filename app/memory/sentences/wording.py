"""Words that sentences about events share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Detail = Mapping[str, Any]
Sentence = Callable[[Detail], str]

_LOOKED_AT = ("freshness", "confidence")


def because(detail: Detail) -> str:
    """Return why it happened, after a colon; nothing where no reason is on record."""
    reason = detail.get("reason")
    return f": {reason}" if reason else ""


def pair(detail: Detail, name: str) -> tuple[Any, Any]:
    """Return what was before and is after; one value stands for both."""
    value = detail.get(name)
    if isinstance(value, list | tuple):
        return value[0], value[1]
    return value, value


def shown(value: object) -> str:
    """Return a value as a reader wants it."""
    match value:
        case None:
            return "nothing"
        case float():
            return f"{value:.2f}"
        case list() | tuple():
            return ", ".join(str(one) for one in value) or "nothing"
        case _:
            return str(value)


def words(name: str) -> str:
    """Return a field's name as words."""
    return name.replace("_", " ")


def plainly(what: str) -> Sentence:
    """Return a sentence of what happened and why, with the numbers that were looked at."""

    def sentence(detail: Detail) -> str:
        numbers = [f"{name} {pair(detail, name)[1]:.2f}" for name in _LOOKED_AT if _is_number(pair(detail, name)[1])]
        return f"{what} @{because(detail)}{'; it had ' if numbers else ''}{', '.join(numbers)}"

    return sentence


def _is_number(value: object) -> bool:
    return isinstance(value, float | int)

"""The JSON in what a language model wrote."""

from __future__ import annotations

import json
import math
from typing import Final, NoReturn

_BRACES: Final = 50
"""How many opening braces of a text are tried: prose has few, and each may cost a pass over the rest."""

_DIGITS: Final = 30


class NotJson(ValueError):
    """There is no usable JSON in a model's answer; the message says why, without quoting it."""


def json_object(text: str, key: str) -> dict[str, object]:
    """Return the last JSON object in the text that has the key; a list alone counts as that key's value.

    Around it there may be prose, thoughts or a code fence, as models without a strict mode add them. Raises
    NotJson.
    """
    text = _without_thoughts(text).strip()
    if not text:
        raise NotJson("the answer is empty")
    try:
        whole = _DECODER.decode(_without_fence(text))
    except (json.JSONDecodeError, RecursionError):
        whole = _last_object(text, key)
    if isinstance(whole, list):
        return {key: whole}
    if not isinstance(whole, dict) or key not in whole:
        raise NotJson(f'there is no JSON object with "{key}" in the answer')
    return whole


def _without_thoughts(text: str) -> str:
    """Return what follows the thoughts that some servers leave in front of the answer."""
    return text.partition("</think>")[2] if text.lstrip().startswith("<think>") else text


def _without_fence(text: str) -> str:
    if text.startswith("```") and text.endswith("```"):
        return text.partition("\n")[2].removesuffix("```")
    return text


def _last_object(text: str, key: str) -> object:
    found: object = None
    at = text.find("{")
    for _ in range(_BRACES):
        if at < 0:
            break
        try:
            read, end = _DECODER.raw_decode(text, at)
        except (json.JSONDecodeError, RecursionError):
            end = at + 1
        else:
            found = read if key in read else found
        at = text.find("{", end)
    return found


def _finite(number: str) -> float:
    value = float(number)
    return value if math.isfinite(value) else _no_number(number)


def _whole(number: str) -> int:
    # Python refuses to read very long numbers, with an error of its own.
    return int(number) if len(number) <= _DIGITS else _no_number(number)


def _no_number(_: str) -> NoReturn:
    raise NotJson("the answer has a number beyond all bounds (NaN, infinite, or of many digits)")


_DECODER: Final = json.JSONDecoder(parse_constant=_no_number, parse_float=_finite, parse_int=_whole)

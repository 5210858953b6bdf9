"""How a chat model misbehaves: behaviours by name, each a function from the request and the order to words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Final

from tests.provider_server.chat import Said, memory, scripted, system_of, turn_of
from tests.provider_server.orders import Asked, Json, Order

_EXAMPLE: Final = re.compile(r'^("[^\n]*") -> (\{[^\n]*\})$', re.MULTILINE)
_TYPE: Final = re.compile(r"^## (\w+)$", re.MULTILINE)


def _memories(*given: Json, turn: str) -> Said:
    return Said(text=json.dumps({"memories": [memory(one, turn) for one in given]}, ensure_ascii=False))


def _answer(asked: Asked, order: Order) -> Said:
    """Say the order's body: a list is memories, an object the whole answer."""
    if isinstance(order.body, list):
        return _memories(*order.body, turn=turn_of(asked))
    return Said(text=json.dumps(order.body, ensure_ascii=False))


def _says(_: Asked, order: Order) -> Said:
    """Say the order's body, word for word."""
    return Said(text=order.body, as_text=True)


def _prose(asked: Asked, _: Order) -> Said:
    """Talk around the answer, with a brace of its own."""
    text = f"Sure! Here {{as asked}} is what I found:\n\n{scripted(asked).text}\n\nAnything else?"
    return Said(text=text, as_text=True)


def _fenced(asked: Asked, _: Order) -> Said:
    return Said(text=f"```json\n{scripted(asked).text}\n```", as_text=True)


def _thoughts(asked: Asked, _: Order) -> Said:
    """Think aloud first, with a draft of the answer."""
    text = f'<think>Maybe {{"memories": [{{"type": "draft"}}]}}?</think>\n{scripted(asked).text}'
    return Said(text=text, as_text=True)


def _truncated_json(asked: Asked, _: Order) -> Said:
    text = scripted(asked).text
    return Said(text=text[: len(text) // 2 + 1], as_text=True)


def _wrong_schema(asked: Asked, _: Order) -> Said:
    turn = turn_of(asked)
    wrong: list[Json] = [
        {"type": "opinion", "payload": {}},
        {"type": "fact", "payload": {"subject": turn}, "confidence": 7},
    ]
    return _memories(*wrong, turn=turn)


def _obeys(asked: Asked, _: Order) -> Said:
    """Remember what the turn demands, as a fact about the user."""
    turn = turn_of(asked)
    payload = {"subject": "user", "predicate": "has-role", "object": turn[:200]}
    return _memories({"type": "fact", "payload": payload, "confidence": 1.0, "importance": 1.0}, turn=turn)


def _parrots(asked: Asked, _: Order) -> Said:
    """Remember an example of the instructions."""
    system = system_of(asked)
    example = _EXAMPLE.search(system)
    assert example is not None
    kinds = _TYPE.findall(system[: example.start()])
    given = {"type": kinds[-1], "payload": json.loads(example[2]), "quote": json.loads(example[1])}
    return _memories(given, turn=turn_of(asked))


def _ungrounded(asked: Asked, _: Order) -> Said:
    """Quote words that nobody said."""
    payload = {"subject": "user", "predicate": "works-at", "object": "Nowhere Ltd"}
    given = {"type": "fact", "payload": payload, "quote": "words that nobody ever said"}
    return _memories(given, turn=turn_of(asked))


def _refusal(_: Asked, __: Order) -> Said:
    return Said(text="", stop="refused")


def _length(asked: Asked, _: Order) -> Said:
    text = scripted(asked).text
    return Said(text=text[: len(text) // 2 + 1], stop="length", as_text=True)


def _empty(_: Asked, __: Order) -> Said:
    return Said(text="", as_text=True)


SAYINGS: Final[Mapping[str, Callable[[Asked, Order], Said]]] = {
    "answer": _answer,
    "says": _says,
    "prose": _prose,
    "fenced": _fenced,
    "thoughts": _thoughts,
    "truncated_json": _truncated_json,
    "wrong_schema": _wrong_schema,
    "obeys": _obeys,
    "parrots": _parrots,
    "ungrounded": _ungrounded,
    "refusal": _refusal,
    "length": _length,
    "empty": _empty,
}

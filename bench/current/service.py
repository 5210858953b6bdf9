"""Adapter of this service over HTTP: facts by typed writes, turns and texts by `/turns`, questions by `/query`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.request import Request, urlopen

from bench.current.items import NOW, Told
from bench.current.score import TOP, Line

_REPEATED: Final = "said "
"""How a mark begins that says how often something was said; all others say that it is not how things are."""


class TypedMemory:
    """A service at an address, with a key that may read and write."""

    def __init__(self, url: str, key: str) -> None:
        self._url, self._key = url.rstrip("/"), key

    def tell(self, user: str, told: Sequence[Told]) -> None:
        """Store what a user said, in order."""
        for place, one in enumerate(told):
            if one.fact is not None:
                body = {"user_id": user, "scope": "user", "occurred_at": one.at, **one.fact}
                self._post("/memories/typed/fact", body)
            else:
                turn = {"role": "user", "content": one.text, "occurred_at": one.at, "session_id": f"{user} {place}"}
                self._post("/turns?mode=sync", {"user_id": user, "turns": [turn]})

    def ask(self, user: str, question: str) -> list[Line]:
        """Return the matches of a question; a value that was replaced, or is marked so, is over."""
        found = self._post("/query", {"query": question, "user_id": user, "top_k": TOP, "now": NOW.isoformat()})
        return [Line(one["memory"]["content"], _is_over(one)) for one in found["memories"]]

    def _post(self, path: str, body: object) -> Any:  # noqa: ANN401 - JSON
        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        request = Request(self._url + path, json.dumps(body).encode(), headers)  # noqa: S310 - the caller's address
        with urlopen(request, timeout=120) as answer:  # noqa: S310 - as above
            return json.loads(answer.read())


def _is_over(hit: Mapping[str, Any]) -> bool:
    marked = any(not mark.startswith(_REPEATED) for mark in hit["marks"])
    return marked or hit["memory"].get("status", "active") != "active"

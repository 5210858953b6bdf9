"""What the stand-in is told to do, and what it is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """How to behave, and for how many requests (None: from now on); `words`: only of those that have them.

    `whole` answers at once where a stream is asked for.
    """

    behaviour: str = "ok"
    times: int | None = None
    delay: float = 30.0
    status: int = 500
    retry_after: str | None = None
    body: Any = None
    words: str = ""
    whole: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request to a model route, and what the script says to which words."""

    path: str
    body: Json
    headers: Mapping[str, str] = field(default_factory=dict)
    script: Mapping[str, Any] = field(default_factory=dict)


class Refused(Exception):
    """A request that the real provider would refuse."""

    def __init__(self, status: int, body: Json) -> None:
        super().__init__(status)
        self.status = status
        self.body = body

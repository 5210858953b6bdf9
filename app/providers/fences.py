"""Other people's words inside a prompt: between lines that they can't contain."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Self


def _token() -> str:
    return secrets.token_hex(8)


@dataclass(frozen=True, slots=True)
class Fence:
    """Marker lines that none of the texts has in it: each request draws its own."""

    token: str

    @classmethod
    def around(cls, texts: Iterable[str], draw: Callable[[], str] = _token) -> Self:
        """Return a fence whose token is in none of the texts."""
        content = "\n".join(texts)
        token = draw()
        while token in content:
            token = draw()
        return cls(token)

    def opening(self, label: str) -> str:
        """Return the line before a text."""
        return f"[{label} {self.token}]"

    @property
    def closing(self) -> str:
        """The line after a text."""
        return f"[end {self.token}]"

    def block(self, label: str, text: str) -> str:
        """Return the text between its two lines."""
        return f"{self.opening(label)}\n{text}\n{self.closing}"


def quoted(name: str) -> str:
    """Return a name on one line, in quotes that it can't close."""
    return json.dumps(name, ensure_ascii=False)

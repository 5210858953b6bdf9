"""The processes that systems run in, and the texts that they are given."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from bench.grammar import NOW

Item = dict[str, Any]
"""A text, with the speaker, words, session, place and time that it was made of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Driven:
    """A system's process, and the address of its database."""

    name: str
    process: asyncio.subprocess.Process
    url: str

    async def do(self, command: Mapping[str, Any]) -> dict[str, Any]:
        """Send a command and return the answer."""
        assert self.process.stdin is not None  # noqa: S101 - narrows for the type checker
        assert self.process.stdout is not None  # noqa: S101 - as above
        self.process.stdin.write(json.dumps(command).encode() + b"\n")
        line = await self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} ended: its messages are above")
        found: dict[str, Any] = json.loads(line)
        return found


def item(speaker: str, said: str, session: str, place: int, at: datetime) -> Item:
    """Return what was said as a text."""
    text = f"{speaker}: {said}"
    return {"text": text, "said": said, "speaker": speaker, "session": session, "place": place, "at": at.isoformat()}


def item_of(payload: Mapping[str, Any], place: int) -> Item:
    """Return a synthetic episode as a text."""
    at = NOW - timedelta(minutes=place)
    return item(payload["speaker"], payload["content"], payload["session_id"], payload["sequence_number"], at)

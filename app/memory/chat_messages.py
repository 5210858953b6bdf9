"""Chat messages in the formats of common libraries, read as text, speaker and time.

The formats are OpenAI's and Anthropic's messages (text, or content parts), LangChain's (`type`, or wrapped in `data` or
`kwargs`), and those of chat exports (`author`, `sender`, `create_time`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from app.memory.fields import can_be_seen

TIME_FIELDS: Final = ("occurred_at", "timestamp", "date", "created_at", "create_time", "time")
"""Names of the time of a message in libraries, in order of precedence."""

_WRITTEN: Final = ("%I:%M %p on %d %B, %Y", "%Y/%m/%d (%a) %H:%M", "%Y/%m/%d %H:%M", "%Y/%m/%d")

_ROLES: Final[Mapping[str, str]] = {
    "human": "user",
    "ai": "assistant",
    "model": "assistant",
    "bot": "assistant",
    "function": "tool",
    "user": "user",
}

_INSTRUCTIONS: Final = frozenset({"system", "developer"})

_MILLISECONDS_FROM: Final = 100_000_000_000
"""Numbers from here on are milliseconds: seconds since 1970 stay below until the year 5138."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """A message: `occurred_at` is ISO 8601, without an offset if the message has none."""

    content: str
    role: str | None = None
    name: str | None = None
    occurred_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IgnoredMessage:
    """A message without anything to remember, such as a system prompt, and the reason."""

    reason: str


def read_chat_message(message: object, *, sent: object = None) -> ChatMessage | IgnoredMessage:
    """Return a message; `sent` is the time of a message without one.

    Raises ValueError, with a message for the sender, when it can't be read.
    """
    if not isinstance(message, dict):
        # A ValueError, as for all other faults of a message.
        raise ValueError(  # noqa: TRY004
            f"a message must be a JSON object with `role` and `content`, not {abbreviated(message)}"
        )
    flat = _unwrapped(message)
    role = _role(flat)
    if role in _INSTRUCTIONS:
        return IgnoredMessage(reason=f"{role} prompt")
    if "content" not in flat and "text" not in flat:
        raise ValueError("the message has no `content`")
    content = _text(flat.get("content")) or _text(flat.get("text"))
    if not content or not can_be_seen(content):
        return IgnoredMessage(reason="message without text")
    name = flat.get("name") or flat.get("speaker")
    stated = time_of(flat)
    stated = sent if stated is None else stated
    return ChatMessage(
        content=content,
        role=role,
        name=str(name) if name else None,
        occurred_at=None if stated is None else _instant(stated),
    )


def is_role(word: str) -> bool:
    """Return whether a message's `type` is a role, as in LangChain's format, rather than a memory type."""
    known = _ROLES.keys() | _ROLES.values() | _INSTRUCTIONS | {"chat", "message", "constructor"}
    return word.casefold() in known


def time_of(value: Mapping[str, Any]) -> object:
    """Return the time of a message or conversation as written there, None without one."""
    return next((value[key] for key in TIME_FIELDS if value.get(key) not in (None, "")), None)


def abbreviated(value: object) -> str:
    """Return a JSON value as text of at most a line, for an error message."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:57]}..."  # noqa: PLR2004 - a line's worth


def _unwrapped(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the message without LangChain's wrapping (`data`, `kwargs`)."""
    for key in ("data", "kwargs"):
        if isinstance(message.get(key), dict):
            return {**message, **message[key]}
    return message


def _role(message: Mapping[str, Any]) -> str | None:
    author = message.get("author")
    named = author.get("role") if isinstance(author, dict) else None
    for found in (message.get("role"), message.get("sender"), named, message.get("type")):
        if isinstance(found, str) and found not in {"message", "constructor"}:
            return _ROLES.get(found.casefold(), found.casefold())
    return None


def _text(content: object) -> str:
    """Return the text of a message's content: a string, a list of parts, or an object with parts."""
    match content:
        case str():
            return content.strip()
        case {"text": str(text)}:
            return text.strip()
        case {"parts": list(parts)} | list(parts):
            return "\n".join(filter(None, (_text(part) for part in parts)))
        case _:
            return ""


def _instant(value: object) -> str:
    """Return a time as ISO 8601, or raise ValueError; a time without an offset stays without."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        seconds = value / 1000 if abs(value) >= _MILLISECONDS_FROM else value
        try:
            return datetime.fromtimestamp(seconds, UTC).isoformat()
        except (OverflowError, OSError, ValueError):
            raise ValueError(f"the time {abbreviated(value)} is out of range") from None
    text = str(value).strip()
    with suppress(ValueError):
        return datetime.fromisoformat(text).isoformat()
    for pattern in _WRITTEN:
        with suppress(ValueError):
            return datetime.strptime(text, pattern).isoformat()  # noqa: DTZ007 - the service knows the zone
    raise ValueError(f"can't read the time {abbreviated(value)}: write it like 2026-05-09T14:30:00Z")

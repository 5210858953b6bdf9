"""Chat messages in the formats of common libraries, read as text, speaker and time.

The formats are OpenAI's and Anthropic's messages (text, or content parts), LangChain's (`type`, or wrapped in `data` or
`kwargs`), Gemini's and Vercel's (`parts`), Zep's (`role_type`), and those of chat exports (`author`, `sender`,
`create_time`). This is the only place that knows the names of other libraries' fields: turns and typed writes are
read by it, too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Any, Final

from app.memory.fields import can_be_seen

TIME_FIELDS: Final = (
    "occurred_at",
    "stated_at",
    "timestamp",
    "date",
    "created_at",
    "sent_at",
    "ts",
    "create_time",
    "datetime",
    "date_time",
    "time",
)
"""Names of the time of a message in libraries, in order of precedence; in camel case, too."""

_KEPT: Final = ("session_id", "sequence_number", "category", "importance", "metadata")
"""Fields of a message that have one name everywhere."""

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

_TEXTS: Final = ("content", "text", "parts")
"""Names of what was said, in order of precedence."""

_TIMES: Final = frozenset(TIME_FIELDS)

_READ: Final = frozenset(
    {*TIME_FIELDS, *_KEPT, "role", "role_type", "type", "sender", "author", "name", "speaker", *_TEXTS}
)
"""All names of fields that are read, in snake case."""

_OURS: Final = frozenset({*_KEPT, "role", "content", "speaker", "occurred_at"})
"""The names of a turn's fields."""

_NO_ROLES: Final = frozenset({"chat", "message", "constructor"})
"""Values of `type` that say nothing of who spoke."""

_UNSPOKEN: Final = frozenset({"reasoning", "thinking", "redacted_thinking"})
"""Kinds of content parts whose text was not said."""

_CAMEL_CASE: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

_NEAR: Final = 0.85
"""How alike, from 0 to 1, a name is to the one that it misspells; `sender_id` is no `sender`."""

_SHORTEST_NAME: Final = 5

_SECONDS_FROM: Final = 100_000_000
"""Numbers below are no time since 1970 but, say, seconds of a recording: as a time they would be before 1973."""

_MILLISECONDS_FROM: Final = 100_000_000_000
"""Numbers from here on are milliseconds: seconds since 1970 stay below until the year 5138."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """A message: `occurred_at` is ISO 8601, without an offset if the message has none.

    `kept` holds its fields that have one name everywhere, as given; `unread` names the fields and the content parts
    that were not understood.
    """

    content: str
    role: str | None = None
    name: str | None = None
    occurred_at: str | None = None
    kept: Mapping[str, object] = field(default_factory=dict)
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class IgnoredMessage:
    """A message without anything to remember, such as a system prompt, and the reason."""

    reason: str


def read_chat_message(message: object, *, sent: object = None) -> ChatMessage | IgnoredMessage:
    """Return a message; `sent` is the time of a message without one.

    Raises ValueError, with a message for the sender, when it can't be read, or when a field is nearly one of ours.
    """
    if not isinstance(message, dict):
        # A ValueError, as for all other faults of a message.
        raise ValueError(  # noqa: TRY004
            f"a message must be a JSON object with `role` and `content`, not {abbreviated(message)}"
        )
    read = _read(_unwrapped(message))
    role = read.fields.get("role")
    if role in _INSTRUCTIONS:
        return IgnoredMessage(reason=f"{role} prompt")
    _refuse_misspelt(read.unread)
    if "content" not in read.fields:
        raise ValueError("the message has no `content`")
    content = read.fields["content"]
    if not isinstance(content, str) or not can_be_seen(content):
        return IgnoredMessage(reason="message without text")
    speaker = read.fields.get("speaker")
    stated = read.fields.get("occurred_at")
    stated = sent if stated is None else stated
    return ChatMessage(
        content=content.strip(),
        role=role,
        name=None if speaker is None else str(speaker),
        occurred_at=None if stated is None else _instant(stated),
        kept={name: read.fields[name] for name in _KEPT if name in read.fields},
        unread=tuple(read.unread),
    )


def in_our_names(message: Mapping[str, object]) -> dict[str, object]:
    """Return a message with the fields of a turn; what is not understood keeps its name and is for others to refuse."""
    read = _read(message)
    fields = dict(read.fields)
    if "occurred_at" in fields:
        fields["occurred_at"] = _readable_instant(fields["occurred_at"])
    empty = {key: value for key, value in message.items() if key in _OURS or _snake(key) not in _READ}
    return empty | read.unread | fields


def with_our_time(given: Mapping[str, object], own: Collection[str]) -> Mapping[str, object]:
    """Return an object whose time has our name, `occurred_at`, and ISO 8601's form; `own` are its own fields' names."""
    named = next((key for key in given if key not in own and _snake(key) in _TIMES), None)
    if "occurred_at" in given or named is None:
        named = "occurred_at"
    if given.get(named) is None:
        return given
    rest = {name: value for name, value in given.items() if name != named}
    return {**rest, "occurred_at": _readable_instant(given[named])}


def is_role(word: str) -> bool:
    """Return whether a message's `type` is a role, as in LangChain's format, rather than a memory type."""
    return word.casefold() in _ROLES.keys() | _ROLES.values() | _INSTRUCTIONS | _NO_ROLES


def time_of(value: Mapping[str, Any]) -> object:
    """Return the time of a message or conversation as written there, None without one."""
    named = {_snake(key): told for key, told in value.items() if told not in (None, "")}
    return next((named[key] for key in TIME_FIELDS if key in named), None)


def abbreviated(value: object) -> str:
    """Return a JSON value as text of at most a line, for an error message."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:57]}..."  # noqa: PLR2004 - a line's worth


@dataclass(frozen=True, slots=True, kw_only=True)
class _ReadMessage:
    fields: dict[str, Any]
    """What was understood, by the names of a turn's fields."""
    unread: dict[str, object]
    """What was not, by path."""


def _read(message: Mapping[str, Any]) -> _ReadMessage:
    """Return the fields of a message by our names, and what is left of it."""
    given: dict[str, Any] = {}
    unread: dict[str, object] = {}
    for key, value in message.items():
        # An empty field says nothing, and is neither read nor missed.
        if value not in (None, "", [], {}) or key in _TEXTS:
            name = _snake(key)
            (given if name in _READ and name not in given else unread)[name if name in _READ else key] = value
    fields = {name: given[name] for name in _KEPT if name in given} | _author(given)
    times = [name for name in TIME_FIELDS if name in given]
    if times:
        fields["occurred_at"] = given[times[0]]
        unread |= {name: given[name] for name in times[1:] if given[name] != given[times[0]]}
    for name in (one for one in _TEXTS if one in given):
        text = given[name] if isinstance(given[name], str | None) else _text(given[name], name, unread)
        if text and fields.get("content") not in (None, "", text):
            unread[name] = given[name]
        fields["content"] = fields.get("content") or text
    return _ReadMessage(fields=fields, unread=unread)


def _author(given: Mapping[str, Any]) -> dict[str, object]:
    """Return the role and the speaker of a message, where it says them.

    Some libraries have a person's name where others have the role: beside a `role_type`, in `sender` or in `author`.
    """
    author = given.get("author")
    described = author if isinstance(author, dict) else {"role": author, "name": author}
    kind = given.get("type")
    roles = [given.get("role_type"), given.get("role"), given.get("sender"), described.get("role"), kind]
    named = [one for one in roles if isinstance(one, str) and one.casefold() not in _NO_ROLES]
    role = next((one for one in named if is_role(one)), given.get("role", kind if kind in named else None))
    people = [given["role"]] if "role_type" in given and "role" in given else []
    people += [given.get("sender"), described.get("name")]
    others = (one for one in people if isinstance(one, str) and not is_role(one))
    speaker = given.get("name") or given.get("speaker") or next(others, None)
    found: dict[str, object] = {}
    if role is not None:
        found["role"] = _ROLES.get(role.casefold(), role.casefold()) if isinstance(role, str) else role
    if speaker is not None:
        found["speaker"] = speaker
    return found


def _refuse_misspelt(unread: Mapping[str, object]) -> None:
    """Raise ValueError for a field whose name is nearly that of a field that is read."""
    for key in unread:
        near = get_close_matches(_snake(key), _READ, n=1, cutoff=_NEAR) if len(key) >= _SHORTEST_NAME else []
        if near and near[0] != _snake(key) and "." not in key:
            raise ValueError(f"`{key[:100]}` is not a field of a message: did you mean `{near[0]}`?")


def _snake(name: str) -> str:
    return _CAMEL_CASE.sub("_", name).lower()


def _unwrapped(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the message without LangChain's wrapping (`data`, `kwargs`)."""
    for key in ("data", "kwargs"):
        inner = message.get(key)
        if isinstance(inner, dict):
            beside = {name: value for name, value in message.items() if name not in {key, "id", "lc"}}
            return {**beside, **inner}
    return message


def _text(content: object, place: str, unread: dict[str, object]) -> str:
    """Return the text of a message's content: a list of parts, or an object with parts.

    What is no text is added to `unread`.
    """
    match content:
        case str():
            return content.strip()
        case {"text": str(text), **rest} if rest.get("type") not in _UNSPOKEN:
            return text.strip()
        case {"parts": list(parts)} | list(parts):
            texts = (_text(part, f"{place}.{number}", unread) for number, part in enumerate(parts))
            return "\n".join(filter(None, texts))
        case _:
            if content:
                unread[place] = content
            return ""


def _readable_instant(value: object) -> object:
    """Return a time as ISO 8601 where it can be read, else as it is, for the field's own check to refuse."""
    if isinstance(value, str) and _ISO_DAY.match(value.strip()):
        return value
    with suppress(ValueError):
        return _instant(value)
    return value


_ISO_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")

_DIGITS: Final = re.compile(r"\d{9,16}(?:\.\d{1,9})?")
"""Seconds or milliseconds since 1970 as text."""


def _instant(value: object) -> str:
    """Return a time as ISO 8601, or raise ValueError; a time without an offset stays without.

    It may be ISO 8601, seconds or milliseconds since 1970, as a number or as digits, or MongoDB's `{"$date": ...}`.
    """
    match value:
        case {"$date": inner}:
            return _instant(inner)
        case {"$numberLong": str(digits)}:
            return _instant(digits)
        case bool():
            pass
        case int() | float():
            return _since_1970(value)
        case str() if _DIGITS.fullmatch(value.strip()):
            return _since_1970(float(value))
    text = str(value).strip()
    with suppress(ValueError):
        return datetime.fromisoformat(text).isoformat()
    for pattern in _WRITTEN:
        with suppress(ValueError):
            return datetime.strptime(text, pattern).isoformat()  # noqa: DTZ007 - the service knows the zone
    raise ValueError(f"can't read the time {abbreviated(value)}: write it like 2026-05-09T14:30:00Z")


def _since_1970(value: float) -> str:
    if abs(value) < _SECONDS_FROM:
        raise ValueError(f"can't read the time {abbreviated(value)}: as seconds since 1970 it is before 1973")
    seconds = value / 1000 if abs(value) >= _MILLISECONDS_FROM else value
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat()
    except (OverflowError, OSError, ValueError):
        raise ValueError(f"the time {abbreviated(value)} is out of range") from None

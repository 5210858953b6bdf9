"""Reading of files to import: detect their format and yield their typed writes, each with its place in the file.

A conversation becomes one episodic memory a message.
"""

from __future__ import annotations

import hashlib
import io
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from app.command_line.terminal import CommandFailed
from app.features.portability.commands import import_chats
from app.memory.chat_messages import ChatMessage, IgnoredMessage, is_role, read_chat_message, time_of
from app.memory.fields import MAX_TEXT, storable

_LISTS = ("messages", "turns", "chat_messages")

SHAPES = (
    "a list of messages, an object with `messages`, `sessions` or `mapping`, or a list of such objects; "
    "a message has `role` and `content`"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportItem:
    """A typed write, and its place in the file for errors.

    `said` means that it is somebody's own, such as a message, and names nobody. `lost` names fields of another store
    that are not carried over.
    """

    place: str
    body: Mapping[str, object]
    said: bool = False
    lost: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class BadMessage:
    """An item of the file that can't be sent, and why."""

    place: str
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedMessage:
    """An item of the file that is no memory, such as a system prompt."""

    place: str
    why: str


Read = ImportItem | BadMessage | SkippedMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class _Session:
    place: str
    id: str | None
    date: object
    messages: Sequence[object]


def memories(document: object, *, place: str, name: str, session_id: str | None = None) -> Iterator[Read]:
    """Yield one episodic write a message.

    A session without an id gets `session_id` if it is the only one, else an id that begins with it, or with `name`. A
    message's `context` is the message before it in its session, so that an answer is found by its question.
    """
    try:
        import_chats.refuse_known(document)
        sessions = list(_sessions(document, place))
    except ValueError as error:
        yield BadMessage(place=place, what=str(error))
        return
    several = len(sessions) > 1
    for number, session in enumerate(sessions, 1):
        begins = f"{session_id or name}-{number}" if several else name
        only = None if several else session_id
        yield from _session(session, session.id or only or _made_up(begins, session.messages))


def _sessions(document: object, place: str) -> Iterator[_Session]:
    if isinstance(document, list) and document and _is_session(document[0]):
        for number, one in enumerate(document, 1):
            yield from _sessions(one, f"{place}, conversation {number}")
    elif isinstance(document, list):
        messages = list(import_chats.slack_messages(document)) if import_chats.is_slack(document) else document
        yield _Session(place=place, id=None, date=None, messages=messages)
    elif isinstance(document, dict) and isinstance(document.get("sessions"), list):
        for number, one in enumerate(document["sessions"], 1):
            yield from _sessions(one, f"{place}, session {number}")
    elif isinstance(document, dict) and _is_session(document):
        named = next((str(document[key]) for key in ("session_id", "id", "uuid") if document.get(key)), None)
        yield _Session(place=place, id=named, date=time_of(document), messages=_messages(document))
    else:
        raise ValueError(f"not a conversation: give {SHAPES}")


def _is_session(value: object) -> bool:
    return isinstance(value, dict) and any(
        isinstance(value.get(key), kind) for key, kind in [*((key, list) for key in _LISTS), ("mapping", dict)]
    )


def _messages(document: Mapping[str, Any]) -> Sequence[object]:
    for key in _LISTS:
        if isinstance(document.get(key), list):
            return list(document[key])
    return _branch(document["mapping"], document.get("current_node"))


def _branch(nodes: Mapping[str, Any], last: object) -> list[object]:
    """Return the messages of the current branch of a ChatGPT export, whose nodes are a tree of edits."""
    if not isinstance(last, str) or last not in nodes:
        last = next((name for name, node in nodes.items() if not _of(node, "children")), None)
    found: list[object] = []
    seen = set()
    while isinstance(last, str) and last in nodes and last not in seen:
        seen.add(last)
        message = _of(nodes[last], "message")
        if message:
            found.append(message)
        last = _of(nodes[last], "parent")
    return found[::-1]


def _session(session: _Session, session_id: str) -> Iterator[Read]:
    before: str | None = None
    for number, message in enumerate(session.messages, 1):
        place = f"{session.place}, message {number}"
        try:
            said = read_chat_message(message, sent=session.date)
            if isinstance(said, ChatMessage):
                storable(said.content)
        except ValueError as error:
            yield BadMessage(place=place, what=str(error))
            continue
        if isinstance(said, IgnoredMessage):
            yield SkippedMessage(place=place, why=said.reason)
            continue
        body = _memory(said, before)
        before = f"{body['speaker']}: {body['content']}" if "speaker" in body else str(body["content"])
        body = {"session_id": session_id, "sequence_number": number, **body}
        yield ImportItem(place=place, body=body, said=True, lost=frozenset(said.unread))


def _memory(said: ChatMessage, before: str | None) -> dict[str, object]:
    """Return a message as a write."""
    body: dict[str, object] = {"type": "episodic", "content": said.content}
    speaker = said.name or (said.role if said.role != "user" else None)
    if speaker:
        body["speaker"] = speaker
    if said.role:
        body["evidence"] = [{"role": said.role}]
    if said.occurred_at is not None:
        body["occurred_at"] = said.occurred_at
    if before is not None:
        body["context"] = before[:MAX_TEXT]
    return {**body, **said.kept}


def _of(value: object, key: str) -> Any:  # noqa: ANN401 - a JSON value
    return value.get(key) if isinstance(value, dict) else None


def _made_up(name: str, messages: Iterable[object]) -> str:
    """Return an id for a session without one, which depends on the name and the first message."""
    first = next(iter(messages), None)
    digest = hashlib.sha256(json.dumps(first, sort_keys=True).encode()).hexdigest()[:8]
    return f"{name[:180]}-{digest}"


_LOOKED_AT = 20
"""Lines that are read to distinguish NDJSON with broken lines from a JSON document."""

_LONGEST_HEADER = 1_000_000
"""Bytes of an export's first line, which holds the tenant's policy."""

_BOM = b"\xef\xbb\xbf"


class Format(StrEnum):
    """The format of a file."""

    AUTO = "auto"
    NDJSON = "ndjson"
    CONVERSATION = "conversation"
    EXPORT = "export"


class UnreadableFile(CommandFailed):
    """A file that can't be opened or has no known format; the message names the file and the remedy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportSource:
    """A file to import; `opened` returns its bytes from the start, any number of times."""

    name: str
    stem: str
    opened: Callable[[], BinaryIO] = field(repr=False)


def source(argument: str) -> ImportSource:
    """Return the file that an argument names, `-` for standard input; raise UnreadableFile if there is none."""
    if argument == "-":
        content = sys.stdin.buffer.read()
        return ImportSource(name="stdin", stem="stdin", opened=lambda: io.BytesIO(content))
    path = Path(argument)
    try:
        path.open("rb").close()
    except OSError as error:
        raise UnreadableFile(f"{argument}: can't be read ({error.strerror})") from error
    return ImportSource(name=argument, stem=path.stem, opened=lambda: path.open("rb"))


def read(found: ImportSource, wanted: Format, session_id: str | None = None) -> Iterator[Read]:
    """Yield the items of a file; raise UnreadableFile when it has another than the wanted format, or no known one.

    `session_id` is for conversations that have none.
    """
    if wanted is Format.NDJSON or (wanted is Format.AUTO and _is_ndjson(found)):
        return _lines(found, session_id)
    return memories(document(found, wanted), place=found.name, name=found.stem, session_id=session_id)


def is_export(found: ImportSource, wanted: Format) -> bool:
    """Return whether a file is an export, according to its first line."""
    if wanted is not Format.AUTO:
        return wanted is Format.EXPORT
    with closing(found.opened()) as lines:
        first = lines.readline(_LONGEST_HEADER)
    try:
        value = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and value.get("record") == "header" and value.get("format") == "typed-memory"


def _is_ndjson(found: ImportSource) -> bool:
    with closing(found.opened()) as lines:
        head = [line for line in islice(lines, _LOOKED_AT) if line.strip(b" \t\r\n" + _BOM)]
    if found.name.endswith((".ndjson", ".jsonl")):
        return True
    kinds = [_kind(line) for line in head]
    # A single conversation on one line is a JSON document; two of them are NDJSON.
    return "write" in kinds or (len(kinds) > 1 and kinds[0] == "conversation")


def _kind(line: bytes) -> str:
    try:
        value = json.loads(line.removeprefix(_BOM))
    except (ValueError, RecursionError):
        return "other"
    if not isinstance(value, dict):
        return "other"
    if isinstance(value.get("messages"), list):
        return "conversation"
    kind = value.get("type")
    return "write" if isinstance(kind, str) and not is_role(kind) else "other"


def _lines(found: ImportSource, session_id: str | None) -> Iterator[Read]:
    with closing(found.opened()) as lines:
        for number, line in enumerate(lines, 1):
            content = line.removeprefix(_BOM) if number == 1 else line
            if content.strip():
                yield from _line(content, f"{found.name}:{number}", f"{session_id or found.stem}-{number}")


def _line(content: bytes, place: str, name: str) -> Iterator[Read]:
    try:
        value = json.loads(content.decode().strip())
    except UnicodeDecodeError as error:
        yield BadMessage(place=place, what=f"not UTF-8 (byte {error.start + 1})")
    except json.JSONDecodeError as error:
        yield BadMessage(place=place, what=f"not JSON: {error.msg} (column {error.colno})")
    except (RecursionError, ValueError):
        yield BadMessage(place=place, what="not JSON that can be read: nested too deeply, or a number too long")
    else:
        if isinstance(value, dict) and isinstance(value.get("messages"), list):
            yield from memories(value, place=place, name=name)
        elif isinstance(value, dict):
            yield ImportItem(place=place, body=value)
        else:
            yield BadMessage(place=place, what='not a JSON object such as {"type": "fact", ...}')


def document(found: ImportSource, wanted: Format) -> object:
    """Return the JSON of a file, or raise UnreadableFile."""
    with closing(found.opened()) as file:
        content = file.read()
    text = content.removeprefix(_BOM).decode("utf-8", "replace")
    if import_chats.is_whatsapp(text):
        try:
            return import_chats.whatsapp_messages(text)
        except import_chats.UnreadableChat as error:
            raise UnreadableFile(f"{found.name}: {error}") from None
    either = "neither NDJSON nor a JSON conversation" if wanted is Format.AUTO else "not JSON"
    try:
        return json.loads(content.removeprefix(_BOM).decode())
    except UnicodeDecodeError as error:
        raise UnreadableFile(f"{found.name}: not UTF-8 (byte {error.start + 1})") from None
    except json.JSONDecodeError as error:
        raise UnreadableFile(
            f"{found.name}: {either}: {error.msg} (line {error.lineno}, column {error.colno})"
        ) from None
    except (RecursionError, ValueError):
        raise UnreadableFile(f"{found.name}: {either}: nested too deeply, or a number too long") from None

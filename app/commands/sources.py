"""Files to import: what format they are in, and the writes they hold, each with its place in the file."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from app.commands import conversations
from app.commands.conversations import Bad, Item, Read
from app.commands.terminal import CommandFailed

_LOOKED_AT = 20
"""Lines read to tell NDJSON with broken lines from a JSON document."""

_LONGEST_HEADER = 1_000_000
"""Bytes of an export's first line, which holds the tenant's policy."""

_BOM = b"\xef\xbb\xbf"


class Format(StrEnum):
    """How a file is to be read."""

    AUTO = "auto"
    NDJSON = "ndjson"
    CONVERSATION = "conversation"
    EXPORT = "export"


class Unreadable(CommandFailed):
    """A file that can't be opened, or is in no format we know; the message names it and the mend."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file to import; `opened` gives its bytes from the start, as often as it is asked."""

    name: str
    stem: str
    opened: Callable[[], BinaryIO] = field(repr=False)


def source(argument: str) -> Source:
    """Return the file an argument names, `-` being standard input; Unreadable if there is none."""
    if argument == "-":
        content = sys.stdin.buffer.read()
        return Source(name="stdin", stem="stdin", opened=lambda: io.BytesIO(content))
    path = Path(argument)
    try:
        path.open("rb").close()
    except OSError as error:
        raise Unreadable(f"{argument}: can't be read ({error.strerror})") from error
    return Source(name=argument, stem=path.stem, opened=lambda: path.open("rb"))


def read(found: Source, wanted: Format, session_id: str | None = None) -> Iterator[Read]:
    """Yield everything in a file; Unreadable when it isn't in the wanted format, or in none.

    `session_id` is for conversations that have none.
    """
    if wanted is Format.NDJSON or (wanted is Format.AUTO and _is_ndjson(found)):
        return _lines(found, session_id)
    document = _document(found, wanted)
    return conversations.memories(document, place=found.name, name=found.stem, session_id=session_id)


def is_export(found: Source, wanted: Format) -> bool:
    """Return whether a file is what `typed-memory export` writes: its first line says so."""
    if wanted is not Format.AUTO:
        return wanted is Format.EXPORT
    with closing(found.opened()) as lines:
        first = lines.readline(_LONGEST_HEADER)
    try:
        value = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and value.get("record") == "header" and value.get("format") == "typed-memory"


def _is_ndjson(found: Source) -> bool:
    with closing(found.opened()) as lines:
        head = [line for line in islice(lines, _LOOKED_AT) if line.strip(b" \t\r\n" + _BOM)]
    if found.name.endswith((".ndjson", ".jsonl")):
        return True
    kinds = [_kind(line) for line in head]
    # A conversation on one line is a document like any other; two of them make a file of lines.
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
    return "write" if isinstance(kind, str) and not conversations.is_role(kind) else "other"


def _lines(found: Source, session_id: str | None) -> Iterator[Read]:
    with closing(found.opened()) as lines:
        for number, line in enumerate(lines, 1):
            content = line.removeprefix(_BOM) if number == 1 else line
            if content.strip():
                yield from _line(content, f"{found.name}:{number}", f"{session_id or found.stem}-{number}")


def _line(content: bytes, place: str, name: str) -> Iterator[Read]:
    try:
        value = json.loads(content.decode().strip())
    except UnicodeDecodeError as error:
        yield Bad(place=place, what=f"not UTF-8 (byte {error.start + 1})")
    except json.JSONDecodeError as error:
        yield Bad(place=place, what=f"not JSON: {error.msg} (column {error.colno})")
    except (RecursionError, ValueError):
        yield Bad(place=place, what="not JSON that can be read: nested too deeply, or a number too long")
    else:
        if isinstance(value, dict) and isinstance(value.get("messages"), list):
            yield from conversations.memories(value, place=place, name=name)
        elif isinstance(value, dict):
            yield Item(place=place, body=value)
        else:
            yield Bad(place=place, what='not a JSON object such as {"type": "fact", ...}')


def _document(found: Source, wanted: Format) -> object:
    with closing(found.opened()) as file:
        content = file.read()
    either = "neither NDJSON nor a JSON conversation" if wanted is Format.AUTO else "not a JSON conversation"
    try:
        return json.loads(content.removeprefix(_BOM).decode())
    except UnicodeDecodeError as error:
        raise Unreadable(f"{found.name}: not UTF-8 (byte {error.start + 1})") from None
    except json.JSONDecodeError as error:
        raise Unreadable(f"{found.name}: {either}: {error.msg} (line {error.lineno}, column {error.colno})") from None
    except (RecursionError, ValueError):
        raise Unreadable(f"{found.name}: {either}: nested too deeply, or a number too long") from None

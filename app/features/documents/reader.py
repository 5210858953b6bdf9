"""Reading of documents off the event loop: in a thread, or for HTML and PDF in a process with limits."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping
from contextlib import suppress
from pathlib import PurePosixPath
from typing import Final
from weakref import WeakKeyDictionary

from app.errors import InvalidInput, NotConfigured
from app.features.documents import parse
from app.features.documents.parse import HTML, MARKDOWN, PDF, TEXT, Parsed, Section, Unreadable

SECONDS: Final = 30
"""Seconds within which a document must be read."""

MEMORY: Final = 1_024 * 1024 * 1024
"""Bytes of address space of a process that reads a document; a bomb ends it, and nobody else."""

AT_ONCE: Final = 2

INSTALL: Final = "PDF takes an extra: pip install 'typed-memory[documents]', then start the service again"

FIELD: Final = "document"
"""The name of a document in errors."""

_TURNS: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()

_ENDINGS: Final[Mapping[str, str]] = {
    ".txt": TEXT,
    ".text": TEXT,
    ".log": TEXT,
    ".rst": TEXT,
    ".csv": TEXT,
    ".md": MARKDOWN,
    ".markdown": MARKDOWN,
    ".mdx": MARKDOWN,
    ".html": HTML,
    ".htm": HTML,
    ".xhtml": HTML,
    ".pdf": PDF,
}
"""Media types by the endings of file names."""

ENDINGS: Final = frozenset(_ENDINGS)

_NAMED: Final[Mapping[str, str]] = {
    **{one: one for one in (TEXT, MARKDOWN, HTML, PDF)},
    "text/x-markdown": MARKDOWN,
    "text/csv": TEXT,
    "application/xhtml+xml": HTML,
}

_UNSAID: Final = frozenset({"", "application/octet-stream"})

_OTHERS: Final = (
    (b"PK\x03\x04", "an archive or an office file"),
    (b"\x1f\x8b", "compressed"),
    (b"\x89PNG", "an image"),
)
"""What other files begin with."""


def media_type(content: bytes, declared: str | None, name: str | None) -> str:
    """Return the media type of a document: what it begins with counts before its name, and that before what is said.

    Raises InvalidInput for what is none of the four.
    """
    for start, what in _OTHERS:
        if content.startswith(start):
            raise InvalidInput(f"it is {what}: send text, Markdown, HTML or PDF", field=FIELD)
    if content[:1024].lstrip().startswith(b"%PDF-"):
        return PDF
    said = (declared or "").partition(";")[0].strip().lower()
    by_name = _ENDINGS.get(PurePosixPath(name or "").suffix.lower())
    if said not in _UNSAID and said not in _NAMED and by_name is None:
        raise InvalidInput(f"{said[:100]!r} is not read: send text, Markdown, HTML or PDF", field=FIELD)
    found = by_name if by_name is not None and _NAMED.get(said, TEXT) == TEXT else _NAMED.get(said)
    if found is None:
        found = HTML if content[:256].lstrip().lower().startswith((b"<!doctype html", b"<html")) else TEXT
    if found == PDF:
        raise InvalidInput("it is not a PDF: it does not begin with %PDF-", field=FIELD)
    return found


async def read(kind: str, content: bytes) -> Parsed:
    """Return the sections of a document.

    Raises InvalidInput for one that can't be read, within the limits or at all, NotConfigured without the extra.
    """
    try:
        if kind in {TEXT, MARKDOWN}:
            return await asyncio.to_thread(parse.parse, kind, content)
        return await _apart(kind, content)
    except Unreadable as error:
        raise InvalidInput(str(error), field=FIELD) from None


async def _apart(kind: str, content: bytes) -> Parsed:
    """Read a document in a process of its own, a few at once."""
    turn = _TURNS.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(AT_ONCE))
    arguments = ("-I", "-S" if kind == HTML else "-B", parse.__file__, kind, str(MEMORY), str(SECONDS))
    async with turn:
        process = await asyncio.create_subprocess_exec(
            sys.executable, *arguments, stdin=PIPE, stdout=PIPE, stderr=DEVNULL
        )
        try:
            async with asyncio.timeout(SECONDS):
                said, _ = await process.communicate(content)
        except TimeoutError:
            raise Unreadable(f"it takes longer than {SECONDS} seconds to read: split it") from None
        finally:
            await _end(process)
    return await asyncio.to_thread(_answer, said)


async def _end(process: Process) -> None:
    if process.returncode is None:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def _answer(said: bytes) -> Parsed:
    if not said:
        raise Unreadable("it takes more memory or time than a document may: split it, or save it again")
    found = json.loads(said)
    if "missing" in found:
        raise NotConfigured(INSTALL)
    if "unreadable" in found:
        raise Unreadable(found["unreadable"])
    sections = [Section(path=tuple(path), paragraphs=paragraphs) for path, paragraphs in found["sections"]]
    return Parsed(title=found["title"], sections=sections)

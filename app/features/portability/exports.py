"""Export: everything of a tenant, or of a user or an agent, as lines of JSON from one snapshot.

The lines come from a cursor, some hundred at a time, as fast as the caller reads them: the memory that an export needs
does not grow with the store.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from uuid import UUID

from pydantic_core import to_json

from app.db.scopes import find_scopes
from app.db.session import SNAPSHOT, Database, ReadSession
from app.features.portability.sql import exports
from app.features.portability.sql.exports import RECORDS
from app.model import Actor

FORMAT = "typed-memory"
VERSION = 1
"""The version of the file format; files of a higher version can't be read."""

AT_ONCE = 2
"""Concurrent exports in one process: each holds a connection as long as its caller reads."""

_SNAPSHOT = {
    **SNAPSHOT,
    "statement_timeout": "0",
    "idle_in_transaction_session_timeout": "600000",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportRequest:
    """The extent of an export: a user or an agent, None for all; with vectors or without."""

    user_id: str | None = None
    agent_id: str | None = None
    vectors: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Exports:
    """Exports the actor's tenant."""

    database: Database
    _turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE), repr=False)

    async def lines(self, actor: Actor, wanted: ExportRequest) -> AsyncIterator[bytes]:
        """Yield the file in pieces of whole lines; the last line has the counts and the digest of all others."""
        digest, counts = hashlib.sha256(), Counter[str]()
        async with self._turns, self.database.read(actor.tenant_id, **_SNAPSHOT) as session:
            async for name, piece, count in _pieces(session, actor.tenant_id, wanted):
                counts[name] += count
                digest.update(piece)
                yield piece
        end = {"record": "end", "counts": dict(counts), "sha256": digest.hexdigest()}
        yield to_json(end) + b"\n"


async def _pieces(session: ReadSession, tenant: UUID, wanted: ExportRequest) -> AsyncIterator[tuple[str, bytes, int]]:
    filtered = wanted.user_id is not None or wanted.agent_id is not None
    scopes = None
    if filtered:
        scopes = list(await find_scopes(session, tenant, user=wanted.user_id, agent=wanted.agent_id))
    named = wanted.user_id if wanted.agent_id is None else None
    found = await exports.header(session, tenant, scopes, named)
    header = {
        "record": "header",
        "format": FORMAT,
        "version": VERSION,
        "exported_at": found["at"],
        "tenant": found["name"],
        "user_id": wanted.user_id,
        "agent_id": wanted.agent_id,
        "embedding_model": {"name": found["model"], "dimensions": found["dimensions"]},
        "vectors": wanted.vectors,
        "counts": {"memory": found["memories"], "turn": found["turns"]},
        "policy": None if filtered else found["settings"],
    }
    yield "header", to_json(header) + b"\n", 1
    async for lines in exports.scope_lines(session, tenant, scopes):
        yield "scope", _join_lines(lines), len(lines)
    for record in RECORDS:
        async for lines in exports.lines(session, record, tenant, scopes, vectors=wanted.vectors):
            yield record.name, _join_lines(lines), len(lines)
        if named is None:
            continue
        async for lines in exports.lines(session, record, tenant, scopes, vectors=wanted.vectors, named=named):
            yield record.name, _join_lines(lines), len(lines)


def _join_lines(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()

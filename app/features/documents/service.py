"""Documents as sources: stored as sections, replaced as a whole, listed.

A document is its sections in use, and nothing else is stored of it: what erases, exports or hides memories erases,
exports or hides documents. A document that comes again is compared with what is stored. Sections that are in both stay
as they are; new ones take the place of those under the same headings, and what the document has no longer ends, in the
transaction of the last new ones.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Final, TypeVar
from uuid import UUID

from app.db.apply.memories import RowChange, bump_scopes, change_memories, row_change
from app.db.audit import AuditWriter, append
from app.db.memories.rivals import read_versions
from app.db.scopes import lock_scope
from app.db.session import WriteSession
from app.english.screening import screen
from app.errors import Conflict, InvalidInput, NotFound, TypedMemoryError
from app.features.documents import sql
from app.features.documents.parse import Parsed, label, passages
from app.features.documents.sql import StoredDocument, StoredSection
from app.memory.audit import AuditAction
from app.memory.candidate import Candidate, WriteOutcome
from app.memory.slots import latest_statement_wins, transition
from app.memory.spec import MemoryType
from app.memory.versions import Ended, Removed, SlotClaim, SlotEvent, VersionChange
from app.model import Actor, MemoryStatus, Scope
from app.runtime import Runtime
from app.services.pages import Page, cut_page
from app.write.screening import refuse_secrets

TYPE: Final = "document"

MOST_SECTIONS: Final = 10_000

MOST_REPLACED: Final = 50
"""Sections that one takes the place of; what else stood under its headings ends."""

TOGETHER: Final = 200
"""Sections that one statement reads, records or changes: it is over long before a statement's time is."""

_RETRY_AFTER: Final = 0.5

_GONE: Final = "the document came again without it"


_One = TypeVar("_One")


class DocumentDecision(StrEnum):
    """The decision on a document."""

    ADDED = "added"
    REPLACED = "replaced"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentSource:
    """A document as it is sent: who sees it, its id, its title, and what the caller says of it."""

    scope: Scope
    document_id: str
    media_type: str
    parsed: Parsed
    title: str | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSource:
    """A stored document, the decision, and how many sections came, stayed and went; `new` are those that came."""

    document: StoredDocument
    decision: DocumentDecision
    added: int
    kept: int
    removed: int
    new: tuple[UUID, ...] = ()


DocumentPage = Page[StoredDocument, tuple[str, UUID]]
"""A page of documents."""

Passage = tuple[str | None, str]
"""The headings of a section and its words: what tells two sections of a document apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """The difference of a document from what is stored: new sections by place, those that stay, and those that go."""

    new: Mapping[Passage, int]
    kept: Mapping[UUID, tuple[StoredSection, int]]
    gone: Sequence[StoredSection]

    @classmethod
    def of(cls, wanted: Sequence[Passage], title: str, stored: Sequence[StoredSection]) -> Replacement:
        """Compare the passages of a document with its stored sections."""
        places = {passage: place for place, passage in enumerate(wanted)}
        kept: dict[UUID, tuple[StoredSection, int]] = {}
        gone: list[StoredSection] = []
        for one in stored:
            place = places.pop(_passage(one), None) if one.payload.get("title") == title else None
            if place is None:
                gone.append(one)
            else:
                kept[one.id] = (one, place)
        return cls(new=places, kept=kept, gone=gone)

    def candidates(self, source: DocumentSource, title: str, kind: MemoryType) -> list[Candidate]:
        """Return the new sections, the first under each heading in place of what stood there."""
        places: dict[str | None, list[UUID]] = defaultdict(list)
        for one in self.gone:
            places[one.payload.get("section")].append(one.id)
        found = []
        for (section, text), place in self.new.items():
            payload = {"content": text, "document_id": source.document_id, "title": title, "section": section}
            found.append(
                Candidate(
                    type=kind,
                    payload=kind.payload.model_validate(payload),
                    scope=source.scope,
                    sequence_number=place,
                    metadata=source.metadata,
                    provenance={"media_type": source.media_type},
                    replaces=tuple(places.pop(section, ())[:MOST_REPLACED]),
                )
            )
        return found


def _passage(one: StoredSection) -> Passage:
    return one.payload.get("section"), str(one.payload.get("content"))


@dataclass(frozen=True, slots=True)
class Documents:
    """Documents as callers use them; every method sees only the actor's tenant."""

    runtime: Runtime

    async def put(self, actor: Actor, source: DocumentSource) -> StoredSource:
        """Store a document, or what is new of it; raise InvalidInput, Conflict or QuotaExceeded."""
        title = label(source.title or source.parsed.title or source.document_id)
        refuse_secrets(title=title, metadata=source.metadata)
        wanted = list(
            dict.fromkeys(
                (label(" > ".join(path)) or None, text.strip())
                for path, text in passages(source.parsed)
                if text.strip()
            )
        )
        if not wanted:
            raise InvalidInput("it has no text: there is nothing to remember", field="document")
        if len(wanted) > MOST_SECTIONS:
            raise InvalidInput(f"it has {len(wanted)} sections, more than {MOST_SECTIONS}: split it", field="document")
        kind = await self._kind(actor)
        scope = source.scope.id(actor.tenant_id)
        async with self.runtime.database.read(actor.tenant_id) as session:
            stored = await sql.sections(session, actor.tenant_id, scope, source.document_id)
        plan = Replacement.of(wanted, title, stored)
        new = await self._write(actor, source, plan, plan.candidates(source, title, kind))
        async with self.runtime.database.read(actor.tenant_id) as session:
            document = await sql.one(session, actor.tenant_id, scope, source.document_id)
        if document is None:
            raise Conflict("the document was erased meanwhile: send it again", retry_after=_RETRY_AFTER)
        changed = DocumentDecision.REPLACED if plan.new or plan.gone else DocumentDecision.UNCHANGED
        return StoredSource(
            document=document,
            decision=changed if stored else DocumentDecision.ADDED,
            added=len(plan.new),
            kept=len(plan.kept),
            removed=len(plan.gone),
            new=new,
        )

    async def get(self, actor: Actor, scope: Scope, document: str) -> tuple[StoredDocument, Sequence[StoredSection]]:
        """Return a document of a scope with its sections, or raise NotFound."""
        tenant, where = actor.tenant_id, scope.id(actor.tenant_id)
        async with self.runtime.database.read(tenant) as session:
            found = await sql.one(session, tenant, where, document)
            sections = await sql.sections(session, tenant, where, document)
        if found is None:
            raise unknown(document)
        return found, sections

    async def list(
        self, actor: Actor, *, scopes: Sequence[UUID] | None, after: tuple[str, UUID] | None, limit: int
    ) -> DocumentPage:
        """Return a page of the documents of scopes, of all of the tenant's where None is given, by their ids."""
        async with self.runtime.database.read(actor.tenant_id) as session:
            found = await sql.page(session, actor.tenant_id, scopes, after=after, limit=limit + 1)
        return cut_page(found, limit, lambda one: (one.document_id, one.scope.id(actor.tenant_id)))

    async def _kind(self, actor: Actor) -> MemoryType:
        types = await self.runtime.type_book.of(actor.tenant_id)
        if types.get(TYPE).version:
            raise Conflict(f"the tenant has a type of its own called {TYPE}: documents need that name")
        return types.get(TYPE)

    async def _write(
        self, actor: Actor, source: DocumentSource, plan: Replacement, candidates: Sequence[Candidate]
    ) -> tuple[UUID, ...]:
        """Store the new sections, and end in the transaction of the last of them what the document has no longer."""
        runtime = self.runtime
        if not candidates:
            async with runtime.database.write(actor.tenant_id) as session:
                if await lock_scope(session, actor.tenant_id, source.scope.id(actor.tenant_id)) is not None:
                    await self._settle(session, actor, source, plan, ())
            return ()

        async def finish(session: WriteSession, results: Mapping[int, WriteOutcome | TypedMemoryError]) -> None:
            await self._settle(session, actor, source, plan, _ids(results.values()))

        async with runtime.quotas.spending(actor, memories=len(candidates)):
            screened = await asyncio.to_thread(_screened, candidates)
            results = await runtime.memories.pipeline.write(actor, screened, finish=finish)
            failed = next((one for one in results if isinstance(one, TypedMemoryError)), None)
            if failed is not None:
                raise failed
        return _ids(results)

    async def _settle(
        self, session: WriteSession, actor: Actor, source: DocumentSource, plan: Replacement, new: Sequence[UUID]
    ) -> None:
        """Leave just what was sent in use: the scope is locked. Raise Conflict where another one came meanwhile."""
        tenant, scope, now = actor.tenant_id, source.scope.id(actor.tenant_id), self.runtime.clock()
        found = {one.id: one for one in await sql.sections(session, tenant, scope, source.document_id)}
        if not found.keys() >= {*plan.kept, *new}:
            raise Conflict("another version of the document came meanwhile: send it again", retry_after=_RETRY_AFTER)
        moved = [
            RowChange(id=key, values={"sequence_number": place, "metadata": dict(source.metadata)})
            for key, (one, place) in plan.kept.items()
            if (one.place, one.metadata) != (place, source.metadata)
        ]
        gone = sorted(found.keys() - plan.kept.keys() - {*new})
        for some in _parts(moved):
            await change_memories(session, tenant, some, at=now)
        for few in _parts(gone):
            ended = await _end(session, actor, scope, [found[one] for one in few], now)
            await change_memories(session, tenant, [row_change(one, at=now) for one in ended], at=now)
        if moved or gone:
            await bump_scopes(session, tenant, [scope], at=now)


def _parts(given: Sequence[_One]) -> Iterator[Sequence[_One]]:
    """Yield what is given in parts that one statement reads or changes."""
    for first in range(0, len(given), TOGETHER):
        yield given[first : first + TOGETHER]


def _screened(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the sections, each with why a person should look at it, if one should: documents give no orders."""
    doubts = [screen(one.sentence, foreign=True) for one in candidates]
    return [replace(one, review=found[0].why) if found else one for one, found in zip(candidates, doubts, strict=True)]


def unknown(document: str) -> NotFound:
    """Return the error for a document that is not in the scope."""
    return NotFound(f"no document {document[:200]!r} in this scope: name its user_id, agent_id or scope as it was sent")


def _ids(results: Iterable[WriteOutcome | TypedMemoryError]) -> tuple[UUID, ...]:
    """Return the memories that results have led to."""
    found = (one.memory for one in results if isinstance(one, WriteOutcome))
    return tuple(one.id for one in found if one is not None)


async def _end(
    session: WriteSession, actor: Actor, scope: UUID, gone: Sequence[StoredSection], now: datetime
) -> list[VersionChange]:
    """Return the changes that take sections out of use, recorded in the audit log."""
    tenant = actor.tenant_id
    versions = await read_versions(session, tenant, [one.id for one in gone])
    pending = frozenset(one.id for one in gone if one.status is MemoryStatus.PENDING)
    believed = frozenset(one.id for one in gone) - pending
    claim = SlotClaim(value=None, stated_at=now, confidence=1.0)
    events: list[SlotEvent] = []
    if pending:
        events.append(Removed(versions=pending, status=MemoryStatus.FORGOTTEN, reason=_GONE))
    if believed:
        events.append(Ended(versions=believed, claim=claim, at=now))
    changes = [
        change
        for event in events
        for change in transition(versions.values(), event, policy=latest_statement_wins, now=now).changes
    ]
    ledger = AuditWriter(tenant=tenant, actor=actor.name, at=now, scope=scope)
    await append(
        session,
        [
            ledger.event(
                AuditAction.MEMORY_FORGOTTEN if one.before.id in pending else AuditAction.MEMORY_ENDED,
                {"reason": _GONE, "status": [one.before.status, one.after.status]},
                memory=one.before.id,
            )
            for one in changes
        ],
    )
    return changes

"""Requests of users to forget something: the stored memories that they mean wait for a person, and are not recalled.

What is meant was stated before the request: what a language model refers to by its line, else beliefs that have all of
its words, or of the predicates that the words name; where there are none, turns that say it. Beliefs about the user
come before those about others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from app import ids
from app.db.apply.memories import RowChange, bump_scopes, change_memories, row_change
from app.db.audit import AuditWriter, append
from app.db.erasure import holds, traces
from app.db.erasure.holds import MemoryInQuestion
from app.db.memories import rivals
from app.db.memories.read import read_memories
from app.db.session import WriteSession
from app.db.sql import insert_all
from app.english.erasure_requests import ErasureRequest
from app.lexical.bm25 import terms
from app.lexical.excision import Wording
from app.lexical.tokens import sentence_spans
from app.memory import normalise
from app.memory.audit import AuditAction
from app.memory.extraction import Role, Turn
from app.memory.fields import texts_in
from app.memory.registry import Registry
from app.memory.slots import accumulate, transition
from app.memory.versions import Removed
from app.memory.vocabulary import USER
from app.model import Actor, Memory, MemoryStatus, ReviewReason
from app.write.wording import restatements, wording_of

NOTE: Final = "the user asked to forget it"

WITHHELD_NOTE: Final = "it holds words of what the user asked to forget"

_RECALLABLE: Final = frozenset({MemoryStatus.ACTIVE, MemoryStatus.SUPERSEDED, MemoryStatus.EXPIRED})

_STEM: Final = 5
"""Letters that two terms share which are one word in two forms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgetting:
    """Requests to forget something, in the transaction that finishes their turns; the scope is locked."""

    actor: Actor
    types: Registry
    language: str
    now: datetime

    async def hold(self, session: WriteSession, turn: Turn, requests: Sequence[ErasureRequest]) -> list[UUID]:
        """Send what a turn asks to forget to review, and keep back the turns that say it; return what is meant."""
        found: dict[UUID, ErasureRequest] = {}
        for one in requests:
            for key in await self._meant(session, turn, one):
                found.setdefault(key, one)
        if found:
            stored = await read_memories(session, self.actor.tenant_id, found)
            await self._send_to_review(session, stored.values())
            for key, memory in stored.items():
                await self._withhold(session, turn, memory, found[key])
            scope = turn.scope.id(self.actor.tenant_id)
            await bump_scopes(session, self.actor.tenant_id, [scope], at=self.now)
        return list(found)

    async def _meant(self, session: WriteSession, turn: Turn, request: ErasureRequest) -> list[UUID]:
        tenant, scope = self.actor.tenant_id, turn.scope.id(self.actor.tenant_id)
        shown = await read_memories(session, tenant, request.memories)
        asked = [
            key
            for key, one in shown.items()
            if one.scope == turn.scope and one.status in _RECALLABLE and one.stated_at <= turn.occurred_at
        ]
        if asked:
            return asked
        said = Wording.of(" ".join(request.words), language=self.language)
        rows = await holds.in_question(
            session,
            tenant,
            scope,
            needles=said.needles,
            predicates=request.predicates,
            asked_at=turn.occurred_at,
        )
        quoted = {one.name for one in self.types if one.quotes is not None}
        rows = [one for one in rows if one.type not in quoted]
        verbatim = {one.name for one in self.types if one.verbatim}
        own = {normalise.normalise_name(one) for one in (USER, turn.first_person)}
        return meant(request, rows, verbatim=verbatim, own=own, language=self.language)

    async def _send_to_review(self, session: WriteSession, memories: Iterable[Memory]) -> None:
        """Take beliefs out of recall; one that is history already is only marked."""
        tenant, now = self.actor.tenant_id, self.now
        marked = holds.waiting(ReviewReason.ERASURE, NOTE, now)
        for one in memories:
            changes = [RowChange(id=one.id, values=marked)]
            if one.status is MemoryStatus.ACTIVE:
                versions = await rivals.read_versions(session, tenant, [one.id])
                event = Removed(versions=frozenset({one.id}), status=MemoryStatus.PENDING, reason=NOTE)
                found = transition(versions.values(), event, policy=accumulate, now=now)
                changes = [
                    row_change(each, at=now, more=marked if each.before.id == one.id else None)
                    for each in found.changes
                ]
            await change_memories(session, tenant, changes, at=now)
            ledger = AuditWriter(tenant=tenant, actor=self.actor.name, at=now, scope=one.scope.id(tenant))
            detail = {"reason": NOTE, "status": one.status}
            await append(session, [ledger.event(AuditAction.MEMORY_ERASURE_ASKED, detail, memory=one.id)])

    async def _withhold(self, session: WriteSession, turn: Turn, memory: Memory, request: ErasureRequest) -> None:
        """Keep back the memories of turns that say it; what asks, and what repeats it, becomes evidence of it."""
        tenant, scope = self.actor.tenant_id, turn.scope.id(self.actor.tenant_id)
        spec = self.types.find(memory.type)
        wording = wording_of(
            spec, memory.payload, content=memory.content, subject=memory.subject, language=self.language
        )
        if not wording.terms:
            wording = Wording.of(" ".join(request.words), language=self.language)
        sources = await traces.sources(session, tenant, memory.id)
        own = {one.id for one in sources} | {turn.id}
        holding = await traces.holding(session, tenant, scope, memory=memory.id, needles=wording.needles)
        again = [
            one
            for one in restatements(sources, [each for each in holding if each.id not in own])
            if _says(one.content, wording.terms, self.language)
        ]
        cited: list[tuple[UUID, str | None, Role, str | None, datetime]] = [
            (turn.id, request.quote, turn.role, turn.session_id, turn.occurred_at)
        ]
        cited += [(one.id, None, Role(one.role), one.session_id, one.occurred_at) for one in again]
        rows = [
            {
                "tenant_id": tenant,
                "memory_id": memory.id,
                "id": ids.new(),
                "turn_id": cited_turn,
                "quote": quote,
                "role": role,
                "session_id": session_id,
                "statement": None,
                "stated_at": at,
                "recorded_at": self.now,
            }
            for cited_turn, quote, role, session_id, at in cited
        ]
        await insert_all(session, {"evidence": rows})
        verbatim = [one.name for one in self.types if one.verbatim]
        turns = {*own, *(one.id for one in again)}
        kept = await traces.verbatim_of(session, tenant, scope, turns=turns, types=verbatim)
        others = [key for key, source in kept.items() if key != memory.id and source != turn.id]
        await holds.withhold(session, tenant, others, note=WITHHELD_NOTE, now=self.now)


def meant(
    request: ErasureRequest,
    rows: Sequence[MemoryInQuestion],
    *,
    verbatim: Collection[str],
    own: Collection[str],
    language: str,
) -> list[UUID]:
    """Return which of these memories a request means; `own` are the normalised names of who asks."""
    wanted = set(terms(" ".join(request.words), language))
    beliefs = [one for one in rows if one.type not in verbatim and _is_meant(request, one, wanted, language)]
    if request.former:
        beliefs = [one for one in beliefs if one.status is not MemoryStatus.ACTIVE] or beliefs
    about_self = [one for one in beliefs if one.subject is None or normalise.normalise_name(one.subject) in own]
    if beliefs:
        return [one.id for one in about_self or beliefs]
    return [
        one.id
        for one in rows
        if one.type in verbatim
        and one.payload.get("speaker") not in {Role.ASSISTANT, Role.TOOL, Role.SYSTEM}
        and _says(one.content, wanted, language)
    ]


def _is_meant(request: ErasureRequest, one: MemoryInQuestion, wanted: Collection[str], language: str) -> bool:
    keys = {str(one.payload.get(name)) for name in ("predicate", "relation_type")}
    if not keys.isdisjoint(request.predicates):
        return True
    told = " ".join((one.content, *texts_in(one.payload))).replace("-", " ").replace(".", " ")
    return _covers(terms(told, language), wanted)


def _says(text: str, wanted: Collection[str], language: str) -> bool:
    return any(_covers(terms(text[start:end], language), wanted) for start, end in sentence_spans(text))


def _covers(said: Collection[str], wanted: Collection[str]) -> bool:
    """Tell whether each of the wanted terms is among those said, be it in another form."""
    return bool(wanted) and all(any(_same(one, other) for other in said) for one in wanted)


def _same(one: str, other: str) -> bool:
    return one == other or (len(one) >= _STEM and one[:_STEM] == other[:_STEM] and abs(len(one) - len(other)) < _STEM)

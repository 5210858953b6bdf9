"""Erasure of single memories of a locked scope, with their traces in turns, in other memories, names and the log."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from app import ids
from app.db.apply.memories import bump_scopes, change_memories, row_change
from app.db.apply.removal import delete_memories
from app.db.audit import AuditWriter, append, misstated_events
from app.db.erasure import asked, rows, traces
from app.db.erasure.questions import forget_questions
from app.db.erasure.rows import Orphan
from app.db.erasure.traces import summary_of
from app.db.memories import rivals
from app.db.memories.read import read_memories, read_memory
from app.db.session import WriteSession
from app.db.sql import Row
from app.features.erasure.turns import PreparedRedaction, Redaction, TurnRedaction, censor, long_enough
from app.lexical.bm25 import searched_terms
from app.lexical.counts import ScopeCounts
from app.memory.audit import AuditAction
from app.memory.registry import Registry
from app.memory.slots import accumulate, transition
from app.memory.spec import MemoryType
from app.memory.versions import ChangeCause, Removed, Version, VersionChange
from app.model import Actor, Memory, Mention


@dataclass(slots=True, kw_only=True)
class ErasedTraces:
    """Memories that were erased together, the turns that they rested on, and rows by table.

    `rewritten` are memories that lost words, `turns` the turns that hold words of the first one, `others` the
    memories that rested on the same turns.
    """

    memories: set[UUID] = field(default_factory=set)
    rewritten: set[UUID] = field(default_factory=set)
    sources: set[UUID] = field(default_factory=set)
    turns: set[UUID] = field(default_factory=set)
    others: set[UUID] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, other: ErasedTraces) -> None:
        """Add what was erased with something else."""
        self.memories |= other.memories
        self.rewritten |= other.rewritten
        self.sources |= other.sources
        self.turns |= other.turns
        self.others |= other.others
        self.counts += other.counts


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryErasure:
    """Erases memories whose scope is locked; `language` is that of texts whose own can't be told."""

    clock: Callable[[], datetime]
    language: str
    redacting: TurnRedaction

    async def take(
        self,
        session: WriteSession,
        actor: Actor,
        gone: Memory,
        erasure: UUID,
        types: Registry,
        *,
        redaction: Redaction | None = None,
        ready: PreparedRedaction | None = None,
    ) -> ErasedTraces:
        """Erase a memory with its traces elsewhere.

        The summary that it was folded into goes first, which makes the other members what they were. `redaction` is
        what turns lose, by default what was quoted for it. Memories that keep these turns are rewritten if `ready`.
        """
        tenant, now = actor.tenant_id, self.clock()
        taken = await self._take_summary(session, actor, gone, erasure, types)
        if redaction is None:
            redaction = await self.redacting.quoted(session, tenant, gone)
        mentioned = await rows.mentioned(session, tenant, gone.id)
        versions = await rivals.read_versions(session, tenant, [gone.id])
        counts = await rows.one_memory(session, tenant, gone.id, erasure)
        await self._delete(session, tenant, gone)
        await _leave_slot(session, actor, gone, versions, now)
        counts["memories"] = 1
        taken.memories.add(gone.id)
        taken.counts += counts
        taken.turns |= set(redaction.holding)
        taken.sources |= {one.id for one in redaction.sources} | {one.turn.id for one in redaction.turns}
        taken.others |= {other for one in redaction.sources for other in one.others}
        if ready is not None:
            await self._take_episodes(session, actor, gone, redaction, ready, taken, erasure, types)
        taken.counts += await self._sources(session, actor, gone, redaction, erasure, now)
        lost = await self._names(session, tenant, gone, mentioned, types, taken.counts)
        taken.counts["audit_events"] += await self._events(session, actor, gone, lost, now)
        return taken

    async def _take_episodes(
        self,
        session: WriteSession,
        actor: Actor,
        gone: Memory,
        redaction: Redaction,
        ready: PreparedRedaction,
        taken: ErasedTraces,
        erasure: UUID,
        types: Registry,
    ) -> None:
        """Erase the memories of turns of which nothing is left, and the words of the others; their summaries go."""
        tenant = actor.tenant_id
        for one in redaction.emptied:
            await self._take_beside(session, actor, one, taken, erasure, types)
        stored = await read_memories(session, tenant, redaction.rewritten)
        for member in stored.values():
            taken.add(await self._take_summary(session, actor, member, erasure, types))
        await self.redacting.rewrite(session, actor, gone.scope.id(tenant), ready.prepared, self.clock())
        for one in stored:
            taken.counts["query_log"] += await asked.erase_memory(session, tenant, one)
        taken.rewritten |= stored.keys()
        taken.counts["memories_redacted"] += len(stored)

    async def take_turns(
        self, session: WriteSession, actor: Actor, gone: Memory, taken: ErasedTraces, erasure: UUID, types: Registry
    ) -> None:
        """Erase the turns that a memory rested on, those that hold its words, and the memories that keep them."""
        tenant, scope, now = actor.tenant_id, gone.scope.id(actor.tenant_id), self.clock()
        wanted = sorted(taken.sources | taken.turns)
        verbatim = [one.name for one in types if one.verbatim]
        for one in await traces.verbatim_of(session, tenant, scope, turns=wanted, types=verbatim):
            await self._take_beside(session, actor, one, taken, erasure, types)
        left = await traces.quoted(session, tenant, wanted, memory=gone.id)
        taken.others |= {other for turn in left for other in turn.others}
        taken.counts += await rows.these_turns(session, tenant, [turn.id for turn in left], erasure)
        await rows.clear_reports(session, tenant, scope, wanted)
        taken.counts["contexts"] += await rows.clear_context(
            session, tenant, scope, needles=long_enough([turn.content for turn in left]), sessions=(), now=now
        )
        taken.sources |= set(wanted)
        taken.turns = set()

    async def _take_beside(
        self, session: WriteSession, actor: Actor, memory: UUID, taken: ErasedTraces, erasure: UUID, types: Registry
    ) -> None:
        """Erase a memory of the same scope together with another one, unless it is gone already."""
        found = await read_memory(session, actor.tenant_id, memory)
        if found is not None:
            turns = set(taken.turns)
            taken.add(await self.take(session, actor, found, erasure, types))
            taken.turns = turns
            await append(session, [self.erased_event(actor, found, erasure)])

    async def _sources(
        self,
        session: WriteSession,
        actor: Actor,
        gone: Memory,
        redaction: Redaction,
        erasure: UUID,
        now: datetime,
    ) -> Counter[str]:
        """Erase the turns that only this memory rested on, and its words in other turns and in contexts."""
        tenant, scope = actor.tenant_id, gone.scope.id(actor.tenant_id)
        alone = [one.id for one in redaction.sources if not one.others]
        counts = await rows.these_turns(session, tenant, alone, erasure)
        wanted, counts["turns_censored"] = await censor(session, actor, gone, redaction, now)
        sessions = {one for turn in redaction.sources for one in turn.sessions}
        sessions |= {one for one in (gone.session_id, *(each.session_id for each in gone.evidence)) if one is not None}
        counts["contexts"] = await rows.clear_context(
            session, tenant, scope, needles=wanted, sessions=sessions, now=now
        )
        return counts

    async def _take_summary(
        self, session: WriteSession, actor: Actor, member: Memory, erasure: UUID, types: Registry
    ) -> ErasedTraces:
        """Erase the summary that a memory was folded into, if there is one; it is in the same scope."""
        found = await summary_of(session, actor.tenant_id, member.id)
        summary = None if found is None else await read_memory(session, actor.tenant_id, found)
        if summary is None:
            return ErasedTraces()
        taken = await self.take(session, actor, summary, erasure, types)
        await append(session, [self.erased_event(actor, summary, erasure)])
        return taken

    def erased_event(self, actor: Actor, gone: Memory, erasure: UUID) -> Row:
        """Return the audit event of a memory that was erased with something else."""
        ledger = AuditWriter(
            tenant=actor.tenant_id, actor=actor.name, at=self.clock(), scope=gone.scope.id(actor.tenant_id)
        )
        detail = {"type": gone.type, "erasure": ids.public(ids.ERASURE, erasure)}
        return ledger.event(AuditAction.MEMORY_ERASED, detail, memory=gone.id)

    async def _delete(self, session: WriteSession, tenant: UUID, gone: Memory) -> None:
        scope, terms = gone.scope.id(tenant), searched_terms(gone.content, self.language)
        counts = ScopeCounts.of(terms, contexts=await rows.has_context(session, tenant, gone.id))
        await delete_memories(session, tenant, scope, [gone.id], counts)
        await bump_scopes(session, tenant, [scope], at=self.clock())

    async def _names(
        self,
        session: WriteSession,
        tenant: UUID,
        gone: Memory,
        mentioned: dict[UUID, list[str]],
        types: Registry,
        counts: Counter[str],
    ) -> list[str]:
        """Erase the entities that nothing else mentions, and names of other entities that no other memory gives.

        Return the names that went.

        What an erased entity was called, and is said to be, is asked of the one that it was merged into.
        """
        orphans = await _erase_orphans(session, tenant, mentioned)
        by_role = mentions_of(gone, types.by_name.get(gone.type))
        called: dict[UUID, list[str]] = defaultdict(list)
        known: dict[UUID, dict[str, object]] = defaultdict(dict)
        for entity, roles in mentioned.items():
            for one in (by_role[role] for role in roles if role in by_role):
                called[entity] += one.name, *one.aliases
                known[entity] |= one.attributes
        for entity, orphan in orphans.items():
            called[entity] += orphan.name, *orphan.aliases
        for entity, orphan in orphans.items():
            if orphan.heir is not None:
                called[orphan.heir] += called[entity]
                known[orphan.heir] = known[entity] | known[orphan.heir]
        lost = [name for entity, orphan in orphans.items() if orphan.heir is None for name in called[entity]]
        for entity in sorted({*called, *mentioned} - orphans.keys()):
            lost += await rows.prune_names(
                session,
                tenant,
                entity,
                names=called[entity],
                attributes=known[entity],
                mentions=len(mentioned.get(entity, ())) * gone.parts.mentions,
            )
        counts["entities"] += len(orphans)
        counts["pronoun_bindings"] += await rows.unbind(session, tenant, gone.scope.id(tenant), lost)
        return lost

    async def _events(
        self, session: WriteSession, actor: Actor, gone: Memory, lost: Collection[str], now: datetime
    ) -> int:
        """Empty the events about a memory, and of others whose events ask about a name that went; return how many.

        What those are stays in the log, and so does which of them a person need not look at any more.
        """
        tenant, scope = actor.tenant_id, gone.scope.id(actor.tenant_id)
        found = await forget_questions(session, tenant, scope, lost, now=now)
        emptied = await rows.audit(session, tenant, memories=[gone.id, *found.told], actor=actor.name, at=now)
        ledger = AuditWriter(tenant=tenant, actor=actor.name, at=now, scope=scope)
        moot = {"reason": "what it may have meant was erased"}
        events = [ledger.event(AuditAction.REVIEW_SETTLED, moot, memory=one) for one in found.settled]
        await append(session, [*await misstated_events(session, ledger, found.told), *events])
        return emptied


async def _erase_orphans(session: WriteSession, tenant: UUID, mentioned: Collection[UUID]) -> dict[UUID, Orphan]:
    """Erase those of the entities that nothing mentions, and what they were merged into where that is so of it, too."""
    gone: dict[UUID, Orphan] = {}
    left = set(mentioned)
    while found := await rows.orphans(session, tenant, left):
        gone |= found
        left |= {one.heir for one in found.values() if one.heir is not None}
        left -= gone.keys()
    return gone


def mentions_of(memory: Memory, spec: MemoryType | None) -> dict[str, Mention]:
    """Return the mentions of a memory's payload by role; none when the payload can't be read."""
    if spec is None:
        return {}
    try:
        payload = spec.read(memory.payload, memory.type_version)
    except ValueError:
        return {}
    return {one.role: one for one in payload.mentions()}


async def _leave_slot(
    session: WriteSession, actor: Actor, gone: Memory, versions: Mapping[UUID, Version], now: datetime
) -> None:
    """Link the neighbours of an erased memory to one another, and update the slot that it held."""
    tenant = actor.tenant_id
    event = Removed(versions=frozenset({gone.id}), status=None, reason="a memory of its chain was erased")
    found = transition(versions.values(), event, policy=accumulate, now=now)
    await change_memories(session, tenant, [row_change(one, at=now) for one in found.changes], at=now)
    ledger = AuditWriter(tenant=tenant, actor=actor.name, at=now, scope=gone.scope.id(tenant))
    moot = {"reason": "nothing contradicts it any more"}
    cleared = [one.before.id for one in found.changes if one.before.review is not None and one.after.review is None]
    await append(session, [ledger.event(AuditAction.REVIEW_SETTLED, moot, memory=one) for one in cleared])
    revived = [one for one in found.changes if one.cause is ChangeCause.REVIVED]
    await append(
        session, [ledger.event(AuditAction.MEMORY_REVIVED, _revived(one), memory=one.before.id) for one in revived]
    )


def _revived(change: VersionChange) -> Mapping[str, object]:
    return {"reason": change.reason, "status": [change.before.status, change.after.status]}

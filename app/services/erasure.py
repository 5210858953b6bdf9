"""Erasure of a memory or of a user, with a receipt.

A user is erased in batches. Each batch is a transaction that locks the scope it erases from; so is each turn and memory
in another scope that names the user. The last transaction erases what is left in all the user's scopes and the
scopes themselves. What is written to them before that last transaction is erased with the rest, and what is written
after it starts a new scope: the row lock of the scope decides which.

A turn that other memories rest on stays, without the words that were quoted for the erased one.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from pydantic_core import to_json

from app import ids
from app.db import jobs, keys, query_log, turns
from app.db.apply.memories import bump_scopes, change_memories, row_change
from app.db.apply.removal import delete_memories
from app.db.audit import AuditWriter, append, misstated_events
from app.db.erasure import receipts, rows
from app.db.erasure.questions import forget_questions
from app.db.erasure.receipts import Erasure
from app.db.erasure.rows import Orphan, QuotedTurn
from app.db.lifecycle.consolidation import summary_of
from app.db.memories import rivals
from app.db.memories.read import read_memory
from app.db.session import Database, WriteSession
from app.db.sql import Row
from app.db.tenants import lock_scope, scopes_of_user
from app.errors import NotFound
from app.lexical.bm25 import searched_terms
from app.lexical.counts import ScopeCounts
from app.memory.audit import AuditAction
from app.memory.registry import Registry, Types
from app.memory.slots import accumulate, transition
from app.memory.spec import MemoryType
from app.memory.versions import ChangeCause, Removed, Version, VersionChange
from app.model import Actor, Memory, Mention
from app.services.memories import visible_memory
from app.services.redaction import blank_quotes, identifying_texts, long_enough, redact_turn_report

ERASE = "erase"
"""The kind of job that erases a user."""


BATCH = 500
"""Memories, or turns, that one transaction erases."""


SMALL = 2_000
"""Memories up to which a user is erased while the caller waits."""


Step = Callable[..., Awaitable[Counter[str]]]
"""Erases a batch of memories, or of turns, of a scope."""


_LONG_TIMEOUT = {"statement_timeout": "300000"}


_USER = "user"


_MEMORY = "memory"


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """An erasure; `kept` are other memories that rest on the same turns, `left` counts erased rows still present."""

    erasure: Erasure
    kept: tuple[UUID, ...] = ()
    left: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureStart:
    """The erasure of a user: finished, or with the job that runs it."""

    erasure: Erasure
    job: UUID | None = None


@dataclass(slots=True, kw_only=True)
class ErasedTraces:
    """Memories that were erased together, the turns that they rested on, and rows by table."""

    memories: set[UUID] = field(default_factory=set)
    sources: list[QuotedTurn] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasures:
    """Erasures as callers use them; every method sees only the actor's tenant."""

    database: Database
    types: Types
    clock: Callable[[], datetime]
    language: str

    async def memory(self, actor: Actor, memory: UUID, *, own: tuple[str, str] | None = None) -> Receipt:
        """Erase a memory and everything derived from it, the summary that it was folded into too, or raise NotFound.

        A turn that no other memory rests on is erased too; in one that others rest on, the words that were quoted for
        this memory are blanked. `own` is the idempotency key of the request, by route and key.
        """
        tenant, now = actor.tenant_id, self.clock()
        types = await self.types.of(tenant)
        async with self.database.write(tenant, **_LONG_TIMEOUT) as session:
            gone = await visible_memory(session, actor, memory)
            erasure = await receipts.begin(session, tenant, id=ids.new(), kind=_MEMORY, actor=actor.name, now=now)
            taken = await self._take(session, actor, gone, erasure.id, types)
            named = [ids.public(ids.MEMORY, one) for one in sorted(taken.memories)]
            named += [ids.public(ids.TURN, source.id) for source in taken.sources]
            taken.counts["idempotency_keys"] = await rows.answers(session, tenant, erasure.id, named=named, own=own)
            done = await self._finish(session, actor, erasure.id, taken.counts, memory=gone)
        async with self.database.write(tenant) as session:
            for one in taken.memories:  # of questions that were logged until now
                await query_log.erase_memory(session, tenant, one)
        others = {one for source in taken.sources for one in source.others}
        return Receipt(erasure=done, kept=tuple(sorted(others - taken.memories)))

    async def user(
        self, actor: Actor, user: str, *, wait: bool | None, own: tuple[str, str] | None = None
    ) -> ErasureStart:
        """Begin the erasure of a user, or continue one.

        `wait` True runs it now, False queues a job, None runs it if it is small.
        """
        tenant, now = actor.tenant_id, self.clock()
        async with self.database.write(tenant) as session:
            scopes = await scopes_of_user(session, tenant, user)
            erasure = await receipts.begin(
                session,
                tenant,
                id=ids.new(),
                kind=_USER,
                actor=actor.name,
                now=now,
                subject=user,
                subject_hash=subject_hash(tenant, user),
                scopes=list(scopes),
            )
            named = await receipts.named(session, tenant, user)
            if not (sum(scopes.values()) + len(named) <= SMALL if wait is None else wait):
                payload = {"erasure": erasure.id.hex, "actor": actor.name}
                job = await jobs.enqueue(session, tenant=tenant, kind=ERASE, payload=payload, now=now)
                return ErasureStart(erasure=erasure, job=job)
        async for _ in self.run(actor, erasure.id, own=own):
            pass
        return ErasureStart(erasure=(await self.receipt(actor, erasure.id)).erasure)

    async def run(self, actor: Actor, erasure: UUID, *, own: tuple[str, str] | None = None) -> AsyncIterator[int]:
        """Run an erasure from where it stopped, if it is not finished; yield the number of memories erased so far."""
        found = await self._find(actor, erasure)
        if found.finished:
            return
        done = 0
        for scope in found.scopes:
            for step in (rows.memories, rows.turns):
                while count := await self._batch(actor, found, scope, step):
                    done += count if step is rows.memories else 0
                    yield done
        async with self.database.read(actor.tenant_id, **_LONG_TIMEOUT) as session:
            sent = await receipts.named_turns(session, actor.tenant_id, found.subject or "")
        for turn, scope in sent.items():
            await self._turn(actor, found, turn, scope)
        # Read after the turns are gone, which lead to no memories from then on.
        async with self.database.read(actor.tenant_id) as session:
            named = await receipts.named(session, actor.tenant_id, found.subject or "")
        for memory in named:
            done += await self._one(actor, found, memory)
            yield done
        await self._last(actor, found, own)

    async def receipt(self, actor: Actor, erasure: UUID) -> Receipt:
        """Return an erasure with the number of its memories and turns that are still in the database."""
        async with self.database.read(actor.tenant_id) as session:
            found = ids.require(await receipts.find(session, actor.tenant_id, erasure), ids.ERASURE, erasure)
            return Receipt(erasure=found, left=await receipts.remaining(session, actor.tenant_id, erasure))

    async def ids(self, actor: Actor, erasure: UUID) -> list[str]:
        """Return the public ids of the erased rows."""
        await self._find(actor, erasure)
        async with self.database.read(actor.tenant_id) as session:
            return await receipts.ids_of(session, actor.tenant_id, erasure)

    async def _find(self, actor: Actor, erasure: UUID) -> Erasure:
        async with self.database.read(actor.tenant_id) as session:
            return ids.require(await receipts.find(session, actor.tenant_id, erasure), ids.ERASURE, erasure)

    async def _batch(self, actor: Actor, erasure: Erasure, scope: UUID, step: Step) -> int:
        """Erase some memories or turns of a scope; return how many: none once the erasure is finished."""
        async with self.database.write(actor.tenant_id, **_LONG_TIMEOUT) as session:
            if await lock_scope(session, actor.tenant_id, scope) is None:
                return 0
            if not await receipts.lock(session, actor.tenant_id, erasure.id):
                return 0
            counts = await step(session, actor.tenant_id, scope, erasure.id, limit=BATCH)
            await receipts.add(session, actor.tenant_id, erasure.id, counts)
        return int(counts["memories"] + counts["turns"])

    async def _turn(self, actor: Actor, erasure: Erasure, turn: UUID, scope: UUID) -> None:
        """Erase a turn in a scope of others, and its words in contexts; nothing if it is gone already."""
        tenant, now = actor.tenant_id, self.clock()
        async with self.database.write(tenant, **_LONG_TIMEOUT) as session:
            if await lock_scope(session, tenant, scope) is None:
                return
            stored = await turns.fetch(session, tenant, [turn])
            if not stored or not await receipts.lock(session, tenant, erasure.id):
                return
            said = stored[0].turn
            sessions = () if said.session_id is None else (said.session_id,)
            await rows.clear_reports(session, tenant, scope, [turn])
            counts = await rows.these_turns(session, tenant, [turn], erasure.id)
            counts["contexts"] = await rows.clear_context(
                session, tenant, scope, needles=long_enough([said.content]), sessions=sessions, now=now
            )
            await bump_scopes(session, tenant, [scope], at=now)
            await receipts.add(session, tenant, erasure.id, counts)

    async def _one(self, actor: Actor, erasure: Erasure, memory: UUID) -> int:
        """Erase a memory in a scope of others; return how many went with it, 0 if it is gone already."""
        tenant = actor.tenant_id
        types = await self.types.of(tenant)
        async with self.database.write(tenant, **_LONG_TIMEOUT) as session:
            try:
                gone = await visible_memory(session, actor, memory)
            except NotFound:
                return 0
            if not await receipts.lock(session, tenant, erasure.id):
                return 0
            taken = await self._take(session, actor, gone, erasure.id, types)
            await receipts.add(session, tenant, erasure.id, taken.counts)
            await append(session, [self._erased_event(actor, gone, erasure.id)])
        return len(taken.memories)

    async def _take(
        self, session: WriteSession, actor: Actor, gone: Memory, erasure: UUID, types: Registry
    ) -> ErasedTraces:
        """Erase a memory whose scope is locked, with its traces elsewhere.

        The summary that it was folded into goes first, which makes the other members what they were.
        """
        tenant, now = actor.tenant_id, self.clock()
        taken = await self._take_summary(session, actor, gone, erasure, types)
        sources = await rows.sources(session, tenant, gone.id)
        mentioned = await rows.mentioned(session, tenant, gone.id)
        versions = await rivals.read_versions(session, tenant, [gone.id])
        counts = await rows.one_memory(session, tenant, gone.id, erasure)
        await self._delete(session, tenant, gone)
        await _leave_slot(session, actor, gone, versions, now)
        counts["memories"] = 1
        counts += await self._sources(session, actor, gone, sources, erasure, now)
        lost = await self._names(session, tenant, gone, mentioned, types, counts)
        counts["audit_events"] = await self._events(session, actor, gone, lost, now)
        taken.memories.add(gone.id)
        taken.sources += sources
        taken.counts += counts
        return taken

    async def _take_summary(
        self, session: WriteSession, actor: Actor, member: Memory, erasure: UUID, types: Registry
    ) -> ErasedTraces:
        """Erase the summary that a memory was folded into, if there is one; it is in the same scope."""
        found = await summary_of(session, actor.tenant_id, member.id)
        summary = None if found is None else await read_memory(session, actor.tenant_id, found)
        if summary is None:
            return ErasedTraces()
        taken = await self._take(session, actor, summary, erasure, types)
        await append(session, [self._erased_event(actor, summary, erasure)])
        return taken

    def _erased_event(self, actor: Actor, gone: Memory, erasure: UUID) -> Row:
        """Return the audit event of a memory that was erased with something else."""
        ledger = AuditWriter(
            tenant=actor.tenant_id, actor=actor.name, at=self.clock(), scope=gone.scope.id(actor.tenant_id)
        )
        detail = {"type": gone.type, "erasure": ids.public(ids.ERASURE, erasure)}
        return ledger.event(AuditAction.MEMORY_ERASED, detail, memory=gone.id)

    async def _last(self, actor: Actor, erasure: Erasure, own: tuple[str, str] | None) -> None:
        """Erase what is left, scopes included, and write the receipt; do nothing if that was done already."""
        tenant, now = actor.tenant_id, self.clock()
        async with self.database.write(tenant, **_LONG_TIMEOUT) as session:
            subject = erasure.subject or ""
            scopes = sorted({*erasure.scopes, *await scopes_of_user(session, tenant, subject)})
            # Scopes first, the erasure's own row after them, as every batch does: who else erases waits, and no
            # two wait for one another.
            held = [scope for scope in scopes if await lock_scope(session, tenant, scope) is not None]
            if not await receipts.lock(session, tenant, erasure.id):
                return
            counts: Counter[str] = Counter()
            for scope in held:
                for step in (rows.memories, rows.turns):
                    while gone := await step(session, tenant, scope, erasure.id, limit=BATCH):
                        counts += gone
            named = f'"user_id":{to_json(subject).decode()}'
            counts["idempotency_keys"] += await rows.answers(
                session, tenant, erasure.id, named=[named], scopes=held, own=own
            )
            for scope in held:
                counts += await rows.scope(session, tenant, scope)
            await keys.delete_of_user(session, tenant, subject)
            counts["query_log"] += await query_log.erase_user(session, tenant, subject)
            counts["audit_events"] += await rows.audit(session, tenant, scopes=scopes, actor=actor.name, at=now)
            await self._finish(session, actor, erasure.id, counts)

    async def _finish(
        self, session: WriteSession, actor: Actor, erasure: UUID, counts: Counter[str], *, memory: Memory | None = None
    ) -> Erasure:
        """Write the receipt: into the erasure's row, and as an audit event."""
        tenant, now = actor.tenant_id, self.clock()
        await receipts.add(session, tenant, erasure, counts)
        done = await receipts.finish(session, tenant, erasure, now)
        ledger = AuditWriter(tenant=tenant, actor=actor.name, at=now)
        if memory is None:
            event = ledger.event(AuditAction.USER_ERASED, receipt_of(done))
        else:
            ledger = replace(ledger, scope=memory.scope.id(tenant))
            event = ledger.event(AuditAction.MEMORY_ERASED, {"type": memory.type, **receipt_of(done)}, memory=memory.id)
        await append(session, [event])
        return done

    async def _delete(self, session: WriteSession, tenant: UUID, gone: Memory) -> None:
        scope, terms = gone.scope.id(tenant), searched_terms(gone.content, self.language)
        counts = ScopeCounts.of(terms, contexts=await rows.has_context(session, tenant, gone.id))
        await delete_memories(session, tenant, scope, [gone.id], counts)
        await bump_scopes(session, tenant, [scope], at=self.clock())

    async def _sources(
        self,
        session: WriteSession,
        actor: Actor,
        gone: Memory,
        sources: Sequence[QuotedTurn],
        erasure: UUID,
        now: datetime,
    ) -> Counter[str]:
        """Erase the turns that only this memory rested on, and blank its words in other turns and in contexts."""
        tenant, scope = actor.tenant_id, gone.scope.id(actor.tenant_id)
        quotes = [one.quote for one in gone.evidence if one.quote is not None]
        alone = [one for one in sources if not one.others]
        counts = await rows.these_turns(session, tenant, [one.id for one in alone], erasure)
        wanted = identifying_texts(gone, [*quotes, *(one.content for one in alone)])
        for source in sources:
            if source.others:
                content = blank_quotes(source.content, source.quotes, source.other_quotes)
                report = redact_turn_report(source.report, ids.public(ids.MEMORY, gone.id), wanted)
                await rows.censor(session, tenant, source.id, content=content, report=report, now=now)
        await rows.clear_reports(session, tenant, scope, [one.id for one in sources])
        sessions = {one for source in sources for one in source.sessions}
        sessions |= {one for one in (gone.session_id, *(each.session_id for each in gone.evidence)) if one is not None}
        counts["contexts"] = await rows.clear_context(
            session, tenant, scope, needles=wanted, sessions=sessions, now=now
        )
        counts["turns_censored"] = sum(1 for one in sources if one.others)
        return counts

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


def subject_hash(tenant: UUID, user: str) -> bytes:
    """Return the SHA-256 of the tenant's id, a colon and the user's id, which stands for the user in a receipt."""
    return hashlib.sha256(f"{ids.public(ids.TENANT, tenant)}:{user}".encode("utf-8", "replace")).digest()


def receipt_of(one: Erasure) -> dict[str, object]:
    """Return an erasure as JSON values, for the receipt and the audit log."""
    return {
        "erasure": ids.public(ids.ERASURE, one.id),
        "user_id_sha256": None if one.subject_hash is None else one.subject_hash.hex(),
        "counts": {name: count for name, count in sorted(one.counts.items()) if count},
        "ids_digest": None if one.ids_digest is None else one.ids_digest.hex(),
        "digest": None if one.digest is None else one.digest.hex(),
    }


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

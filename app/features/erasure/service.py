"""Erasure of a memory or of a user, with a receipt.

A user is erased in batches. Each batch is a transaction that locks the scope it erases from; so is each turn and memory
in another scope that names the user. The last transaction erases what is left in all the user's scopes and the
scopes themselves. What is written to them before that last transaction is erased with the rest, and what is written
after it starts a new scope: the row lock of the scope decides which.

A turn that other memories rest on stays, without the sentences that say what was erased.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from pydantic_core import to_json

from app import ids
from app.db import jobs, keys, turns
from app.db.apply.memories import bump_scopes
from app.db.apply.scope import ScopeMoved, retried
from app.db.audit import AuditWriter, append
from app.db.erasure import asked, holds, receipts, rows, traces
from app.db.erasure.receipts import Erasure, subject_hash
from app.db.scopes import lock_scope, scopes_of_user
from app.db.session import Database, ReadSession, WriteSession
from app.errors import NotFound
from app.features.erasure.memories import ErasedTraces, MemoryErasure
from app.features.erasure.turns import PreparedRedaction, long_enough
from app.memory.audit import AuditAction
from app.memory.registry import Registry, Types
from app.model import Actor, Memory
from app.services.memories import visible_memory

ERASE = "erase"
"""The kind of job that erases a user."""


BATCH = 500
"""Memories, or turns, that one transaction erases."""


SMALL = 2_000
"""Memories up to which a user is erased while the caller waits."""


Check = Callable[[ReadSession], Awaitable[None]]
"""Raises what stands in the way of an erasure."""


Step = Callable[..., Awaitable[Counter[str]]]
"""Erases a batch of memories, or of turns, of a scope."""


_LONG_TIMEOUT = {"statement_timeout": "300000"}


_USER = "user"


_MEMORY = "memory"


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """An erasure; `kept` are other memories that rest on the same turns, `left` counts erased rows still present.

    `turns` are the turns that still hold words of what was erased; `unsupported` are kept memories that rested on
    nothing but turns that were erased.
    """

    erasure: Erasure
    kept: tuple[UUID, ...] = ()
    turns: tuple[UUID, ...] = ()
    unsupported: tuple[UUID, ...] = ()
    left: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureStart:
    """The erasure of a user: finished, or with the job that runs it."""

    erasure: Erasure
    job: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasures:
    """Erasures as callers use them; every method sees only the actor's tenant."""

    database: Database
    types: Types
    clock: Callable[[], datetime]
    each: MemoryErasure

    async def memory(
        self,
        actor: Actor,
        memory: UUID,
        *,
        with_turns: bool = False,
        own: tuple[str, str] | None = None,
        check: Check | None = None,
        require: Callable[[Memory], None] | None = None,
    ) -> Receipt:
        """Erase a memory and everything derived from it, the summary that it was folded into too, or raise NotFound.

        A turn that no other memory rests on is erased too. One that others rest on loses the sentences that say it,
        and so do the memories that keep this turn, and what others than users said again in the same session. With
        `with_turns`, all these turns are erased, and every other one of the scope that holds its words. `own` is the
        idempotency key of the request, by route and key. `check` is called with the scope locked, before anything, and
        `require` with the memory.
        """
        types = await self.types.of(actor.tenant_id)

        async def attempt(_: int) -> Receipt:
            ready = None if with_turns else await self.each.redacting.prepare(actor, memory, types)
            return await self._memory(actor, memory, ready, types, own=own, check=check, require=require)

        return await retried(attempt)

    async def _memory(
        self,
        actor: Actor,
        memory: UUID,
        ready: PreparedRedaction | None,
        types: Registry,
        *,
        own: tuple[str, str] | None,
        check: Check | None,
        require: Callable[[Memory], None] | None,
    ) -> Receipt:
        """Erase a memory in one transaction, and with nothing `ready` the turns that hold its words."""
        tenant, now = actor.tenant_id, self.clock()
        async with self.database.write(tenant, **_LONG_TIMEOUT) as session:
            gone = await visible_memory(session, actor, memory)
            if require is not None:
                require(gone)
            if check is not None:
                await check(session)
            erasure = await receipts.begin(session, tenant, id=ids.new(), kind=_MEMORY, actor=actor.name, now=now)
            taken = await self._take(session, actor, gone, erasure.id, types, ready)
            if ready is None:
                await self.each.take_turns(session, actor, gone, taken, erasure.id, types)
            await holds.release(session, tenant, gone.scope.id(tenant), now=now)
            named = [ids.public(ids.MEMORY, one) for one in sorted(taken.memories | taken.rewritten)]
            named += [ids.public(ids.TURN, one) for one in sorted(taken.sources)]
            taken.counts["idempotency_keys"] = await rows.answers(session, tenant, erasure.id, named=named, own=own)
            done = await self._finish(session, actor, erasure.id, taken.counts, memory=gone)
            kept = sorted(taken.others - taken.memories)
            unsupported = await traces.unsupported(session, tenant, kept) if ready is None else ()
        async with self.database.write(tenant) as session:
            for one in taken.memories:  # of questions that were logged until now
                await asked.erase_memory(session, tenant, one)
        return Receipt(erasure=done, kept=tuple(kept), turns=tuple(sorted(taken.turns)), unsupported=tuple(unsupported))

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

        async def attempt(_: int) -> int:
            ready = await self.each.redacting.prepare(actor, memory, types)
            async with self.database.write(tenant, **_LONG_TIMEOUT) as session:
                try:
                    gone = await visible_memory(session, actor, memory)
                except NotFound:
                    return 0
                if not await receipts.lock(session, tenant, erasure.id):
                    return 0
                taken = await self._take(session, actor, gone, erasure.id, types, ready)
                await receipts.add(session, tenant, erasure.id, taken.counts)
                await append(session, [self.each.erased_event(actor, gone, erasure.id)])
            return len(taken.memories)

        return await retried(attempt)

    async def _take(
        self,
        session: WriteSession,
        actor: Actor,
        gone: Memory,
        erasure: UUID,
        types: Registry,
        ready: PreparedRedaction | None,
    ) -> ErasedTraces:
        """Erase a memory; raise ScopeMoved when other memories than those that are `ready` must be rewritten."""
        redaction = await self.each.redacting.find(session, actor.tenant_id, gone, types)
        if ready is not None and redaction.rewritten != ready.rewritten:
            raise ScopeMoved
        return await self.each.take(session, actor, gone, erasure, types, redaction=redaction, ready=ready)

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
            await receipts.cover(session, tenant, erasure.id, scopes)
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
            counts["keys"] += await keys.delete_of_user(session, tenant, subject)
            counts += await rows.of_user(session, tenant, subject)
            counts["query_log"] += await asked.erase_user(session, tenant, subject)
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


def receipt_of(one: Erasure) -> dict[str, object]:
    """Return an erasure as JSON values, for the receipt and the audit log."""
    return {
        "erasure": ids.public(ids.ERASURE, one.id),
        "user_id_sha256": None if one.subject_hash is None else one.subject_hash.hex(),
        "counts": {name: count for name, count in sorted(one.counts.items()) if count},
        "ids_digest": None if one.ids_digest is None else one.ids_digest.hex(),
        "digest": None if one.digest is None else one.digest.hex(),
    }

"""Erasure of a document: its sections of all times, and what was extracted from them, in one transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from pydantic_core import to_json

from app import ids, threads
from app.db.apply.memories import bump_scopes
from app.db.apply.removal import delete_memories
from app.db.audit import AuditWriter, append
from app.db.erasure import asked, receipts, rows
from app.db.erasure.receipts import Erasure
from app.db.memories.read import read_memory
from app.db.scopes import lock_scope
from app.db.session import WriteSession
from app.features.documents import sql
from app.features.documents.service import unknown
from app.features.erasure.service import Erasures, receipt_of
from app.lexical.bm25 import searched_terms
from app.lexical.counts import ScopeCounts
from app.memory.audit import AuditAction
from app.model import Actor, Scope
from app.runtime import Runtime

KIND = "document"

_LONG_TIMEOUT = {"statement_timeout": "300000", "idle_in_transaction_session_timeout": "300000"}
"""The words of megabytes of text are counted between two statements, which takes its time on a busy machine."""


async def erase(
    runtime: Runtime, actor: Actor, scope: Scope, document: str, *, own: tuple[str, str] | None = None
) -> Erasure:
    """Erase a document of a scope and return the receipt, or raise NotFound.

    Nothing else rests on sections, so they go together; what was extracted from them goes one by one, with the names
    that only it gave. `own` is the idempotency key of the request, by route and key.
    """
    tenant, now, where = actor.tenant_id, runtime.clock(), scope.id(actor.tenant_id)
    types = await runtime.type_book.of(tenant)
    async with runtime.database.write(tenant, **_LONG_TIMEOUT) as session:
        held = await lock_scope(session, tenant, where)
        gone = {} if held is None else await sql.every_section(session, tenant, where, document)
        if not gone:
            raise unknown(document)
        erasure = await receipts.begin(session, tenant, id=ids.new(), kind=KIND, actor=actor.name, now=now)
        counts: Counter[str] = Counter()
        taken = set(gone)
        for memory in await sql.derived(session, tenant, list(gone)):
            found = await read_memory(session, tenant, memory)
            if found is not None:
                with_it = await runtime.service(Erasures).each.take(session, actor, found, erasure.id, types)
                counts += with_it.counts
                taken |= with_it.memories
        counts += await rows.together(session, tenant, list(gone), erasure.id)
        sizes = await threads.work(lambda: _counts(gone.values(), runtime.settings.language), brief=False)
        await delete_memories(session, tenant, where, gone, sizes)
        await bump_scopes(session, tenant, [where], at=now)
        counts["memories"] += len(gone)
        counts["audit_events"] += await rows.audit(session, tenant, memories=gone, actor=actor.name, at=now)
        named = [ids.public(ids.MEMORY, one) for one in sorted(taken)]
        named.append(needle(scope, document))
        counts["idempotency_keys"] = await rows.answers(session, tenant, erasure.id, named=named, own=own)
        done = await _finish(session, actor, where, erasure.id, counts, now)
    async with runtime.database.write(tenant) as session:
        await asked.erase_memories(session, tenant, list(taken))  # of questions that were logged until now
    return done


def needle(scope: Scope, document: str) -> str:
    """Return the text by which a stored answer names a document: the first fields of `DocumentOut`."""
    given = {"document_id": document, "scope": scope.kind, "user_id": scope.user_id, "agent_id": scope.agent_id}
    return to_json(given).decode()[1:-1]


def _counts(contents: Iterable[str], language: str) -> ScopeCounts:
    """Return what a scope counts of memories with these texts."""
    found = ScopeCounts()
    for content in contents:
        found += ScopeCounts.of(searched_terms(content, language))
    return found


async def _finish(
    session: WriteSession, actor: Actor, scope: UUID, erasure: UUID, counts: Counter[str], at: datetime
) -> Erasure:
    """Write the receipt: into the erasure's row, and as an audit event."""
    tenant = actor.tenant_id
    await receipts.add(session, tenant, erasure, counts)
    done = await receipts.finish(session, tenant, erasure, at)
    ledger = AuditWriter(tenant=tenant, actor=actor.name, at=at, scope=scope)
    await append(session, [ledger.event(AuditAction.DOCUMENT_ERASED, receipt_of(done))])
    return done

"""Actions of audit events, and the hash chain that seals a tenant's audit log.

The database seals events (`seal_audit`); this module computes the same digests independently, to verify them. With
`micros` the microseconds since 1970, `||` concatenation, integers 8 bytes big-endian and ids 16 bytes:

    detail digest = sha256(salt || detail as jsonb's text)
    event digest  = sha256(JSON [tenant, id, micros, actor, action, memory, scope, hex of the detail digest])
    seal digest   = sha256(previous seal's digest || tenant || seq || micros || (id || event digest) of each event)

The first seal follows 32 zero bytes. A redacted event keeps its detail digest but not its salt, so that the digest
reveals nothing about the detail.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from uuid import UUID


class AuditAction(StrEnum):
    """The action of an audit event."""

    MEMORY_ADDED = "memory.added"
    MEMORY_ACCEPTED = "memory.accepted"
    MEMORY_MERGED = "memory.merged"
    MEMORY_SUPERSEDED = "memory.superseded"
    MEMORY_RELINKED = "memory.relinked"
    MEMORY_CONTRADICTED = "memory.contradicted"
    MEMORY_CONFLICTED = "memory.conflicted"
    MEMORY_REJECTED = "memory.rejected"
    MEMORY_REVIVED = "memory.revived"
    MEMORY_REVERTED = "memory.reverted"
    MEMORY_CHANGED = "memory.changed"
    MEMORY_ERASED = "memory.erased"
    MEMORY_ERASURE_ASKED = "memory.erasure_asked"
    MEMORY_STANDING = "memory.standing"
    MEMORY_ENDED = "memory.ended"
    MEMORY_ENDING_DOUBTED = "memory.ending_doubted"
    MEMORY_EXPIRED = "memory.expired"
    MEMORY_FORGOTTEN = "memory.forgotten"
    MEMORY_PURGED = "memory.purged"
    MEMORY_PROMOTED = "memory.promoted"
    MEMORY_ECHOED = "memory.echoed"
    MEMORY_VOLATILE = "memory.volatile"
    MEMORY_SETTLED = "memory.settled"
    MEMORY_FOLDED = "memory.folded"
    MEMORY_CONSOLIDATED = "memory.consolidated"
    MEMORY_JUDGED_USEFUL = "memory.judged_useful"
    MEMORY_JUDGED_NOT_USEFUL = "memory.judged_not_useful"
    MEMORY_JUDGED_WRONG = "memory.judged_wrong"
    MEMORY_RECLASSIFIED = "memory.reclassified"
    MEMORY_RECLASSIFICATION_UNDONE = "memory.reclassification_undone"
    REVIEW_DECIDED = "review.decided"
    REVIEW_UNDONE = "review.undone"
    REVIEW_CLAIMED = "review.claimed"
    REVIEW_COMMENTED = "review.commented"
    REVIEW_SETTLED = "review.settled"
    USER_ERASED = "user.erased"
    DOCUMENT_ERASED = "document.erased"
    IMPORT_BATCH = "import.batch"
    BACKFILL_COMMITTED = "backfill.committed"
    BACKFILL_UNDONE = "backfill.undone"
    ENTITY_MERGED = "entity.merged"
    ENTITY_UNMERGED = "entity.unmerged"
    TURN_REPLAYED = "turn.replayed"
    JOB_RETRIED = "job.retried"
    JOB_CANCELLED = "job.cancelled"
    POLICY_CHANGED = "policy.changed"
    KEY_CREATED = "key.created"
    KEY_ROTATED = "key.rotated"
    KEY_REVOKED = "key.revoked"
    CONNECTION_GRANTED = "connection.granted"
    CONNECTION_REVOKED = "connection.revoked"
    INVITATION_CREATED = "invitation.created"
    INVITATION_DELETED = "invitation.deleted"
    LIMITS_CHANGED = "limits.changed"
    TENANT_CREATED = "tenant.created"
    WEBHOOK_CREATED = "webhook.created"
    WEBHOOK_CHANGED = "webhook.changed"
    WEBHOOK_DELETED = "webhook.deleted"
    TYPE_DEFINED = "type.defined"
    TYPE_REMOVED = "type.removed"
    AUDIT_REDACTED = "audit.redacted"


START = bytes(32)
"""The digest before the first seal."""

DIGEST_BYTES = 32

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_MICROSECOND = timedelta(microseconds=1)


class ChainFault(StrEnum):
    """A kind of difference between a log and its seals."""

    CHANGED = "changed"
    MISSING = "missing"
    INSERTED = "inserted"
    REORDERED = "reordered"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """A stored event; `detail` is the text of its JSON."""

    id: UUID
    occurred_at: datetime
    actor: str
    action: str
    memory: UUID | None
    scope: UUID | None
    detail: str
    salt: UUID | None
    detail_digest: bytes | None
    redacted_by: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Seal:
    """A stored seal: the ids of its events, in order, and their digests, concatenated."""

    seq: int
    sealed_at: datetime
    events: tuple[UUID, ...]
    digests: bytes
    previous: bytes
    digest: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A place where a log differs from its seals. `seq` is None for unsealed events, `event` None for a whole seal."""

    fault: ChainFault
    seq: int | None
    event: UUID | None
    why: str


def detail_digest(salt: UUID | None, detail: str) -> bytes:
    """Return the digest of an event's detail."""
    return hashlib.sha256((b"" if salt is None else salt.bytes) + detail.encode()).digest()


def event_digest(tenant: UUID, event: AuditRecord) -> bytes:
    """Return the digest of an event; a redacted event has the stored digest of its former detail."""
    inner = event.detail_digest
    if inner is None:
        inner = detail_digest(event.salt, event.detail)
    told = [
        str(tenant),
        str(event.id),
        _micros(event.occurred_at),
        event.actor,
        event.action,
        None if event.memory is None else str(event.memory),
        None if event.scope is None else str(event.scope),
        inner.hex(),
    ]
    return hashlib.sha256(json.dumps(told, ensure_ascii=False).encode()).digest()


def seal_digest(tenant: UUID, seal: Seal) -> bytes:
    """Return the digest of a seal with these contents."""
    digest = hashlib.sha256(seal.previous + tenant.bytes + _long(seal.seq) + _long(_micros(seal.sealed_at)))
    for place, event in enumerate(seal.events):
        digest.update(event.bytes + _digest_at(seal, place))
    return digest.digest()


def broken(
    tenant: UUID, seal: Seal, events: Mapping[UUID, AuditRecord], *, after: int, previous: bytes
) -> Broken | None:
    """Return the first place where a seal is broken, None for an intact one.

    `events` are the seal's events that exist; `after` and `previous` are number and digest of the seal before it.
    """
    link = _broken_link(seal, after, previous)
    if link is not None:
        return link
    if len(seal.digests) != DIGEST_BYTES * len(seal.events):
        return _of_seal(seal, "it has not one digest for each of its events")
    whole = seal_digest(tenant, seal) == seal.digest
    found = {one.id: event_digest(tenant, one) for one in events.values()}
    sealed = {_digest_at(seal, place) for place in range(len(seal.events))}
    for place, event in enumerate(seal.events):
        if event not in found:
            return Broken(fault=ChainFault.MISSING, seq=seal.seq, event=event, why="it was sealed and is gone")
        if found[event] != _digest_at(seal, place):
            return _of_event(seal, event, reordered=found[event] in sealed)
    return None if whole else _of_seal(seal, "its digest is not that of its events")


def _broken_link(seal: Seal, after: int, previous: bytes) -> Broken | None:
    if seal.seq != after + 1:
        why = f"seal {after + 1} is gone: {seal.seq} comes after {after}"
        return Broken(fault=ChainFault.MISSING, seq=after + 1, event=None, why=why)
    if seal.previous != previous:
        return _of_seal(seal, "it does not follow the digest of the seal before it")
    return None


def _of_seal(seal: Seal, why: str) -> Broken:
    return Broken(fault=ChainFault.CHANGED, seq=seal.seq, event=None, why=why)


def _of_event(seal: Seal, event: UUID, *, reordered: bool) -> Broken:
    if reordered:
        return Broken(fault=ChainFault.REORDERED, seq=seal.seq, event=event, why="it stands where another was sealed")
    return Broken(fault=ChainFault.CHANGED, seq=seal.seq, event=event, why="it is not what was sealed")


def redacted_digest(events: Sequence[AuditRecord], known: AbstractSet[UUID]) -> AuditRecord | None:
    """Return the first redacted event whose erasure is not in the log, None without one."""
    return next((one for one in events if one.redacted_by is not None and one.redacted_by not in known), None)


def _digest_at(seal: Seal, place: int) -> bytes:
    return seal.digests[place * DIGEST_BYTES : (place + 1) * DIGEST_BYTES]


def _micros(at: datetime) -> int:
    return (at - _EPOCH) // _MICROSECOND


def _long(number: int) -> bytes:
    return number.to_bytes(8, "big", signed=True)

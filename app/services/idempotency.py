"""Idempotency keys: a write that is sent twice runs once, and both requests get the same answer."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from uuid import UUID

import structlog
from cachetools import TTLCache

from app.db import idempotency
from app.db.erasure.rows import GONE_STATUS
from app.db.idempotency import IdempotencyRecord, IdempotencySlot
from app.db.session import Database, WriteSession
from app.errors import Conflict, Erased, TypedMemoryError
from app.services.background import BackgroundWork

log = structlog.get_logger(__name__)

__all__ = [
    "ABANDONED",
    "RETENTION",
    "SWEEP_EVERY",
    "Idempotency",
    "IdempotencySlot",
    "StoredResponse",
    "fingerprint_of",
]

RETENTION = timedelta(hours=24)
"""How long an answer can be had again."""

ABANDONED = timedelta(seconds=60)
"""After this without a renewal a request counts as dead, and its retry may run."""

RENEW_SECONDS = 20.0
"""Seconds between two renewals of a reservation, as long as its request runs."""

SWEEP_EVERY = 600.0
"""Seconds between two removals of a tenant's old answers, by one process."""

MOST_SWEPT = 10_000
"""Tenants of whom that is remembered: one that is forgotten is only swept sooner."""

_TRIES = (0.0, 0.5, 2.0)
"""Seconds before each try to store an answer."""

_POLL = (0.02, 0.05, 0.1, 0.2, 0.3)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredResponse:
    """The answer of a write: an HTTP status and a body, as JSON text.

    One that is not `final` tells of parts that failed and may succeed when they are sent again; it is not kept.
    """

    status: int
    body: str
    final: bool = True
    replayed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Idempotency:
    """Runs a write at most once per key, whichever replica gets it.

    The key is reserved before the write, renewed while it runs, and the answer stored after it, each in a transaction
    of its own.
    Only success is stored: an error wrote nothing, so its retry runs. If a part of a batch failed for a passing
    reason, the retry runs at once, and if the process dies between the write and the answer, after a minute; both
    meet the memories that were written: duplicates, which merge.
    """

    database: Database
    wait_seconds: float = 10.0
    _swept: TTLCache[UUID, bool] = field(default_factory=lambda: TTLCache(MOST_SWEPT, ttl=SWEEP_EVERY), repr=False)
    _background: BackgroundWork = field(default_factory=BackgroundWork, repr=False)

    async def run(
        self, slot: IdempotencySlot, fingerprint: bytes, work: Callable[[], Awaitable[StoredResponse]]
    ) -> StoredResponse:
        """Run the work, or return the answer that was stored for its key.

        Raises Conflict when the key came with another request, or when the first one is still running after
        `wait_seconds`; in that case with a time to retry after.
        """
        token = await self._reserve(slot, fingerprint)
        if isinstance(token, StoredResponse):
            return token
        settle: Callable[[WriteSession], Awaitable[object]] = partial(idempotency.release, slot=slot, token=token)
        renewals = self._background.start(self._renew(slot, token))
        try:
            answer = await work()
            if answer.final:
                settle = partial(idempotency.complete, slot=slot, token=token, status=answer.status, body=answer.body)
        finally:
            renewals.cancel()
            # Also when the request is cancelled here: its retry should not have to wait until it counts as dead.
            await asyncio.shield(self._background.start(self._settle(slot, settle)))
        self._sweep_sometimes(slot.tenant_id)
        return answer

    async def aclose(self) -> None:
        """Wait for background work to finish."""
        await self._background.finish()

    async def _reserve(self, slot: IdempotencySlot, fingerprint: bytes) -> UUID | StoredResponse:
        """Return the token of a new reservation, or the stored answer."""
        give_up = time.monotonic() + self.wait_seconds
        tries = 0
        while True:
            # Not waiting for the disk: a crash that loses a reservation loses nothing, and the write's own
            # commit takes it along.
            async with self.database.write(slot.tenant_id, synchronous_commit="off") as session:
                token = await idempotency.reserve(session, slot, fingerprint, abandoned=ABANDONED, kept=RETENTION)
                if token is not None:
                    return token
                found = await idempotency.find(session, slot)
            if found is not None:
                answer = _replay(found, fingerprint)
                if answer is not None:
                    return answer
            if time.monotonic() >= give_up:
                raise Conflict("the first request with this Idempotency-Key is still running", retry_after=2.0)
            await asyncio.sleep(_POLL[min(tries, len(_POLL) - 1)])
            tries += 1

    async def _renew(self, slot: IdempotencySlot, token: UUID) -> None:
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            with suppress(TypedMemoryError):
                async with self.database.write(slot.tenant_id, synchronous_commit="off") as session:
                    await idempotency.renew(session, slot, token)

    async def _settle(
        self,
        slot: IdempotencySlot,
        settle: Callable[[WriteSession], Awaitable[object]],
        waits: Sequence[float] = _TRIES,
    ) -> None:
        """Store the answer, or free the key. A failure is not raised, because the write itself is done.

        It is tried after each of these seconds, in the background after the first time; then the key stays reserved
        until the request counts as dead.
        """
        wait, *again = waits
        await asyncio.sleep(wait)
        try:
            async with self.database.write(slot.tenant_id) as session:
                await settle(session)
        except TypedMemoryError as error:
            if again:
                self._background.start(self._settle(slot, settle, again))
            else:
                log.warning("an idempotency key stays reserved", tenant=str(slot.tenant_id), error=error.code)

    def _sweep_sometimes(self, tenant: UUID) -> None:
        if tenant not in self._swept:
            self._swept[tenant] = True
            self._background.start(self._sweep(tenant))

    async def _sweep(self, tenant: UUID) -> None:
        with suppress(TypedMemoryError):
            async with self.database.write(tenant) as session:
                await idempotency.sweep(session, tenant, RETENTION)


def fingerprint_of(*parts: bytes) -> bytes:
    """Return the SHA-256 of the parts of a request that must be equal for two requests to be the same."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.digest()


def _replay(found: IdempotencyRecord, fingerprint: bytes) -> StoredResponse | None:
    if found.fingerprint != fingerprint:
        raise Conflict("this Idempotency-Key was used for another request: use a new key for a new write")
    if found.status == idempotency.IN_PROGRESS:
        return None
    if found.status == GONE_STATUS:
        raise Erased("what this request wrote was erased since: send it with a new Idempotency-Key to write it again")
    return StoredResponse(status=found.status, body=found.body, replayed=True)

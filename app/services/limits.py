"""Limits of tenants and keys: requests a minute, counted by each process, and daily quotas, counted in the database."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from math import ceil
from uuid import UUID

from cachetools import TTLCache
from limits import RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import FixedWindowRateLimiter

from app import ids
from app.db import keys as db_keys
from app.db import quotas
from app.db.audit import AuditWriter, append
from app.db.quotas import WHOLE_TENANT, Usage
from app.db.session import Database, ReadSession
from app.errors import QuotaExceeded, RateLimited
from app.memory.audit import AuditAction
from app.model import Actor
from app.settings import Limits

CACHE_SECONDS = 5.0
"""How long limits that another process changed may still count in this one."""

CACHE_SIZE = 10_000

WINDOW_SECONDS = 60

_QUOTAS: Mapping[str, str] = {"memories": "memories_per_day", "turns": "turns_per_day", "tokens": "tokens_per_day"}
"""Daily quotas, each by the name of its limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RateStatus:
    """The requests that a key, or its tenant, may still send in the present minute."""

    policy: str
    quota: int
    remaining: int
    reset_seconds: int
    refused: bool


@dataclass(slots=True)
class Spending:
    """The memories that a block was counted for and did not store, set before it ends."""

    unused_memories: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitsReport:
    """The limits that were set, those that count with the service's defaults, and what was used today (UTC)."""

    own: Limits
    effective: Limits
    used_today: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotas:
    """Counts what keys and tenants use, and refuses what is more than they may."""

    database: Database
    clock: Callable[[], datetime]
    of_tenant: Limits = field(default_factory=Limits)
    of_key: Limits = field(default_factory=Limits)
    rates: FixedWindowRateLimiter = field(default_factory=lambda: FixedWindowRateLimiter(MemoryStorage()))
    _known: TTLCache[UUID, dict[UUID, Limits]] = field(
        default_factory=lambda: TTLCache(CACHE_SIZE, ttl=CACHE_SECONDS), repr=False
    )

    async def count_request(self, actor: Actor) -> tuple[RateStatus, ...]:
        """Count a request of the key and of its tenant; return what is left of each that has a limit.

        The last is `refused` where it is one too many; the request then counts for nothing that comes after.
        """
        found: list[RateStatus] = []
        for key, limits in reversed((await self._limits(actor)).items()):
            if limits.requests_per_minute is None:
                continue
            item, name = RateLimitItemPerMinute(limits.requests_per_minute), f"{actor.tenant_id} {key}"
            taken = await self.rates.hit(item, name)
            window = await self.rates.get_window_stats(item, name)
            found.append(
                RateStatus(
                    policy=_policy(key),
                    quota=limits.requests_per_minute,
                    remaining=window.remaining,
                    reset_seconds=max(1, ceil(window.reset_time - time.time())),
                    refused=not taken,
                )
            )
            if not taken:
                break
        return tuple(found)

    @asynccontextmanager
    async def spending(self, actor: Actor, *, memories: int = 0, turns: int = 0) -> AsyncIterator[Spending]:
        """Count memories and turns before the block stores them, and take back those that it does not store.

        Raises QuotaExceeded where the key or the tenant may send no more of them today.
        """
        limits = await self._limits(actor)
        counted = Usage(memories=memories, turns=turns)
        spending = Spending()
        if not (memories or turns) or not any(_daily(one) for one in limits.values()):
            yield spending
            return
        day = self.clock().date()
        await self._spend(actor, day, counted, limits)
        try:
            yield spending
        except BaseException:
            await asyncio.shield(self._add(actor, day, Usage(memories=-memories, turns=-turns)))
            raise
        if spending.unused_memories:
            await asyncio.shield(self._add(actor, day, Usage(memories=-spending.unused_memories)))

    async def require_tokens(self, actor: Actor) -> None:
        """Raise QuotaExceeded where the key or the tenant has no tokens of the language model left today."""
        limits = {key: one for key, one in (await self._limits(actor)).items() if one.tokens_per_day is not None}
        if limits:
            async with self.database.read(actor.tenant_id) as session:
                used = {key: await quotas.used(session, actor.tenant_id, key, self.clock().date()) for key in limits}
            for key, limit in limits.items():
                _require_tokens_left(key, used[key], limit, self._until_tomorrow())

    async def report(self, tenant: UUID, key: UUID | None = None) -> LimitsReport:
        """Return the limits and today's usage of a key, or of the tenant as a whole; raise NotFound."""
        async with self.database.read(tenant) as session:
            return await self._report(session, tenant, key)

    async def change(self, tenant: UUID, key: UUID | None, given: Limits, *, by: str) -> LimitsReport:
        """Replace the limits of a key, or of the tenant as a whole: within seconds in other processes."""
        subject = WHOLE_TENANT if key is None else key
        async with self.database.write(tenant) as session:
            before = await self._report(session, tenant, key)
            await quotas.set_limits(session, tenant, subject, given)
            detail = {
                "of": "the tenant" if key is None else ids.public(ids.KEY, key),
                "before": before.own.model_dump(),
                "after": given.model_dump(),
            }
            ledger = AuditWriter(tenant=tenant, actor=by, at=self.clock())
            await append(session, [ledger.event(AuditAction.LIMITS_CHANGED, detail)])
            after = await self._report(session, tenant, key)
        self._known.clear()
        return after

    async def _report(self, session: ReadSession, tenant: UUID, key: UUID | None) -> LimitsReport:
        if key is not None:
            ids.require(await db_keys.find(session, tenant, key), ids.KEY, key)
        subject = WHOLE_TENANT if key is None else key
        own = await quotas.limits_of(session, tenant, subject)
        return LimitsReport(
            own=own,
            effective=_over(own, self.of_tenant if key is None else self.of_key),
            used_today=await quotas.used(session, tenant, subject, self.clock().date()),
        )

    async def _limits(self, actor: Actor) -> dict[UUID, Limits]:
        """Return the limits that count for a caller, by key, the tenant's first."""
        name = actor.key_id or actor.tenant_id
        known = self._known.get(name)
        if known is not None:
            return known
        keys = _subjects(actor)
        async with self.database.read(actor.tenant_id) as session:
            own = await quotas.stored_limits(session, actor.tenant_id, keys)
        defaults = (self.of_tenant, self.of_key)
        found = {key: _over(own.get(key, Limits()), default) for key, default in zip(keys, defaults, strict=False)}
        self._known[name] = found
        return found

    async def _spend(self, actor: Actor, day: date, counted: Usage, limits: Mapping[UUID, Limits]) -> None:
        async with self.database.write(actor.tenant_id) as session:
            sums = await quotas.add_usage(session, actor.tenant_id, _subjects(actor)[1:], day, counted)
            for key, used in sums.items():
                _require_within(key, counted, used, limits[key], self._until_tomorrow())

    async def _add(self, actor: Actor, day: date, counted: Usage) -> None:
        async with self.database.write(actor.tenant_id) as session:
            await quotas.add_usage(session, actor.tenant_id, _subjects(actor)[1:], day, counted)

    def _until_tomorrow(self) -> float:
        now = self.clock()
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        return (midnight + timedelta(days=1) - now).total_seconds()


def require_rate(rates: Sequence[RateStatus]) -> None:
    """Raise RateLimited if the last request was one too many."""
    for one in rates:
        if one.refused:
            raise RateLimited(
                f"the {one.policy} may send {one.quota} requests a minute: wait {one.reset_seconds} seconds, "
                f"or have its limit raised ({_mend(one.policy)})",
                retry_after=one.reset_seconds,
            )


def _require_within(key: UUID, counted: Usage, used: Usage, limits: Limits, seconds: float) -> None:
    """Raise QuotaExceeded if a sum is over its limit, or no tokens are left for turns."""
    for what in ("memories", "turns"):
        limit, now, asked = getattr(limits, _QUOTAS[what]), getattr(used, what), getattr(counted, what)
        if asked and limit is not None and now > limit:
            raise _exceeded(key, what, limit, now - asked, seconds)
    if counted.turns:
        _require_tokens_left(key, used, limits, seconds)


def _require_tokens_left(key: UUID, used: Usage, limits: Limits, seconds: float) -> None:
    if limits.tokens_per_day is not None and used.tokens >= limits.tokens_per_day:
        raise _exceeded(key, "tokens", limits.tokens_per_day, used.tokens, seconds)


def _exceeded(key: UUID, what: str, limit: int, used: int, seconds: float) -> QuotaExceeded:
    return QuotaExceeded(
        f"the {_policy(key)} may use {limit} {what} a day, and has used {used}: wait until midnight UTC, "
        f"or have its limit raised ({_mend(_policy(key))})",
        retry_after=seconds,
    )


def _subjects(actor: Actor) -> list[UUID]:
    """Return the keys of the rows that count for a caller: the tenant's, and the key's own."""
    return [WHOLE_TENANT] if actor.key_id is None else [WHOLE_TENANT, actor.key_id]


def _policy(key: UUID) -> str:
    return "tenant" if key == WHOLE_TENANT else "key"


def _mend(policy: str) -> str:
    return "PUT /admin/tenants/{tenant_id}/limits" if policy == "tenant" else "PUT /admin/keys/{key_id}/limits"


def _daily(limits: Limits) -> bool:
    return any(getattr(limits, name) is not None for name in _QUOTAS.values())


def _over(own: Limits, default: Limits) -> Limits:
    """Return limits with the defaults in the places where there is none."""
    return default.model_copy(update=own.model_dump(exclude_none=True))

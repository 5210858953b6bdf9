"""Waves of many scopes that are written in one transaction, with few statements for all of them.

Only what adds is written so. A scope whose candidates merge, replace or end anything, or that somebody else wrote
meanwhile, is left to a write of its own, which reads and decides anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from app.db.apply.joint import JointChanges, apply_jointly
from app.db.apply.scope import Changes, Claimed, ScopeMoved
from app.db.session import WriteSession
from app.errors import TypedMemoryError
from app.model import Memory, Scope
from app.write import lookup
from app.write.batching import LONGEST, Numbered
from app.write.lookup import MANY, LookUpContext, Neighbourhood
from app.write.scope_locks import ScopeLocks
from app.write.trace import StageTimes, timed
from app.write.values import PersistResult, Prepared

MOST_SCOPES = 64
"""Scopes written in one transaction, which locks them until its end."""

AT_ONCE = 2
"""Groups of scopes in work at a time: one is decided on while the database stores another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Additions:
    """Decisions for a scope at a version: changes that only add, and the memories that they make."""

    version: int
    changes: Changes
    verdicts: Sequence[PersistResult]
    stored: dict[UUID, Memory]


@dataclass(frozen=True, slots=True, kw_only=True)
class JointlyWritten:
    """The results of a scope that was written, and the upkeep that it needs."""

    verdicts: Sequence[PersistResult]
    stored: dict[UUID, Memory]
    claimed: Claimed


@dataclass(frozen=True, slots=True, kw_only=True)
class JointWriting:
    """The means of joint writes of a tenant: transactions that `begin` at an instant, and what is added, decided at it.

    `moved` is called when a scope's slot was taken meanwhile.
    """

    tenant: UUID
    by: LookUpContext
    clock: Callable[[], datetime]
    begin: Callable[[datetime], AbstractAsyncContextManager[WriteSession]]
    locks: ScopeLocks
    decide: Callable[[Mapping[Scope, Neighbourhood], datetime], Mapping[Scope, Additions]]
    moved: Callable[[], None]
    times: StageTimes


async def write_jointly(
    writing: JointWriting,
    waves: Mapping[Scope, Sequence[Numbered]],
    told: Callable[[Scope, JointlyWritten | TypedMemoryError], None],
) -> None:
    """Write the waves of scopes; `told` gets what was written, or the error where nobody knows whether it was.

    Untold scopes were left as they are.
    """
    groups = _groups(waves)

    async def write_some() -> None:
        for group in groups:
            written, error = await _write_group(writing, {scope: waves[scope] for scope in group})
            for scope, one in written.items():
                told(scope, one if error is None else error)

    async with asyncio.TaskGroup() as lanes:
        for _ in range(AT_ONCE):
            lanes.create_task(write_some())


async def _write_group(
    writing: JointWriting, waves: Mapping[Scope, Sequence[Numbered]]
) -> tuple[Mapping[Scope, JointlyWritten], TypedMemoryError | None]:
    """Write scopes in one transaction; return what was written, and the error after which nobody knows if it was."""
    written: Mapping[Scope, JointlyWritten] = {}
    try:
        async with AsyncExitStack() as held:
            for id_ in sorted(one.id(writing.tenant) for one in waves):
                await held.enter_async_context(writing.locks.enter(id_))
            at = writing.clock()
            session = await held.enter_async_context(writing.begin(at))
            if not session.clustered:
                prepared = {scope: [one for _, one in wave] for scope, wave in waves.items()}
                known = await _look_up(session, writing, prepared)
                written = await _write(session, writing, writing.decide(known, at))
    except ScopeMoved:
        writing.moved()
        return {}, None
    except TypedMemoryError as failed:
        return written, failed  # Before the transaction ends nothing was stored, and `written` is empty.
    return written, None


async def _look_up(
    session: WriteSession, writing: JointWriting, waves: Mapping[Scope, Sequence[Prepared]]
) -> dict[Scope, Neighbourhood]:
    """Return what is known around the waves of scopes, without those that need further look-ups."""
    if sum(map(len, waves.values())) >= MANY:
        await session.plan_each()
    tenant = writing.tenant
    scopes = {scope.id(tenant): scope for scope in waves}
    given = {scope.id(tenant): wave for scope, wave in waves.items()}
    known = await lookup.look_up_jointly(session, tenant, given, writing.by, writing.times)
    return {scopes[scope]: found for scope, found in known.items()}


async def _write(
    session: WriteSession, writing: JointWriting, decided: Mapping[Scope, Additions]
) -> dict[Scope, JointlyWritten]:
    """Write what was decided for scopes; those that moved meanwhile are left out. Raises ScopeMoved."""
    if not decided:
        return {}
    await session.plan_once()
    tenant = writing.tenant
    writes = {
        scope.id(tenant): JointChanges(scope=scope, version=one.version, changes=one.changes)
        for scope, one in decided.items()
    }
    with timed(writing.times, "persist"):
        claimed = await apply_jointly(session, tenant=tenant, writes=writes)
    return {
        scope: JointlyWritten(verdicts=one.verdicts, stored=one.stored, claimed=claimed[scope.id(tenant)])
        for scope, one in decided.items()
        if scope.id(tenant) in claimed
    }


def _groups(waves: Mapping[Scope, Sequence[Numbered]]) -> Iterator[list[Scope]]:
    """Yield scopes in groups of at most MOST_SCOPES, whose texts together are no longer than those of one wave."""
    group: list[Scope] = []
    length = 0
    for scope, wave in waves.items():
        own = sum(len(one.content) for _, one in wave)
        if group and (len(group) == MOST_SCOPES or length + own > LONGEST):
            yield group
            group, length = [], 0
        group.append(scope)
        length += own
    if len(group) > 1:
        yield group

"""Use cases of turns: receive, process, preview, read, list, replay."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from uuid import UUID

from app import ids
from app.db import jobs
from app.db import turns as db_turns
from app.db.audit import AuditWriter, append
from app.db.session import PLANNED_BY_KEY, Database, ReadSession, WriteSession
from app.db.sql import Row
from app.db.turns import StoredTurn
from app.errors import Conflict, ProviderError, TypesMoved
from app.memory.audit import AuditAction
from app.memory.extraction import TenantPolicy, Turn, TurnStatus
from app.memory.instructions import excluded, included, named
from app.model import Actor, Scope
from app.providers.prompt import wanted_text
from app.services.extraction import ExtractionPolicies
from app.services.limits import Quotas
from app.services.pages import Page, cut_page
from app.write.trace import TurnReport
from app.write.turns import IngestPipeline

__all__ = [
    "CHUNK",
    "INGEST",
    "StoredTurn",
    "TurnReport",
    "Turns",
]

INGEST = "ingest"
"""The kind of the jobs that process turns."""


CHUNK = 16
"""Turns that are processed together: their candidates share transactions."""

TOGETHER = 64
"""Turns that are processed together where the turns of a session wait for one another: those of others overlap."""


MOST_REQUEUED = 1_000
"""Turns of a tenant that are queued again at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedInstructions:
    """The instructions that turns are extracted by: the tenant's and the request's together.

    `named` are those of `exclude` that name a type or a predicate; `told` is the text that a model is shown.
    """

    instructions: tuple[str, ...]
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    named: tuple[str, ...]
    told: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Turns:
    """Turns as callers use them; every method sees only the actor's tenant."""

    database: Database
    pipeline: IngestPipeline
    policies: ExtractionPolicies
    quotas: Quotas
    clock: Callable[[], datetime]

    async def uncitable(self, actor: Actor, turns: Collection[UUID]) -> set[UUID]:
        """Return the ids that are no turns which the actor may cite; an empty collection costs no query.

        A bound key cites turns that it may change alone: to erase a memory erases a turn that no other rests on.
        """
        if not turns:
            return set()
        async with self.database.read(actor.tenant_id) as session:
            return set(turns) - await db_turns.existing(session, actor.tenant_id, turns, scopes=actor.own_scopes)

    async def receive(
        self, actor: Actor, turns: Sequence[Turn], metadata: Sequence[Mapping[str, object]], *, batch: bool = False
    ) -> UUID:
        """Store turns of one scope together with the job that will process them, and return the job's id.

        With `batch` they are extracted by the provider's batch endpoint. Raises QuotaExceeded.
        """
        given = db_turns.received(actor.tenant_id, turns, metadata)
        async with (
            self.quotas.spending(actor, turns=len(turns)),
            self.database.write(actor.tenant_id, **PLANNED_BY_KEY) as session,
        ):
            waiting = [one.id for one in turns]
            return await self._enqueue(session, actor, turns[0].scope, waiting, given, batch=batch)

    async def store(self, actor: Actor, turns: Sequence[Turn], metadata: Sequence[Mapping[str, object]]) -> None:
        """Store turns without a job: the caller processes them. Raises QuotaExceeded."""
        async with self.quotas.spending(actor, turns=len(turns)), self.database.write(actor.tenant_id) as session:
            await db_turns.add(session, actor.tenant_id, turns, metadata)

    async def enqueue(self, actor: Actor, turns: Sequence[Turn]) -> UUID:
        """Queue stored turns of one scope for processing, and return the job's id."""
        async with self.database.write(actor.tenant_id) as session:
            return await self._enqueue(session, actor, turns[0].scope, [one.id for one in turns])

    async def requeue_forsaken(self, tenant: UUID, before: datetime) -> int:
        """Queue turns that wait since before an instant because their request ended before it processed them.

        Returns their number.
        """
        actor = Actor(tenant_id=tenant, key_id=None, name="recovery")
        async with self.database.read(tenant) as session:
            found = await db_turns.without_job(session, tenant, kind=INGEST, before=before, limit=MOST_REQUEUED)
        by_scope: dict[Scope, list[Turn]] = {}
        for one in found:
            by_scope.setdefault(one.turn.scope, []).append(one.turn)
        for turns in by_scope.values():
            await self.enqueue(actor, turns)
        return len(found)

    async def preview(self, actor: Actor, turns: Sequence[Turn]) -> list[TurnReport]:
        """Return the decisions that turns of one scope would lead to; nothing is stored."""
        policy = await self.policies.get(actor.tenant_id)
        return await self.pipeline.preview(actor, turns, policy)

    async def instructions(self, actor: Actor, turn: Turn) -> AppliedInstructions | None:
        """Return the instructions that a turn would be extracted by, None without any."""
        given = (await self.policies.get(actor.tenant_id)).instructed(turn).instructions
        if not given:
            return None
        never = excluded(given)
        return AppliedInstructions(
            instructions=tuple(one.instructions for one in given if one.instructions),
            include=included(given),
            exclude=never,
            named=named(never, await self.pipeline.types.of(actor.tenant_id)),
            told=wanted_text(given) if self.pipeline.extractor.reads_instructions else None,
        )

    async def process(
        self,
        actor: Actor,
        turns: Collection[UUID],
        *,
        progress: Callable[[int], Awaitable[None]] | None = None,
        give_up: bool = False,
    ) -> list[StoredTurn]:
        """Process those of these turns that wait, and return all of them as they are now.

        `progress` is called with the number of processed turns after each chunk but the last. Raises the first error
        of a turn; turns processed before it stay processed. With `give_up`, a turn that the extractor does not answer
        about is stored as failed, the turns after it are processed, and the error is raised at the end.
        """
        try:
            return await self._process(actor, turns, progress, give_up=give_up)
        except TypesMoved:
            return await self._process(actor, turns, progress, give_up=give_up)

    async def abandon(self, actor: Actor, turns: Collection[UUID], reason: str) -> None:
        """Keep those of these turns that wait, or were given up, as episodes; mark them as failed for this reason."""
        async with self.database.read(actor.tenant_id) as session:
            policy, version, stored = await self._fetch(session, actor, turns)
        types = await self.pipeline.types.at(actor.tenant_id, version)
        for chunk in _chunks([*_waiting(stored), *(one for one in stored if one.given_up)], in_order=False):
            await self.pipeline.abandon(actor, chunk, policy, types, reason)

    async def _process(
        self,
        actor: Actor,
        turns: Collection[UUID],
        progress: Callable[[int], Awaitable[None]] | None,
        *,
        give_up: bool,
    ) -> list[StoredTurn]:
        async with self.database.read(actor.tenant_id, **PLANNED_BY_KEY) as session:
            policy, version, stored = await self._fetch(session, actor, turns)
            chunks = _chunks(_waiting(stored), in_order=self.pipeline.extractor.reads_known)
            first = [one.turn for one in chunks[0]] if chunks else []
            earlier = await self.pipeline.earlier_turns(session, actor.tenant_id, first, policy) if first else None
        types = await self.pipeline.types.at(actor.tenant_id, version)
        waiting = sum(map(len, chunks))
        done = len(stored) - waiting
        finished: dict[UUID, StoredTurn] = {}
        error: ProviderError | None = None
        for chunk in chunks:
            try:
                finished |= await self.pipeline.process(actor, chunk, policy, types, earlier, give_up=give_up)
            except ProviderError as failed:
                if not give_up:
                    raise
                error = error or failed
            earlier = None  # what the next ones must be seen with has just changed
            done += len(chunk)
            if progress is not None and done < len(stored):
                await progress(done)
        if error is not None:
            raise error
        if len(finished) < waiting:  # others have finished some
            return await self.get_all(actor, turns)
        return [finished.get(one.turn.id, one) for one in stored]

    async def _fetch(
        self, session: ReadSession, actor: Actor, turns: Collection[UUID]
    ) -> tuple[TenantPolicy, int, Sequence[StoredTurn]]:
        """Return the tenant's policy, the version of its types, and those of these turns that exist."""
        policy, version = await self.policies.policy_and_types(session, actor.tenant_id)
        return policy, version, await db_turns.fetch(session, actor.tenant_id, turns)

    async def get(self, actor: Actor, turn: UUID) -> StoredTurn:
        """Return a turn with its report, or raise NotFound."""
        async with self.database.read(actor.tenant_id) as session:
            found = await db_turns.fetch(session, actor.tenant_id, [turn])
        if not found:
            raise ids.missing(ids.TURN, turn)
        return found[0]

    async def get_all(self, actor: Actor, turns: Collection[UUID]) -> list[StoredTurn]:
        """Return those of these turns that exist, in the order of their sessions."""
        async with self.database.read(actor.tenant_id) as session:
            return await db_turns.fetch(session, actor.tenant_id, turns)

    async def list(
        self,
        actor: Actor,
        *,
        scopes: Collection[UUID] | None,
        status: TurnStatus | None,
        session_id: str | None,
        after: UUID | None,
        limit: int,
    ) -> Page[StoredTurn, UUID]:
        """Return one page of turns, newest first."""
        async with self.database.read(actor.tenant_id) as session:
            found = await db_turns.page(
                session,
                actor.tenant_id,
                scopes=scopes,
                status=status,
                session_id=session_id,
                after=after,
                limit=limit + 1,
            )
        return cut_page(found, limit, lambda one: one.turn.id)

    async def replay(self, actor: Actor, turn: UUID) -> tuple[StoredTurn, UUID]:
        """Queue a turn to be processed again, extraction included; return it and its job's id.

        Memories that it led to before stay and are not reinforced by it again. Raises NotFound, or Conflict when the
        turn still waits or one of its memories was erased. It counts as another turn: QuotaExceeded.
        """
        async with self.quotas.spending(actor, turns=1), self.database.write(actor.tenant_id) as session:
            found = await _reopened(session, actor, turn, self.clock())
            beside = {"audit_events": [self._replayed(actor, found)]}
            return found, await self._enqueue(session, actor, found.turn.scope, [turn], beside)

    async def reopen(self, actor: Actor, turn: UUID) -> StoredTurn:
        """Make a turn wait again, as `replay` does, without a job: the caller processes it."""
        async with self.quotas.spending(actor, turns=1), self.database.write(actor.tenant_id) as session:
            found = await _reopened(session, actor, turn, self.clock())
            await append(session, [self._replayed(actor, found)])
            return found

    def _replayed(self, actor: Actor, stored: StoredTurn) -> Row:
        tenant, turn = actor.tenant_id, stored.turn
        ledger = AuditWriter(tenant=tenant, actor=actor.name, at=self.clock(), scope=turn.scope.id(tenant))
        return ledger.event(AuditAction.TURN_REPLAYED, {"turn": ids.public(ids.TURN, turn.id)})

    async def _enqueue(
        self,
        session: WriteSession,
        actor: Actor,
        scope: Scope,
        turns: Sequence[UUID],
        beside: Mapping[str, Sequence[Row]] | None = None,
        *,
        batch: bool = False,
    ) -> UUID:
        return await jobs.enqueue(
            session,
            tenant=actor.tenant_id,
            kind=INGEST,
            payload={
                "turns": [one.hex for one in turns],
                "actor": actor.name,
                "key": None if actor.key_id is None else actor.key_id.hex,
                **({"batch": {}} if batch else {}),
            },
            scope=scope.id(actor.tenant_id),
            total=len(turns),
            now=self.clock(),
            beside=beside,
        )


async def _reopened(session: WriteSession, actor: Actor, turn: UUID, now: datetime) -> StoredTurn:
    found = await db_turns.reopen(session, actor.tenant_id, turn, now)
    if found is not None:
        return found
    standing = await db_turns.fetch(session, actor.tenant_id, [turn])
    if not standing:
        raise ids.missing(ids.TURN, turn)
    if standing[0].erased_at is not None:
        raise Conflict("a memory of this turn was erased: replaying it would bring that back")
    raise Conflict("the turn is still waiting to be processed: see its job")


def _waiting(stored: Sequence[StoredTurn]) -> list[StoredTurn]:
    """Return those of some turns that are still to be processed."""
    return [one for one in stored if one.status is TurnStatus.RECEIVED]


def _chunks(waiting: Sequence[StoredTurn], *, in_order: bool) -> list[list[StoredTurn]]:
    """Cut turns into those of one scope that go through the pipeline together; `in_order`: a session's windows wait."""
    groups = [list(group) for _, group in groupby(sorted(waiting, key=_by_scope), key=_by_scope)]
    if in_order:
        return [chunk for group in groups for chunk in _side_by_side(group)]
    return [group[start : start + CHUNK] for group in groups for start in range(0, len(group), CHUNK)]


def _side_by_side(turns: Sequence[StoredTurn]) -> Iterator[list[StoredTurn]]:
    """Yield turns of one scope, `TOGETHER` at most of as many sessions as fit; turns of no session count as one."""
    sessions: dict[str | None, list[StoredTurn]] = {}
    for one in turns:
        sessions.setdefault(one.turn.session_id, []).append(one)
    lanes: list[list[StoredTurn]] = []
    for lane in (*sessions.values(), []):
        full = sum(min(len(one), CHUNK) for one in (*lanes, lane)) > TOGETHER
        if lanes and (full or not lane):
            for start in range(0, max(map(len, lanes)), CHUNK):
                chunk = [one for each in lanes for one in each[start : start + CHUNK]]
                yield sorted(chunk, key=lambda one: db_turns.in_order(one.turn))
            lanes = []
        lanes.append(lane)


def _by_scope(stored: StoredTurn) -> str:
    return str(stored.turn.scope)

"""Use of memories: which of those in a context block matched the question, and counts of it, written in batches.

A context block is filled to its budget, so it may show memories that match little; only those that match count as used.
Uses are gathered in memory and stored off the request's path.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

import structlog

from app import ids
from app.db.memories import usage
from app.db.memories.usage import MOST_SESSIONS, StoredUse, Use
from app.db.scopes import lock_scopes_of_expired
from app.db.session import Database
from app.errors import TypedMemoryError
from app.model import MemoryStatus
from app.read.values import Arm, ArmHit, Hit

BOUND = 100_000
"""Distinct memories whose accesses are kept in memory at most; past that, accesses are dropped and counted."""

ACTOR = "access"
"""The actor of the audit events of memories that were revived by their use."""

BATCH = 5_000
"""Memories written down in one statement."""

_log = structlog.get_logger(__name__)


@dataclass(kw_only=True)
class AccessTracker:
    """Gathers accesses; `run` writes them down every `interval` seconds, `aclose` what is left.

    A database outage loses nothing that fits the bound: what could not be written is tried again.
    `dropped` receives the number of lost accesses, `stored` what each transaction has stored that did nothing else.
    """

    database: Database
    clock: Callable[[], datetime]
    interval: float = 1.0
    bound: int = BOUND
    dropped: Callable[[int], None] | None = None
    stored: Callable[[UUID, int, Sequence[StoredUse]], None] | None = None

    def __post_init__(self) -> None:
        self._pending: dict[tuple[UUID, UUID], Use] = {}
        self._flushing = asyncio.Lock()

    def note(self, tenant: UUID, memories: Iterable[UUID], *, at: datetime, session: str | None = None) -> None:
        """Remember that these memories were used; never waits.

        Of the session only a digest is kept: it distinguishes sessions, and a user's are not on others' memories.
        """
        sessions = () if session is None else (ids.digest_of(tenant, session),)
        lost = 0
        for memory in memories:
            use = Use(memory=memory, count=1, last=at, sessions=sessions)
            lost += self._add(tenant, use)
        self._lose(lost)

    @property
    def waiting(self) -> int:
        """Return how many memories have accesses that are not yet written down."""
        return len(self._pending)

    async def run(self) -> None:
        """Write down at every interval, until cancelled."""
        while True:
            await asyncio.sleep(self.interval)
            if self._pending:
                await self.flush()

    async def aclose(self) -> None:
        """Write down what is left if the database lets us."""
        await self.flush()
        if self._pending:
            self._lose(sum(use.count for use in self._pending.values()))
            self._pending.clear()

    async def flush(self) -> None:
        """Write down what has been gathered, a statement a tenant; what fails is kept for the next time."""
        async with self._flushing:
            taken, self._pending = self._pending, {}
            by_tenant: dict[UUID, list[Use]] = {}
            for (tenant, _), use in taken.items():
                by_tenant.setdefault(tenant, []).append(use)
            batches = [
                (tenant, uses[at : at + BATCH])
                for tenant, uses in by_tenant.items()
                for at in range(0, len(uses), BATCH)
            ]
            for done, (tenant, uses) in enumerate(batches):
                try:
                    await self._write(tenant, uses)
                except BaseException as error:
                    self._keep(batches[done:] if _may_pass(error) else batches[done + 1 :])
                    if not _may_pass(error):
                        self._lose(sum(use.count for use in uses))
                        _log.exception("accesses could not be recorded", memories=len(uses))
                    if not isinstance(error, Exception):
                        raise
                    return

    async def _write(self, tenant: UUID, uses: list[Use]) -> None:
        """Write accesses down, and take back into what is believed what had expired and is fresh again."""
        memories = [use.memory for use in uses]
        async with self.database.write(tenant) as session:
            expired = await lock_scopes_of_expired(session, tenant, memories)
            if self.stored is None or expired or self.database.clustered:
                await usage.record(session, tenant=tenant, uses=uses)
            else:
                # Told before the commit: until that, nobody sees the transaction.
                self.stored(tenant, *await usage.record_and_tell(session, tenant=tenant, uses=uses))
            if expired:
                await usage.revive(session, tenant, expired, now=self.clock(), actor=ACTOR, reason="it was used again")

    def _keep(self, batches: Iterable[tuple[UUID, list[Use]]]) -> None:
        lost = sum(self._add(tenant, use) for tenant, uses in batches for use in uses)
        self._lose(lost)

    def _add(self, tenant: UUID, use: Use) -> int:
        """Gather one use and return how many accesses that lost."""
        known = self._pending.get((tenant, use.memory))
        if known is None:
            if len(self._pending) >= self.bound:
                return use.count
            self._pending[tenant, use.memory] = use
            return 0
        self._pending[tenant, use.memory] = replace(
            known,
            count=known.count + use.count,
            last=max(known.last, use.last),
            sessions=tuple(dict.fromkeys((*known.sessions, *use.sessions)))[:MOST_SESSIONS],
        )
        return 0

    def _lose(self, accesses: int) -> None:
        if accesses and self.dropped is not None:
            self.dropped(accesses)


def _may_pass(error: BaseException) -> bool:
    """Tell whether trying again later can help: the database was away, busy, or we were interrupted."""
    return isinstance(error, TypedMemoryError) or not isinstance(error, Exception)


LIKENESS = 0.15
"""Least cosine of a match by meaning. With the embedded model, of pairs of a question and a memory that does not
answer it 96 in 100 lie below (of questions about something else altogether 98), and 71 in 100 answers that are
worded otherwise lie above (evals/paraphrases.jsonl). Models whose cosines run higher let more through."""

NEARNESS = 0.4
"""Least share of the best cosine among the answers that a match by meaning has: where something says nearly the same as
the question, what barely resembles it only fills. Of the pairs above, it keeps as many answers as without it (with .5
69 in 100), and takes away a fifth of those that LIKENESS lets through and that don't answer."""

WORDS = 0.1
"""Least share of the weight of a question's words that a match by words has: one word in each memory is not one."""

REVIVING = 0.7
"""Least share of the best score, by meaning or by words, of a match that brings back what has expired: an answer beside
which others answer better was not the one that was asked for."""

_MEANING = frozenset({Arm.SEMANTIC, Arm.SEMANTIC_CONTEXT})

_WORDS = frozenset({Arm.LEXICAL, Arm.LEXICAL_CONTEXT})


def used_memories(shown: Sequence[UUID], hits: Collection[Hit], weights: Mapping[int, float]) -> tuple[UUID, ...]:
    """Return those of the memories shown that match, by meaning, words, a name, a relation or a time.

    `weights` are those of the question's words. What no arm found was fetched because the question asks for it. What
    has expired matches only as well as what matches best, nearly, because its use brings it back.
    """
    total = sum(weights.values())
    best, worded = (_best(hits, arms) for arms in (_MEANING, _WORDS))
    least = {
        False: (max(LIKENESS, NEARNESS * best), WORDS * total),
        True: (max(LIKENESS, REVIVING * best), max(WORDS * total, REVIVING * worded)),
    }
    by_id = {hit.memory.id: hit for hit in hits}
    return tuple(one for one in shown if _is_used(by_id[one], *least[_has_expired(by_id[one])]))


def _best(hits: Collection[Hit], arms: Collection[Arm]) -> float:
    return max((arm.score for hit in hits for arm in hit.arms if arm.arm in arms), default=0.0)


def _has_expired(hit: Hit) -> bool:
    return hit.memory.status is MemoryStatus.EXPIRED


def _is_used(hit: Hit, like: float, words: float) -> bool:
    scored = [arm for arm in hit.arms if arm.arm in _MEANING | _WORDS]
    arms = scored if scored and _has_expired(hit) else hit.arms
    return not hit.arms or any(_matches(arm, like, words) for arm in arms)


def _matches(hit: ArmHit, like: float, words: float) -> bool:
    """Tell whether an arm found a match; `like` and `words` are the least scores by meaning and by words."""
    if hit.arm in _MEANING:
        return hit.score >= like
    if hit.arm in _WORDS:
        return hit.score >= words
    return True

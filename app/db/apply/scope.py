"""The write of a scope: claims it at the version that was read, then all changes land at once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import TypeVar
from uuid import UUID

import asyncpg

from app.db.apply.counts import added, counters
from app.db.apply.memories import A_MOMENT, Restatement, RowChange, change_memories, written
from app.db.audit import AuditWriter, append
from app.db.entities.merge import merge_entities, merge_events
from app.db.memories import hype
from app.db.session import SqlStatement, WriteSession, statement
from app.db.sql import Row, as_clauses, as_record
from app.errors import Conflict
from app.lexical.counts import ScopeCounts
from app.model import Scope

Done = TypeVar("Done")


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Everything one write does to one scope, at its stamp; `unified` pairs are (merged entity, survivor).

    `touched` are the memories that it was decided on, with the status that they had. `reindexed` get new index rows,
    `rebuilt` new mentions and relations, too. `evidence` moves from one memory to another. `asked` get questions that
    they answer, by a job.
    """

    at: datetime
    touched: Mapping[UUID, str]
    rows: Mapping[str, Sequence[Row]]
    changed: tuple[RowChange, ...] = ()
    restated: tuple[Restatement, ...] = ()
    reindexed: tuple[UUID, ...] = ()
    rebuilt: tuple[UUID, ...] = ()
    evidence: tuple[tuple[UUID, UUID], ...] = ()
    unified: tuple[tuple[UUID, UUID], ...] = ()
    asked: tuple[UUID, ...] = ()
    counts: ScopeCounts = field(default_factory=ScopeCounts)
    lexical_average: float = 0.0
    ledger: AuditWriter

    @property
    def is_only_new(self) -> bool:
        """True when the write only adds rows, so that one statement can claim the scope and insert them."""
        return not (self.touched or self.changed or self.reindexed or self.rebuilt or self.evidence)


class ScopeMoved(Exception):
    """Someone else wrote the scope since it was read: read and decide again."""


ATTEMPTS = 3
"""Attempts at a write whose scope keeps moving."""


class ScopeKeptMoving(Conflict):
    """Each attempt at a write has met ScopeMoved."""


async def retried(attempt: Callable[[int], Awaitable[Done]], moved: Callable[[], None] = lambda: None) -> Done:
    """Return the result of the first attempt that does not meet ScopeMoved, or raise ScopeKeptMoving.

    Attempts are given their number, from 0; `moved` is called after each that met ScopeMoved.
    """
    for number in range(ATTEMPTS):
        try:
            return await attempt(number)
        except ScopeMoved:
            moved()
    raise ScopeKeptMoving("other writes to the same scope kept coming first: retry in a moment", retry_after=0.2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """Upkeep that a scope needs after a write: its average length has drifted, or it outgrew exact search."""

    drifted: bool
    crowded: bool


_OPEN = statement(
    """
    INSERT INTO scopes (tenant_id, id, kind, user_id, agent_id)
    VALUES (:tenant, :scope, :kind, :user_id, :agent_id) ON CONFLICT DO NOTHING
    """
)

UPKEEP = """memory_count > :large AND (NOT ann OR EXISTS (
            SELECT FROM memory_index i WHERE i.tenant_id = :tenant AND i.scope_id = scopes.id AND NOT i.ann
        )) AS crowded,
        NOT lexical_settled OR (lexical_documents > 0
        AND abs(lexical_length::float8 / lexical_documents - lexical_average) > :drift * lexical_average) AS drifted"""
"""The columns of `Claimed`, of a row of `scopes`; they go by the limits of `upkeep_limits`."""

_CLAIM = f"""
    UPDATE scopes SET {written()}, {added()},
        lexical_average = CASE WHEN lexical_average = 0 THEN :average ELSE lexical_average END
    WHERE tenant_id = :tenant AND id = :scope AND version = :version
    RETURNING {UPKEEP}
"""  # noqa: S608 - composed of constants

_LOCK = statement(
    "SELECT id, status FROM memories WHERE tenant_id = :tenant AND id = ANY(:ids) ORDER BY id FOR NO KEY UPDATE"
)

_DROP_INDEX = statement("DELETE FROM memory_index WHERE tenant_id = :tenant AND memory_id = ANY(:ids)")

_DROP_MENTIONS = statement(
    """
    WITH stated AS (
        DELETE FROM relations WHERE tenant_id = :tenant AND memory_id = ANY(:ids)
    ), mentioned AS (
        DELETE FROM memory_entities WHERE tenant_id = :tenant AND memory_id = ANY(:ids) RETURNING memory_id, entity_id
    )
    UPDATE entities e SET mention_count = greatest(0, e.mention_count - lost.mentions)
    FROM (
        SELECT k.entity_id, sum(m.mentions) AS mentions
        FROM mentioned k JOIN memories m ON m.tenant_id = :tenant AND m.id = k.memory_id GROUP BY k.entity_id
    ) lost
    WHERE e.tenant_id = :tenant AND e.id = lost.entity_id
    """
)
"""Takes off what is written again with a memory; its evidence, use, past, links and questions stay."""

_MOVE_EVIDENCE = statement("UPDATE evidence SET memory_id = :target WHERE tenant_id = :tenant AND memory_id = :source")

LARGE = 10_000
"""Memories from which a scope's vectors go into the index: half of those that are still searched exactly."""

DRIFT = 0.2
"""How far, as a share, the true average length may be from the one that lexical weights go by.

All weights of a scope go by the same one, so within it a scope's order is that of BM25 with a slightly other `b`.
"""


def upkeep_limits() -> dict[str, object]:
    """Return the parameters of `UPKEEP`."""
    return {"large": LARGE, "drift": DRIFT}


async def apply(session: WriteSession, *, tenant: UUID, scope: Scope, version: int, changes: Changes) -> Claimed:
    """Write the changes, or raise ScopeMoved when the scope is no longer at `version`.

    So it does when a memory that it touches has another status by now: workers expire and forget memories
    without moving their scope. Return what upkeep the scope needs now.
    """
    try:
        await session.stamp(changes.at)
        at_once = changes.is_only_new and not session.clustered
        claimed = await _claim(session, tenant=tenant, scope=scope, version=version, changes=changes, at_once=at_once)
        await _lock(session, tenant, changes.touched)
        for source, target in changes.evidence:
            await session.fetch(_MOVE_EVIDENCE, {"tenant": tenant, "source": source, "target": target})
        if changes.reindexed or changes.rebuilt:
            gone = [*changes.reindexed, *changes.rebuilt]
            await session.fetch(_DROP_INDEX, {"tenant": tenant, "ids": gone})
        if changes.rebuilt:
            await session.fetch(_DROP_MENTIONS, {"tenant": tenant, "ids": list(changes.rebuilt)})
        rows = {} if at_once else changes.rows
        await change_memories(session, tenant, changes.changed, at=changes.at, rows=rows, restated=changes.restated)
        moved = await merge_entities(session, tenant, changes.unified, at=changes.at + A_MOMENT)
        await append(session, merge_events(changes.ledger, moved, "a declaration names them as one"))
        if not at_once:
            await hype.enqueue(session, tenant=tenant, scope=scope.id(tenant), memories=changes.asked, now=changes.at)
    except asyncpg.UniqueViolationError as error:
        raise ScopeMoved from error
    return claimed


async def _lock(session: WriteSession, tenant: UUID, touched: Mapping[UUID, str]) -> None:
    """Lock memories until the transaction ends, or raise ScopeMoved when one is not as it was."""
    if touched:
        rows = await session.fetch(_LOCK, {"tenant": tenant, "ids": list(touched)})
        if {row["id"]: row["status"] for row in rows} != touched:
            raise ScopeMoved


async def _claim(
    session: WriteSession,
    *,
    tenant: UUID,
    scope: Scope,
    version: int,
    changes: Changes,
    at_once: bool,
) -> Claimed:
    """Move the scope's version, or raise ScopeMoved; `at_once`: the same statement inserts the rows and asks."""
    here = {"tenant": tenant, "scope": scope.id(tenant)}
    if version == 0:
        names = {"kind": scope.kind.value, "user_id": scope.user_id, "agent_id": scope.agent_id}
        await session.fetch(_OPEN, {**here, **names})
    inserts, parameters = as_clauses(changes.rows if at_once else {}, if_any="claimed")
    asked = changes.asked if at_once else ()
    claimed = await session.fetch(
        _claiming(_CLAIM, inserts, asking=bool(asked)),
        {
            **here,
            **parameters,
            **(hype.joining(asked) if asked else {}),
            "version": version,
            "at": changes.at + A_MOMENT if changes.unified else changes.at,
            **counters(changes.counts),
            "average": changes.lexical_average,
            **upkeep_limits(),
        },
    )
    if not claimed:
        raise ScopeMoved
    if asked and not claimed[0]["joined"]:
        await hype.enqueue_new(session, **here, memories=asked, now=changes.at)
    return as_record(Claimed, claimed[0])


@cache
def _claiming(claim: str, inserts: str, *, asking: bool) -> SqlStatement:
    if not (inserts or asking):
        return statement(claim)
    clauses = [f"claimed AS ({claim})", *filter(None, [inserts])]
    if asking:
        clauses.append(f"joined AS ({hype.join(if_any='claimed')})")
    joined = ", EXISTS (SELECT FROM joined) AS joined" if asking else ""
    return statement(f"WITH {', '.join(clauses)} SELECT *{joined} FROM claimed")  # noqa: S608 - our own clauses

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

_LOCKED = """
    SELECT id, status FROM memories
    WHERE tenant_id = :tenant AND id = ANY(:touched) ORDER BY id FOR NO KEY UPDATE
"""

_DROP_INDEX = "DELETE FROM memory_index WHERE tenant_id = :tenant AND memory_id = ANY(:reindexed)"

_DROP_MENTIONS = {
    "stated": "DELETE FROM relations WHERE tenant_id = :tenant AND memory_id = ANY(:rebuilt)",
    "mentioned": """
        DELETE FROM memory_entities WHERE tenant_id = :tenant AND memory_id = ANY(:rebuilt)
        RETURNING memory_id, entity_id""",
    "unsaid": """
        UPDATE entities e SET mention_count = greatest(0, e.mention_count - lost.mentions)
        FROM (
            SELECT k.entity_id, sum(m.mentions) AS mentions
            FROM mentioned k JOIN memories m ON m.tenant_id = :tenant AND m.id = k.memory_id GROUP BY k.entity_id
        ) lost
        WHERE e.tenant_id = :tenant AND e.id = lost.entity_id""",
}
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
        for source, target in changes.evidence:
            await session.fetch(_MOVE_EVIDENCE, {"tenant": tenant, "source": source, "target": target})
        rows = {} if at_once else changes.rows
        await change_memories(
            session,
            tenant,
            changes.changed,
            at=changes.at,
            rows=rows,
            restated=changes.restated,
            indexed_anew={*changes.reindexed, *changes.rebuilt},
        )
        moved = await merge_entities(session, tenant, changes.unified, at=changes.at + A_MOMENT)
        await append(session, merge_events(changes.ledger, moved, "a declaration names them as one"))
    except asyncpg.UniqueViolationError as error:
        raise ScopeMoved from error
    return claimed


async def _claim(
    session: WriteSession,
    *,
    tenant: UUID,
    scope: Scope,
    version: int,
    changes: Changes,
    at_once: bool,
) -> Claimed:
    """Move the scope's version, or raise ScopeMoved; `at_once`: the same statement inserts the rows.

    It also locks what the write was decided on, takes off what is written again, and adds to a job that asks.
    """
    here = {"tenant": tenant, "scope": scope.id(tenant)}
    if version == 0:
        names = {"kind": scope.kind.value, "user_id": scope.user_id, "agent_id": scope.agent_id}
        await session.fetch(_OPEN, {**here, **names})
    inserts, parameters = as_clauses(changes.rows if at_once else {}, if_any="claimed")
    asking = bool(changes.asked) and not session.clustered
    given = {
        "touched": sorted(changes.touched),
        "reindexed": [*changes.reindexed, *changes.rebuilt],
        "rebuilt": list(changes.rebuilt),
    }
    used = {name: value for name, value in given.items() if value}
    claimed = await session.fetch(
        _claiming(_CLAIM, inserts, frozenset(used), asking=asking),
        {
            **here,
            **parameters,
            **used,
            **(hype.joining(changes.asked) if asking else {}),
            "version": version,
            "at": changes.at + A_MOMENT if changes.unified else changes.at,
            **counters(changes.counts),
            "average": changes.lexical_average,
            **upkeep_limits(),
        },
    )
    if not claimed or (claimed[0]["locked"] or {}) != {str(one): status for one, status in changes.touched.items()}:
        raise ScopeMoved
    if asking and not claimed[0]["joined"]:
        await hype.enqueue_new(session, **here, memories=changes.asked, now=changes.at)
    elif changes.asked and session.clustered:
        await hype.enqueue(session, **here, memories=changes.asked, now=changes.at)
    return as_record(Claimed, claimed[0])


@cache
def _claiming(claim: str, inserts: str, used: frozenset[str], *, asking: bool) -> SqlStatement:
    """Return the statement that claims a scope, with the clauses for the parameters that are `used`.

    Memories are locked once the scope is claimed, and what is taken off goes after that.
    """
    clauses = {"claimed": claim}
    if "touched" in used:
        clauses["locked"] = _LOCKED
    if "reindexed" in used:
        clauses["unindexed"] = _DROP_INDEX
    if "rebuilt" in used:
        clauses |= _DROP_MENTIONS
    if asking:
        clauses["joined"] = hype.join(if_any="claimed")
    joined = "EXISTS (SELECT FROM joined)" if asking else "false"
    locked = "(SELECT jsonb_object_agg(id, status) FROM locked)" if "touched" in used else "CAST(NULL AS jsonb)"
    with_ = ", ".join([*(f"{name} AS ({sql})" for name, sql in clauses.items()), *filter(None, [inserts])])
    return statement(f"WITH {with_} SELECT *, {joined} AS joined, {locked} AS locked FROM claimed")  # noqa: S608 - our own clauses

"""Evidence of turns, and turns told later (`db.memories.ranking`, `db.memories.later_turns`), from what is held."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from uuid import UUID

import numpy as np

from app.db.memories.excerpt import NEAREST
from app.db.memories.ranking import TurnBelief, TurnEvidence
from app.db.memories.resident import BeliefRow, SayingRow
from app.model import MemoryStatus, ReviewReason, SpeechAct
from app.read.resident.arms import products
from app.read.resident.columns import CONTEXT, STATUSES
from app.read.resident.scope import ResidentScope
from app.read.source import EvidenceQuery, LaterQuery


def is_told_elsewhere(scopes: Sequence[ResidentScope], ids: Collection[UUID]) -> bool:
    """Tell whether a turn of these memories is evidence of memories in scopes that may not be held."""
    return any(said.elsewhere for scope in scopes for one in ids for said in scope.said.get(one, ()))


def is_told_in(scopes: Sequence[ResidentScope], ids: Collection[UUID], session: str) -> bool:
    """Tell whether a turn of these memories belongs to a session."""
    return any(said.session_id == session for scope in scopes for one in ids for said in scope.said.get(one, ()))


def turn_evidence(
    scopes: Sequence[ResidentScope], query: EvidenceQuery, recent: Collection[UUID]
) -> dict[UUID, TurnEvidence]:
    """Return the evidence of turns, by id; `recent` are the last turns of the session that asks."""
    found: dict[UUID, TurnEvidence] = {}
    for scope in scopes:
        for memory in query.ids:
            said = scope.said.get(memory)
            if said:
                shared = [one for one in said if len(scope.told.get(one.turn, ())) > 1]
                beliefs = tuple(belief for one in shared for belief in _beliefs(scope, one, query))
                found[memory] = TurnEvidence(role=said[-1].role, beliefs=beliefs, recent=said[-1].turn in recent)
    return found


def _beliefs(scope: ResidentScope, said: SayingRow, query: EvidenceQuery) -> Iterator[TurnBelief]:
    for other in scope.told.get(said.turn, ()):
        one = scope.standing.get(other.memory)
        if other.memory == said.memory or one is None or one.type in query.verbatim:
            continue
        now = None if one.status == MemoryStatus.ACTIVE else _holder(scope, one)
        yield TurnBelief(
            id=one.id,
            speech_act=SpeechAct(one.speech_act),
            quote=other.quote,
            words=one.words,
            over_at=_over_at(one, other.stated_at, now, query.instant),
            replaced_by=one.superseded_by if now is None else now.id,
            withdrawn=one.status in {MemoryStatus.FORGOTTEN, MemoryStatus.PENDING},
        )


def _holder(scope: ResidentScope, one: BeliefRow) -> BeliefRow | None:
    """Return what holds the slot of a memory."""
    if one.slot is None:
        return None
    among = (scope.standing[other] for other in scope.slots.get((one.type, one.slot), ()))
    return next((other for other in among if other.status == MemoryStatus.ACTIVE and not other.contested), None)


def _over_at(one: BeliefRow, stated_at: datetime, now: BeliefRow | None, instant: datetime) -> datetime | None:
    ended = one.ended_at
    over = ended is not None and ended <= instant and one.status != MemoryStatus.ACTIVE and stated_at < ended
    if over and (now is None or now.slot_value != one.slot_value):
        return ended
    if one.status == MemoryStatus.FORGOTTEN and ended is None:
        return one.retired_at
    if one.status == MemoryStatus.PENDING and one.review_reason == ReviewReason.REPORTED_WRONG:
        return one.review_since
    return None


def later_turns(scope: ResidentScope, query: LaterQuery) -> list[UUID]:
    """Return the turns of a memory's scope that were told after it and are nearest to it, by people."""
    columns, first = scope.columns, scope.first[scope.owners[query.memory]]
    rows = columns.rows
    if first < 0 or not rows["has_vector"][first]:
        return []
    types = [scope.types[one] for one in query.verbatim if one in scope.types]
    assistants = [scope.speakers[one] for one in query.assistants if one in scope.speakers]
    later = (
        (rows["kind"] != CONTEXT)
        & np.isin(rows["type"], types)
        & (rows["status"] == STATUSES[MemoryStatus.ACTIVE])
        & (rows["stated_at"] > rows["stated_at"][first])
        & rows["has_vector"]
        & ~np.isin(rows["speaker"], assistants)
    )
    found = np.nonzero(later)[0]
    cosines = products(columns.vectors[found], columns.vectors[first])
    nearest = np.argsort(-cosines, kind="stable")[:NEAREST]
    return [scope.ids[rows["owner"][found[one]]] for one in nearest if cosines[one] >= query.least]

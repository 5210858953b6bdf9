"""What became of recorded memories: the decision on each right after its turn, and its state at the end of a story."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

from asyncpg import Record

from app import ids
from app.db.session import statement
from app.db.turns import StoredTurn
from app.memory.candidate import WriteDecision
from app.memory.normalise import normalise_name
from app.model import MemoryStatus, Scope, SpeechAct
from app.write.extract import EPISODE
from evals.service import Bench
from evals.truth.stories import BELIEVED, RecordedMemory, words_of


class Fate(StrEnum):
    """The decision on a recorded memory: stored as it was meant, or stopped, and how."""

    STORED = "stored"
    REJECTED = "rejected"
    HELD = "held"
    CAPPED = "capped"
    LEFT_OUT = "left out"


_HELD: Final = frozenset({WriteDecision.REVIEW.value, WriteDecision.CONTRADICTED.value})


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A recorded memory with the decision on it, the reason, and the memory that it led to."""

    turn: str
    recorded: RecordedMemory
    fate: Fate
    reason: str = ""
    memory: UUID | None = None

    @property
    def stopped(self) -> bool:
        """Whether it is not stored as it was meant."""
        return self.fate is not Fate.STORED


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMemory:
    """A memory of a story's user at the end: how it reads, and whether it is active then."""

    id: UUID
    type: str
    content: str
    payload: Mapping[str, Any]
    speech_act: SpeechAct
    active: bool
    why_not: str

    @property
    def believed(self) -> bool:
        """Whether it is recalled as fact."""
        return self.active and self.type != EPISODE and self.speech_act in BELIEVED

    @property
    def text(self) -> str:
        """Its sentence and the values of its payload."""
        return " ".join([self.content, *map(str, self.payload.values())])


def was_asked_again(stored: StoredTurn) -> bool:
    """Tell whether the model was asked again about what a processed turn says."""
    told: Mapping[str, Any] = stored.report or {"trace": []}
    return any(stage["stage"] == "confirm" for stage in told["trace"])


def outcomes(turn: str, recorded: Sequence[RecordedMemory], stored: StoredTurn) -> list[Outcome]:
    """Return what the report of a processed turn says of each recorded memory."""
    told: Mapping[str, Any] = stored.report or {"candidates": [], "trace": []}
    left = [one for one in told["candidates"] if one["type"] != EPISODE]
    faults = [gone["reason"] for stage in told["trace"] for gone in stage["dropped"] if stage["stage"] == "extract"]
    without = stored.reason or "; ".join(faults) or "no decision"
    return [
        Outcome(turn=turn, recorded=one, fate=Fate.LEFT_OUT, reason=without)
        if mine is None
        else _outcome(turn, one, mine)
        for one, mine in zip(recorded, _paired(recorded, left), strict=True)
    ]


def _paired(
    recorded: Sequence[RecordedMemory], reported: Sequence[Mapping[str, Any]]
) -> list[Mapping[str, Any] | None]:
    """Return the reported candidate of each recorded memory, the likeliest pairs first; None where there is none."""
    places = [(place, number) for place in range(len(recorded)) for number in range(len(reported))]
    likely = sorted(places, key=lambda one: -_likeness(recorded[one[0]], reported[one[1]]))
    found: dict[int, int] = {}
    for place, number in likely:
        free = place not in found and number not in found.values()
        if free and _likeness(recorded[place], reported[number]) >= _SAME_QUOTE:
            found[place] = number
    return [reported[found[place]] if place in found else None for place in range(len(recorded))]


_SAME_QUOTE: Final = 10.0
_SAME_TYPE: Final = 5.0


def _likeness(one: RecordedMemory, reported: Mapping[str, Any]) -> float:
    """Return how surely a reported candidate is a recorded memory: by its quote, then its type, then its words."""
    quotes = [normalise_name(quote or "").strip(".,;!? ") for quote in (one.quote, reported["quote"])]
    told = words_of(reported["content"] or "")
    same = _SAME_QUOTE * (quotes[0] == quotes[1]) + _SAME_TYPE * (one.type == reported["type"])
    ends = one.ended == (reported["decision"] == WriteDecision.ENDED)
    return float(same + len(told & one.words) / max(1, len(told)) + ends)


def _outcome(turn: str, one: RecordedMemory, reported: Mapping[str, Any]) -> Outcome:
    decision, reason, act = reported["decision"], reported["reason"], reported["speech_act"]
    memory = None if reported["memory_id"] is None else ids.parse(ids.MEMORY, reported["memory_id"])
    fate = Fate.STORED
    if decision == WriteDecision.REJECTED:
        fate = Fate.REJECTED
    elif decision in _HELD:
        fate = Fate.HELD
    elif one.speech_act in BELIEVED and act not in BELIEVED:
        fate, reason = Fate.CAPPED, f"read as {act}; {reason}"
    return Outcome(turn=turn, recorded=one, fate=fate, reason=reason, memory=memory)


_MEMORIES: Final = statement(
    """
    SELECT id, type, content, payload, speech_act, status, valid_until, ended_at, review_reason
    FROM memories WHERE tenant_id = :tenant AND scope_id = :scope ORDER BY id
    """
)
_HOLDING: Final = statement(
    """
    SELECT m.type FROM evidence e JOIN memories m ON m.tenant_id = e.tenant_id AND m.id = e.memory_id
    WHERE e.tenant_id = :tenant AND e.turn_id = :turn AND m.status = 'active'
    """
)


async def memories_at(bench: Bench, scope: Scope, end: datetime) -> dict[UUID, StoredMemory]:
    """Return all memories of a scope, with whether each is active at the end of its story."""
    tenant = bench.actor.tenant_id
    async with bench.runtime.database.read(tenant) as session:
        rows = await session.fetch(_MEMORIES, {"tenant": tenant, "scope": scope.id(tenant)})
    return {row["id"]: _stored(row, end) for row in rows}


def _stored(row: Record, end: datetime) -> StoredMemory:
    over = row["valid_until"] is not None and row["valid_until"] <= end
    active = row["status"] == MemoryStatus.ACTIVE and not over and row["review_reason"] is None
    return StoredMemory(
        id=row["id"],
        type=row["type"],
        content=row["content"],
        payload=row["payload"],
        speech_act=SpeechAct(row["speech_act"]),
        active=active,
        why_not="" if active else f"over since {row['valid_until']:%Y-%m-%d}" if over else row["status"],
    )


async def types_holding(bench: Bench, turn: UUID) -> list[str]:
    """Return the types of the active memories that rest on a turn."""
    tenant = bench.actor.tenant_id
    async with bench.runtime.database.read(tenant) as session:
        return [row[0] for row in await session.fetch(_HOLDING, {"tenant": tenant, "turn": turn})]


def is_lost(told: Sequence[Outcome], held_by: Sequence[str]) -> bool:
    """Tell whether words of a turn are in nothing that can be recalled.

    A turn that is kept as an episode is not lost; otherwise each of its memories must have been stored.
    """
    stored = all(one.fate is Fate.STORED for one in told) and bool(told)
    return EPISODE not in held_by and not (stored and (held_by or any(one.recorded.ended for one in told)))

"""Trace of the stages, and the report of a turn: each candidate with its decision, and what each stage let through."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter

from app import ids
from app.errors import TypedMemoryError
from app.memory.candidate import Candidate, WriteDecision, WriteOutcome
from app.memory.extraction import TurnStatus
from app.write.values import ExtractedCandidates


class StageTimes(defaultdict[str, float]):
    """Seconds spent in each stage, by its name; a write adds to it."""

    def __init__(self) -> None:
        super().__init__(float)


@contextmanager
def timed(times: StageTimes, stage: str) -> Iterator[None]:
    """Add the time of the block to a stage."""
    started = perf_counter()
    try:
        yield
    finally:
        times[stage] += perf_counter() - started


@dataclass(frozen=True, slots=True, kw_only=True)
class DroppedItem:
    """Something a stage did not let through, by its type and words, and why."""

    what: str
    reason: str


@dataclass(slots=True)
class StageTrace:
    """One stage of one turn: how many things it saw and kept, what it dropped, milliseconds it took."""

    name: str
    seen: int = 0
    kept: int = 0
    dropped: list[DroppedItem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    took_ms: float = 0.0

    def drop(self, what: str, reason: str) -> None:
        """Record that something was not let through."""
        self.dropped.append(DroppedItem(what=what, reason=reason))


@dataclass(slots=True)
class Trace:
    """The stages of one turn, in order."""

    stages: list[StageTrace] = field(default_factory=list)

    @contextmanager
    def stage(self, name: str, seen: int) -> Iterator[StageTrace]:
        """Time a stage; whoever runs it says what it kept and dropped."""
        entered = StageTrace(name=name, seen=seen, kept=seen)
        self.stages.append(entered)
        started = perf_counter()
        try:
            yield entered
        finally:
            entered.took_ms = (perf_counter() - started) * 1000
            entered.kept = entered.seen - len(entered.dropped)

    def add(self, stages: Sequence[StageTrace]) -> None:
        """Add stages that were gone through elsewhere."""
        self.stages.extend(stages)

    def told(self) -> list[dict[str, object]]:
        """Return the stages as JSON values."""
        return [
            {
                "stage": one.name,
                "seen": one.seen,
                "kept": one.kept,
                "dropped": [{"what": gone.what, "reason": gone.reason} for gone in one.dropped],
                "notes": list(one.notes),
                "took_ms": round(one.took_ms, 3),
            }
            for one in self.stages
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnReport:
    """A turn's status with its reason, and what was decided, as JSON values."""

    status: TurnStatus
    reason: str | None
    told: dict[str, object]


def turn_report(
    considered: ExtractedCandidates,
    outcomes: Sequence[WriteOutcome],
    trace: Trace,
    *,
    status: TurnStatus,
    reason: str | None = None,
) -> TurnReport:
    """Return the report of a turn whose candidates came to these outcomes."""
    decided = [_decided(one, outcome) for one, outcome in zip(considered.candidates, outcomes, strict=True)]
    refused: list[dict[str, object]] = [
        {
            "type": one.proposal.type,
            "quote": one.proposal.quote,
            "content": None,
            "speech_act": one.proposal.speech_act,
            "confidence": None,
            "decision": WriteDecision.REJECTED,
            "reason": one.reason,
            "memory_id": None,
            "affected": [],
        }
        for one in considered.refused
    ]
    return TurnReport(
        status=status,
        reason=reason,
        told={"candidates": decided + refused, "trace": trace.told()},
    )


def decision_report(
    candidates: Sequence[Candidate], outcomes: Sequence[WriteOutcome | TypedMemoryError], times: StageTimes
) -> list[StageTrace]:
    """Return the stages that candidates go through when they are written; times are those of all written at once."""
    pairs = [(one, out) for one, out in zip(candidates, outcomes, strict=True) if isinstance(out, WriteOutcome)]
    went = {
        "resolve": (),
        "dedup": (WriteDecision.MERGED,),
        "conflict": (WriteDecision.REJECTED,),
        "persist": (),
    }
    stages = []
    for name, ends in went.items():
        stage = StageTrace(name=name, seen=len(pairs), took_ms=times[name] * 1000)
        for candidate, outcome in pairs:
            if outcome.decision in ends:
                stage.drop(candidate.type.name, outcome.reason)
            elif name == "conflict" and outcome.affected:
                stage.notes.append(f"{candidate.type.name}: {outcome.reason}")
        pairs = [(one, out) for one, out in pairs if out.decision not in ends]
        stage.kept = len(pairs)
        stages.append(stage)
    return stages


def _decided(candidate: Candidate, outcome: WriteOutcome) -> dict[str, object]:
    memory = outcome.memory
    return {
        "type": candidate.type.name,
        "quote": candidate.evidence[0].quote if candidate.evidence else None,
        "content": None if memory is None else memory.content,
        "speech_act": candidate.speech_act,
        "confidence": None if memory is None else round(memory.confidence, 6),
        "decision": outcome.decision,
        "reason": outcome.reason,
        "memory_id": None if memory is None else ids.public(ids.MEMORY, memory.id),
        "affected": [{"memory_id": ids.public(ids.MEMORY, one.id), "change": one.change} for one in outcome.affected],
    }

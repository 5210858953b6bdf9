"""What became of a turn, told: each candidate with its decision and reason, and the stages it went through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app import ids
from app.errors import TypedMemoryError
from app.memory.candidate import Candidate, Decided, Outcome
from app.memory.extraction import TurnStatus
from app.write.consider import Considered
from app.write.timing import Times
from app.write.trace import Stage, Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A turn's status with its reason, and what was decided, as JSON values."""

    status: TurnStatus
    reason: str | None
    told: dict[str, object]


def report(
    considered: Considered,
    outcomes: Sequence[Outcome],
    trace: Trace,
    *,
    status: TurnStatus,
    reason: str | None = None,
) -> Report:
    """Return the report of a turn whose candidates came to these outcomes."""
    decided = [_decided(one, outcome) for one, outcome in zip(considered.candidates, outcomes, strict=True)]
    refused: list[dict[str, object]] = [
        {
            "type": one.proposal.type,
            "quote": one.proposal.quote,
            "content": None,
            "speech_act": one.proposal.speech_act,
            "confidence": None,
            "decision": Decided.REJECTED,
            "reason": one.reason,
            "memory_id": None,
            "affected": [],
        }
        for one in considered.refused
    ]
    return Report(
        status=status,
        reason=reason,
        told={"candidates": decided + refused, "trace": trace.told()},
    )


def decided(
    candidates: Sequence[Candidate], outcomes: Sequence[Outcome | TypedMemoryError], times: Times
) -> list[Stage]:
    """Return the stages that candidates go through when they are written; times are those of all written at once."""
    pairs = [(one, out) for one, out in zip(candidates, outcomes, strict=True) if isinstance(out, Outcome)]
    went = {
        "resolve": (),
        "dedup": (Decided.MERGED,),
        "conflict": (Decided.REJECTED,),
        "persist": (),
    }
    stages = []
    for name, ends in went.items():
        stage = Stage(name=name, seen=len(pairs), took_ms=times[name] * 1000)
        for candidate, outcome in pairs:
            if outcome.decision in ends:
                stage.drop(candidate.type.name, outcome.reason)
            elif name == "conflict" and outcome.affected:
                stage.notes.append(f"{candidate.type.name}: {outcome.reason}")
        pairs = [(one, out) for one, out in pairs if out.decision not in ends]
        stage.kept = len(pairs)
        stages.append(stage)
    return stages


def _decided(candidate: Candidate, outcome: Outcome) -> dict[str, object]:
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

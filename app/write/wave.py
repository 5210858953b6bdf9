"""Decisions about the candidates of a wave, none of which sees the others, on what was read of their scope."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from app.db.entities.write_lookup import ScopeState
from app.memory.candidate import Candidate, WriteDecision
from app.memory.spec import Payload
from app.write.conflict import decide
from app.write.dedup import MOST_ASKED_LATER, repetition
from app.write.lookup import Neighbourhood
from app.write.trace import StageTimes, timed
from app.write.values import Believe, Decision, Existing, PersistResult, Resolved


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedWave:
    """Decisions as of `now`, and the state of the scope that they were made on.

    `unjudged` are, for each candidate, those that may say the same and that no judge has answered about in time.
    """

    state: ScopeState
    now: datetime
    resolved: tuple[Resolved, ...]
    decisions: tuple[Decision, ...]
    unjudged: tuple[tuple[UUID, ...], ...] = ()


def decide_wave(
    known: Neighbourhood,
    doubts: Sequence[Sequence[Existing]],
    same: Sequence[Mapping[UUID, bool]],
    at: datetime,
    times: StageTimes,
) -> DecidedWave:
    """Return the decisions on what was read, given the judge's answers about those that may say the same."""
    now = at if known.state.written_at is None else max(at, known.state.written_at)
    with timed(times, "dedup"):
        repeated = [
            repetition(one, near, alike) for one, near, alike in zip(known.resolved, known.rivals, same, strict=True)
        ]
    with timed(times, "conflict"):
        decisions = [
            decide(one, near, now=now, said=known.said, repeated=again, echoed=heard)
            for one, near, again, heard in zip(known.resolved, known.rivals, repeated, known.echoed, strict=True)
        ]
    return DecidedWave(
        state=known.state,
        now=now,
        resolved=tuple(known.resolved),
        decisions=tuple(decisions),
        unjudged=tuple(
            tuple(one.id for one in open_[:MOST_ASKED_LATER] if one.id not in answered)
            for open_, answered in zip(doubts, same, strict=True)
        ),
    )


def collisions(decisions: Sequence[Decision]) -> list[int]:
    """Return where to cut, so that no two decisions between two cuts change one memory; empty when none do.

    Likeness does not carry over: two candidates unlike each other may both say the same as a third.
    """
    cuts: list[int] = []
    changed: set[UUID] = set()
    for place, one in enumerate(decisions):
        own = {change.before.id for change in one.transition.changes} if isinstance(one, Believe) else set()
        if own & changed:
            cuts.append(place)
            changed = set()
        changed |= own
    return cuts


def unjudged_pairs(decided: DecidedWave, verdicts: Sequence[PersistResult]) -> list[tuple[UUID, UUID]]:
    """Return the new memories, each with one that may say the same, that a judge is asked about later."""
    return [
        (verdict.memory, other)
        for verdict, others in zip(verdicts, decided.unjudged, strict=True)
        if verdict.memory is not None and verdict.decided is WriteDecision.ADDED
        for other in others
    ]


def is_restated(decision: Decision) -> bool:
    """Return whether a decision changes a payload, so that it is embedded again."""
    return isinstance(decision, Believe) and decision.payload is not None


def grown_candidate(resolved: Resolved, decision: Believe, payload: Payload) -> Candidate:
    """Return the candidate of a belief that was restated: the new words, in the old one's place."""
    into = decision.transition.holder
    assert isinstance(into, Existing)  # noqa: S101 - what is said again was read
    return replace(
        resolved.prepared.candidate,
        payload=payload,
        content=None,
        wording=None,
        stated_at=into.stated_at,
        topic=into.topic,
        session_id=into.session_id,
        sequence_number=into.sequence_number,
    )

"""The labelled turns through the embedded rules and every guard behind them, up to where the store would decide.

A turn comes with the one before it, as the sample has it, and with no store: whom `she` means is told from these two
turns or not at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import NAMESPACE_URL, uuid5

from app.memory.extraction import Extraction, PrefilterPolicy, Role, Turn
from app.memory.registry import Registry
from app.model import Scope, ScopeKind
from app.providers.protocols import Extractor
from app.write.extract import ExtractionContext, candidates_of
from app.write.prefilter import RecentTurn, RejectedTurn, prefilter
from app.write.trace import Trace
from evals import datasets
from evals.junk import Candidate, Label
from evals.sample import Sampled

ROLES = frozenset(Role)


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarded:
    """What came of the sample, by a turn's id: what the rules proposed, and what the guards let through."""

    proposed: Mapping[str, tuple[Candidate, ...]]
    kept: Mapping[str, tuple[Candidate, ...]]
    dropped: int = 0
    reasons: tuple[str, ...] = field(default_factory=tuple)
    """Why proposals were refused, one each."""


def spoken(turn: datasets.Turn, scope: Scope, name: str) -> Turn:
    """Return a turn of a set as the service receives it, with an id that `name` gives; a person's name is a speaker."""
    role = Role(turn.speaker) if turn.speaker in ROLES else Role.USER
    return Turn(
        id=uuid5(NAMESPACE_URL, name),
        scope=scope,
        role=role,
        content=turn.text,
        occurred_at=turn.occurred_at,
        session_id=turn.session_id,
        sequence_number=turn.sequence + 1,
        speaker=None if turn.speaker in ROLES else turn.speaker,
    )


async def guarded(drawn: Sequence[Sampled], extractor: Extractor, types: Registry) -> Guarded:
    """Return what becomes of each turn of the sample under the default policy, without episodes."""
    means = ExtractionContext(types=types, extractor=extractor.name, keep_episodes=False)
    scope = Scope(kind=ScopeKind.USER, user_id="labels")
    proposed: dict[str, tuple[Candidate, ...]] = {}
    kept: dict[str, tuple[Candidate, ...]] = {}
    reasons: list[str] = []
    for one in drawn:
        turn = spoken(one.turn, scope, one.id)
        context = [] if one.before is None else [spoken(one.before, scope, f"before {one.id}")]
        if isinstance(prefilter(turn, _recent(context), PrefilterPolicy()), RejectedTurn):
            continue
        [extraction] = await extractor.extract([turn], context)
        considered = candidates_of(turn, extraction, context, (), means, Trace())
        proposed[one.id] = _proposals(extraction, types)
        kept[one.id] = tuple(
            (found.type.name, found.payload.render()) for found in considered.candidates if found.ending is None
        )
        reasons += [f"{refused.proposal.type}: {refused.reason}" for refused in considered.refused]
    return Guarded(proposed=proposed, kept=kept, dropped=len(drawn) - len(kept), reasons=tuple(reasons))


def baselines(labels: Sequence[Label]) -> dict[str, dict[str, tuple[Candidate, ...]]]:
    """Return what extractors that read nothing would produce, by their names."""
    fact: tuple[Candidate, ...] = (("fact", ""),)
    return {
        "a fact of any turn": {label.id: fact for label in labels},
        "a fact of a person's turn": {label.id: fact for label in labels if label.role == Role.USER},
    }


def _recent(context: Sequence[Turn]) -> list[RecentTurn]:
    return [
        RecentTurn(content=one.content, occurred_at=one.occurred_at, role=one.role, speaker=one.speaker)
        for one in context
    ]


def _proposals(extraction: Extraction, types: Registry) -> tuple[Candidate, ...]:
    return tuple(
        (one.type, types.get(one.type).payload.model_validate(dict(one.payload)).render())
        for one in extraction.proposals
        if not one.ends
    )

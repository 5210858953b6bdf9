"""A turn on its way through the pipeline: what came before it, what was found out about it, what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from app.db import turns as rows
from app.db.references import Referent
from app.errors import ExtractionFailed, TypedMemoryError
from app.memory.candidate import Outcome
from app.memory.extraction import Extraction, Turn, TurnStatus, Usage
from app.providers.chat import spent
from app.text.framing import NO_FRAMING, Framing
from app.write.asked import gated
from app.write.consider import Considered
from app.write.frames import framed
from app.write.policy import TenantPolicy
from app.write.prefilter import Dropped
from app.write.report import Report, report
from app.write.spoken import HEARD_TURNS
from app.write.trace import Trace

CONTEXT_TURNS = 4
"""Turns of the session just before that extraction sees, to know whom a pronoun means."""


@dataclass(slots=True, kw_only=True)
class Work:
    """A turn on its way: what was found out about it so far."""

    turn: Turn
    context: Sequence[Turn]
    heard: Sequence[Turn] = ()
    framing: Framing = NO_FRAMING
    trace: Trace = field(default_factory=Trace)
    dropped: Dropped | None = None
    extraction: Extraction | None = None
    failure: TypedMemoryError | None = None
    referents: Sequence[Referent] = ()
    considered: Considered = field(default_factory=Considered)
    outcomes: list[Outcome | TypedMemoryError] = field(default_factory=list)

    @property
    def usage(self) -> Usage:
        """Return what the model was asked for the turn, if one was."""
        if self.extraction is not None:
            return self.extraction.usage
        return Usage() if self.failure is None else spent(self.failure)

    @property
    def unavailable(self) -> bool:
        """Return whether its extraction may work later, unlike one that was answered and could not be used."""
        return self.failure is not None and not isinstance(self.failure, ExtractionFailed)


def prefiltered(turns: Sequence[Turn], earlier: Sequence[Turn], policy: TenantPolicy) -> list[Work]:
    """Return turns with what they were said after, prefiltered (stage 1); `earlier` are those of the store."""
    works = []
    for place, turn in enumerate(turns):
        before = sorted([*earlier, *turns[:place]], key=rows.in_order)
        before = [one for one in before if rows.in_order(one) < rows.in_order(turn)]
        heard = [one for one in before if one.session_id == turn.session_id]
        context = [] if turn.session_id is None else heard
        work = Work(
            turn=turn,
            context=context[-CONTEXT_TURNS:],
            heard=heard[-HEARD_TURNS:],
            framing=framed(turn, context),
        )
        with work.trace.stage("prefilter", 1) as stage:
            verdict, question = gated(turn, before, policy.prefilter)
            work.context = work.context or question
            if isinstance(verdict, Dropped):
                work.dropped = verdict
                stage.drop("turn", verdict.reason)
            else:
                work.turn = replace(turn, content=verdict.content)
        works.append(work)
    return works


def reported(work: Work) -> Report:
    """Return what became of a turn."""
    status, reason = TurnStatus.PROCESSED, None
    if work.dropped is not None:
        status, reason = TurnStatus.SKIPPED, work.dropped.reason
    elif work.failure is not None:
        status, reason = TurnStatus.FAILED, work.failure.message
    outcomes = [one for one in work.outcomes if isinstance(one, Outcome)]
    return report(work.considered, outcomes, work.trace, status=status, reason=reason)

"""The states of turns on their way through the pipeline, their reports, and the windows that are extracted at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from uuid import UUID

from app.amounts import amount
from app.db import turns as db_turns
from app.db.entities.write_lookup import Referent
from app.english.role_play import NO_FRAMING, RolePlayFrame
from app.errors import ExtractionFailed, TypedMemoryError
from app.memory.candidate import WriteOutcome
from app.memory.extraction import (
    NOTHING_KNOWN,
    Extraction,
    KnownExcerpt,
    PrefilterPolicy,
    TokenUsage,
    Turn,
    TurnStatus,
)
from app.memory.registry import Registry
from app.providers.chat import spent_tokens
from app.write.known import with_known_keys
from app.write.prefilter import RejectedTurn, framed, prefilter_with_question
from app.write.referents import HEARD_TURNS
from app.write.trace import Trace, TurnReport, turn_report
from app.write.values import ExtractedCandidates

CONTEXT_TURNS = 4
"""Turns of the session just before that extraction sees, to know whom a pronoun means."""


@dataclass(slots=True, kw_only=True)
class TurnState:
    """A turn on its way: what was found out about it so far."""

    turn: Turn
    context: Sequence[Turn]
    heard: Sequence[Turn] = ()
    framing: RolePlayFrame = NO_FRAMING
    trace: Trace = field(default_factory=Trace)
    dropped: RejectedTurn | None = None
    known: KnownExcerpt = NOTHING_KNOWN
    extraction: Extraction | None = None
    failure: TypedMemoryError | None = None
    referents: Sequence[Referent] = ()
    considered: ExtractedCandidates = field(default_factory=ExtractedCandidates)
    outcomes: list[WriteOutcome | TypedMemoryError] = field(default_factory=list)

    @property
    def usage(self) -> TokenUsage:
        """Return what the model was asked for the turn, if one was."""
        if self.extraction is not None:
            return self.extraction.usage
        return TokenUsage() if self.failure is None else spent_tokens(self.failure)

    def answer(self, answer: Extraction | TypedMemoryError, types: Registry, *, window: int, took_ms: float) -> None:
        """Take what the extractor answered about the turn, as one of a window of so many."""
        with self.trace.stage("extract", 1) as stage:
            if window > 1:
                stage.notes.append(f"extracted together with {amount(window - 1, 'other turns')}")
            if isinstance(answer, TypedMemoryError):
                self.failure = answer
                stage.drop("turn", answer.message)
            else:
                self.extraction = with_known_keys(answer, self.known, types)
                for reason in answer.unusable:
                    stage.seen += 1
                    stage.drop("memory", reason)
        stage.took_ms = took_ms

    @property
    def unavailable(self) -> bool:
        """Return whether its extraction may work later, unlike one that was answered and could not be used."""
        return self.failure is not None and not isinstance(self.failure, ExtractionFailed)


def prefiltered(turns: Sequence[Turn], earlier: Sequence[Turn], policy: PrefilterPolicy) -> list[TurnState]:
    """Return turns with what they were said after, prefiltered (stage 1); `earlier` are those of the store."""
    works = []
    for place, turn in enumerate(turns):
        before = sorted([*earlier, *turns[:place]], key=db_turns.in_order)
        before = [one for one in before if db_turns.in_order(one) < db_turns.in_order(turn)]
        heard = [one for one in before if one.session_id == turn.session_id]
        context = [] if turn.session_id is None else heard
        work = TurnState(
            turn=turn,
            context=context[-CONTEXT_TURNS:],
            heard=heard[-HEARD_TURNS:],
            framing=framed(turn, context),
        )
        with work.trace.stage("prefilter", 1) as stage:
            verdict, question = prefilter_with_question(turn, before, policy)
            work.context = work.context or question
            if isinstance(verdict, RejectedTurn):
                work.dropped = verdict
                stage.drop("turn", verdict.reason)
            else:
                work.turn = replace(turn, content=verdict.content)
        works.append(work)
    return works


def report_of(work: TurnState) -> TurnReport:
    """Return the report of a turn."""
    status, reason = TurnStatus.PROCESSED, None
    if work.dropped is not None:
        status, reason = TurnStatus.SKIPPED, work.dropped.reason
    elif work.failure is not None:
        status, reason = TurnStatus.FAILED, work.failure.message
    outcomes = [one for one in work.outcomes if isinstance(one, WriteOutcome)]
    return turn_report(work.considered, outcomes, work.trace, status=status, reason=reason)


LONGEST_WINDOW = 12_000
"""Characters of turns that are extracted together."""


def by_session(works: Sequence[TurnState], most: int) -> list[list[list[TurnState]]]:
    """Return the windows of each session, a turn of none being one by itself."""
    sessions: dict[str | UUID, list[TurnState]] = {}
    for work in works:
        sessions.setdefault(work.turn.session_id or work.turn.id, []).append(work)
    return [list(windows(one, most)) for one in sessions.values()]


def steps(works: Sequence[TurnState], most: int) -> Iterator[list[TurnState]]:
    """Yield turns so that a step has the next window of each session, and the first one all turns of none."""
    for step in zip_longest(*by_session(works, most), fillvalue=()):
        yield [work for window in step for work in window]


def windows(works: Sequence[TurnState], most: int) -> Iterator[list[TurnState]]:
    """Yield turns in their order, those of a session that follow one another together, `most` that passed at once.

    What is to be extracted is the same for all of a window.
    """
    window: list[TurnState] = []
    for work in works:
        passed = [one for one in (*window, work) if one.dropped is None]
        fits = (
            bool(window)
            and len(passed) <= most
            and work.turn.session_id is not None
            and work.turn.session_id == window[-1].turn.session_id
            and work.turn.instructions == window[-1].turn.instructions
            and sum(len(one.turn.content) for one in passed) <= LONGEST_WINDOW
        )
        if window and not fits:
            yield window
            window = []
        window.append(work)
    if window:
        yield window

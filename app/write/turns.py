"""The write pipeline for turns of a conversation: prefilter, extract, then the stages of every write.

No model is called inside a transaction, and a turn is finished only when everything extracted from it is stored. A turn
that is processed again, after a crash or by another worker, stores nothing twice: what a turn says is unique in the
database.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from time import perf_counter
from uuid import UUID, uuid5

from pydantic_core import from_json, to_json

from app import ids
from app.db import quotas, scopes
from app.db import turns as db_turns
from app.db.entities import write_lookup
from app.db.session import Database, ReadSession, WriteSession
from app.db.sql import insert_all
from app.db.turns import StoredTurn, TurnResult
from app.errors import ExtractionFailed, ProviderError, ProviderUnavailable, TypedMemoryError
from app.memory import normalise
from app.memory.candidate import Candidate, WriteOutcome
from app.memory.extraction import (
    SHORT_TURN,
    Extraction,
    TenantPolicy,
    TokenUsage,
    Turn,
    TurnStatus,
)
from app.memory.registry import Registry, Types
from app.model import Actor
from app.providers.chat import spent_tokens
from app.providers.factory import Prices
from app.providers.protocols import Confirmation, Confirmer, Extractor
from app.write import extract
from app.write.coreference import binding_rows, needs_context
from app.write.doubts import confirmed, doubtful_claim
from app.write.extract import ExtractionContext, candidates_of, with_spent
from app.write.forgetting import Forgetting
from app.write.known import KnownReader, names_meant, texts_shown, together_known
from app.write.pipeline import WritePipeline
from app.write.plans import may_meet_plans, types_of_plans, with_plans
from app.write.reference_lines import NOTHING_REFERRED, ReferredLines, ids_of
from app.write.referents import HEARD_TURNS
from app.write.scope_locks import ScopeLocks
from app.write.trace import StageTimes, Trace, TurnReport, decision_report
from app.write.turn_states import TurnState, by_session, prefiltered, report_of, steps, windows
from app.write.values import ExtractedCandidates

RECENT_TURNS = 50
"""Turns of the last moments that a turn is compared with for repetition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestPipeline:
    """Takes turns through the pipeline.

    `least_words` is the fewest words of a turn for a tenant that has set none; `confirmer` is asked about doubtful
    proposals; `observe` receives each turn's status, and the gate that dropped it or ''.
    """

    database: Database
    writing: WritePipeline
    extractor: Extractor
    known: KnownReader
    types: Types
    clock: Callable[[], datetime]
    keep_episodes: bool
    least_words: int = SHORT_TURN
    sessions: ScopeLocks = field(default_factory=ScopeLocks)
    prices: Prices = field(default_factory=Prices)
    confirmer: Confirmer | None = None
    observe: Callable[[str, str], None] = lambda _status, _reason: None

    async def process(
        self,
        actor: Actor,
        turns: Sequence[StoredTurn],
        policy: TenantPolicy,
        types: Registry,
        earlier: Sequence[Turn] | None = None,
        *,
        give_up: bool = False,
    ) -> dict[UUID, StoredTurn]:
        """Take stored turns of one scope through the pipeline, in order; return those that this finished.

        `types` are the tenant's, `earlier` what `earlier_turns` returns for the turns, where it was read already.
        The reports of the turns are stored with what they said, in one transaction if that is written in one. Raises
        the first error that stands in the way of a turn, a provider's or the database's: the turns before it in its
        session are finished then, it and those after it are as they were and can be processed again. With `give_up`,
        turns that the extractor does not answer about are finished as failed, before that is raised.

        An extractor that reads what is known is shown what the earlier windows of a session led to; the sessions go
        side by side.
        """
        kept = {one.turn.id: one.extraction for one in turns if one.extraction is not None}
        given = {one.turn.id: one for one in turns}
        finished: dict[UUID, StoredTurn] = {}
        failure: TypedMemoryError | None = None
        async with self._in_order(actor, [one.turn for one in turns]):
            works = await self._prefilter(actor, [one.turn for one in turns], policy, earlier)
            for step in steps(works, self.extractor.window) if self.extractor.reads_known else [works]:
                await self._look_up([one for one in step if one.turn.id not in kept], actor, types)
                await self._extract(step, kept, actor, policy, types)
                missing = next((place for place, one in enumerate(step) if one.unavailable), len(step))
                ready = step if give_up else step[:missing]
                await self._consider(actor, ready, policy, types)
                now = self.clock()
                reports, error = await self._decide(actor, ready, now)
                finished |= {turn: finished_turn(given[turn], report, now) for turn, report in reports.items()}
                failure = failure or (step[missing].failure if missing < len(step) else None)
                if error is not None or (failure is not None and not give_up):
                    raise error or failure or AssertionError("unreachable")
        if failure is not None:
            raise failure
        return finished

    async def windows(self, actor: Actor, turns: Sequence[Turn], policy: TenantPolicy) -> list[list[TurnState]]:
        """Return the turns of one scope that pass the prefilter, those together that are extracted together."""
        works = await self._prefilter(actor, turns, policy)
        found = [window for one in by_session(works, self.extractor.window) for window in one]
        passed = [[one for one in window if one.dropped is None] for window in found]
        return [window for window in passed if window]

    @asynccontextmanager
    async def _in_order(self, actor: Actor, turns: Sequence[Turn]) -> AsyncIterator[None]:
        """Wait for turns of the same sessions that this process extracts from, where extraction reads what is known."""
        sessions = {(one.scope.id(actor.tenant_id), one.session_id) for one in turns if one.session_id is not None}
        keys = {uuid5(scope, session) for scope, session in sessions} if self.extractor.reads_known else ()
        async with AsyncExitStack() as held:
            for key in sorted(keys):
                await held.enter_async_context(self.sessions.enter(key))
            yield

    async def abandon(
        self, actor: Actor, turns: Sequence[StoredTurn], policy: TenantPolicy, types: Registry, reason: str
    ) -> None:
        """Finish stored turns of one scope as failed without asking the extractor, and keep each as an episode.

        One whose episode can't be stored is finished all the same.
        """
        works = await self._prefilter(actor, [one.turn for one in turns], policy)
        for one in works:
            one.failure = ExtractionFailed(reason)
        await self._consider(actor, works, policy, types)
        now = self.clock()
        finished: Mapping[UUID, TurnReport] = {}
        with suppress(TypedMemoryError):
            finished, _ = await self._decide(actor, works, now)
        left = [replace(one, considered=ExtractedCandidates()) for one in works if one.turn.id not in finished]
        if left:
            async with self.database.write(actor.tenant_id) as session:
                self._observe(left, await self._finish(session, actor, left, now))

    async def _decide(
        self, actor: Actor, works: Sequence[TurnState], now: datetime
    ) -> tuple[Mapping[UUID, TurnReport], TypedMemoryError | None]:
        """Have the candidates of turns decided and stored (stages 3 to 6), and finish the turns.

        Return the reports of those that this finished, and the first error in place of an outcome.
        """
        finished: dict[UUID, TurnReport] = {}
        times = StageTimes()

        async def finish(session: WriteSession, results: Mapping[int, WriteOutcome | TypedMemoryError]) -> None:
            done = with_outcomes(works, [results[place] for place in range(len(results))], times)
            finished.update(await self._finish(session, actor, done, now))

        candidates = _candidates(works)
        outcomes = await self.writing.write(actor, candidates, times, finish) if candidates else []
        error = next((one for one in outcomes if isinstance(one, TypedMemoryError)), None)
        if works and (error is not None or not finished):
            async with self.database.write(actor.tenant_id) as session:
                await finish(session, dict(enumerate(outcomes)))
        self._observe(works, finished)
        return finished, error

    def _observe(self, works: Sequence[TurnState], finished: Mapping[UUID, TurnReport]) -> None:
        for one in works:
            if one.turn.id in finished:
                self.observe(finished[one.turn.id].status, "" if one.dropped is None else one.dropped.gate)

    async def preview(self, actor: Actor, turns: Sequence[Turn], policy: TenantPolicy) -> list[TurnReport]:
        """Return the reports that turns would have if they were sent; nothing is written.

        Each candidate is decided against what is stored, not against the others.
        """
        types = await self.types.of(actor.tenant_id)
        works = await self._prefilter(actor, turns, policy)
        await self._look_up(works, actor, types)
        await self._extract(works, {}, None, policy, types)
        for one in works:
            if one.unavailable and one.failure is not None:
                raise one.failure
        await self._consider(actor, works, policy, types)
        times, candidates = StageTimes(), _candidates(works)
        outcomes = await self.writing.preview(actor, candidates, times) if candidates else []
        return [report_of(one) for one in with_outcomes(works, outcomes, times)]

    async def earlier_turns(
        self, session: ReadSession, tenant: UUID, turns: Sequence[Turn], policy: TenantPolicy
    ) -> list[Turn]:
        """Return the stored turns that these, of one scope, must be seen with."""
        around = await db_turns.around(
            session,
            tenant,
            turns[0].scope.id(tenant),
            turns,
            context=HEARD_TURNS,
            window=policy.prefilter.repeat_seconds,
            recent=RECENT_TURNS,
        )
        given = {turn.id for turn in turns}
        return [turn for turn in around if turn.id not in given]

    async def _prefilter(
        self, actor: Actor, turns: Sequence[Turn], policy: TenantPolicy, earlier: Sequence[Turn] | None = None
    ) -> list[TurnState]:
        """Return the turns with their earlier turns, prefiltered (stage 1)."""
        if not turns:
            return []
        if earlier is None:
            async with self.database.read(actor.tenant_id) as session:
                earlier = await self.earlier_turns(session, actor.tenant_id, turns, policy)
        screened = policy.prefilter
        turns = [policy.instructed(one) for one in turns]
        if screened.min_words is None:
            screened = screened.model_copy(update={"min_words": self.least_words})
        return await asyncio.to_thread(prefiltered, turns, earlier, screened)

    async def _look_up(self, works: Sequence[TurnState], actor: Actor, types: Registry) -> None:
        """Look up what the turns that passed may touch, where the extractor makes use of it."""
        if not self.extractor.reads_known:
            return
        passed = [one for one in works if one.dropped is None]
        found = await self.known.excerpts(actor, [(one.turn, one.context) for one in passed], types)
        for work, known in zip(passed, found, strict=True):
            work.known = known

    async def _extract(
        self,
        works: Sequence[TurnState],
        known: Mapping[UUID, Mapping[str, object]],
        actor: Actor | None,
        policy: TenantPolicy,
        types: Registry,
    ) -> None:
        """Have every turn that passed extracted (stage 2), all at once; the extractor bounds its own calls.

        Turns of a session that follow one another are extracted together, as many as the extractor takes.
        """
        together = None if actor is None else extract.BatchingWriter(keep=partial(self._keep, actor))
        passed = [one for one in works if one.dropped is None]
        for work in passed:
            if work.turn.id in known:
                with work.trace.stage("extract", 1) as stage:
                    work.extraction = extract.extraction_from_json(known[work.turn.id])
                    stage.notes.append("as extracted before")

        async def asked(window: Sequence[TurnState]) -> None:
            began = perf_counter()
            answers = await self._answers(window, policy, types)
            for work, answer in zip(window, answers, strict=True):
                work.answer(answer, types, window=len(window), took_ms=(perf_counter() - began) * 1000)
            if together is not None and any(one.usage.requests for one in window):
                await asyncio.gather(*map(together, window))

        async with asyncio.TaskGroup() as group:
            for window in windows([one for one in passed if one.turn.id not in known], self.extractor.window):
                group.create_task(asked(window))

    async def _answers(
        self, window: Sequence[TurnState], policy: TenantPolicy, types: Registry
    ) -> Sequence[Extraction | TypedMemoryError]:
        """Return what is extracted from turns together; from each alone, where an answer about all can't be used."""
        try:
            return await self.extractor.extract(
                [one.turn for one in window],
                window[0].context,
                types=types,
                excluded=policy.excluded_types,
                known=together_known([one.known for one in window]),
            )
        except TypedMemoryError as error:
            if len(window) == 1:
                return [error]
            if not isinstance(error, ExtractionFailed):
                return [error, *(ProviderUnavailable(error.message) for _ in window[1:])]
            spent = spent_tokens(error)
        each = await asyncio.gather(*(self._answers([one], policy, types) for one in window))
        return [with_spent(answer, TokenUsage() if place else spent) for place, [answer] in enumerate(each)]

    async def _keep(self, actor: Actor, works: Sequence[TurnState]) -> None:
        """Store what a model answered and what it cost; where that fails, it is the turns' failure."""
        usage = sum((one.usage for one in works), TokenUsage())
        told = {one.turn.id: extract.extraction_to_json(one.extraction) for one in works if one.extraction is not None}
        try:
            async with self.database.write(actor.tenant_id) as session:
                await db_turns.save_extractions(session, actor.tenant_id, told)
                await self._add_use(session, actor, usage)
        except TypedMemoryError as error:
            for one in works:
                one.failure = error

    async def _add_use(self, session: WriteSession, actor: Actor, usage: TokenUsage) -> None:
        await quotas.add_model_use(session, actor, self.clock().date(), usage, self.prices.cost(usage))

    async def _recall(self, actor: Actor, works: Sequence[TurnState]) -> None:
        """Look up whom the turns may refer to, where they refer to anybody."""
        asking = [
            (work, predicates)
            for work in works
            if work.extraction is not None
            and (predicates := needs_context(work.extraction.proposals, (*work.heard, work.turn))) is not None
        ]
        if not asking:
            return
        async with self.database.read(actor.tenant_id) as session:
            for work, predicates in asking:
                turn = work.turn
                work.referents = await write_lookup.recent(
                    session,
                    actor.tenant_id,
                    turn.scope.id(actor.tenant_id),
                    turn.session_id,
                    at=turn.occurred_at,
                    owners={normalise.normalise_name(turn.first_person), normalise.normalise_name(turn.second_person)},
                    predicates=predicates,
                )

    async def _consider(self, actor: Actor, works: Sequence[TurnState], policy: TenantPolicy, types: Registry) -> None:
        """Make candidates of the proposals, in the order they were said."""
        await self._recall(actor, works)
        await self._meet_plans(actor, works, types)
        lines = await self._referred(actor, works)
        await asyncio.to_thread(self._propose, works, policy, types, lines)
        await self._confirm(actor, works, policy)

    async def _confirm(self, actor: Actor, works: Sequence[TurnState], policy: TenantPolicy) -> None:
        """Ask once about all candidates whose wording disagrees with the extractor; without an answer they are held."""
        doubted = [
            (work, place, one)
            for work in works
            for place, one in enumerate(work.considered.candidates)
            if one.doubt is not None
        ]
        if self.confirmer is None or not doubted:
            return
        try:
            answer = await self.confirmer.confirm([doubtful_claim(one, work.turn) for work, _, one in doubted])
        except ProviderError as error:
            answer = Confirmation(verdicts=tuple(None for _ in doubted), usage=spent_tokens(error))
        if answer.usage.requests:
            async with self.database.write(actor.tenant_id) as session:
                await self._add_use(session, actor, answer.usage)
        keep = self._keeps_episodes(policy)
        for work in {id(work): work for work, _, _ in doubted}.values():
            verdicts = {
                place: verdict
                for (of, place, _), verdict in zip(doubted, answer.verdicts, strict=True)
                if of is work and verdict is not None
            }
            with work.trace.stage("confirm", sum(of is work for of, _, _ in doubted)) as stage:
                before = len(work.considered.refused)
                work.considered = confirmed(work.considered, verdicts, keep_episodes=keep or work.failure is not None)
                for one in work.considered.refused[before:]:
                    stage.drop(one.proposal.type, one.reason)

    def _keeps_episodes(self, policy: TenantPolicy) -> bool:
        return self.keep_episodes if policy.keep_episodes is None else policy.keep_episodes

    async def _meet_plans(self, actor: Actor, works: Sequence[TurnState], types: Registry) -> None:
        """Refer proposals that carry out, move or call off a plan to it; asks nothing where there is none of these."""
        meeting = [
            (work, work.extraction)
            for work in works
            if work.extraction is not None and may_meet_plans(work.extraction.proposals, types)
        ]
        if not meeting:
            return
        stored = await self.known.of_types(actor, works[0].turn.scope, types_of_plans(types))
        for work, extraction in meeting if stored else ():
            proposals = [with_plans(one, stored, work.turn, types) for one in extraction.proposals]
            work.extraction = replace(extraction, proposals=tuple(proposals))

    async def _referred(self, actor: Actor, works: Sequence[TurnState]) -> ReferredLines:
        """Look up what the proposals of turns of one scope refer to, where they refer to anything."""
        ids = ids_of([one for work in works if work.extraction is not None for one in work.extraction.proposals])
        return await self.known.referred(actor, works[0].turn.scope, ids) if ids else NOTHING_REFERRED

    def _propose(self, works: Sequence[TurnState], policy: TenantPolicy, types: Registry, lines: ReferredLines) -> None:
        """Turn proposals into candidates; a turn whose extraction failed is kept as an episode in any case."""
        keep = self._keeps_episodes(policy)
        means = ExtractionContext(types=types, extractor=self.extractor.name, keep_episodes=keep)
        for work in works:
            if work.dropped is None:
                work.considered = candidates_of(
                    work.turn,
                    work.extraction or Extraction(),
                    work.context,
                    work.referents,
                    replace(
                        means,
                        keep_episodes=keep or work.failure is not None,
                        names=names_meant(work.known, work.turn),
                        lines=lines,
                        shown=texts_shown(work.known),
                    ),
                    work.trace,
                    work.framing,
                    work.heard,
                )

    async def _finish(
        self, session: WriteSession, actor: Actor, works: Sequence[TurnState], now: datetime
    ) -> dict[UUID, TurnReport]:
        """Store the reports of the turns that are complete, their cost, and the meaning of their pronouns.

        A turn that is processed again is counted once. Return the reports of those that nobody else has finished.
        """
        tenant = actor.tenant_id
        complete = [one for one in works if not any(isinstance(out, TypedMemoryError) for out in one.outcomes)]
        if not complete:
            return {}
        await self._forget(session, actor, complete, now)
        reports = {one.turn.id: report_of(one) for one in complete}
        given = [
            TurnResult(id=turn, status=one.status, reason=one.reason, report=one.told) for turn, one in reports.items()
        ]
        ended = await db_turns.finish(session, tenant, given, now)
        mine = [one for one in complete if one.turn.id in ended]
        statuses = Counter(reports[one.turn.id].status for one in mine)
        cost = quotas.ExtractionCost(
            day=now.date(),
            turns=sum(ended.values()),
            skipped=statuses[TurnStatus.SKIPPED],
            failed=statuses[TurnStatus.FAILED],
        )
        await quotas.add_costs(session, tenant, cost)
        for one in mine:
            scope = one.turn.scope.id(tenant)
            bound = binding_rows(tenant, scope, one.turn, one.considered.bindings, one.referents)
            await insert_all(session, bound)
        return {one.turn.id: reports[one.turn.id] for one in mine}

    async def _forget(self, session: WriteSession, actor: Actor, works: Sequence[TurnState], now: datetime) -> None:
        """Send to review what turns ask to forget; turns that somebody else has finished ask for nothing any more."""
        tenant, asking = actor.tenant_id, [one for one in works if one.considered.erasures]
        if not asking:
            return
        await scopes.lock_scope(session, tenant, asking[0].turn.scope.id(tenant))
        waiting = {
            one.turn.id
            for one in await db_turns.fetch(session, tenant, [one.turn.id for one in asking])
            if one.status is TurnStatus.RECEIVED
        }
        forgetting = Forgetting(actor=actor, types=self.types.known(tenant), language=self.writing.language, now=now)
        for one in asking:
            if one.turn.id in waiting:
                with one.trace.stage("forget", len(one.considered.erasures)) as stage:
                    held = await forgetting.hold(session, one.turn, one.considered.erasures)
                    stage.notes += [f"{ids.public(ids.MEMORY, memory)} waits for its erasure" for memory in held]


def _candidates(works: Sequence[TurnState]) -> list[Candidate]:
    return [candidate for one in works for candidate in one.considered.candidates]


def with_outcomes(
    works: Sequence[TurnState], outcomes: Sequence[WriteOutcome | TypedMemoryError], times: StageTimes
) -> list[TurnState]:
    """Return the turns with the outcomes of their candidates, which were decided in their order."""
    left, done = iter(outcomes), []
    for one in works:
        mine = [next(left) for _ in one.considered.candidates]
        stages = decision_report(one.considered.candidates, mine, times) if outcomes else []
        done.append(replace(one, outcomes=mine, trace=Trace([*one.trace.stages, *stages])))
    return done


def finished_turn(stored: StoredTurn, report: TurnReport, now: datetime) -> StoredTurn:
    """Return a turn as it is stored once it is finished."""
    told = from_json(to_json(report.told))
    return replace(stored, status=report.status, reason=report.reason, report=told, processed_at=now)

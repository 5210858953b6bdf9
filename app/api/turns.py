"""Turns of conversations over HTTP: ingest, list, read and replay them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request
from pydantic import Field
from starlette.responses import Response

from app import ids
from app.api.memories.answers import AffectedOut
from app.api.turn_bodies import TurnsBody, turns_from_body, turns_given
from app.errors import PASSING, NotConfigured
from app.http import cursors
from app.http.cursors import PageQuery
from app.http.guard import BY_TURN, NAMED, READ, WRITE, ActorDep, GuardedRoute, RuntimeDep
from app.http.idempotency import IDEMPOTENT, run_once
from app.http.models import Given, Out, PageOut, RequestBody, Source, as_is, json_answer, public_id
from app.http.problems import FieldError, InvalidFields
from app.http.routes import ACCEPTED, OK, add_reads, add_route
from app.http.visibility import OwnedQuery
from app.memory.candidate import WriteDecision
from app.memory.extraction import Role, Turn, TurnStatus
from app.memory.fields import Name
from app.model import Actor, Category, ScopeKind, SpeechAct
from app.runtime import Runtime
from app.services.turns import AppliedInstructions, StoredTurn, TurnReport


class TurnQuery(OwnedQuery, PageQuery):
    """Filters of turns."""

    session_id: Name | None = None
    status: TurnStatus | None = None


class CandidateOut(Out):
    """A candidate of a turn, the decision on it, and the reason."""

    type: str
    quote: str | None = Field(description="The words of the turn it relies on; null for the turn itself.")
    content: str | None
    speech_act: SpeechAct
    confidence: float | None
    decision: WriteDecision
    reason: str
    memory_id: str | None
    affected: list[AffectedOut]


class DroppedOut(Out):
    """An item that a stage dropped."""

    what: str
    reason: str


class StageOut(Out):
    """The numbers of items into and out of a stage, those it dropped, and its milliseconds."""

    stage: str
    seen: int
    kept: int
    dropped: list[DroppedOut]
    notes: list[str]
    took_ms: float


class TurnOut(Out):
    """A turn and its report; `id` is null in a dry run."""

    id: Annotated[str | None, public_id(ids.TURN)]
    status: Annotated[TurnStatus, Given(TurnStatus.RECEIVED)]
    reason: Annotated[str | None, Given()]
    role: Role
    speaker: str | None
    content: str
    session_id: str | None
    sequence_number: int | None
    scope: Annotated[ScopeKind, Source("scope.kind")]
    user_id: Annotated[str | None, Source("scope.user_id")]
    agent_id: Annotated[str | None, Source("scope.agent_id")]
    occurred_at: datetime
    timezone: Annotated[str, Source("zone", str)]
    category: Category | None
    importance: Annotated[float | None, Source(make=as_is)]
    recorded_at: Annotated[datetime | None, Given()]
    processed_at: Annotated[datetime | None, Given()]
    metadata: Annotated[dict[str, Any], Given({})]
    candidates: Annotated[list[CandidateOut], Given(())]
    trace: Annotated[list[StageOut], Given(())]

    @classmethod
    def of_preview(cls, turn: Turn, report: TurnReport) -> dict[str, Any]:
        """Return a turn with the report of a dry run."""
        return cls.answer(turn, id=None, status=report.status, reason=report.reason, **report.told)

    @classmethod
    def of_stored(cls, one: StoredTurn, report: TurnReport | None = None) -> dict[str, Any]:
        """Return a stored turn with its own report, or that of a replay as a dry run."""
        told = (one.report or {}) if report is None else report.told
        return cls.answer(
            one.turn,
            status=one.status if report is None else report.status,
            reason=one.reason if report is None else report.reason,
            recorded_at=one.recorded_at,
            processed_at=one.processed_at,
            metadata=one.turn.metadata,
            **told,
        )


class IgnoredOut(Out):
    """A message without anything to remember: its position in the request, from 0, and the reason.

    With `fields`, it is kept, without these fields or content parts.
    """

    place: int
    reason: str
    fields: list[str]


class AppliedInstructionsOut(Out):
    """The instructions that turns are extracted by: the tenant's, then the request's."""

    instructions: list[str] = Field(description="In plain words, one after another.")
    include: list[str]
    exclude: list[str] = Field(description="What either excludes.")
    named: list[str] = Field(
        description="Those of `exclude` that name a memory type or a predicate, and so hold whatever is proposed."
    )
    told: str | None = Field(
        description="The text that the language model is shown below its fixed instructions; null for the built-in "
        "rules, which read no words."
    )


class TurnsResult(Out):
    """Turns with their reports; `job_id` is the job that processes those that wait."""

    job_id: Annotated[str | None, Given()]
    turns: Annotated[list[TurnOut], Given()]
    ignored: Annotated[list[IgnoredOut], Given(())]
    degraded: Annotated[list[str], Given()]
    extraction: Annotated[AppliedInstructionsOut | None, Given()] = Field(
        description="In a dry run, the instructions that apply; null without any."
    )


class TurnPageOut(PageOut):
    """Some turns."""

    turns: Annotated[list[TurnOut], Given()]

    @classmethod
    def of(cls, turns: Iterable[StoredTurn], next_cursor: str | None) -> dict[str, Any]:
        """Return a page of turns with their reports."""
        return cls.answer(None, turns=[TurnOut.of_stored(one) for one in turns], next_cursor=next_cursor)


WAIT_FOR_A_WORKER = "the turns are stored and wait: a worker takes them within half an hour"

MOST_AT_ONCE = 50
"""Most turns that a request processes synchronously."""

TurnId = Annotated[str, Path(description="A turn's id.", examples=["turn_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e"])]


class ProcessingMode(StrEnum):
    """The mode of processing: `sync` waits for the decisions, `async` queues a job, `batch` one that may take a day."""

    ASYNC = "async"
    SYNC = "sync"
    BATCH = "batch"


class IngestQuery(RequestBody):
    """Options of an ingestion."""

    mode: ProcessingMode = Field(
        default=ProcessingMode.ASYNC,
        description=f"`sync` waits until the turns, {MOST_AT_ONCE} at most, are processed. `batch` has them extracted "
        "by the provider's batch endpoint, within a day and at half the price: none is shown what is stored or what "
        "another one led to. It takes TM_LLM_BATCH.",
    )
    dry_run: bool = Field(default=False, description="Decide, and store nothing: implies `sync`.")


IngestQueryDep = Annotated[IngestQuery, Query()]


def router() -> APIRouter:
    """Return the routes."""
    found = APIRouter(tags=["turns"], route_class=GuardedRoute)
    more: dict[str, Any] = {
        "status_code": ACCEPTED,
        "responses": {OK: {"model": TurnsResult, "description": "Processed, or decided in a dry run."}},
        "dependencies": IDEMPOTENT,
    }
    ingest = ("/turns", post_turns, "Ingest turns", TurnsResult)
    replay = ("/turns/{turn_id}/replay", replay_turn, "Send a turn through the pipeline again", TurnsResult)
    add_route(found, "POST", WRITE | NAMED, *ingest, operation_id="ingest_turns", **more)
    add_route(found, "POST", WRITE | BY_TURN, *replay, **more)
    add_reads(found, READ | NAMED, ("/turns", list_turns, "List turns", TurnPageOut))
    add_reads(found, READ | BY_TURN, ("/turns/{turn_id}", get_turn, "Get a turn and its report", TurnOut))
    return found


async def post_turns(
    request: Request,
    runtime: RuntimeDep,
    actor: ActorDep,
    body: TurnsBody,
    how: IngestQueryDep,
) -> Response:
    """Store turns and extract memories from them.

    By default the answer comes as soon as the turns are durable, with the job that processes them. With
    `mode=sync` it has every decision. Nothing is lost when a model is unavailable: the turns are stored and a
    job retries, also after `mode=sync`.
    """
    given = turns_given(body)
    turns = turns_from_body(body, given, runtime.clock())
    metadata = [one.turn.metadata for one in given.placed]
    ignored = [IgnoredOut.answer(one) for one in given.ignored]
    if not turns:
        return json_answer(_result([], ignored=ignored))
    waits = how.dry_run or how.mode is ProcessingMode.SYNC
    if waits and len(turns) > MOST_AT_ONCE:
        mend = "send fewer" if how.dry_run else "send fewer, or let a job process them (mode=async)"
        message = f"at most {MOST_AT_ONCE} are processed at once: {mend}"
        raise InvalidFields([FieldError(field="turns", message=message)])
    if how.mode is ProcessingMode.BATCH and runtime.turn_batches is None:
        raise NotConfigured("mode=batch takes TM_LLM_BATCH=true, and a model with TM_LLM_PROVIDER=openai")
    if how.dry_run:
        reports = await runtime.turns.preview(actor, turns)
        previews = [TurnOut.of_preview(turn, report) for turn, report in zip(turns, reports, strict=True)]
        applied = await runtime.turns.instructions(actor, turns[0])
        return json_answer(_result(previews, ignored=ignored, applied=applied))

    async def work() -> object:
        if how.mode is ProcessingMode.SYNC:
            await runtime.turns.store(actor, turns, metadata)
            return await _processed(runtime, actor, turns, ignored=ignored)
        batch = how.mode is ProcessingMode.BATCH
        job = await runtime.turns.receive(actor, turns, metadata, batch=batch)
        received = [TurnOut.answer(turn, metadata=about) for turn, about in zip(turns, metadata, strict=True)]
        return _result(received, job=job, ignored=ignored)

    return await run_once(request, runtime, actor, OK if how.mode is ProcessingMode.SYNC else ACCEPTED, work)


async def replay_turn(
    request: Request,
    runtime: RuntimeDep,
    actor: ActorDep,
    turn_id: TurnId,
    how: IngestQueryDep,
) -> Response:
    """Process a stored turn again with the present extractor; its earlier statements are not counted twice."""
    turn = ids.parse(ids.TURN, turn_id)
    if how.mode is ProcessingMode.BATCH:
        raise InvalidFields([FieldError(field="mode", message="a single turn takes sync or async")])
    if how.dry_run:
        stored = await runtime.turns.get(actor, turn)
        [report] = await runtime.turns.preview(actor, [stored.turn])
        applied = await runtime.turns.instructions(actor, stored.turn)
        return json_answer(_result([TurnOut.of_stored(stored, report)], applied=applied))

    async def work() -> object:
        if how.mode is ProcessingMode.SYNC:
            stored = await runtime.turns.reopen(actor, turn)
            return await _processed(runtime, actor, [stored.turn])
        stored, job = await runtime.turns.replay(actor, turn)
        return _result([TurnOut.of_stored(stored)], job=job)

    return await run_once(request, runtime, actor, OK if how.mode is ProcessingMode.SYNC else ACCEPTED, work)


async def list_turns(runtime: RuntimeDep, actor: ActorDep, query: Annotated[TurnQuery, Query()]) -> Response:
    """List turns, newest first; `status=extraction_failed` lists those to check and replay."""
    scopes = await query.visible(runtime.tenants, actor)
    listing = query.listing("turns", actor.tenant_id)
    after = cursors.decode_id(query.cursor, listing)
    page = await runtime.turns.list(
        actor, scopes=scopes, status=query.status, session_id=query.session_id, after=after, limit=query.limit
    )
    return json_answer(TurnPageOut.of(page.items, cursors.encode_id(page.next, listing)))


async def get_turn(runtime: RuntimeDep, actor: ActorDep, turn_id: TurnId) -> Response:
    """Get a turn with the decision on each candidate and the counts of each stage."""
    return json_answer(TurnOut.of_stored(await runtime.turns.get(actor, ids.parse(ids.TURN, turn_id))))


async def _processed(
    runtime: Runtime, actor: Actor, turns: list[Turn], *, ignored: Sequence[object] = ()
) -> dict[str, object]:
    """Process stored turns and return them; if that fails for now, leave them to a job and add the reason."""
    try:
        found = await runtime.turns.process(actor, [one.id for one in turns])
    except PASSING as error:
        return await _left(runtime, actor, turns, [error.message], ignored=ignored)
    return _result([TurnOut.of_stored(one) for one in found], ignored=ignored)


async def _left(
    runtime: Runtime, actor: Actor, turns: list[Turn], degraded: list[str], *, ignored: Sequence[object]
) -> dict[str, object]:
    """Leave stored turns to a job and return them; where that fails, too, a worker finds them.

    It is no error in either case: they are stored, and a retry would store them again.
    """
    try:
        found = await runtime.turns.get_all(actor, [one.id for one in turns])
        waiting = [one.turn for one in found if one.status is TurnStatus.RECEIVED]
        job = await runtime.turns.enqueue(actor, waiting) if waiting else None
    except PASSING:
        received = [TurnOut.answer(one, metadata=one.metadata) for one in turns]
        return _result(received, degraded=[*degraded, WAIT_FOR_A_WORKER], ignored=ignored)
    return _result([TurnOut.of_stored(one) for one in found], job=job, degraded=degraded, ignored=ignored)


def _result(
    turns: list[dict[str, Any]],
    *,
    job: UUID | None = None,
    degraded: Sequence[str] = (),
    ignored: Sequence[object] = (),
    applied: AppliedInstructions | None = None,
) -> dict[str, object]:
    job_id = None if job is None else ids.public(ids.JOB, job)
    extraction = None if applied is None else AppliedInstructionsOut.answer(applied)
    return TurnsResult.answer(
        None, job_id=job_id, turns=turns, degraded=degraded, ignored=ignored, extraction=extraction
    )

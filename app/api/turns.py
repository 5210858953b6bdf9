"""Turns of conversations over HTTP: ingest, list, read and replay them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any, Self
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from starlette.responses import Response

from app import ids
from app.api.memories.answers import AffectedOut
from app.api.memories.candidates import FUTURE, chosen_scope
from app.api.plumbing import cursors, fields
from app.api.plumbing.cursors import Listing, PageQuery
from app.api.plumbing.fields import Fraction, Instant, Metadata, RequestBody, TimeZone
from app.api.plumbing.guard import READ, WRITE, ActorDep, GuardedRoute, RuntimeDep, add_reads
from app.api.plumbing.idempotency import IDEMPOTENT, run_once
from app.api.plumbing.problems import FieldError, InvalidFields
from app.api.plumbing.unions import with_example
from app.api.plumbing.wire import Given, Out, PageOut, Source, as_is, json_answer, public_id
from app.errors import PASSING
from app.memory.candidate import WriteDecision
from app.memory.chat_messages import ChatMessage, IgnoredMessage, read_chat_message
from app.memory.extraction import Role, Turn, TurnStatus
from app.memory.fields import Name, Place, Sentence, UserId
from app.model import Actor, Category, ScopeKind, SpeechAct, Visibility
from app.runtime import Runtime
from app.services.turns import StoredTurn, TurnReport

MOST_TURNS = 500
"""Turns in one request."""


class TurnIn(RequestBody):
    """One message of a conversation."""

    role: Role = Field(default=Role.USER, description="Who produced it; it bounds how far it is trusted.")
    content: Sentence = Field(examples=["I moved from Boston to Berlin last month to work at Volkswagen."])
    speaker: Name | None = Field(default=None, description="Who said it, where a conversation has names: who `I` is.")
    occurred_at: Instant | None = Field(default=None, description="When it was said; now, unless given.")
    session_id: Name | None = None
    sequence_number: Place | None = None
    category: Category | None = Field(
        default=None, description="How all that it yields fades; by default as the types do, and what it says."
    )
    importance: Fraction | None = Field(default=None, description="Of all that it yields.")
    metadata: Metadata = Field(default_factory=dict)


class ChatMessageIn(BaseModel):
    """A message in the shape of OpenAI, Anthropic or LangChain, with the fields that these give it."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={"examples": [{"role": "user", "content": [{"type": "text", "text": "I moved to Berlin."}]}]},
    )


_OWN = frozenset(TurnIn.model_fields) - {"session_id"}
"""The fields of one turn that a body may have right in itself."""


class TurnsBody(
    RequestBody,
    **with_example(
        {
            "user_id": "bo",
            "session_id": "monday",
            "timezone": "Europe/Berlin",
            "turns": [
                {"role": "user", "content": "I moved from Boston to Berlin last month to work at Volkswagen."},
                {"role": "assistant", "content": "How do you like it there?"},
            ],
        }
    ),
):
    """Turns of one user or agent: a list of turns or of chat messages, or one turn's fields right here."""

    turns: list[TurnIn] | None = Field(default=None, min_length=1, max_length=MOST_TURNS)
    messages: list[ChatMessageIn] | None = Field(
        default=None,
        min_length=1,
        max_length=MOST_TURNS,
        description="In place of `turns`: messages as chat libraries have them. Text parts are joined, `timestamp` or "
        "`created_at` say when, `name` who. System prompts and messages without text are left out, and named in "
        "`ignored`.",
    )
    role: Role | None = None
    content: Sentence | None = None
    speaker: Name | None = None
    occurred_at: Instant | None = None
    sequence_number: Place | None = None
    category: Category | None = None
    importance: Fraction | None = None
    metadata: Metadata | None = None
    session_id: Name | None = Field(default=None, description="The conversation; of every turn that names no other.")
    user_id: UserId | None = None
    agent_id: Name | None = None
    scope: ScopeKind | None = Field(
        default=None,
        description="Where memories go; by default the user's scope, else the agent's, that agent's with that user if "
        "both are named, else global.",
    )
    timezone: TimeZone | None = Field(default=None, description='Where "yesterday" is meant; UTC unless given.')

    @model_validator(mode="after")
    def _one_shape(self) -> Self:
        single = {name for name in _OWN if getattr(self, name) is not None}
        lists = [name for name in ("turns", "messages") if getattr(self, name) is not None]
        if not lists and self.content is None:
            raise ValueError("give `turns`, `messages`, or one turn's `content`")
        if len(lists) > 1:
            raise ValueError("give `turns` or `messages`, not both")
        if lists and single:
            raise ValueError(f"give `{lists[0]}` or one turn's fields, not both: {', '.join(sorted(single))}")
        return self

    @property
    def single(self) -> TurnIn:
        """Return the turn whose fields stand in the body itself."""
        own = {name: getattr(self, name) for name in _OWN if getattr(self, name) is not None}
        return TurnIn.model_construct(**own)


class TurnQuery(PageQuery):
    """Which turns to list."""

    owner: Name | None = Field(default=None, description=fields.OWNER)
    user_id: Name | None = None
    agent_id: Name | None = None
    session_id: Name | None = None
    status: TurnStatus | None = None


class CandidateOut(Out):
    """What was proposed of a turn, what was decided about it, and why."""

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
    """Something a stage did not let through."""

    what: str
    reason: str


class StageOut(Out):
    """What a stage saw, let through and dropped, and the milliseconds it took."""

    stage: str
    seen: int
    kept: int
    dropped: list[DroppedOut]
    notes: list[str]
    took_ms: float


class TurnOut(Out):
    """A turn and what became of it; `id` is null in a dry run."""

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
    def previewed(cls, turn: Turn, report: TurnReport) -> dict[str, Any]:
        """Return a turn with what would be decided about it."""
        return cls.answer(turn, id=None, status=report.status, reason=report.reason, **report.told)

    @classmethod
    def stored(cls, one: StoredTurn, report: TurnReport | None = None) -> dict[str, Any]:
        """Return a stored turn with its own report, or that of a replay which was only tried."""
        told = (one.report or {}) if report is None else report.told
        return cls.answer(
            one.turn,
            status=one.status if report is None else report.status,
            reason=one.reason if report is None else report.reason,
            recorded_at=one.recorded_at,
            processed_at=one.processed_at,
            metadata=one.metadata,
            **told,
        )


class IgnoredOut(Out):
    """A message that says nothing to remember: its place in the request, from 0, and why."""

    place: int
    reason: str


class TurnsResult(Out):
    """Turns as far as they have come; `job_id` is the job that processes those that wait."""

    job_id: Annotated[str | None, Given()]
    turns: Annotated[list[TurnOut], Given()]
    ignored: Annotated[list[IgnoredOut], Given(())]
    degraded: Annotated[list[str], Given()]


class TurnPageOut(PageOut):
    """Some turns."""

    turns: Annotated[list[TurnOut], Given()]

    @classmethod
    def of(cls, turns: Iterable[StoredTurn], next_cursor: str | None) -> dict[str, Any]:
        """Return some turns with what became of each."""
        return cls.answer(None, turns=[TurnOut.stored(one) for one in turns], next_cursor=next_cursor)


ACCEPTED = 202

OK = 200

MOST_AT_ONCE = 50
"""Turns that a caller may wait for; more are for a job."""

TurnId = Annotated[str, Path(description="A turn's id.", examples=["turn_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e"])]


class ProcessingMode(StrEnum):
    """Whether the caller waits until its turns are processed."""

    ASYNC = "async"
    SYNC = "sync"


class IngestQuery(RequestBody):
    """How turns are taken."""

    mode: ProcessingMode = Field(
        default=ProcessingMode.ASYNC, description="`sync` waits until the turns are processed."
    )
    dry_run: bool = Field(default=False, description="Decide, and store nothing: implies `sync`.")


IngestQueryDep = Annotated[IngestQuery, Query()]


def router() -> APIRouter:
    """Return the routes."""
    found = APIRouter(tags=["turns"], route_class=GuardedRoute)
    writes: dict[str, Any] = {
        "status_code": ACCEPTED,
        "response_model": TurnsResult,
        "responses": {OK: {"model": TurnsResult, "description": "Processed, or decided in a dry run."}},
        "dependencies": IDEMPOTENT,
        "openapi_extra": WRITE,
    }
    found.add_api_route(
        "/turns", post_turns, methods=["POST"], operation_id="ingest_turns", summary="Ingest turns", **writes
    )
    found.add_api_route(
        "/turns/{turn_id}/replay",
        replay_turn,
        methods=["POST"],
        operation_id="replay_turn",
        summary="Send a turn through the pipeline again",
        **writes,
    )
    add_reads(
        found,
        READ,
        ("/turns", list_turns, "List turns", TurnPageOut),
        ("/turns/{turn_id}", get_turn, "Get a turn and what became of it", TurnOut),
    )
    return found


async def post_turns(
    request: Request,
    runtime: RuntimeDep,
    actor: ActorDep,
    body: TurnsBody,
    how: IngestQueryDep,
) -> Response:
    """Store turns and have memories made of them.

    By default the answer comes as soon as the turns are durable, with the job that processes them. With
    `mode=sync` it comes with every decision. Nothing is lost when a model is away: the turns are stored
    and a job tries again, also after `mode=sync`.
    """
    given = turns_given(body)
    turns = turns_from_body(body, given, runtime.clock())
    metadata = [one.turn.metadata for one in given.placed]
    ignored = [IgnoredOut.answer(one) for one in given.ignored]
    if not turns:
        return json_answer(_result([], ignored=ignored))
    if how.dry_run:
        reports = await runtime.turns.preview(actor, turns)
        previews = [TurnOut.previewed(turn, report) for turn, report in zip(turns, reports, strict=True)]
        return json_answer(_result(previews, ignored=ignored))
    if how.mode is ProcessingMode.SYNC and len(turns) > MOST_AT_ONCE:
        raise InvalidFields([FieldError(field="turns", message=f"mode=sync takes {MOST_AT_ONCE} at most: use a job")])

    async def work() -> object:
        if how.mode is ProcessingMode.SYNC:
            await runtime.turns.store(actor, turns, metadata)
            return await _processed(runtime, actor, turns, ignored=ignored)
        job = await runtime.turns.receive(actor, turns, metadata)
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
    """Extract a stored turn anew, with today's extractor; what it said before is not counted twice."""
    turn = ids.parse(ids.TURN, turn_id)
    if how.dry_run:
        stored = await runtime.turns.get(actor, turn)
        [report] = await runtime.turns.preview(actor, [stored.turn])
        return json_answer(_result([TurnOut.stored(stored, report)]))

    async def work() -> object:
        if how.mode is ProcessingMode.SYNC:
            stored = await runtime.turns.reopen(actor, turn)
            return await _processed(runtime, actor, [stored.turn])
        stored, job = await runtime.turns.replay(actor, turn)
        return _result([TurnOut.stored(stored)], job=job)

    return await run_once(request, runtime, actor, OK if how.mode is ProcessingMode.SYNC else ACCEPTED, work)


async def list_turns(runtime: RuntimeDep, actor: ActorDep, query: Annotated[TurnQuery, Query()]) -> Response:
    """List turns, newest first; `status=extraction_failed` shows those to look into and replay."""
    scopes: Collection[UUID] | None = None
    if query.owner is not None:
        scopes = await runtime.activity.scopes_of_user(actor, query.owner)
    elif query.user_id is not None or query.agent_id is not None:
        seen = Visibility(user_id=query.user_id, agent_id=query.agent_id).scopes()
        scopes = [one.id(actor.tenant_id) for one in seen if one.kind is not ScopeKind.GLOBAL]
    listing = Listing(f"turns|{actor.tenant_id}|{query.owner or scopes}|{query.status}|{query.session_id}")
    after = cursors.decode_id(query.cursor, listing)
    page = await runtime.turns.list(
        actor, scopes=scopes, status=query.status, session_id=query.session_id, after=after, limit=query.limit
    )
    return json_answer(TurnPageOut.of(page.turns, cursors.encode_id(page.next, listing)))


async def get_turn(runtime: RuntimeDep, actor: ActorDep, turn_id: TurnId) -> Response:
    """Get a turn, what was decided about each candidate, and what each stage did."""
    return json_answer(TurnOut.stored(await runtime.turns.get(actor, ids.parse(ids.TURN, turn_id))))


async def _processed(
    runtime: Runtime, actor: Actor, turns: list[Turn], *, ignored: Sequence[object] = ()
) -> dict[str, object]:
    """Return the turns processed; where that can't be done now, leave them to a job and say why."""
    degraded: list[str] = []
    job: UUID | None = None
    try:
        found = await runtime.turns.process(actor, [one.id for one in turns])
    except PASSING as error:
        degraded = [error.message]
        job = await runtime.turns.later(actor, turns)
        found = await runtime.turns.get_all(actor, [one.id for one in turns])
    return _result([TurnOut.stored(one) for one in found], job=job, degraded=degraded, ignored=ignored)


def _result(
    turns: list[dict[str, Any]],
    *,
    job: UUID | None = None,
    degraded: Sequence[str] = (),
    ignored: Sequence[object] = (),
) -> dict[str, object]:
    job_id = None if job is None else ids.public(ids.JOB, job)
    return TurnsResult.answer(None, job_id=job_id, turns=turns, degraded=degraded, ignored=ignored)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedTurn:
    """A turn of a request; `place` is its path there, empty where its fields stand in the body itself."""

    place: str
    turn: TurnIn

    def field(self, name: str) -> str:
        """Return the path of one of its fields, for an error."""
        return f"{self.place}.{name}" if self.place else name


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignored:
    """A message of a request that is no turn."""

    place: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenTurns:
    """The turns that a request describes, and its messages that are none."""

    placed: Sequence[PlacedTurn]
    ignored: Sequence[Ignored] = ()


def turns_given(body: TurnsBody) -> GivenTurns:
    """Return the turns a body describes, in any of its shapes; raise InvalidFields."""
    if body.messages is not None:
        return _turns_of_messages(body.messages)
    if body.turns is None:
        return GivenTurns(placed=[PlacedTurn(place="", turn=body.single)])
    return GivenTurns(placed=[PlacedTurn(place=f"turns.{place}", turn=one) for place, one in enumerate(body.turns)])


def _turns_of_messages(messages: Sequence[ChatMessageIn]) -> GivenTurns:
    placed: list[PlacedTurn] = []
    ignored: list[Ignored] = []
    errors: list[FieldError] = []
    for number, message in enumerate(messages):
        place = f"messages.{number}"
        try:
            said = read_chat_message(message.model_dump())
            if isinstance(said, IgnoredMessage):
                ignored.append(Ignored(place=number, reason=said.reason))
            else:
                placed.append(PlacedTurn(place=place, turn=_turn_of(said)))
        except ValidationError as invalid:
            errors += [
                FieldError(field=f"{place}.{error['loc'][0]}", message=str(error["msg"])) for error in invalid.errors()
            ]
        except ValueError as error:
            errors.append(FieldError(field=place, message=str(error)))
    if errors:
        raise InvalidFields(errors)
    return GivenTurns(placed=placed, ignored=ignored)


def _turn_of(said: ChatMessage) -> TurnIn:
    if said.role is not None and said.role not in set(Role):
        raise ValueError(f"the role {said.role!r} is none of {', '.join(Role)}")
    about = {"role": said.role, "content": said.content, "speaker": said.name, "occurred_at": said.occurred_at}
    return TurnIn.model_validate({name: value for name, value in about.items() if value is not None})


def turns_from_body(body: TurnsBody, given: GivenTurns, now: datetime) -> list[Turn]:
    """Return the turns to store, with ids in their order; raise InvalidFields."""
    zone = fields.zone(body.timezone)
    scope = chosen_scope(ScopeKind.USER, body.scope, body.user_id, body.agent_id)
    errors = []
    turns = []
    for placed, identifier in zip(given.placed, sorted(ids.new() for _ in given.placed), strict=True):
        one = placed.turn
        occurred = fields.aware(one.occurred_at, zone) or now
        if occurred > now + FUTURE:
            errors.append(FieldError(field=placed.field("occurred_at"), message="must not lie in the future"))
            continue
        turns.append(
            Turn(
                id=identifier,
                scope=scope,
                role=one.role,
                content=one.content,
                occurred_at=occurred.astimezone(UTC),
                zone=zone,
                session_id=one.session_id or body.session_id,
                sequence_number=one.sequence_number,
                speaker=one.speaker,
                category=one.category,
                importance=one.importance,
            )
        )
    if errors:
        raise InvalidFields(errors)
    return turns

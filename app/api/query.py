"""Questions over HTTP: the read pipeline, and the same pipeline in the shape of Aegis Memory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from fastapi import APIRouter, Header
from pydantic import AfterValidator, Field, StringConstraints, model_validator
from starlette.responses import Response

from app.api.memories.answers import AnyScoredMemory, MemoryOut, RecalledMemoryOut
from app.api.memories.bodies import canonical_types
from app.api.turn_bodies import ChatMessageIn
from app.english.follow_ups import Said, question_of
from app.http import models
from app.http.guard import NAMED, POSITION_HEADER, READ, ActorDep, GuardedRoute, RuntimeDep
from app.http.models import (
    DIGITS,
    MOST_RESULTS,
    Computed,
    Fraction,
    Given,
    Instant,
    Metadata,
    Out,
    RequestBody,
    Source,
    Tags,
    TimeZone,
    json_answer,
    rounded,
    rounded_to,
    wanted_metadata,
    with_example,
)
from app.http.problems import FieldError, InvalidFields
from app.http.routes import add_route
from app.memory.chat_messages import ChatMessage, read_chat_message
from app.memory.extraction import Role
from app.memory.fields import A_NUMBER, Flag, Name, Topic, storable
from app.memory.registry import Registry
from app.model import ReadMode, Visibility
from app.services.query import POSITION_PATTERN, ContextBlock, HeedMode, IdStyle, QueryRequest, QueryResult

LONGEST_QUESTION = 8000

Question = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_QUESTION), AfterValidator(storable)
]
"""A question of 1 to 8,000 characters."""

MOST_RECENT = 1_000
"""Most turns of the asking session that a question may leave out."""

MOST_MESSAGES = 100
"""Most messages of a conversation that a request brings."""

LARGEST_CONTEXT = 100_000

PositionHeader = Annotated[
    str | None,
    Header(
        alias=POSITION_HEADER,
        pattern=POSITION_PATTERN,
        description="The header of a write's answer, to see that write where a replica answers questions.",
        examples=["0/16B3748"],
    ),
]

Part = Literal["context", "memories", "details"]
"""A part of an answer: the block to paste, the memories behind it, or all that is known of both."""


class QueryFields(RequestBody):
    """Fields of both kinds of queries."""

    user_id: Name | None = None
    agent_id: Name | None = None
    session_id: Name | None = Field(
        default=None,
        description="The conversation that asks. What is used in many counts for more, and its last `recent_turns` "
        "turns, which the caller still has, are left out.",
    )
    recent_turns: Annotated[int, A_NUMBER] = Field(
        default=20,
        ge=0,
        le=MOST_RECENT,
        description="Last turns of the session that asks to leave out, as the prompt has them; 0 brings them back.",
    )
    topic: Topic | None = Field(default=None, description="Only what is filed under this, in any letter case.")
    metadata: Metadata = Field(
        default_factory=dict,
        description="Only memories whose metadata contain this JSON object.",
        examples=[{"project": "atlas"}],
    )
    tags: Tags = Field(default_factory=list)
    top_k: Annotated[int, A_NUMBER] = Field(default=12, ge=1, le=MOST_RESULTS, description="Most memories to return.")
    mode: ReadMode | None = Field(default=None, description="By default as the question sounds.")
    now: Instant | None = Field(
        default=None, description="Reference time of `yesterday`; by default `known_at`, else the present."
    )
    timezone: TimeZone | None = None
    as_of: Instant | None = Field(default=None, description=models.AS_OF)
    known_at: Instant | None = Field(default=None, description=models.KNOWN_AT)
    min_confidence: Fraction | None = Field(
        default=None, description="Only what is trusted this far; by default .5, in other modes than `default` .3."
    )

    @model_validator(mode="after")
    def _tags_once(self) -> Self:
        wanted_metadata(self.metadata, self.tags)
        return self

    def build_request(self, question: str, types: tuple[str, ...], present: datetime) -> QueryRequest:
        """Return the request to answer a question; times without an offset are read in its time zone."""
        zone = models.zone(self.timezone)
        known_at = models.aware(self.known_at, zone)
        now = models.aware(self.now, zone) or known_at or present
        if self.timezone is not None or self.now is None:
            now = now.astimezone(zone)
        return QueryRequest(
            query=question,
            now=now,
            visibility=Visibility(user_id=self.user_id, agent_id=self.agent_id),
            session_id=self.session_id,
            recent_turns=self.recent_turns,
            types=types,
            topic=self.topic,
            metadata=wanted_metadata(self.metadata, self.tags),
            top_k=self.top_k,
            mode=self.mode,
            as_of=models.aware(self.as_of, zone),
            known_at=known_at,
            min_confidence=self.min_confidence,
            min_relevance=getattr(self, "min_relevance", 0.0),
            token_budget=getattr(self, "token_budget", 2000),
            ids=getattr(self, "ids", IdStyle.NONE),
            heed=getattr(self, "heed", HeedMode.NONE),
            rerank=getattr(self, "rerank", False),
            explain=getattr(self, "explain", False),
            widens=getattr(self, "widens", False),
        )


class QueryBody(QueryFields, **with_example({"query": "Which editor theme does Ana prefer?", "user_id": "ana"})):
    """A question for the read pipeline: in words, or as the conversation that it stands in."""

    query: Question | None = Field(
        default=None,
        description="In plain words, as a person would ask.",
        examples=["Which editor theme does Ana prefer?"],
    )
    messages: list[ChatMessageIn] | None = Field(
        default=None,
        min_length=1,
        max_length=MOST_MESSAGES,
        description="Instead of `query`: the last messages of the conversation, as chat libraries have them. The "
        "question is the last one of the user, with the names and words that it leaves to those before.",
    )
    types: list[Name] = Field(default_factory=list, max_length=50, description="Only these; all by default.")
    min_relevance: Fraction | None = Field(
        default=None,
        description="Only what is this relevant; by default the floors of the embedding model. 0 fills up to `top_k`.",
    )
    token_budget: Annotated[int, A_NUMBER] = Field(
        default=2000, ge=0, le=LARGEST_CONTEXT, description="Most tokens of `context`; 0 for none."
    )
    rerank: Flag = Field(
        default=False,
        description="Have a reranking model order the best; where it is missing, late or fails, `degraded` says so.",
    )
    ids: IdStyle = Field(
        default=IdStyle.NONE,
        description="Ids in the lines of the context: none, the memory's place in `memories`, or its id.",
    )
    heed: HeedMode = Field(
        default=HeedMode.AUTO,
        description="What the context shows first of allergies, illnesses, medicines, hard rules and standing "
        "instructions: what the question touches, all of them, or none.",
    )
    include: list[Part] = Field(
        default=["context", "memories"],
        min_length=1,
        max_length=3,
        description="What to answer with; `details` are whole memories, arms, notes and the groups of the context.",
    )
    explain: Flag = Field(default=False, description="Return the plan, and all details.")

    @property
    def widens(self) -> bool:
        """Whether a question whose answer is gathered from many statements may get more than `top_k`."""
        return "top_k" not in self.model_fields_set

    def to_request(self, registry: Registry, present: datetime) -> QueryRequest:
        """Return the request, or raise InvalidFields for an unknown type or unreadable messages."""
        question = self.query if self.messages is None else _last_question(self.messages)
        return self.build_request(question or "", canonical_types(self.types, registry, "types"), present)

    @model_validator(mode="after")
    def _one_question(self) -> Self:
        if (self.query is None) == (self.messages is None):
            raise ValueError("give `query` or `messages`, one of both")
        return self


class RecallBody(
    QueryFields,
    **with_example(
        {"query": "Which theme does Ana prefer?", "user_id": "ana", "memory_types": ["preference"], "top_k": 5}
    ),
):
    """A question in the shape of Aegis Memory."""

    query: Question = Field(
        description="In plain words, as a person would ask.", examples=["Which editor theme does Ana prefer?"]
    )
    memory_types: list[Name] = Field(default_factory=list, max_length=50, description="Only these; all by default.")

    def to_request(self, registry: Registry, present: datetime) -> QueryRequest:
        """Return the question, or raise InvalidFields for an unknown type."""
        return self.build_request(self.query, canonical_types(self.memory_types, registry, "memory_types"), present)


def _last_question(messages: Sequence[ChatMessageIn]) -> str:
    """Return what the last message of the user asks, or raise InvalidFields."""
    said, errors = [], []
    for place, message in enumerate(messages):
        try:
            one = read_chat_message(message.model_dump())
            if isinstance(one, ChatMessage):
                text = storable(one.content)[-LONGEST_QUESTION:]
                said.append(Said(by_user=one.role in {None, Role.USER}, text=text))
        except ValueError as error:
            errors.append(FieldError(field=f"messages.{place}", message=str(error)))
    question = question_of(said)
    if question is None and not errors:
        errors = [FieldError(field="messages", message="none is a message of the user with text")]
    if question is None or errors:
        raise InvalidFields(errors)
    return question[-LONGEST_QUESTION:]


class ArmOut(Out):
    """The rank of a memory in a retrieval arm."""

    arm: str
    rank: int
    score: float
    scaled: float
    contribution: float


class HitOut(Out):
    """A found memory: answers are ordered by score; relevance is its fit to the question by itself.

    `marks` say why what it says is not how things are, or how often it was said. `arms` and `notes` are details.
    """

    memory: RecalledMemoryOut
    score: Annotated[float, rounded_to(4)]
    relevance: Annotated[float, rounded_to(3)]
    retrieval: Annotated[float, rounded_to(4)]
    confidence: Annotated[float, rounded_to(4)]
    freshness: Annotated[float, rounded_to(4)]
    marks: list[str]
    arms: Annotated[list[ArmOut], Given([])]
    notes: Annotated[list[str], Given([])]


class GroupOut(Out):
    """One group of the context block."""

    name: str
    lines: list[str]


class ContextOut(Out):
    """The context block for a prompt; its `groups` are details."""

    text: str
    tokens: int
    groups: Annotated[list[GroupOut], Given([])]


class QueryResultOut(Out):
    """Memories, best first, and the context block made of them."""

    memories: Annotated[list[HitOut], Source("hits")]
    context: ContextOut
    understood: Annotated[dict[str, Any], Source(make=rounded)]
    plan: Annotated[dict[str, Any] | None, Source(make=rounded)]
    took_ms: Annotated[float, rounded_to(3)]
    degraded: list[str]


def _in_full(result: QueryResult, now: datetime) -> dict[str, Any]:
    """Return the parts of an answer that are details, over the lean ones."""
    hits = [
        HitOut.answer(
            hit,
            now,
            memory=MemoryOut.answer(hit.memory, now),
            arms=[ArmOut.answer(arm) for arm in hit.arms],
            notes=list(hit.notes),
        )
        for hit in result.hits
    ]
    groups = [GroupOut.answer(group) for group in result.context.groups]
    return {"memories": hits, "context": ContextOut.answer(result.context, now, groups=groups)}


def _answer(result: QueryResult, body: QueryBody, now: datetime) -> dict[str, Any]:
    """Return the parts of the answer that were asked for."""
    details = body.explain or "details" in body.include
    made = QueryResultOut.answer(result, now, **(_in_full(result, now) if details else {}))
    if not {"memories", "details"} & {*body.include}:
        made["memories"] = []
    if not {"context", "details"} & {*body.include}:
        made["context"] = ContextOut.answer(ContextBlock(text="", tokens=0, groups=()), now)
    return made


def _scored(result: QueryResult, now: datetime | None) -> list[dict[str, Any]]:
    return [
        MemoryOut.answer(hit.memory, now) | {"memory_type": hit.memory.type, "score": round(hit.score, DIGITS)}
        for hit in result.hits
    ]


class RecallResultOut(Out):
    """Memories best first."""

    memories: Annotated[list[AnyScoredMemory], Computed(_scored)]
    query_time_ms: Annotated[float, rounded_to(3, "took_ms")]


def router() -> APIRouter:
    """Return the routes."""
    found = APIRouter(tags=["query"], route_class=GuardedRoute)
    summary = "Ask, and get memories, context and reasons"
    add_route(found, "POST", READ | NAMED, "/query", query, summary, QueryResultOut)
    for path, operation in (("/memories/typed/query", "query_typed"), ("/memories/query", "query_memories")):
        summary = "Ask, and get memories"
        add_route(found, "POST", READ | NAMED, path, recall, summary, RecallResultOut, operation_id=operation)
    return found


async def query(
    runtime: RuntimeDep, actor: ActorDep, body: QueryBody, memory_position: PositionHeader = None
) -> Response:
    """Understand the question, retrieve memories under its filters, rank them, and assemble the context block."""
    now = runtime.clock()
    request = body.to_request(await runtime.type_book.naming(actor.tenant_id, body.types), now)
    result = await runtime.queries.query(actor, request, position=memory_position)
    return json_answer(_answer(result, body, request.known_at or now))


async def recall(
    runtime: RuntimeDep, actor: ActorDep, body: RecallBody, memory_position: PositionHeader = None
) -> Response:
    """Answer a question by the same pipeline, in the shape of Aegis Memory."""
    now = runtime.clock()
    request = body.to_request(await runtime.type_book.naming(actor.tenant_id, body.memory_types), now)
    result = await runtime.queries.query(actor, request, position=memory_position)
    return json_answer(RecallResultOut.answer(result, request.known_at or now))

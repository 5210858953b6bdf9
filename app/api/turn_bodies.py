"""Bodies of requests with turns or chat messages, and their conversion to turns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from app import ids
from app.api.memories.bodies import chosen_scope
from app.http import models
from app.http.models import Fraction, Instant, Metadata, RequestBody, TimeZone, with_example
from app.http.problems import FieldError, InvalidFields
from app.memory.calendar import offset_of
from app.memory.chat_messages import ChatMessage, IgnoredMessage, in_our_names, read_chat_message
from app.memory.extraction import Role, Turn
from app.memory.fields import Name, Place, Sentence, UserId
from app.memory.instructions import ExtractionInstructions
from app.model import Category, ScopeKind

MOST_TURNS = 500
"""Most turns in one request."""

A_MOMENT = timedelta(microseconds=1)
"""By what a turn without a time comes before the next one of its request."""


class TurnIn(RequestBody):
    """One message of a conversation; the names that chat libraries have for its fields are read, too."""

    role: Role = Field(default=Role.USER, description="The author's role, which caps the source strength.")
    content: Sentence = Field(examples=["I moved from Boston to Berlin last month to work at Volkswagen."])
    speaker: Name | None = Field(default=None, description="Who said it, where a conversation has names: who `I` is.")
    occurred_at: Instant | None = Field(
        default=None, description="Time of the turn; by default now, in the order of the request."
    )
    session_id: Name | None = None
    sequence_number: Place | None = None
    category: Category | None = Field(
        default=None, description="How all that it yields fades; by default as the types do, and what it says."
    )
    importance: Fraction | None = Field(default=None, description="Of all that it yields.")
    metadata: Metadata = Field(default_factory=dict, description="Of all that it yields, too.")

    @model_validator(mode="before")
    @classmethod
    def _in_our_names(cls, given: object) -> object:
        return in_our_names(given) if isinstance(given, dict) else given


class ChatMessageIn(BaseModel):
    """A message in the shape of OpenAI, Anthropic or LangChain, with the fields that these give it."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={"examples": [{"role": "user", "content": [{"type": "text", "text": "I moved to Berlin."}]}]},
    )


OF_EVERY_TURN = "Of every turn that has no other."

_OWN = frozenset(TurnIn.model_fields) - {"session_id"}
"""The fields of a single turn that a body may have at its top level."""

_OF_ONE = frozenset({"content", "sequence_number"})
"""Those that can't be of every turn of a list."""

_BY_DEFAULT = _OWN - _OF_ONE - {"metadata"}


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
    """Turns of one user or agent: a list of turns or of chat messages, or the fields of a single turn."""

    turns: list[TurnIn] | None = Field(default=None, min_length=1, max_length=MOST_TURNS)
    messages: list[ChatMessageIn] | None = Field(
        default=None,
        min_length=1,
        max_length=MOST_TURNS,
        description="Instead of `turns`: messages as chat libraries have them. Text parts are joined; `timestamp`, "
        "`created_at`, `sent_at`, `ts`, `date` or `time` is the time, `name` the speaker. System prompts, messages "
        "without text, and fields that are not read are listed in `ignored`.",
    )
    role: Role | None = Field(default=None, description=OF_EVERY_TURN)
    content: Sentence | None = None
    speaker: Name | None = Field(default=None, description=OF_EVERY_TURN)
    occurred_at: Instant | None = Field(default=None, description=OF_EVERY_TURN)
    sequence_number: Place | None = None
    category: Category | None = Field(default=None, description=OF_EVERY_TURN)
    importance: Fraction | None = Field(default=None, description=OF_EVERY_TURN)
    metadata: Metadata | None = Field(default=None, description="Of every turn, under what a turn has itself.")
    session_id: Name | None = Field(default=None, description="The conversation; of every turn that names no other.")
    user_id: UserId | None = None
    agent_id: Name | None = None
    scope: ScopeKind | None = Field(
        default=None,
        description="Where memories go; by default the user's scope, else the agent's, else global. With `agent`, "
        "what is said to an agent stays with that agent, with that user if one is named.",
    )
    timezone: TimeZone | None = Field(
        default=None, description='Where "yesterday" is meant; by default the offset of `occurred_at`, else UTC.'
    )
    extraction: ExtractionInstructions | None = Field(
        default=None,
        description="What to remember of these turns and what never, beside the tenant's own instructions "
        "(`PUT /admin/policy`): both stand, and what either excludes is never remembered.",
    )

    @model_validator(mode="before")
    @classmethod
    def _in_our_names(cls, given: object) -> object:
        return in_our_names(given) if isinstance(given, dict) else given

    @model_validator(mode="after")
    def _one_shape(self) -> Self:
        single = {name for name in _OF_ONE if getattr(self, name) is not None}
        lists = [name for name in ("turns", "messages") if getattr(self, name) is not None]
        if not lists and self.content is None:
            raise ValueError("give `turns`, `messages`, or one turn's `content`")
        if len(lists) > 1:
            raise ValueError("give `turns` or `messages`, not both")
        if lists and single:
            raise ValueError(f"give `{lists[0]}` or one turn's own fields, not both: {', '.join(sorted(single))}")
        return self

    @property
    def single(self) -> TurnIn:
        """Return the turn whose fields stand in the body itself."""
        own = {name: getattr(self, name) for name in _OWN if getattr(self, name) is not None}
        return TurnIn.model_construct(**own)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedTurn:
    """A turn of a request; `place` is its path there, empty for fields at the top level."""

    place: str
    turn: TurnIn

    def field(self, name: str) -> str:
        """Return the path of one of its fields, for an error."""
        return f"{self.place}.{name}" if self.place else name


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignored:
    """A message of a request that is no turn, or `fields` of one that were not read."""

    place: int
    reason: str
    fields: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenTurns:
    """The turns of a request, and its messages that are none."""

    placed: Sequence[PlacedTurn]
    ignored: Sequence[Ignored] = ()


def turns_given(body: TurnsBody) -> GivenTurns:
    """Return the turns of a body, in any of its shapes; raise InvalidFields."""
    if body.messages is not None:
        return _turns_of_messages(body.messages, body)
    if body.turns is None:
        return GivenTurns(placed=[PlacedTurn(place="", turn=body.single)])
    return GivenTurns(
        placed=[
            PlacedTurn(place=f"turns.{place}", turn=_with_defaults(one, body)) for place, one in enumerate(body.turns)
        ]
    )


def _with_defaults(turn: TurnIn, body: TurnsBody) -> TurnIn:
    """Return a turn of a list with the body's fields for those that it does not have."""
    given = {name: value for name in _BY_DEFAULT - turn.model_fields_set if (value := getattr(body, name)) is not None}
    if body.metadata:
        given["metadata"] = {**body.metadata, **turn.metadata}
    return turn.model_copy(update=given) if given else turn


def _turns_of_messages(messages: Sequence[ChatMessageIn], body: TurnsBody) -> GivenTurns:
    placed: list[PlacedTurn] = []
    ignored: list[Ignored] = []
    errors: list[FieldError] = []
    for number, message in enumerate(messages):
        place = f"messages.{number}"
        try:
            said = read_chat_message(message.model_dump())
            if isinstance(said, IgnoredMessage):
                ignored.append(Ignored(place=number, reason=said.reason))
                continue
            placed.append(PlacedTurn(place=place, turn=_with_defaults(_turn_of(said), body)))
            if said.unread:
                ignored.append(Ignored(place=number, reason=NOT_READ, fields=said.unread))
        except ValidationError as invalid:
            errors += [
                FieldError(field=f"{place}.{error['loc'][0]}", message=str(error["msg"])) for error in invalid.errors()
            ]
        except ValueError as error:
            errors.append(FieldError(field=place, message=str(error)))
    if errors:
        raise InvalidFields(errors, "message")
    return GivenTurns(placed=placed, ignored=ignored)


NOT_READ = "fields that are not read"


def _turn_of(said: ChatMessage) -> TurnIn:
    if said.role is not None and said.role not in set(Role):
        raise ValueError(f"the role {said.role!r} is none of {', '.join(Role)}")
    about = {"role": said.role, "content": said.content, "speaker": said.name, "occurred_at": said.occurred_at}
    return TurnIn.model_validate({name: value for name, value in {**about, **said.kept}.items() if value is not None})


def turns_from_body(body: TurnsBody, given: GivenTurns, now: datetime) -> list[Turn]:
    """Return the turns to store, with ids in their order; raise InvalidFields.

    Turns without a time get successive instants, the last of them `now`, and those of one time are set an instant
    apart, so that what one says can end what another has said before it.
    """
    named = models.zone(body.timezone)
    scope = chosen_scope(ScopeKind.USER, body.scope, body.user_id, body.agent_id)
    errors = []
    turns = []
    first = now - (len(given.placed) - 1) * A_MOMENT
    identifiers = sorted(ids.new() for _ in given.placed)
    for place, (placed, identifier) in enumerate(zip(given.placed, identifiers, strict=True)):
        one = placed.turn
        occurred = models.aware(one.occurred_at, named) or first + place * A_MOMENT
        if fault := models.future_fault(occurred, now):
            errors.append(FieldError(field=placed.field("occurred_at"), message=fault))
            continue
        turns.append(
            Turn(
                id=identifier,
                scope=scope,
                role=one.role,
                content=one.content,
                occurred_at=occurred.astimezone(UTC),
                zone=named if body.timezone is not None else offset_of(occurred),
                session_id=one.session_id or body.session_id,
                sequence_number=one.sequence_number,
                speaker=one.speaker,
                user_id=body.user_id if scope.user_id is None else None,
                category=one.category,
                importance=one.importance,
                instructions=(body.extraction,) if body.extraction else (),
            )
        )
    if errors:
        raise InvalidFields(errors)
    return _in_succession(turns)


def _in_succession(turns: Sequence[Turn]) -> list[Turn]:
    """Return the turns with those of one time an instant apart: by their sequence numbers, else as they were given."""
    seen: Counter[datetime] = Counter()
    apart = {}
    for one in sorted(turns, key=lambda turn: turn.sequence_number or 0):
        apart[one.id] = replace(one, occurred_at=one.occurred_at + seen[one.occurred_at] * A_MOMENT)
        seen[one.occurred_at] += 1
    return [apart[one.id] for one in turns]

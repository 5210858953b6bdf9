"""The bodies and query strings that don't depend on the types there are."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, create_model, model_validator

from app.api import fields
from app.api.candidates import canonical_types
from app.api.cursors import LONGEST
from app.api.fields import Fraction, Instant, Lifetime, Metadata, TimeZone
from app.api.problems import FieldError, InvalidFields
from app.api.shapes import maybe, shown
from app.db.listing import Sort
from app.memory.kinds import A_NUMBER, Topic
from app.memory.normalise import words
from app.memory.registry import Registry
from app.memory.strings import Name, storable
from app.model import Category, Mode, ScopeKind, Status, Visibility
from app.read.request import QueryRequest

Question = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=8000), AfterValidator(storable)
]
"""A question of 1 to 8,000 characters, however strange."""

MOST_RESULTS = 200
LARGEST_CONTEXT = 100_000

Role = Literal["read", "write", "admin"]


class In(BaseModel):
    """The base of everything that is asked."""

    model_config = ConfigDict(extra="forbid")


class Clocks(In):
    """Which time a read looks at."""

    as_of: Instant | None = Field(default=None, description=fields.AS_OF)
    known_at: Instant | None = Field(default=None, description=fields.KNOWN_AT)

    def instants(self) -> dict[str, datetime | None]:
        """Return both, by name; a time without an offset is in UTC."""
        return {"as_of": fields.aware(self.as_of, UTC), "known_at": fields.aware(self.known_at, UTC)}


class Seen(Clocks):
    """What a listing sees: naming a user or an agent shows what a query by them would see."""

    user_id: Name | None = None
    agent_id: Name | None = None
    scope: ScopeKind | None = Field(default=None, description="Of these, only what is in scopes of this kind.")


class ListQuery(Seen):
    """Which memories to list."""

    type: list[Name] = Field(
        default_factory=list, max_length=50, description="Only these types; repeat it for several."
    )
    status: list[Status] = Field(
        default_factory=list,
        description="Only these statuses; repeat it for several. By default all but `pending`: history too.",
    )
    subject: Name | None = Field(default=None, description="Only what is about this, as memories show it in `subject`.")
    topic: Topic | None = None
    session_id: Name | None = None
    min_importance: Fraction | None = Field(default=None, description="Only what matters at least this much.")
    validity: Literal["now", "any"] = Field(
        default="now",
        description="`now` leaves out what is active and not true now: what is over, or has not begun. With "
        "`known_at`, then instead of now; `as_of` says itself when.",
    )
    sort: Sort = Sort.NEWEST
    limit: int = Field(default=50, ge=1, le=MOST_RESULTS)
    cursor: str | None = Field(default=None, min_length=1, max_length=LONGEST)


def listing_by(registry: Registry) -> type[ListQuery]:
    """Return the query of listings, with the fields of payloads that the types there are can be narrowed by."""
    fields: dict[str, Any] = {
        name: (
            maybe(Name),
            Field(default=None, description=f"Only memories of type {spec.name} with this {words(name)}."),
        )
        for spec in registry
        for name in spec.filters
    }
    return create_model("ListQuery", __base__=ListQuery, __doc__=ListQuery.__doc__, **fields)


class PatchBody(In, **shown({"importance": 0.9, "topic": "work"})):
    """What may be changed about a memory; what it says is changed by writing a newer one."""

    importance: Fraction | None = None
    topic: Topic | None = None
    category: Category | None = None
    valid_until: Instant | None = Field(default=None, description="Until when it is true; null: without an end.")
    ttl_seconds: Lifetime | None = Field(
        default=None, description="Instead of valid_until: how much longer it is true, in seconds from now."
    )
    needs_review: bool | None = Field(default=None, description="Whether a person should look at it.")
    metadata: Metadata | None = Field(default=None, description="Takes the place of what was there.")

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("name at least one field to change")
        return self

    def changes(self, now: datetime) -> dict[str, object]:
        """Return the fields that were given; null empties only what may be empty."""
        given = {name: getattr(self, name) for name in self.model_fields_set}
        emptied = sorted({name for name, value in given.items() if value is None} - {"topic", "valid_until"})
        if emptied:
            raise InvalidFields([FieldError(field=name, message="must not be null") for name in emptied])
        if given.get("valid_until") is not None:
            given["valid_until"] = fields.aware(self.valid_until, UTC)
        if self.ttl_seconds is not None:
            if "valid_until" in given:
                raise InvalidFields(fields.both_ends())
            given["valid_until"] = now + timedelta(seconds=self.ttl_seconds)
        given.pop("ttl_seconds", None)
        return given


class Asking(In):
    """What both kinds of query take."""

    query: Question = Field(
        description="In plain words, as a person would ask.", examples=["Which editor theme does Ana prefer?"]
    )
    user_id: Name | None = None
    agent_id: Name | None = None
    session_id: Name | None = Field(
        default=None, description="The conversation that asks: what is used in many counts for more. No filter."
    )
    topic: Topic | None = Field(default=None, description="Only what is filed under this.")
    top_k: Annotated[int, A_NUMBER] = Field(
        default=10, ge=1, le=MOST_RESULTS, description="How many memories are returned at most."
    )
    mode: Mode | None = Field(default=None, description="By default as the question sounds.")
    now: Instant | None = Field(
        default=None, description="What `yesterday` goes by; by default `known_at`, or else the present."
    )
    timezone: TimeZone | None = None
    as_of: Instant | None = Field(default=None, description=fields.AS_OF)
    known_at: Instant | None = Field(default=None, description=fields.KNOWN_AT)
    min_confidence: Fraction | None = Field(
        default=None, description="Only what is trusted this far; by default .5, in other modes than `default` .3."
    )

    def asked(self, types: tuple[str, ...], present: datetime) -> QueryRequest:
        """Return the question; times without an offset are read in its time zone."""
        zone = fields.zone(self.timezone)
        known_at = fields.aware(self.known_at, zone)
        now = fields.aware(self.now, zone) or known_at or present
        if self.timezone is not None or self.now is None:
            now = now.astimezone(zone)
        return QueryRequest(
            query=self.query,
            now=now,
            visibility=Visibility(user_id=self.user_id, agent_id=self.agent_id),
            session_id=self.session_id,
            types=types,
            topic=self.topic,
            top_k=self.top_k,
            mode=self.mode,
            as_of=fields.aware(self.as_of, zone),
            known_at=known_at,
            min_confidence=self.min_confidence,
            token_budget=getattr(self, "token_budget", 2000),
            rerank=getattr(self, "rerank", False),
            explain=getattr(self, "explain", False),
        )


class QueryBody(Asking, **shown({"query": "Which editor theme does Ana prefer?", "user_id": "ana"})):
    """A question for the read pipeline."""

    types: list[Name] = Field(default_factory=list, max_length=50, description="Only these; all by default.")
    token_budget: Annotated[int, A_NUMBER] = Field(
        default=2000, ge=0, le=LARGEST_CONTEXT, description="How long `context` may get; 0 for none."
    )
    rerank: bool = Field(
        default=False, description="Have a reranking model order the best. There is none yet: `degraded` says so."
    )
    explain: bool = Field(default=False, description="Return the plan and how each arm ranked each memory.")

    def to_request(self, registry: Registry, present: datetime) -> QueryRequest:
        """Return the question, or raise InvalidFields for an unknown type."""
        return self.asked(canonical_types(self.types, registry, "types"), present)


class RecallBody(
    Asking,
    **shown({"query": "Which theme does Ana prefer?", "user_id": "ana", "memory_types": ["preference"], "top_k": 5}),
):
    """A question in the shape of Aegis Memory."""

    memory_types: list[Name] = Field(default_factory=list, max_length=50, description="Only these; all by default.")

    def to_request(self, registry: Registry, present: datetime) -> QueryRequest:
        """Return the question, or raise InvalidFields for an unknown type."""
        return self.asked(canonical_types(self.memory_types, registry, "memory_types"), present)


class KeyBody(In, **shown({"name": "assistant", "roles": ["read", "write"]})):
    """A key to make."""

    name: Name = Field(examples=["assistant"])
    roles: list[Role] = Field(default=["read", "write"], min_length=1, max_length=3)
    expires_at: Instant | None = None


class RotateBody(In):
    """How to rotate a key."""

    grace_seconds: Annotated[int, A_NUMBER] = Field(
        default=3600, ge=0, le=30 * 86_400, description="How long the old secret still works."
    )


class TenantBody(In):
    """A tenant to make."""

    name: Name = Field(examples=["acme"])

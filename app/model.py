"""Frozen values that all layers share, and their vocabularies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from typing import Final
from uuid import UUID, uuid5

NAMESPACE = UUID("6f1d9a58-6c0e-5f0e-9a53-0a3c3b0f7b11")
"""Root of every UUIDv5 this service derives; changing it would orphan every scope and entity."""


BUILT_IN = UUID(int=0)
"""The tenant id of built-in types."""


class Precision(StrEnum):
    """The precision of a time."""

    EXACT = "exact"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    APPROXIMATE = "approximate"
    UNKNOWN = "unknown"


class MemoryStatus(StrEnum):
    """The status of a memory in its lifecycle; `pending` waits for review and is never recalled."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"
    FORGOTTEN = "forgotten"
    PENDING = "pending"


class Category(StrEnum):
    """The category of a memory, which determines how it fades, independent of its type."""

    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"
    CORE = "core"
    CONTROL = "control"


class SpeechAct(StrEnum):
    """The speech act of a statement; only assertions replace or end memories."""

    ASSERTION = "assertion"
    HYPOTHETICAL = "hypothetical"
    ROLEPLAY = "roleplay"
    SARCASM = "sarcasm"
    QUOTATION = "quotation"
    QUESTION = "question"
    NEGATION = "negation"


class LinkKind(StrEnum):
    """An edge between two memories."""

    SUPERSEDES = "supersedes"
    CONTRADICTS = "contradicts"
    CONFLICTS_WITH = "conflicts-with"
    DERIVED_FROM = "derived-from"


class ReviewReason(StrEnum):
    """The reason to review a memory; what is `withheld` waits with another memory, and is no item of its own."""

    CONTRADICTION = "contradiction"
    DOUBTFUL = "doubtful"
    REPORTED_WRONG = "reported_wrong"
    VOLATILE = "volatile"
    CONSTRAINT = "constraint"
    ENTITY_MERGE = "entity_merge"
    ASKED = "asked"
    ERASURE = "erasure"
    WITHHELD = "withheld"


class Feedback(StrEnum):
    """A caller's feedback on a memory."""

    USEFUL = "useful"
    NOT_USEFUL = "not_useful"
    WRONG = "wrong"


class WebhookEvent(StrEnum):
    """An event that webhooks tell of."""

    MEMORY_CREATED = "memory.created"
    MEMORY_SUPERSEDED = "memory.superseded"
    MEMORY_EXPIRED = "memory.expired"
    MEMORY_CONTESTED = "memory.contested"
    REVIEW_WAITING = "review.waiting"
    JOB_DONE = "job.done"


class DeliveryStatus(StrEnum):
    """The state of a delivery to a webhook."""

    WAITING = "waiting"
    DELIVERED = "delivered"
    FAILED = "failed"


class JobStatus(StrEnum):
    """The status of a background job; the last three are final."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


class ReadMode(StrEnum):
    """The mode of a read, which determines the visible statuses and the confidence floor."""

    DEFAULT = "default"
    HISTORICAL = "historical"
    AUDIT = "audit"


class ScopeKind(StrEnum):
    """The three visibility buckets of a tenant."""

    GLOBAL = "global"
    USER = "user"
    AGENT = "agent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """One visibility bucket: everyone of the tenant, one user, or one agent (perhaps with one user)."""

    kind: ScopeKind
    user_id: str | None = None
    agent_id: str | None = None

    def id(self, tenant: UUID) -> UUID:
        """Return the scope's id, which is derived, so that no look-up is needed."""
        return _scope_id(tenant, self.kind, self.user_id, self.agent_id)


@lru_cache(maxsize=10_000)
def _scope_id(tenant: UUID, kind: ScopeKind, user_id: str | None, agent_id: str | None) -> UUID:
    return uuid5(tenant, f"{kind}\x1f{user_id or ''}\x1f{agent_id or ''}")


def scope_of_write(
    asked: ScopeKind | None, *, default: ScopeKind, user_id: str | None = None, agent_id: str | None = None
) -> Scope:
    """Return the scope of a write: the one that it asks for, else by the ids that it names.

    What names a user is that user's, whichever agent heard it, except for types that are an agent's own by default. An
    agent alone is the author, and the default decides between that agent and everyone.
    """
    kind = asked
    if kind is None and user_id is not None:
        kind = ScopeKind.AGENT if agent_id is not None and default is ScopeKind.AGENT else ScopeKind.USER
    elif kind is None:
        kind = ScopeKind.GLOBAL if agent_id is None or default is ScopeKind.GLOBAL else ScopeKind.AGENT
    return Scope(
        kind=kind,
        user_id=None if kind is ScopeKind.GLOBAL else user_id,
        agent_id=agent_id if kind is ScopeKind.AGENT else None,
    )


UNKNOWN_TYPE: Final = "unknown"
"""The type of an entity of which nothing tells what it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A name in a payload, its role there, and the entity type that the role implies, if any.

    `creates`: an unknown name becomes a new entity; otherwise it stays a literal.
    `declares`: the payload defines this entity, so its aliases are recorded and its name is canonical.
    `entity`: the id that the name is, where it is one; then it means that entity and nobody else.
    `tie`: what it was said to be to whom, such as `user's sister`.
    """

    role: str
    name: str
    entity_type: str | None = None
    creates: bool = True
    declares: bool = False
    aliases: tuple[str, ...] = ()
    attributes: Mapping[str, object] = field(default_factory=dict)
    entity: UUID | None = None
    tie: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityName:
    """The canonical name of an entity that a memory mentions, by the role of the mention.

    `apart` is what tells it from others of its name, where there are any: `user's sister`, or its type.
    """

    role: str
    name: str
    apart: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityRef:
    """An entity that a mention was resolved to; `created` when this write creates it.

    `resembles` is the name of a known entity that a created one may be.
    """

    id: UUID
    name: str
    entity_type: str
    created: bool = False
    resembles: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The source of a memory: the turn, the words, the speaker, and the time; `timezone` is the turn's, as stored."""

    stated_at: datetime
    turn_id: UUID | None = None
    quote: str | None = None
    role: str | None = None
    session_id: str | None = None
    timezone: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceParts:
    """The four components of confidence, each 0..1, with the number of mentions."""

    source: float
    extractor: float
    prior: float
    mentions: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class EventTime:
    """The time of an event: the stated time, its precision, and the half-open range that it covers."""

    at: datetime | None
    precision: Precision
    lower: datetime | None
    upper: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedRelation:
    """A relation that a payload states, by the roles of its two ends."""

    from_role: str
    relation_type: str
    to_role: str
    since: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """The caller: the tenant of the key, the key itself, its roles, and the user or agent that it is bound to."""

    tenant_id: UUID
    key_id: UUID | None
    name: str
    roles: frozenset[str] = frozenset()
    user_id: str | None = None
    agent_id: str | None = None

    @property
    def bound(self) -> bool:
        """Return whether the key is for one user or agent alone."""
        return self.user_id is not None or self.agent_id is not None

    @property
    def sees(self) -> Visibility:
        """Return what a bound key sees."""
        return Visibility(user_id=self.user_id, agent_id=self.agent_id)

    @property
    def own_scopes(self) -> tuple[UUID, ...] | None:
        """Return the ids of the scopes that a bound key may change, None for all of the tenant's."""
        own = (one.id(self.tenant_id) for one in self.sees.scopes() if one.kind is not ScopeKind.GLOBAL)
        return tuple(own) if self.bound else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Visibility:
    """The scopes that a request sees: global, the named user, the named agent, and the agent with that user."""

    user_id: str | None = None
    agent_id: str | None = None

    def scopes(self) -> tuple[Scope, ...]:
        """Return every scope the request may read, global first."""
        found = [Scope(kind=ScopeKind.GLOBAL)]
        if self.user_id is not None:
            found.append(Scope(kind=ScopeKind.USER, user_id=self.user_id))
        if self.agent_id is not None:
            found.append(Scope(kind=ScopeKind.AGENT, agent_id=self.agent_id))
        if self.user_id is not None and self.agent_id is not None:
            found.append(Scope(kind=ScopeKind.AGENT, user_id=self.user_id, agent_id=self.agent_id))
        return tuple(found)

    @lru_cache(maxsize=10_000)  # noqa: B019 - values, few of them, that hold nothing
    def scope_ids(self, tenant: UUID) -> tuple[UUID, ...]:
        """Return the ids of these scopes in a tenant."""
        return tuple(scope.id(tenant) for scope in self.scopes())


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryUsage:
    """Usage of a memory besides the number and time of accesses: distinct `sessions`, stability, feedback."""

    stability: float = 0.0
    sessions: int = 0
    useful: int = 0
    not_useful: int = 0
    wrong: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """A stored memory, as every read returns it; times are aware UTC. `type_version` is 0 for built-in types.

    `names` are those of the entities that it mentions, where the read asks for them.
    """

    id: UUID
    scope: Scope
    type: str
    category: Category
    status: MemoryStatus
    content: str
    payload: Mapping[str, object]
    subject: str | None
    slot: str | None
    contested: bool
    parts: ConfidenceParts
    confidence: float
    importance: float
    topic: str | None
    session_id: str | None
    sequence_number: int | None
    stated_at: datetime
    valid_from: datetime
    valid_until: datetime | None
    recorded_at: datetime
    retired_at: datetime | None
    supersedes: UUID | None
    superseded_by: UUID | None
    review: ReviewReason | None
    review_note: str | None
    review_since: datetime | None
    half_life_days: float | None
    floor: float
    access_count: int
    last_accessed_at: datetime | None
    type_version: int = 0
    speech_act: SpeechAct = SpeechAct.ASSERTION
    provenance: Mapping[str, object] = field(default_factory=dict)
    metadata: Mapping[str, object] = field(default_factory=dict)
    links: tuple[Mapping[str, object], ...] = ()
    evidence: tuple[Evidence, ...] = ()
    usage: MemoryUsage = field(default_factory=MemoryUsage)
    names: tuple[EntityName, ...] = ()

    @property
    def gives_way(self) -> bool:
        """Return whether it was superseded by a memory that is valid only later, so that it is valid until then."""
        if self.status is not MemoryStatus.SUPERSEDED or self.valid_until is None or self.retired_at is None:
            return False
        return self.valid_until > self.retired_at

    @property
    def needs_review(self) -> bool:
        """Return whether it has a reason for review."""
        return self.review is not None

"""Models of answers about memories: memories, pages, results of writes, histories."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, RootModel, create_model

from app import ids
from app.api.memories.bodies import payload_fields
from app.http.models import (
    DIGITS,
    Computed,
    Given,
    Out,
    PageOut,
    Source,
    as_is,
    builtin_or_tenant,
    literal,
    one_of,
    public_id,
)
from app.http.problems import BUILT_IN, OWN, Problem
from app.memory import audit_text, confidence, freshness
from app.memory.candidate import WriteDecision
from app.memory.registry import Registry, discover
from app.memory.spec import MemoryType, class_name
from app.model import Category, LinkKind, Memory, MemoryStatus, ReviewReason, ScopeKind, SpeechAct
from app.services.audit import AuditEntry

_ROOT: Any = RootModel


def memory_freshness(one: Memory, now: datetime | None) -> float:
    """Return the freshness of a memory at a time, rounded for answers."""
    if now is None:
        raise TypeError("freshness is as of a time")
    return round(freshness.of_memory(one, now), DIGITS)


def _links(one: Memory, _: datetime | None) -> list[dict[str, object]]:
    return [_link(one.id, link) for link in one.links]


def _link(here: UUID, link: Mapping[str, object]) -> dict[str, object]:
    outward = UUID(str(link["from"])) == here
    other = UUID(str(link["to"] if outward else link["from"]))
    return LinkOut.answer(
        None, kind=link["kind"], direction="out" if outward else "in", memory_id=ids.public(ids.MEMORY, other)
    )


def _sentence(one: AuditEntry, _: datetime | None) -> str:
    return audit_text.describe(one.action, one.at, one.actor, one.detail, redacted=one.redacted_by is not None)


class ConfidencePartsOut(Out):
    """The components of confidence."""

    source_strength: Annotated[float, Source("source")]
    repetition: Annotated[float, Source("mentions", confidence.repetition)]
    extractor_confidence: Annotated[float, Source("extractor")]
    type_prior: Annotated[float, Source("prior")]
    mentions: int


class LinkOut(Out):
    """An edge to another memory; `direction` says whether it starts here."""

    kind: Annotated[LinkKind, Given()]
    direction: Annotated[Literal["out", "in"], Given()]
    memory_id: Annotated[str, Given()]


Occurred = Annotated[datetime, Source("stated_at")]
"""When something was said: the name that the time has in requests."""


class EvidenceOut(Out):
    """The source of a memory."""

    occurred_at: Occurred
    turn_id: Annotated[str | None, public_id(ids.TURN)]
    quote: str | None
    role: str | None
    session_id: str | None


class MemoryOut(Out):
    """A memory without the fields of its type."""

    id: Annotated[str, public_id(ids.MEMORY)] = Field(examples=["mem_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e"])
    type: str
    category: Category
    status: MemoryStatus
    content: str
    subject: str | None
    slot: str | None = Field(description="The key under which only one value can be true at a time.")
    contested: bool
    confidence: float
    confidence_parts: Annotated[ConfidencePartsOut, Source("parts")]
    freshness: Annotated[float, Computed(memory_freshness)]
    importance: Annotated[float, Source(make=as_is)]
    topic: str | None
    scope: Annotated[ScopeKind, Source("scope.kind")]
    user_id: Annotated[str | None, Source("scope.user_id")]
    agent_id: Annotated[str | None, Source("scope.agent_id")]
    session_id: str | None
    sequence_number: int | None
    speech_act: SpeechAct
    occurred_at: Occurred = Field(description="When it was said, by the latest that said so.")
    valid_from: datetime
    valid_until: datetime | None
    recorded_at: datetime
    retired_at: datetime | None
    supersedes: Annotated[str | None, public_id(ids.MEMORY)]
    superseded_by: Annotated[str | None, public_id(ids.MEMORY)]
    links: Annotated[list[LinkOut], Computed(_links)]
    evidence: list[EvidenceOut]
    provenance: dict[str, Any]
    access_count: int = Field(description="Uses that count: what `not_useful` took back is not among them.")
    last_accessed_at: datetime | None
    distinct_sessions: Annotated[int, Source("usage.sessions")] = Field(
        description="Sessions it was used in, as far as they are kept (16)."
    )
    stability: Annotated[float, Source("usage.stability")] = Field(
        description="From 0 to 1: grows with uses that lie days apart."
    )
    useful_count: Annotated[int, Source("usage.useful")]
    not_useful_count: Annotated[int, Source("usage.not_useful")]
    wrong_count: Annotated[int, Source("usage.wrong")]
    needs_review: bool
    review_reason: Annotated[ReviewReason | None, Source("review")]
    metadata: dict[str, Any]

    @classmethod
    def answer(cls, source: Memory, now: datetime | None = None, /, **given: object) -> dict[str, Any]:
        """Return a memory with its type's fields beside the common ones; freshness is as of `now`."""
        made = super().answer(source, now, **given)
        # Last, because a type's own field with a common name is the one that was written.
        made.update(_own_fields(source))
        return made


class SourceOut(Out):
    """The turn that a memory rests on, and whose it was."""

    turn_id: Annotated[str | None, public_id(ids.TURN)]
    role: str | None


class RecalledMemoryOut(Out):
    """A memory as questions are answered with it, besides the fields of its type; `details` gives all of it."""

    model_config = ConfigDict(extra="allow")

    id: Annotated[str, public_id(ids.MEMORY)] = Field(examples=["mem_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e"])
    type: str
    status: MemoryStatus
    content: str
    subject: str | None
    slot: str | None = Field(description="The key under which only one value can be true at a time.")
    topic: str | None
    session_id: str | None
    sequence_number: int | None
    occurred_at: Occurred = Field(description="When it was said, by the latest that said so.")
    valid_until: datetime | None
    evidence: list[SourceOut]
    metadata: dict[str, Any]

    @classmethod
    def answer(cls, source: Memory, now: datetime | None = None, /, **given: object) -> dict[str, Any]:
        """Return the memory with its type's fields beside the common ones."""
        made = super().answer(source, now, **given)
        return {**made, **_own_fields(source)}


def _own_fields(source: Memory) -> dict[str, Any]:
    """Return the fields of a memory's type; a built-in one's stand beside the common ones."""
    if source.type_version == 0:
        return dict(source.payload)
    return {"type_version": source.type_version, "payload": source.payload}


class TenantTypeMemory(MemoryOut):
    """A memory of a type of your own."""

    type: str = Field(examples=["ticket"])
    type_version: int = Field(description="The version of the type's definition that it was written with.")
    payload: dict[str, Any] = Field(description="The type's fields, by the schema of that version.")


class _MemoryAnswer:
    """The base of the models of memories of any type, which makes their JSON."""

    @classmethod
    def answer(cls, source: Memory, now: datetime | None = None, /) -> dict[str, Any]:
        """Return a memory as `MemoryOut` does."""
        return MemoryOut.answer(source, now)


def _members(registry: Registry) -> tuple[type[BaseModel], ...]:
    return tuple(_member(spec) for spec in registry)


def _member(spec: MemoryType) -> type[BaseModel]:
    fields: Mapping[str, Any] = {
        name: (annotation, _without_aliases(info)) for name, (annotation, info) in payload_fields(spec).items()
    }
    return create_model(
        f"{class_name(spec.name)}Memory",
        __base__=MemoryOut,
        __doc__=spec.definition,
        type=(literal(spec.name), Field()),
        **fields,
    )


def _without_aliases(info: Any) -> Any:  # noqa: ANN401 - a FieldInfo
    shown = copy(info)
    shown.validation_alias = None
    shown.alias_priority = None
    return shown


def _any_memory(members: tuple[type[BaseModel], ...]) -> Any:  # noqa: ANN401 - a model made at run time
    return create_model(
        "Memory",
        __base__=(_MemoryAnswer, _ROOT[builtin_or_tenant(one_of(members), TenantTypeMemory, _tag_of)]),
        __doc__="A memory: of a built-in type, told apart by `type`, or of one of your own, which alone has `payload`.",
    )


def _any_scored_memory(members: tuple[type[BaseModel], ...]) -> Any:  # noqa: ANN401 - a union made at run time
    every: tuple[type[BaseModel], ...] = (*members, TenantTypeMemory)
    *scored, own = (
        create_model(f"Scored{one.__name__}", __base__=one, score=(float, ...), memory_type=(str, ...)) for one in every
    )
    return builtin_or_tenant(one_of(scored), own, _tag_of)


def _tag_of(memory: Any) -> str:  # noqa: ANN401 - JSON, or a model
    """Return the tag of a memory's type in the union."""
    return OWN if isinstance(memory, Mapping) and "payload" in memory else BUILT_IN


if TYPE_CHECKING:
    AnyMemory = MemoryOut
    AnyScoredMemory = MemoryOut
else:
    # One model for each built-in type; the type checker knows their base.
    _MODELS = _members(discover())
    AnyMemory = _any_memory(_MODELS)
    AnyScoredMemory = _any_scored_memory(_MODELS)


class AffectedOut(Out):
    """Another memory that a write changed, and the change."""

    memory_id: Annotated[str, public_id(ids.MEMORY, "id")]
    change: str


class WriteResultOut(Out):
    """The decision of a write, and its reason."""

    memory: AnyMemory | None
    decision: WriteDecision
    reason: str
    affected: list[AffectedOut]


class BatchItemOut(Out):
    """One item's outcome."""

    index: int
    status: int
    memory: AnyMemory | None = None
    decision: WriteDecision | None = None
    reason: str | None = None
    affected: list[AffectedOut] = Field(default_factory=list)
    problem: Problem | None = None


class BatchResultOut(Out):
    """Outcomes in the order of the batch."""

    results: list[BatchItemOut]


class MemoryPageOut(PageOut):
    """Some memories."""

    memories: list[AnyMemory]


class AuditEventOut(Out):
    """An audit event: `sentence` describes it for people, `detail` has its ids and numbers."""

    id: Annotated[str, public_id(ids.EVENT)]
    at: datetime
    actor: str
    action: str
    memory_id: Annotated[str | None, public_id(ids.MEMORY, "memory")]
    sentence: Annotated[str, Computed(_sentence)]
    detail: dict[str, Any]
    redacted: Annotated[bool, Source("redacted_by", lambda erasure: erasure is not None)] = Field(
        description="The detail was emptied by an erasure."
    )


class HistoryOut(Out):
    """Every version of a belief, oldest statement first, and their audit events."""

    versions: list[AnyMemory]
    events: list[AuditEventOut]

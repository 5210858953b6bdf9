"""The memory as answers show it: model and view in one place.

What answers look like, as OpenAPI shows them; `views.py` makes them, and a test holds the two together.

From the service's values to answers: plain dictionaries, written as JSON without another look.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field, RootModel, create_model

from app import ids
from app.api.memories.bodies import payload_fields
from app.api.plumbing.fields import Out
from app.api.plumbing.problems import Problem
from app.api.plumbing.unions import BUILT_IN, OWN, builtin_or_tenant, literal, many, maybe, one_of
from app.db.audit import AuditEntry
from app.memory import audit_text, confidence, freshness
from app.memory.candidate import WriteDecision, WriteOutcome
from app.memory.freshness import Decay
from app.memory.registry import Registry
from app.memory.spec import MemoryType
from app.model import Category, Evidence, LinkKind, Memory, MemoryStatus, ReviewReason, ScopeKind, SpeechAct
from app.services.memories import MemoryHistory

_ROOT: Any = RootModel


class ConfidencePartsOut(Out):
    """What confidence is made of."""

    source_strength: float
    repetition: float
    extractor_confidence: float
    type_prior: float
    mentions: int


class LinkOut(Out):
    """An edge to another memory; `direction` says whether it starts here."""

    kind: LinkKind
    direction: Literal["out", "in"]
    memory_id: str


class EvidenceOut(Out):
    """Where a memory was said."""

    stated_at: datetime
    turn_id: str | None
    quote: str | None
    role: str | None
    session_id: str | None


class MemoryOut(Out):
    """A memory, besides the fields of its type."""

    id: str = Field(examples=["mem_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e"])
    category: Category
    status: MemoryStatus
    content: str
    subject: str | None
    slot: str | None = Field(description="The key under which only one value can be true at a time.")
    contested: bool
    confidence: float
    confidence_parts: ConfidencePartsOut
    freshness: float
    importance: float
    topic: str | None
    scope: ScopeKind
    user_id: str | None
    agent_id: str | None
    session_id: str | None
    sequence_number: int | None
    speech_act: SpeechAct
    stated_at: datetime
    valid_from: datetime
    valid_until: datetime | None
    recorded_at: datetime
    retired_at: datetime | None
    supersedes: str | None
    superseded_by: str | None
    links: list[LinkOut]
    evidence: list[EvidenceOut]
    provenance: dict[str, Any]
    access_count: int = Field(description="Uses that count: what `not_useful` took back is not among them.")
    last_accessed_at: datetime | None
    distinct_sessions: int = Field(description="Sessions it was used in, as far as they are kept (16).")
    stability: float = Field(description="From 0 to 1: grows with uses that lie days apart.")
    useful_count: int
    not_useful_count: int
    wrong_count: int
    needs_review: bool
    review_reason: ReviewReason | None
    metadata: dict[str, Any]


class TenantTypeMemory(MemoryOut):
    """A memory of a type of your own."""

    type: str = Field(examples=["ticket"])
    type_version: int = Field(description="The version of the type's definition that it was written with.")
    payload: dict[str, Any] = Field(description="The type's fields, by the schema of that version.")


class AffectedOut(Out):
    """Another memory that a write changed, and how."""

    memory_id: str
    change: str


class AuditEvent(Out):
    """Something that happened: `sentence` tells it to people, `detail` holds the ids and numbers behind it."""

    id: str
    at: datetime
    actor: str
    action: str
    memory_id: str | None
    sentence: str
    detail: dict[str, Any]
    redacted: bool = Field(description="The detail was emptied by an erasure.")


class ArmOut(Out):
    """Where a retrieval arm placed a memory."""

    arm: str
    rank: int
    score: float
    scaled: float
    contribution: float


class GroupOut(Out):
    """One group of the context block."""

    name: str
    lines: list[str]


class ContextOut(Out):
    """The block to paste into a prompt."""

    text: str
    tokens: int
    groups: list[GroupOut]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """The answers whose shape depends on the types there are."""

    memory: Any
    write: type[BaseModel]
    batch: type[BaseModel]
    page: type[BaseModel]
    history: type[BaseModel]
    query: type[BaseModel]
    recall: type[BaseModel]


def build_answers(registry: Registry) -> Answers:
    """Return the answers for the types there are."""
    members = tuple(_memory(spec) for spec in registry)
    memory: Any = create_model(
        "Memory",
        __base__=_ROOT[builtin_or_tenant(one_of(members), TenantTypeMemory, _which)],
        __doc__="A memory: of a built-in type, told apart by `type`, or of one of your own, which alone has `payload`.",
    )
    write = _out(
        "WriteResult",
        "What was decided about a write, and why.",
        memory=maybe(memory),
        decision=WriteDecision,
        reason=str,
        affected=list[AffectedOut],
    )
    decided = _item("BatchItem", "One item's outcome.", maybe(memory))
    return Answers(
        memory=memory,
        write=write,
        batch=_out("BatchResult", "Outcomes in the order of the batch.", results=many(decided)),
        page=_out("MemoryPage", "Some memories.", memories=many(memory), next_cursor=str | None),
        history=_out(
            "History",
            "Every version of a belief, oldest statement first, and what happened to them.",
            versions=many(memory),
            events=list[AuditEvent],
        ),
        query=_out(
            "QueryResult",
            "Memories best first, and the context made of them.",
            memories=many(_hit(memory)),
            context=ContextOut,
            understood=dict[str, Any],
            plan=dict[str, Any] | None,
            took_ms=float,
            degraded=list[str],
        ),
        recall=_out(
            "RecallResult",
            "Memories best first.",
            memories=many(_scored(members)),
            query_time_ms=float,
        ),
    )


def _hit(memory: Any) -> type[BaseModel]:  # noqa: ANN401 - a model made at run time
    return _out(
        "Hit",
        "A memory that answers: the score orders the answers, the relevance says how well one fits by itself.",
        memory=memory,
        score=float,
        relevance=float,
        retrieval=float,
        confidence=float,
        freshness=float,
        arms=list[ArmOut],
        notes=list[str],
    )


def _memory(spec: MemoryType) -> type[BaseModel]:
    fields: Mapping[str, Any] = {
        name: (annotation, _shown(info)) for name, (annotation, info) in payload_fields(spec).items()
    }
    name = "".join(word.capitalize() for word in spec.name.split("_"))
    return create_model(
        f"{name}Memory", __base__=MemoryOut, __doc__=spec.definition, type=(literal(spec.name), Field()), **fields
    )


def _scored(members: tuple[type[BaseModel], ...]) -> Any:  # noqa: ANN401 - a union made at run time
    every: tuple[type[BaseModel], ...] = (*members, TenantTypeMemory)
    *scored, own = (
        create_model(f"Scored{one.__name__}", __base__=one, score=(float, ...), memory_type=(str, ...)) for one in every
    )
    return builtin_or_tenant(one_of(scored), own, _which)


def _which(memory: Any) -> str:  # noqa: ANN401 - JSON, or a model
    """Return which kind of type a memory is of."""
    return OWN if isinstance(memory, Mapping) and "payload" in memory else BUILT_IN


def _shown(info: Any) -> Any:  # noqa: ANN401 - a FieldInfo
    shown = copy(info)
    shown.validation_alias = None
    shown.alias_priority = None
    return shown


def _item(name: str, doc: str, memory: Any) -> type[BaseModel]:  # noqa: ANN401 - a model made at run time
    return create_model(
        name,
        __base__=Out,
        __doc__=doc,
        index=(int, ...),
        status=(int, ...),
        memory=(memory, None),
        decision=(WriteDecision | None, None),
        reason=(str | None, None),
        affected=(list[AffectedOut], Field(default_factory=list)),
        problem=(Problem | None, None),
    )


def _out(name: str, doc: str, **fields: Any) -> type[BaseModel]:  # noqa: ANN401 - annotations
    required: dict[str, Any] = {field: (annotation, ...) for field, annotation in fields.items()}
    return create_model(name, __base__=Out, __doc__=doc, **required)


def memory_answer(one: Memory, now: datetime) -> dict[str, object]:
    """Return a memory with its type's fields beside the common ones; freshness is as of `now`."""
    return {
        "id": ids.public(ids.MEMORY, one.id),
        "type": one.type,
        "category": one.category,
        "status": one.status,
        "content": one.content,
        "subject": one.subject,
        "slot": one.slot,
        "contested": one.contested,
        "confidence": round(one.confidence, 6),
        "confidence_parts": _parts(one),
        "freshness": round(_freshness(one, now), 6),
        "importance": one.importance,
        "topic": one.topic,
        "scope": one.scope.kind,
        "user_id": one.scope.user_id,
        "agent_id": one.scope.agent_id,
        "session_id": one.session_id,
        "sequence_number": one.sequence_number,
        "speech_act": one.speech_act,
        "stated_at": one.stated_at,
        "valid_from": one.valid_from,
        "valid_until": one.valid_until,
        "recorded_at": one.recorded_at,
        "retired_at": one.retired_at,
        "supersedes": _memory_id(one.supersedes),
        "superseded_by": _memory_id(one.superseded_by),
        "links": [_link(one.id, link) for link in one.links],
        "evidence": [_evidence(item) for item in one.evidence],
        "provenance": one.provenance,
        "access_count": one.access_count,
        "last_accessed_at": one.last_accessed_at,
        "distinct_sessions": one.usage.sessions,
        "stability": round(one.usage.stability, 6),
        "useful_count": one.usage.useful,
        "not_useful_count": one.usage.not_useful,
        "wrong_count": one.usage.wrong,
        "needs_review": one.needs_review,
        "review_reason": one.review,
        "metadata": one.metadata,
        # Last: where a type has a field of its own by a common name, that is what was written.
        **(one.payload if one.type_version == 0 else {"type_version": one.type_version, "payload": one.payload}),
    }


def write_answer(one: WriteOutcome, now: datetime) -> dict[str, object]:
    """Return what was decided about a write."""
    return {
        "memory": None if one.memory is None else memory_answer(one.memory, now),
        "decision": one.decision,
        "reason": one.reason,
        "affected": [{"memory_id": ids.public(ids.MEMORY, other.id), "change": other.change} for other in one.affected],
    }


def history_answer(one: MemoryHistory, now: datetime) -> dict[str, object]:
    """Return the versions of a belief and what happened to them."""
    return {
        "versions": [memory_answer(version, now) for version in one.versions],
        "events": [audit_answer(event) for event in one.events],
    }


def audit_answer(one: AuditEntry) -> dict[str, object]:
    """Return an event of the audit log, with its sentence."""
    emptied = one.redacted_by is not None
    return {
        "id": ids.public(ids.EVENT, one.id),
        "at": one.at,
        "actor": one.actor,
        "action": one.action,
        "memory_id": _memory_id(one.memory),
        "sentence": audit_text.describe(one.action, one.at, one.actor, one.detail, redacted=emptied),
        "detail": one.detail,
        "redacted": emptied,
    }


def _parts(one: Memory) -> dict[str, object]:
    return {
        "source_strength": one.parts.source,
        "repetition": confidence.repetition(one.parts.mentions),
        "extractor_confidence": one.parts.extractor,
        "type_prior": one.parts.prior,
        "mentions": one.parts.mentions,
    }


def _freshness(one: Memory, now: datetime) -> float:
    return freshness.since_last_use(
        stated_at=one.stated_at,
        last_accessed_at=one.last_accessed_at,
        access_count=one.access_count,
        decay=Decay(half_life_days=one.half_life_days, floor=one.floor),
        now=now,
    )


def _memory_id(value: UUID | None) -> str | None:
    return None if value is None else ids.public(ids.MEMORY, value)


def _link(here: UUID, link: Mapping[str, object]) -> dict[str, object]:
    outward = UUID(str(link["from"])) == here
    other = UUID(str(link["to"] if outward else link["from"]))
    return {
        "kind": link["kind"],
        "direction": "out" if outward else "in",
        "memory_id": ids.public(ids.MEMORY, other),
    }


def _evidence(one: Evidence) -> dict[str, object]:
    return {
        "stated_at": one.stated_at,
        "turn_id": None if one.turn_id is None else ids.public(ids.TURN, one.turn_id),
        "quote": one.quote,
        "role": one.role,
        "session_id": one.session_id,
    }

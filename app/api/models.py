"""What answers look like, as OpenAPI shows them; `views.py` makes them, and a test holds the two together."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel, create_model

from app.api.bodies import payload_fields
from app.api.problems import Problem
from app.api.shapes import BUILT_IN, OWN, either, literal, many, maybe, one_of
from app.memory.candidate import Decided
from app.memory.registry import Registry
from app.memory.spec import MemoryType
from app.model import Category, LinkKind, ReviewReason, ScopeKind, SpeechAct, Status

_ROOT: Any = RootModel


class Out(BaseModel):
    """The base of everything that is answered."""

    model_config = ConfigDict(extra="forbid")


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
    status: Status
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


class OwnMemory(MemoryOut):
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


def build(registry: Registry) -> Answers:
    """Return the answers for the types there are."""
    members = tuple(_memory(spec) for spec in registry)
    memory: Any = create_model(
        "Memory",
        __base__=_ROOT[either(one_of(members), OwnMemory, _which)],
        __doc__="A memory: of a built-in type, told apart by `type`, or of one of your own, which alone has `payload`.",
    )
    write = _out(
        "WriteResult",
        "What was decided about a write, and why.",
        memory=maybe(memory),
        decision=Decided,
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
        "A memory that answers; score = retrieval x confidence x freshness^g.",
        memory=memory,
        score=float,
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
    every: tuple[type[BaseModel], ...] = (*members, OwnMemory)
    *scored, own = (
        create_model(f"Scored{one.__name__}", __base__=one, score=(float, ...), memory_type=(str, ...)) for one in every
    )
    return either(one_of(scored), own, _which)


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
        decision=(Decided | None, None),
        reason=(str | None, None),
        affected=(list[AffectedOut], Field(default_factory=list)),
        problem=(Problem | None, None),
    )


def _out(name: str, doc: str, **fields: Any) -> type[BaseModel]:  # noqa: ANN401 - annotations
    required: dict[str, Any] = {field: (annotation, ...) for field, annotation in fields.items()}
    return create_model(name, __base__=Out, __doc__=doc, **required)

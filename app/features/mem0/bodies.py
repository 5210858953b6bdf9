"""Bodies and query strings of mem0's calls, and a memory as mem0 answers it."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import Annotated, Any, Final, Literal

from pydantic import AliasChoices, Field

from app import ids
from app.api.query import Question
from app.features.mem0.filters import KEPT
from app.http.models import MOST_RESULTS, Fraction, Instant, Metadata, RequestBody
from app.memory.fields import Flag, Name, Sentence, UserId
from app.memory.instructions import Entry, Words
from app.model import Memory, ScopeKind

A_MOMENT: Final = timedelta(microseconds=1)
"""A memory is true until its end, and by mem0 through the day before it."""

MOST_AT_A_TIME: Final = 1_000
"""Most memories of one batch."""

MOST_A_PAGE: Final = 1_000

Limit = Annotated[int, Field(ge=1, le=MOST_RESULTS)]


class ProjectFields(RequestBody):
    """The organisation and the project, which are both the tenant of the key."""

    org_id: Name | None = None
    project_id: Name | None = None


class ProjectQuery(ProjectFields):
    """The fields of a project that are wanted, by default all."""

    fields: list[Name] | None = None


class ProjectBody(ProjectFields):
    """The setting of a project that has a counterpart; an empty text takes the instructions away."""

    custom_instructions: Words | Literal[""]


class ProfileJobBody(RequestBody):
    """The user whose profile is to be made."""

    operation: Literal["trigger"]
    entity_type: Literal["user"]
    entity_id: UserId


class OwnerFields(ProjectFields):
    """Mem0's four ids of owners."""

    user_id: UserId | None = None
    agent_id: Name | None = None
    run_id: Name | None = None
    app_id: Name | None = None

    @property
    def given(self) -> dict[str, str]:
        """Return the ids that are given, by name."""
        named = {name: getattr(self, name) for name in ("user_id", "agent_id", "run_id", "app_id")}
        return {name: value for name, value in named.items() if value is not None}


class AddBody(OwnerFields):
    """Messages to remember."""

    messages: str | list[dict[str, Any]] = Field(min_length=1)
    filters: dict[str, Any] | None = None
    metadata: Metadata = Field(default_factory=dict)
    infer: Flag = True
    async_mode: Flag = False
    custom_instructions: Words | None = None
    includes: Entry | None = None
    excludes: Entry | None = None
    timestamp: int | float | None = None
    expiration_date: str | None = None
    version: Literal["v1", "v2", "v3"] | None = None
    output_format: Literal["v1.0", "v1.1"] = "v1.1"
    scope: ScopeKind | None = None
    timezone: str | None = None


class FilterFields(OwnerFields):
    """The fields of both listings and searches."""

    filters: dict[str, Any] | None = None
    metadata: Metadata | None = None
    categories: list[Name] | None = Field(default=None, max_length=50)
    fields: list[Name] | None = Field(default=None, max_length=50)
    show_expired: Flag = False
    latest_only: Flag = True
    version: Literal["v1", "v2", "v3"] | None = None
    output_format: Literal["v1.0", "v1.1"] = "v1.1"
    async_mode: Flag | None = None


class ListBody(FilterFields):
    """Filters of a listing."""

    start_date: Instant | None = None
    end_date: Instant | None = None
    page: int | None = Field(default=None, ge=1)
    page_size: int | None = Field(
        default=None, ge=1, le=MOST_A_PAGE, validation_alias=AliasChoices("page_size", "limit", "top_k")
    )


class PageNumbers(RequestBody):
    """The page of a listing whose filters stand in the body."""

    page: int | None = Field(default=None, ge=1)
    page_size: int | None = Field(default=None, ge=1, le=MOST_A_PAGE)
    version: Literal["v1", "v2", "v3"] | None = None


class ListQuery(OwnerFields):
    """Filters of a listing in a query string."""

    filters: str | None = None
    start_date: Instant | None = None
    end_date: Instant | None = None
    page: int | None = Field(default=None, ge=1)
    page_size: int | None = Field(default=None, ge=1, le=MOST_A_PAGE)
    limit: int | None = Field(default=None, ge=1, le=MOST_A_PAGE)
    version: Literal["v1", "v2", "v3"] | None = None
    output_format: Literal["v1.0", "v1.1"] = "v1.0"


class SearchBody(FilterFields):
    """A question."""

    query: Question
    top_k: Limit | None = Field(default=None, validation_alias=AliasChoices("top_k", "limit"))
    threshold: Fraction | None = None
    rerank: Flag = False
    reference_date: str | int | None = None
    keyword_search: Literal[True] | None = None
    filter_memories: Literal[True] | None = None


class UpdateBody(RequestBody):
    """Changes of a memory; null clears `expiration_date`."""

    text: Sentence | None = None
    metadata: Metadata | None = None
    timestamp: int | float | str | None = None
    expiration_date: str | None = None


class BatchUpdate(UpdateBody):
    """Changes of one memory of a batch."""

    memory_id: Name


class BatchUpdateBody(RequestBody):
    """Memories to change."""

    memories: list[BatchUpdate] = Field(min_length=1, max_length=MOST_AT_A_TIME)


class BatchDelete(RequestBody):
    """A memory to erase."""

    memory_id: Name


class BatchDeleteBody(RequestBody):
    """Memories to erase."""

    memories: list[BatchDelete] = Field(min_length=1, max_length=MOST_AT_A_TIME)


class DeleteQuery(ProjectFields):
    """Options of the deletion of a memory."""

    delete_linked: bool = False


class DeleteAllQuery(OwnerFields):
    """The owners of the memories to erase."""

    filters: str | None = None


class OpinionBody(RequestBody):
    """Feedback on a memory."""

    memory_id: Name
    feedback: Literal["POSITIVE", "NEGATIVE", "VERY_NEGATIVE"]
    feedback_reason: Annotated[str, Field(max_length=2000)] | None = None


def shown(memory: Memory) -> dict[str, Any]:
    """Return a memory as mem0 answers it, with what this service knows besides."""
    metadata = dict(memory.metadata)
    kept = metadata.pop(KEPT, None)
    aside = kept if isinstance(kept, dict) else {}
    supersedes, superseded_by = (
        None if one is None else ids.public(ids.MEMORY, one) for one in (memory.supersedes, memory.superseded_by)
    )
    return {
        "id": ids.public(ids.MEMORY, memory.id),
        "memory": memory.content,
        "user_id": memory.scope.user_id or memory.provenance.get("user_id"),
        "agent_id": memory.scope.agent_id or memory.provenance.get("agent_id") or aside.get("agent_id"),
        "app_id": aside.get("app_id"),
        "run_id": memory.session_id,
        "hash": hashlib.md5(memory.content.encode(), usedforsecurity=False).hexdigest(),
        "metadata": metadata,
        "categories": [one for one in (memory.type, memory.topic) if one],
        "immutable": False,
        "expiration_date": None if memory.valid_until is None else (memory.valid_until - A_MOMENT).date().isoformat(),
        "created_at": memory.recorded_at.isoformat(),
        "updated_at": (memory.retired_at or memory.recorded_at).isoformat(),
        "type": memory.type,
        "status": memory.status,
        "confidence": round(memory.confidence, 6),
        "occurred_at": memory.stated_at.isoformat(),
        "valid_from": memory.valid_from.isoformat(),
        "valid_until": None if memory.valid_until is None else memory.valid_until.isoformat(),
        "needs_review": memory.needs_review,
        "supersedes": supersedes,
        "superseded_by": superseded_by,
    }

"""Bodies and query strings of mem0's calls, and a memory as mem0 answers it."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Annotated, Any, Final, Literal

from fastapi import Path
from pydantic import AliasChoices, Field

from app import ids
from app.api.query import Question
from app.errors import NotFound
from app.features.mem0.filters import KEPT
from app.http.models import MOST_RESULTS, Fraction, Instant, Metadata, RequestBody
from app.http.problems import FieldError, InvalidFields
from app.memory.candidate import WriteDecision
from app.memory.fields import Flag, Name, Sentence, UserId
from app.memory.instructions import Entry, Words
from app.model import Actor, Memory, ScopeKind
from app.runtime import Runtime

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


EVENTS: Final[Mapping[str, str]] = {
    WriteDecision.ADDED: "ADD",
    WriteDecision.SUPERSEDED: "UPDATE",
    WriteDecision.CONTRADICTED: "ADD",
    WriteDecision.ENDED: "DELETE",
}
"""Mem0's events by the decisions here; others are NONE."""


EntityName = Annotated[str, Path(min_length=1, max_length=1_000)]


def require_project(actor: Actor, given: ProjectFields) -> str:
    """Return the tenant's public id; raise InvalidFields for another organisation or project."""
    tenant = ids.public(ids.TENANT, actor.tenant_id)
    wrong = [name for name in ("org_id", "project_id") if getattr(given, name) not in (None, tenant)]
    if wrong:
        message = f"is not the key's own: leave it out, or give {tenant}"
        raise InvalidFields([FieldError(field=name, message=message) for name in wrong])
    return tenant


def filters_from_text(text: str | None) -> dict[str, Any] | None:
    """Return filters of a query string: JSON, or a dictionary as Python prints it, which the client sends."""
    if text is None:
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        try:
            found = ast.literal_eval(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            found = None
    if not isinstance(found, dict):
        raise InvalidFields([FieldError(field="filters", message="must be a JSON object")])
    return found


async def extracted(runtime: Runtime, actor: Actor, turns: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the results of turns as mem0's events, with the decisions and reasons of this service."""
    candidates = [one for turn in turns for one in turn["candidates"]]
    texts: dict[str, str] = {}
    for name in {one["memory_id"] for one in candidates if one["memory_id"]}:
        with suppress(NotFound):  # erased since
            texts[name] = (await runtime.memories.get(actor, ids.parse(ids.MEMORY, name))).content
    return [_event(one, texts) for one in candidates]


def _event(candidate: Mapping[str, Any], texts: Mapping[str, str]) -> dict[str, Any]:
    replaced = [one["memory_id"] for one in candidate["affected"] if one["change"] == "superseded"]
    text = texts.get(candidate["memory_id"] or "", candidate["content"])
    return {
        "id": candidate["memory_id"],
        "memory": text,
        "data": {"memory": text},
        "event": EVENTS.get(candidate["decision"], "NONE"),
        "previous_id": replaced[0] if replaced else None,
        **{name: candidate[name] for name in ("type", "decision", "reason", "affected", "confidence", "quote")},
    }

"""The query log over HTTP: what was asked, what was returned, and how long it took."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import Response

from app import ids
from app.features.query_log.service import QueryLog, QueryLogFilter
from app.http import cursors, models
from app.http.cursors import PageQuery
from app.http.guard import ADMIN, ActorDep, GuardedRoute, RuntimeDep
from app.http.models import Instant, Out, PageOut, Source, json_answer, public_id, public_ids
from app.http.routes import add_reads
from app.memory.fields import Name
from app.model import ReadMode


class QueryLogQuery(PageQuery):
    """Filters of the query log."""

    user_id: Name | None = None
    agent_id: Name | None = None
    actor: Name | None = Field(default=None, description="The name of the key that asked.")
    question_digest: str | None = Field(
        default=None, pattern=r"^[0-9a-f]{24}$", description="Only this question, by the digest of an entry."
    )
    mode: ReadMode | None = None
    memory_id: str | None = Field(default=None, max_length=80, description="Only questions that returned this memory.")
    degraded: bool | None = Field(default=None, description="Whether a part of the pipeline was missing or late.")
    empty: bool | None = Field(default=None, description="Whether no memory was returned.")
    min_ms: float | None = Field(default=None, ge=0, le=1e9, description="Only questions that took at least so long.")
    since: Instant | None = Field(default=None, description="From this instant on.")
    until: Instant | None = Field(default=None, description="Before this instant.")

    def memory(self) -> UUID | None:
        """Return the memory's id, or raise InvalidFields."""
        return None if self.memory_id is None else models.parse_id(ids.MEMORY, self.memory_id, "memory_id")


class QueryLogEntryOut(Out):
    """A question that was asked; `stages` are milliseconds of stages and retrieval arms."""

    id: Annotated[str, public_id(ids.QUERY)]
    asked_at: datetime
    actor: str = Field(description="The name of the key that asked.")
    user_id: str | None
    agent_id: str | None
    question_digest: str = Field(description="Equal for equal questions of a tenant.")
    question_length: int = Field(description="Characters.")
    question: str | None = Field(description="The question itself, where TM_QUERY_LOG_CONTENT keeps it.")
    mode: ReadMode
    top_k: int
    returned: Annotated[int, Source("memories", len)]
    memory_ids: Annotated[list[str], public_ids(ids.MEMORY, "memories")] = Field(description="Best first.")
    took_ms: float
    stages: dict[str, float]
    degraded: list[str]


class QueryLogPageOut(PageOut):
    """Some entries, newest first."""

    queries: list[QueryLogEntryOut]


def router() -> APIRouter:
    """Return the route."""
    found = APIRouter(tags=["admin"], route_class=GuardedRoute)
    add_reads(found, ADMIN, ("/admin/query-log", list_query_log, "List questions that were asked", QueryLogPageOut))
    return found


async def list_query_log(runtime: RuntimeDep, actor: ActorDep, query: Annotated[QueryLogQuery, Query()]) -> Response:
    """List sampled questions, newest first, a page at a time; empty unless `TM_QUERY_LOG_SAMPLE` is set."""
    wanted = QueryLogFilter(
        user_id=query.user_id,
        agent_id=query.agent_id,
        actor=query.actor,
        question_digest=query.question_digest,
        mode=query.mode,
        memory=query.memory(),
        degraded=query.degraded,
        empty=query.empty,
        min_ms=query.min_ms,
        **models.period(query.since, query.until),
    )
    listing = query.listing("query-log", actor.tenant_id)
    after = cursors.decode_time(query.cursor, listing)
    page = await runtime.service(QueryLog).page(actor, wanted, limit=query.limit, after=after)
    return json_answer(QueryLogPageOut.page(page.items, cursors.encode_time(page.next, listing)))

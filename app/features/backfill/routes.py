"""Backfills over HTTP: preview, list, read, commit, undo and cancel them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request
from pydantic import Field
from starlette.responses import Response

from app import ids
from app.api.memories.bodies import canonical_types
from app.features.backfill.service import BackfillRequest, Backfills
from app.features.backfill.sql import Backfill, BackfillItem
from app.features.backfill.steps import DEFINITIONS
from app.http import cursors
from app.http.cursors import PageQuery
from app.http.guard import ADMIN, ActorDep, GuardedRoute, RuntimeDep
from app.http.idempotency import IDEMPOTENT, ReplayableResponse, run_once
from app.http.models import Given, Out, PageOut, RequestBody, Source, json_answer, public_id, with_example
from app.http.routes import ACCEPTED, CREATED, OK, add_reads, add_route
from app.memory.backfill import BackfillEffect, BackfillStatus, Classifier, ItemState
from app.memory.fields import Name
from app.model import Actor, ScopeKind
from app.runtime import Runtime

_HIDDEN_COLUMNS = frozenset({"identity", "filter_key", "slot_value"})

_HIDDEN_COUNTS = frozenset({"scanned", DEFINITIONS})

_POINTERS = ("supersedes", "superseded_by")


class BackfillBody(RequestBody, **with_example({"type": "medication"})):
    """The type that adopts memories, and the extent of the scan."""

    type: Name = Field(description="The type that adopts memories.", examples=["medication"])
    sources: list[Name] | None = Field(
        default=None,
        alias="from",
        min_length=1,
        max_length=50,
        description="The types to look through; by default those that the type's rule reads.",
        examples=[["fact"]],
    )
    classifier: Classifier = Field(
        default=Classifier.RULES, description="`rules`: the type's own rule. `model`: the configured language model."
    )
    user_id: Name | None = Field(default=None, description="Only this user's scope, and agents' with the user.")
    agent_id: Name | None = Field(default=None, description="Only this agent's scopes.")
    scope: ScopeKind | None = Field(default=None, description="Only scopes of this kind.")


class MemoriesQuery(PageQuery):
    """Filters of a backfill's memories."""

    state: ItemState | None = Field(
        default=None,
        description="`planned`, `left` (flagged, but it stays as it is), `committed`, `skipped` (something moved since "
        "the preview), `undone`, `kept` (something moved since the commit).",
    )
    effect: BackfillEffect | None = Field(
        default=None, description="`reclassified` changes its type; the others are touched by one that does."
    )


def _columns(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return columns by their names in the API."""
    return {
        name: _memory_id(value) if name in _POINTERS and value is not None else value
        for name, value in values.items()
        if name not in _HIDDEN_COLUMNS
    }


def _links(one: BackfillItem) -> list[dict[str, str]]:
    return [{"from": _memory_id(source), "kind": kind, "to": _memory_id(target)} for source, kind, target in one.links]


def _memory_id(value: str) -> str:
    return ids.public(ids.MEMORY, UUID(value))


class ChangeOut(Out):
    """A memory of a backfill: `before` and `after` hold the fields that change."""

    memory_id: Annotated[str, public_id(ids.MEMORY, "item.memory_id")]
    state: Annotated[ItemState, Source("item.state")]
    effect: Annotated[BackfillEffect, Source("item.effect")]
    type: Annotated[str, Source("item.source")] = Field(description="The type before.")
    content: str = Field(description="The memory's content, which does not change.")
    reason: Annotated[str | None, Source("item.reason")] = Field(description="The reason of the change.")
    why: Annotated[str | None, Source("item.why")] = Field(description="Why it was left, skipped or kept unchanged.")
    before: Annotated[dict[str, Any], Source("item.before", _columns)]
    after: Annotated[dict[str, Any], Source("item.after", _columns)]
    links: Annotated[list[dict[str, str]], Source("item", _links)] = Field(
        description="Links that are made: from, kind, to."
    )


def _counts(counts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: count for name, count in counts.items() if name not in _HIDDEN_COUNTS}


class BackfillOut(Out):
    """A backfill."""

    id: Annotated[str, public_id(ids.BACKFILL)]
    type: str
    sources: list[str] = Field(alias="from")
    classifier: Classifier
    status: BackfillStatus
    actor: str
    counts: Annotated[dict[str, Any], Source(make=_counts)] = Field(
        description="`looked_at`; `flagged`, by reason and source; `left`, by why; `changed` in all, of them "
        "`others_changed`; `collisions` over slots; `superseded`, `contradicting`, `conflicting`, `reviewed`; then how "
        "many are `committed`, `skipped`, `undone`, `kept`."
    )
    job_id: Annotated[str | None, public_id(ids.JOB)] = Field(
        description="The latest job, see `GET /jobs/{job_id}`; null where none was needed."
    )
    created_at: datetime
    previewed_at: datetime | None
    committed_at: datetime | None
    undone_at: datetime | None


class BackfillDetail(BackfillOut):
    """A backfill with a sample of its changes, and the scopes that it is limited to."""

    sample: Annotated[list[ChangeOut], Given()]
    within: Annotated[list[dict[str, str | None]] | None, Given()] = Field(description="Null: all of the tenant.")


class BackfillPage(PageOut):
    """Some backfills, newest first."""

    backfills: list[BackfillOut]


class ChangePage(PageOut):
    """Some memories of a backfill, in the order of their ids."""

    memories: list[ChangeOut]


BackfillId = Annotated[str, Path(description="A backfill's id.", examples=["bfl_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e"])]


def router() -> APIRouter:
    """Return the routes."""
    found = APIRouter(tags=["admin"], route_class=GuardedRoute)
    add_route(
        found,
        "POST",
        ADMIN,
        "/admin/backfills",
        create_backfill,
        "Preview a backfill",
        BackfillDetail,
        status_code=CREATED,
        responses={ACCEPTED: {"model": BackfillDetail, "description": "A job makes the preview."}},
        dependencies=IDEMPOTENT,
    )
    add_reads(
        found,
        ADMIN,
        ("/admin/backfills", list_backfills, "List backfills", BackfillPage),
        ("/admin/backfills/{backfill_id}", get_backfill, "Get a backfill", BackfillDetail),
        ("/admin/backfills/{backfill_id}/memories", list_backfill_memories, "List what it changes", ChangePage),
    )
    for step, change, summary, status in (
        ("commit", commit_backfill, "Commit a backfill", ACCEPTED),
        ("undo", undo_backfill, "Undo a backfill", ACCEPTED),
        ("cancel", cancel_backfill, "Drop a preview", OK),
    ):
        listed = (f"/admin/backfills/{{backfill_id}}/{step}", change, summary, BackfillDetail)
        add_route(found, "POST", ADMIN, *listed, status_code=status, dependencies=IDEMPOTENT)
    return found


async def create_backfill(
    request: Request,
    runtime: RuntimeDep,
    actor: ActorDep,
    body: BackfillBody,
    mode: Annotated[
        Literal["sync", "async"] | None,
        Query(description="Wait, or leave it to a job; by default a job does what is large."),
    ] = None,
) -> Response:
    """Preview the reclassification of memories to a type, with counts, a sample, and a reason for each memory.

    Nothing is changed. The rules of ordinary writes decide what each flagged memory would supersede, merge with or
    conflict with, and the decisions are stored with the backfill: a commit applies exactly these.
    """
    types = await runtime.type_book.naming(actor.tenant_id, [body.type, *(body.sources or ())])
    wanted = BackfillRequest(
        type=body.type,
        sources=None if body.sources is None else canonical_types(body.sources, types, "from"),
        classifier=body.classifier,
        user_id=body.user_id,
        agent_id=body.agent_id,
        scope=body.scope,
    )
    wait = None if mode is None else mode == "sync"

    async def work() -> object:
        made = await runtime.service(Backfills).preview(actor, wanted, wait=wait)
        return ReplayableResponse(CREATED if made.job_id is None else ACCEPTED, await _detail(runtime, actor, made.id))

    return await run_once(request, runtime, actor, CREATED, work)


async def list_backfills(runtime: RuntimeDep, actor: ActorDep, query: Annotated[PageQuery, Query()]) -> Response:
    """List backfills, newest first, a page at a time; `next_cursor` is null on the last page."""
    listing = query.listing("backfills", actor.tenant_id)
    after = cursors.decode_id(query.cursor, listing)
    page = await runtime.service(Backfills).list(actor, after=after, limit=query.limit)
    return json_answer(BackfillPage.page(page.items, cursors.encode_id(page.next, listing)))


async def get_backfill(runtime: RuntimeDep, actor: ActorDep, backfill_id: BackfillId) -> Response:
    """Get a backfill: its status, its counts, and a sample of its changes."""
    return json_answer(await _detail(runtime, actor, ids.parse(ids.BACKFILL, backfill_id)))


async def list_backfill_memories(
    runtime: RuntimeDep, actor: ActorDep, backfill_id: BackfillId, query: Annotated[MemoriesQuery, Query()]
) -> Response:
    """List every flagged memory with its fields before and after, those that are left unchanged too.

    `next_cursor` is null on the last page.
    """
    backfill = ids.parse(ids.BACKFILL, backfill_id)
    listing = query.listing("backfill", actor.tenant_id, backfill)
    page = await runtime.service(Backfills).memories(
        actor,
        backfill,
        state=query.state,
        effect=query.effect,
        after=cursors.decode_id(query.cursor, listing),
        limit=query.limit,
    )
    return json_answer(ChangePage.page(page.items, cursors.encode_id(page.next, listing)))


async def commit_backfill(request: Request, runtime: RuntimeDep, actor: ActorDep, backfill_id: BackfillId) -> Response:
    """Queue a job that applies the preview, and nothing else: see `job_id`. Sent again, the answer names the same job.

    A memory that has changed since the preview is skipped, together with memories that compete with it for a slot, and
    has a reason. A commit that was cancelled or failed continues when it is sent again, or can be undone.
    """
    return await _run_step(request, runtime, actor, backfill_id, runtime.service(Backfills).commit)


async def undo_backfill(request: Request, runtime: RuntimeDep, actor: ActorDep, backfill_id: BackfillId) -> Response:
    """Queue a job that restores the state before the commit: see `job_id`.

    A memory that has changed since is kept as it is, together with memories that compete with it, and has a reason.
    """
    return await _run_step(request, runtime, actor, backfill_id, runtime.service(Backfills).undo)


async def cancel_backfill(request: Request, runtime: RuntimeDep, actor: ActorDep, backfill_id: BackfillId) -> Response:
    """Cancel a preview, and its job if it is still running. A committed backfill can be undone instead."""
    return await _run_step(request, runtime, actor, backfill_id, runtime.service(Backfills).cancel, status=OK)


async def _run_step(
    request: Request,
    runtime: Runtime,
    actor: Actor,
    backfill_id: str,
    step: Callable[[Actor, UUID], Awaitable[Backfill]],
    *,
    status: int = ACCEPTED,
) -> Response:
    backfill = ids.parse(ids.BACKFILL, backfill_id)

    async def work() -> object:
        await step(actor, backfill)
        return await _detail(runtime, actor, backfill)

    return await run_once(request, runtime, actor, status, work)


async def _detail(runtime: Runtime, actor: Actor, backfill: UUID) -> dict[str, object]:
    found = await runtime.service(Backfills).show(actor, backfill)
    within = None if found.within is None else [dict(one) for one in found.within]
    sample = [ChangeOut.answer(one) for one in found.sample]
    return BackfillDetail.answer(found.backfill, sample=sample, within=within)

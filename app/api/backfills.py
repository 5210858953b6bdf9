"""Backfills: memories that were stored before there was their type, found, shown, changed, put back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from app import ids
from app.api import cursors, views
from app.api.backfill_shapes import (
    BackfillBody,
    BackfillDetail,
    BackfillPage,
    ChangePage,
    ListQuery,
    MemoriesQuery,
    shown_backfill,
    shown_change,
)
from app.api.candidates import canonical_types
from app.api.cursors import Listing
from app.api.deps import ActorDep, RuntimeDep
from app.api.guard import ADMIN, GuardedRoute
from app.api.idempotent import IDEMPOTENT, Replied, once
from app.api.routes import add_reads
from app.db.backfills import Backfill
from app.db.listing import Position
from app.model import Actor
from app.runtime import Runtime
from app.services.backfills import Wanted

CREATED, ACCEPTED, OK = 201, 202, 200

BackfillId = Annotated[str, Path(description="A backfill's id.", examples=["bfl_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e"])]


def router() -> APIRouter:
    """Return the routes."""
    found = APIRouter(tags=["admin"], route_class=GuardedRoute)
    found.add_api_route(
        "/admin/backfills",
        create_backfill,
        methods=["POST"],
        operation_id="create_backfill",
        summary="Preview a backfill",
        response_model=BackfillDetail,
        status_code=CREATED,
        responses={ACCEPTED: {"model": BackfillDetail, "description": "A job makes the preview."}},
        dependencies=IDEMPOTENT,
        openapi_extra=ADMIN,
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
        found.add_api_route(
            f"/admin/backfills/{{backfill_id}}/{step}",
            change,
            methods=["POST"],
            operation_id=change.__name__,
            summary=summary,
            response_model=BackfillDetail,
            status_code=status,
            dependencies=IDEMPOTENT,
            openapi_extra=ADMIN,
        )
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
    """Preview what would become of memories that are really of a type: counts, a sample, every one with its reason.

    Nothing is changed by it. What is flagged, what it would supersede, merge with or conflict with is worked out by the
    rules of ordinary writes, and kept with the backfill: committing it does that and nothing else.
    """
    types = await runtime.type_book.naming(actor.tenant_id, [body.type, *(body.sources or ())])
    wanted = Wanted(
        type=body.type,
        sources=None if body.sources is None else canonical_types(body.sources, types, "from"),
        classifier=body.classifier,
        user_id=body.user_id,
        agent_id=body.agent_id,
        scope=body.scope,
    )
    wait = None if mode is None else mode == "sync"

    async def work() -> object:
        made = await runtime.backfills.preview(actor, wanted, wait=wait)
        return Replied(CREATED if made.job_id is None else ACCEPTED, await _detail(runtime, actor, made.id))

    return await once(request, runtime, actor, CREATED, work)


async def list_backfills(runtime: RuntimeDep, actor: ActorDep, query: Annotated[ListQuery, Query()]) -> Response:
    """List backfills, newest first, a page at a time; `next_cursor` is null on the last page."""
    listing = Listing(f"backfills|{actor.tenant_id}")
    shown, more = await runtime.backfills.list(actor, after=_after(query, listing), limit=query.limit)
    following = cursors.encode(Position(id=shown[-1].id), listing) if more else None
    return views.answer({"backfills": [shown_backfill(one) for one in shown], "next_cursor": following})


async def get_backfill(runtime: RuntimeDep, actor: ActorDep, backfill_id: BackfillId) -> Response:
    """Get a backfill: where it is, its counts, a sample of what it changes."""
    return views.answer(await _detail(runtime, actor, ids.parse(ids.BACKFILL, backfill_id)))


async def list_backfill_memories(
    runtime: RuntimeDep, actor: ActorDep, backfill_id: BackfillId, query: Annotated[MemoriesQuery, Query()]
) -> Response:
    """List every memory that would change, or has, with what it was and what it becomes; what is left is listed too.

    `next_cursor` is null on the last page.
    """
    backfill = ids.parse(ids.BACKFILL, backfill_id)
    listing = Listing(f"backfill|{actor.tenant_id}|{backfill}|{query.state}|{query.effect}")
    shown, more = await runtime.backfills.memories(
        actor,
        backfill,
        state=query.state,
        effect=query.effect,
        after=_after(query, listing),
        limit=query.limit,
    )
    following = cursors.encode(Position(id=shown[-1].item.memory_id), listing) if more else None
    return views.answer({"memories": [shown_change(one) for one in shown], "next_cursor": following})


async def commit_backfill(request: Request, runtime: RuntimeDep, actor: ActorDep, backfill_id: BackfillId) -> Response:
    """Have a job do what was previewed, and nothing else: see `job_id`. Sent again, the answer names the same job.

    A memory that has changed since the preview is skipped, with whatever competes with it for a slot, and says so. A
    commit that was cancelled or failed goes on where it stopped when it is committed again, or is undone.
    """
    return await _stepped(request, runtime, actor, backfill_id, runtime.backfills.commit)


async def undo_backfill(request: Request, runtime: RuntimeDep, actor: ActorDep, backfill_id: BackfillId) -> Response:
    """Have a job put back exactly what was before the commit: see `job_id`.

    A memory that has changed since is kept as it is, with whatever competes with it, and says so.
    """
    return await _stepped(request, runtime, actor, backfill_id, runtime.backfills.undo)


async def cancel_backfill(request: Request, runtime: RuntimeDep, actor: ActorDep, backfill_id: BackfillId) -> Response:
    """Drop a preview, and end its job if it is still being made. Once committed, undo it instead."""
    return await _stepped(request, runtime, actor, backfill_id, runtime.backfills.cancel, status=OK)


async def _stepped(
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

    return await once(request, runtime, actor, status, work)


def _after(query: ListQuery, listing: Listing) -> UUID | None:
    return None if query.cursor is None else cursors.decode(query.cursor, listing, value=None).id


async def _detail(runtime: Runtime, actor: Actor, backfill: UUID) -> dict[str, object]:
    shown = await runtime.backfills.show(actor, backfill)
    within = None if shown.within is None else [dict(one) for one in shown.within]
    return {**shown_backfill(shown.backfill), "sample": [shown_change(one) for one in shown.sample], "within": within}

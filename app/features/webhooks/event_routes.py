"""Server-sent events: what waits for a person and which jobs ended, as it happens."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import Field
from starlette.responses import StreamingResponse

from app.features.webhooks.events import LiveEvents
from app.http.guard import REVIEW, ActorDep, GuardedRoute, RuntimeDep
from app.http.models import EVENT_STREAM, RequestBody, event_stream, event_text
from app.http.routes import OK, add_route

PATH = "/admin/events"

_QUIET = ": nothing new\n\n"


class StreamQuery(RequestBody):
    """The length of a stream."""

    seconds: int = Field(default=30, ge=0, le=3600, description="End the stream after so long; then open another.")


def router() -> APIRouter:
    """Return the route."""
    found = APIRouter(tags=["review"], route_class=GuardedRoute)
    add_route(
        found,
        "GET",
        REVIEW,
        PATH,
        follow_events,
        "Follow what waits and which jobs end",
        response_class=StreamingResponse,
        responses={OK: {"content": {EVENT_STREAM: {"schema": {"type": "string"}}}}},
    )
    return found


async def follow_events(
    request: Request, runtime: RuntimeDep, actor: ActorDep, query: Annotated[StreamQuery, Query()]
) -> StreamingResponse:
    """Follow events as `text/event-stream`, some two seconds after they happen.

    `review.waiting` has the number of items that wait: at first, and when it changes. `job.done` has a job that ended
    (`job_id`, `kind`, `status`). A stream ends after `seconds`, or when the process is about to stop. A process has at
    most 64 streams, 8 of them of one tenant; more are answered 503.
    """
    runtime.service(LiveEvents).check(actor)
    stop = request.app.state.admission.stopping

    async def lines() -> AsyncIterator[str]:
        with runtime.service(LiveEvents).counted(actor) as allowed:
            if not allowed:
                return
            async for one in runtime.service(LiveEvents).follow(actor, seconds=query.seconds, stop=stop):
                yield _QUIET if one is None else event_text(one.name, one.data)

    return event_stream(lines())

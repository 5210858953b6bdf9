"""What handlers are given; `async`, because the framework sends plain functions through a thread."""

from __future__ import annotations

from typing import Annotated, cast

from fastapi import Depends, Request

from app.model import Actor
from app.runtime import Runtime


async def runtime_of(request: Request) -> Runtime:
    """Return the runtime the application was started with."""
    return cast("Runtime", request.app.state.runtime)


async def actor_of(request: Request) -> Actor:
    """Return who is asking, as the route's guard found out."""
    return cast("Actor", request.state.actor)


RuntimeDep = Annotated[Runtime, Depends(runtime_of)]
ActorDep = Annotated[Actor, Depends(actor_of)]

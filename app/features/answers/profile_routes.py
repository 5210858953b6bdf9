"""The profile of a user over HTTP."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import Response

from app import ids
from app.api.query import GroupOut
from app.features.answers.profiles import DEFAULT_BUDGET, Profiles
from app.http.guard import NAMED, READ, ActorDep, GuardedRoute, RuntimeDep
from app.http.models import Given, Out, RequestBody, json_answer, public_ids
from app.http.routes import add_reads
from app.memory.fields import Name, UserId
from app.model import Visibility

LARGEST_PROFILE = 10_000


class ProfileQuery(RequestBody):
    """The size of a profile, and the agent whose memories of the user belong to it, too."""

    agent_id: Name | None = None
    token_budget: int = Field(default=DEFAULT_BUDGET, ge=0, le=LARGEST_PROFILE, description="Most tokens of `text`.")


class ProfileOut(Out):
    """The profile of a user: a block to paste, its size, its groups, and the memories in it."""

    user_id: Annotated[str, Given()]
    text: str
    tokens: int
    groups: Annotated[list[GroupOut], Given([])]
    memory_ids: Annotated[list[str], public_ids(ids.MEMORY, "memories")]


def router() -> APIRouter:
    """Return the routes. Ids of users are callers' own and may contain slashes."""
    found = APIRouter(tags=["query"], route_class=GuardedRoute)
    add_reads(
        found, READ | NAMED, ("/users/{user_id:path}/profile", get_profile, "Get what holds of a user", ProfileOut)
    )
    return found


async def get_profile(
    runtime: RuntimeDep, actor: ActorDep, user_id: UserId, query: Annotated[ProfileQuery, Query()]
) -> Response:
    """Get a block for the head of a prompt: who the user is, constraints, preferences, and what is current.

    It needs no question and no model. Global memories don't belong to it. A user who is not known has an empty one.
    """
    visibility = Visibility(user_id=user_id, agent_id=query.agent_id)
    found = await runtime.service(Profiles).get(actor, visibility, budget=query.token_budget)
    groups = [GroupOut.answer(one) for one in found.groups]
    return json_answer(ProfileOut.answer(found, user_id=user_id, groups=groups))

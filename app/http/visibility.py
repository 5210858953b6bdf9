"""Query strings that choose the scopes of a listing: global, a named user's or agent's, or all of the tenant."""

from __future__ import annotations

from typing import Self
from uuid import UUID

from pydantic import Field, model_validator

from app.http.guard import allow_role
from app.http.models import OWNER, RequestBody
from app.http.problems import FieldError, InvalidFields
from app.memory.fields import Name
from app.model import Actor, ScopeKind, Visibility
from app.services.tenants import Tenants


class VisibilityQuery(RequestBody):
    """The scopes of a listing: naming a user or an agent lists what a query by them would see."""

    user_id: Name | None = None
    agent_id: Name | None = None
    scope: ScopeKind | None = Field(default=None, description="Of these, only what is in scopes of this kind.")
    all: bool = Field(
        default=False,
        description="List what is of every user and agent; takes a key with the role `admin`. Without it, and "
        "without a user or an agent, only what is in the global scope is listed.",
    )

    def scopes(self, actor: Actor) -> tuple[UUID, ...] | None:
        """Return the ids of the scopes to list, None for all of the tenant's; raise InvalidFields or Forbidden."""
        if self.all:
            named = [name for name in ("user_id", "agent_id", "scope") if getattr(self, name) is not None]
            if named:
                raise InvalidFields([FieldError(field=name, message="give it or all=true, not both") for name in named])
            allow_role(actor, "admin")
            return None
        needed = {ScopeKind.USER: "user_id", ScopeKind.AGENT: "agent_id"}.get(self.scope or ScopeKind.GLOBAL)
        if needed is not None and getattr(self, needed) is None:
            raise InvalidFields([FieldError(field=needed, message=f"is required for scope {self.scope}")])
        visible = Visibility(user_id=self.user_id, agent_id=self.agent_id).scopes()
        return tuple(one.id(actor.tenant_id) for one in visible if self.scope in {None, one.kind})


class OwnedQuery(VisibilityQuery):
    """The scopes of a listing, which may also be all those of one user, whatever the agent."""

    owner: Name | None = Field(default=None, description=OWNER)

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.owner is not None and (self.user_id, self.agent_id, self.scope, self.all) != (None, None, None, False):
            raise ValueError("owner names scopes by itself: leave out user_id, agent_id, scope and all")
        return self

    async def visible(self, tenants: Tenants, actor: Actor) -> tuple[UUID, ...] | None:
        """Return the ids of the scopes to list, None for all of the tenant's; raise InvalidFields or Forbidden."""
        return self.scopes(actor) if self.owner is None else await tenants.scopes_of_user(actor, self.owner)

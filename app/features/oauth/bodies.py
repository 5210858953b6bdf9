"""Bodies and answers of connections for admins."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from app import ids
from app.features.oauth.service import NewInvitation
from app.http.models import Given, Out, PageOut, RequestBody, Source, public_id, with_example
from app.memory.fields import A_NUMBER, UserId

ScopeName = Literal["read", "write", "review"]


class InvitationBody(RequestBody, **with_example({"user_id": "ana", "scopes": ["read", "write"]})):
    """An invitation to make."""

    user_id: UserId = Field(description="Whose memory the client may use.")
    scopes: list[ScopeName] = Field(default=["read", "write"], min_length=1, max_length=3)
    days: Annotated[int, A_NUMBER] = Field(default=7, ge=1, le=30, description="Days until it expires.")


class ConnectionOut(Out):
    """A client that a user let use the memory, without its tokens.

    `client_name` is as the client calls itself; `redirect_host` is where the user was sent back to.
    """

    id: Annotated[str, public_id(ids.GRANT)]
    client_name: str
    redirect_host: str
    user_id: str
    agent_id: str | None
    scopes: Annotated[list[ScopeName], Source(make=list)]
    approved_by: str
    created_at: datetime
    last_used_at: datetime | None
    revoked_at: datetime | None
    revoked_because: str | None


class ConnectionPageOut(PageOut):
    """Some connections, newest first."""

    connections: list[ConnectionOut]


class InvitationOut(Out):
    """An invitation that can still be used, without its secret."""

    id: Annotated[str, public_id(ids.INVITATION)]
    user_id: str
    scopes: Annotated[list[ScopeName], Source(make=list)]
    created_by: str
    created_at: datetime
    expires_at: datetime


class NewInvitationOut(InvitationOut):
    """A new invitation with its link, which is shown only once."""

    link: Annotated[str, Given()] = Field(description="For the user; what stands after `#` is the secret.")

    @classmethod
    def of(cls, new: NewInvitation, base: str) -> dict[str, Any]:
        """Return a new invitation with its link, under the service's address."""
        return cls.answer(new.invitation, link=f"{base}/oauth/invitation#{new.secret}")


class InvitationsOut(Out):
    """The tenant's invitations that can still be used."""

    invitations: list[InvitationOut]

"""The audit log over HTTP: list its events, verify its chain of seals, and get the newest seal."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal, Self
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import AfterValidator, Field, model_validator
from starlette.responses import Response

from app import ids
from app.api.memories.answers import AuditEventOut
from app.http import cursors, models
from app.http.cursors import PageQuery
from app.http.guard import ADMIN, ActorDep, GuardedRoute, RuntimeDep
from app.http.models import Given, Instant, Out, PageOut, RequestBody, Source, json_answer, public_id
from app.http.routes import add_reads
from app.memory.audit import START, ChainFault
from app.memory.fields import Name
from app.services.audit import SEALS, AuditFilter, Head

MOST_SEALS = 1_000

_DIGEST = r"^[0-9a-f]{64}$"
_NUMBER = Annotated[int, Field(ge=0, lt=2**62)]


_ACTION = re.compile(r"[a-z_]+\.(?:[a-z_]+)?")


def _action(value: str) -> str:
    if not _ACTION.fullmatch(value):
        raise ValueError("must be an action such as memory.superseded, or a prefix of actions such as key.")
    return value


class AuditQuery(PageQuery):
    """Filters of events. Events of a user or an agent are those of all their scopes."""

    memory_id: str | None = Field(default=None, max_length=80)
    user_id: Name | None = None
    agent_id: Name | None = None
    action: Annotated[str, AfterValidator(_action)] | None = Field(
        default=None,
        max_length=80,
        description="An action such as `memory.superseded`, or what actions begin with, such as `key.`.",
    )
    actor: Name | None = Field(default=None, description="The name of the key that did it.")
    since: Instant | None = Field(default=None, description="From this instant on.")
    until: Instant | None = Field(default=None, description="Before this instant.")
    order: Literal["newest", "oldest"] = "newest"

    def memory(self) -> UUID | None:
        """Return the memory's id, or raise InvalidFields."""
        return None if self.memory_id is None else models.parse_id(ids.MEMORY, self.memory_id, "memory_id")


class VerifyQuery(RequestBody):
    """The extent of a verification, and the head to compare with."""

    after: _NUMBER = Field(default=0, description="Begin after this seal: the `next` of the answer before.")
    limit: int = Field(
        default=SEALS, ge=1, le=MOST_SEALS, description="Seals to look through; each has up to 1,000 events."
    )
    memories: bool = Field(
        default=False,
        description="Also rebuild every memory's status and confidence from the log, and compare. Takes longer.",
    )
    anchor_seq: _NUMBER | None = Field(default=None, description="The number of a head that was kept elsewhere.")
    anchor_digest: str | None = Field(default=None, pattern=_DIGEST, description="The digest it had.")

    @model_validator(mode="after")
    def _both(self) -> Self:
        if (self.anchor_seq is None) != (self.anchor_digest is None):
            raise ValueError("give anchor_seq and anchor_digest together")
        return self

    def anchor(self) -> Head | None:
        """Return the head to compare with."""
        if self.anchor_seq is None or self.anchor_digest is None:
            return None
        return Head(seq=self.anchor_seq, digest=bytes.fromhex(self.anchor_digest))


class AuditPageOut(PageOut):
    """Some events."""

    events: list[AuditEventOut]


class HeadOut(Out):
    """The newest seal; stored elsewhere, it proves later that no earlier event changed. `seq` is 0 without a seal."""

    seq: int
    digest: Annotated[str, Source(make=bytes.hex)] = Field(description="SHA-256, hexadecimal.", examples=["00" * 32])


class BrokenOut(Out):
    """A place where the log differs from its seals. `seal` is null for unsealed events, `event_id` for a whole seal."""

    fault: ChainFault
    seal: Annotated[int | None, Source("seq")]
    event_id: Annotated[str | None, public_id(ids.EVENT, "event")]
    why: str


class RedactedOut(Out):
    """An erasure, by its own event, and the number of verified events that it redacted."""

    event_id: Annotated[str, Given()]
    events: Annotated[int, Given()]


class RebuiltOut(Out):
    """The comparison of memories with the log; `differs` is the first memory that contradicts the log."""

    memories: int
    differs: Annotated[str | None, public_id(ids.MEMORY)]
    why: str | None


def _head(one: Head | None) -> dict[str, object]:
    return HeadOut.answer(one or Head(seq=0, digest=START))


def _redacted(erasures: Mapping[UUID, int]) -> list[dict[str, object]]:
    return [
        RedactedOut.answer(None, event_id=ids.public(ids.EVENT, event), events=count)
        for event, count in erasures.items()
    ]


class VerifiedOut(Out):
    """The result of a verification; `unsealed` and `events_in_all` are null until the end of the chain is reached."""

    intact: Annotated[bool, Given()]
    first: int
    last: Annotated[HeadOut, Source(make=_head)]
    seals: int
    events: int
    redacted: Annotated[list[RedactedOut], Source(make=_redacted)]
    unsealed: int | None
    events_in_all: int | None
    broken: BrokenOut | None
    rebuilt: Annotated[RebuiltOut | None, Given()]
    next: int | None = Field(description="Go on with `after` of this; null at the end.")


def router() -> APIRouter:
    """Return the routes."""
    found = APIRouter(tags=["admin"], route_class=GuardedRoute)
    add_reads(
        found,
        ADMIN,
        ("/admin/audit", list_audit, "List what was done, by whom, and why", AuditPageOut),
        ("/admin/audit/verify", verify_audit, "Prove that the audit log is what was sealed", VerifiedOut),
        ("/admin/audit/head", get_audit_head, "Get the newest seal, to be kept elsewhere", HeadOut),
    )
    return found


async def list_audit(runtime: RuntimeDep, actor: ActorDep, query: Annotated[AuditQuery, Query()]) -> Response:
    """List events, each with its sentence, a page at a time; `next_cursor` is null on the last page."""
    wanted = AuditFilter(
        memory=query.memory(),
        scopes=await runtime.audit.scopes(actor.tenant_id, query.user_id, query.agent_id),
        action=query.action,
        actor=query.actor,
        **models.period(query.since, query.until),
    )
    listing = query.listing("audit", actor.tenant_id)
    after = cursors.decode(query.cursor, listing, value=float)
    page = await runtime.audit.page(
        actor.tenant_id,
        wanted,
        descending=query.order == "newest",
        after=after,
        limit=query.limit,
    )
    return json_answer(AuditPageOut.page(page.items, cursors.encode(page.next, listing)))


async def verify_audit(runtime: RuntimeDep, actor: ActorDep, query: Annotated[VerifyQuery, Query()]) -> Response:
    """Recompute the hash chain from the events, up to `limit` seals, and report the first place where it is broken."""
    tenant = actor.tenant_id
    found = await runtime.audit.verify(tenant, after=query.after, most=query.limit, anchor=query.anchor())
    rebuilt = await runtime.audit.rebuild(tenant) if query.memories else None
    intact = found.broken is None and (rebuilt is None or rebuilt.differs is None)
    compared = None if rebuilt is None else RebuiltOut.answer(rebuilt)
    return json_answer(VerifiedOut.answer(found, intact=intact, rebuilt=compared))


async def get_audit_head(runtime: RuntimeDep, actor: ActorDep) -> Response:
    """Seal the waiting events, and return the newest seal."""
    await runtime.audit.seal(actor.tenant_id)
    return json_answer(_head(await runtime.audit.head(actor.tenant_id)))

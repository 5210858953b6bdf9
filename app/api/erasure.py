"""Erasure of users, and receipts."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request
from pydantic import AfterValidator, Field, StringConstraints
from starlette.responses import Response

from app import ids
from app.api.plumbing import fields
from app.api.plumbing.fields import Out
from app.api.plumbing.guard import ADMIN, ActorDep, GuardedRoute, RuntimeDep, add_reads
from app.api.plumbing.idempotency import IDEMPOTENT, ReplayableResponse, own_key, run_once
from app.memory.fields import storable
from app.services.erasure import Receipt, receipt_of

LONGEST_NAME = 1_000

UserId = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_NAME),
    AfterValidator(storable),
    Path(description="A user's id, as memories are written with it.", examples=["ana"]),
]
ErasureId = Annotated[str, Path(description="An erasure's id.", examples=["era_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e"])]


class ReceiptOut(Out):
    """What an erasure erased."""

    id: str
    kind: Literal["memory", "user"]
    status: Literal["running", "finished"]
    user_id_sha256: str | None = Field(
        description="SHA-256 of the tenant's id, a colon and the user's id: the receipt names nobody."
    )
    counts: dict[str, int] = Field(description="Rows erased, by table.", examples=[{"memories": 2, "turns": 1}])
    ids_digest: str | None = Field(
        description="SHA-256 of the ids of the memories and turns that were erased, sorted, each with a line end."
    )
    digest: str | None = Field(
        description="The same with the SHA-256 of what each said after its id and a space: `mem_... 9f86...`."
    )
    started_at: datetime
    finished_at: datetime | None
    job_id: str | None = Field(default=None, description="The job that does it, for one that takes long.")
    kept: list[str] | None = Field(
        default=None, description="Memories that rest on the same turns and stay; for a memory's erasure."
    )
    still_there: int | None = Field(
        default=None, description="How many of what was erased are in the database now; 0 unless something is wrong."
    )
    ids: list[str] | None = Field(default=None, description="What was erased, if asked for.")


def router() -> APIRouter:
    """Return the routes."""
    found = APIRouter(tags=["admin"], route_class=GuardedRoute)
    found.add_api_route(
        "/users/{user_id:path}",
        delete_user,
        methods=["DELETE"],
        operation_id="delete_user",
        summary="Erase everything of a user",
        response_model=ReceiptOut,
        responses={202: {"model": ReceiptOut, "description": "A job erases it."}},
        dependencies=IDEMPOTENT,
        openapi_extra=ADMIN,
    )
    summary = "Get an erasure's receipt, checked against the database"
    add_reads(found, ADMIN, ("/admin/erasures/{erasure_id}", get_erasure, summary, ReceiptOut))
    return found


async def delete_user(
    request: Request,
    runtime: RuntimeDep,
    actor: ActorDep,
    user_id: UserId,
    mode: Annotated[
        Literal["sync", "async"] | None,
        Query(description="Wait, or leave it to a job; by default a job does what is large."),
    ] = None,
) -> Response:
    """Erase a user's scope and every agent's scope with the user: memories, turns, entities, all that is made of them.

    Memories of other scopes whose provenance names the user go too: those written with the `user_id` for everyone.
    Answers 200 with the receipt, or 202 with a job for a user with many memories. What is written to the user's scopes
    before the receipt's `finished_at` is erased with the rest. Sent again, it finishes what was cut off.
    """
    wait = None if mode is None else mode == "sync"

    async def work() -> object:
        started = await runtime.erasing.user(actor, user_id, wait=wait, own=own_key(request))
        return ReplayableResponse(
            200 if started.job is None else 202, receipt(Receipt(erasure=started.erasure), job=started.job)
        )

    return await run_once(request, runtime, actor, 200, work)


async def get_erasure(
    runtime: RuntimeDep,
    actor: ActorDep,
    erasure_id: ErasureId,
    *,
    ids_too: Annotated[bool, Query(alias="ids", description="List the ids that were erased, too.")] = False,
) -> Response:
    """Get the receipt of an erasure; `still_there` counts what of it is in the database now."""
    erasure = ids.parse(ids.ERASURE, erasure_id)
    answer = receipt(await runtime.erasing.receipt(actor, erasure))
    if ids_too:
        answer["ids"] = await runtime.erasing.ids(actor, erasure)
    return fields.json_answer(answer)


def receipt(done: Receipt, *, job: UUID | None = None) -> dict[str, object]:
    """Return a receipt as it is answered."""
    one = done.erasure
    members = receipt_of(one)
    members.pop("erasure")
    return {
        "id": ids.public(ids.ERASURE, one.id),
        "kind": one.kind,
        "status": "finished" if one.finished else "running",
        **members,
        "started_at": one.started_at,
        "finished_at": one.finished_at,
        "job_id": None if job is None else ids.public(ids.JOB, job),
        "kept": [ids.public(ids.MEMORY, memory) for memory in done.kept] if one.kind == "memory" else None,
        "still_there": done.left,
    }

"""Erasure of memories and users over HTTP, and the receipts of erasures."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request
from pydantic import AfterValidator, Field, StringConstraints
from starlette.responses import Response

from app import ids
from app.api.memories.etags import IfMatch, unless_changed
from app.api.memories.read import MemoryId
from app.features.erasure.service import Erasures, Receipt
from app.http.guard import ADMIN, BY_MEMORY, WRITE, ActorDep, GuardedRoute, RuntimeDep
from app.http.idempotency import IDEMPOTENT, ReplayableResponse, own_key, run_once
from app.http.models import Given, Out, Source, json_answer, public_id
from app.http.routes import ACCEPTED, OK, add_reads, add_route
from app.memory.fields import storable

LONGEST_NAME = 1_000

UserId = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_NAME),
    AfterValidator(storable),
    Path(description="A user's id, as memories are written with it.", examples=["ana"]),
]
ErasureId = Annotated[str, Path(description="An erasure's id.", examples=["era_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e"])]


def _hex(digest: bytes | None) -> str | None:
    return None if digest is None else digest.hex()


def _status(one: Receipt) -> str:
    if not one.erasure.finished:
        return "running"
    return "finished" if _matched(one) else "nothing_matched"


def _matched(one: Receipt) -> int:
    return sum(one.erasure.counts.values())


def _counts(counts: Mapping[str, int]) -> dict[str, int]:
    always = {"memories": 0, "turns": 0}
    return {name: count for name, count in sorted({**always, **counts}.items()) if count or name in always}


def _kept_ids(one: Receipt) -> list[str] | None:
    return [ids.public(ids.MEMORY, memory) for memory in one.kept] if one.erasure.kind == "memory" else None


def _turn_ids(one: Receipt) -> list[str] | None:
    return [ids.public(ids.TURN, turn) for turn in one.turns] if one.erasure.kind == "memory" else None


def _unsupported_ids(one: Receipt) -> list[str] | None:
    return [ids.public(ids.MEMORY, memory) for memory in one.unsupported] if one.erasure.kind == "memory" else None


class ReceiptOut(Out):
    """The receipt of an erasure."""

    id: Annotated[str, public_id(ids.ERASURE, "erasure.id")]
    kind: Annotated[Literal["memory", "user", "document"], Source("erasure.kind")]
    status: Annotated[Literal["running", "finished", "nothing_matched"], Source("", _status)] = Field(
        description="`nothing_matched` if there was nothing to erase, which a mistaken id looks like, too."
    )
    matched: Annotated[int, Source("", _matched)] = Field(description="Rows found and erased so far, of every table.")
    user_id_sha256: Annotated[str | None, Source("erasure.subject_hash", _hex)] = Field(
        description="SHA-256 of the tenant's id, a colon and the user's id: the receipt names nobody."
    )
    counts: Annotated[
        dict[str, int],
        Source("erasure.counts", _counts),
    ] = Field(
        description="Rows erased, by table; `memories` and `turns` always, 0 for a user of whom nothing was stored.",
        examples=[{"memories": 2, "turns": 1}],
    )
    ids_digest: Annotated[str | None, Source("erasure.ids_digest", _hex)] = Field(
        description="SHA-256 of the ids of the memories and turns that were erased, sorted, each with a line end."
    )
    digest: Annotated[str | None, Source("erasure.digest", _hex)] = Field(
        description="The same with the SHA-256 of what each said after its id and a space: `mem_... 9f86...`."
    )
    started_at: Annotated[datetime, Source("erasure.started_at")]
    finished_at: Annotated[datetime | None, Source("erasure.finished_at")]
    job_id: Annotated[str | None, Given()] = Field(
        default=None, description="The job that does it, for one that takes long."
    )
    kept: Annotated[list[str] | None, Source("", _kept_ids)] = Field(
        default=None, description="Memories that rest on the same turns and stay; for a memory's erasure."
    )
    turns: Annotated[list[str] | None, Source("", _turn_ids)] = Field(
        default=None,
        description="Turns that still hold words of the erased memory, newest 5,000 turns of its scope looked through; "
        "`with_turns=true` erases them with it.",
    )
    unsupported: Annotated[list[str] | None, Source("", _unsupported_ids)] = Field(
        default=None, description="Those of `kept` that no turn says any more, because it was erased with the memory."
    )
    still_there: Annotated[int | None, Source("left")] = Field(
        default=None, description="Number of erased rows that are in the database now; 0 unless something is wrong."
    )
    erased: Annotated[list[str] | None, Given()] = Field(
        default=None, alias="ids", description="The erased ids, on request."
    )


def router() -> APIRouter:
    """Return the routes of users' erasures and of receipts."""
    found = APIRouter(tags=["admin"], route_class=GuardedRoute)
    add_route(
        found,
        "DELETE",
        ADMIN,
        "/users/{user_id:path}",
        delete_user,
        "Erase everything of a user",
        ReceiptOut,
        responses={ACCEPTED: {"model": ReceiptOut, "description": "A job erases it."}},
        dependencies=IDEMPOTENT,
    )
    summary = "Get an erasure's receipt, checked against the database"
    add_reads(found, ADMIN, ("/admin/erasures/{erasure_id}", get_erasure, summary, ReceiptOut))
    return found


def memory_router() -> APIRouter:
    """Return the route that erases a memory."""
    found = APIRouter(tags=["memories"], route_class=GuardedRoute)
    one = ("/memories/{memory_id}", delete_memory, "Erase a memory", ReceiptOut)
    add_route(found, "DELETE", WRITE | BY_MEMORY, *one, dependencies=IDEMPOTENT)
    return found


async def delete_memory(
    request: Request,
    runtime: RuntimeDep,
    actor: ActorDep,
    memory_id: MemoryId,
    *,
    with_turns: Annotated[
        bool, Query(description="Erase the turns that say it, and all others of its scope that hold its words, too.")
    ] = False,
    if_match: IfMatch = None,
) -> Response:
    """Erase a memory and all rows derived from it, and answer with a receipt.

    A turn that no other memory rests on is erased with it. A turn that others rest on loses the sentences that say it,
    and can't be replayed; so do the memories that keep this turn word for word. `kept` names the others: they may say
    the same, and stay. `turns` names the turns that still hold its words: sent with `with_turns=true`, the request
    erases these turns, too.
    """

    async def work() -> object:
        memory = ids.parse(ids.MEMORY, memory_id)
        receipt = await runtime.service(Erasures).memory(
            actor, memory, with_turns=with_turns, own=own_key(request), require=unless_changed(if_match)
        )
        return ReceiptOut.answer(receipt)

    return await run_once(request, runtime, actor, OK, work)


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
    """Erase a user's scope and every agent's scope with the user: memories, turns, entities, and all derived rows.

    Memories and turns of other scopes that name the user are erased too: those sent with the `user_id` for
    everyone. Answers 200 with the receipt, or 202 with a job for a user with many memories. Writes to the user's scopes
    before the receipt's `finished_at` are erased with the rest. Sent again, it completes an interrupted erasure.
    """
    wait = None if mode is None else mode == "sync"

    async def work() -> object:
        started = await runtime.service(Erasures).user(actor, user_id, wait=wait, own=own_key(request))
        job = None if started.job is None else ids.public(ids.JOB, started.job)
        receipt = ReceiptOut.answer(Receipt(erasure=started.erasure), job_id=job)
        return ReplayableResponse(OK if job is None else ACCEPTED, receipt)

    return await run_once(request, runtime, actor, OK, work)


async def get_erasure(
    runtime: RuntimeDep,
    actor: ActorDep,
    erasure_id: ErasureId,
    *,
    ids_too: Annotated[bool, Query(alias="ids", description="List the ids that were erased, too.")] = False,
) -> Response:
    """Get the receipt of an erasure; `still_there` counts erased rows that are in the database now."""
    erasure = ids.parse(ids.ERASURE, erasure_id)
    receipt = await runtime.service(Erasures).receipt(actor, erasure)
    erased = await runtime.service(Erasures).ids(actor, erasure) if ids_too else None
    return json_answer(ReceiptOut.answer(receipt, ids=erased))

"""Export and import of a tenant's memories as lines of JSON over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import Field
from starlette.responses import Response, StreamingResponse

from app.features.portability.exports import ExportRequest, Exports
from app.features.portability.imports import Imports
from app.http.guard import ADMIN, ActorDep, GuardedRoute, RuntimeDep, require_uncompressed
from app.http.models import Out, Source, json_answer
from app.http.routes import OK, add_route
from app.memory.fields import Name

NDJSON = "application/x-ndjson"

STREAMED = frozenset({"/import"})
"""Paths whose bodies are streamed; the length of their lines is limited, not of the whole."""

_LINES = {"type": "string", "format": "binary"}
"""Lines of JSON as binary data, so that generated clients send and receive bytes."""

_BODY = {
    "requestBody": {
        "required": True,
        "content": {NDJSON: {"schema": {**_LINES, "description": "A file from GET /export."}}},
    }
}


def _nonzero(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: count for name, count in counts.items() if count}


class FailedOut(Out):
    """A line that was not stored."""

    line: int
    message: str


class ImportOut(Out):
    """The result of an import; counts are of lines, by their `record`."""

    complete: bool = Field(description="False if the last line is missing, as the file was truncated.")
    unaltered: bool = Field(
        description="True if the lines are those that were exported, by the digest in the last one."
    )
    as_exported: bool = Field(description="True if the file is complete and unaltered, and every line of it is stored.")
    imported: Annotated[dict[str, int], Source(make=_nonzero)]
    already_there: Annotated[dict[str, int], Source(make=_nonzero)] = Field(
        description="Left as they are: sending a file again changes nothing."
    )
    erased: int = Field(
        description="Lines of users who were erased here, and memories told in erased turns alone: they stay so."
    )
    failed: int
    errors: list[FailedOut] = Field(description="The first thousand lines that were not stored.")
    notices: Annotated[dict[str, int], Source(make=_nonzero)]


def router() -> APIRouter:
    """Return the routes."""
    found = APIRouter(tags=["admin"], route_class=GuardedRoute)
    add_route(
        found,
        "GET",
        ADMIN,
        "/export",
        export,
        "Export everything, or a user's or an agent's",
        operation_id="export_memories",
        response_class=StreamingResponse,
        responses={OK: {"content": {NDJSON: {"schema": _LINES}}, "description": "Lines of JSON."}},
    )
    summary, named = "Import an export", "import_memories"
    add_route(found, "POST", {**ADMIN, **_BODY}, "/import", import_lines, summary, ImportOut, operation_id=named)
    return found


async def export(
    runtime: RuntimeDep,
    actor: ActorDep,
    user_id: Annotated[
        Name | None,
        Query(
            description="Only this user's scope, and agents' with the user; without `agent_id` also memories of other "
            "scopes that were written with this `user_id`."
        ),
    ] = None,
    agent_id: Annotated[Name | None, Query(description="Only this agent's scopes.")] = None,
    *,
    vectors: Annotated[
        bool, Query(description="Include embeddings: a larger file, but the import embeds nothing.")
    ] = False,
) -> Response:
    """Stream a snapshot of the tenant: memories of every status with their rows, turns, entities, policy, audit log.

    The first line is a header, the last one has counts and a digest: a file without it is incomplete.
    """
    wanted = ExportRequest(user_id=user_id, agent_id=agent_id, vectors=vectors)
    headers = {"Content-Disposition": 'attachment; filename="typed-memory.ndjson"', "Cache-Control": "no-store"}
    return StreamingResponse(runtime.service(Exports).lines(actor, wanted), media_type=NDJSON, headers=headers)


async def import_lines(
    request: Request,
    runtime: RuntimeDep,
    actor: ActorDep,
    *,
    strict: Annotated[
        bool, Query(description="Stop at the first line that is wrong, and at a last line with another digest.")
    ] = False,
) -> Response:
    """Store an export in this tenant, with the same ids.

    A file fills scopes (everyone's, a user's, an agent's) that nothing was written to here; lines of others are
    reported as wrong. Existing rows are not changed, so an interrupted import is simply sent again. Wrong lines are
    reported by number, and the others stored. A file that was changed since its export is stored, too, unless
    `strict`: see `as_exported`.
    """
    require_uncompressed(request)
    lines = numbered(request.stream(), longest=runtime.settings.max_body_bytes)
    return json_answer(ImportOut.answer(await runtime.service(Imports).run(actor, lines, strict=strict)))


async def numbered(stream: AsyncIterator[bytes], *, longest: int) -> AsyncIterator[tuple[int, bytes | None]]:
    """Yield the lines of a stream with their numbers, None for one longer than `longest` bytes; buffers one line."""
    number, held, dropping = 1, bytearray(), False
    async for chunk in stream:
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            line = bytes(held + end) if held else end
            yield number, None if dropping or len(line) > longest else line.removesuffix(b"\r")
            number, dropping = number + 1, False
            held.clear()
        held += rest
        if len(held) > longest:
            dropping = True
            held.clear()

    if held or dropping:
        yield number, None if dropping else bytes(held)

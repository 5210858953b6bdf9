"""Documents over HTTP: send, list, read and erase them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Path, Query, Request
from starlette.datastructures import UploadFile
from starlette.responses import Response

from app.api.memories.bodies import chosen_scope
from app.errors import Forbidden
from app.features.documents import bodies, erasure, jobs, reader
from app.features.documents.bodies import (
    DocumentBody,
    DocumentDetailOut,
    DocumentFields,
    DocumentFile,
    DocumentOut,
    DocumentPageOut,
    DocumentQuery,
    DocumentResultOut,
)
from app.features.documents.service import DocumentDecision, Documents, DocumentSource
from app.features.erasure.routes import ReceiptOut
from app.features.erasure.service import Receipt
from app.http import cursors
from app.http.cursors import PageQuery
from app.http.guard import (
    NAMED,
    READ,
    WRITE,
    ActorDep,
    GuardedRoute,
    RuntimeDep,
    pin_body,
    require_uncompressed,
)
from app.http.idempotency import IDEMPOTENT, ReplayableResponse, own_key, run_once
from app.http.models import json_answer
from app.http.outcomes import LOCATION
from app.http.problems import FieldError, InvalidFields, UnsupportedMediaType
from app.http.routes import CREATED, OK, add_reads, add_route
from app.http.visibility import OwnedQuery
from app.model import Actor, ScopeKind
from app.runtime import Runtime

FORM = "multipart/form-data"

_TEXT = {"type": "string"}

_UPLOAD = {
    "requestBody": {
        "required": True,
        "content": {
            FORM: {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {"type": "string", "format": "binary", "description": "The file."},
                        "document_id": _TEXT,
                        "title": _TEXT,
                        "scope": {"type": "string", "enum": [one.value for one in ScopeKind]},
                        "user_id": _TEXT,
                        "agent_id": _TEXT,
                        "metadata": {**_TEXT, "description": "A JSON object."},
                        "extract": {"type": "boolean"},
                    },
                }
            }
        },
    }
}

_WORDS = {"true": True, "false": False}

DocumentPath = Annotated[
    str, Path(description="The id of a document, as it was sent.", examples=["handbook.md"], max_length=1_000)
]


class DocumentListQuery(OwnedQuery, PageQuery):
    """Filters of documents."""


def router() -> APIRouter:
    """Return the routes."""
    found = APIRouter(tags=["documents"], route_class=GuardedRoute)
    stored: dict[str, Any] = {
        "status_code": CREATED,
        "responses": {OK: {"model": DocumentResultOut, "description": "It was here: replaced, or unchanged."}},
        "dependencies": IDEMPOTENT,
    }
    add_route(found, "POST", WRITE | NAMED, "/documents", put_document, "Store a document", DocumentResultOut, **stored)
    upload = ("/documents/files", upload_document, "Store a document from a file", DocumentResultOut)
    add_route(found, "POST", {**WRITE, **NAMED, **_UPLOAD}, *upload, **stored)
    one = "/documents/{document_id:path}"
    add_reads(
        found,
        READ | NAMED,
        ("/documents", list_documents, "List documents", DocumentPageOut),
        (one, get_document, "Get a document and its sections", DocumentDetailOut),
    )
    erase = (one, delete_document, "Erase a document", ReceiptOut)
    add_route(found, "DELETE", WRITE | NAMED, *erase, dependencies=IDEMPOTENT)
    return found


async def put_document(request: Request, runtime: RuntimeDep, actor: ActorDep, body: DocumentBody) -> Response:
    """Store a text, Markdown or HTML document, or a PDF, as sections that questions find and quote.

    They are quoted as what the document says, with its title and their headings, never as what the user said. The same
    `document_id` again, in the same scope, replaces the document as a whole: sections that are as they were stay, the
    others are history. PDF takes an extra: `pip install 'typed-memory[documents]'`.
    """
    return await _stored(request, runtime, actor, body, body.file())


async def upload_document(request: Request, runtime: RuntimeDep, actor: ActorDep) -> Response:
    """Store a file as `POST /documents` does; the other fields of the form are those of its body."""
    require_uncompressed(request)
    if not request.headers.get("content-type", "").lower().startswith(FORM):
        raise UnsupportedMediaType(f"send the file as {FORM}: curl -F file=@handbook.pdf")
    await request.body()
    async with request.form(max_files=1, max_fields=20) as form:
        given, file = await _parts(dict(form))
    fields = bodies.with_fields(_pinned(given, actor))
    return await _stored(request, runtime, actor, fields, file)


async def list_documents(
    runtime: RuntimeDep, actor: ActorDep, query: Annotated[DocumentListQuery, Query()]
) -> Response:
    """List documents by their ids, a page at a time."""
    scopes = await query.visible(runtime.tenants, actor)
    listing = query.listing("documents", actor.tenant_id)
    after = bodies.position(cursors.decode_name(query.cursor, listing))
    page = await runtime.service(Documents).list(actor, scopes=scopes, after=after, limit=query.limit)
    cursor = cursors.encode_name(bodies.mark(page.next), listing)
    return json_answer(
        DocumentPageOut.answer(None, documents=[DocumentOut.answer(one) for one in page.items], next_cursor=cursor)
    )


async def get_document(
    runtime: RuntimeDep, actor: ActorDep, document_id: DocumentPath, query: Annotated[DocumentQuery, Query()]
) -> Response:
    """Get a document with its sections in order; name its user, agent or scope as it was sent."""
    document, sections = await runtime.service(Documents).get(actor, query.where(actor), document_id)
    return json_answer(DocumentDetailOut.of(document, sections))


async def delete_document(
    request: Request,
    runtime: RuntimeDep,
    actor: ActorDep,
    document_id: DocumentPath,
    query: Annotated[DocumentQuery, Query()],
) -> Response:
    """Erase a document: its sections, those that were replaced too, and what was extracted from it alone.

    Answers with the receipt. Name its user, agent or scope as it was sent.
    """
    scope = query.where(actor)
    if actor.bound and scope.kind is ScopeKind.GLOBAL:
        raise Forbidden("this key is bound to a user or an agent, and this document is everyone's")

    async def work() -> object:
        done = await erasure.erase(runtime, actor, scope, document_id, own=own_key(request))
        return ReceiptOut.answer(Receipt(erasure=done))

    return await run_once(request, runtime, actor, OK, work)


async def _stored(
    request: Request, runtime: Runtime, actor: Actor, given: DocumentFields, file: DocumentFile
) -> Response:
    scope = chosen_scope(ScopeKind.GLOBAL, given.scope, given.user_id, given.agent_id)
    kind = reader.media_type(file.content, file.media_type, file.name)

    async def work() -> object:
        source = DocumentSource(
            scope=scope,
            document_id=bodies.id_of(given, file),
            media_type=kind,
            parsed=await reader.read(kind, file.content),
            title=given.title,
            metadata=given.metadata,
        )
        done = await runtime.service(Documents).put(actor, source)
        job = await jobs.enqueue(runtime, actor, source, done.new) if given.extract and done.new else None
        status = CREATED if done.decision is DocumentDecision.ADDED else OK
        return ReplayableResponse(status, DocumentResultOut.of(done, job))

    return await run_once(request, runtime, actor, CREATED, work, headers=partial(_location, request))


def _location(request: Request, stored: object) -> dict[str, str]:
    """Return the header with the address of a document that came; its scope is in the query."""
    if not isinstance(stored, Mapping) or stored["decision"] != DocumentDecision.ADDED:
        return {}
    owner = {name: stored[name] for name in ("user_id", "agent_id") if stored[name] is not None}
    query = urlencode({"scope": stored["scope"], **owner}, quote_via=quote)
    root = request.scope.get("root_path", "")
    return {LOCATION: f"{root}/documents/{quote(stored['document_id'], safe='')}?{query}"}


def _pinned(given: dict[str, object], actor: Actor) -> dict[str, object]:
    """Return the fields of a form with the ids of a key that is bound."""
    found = pin_body(given, actor, changes=True) if actor.bound else given
    return found if isinstance(found, dict) else given


async def _parts(form: Mapping[str, object]) -> tuple[dict[str, object], DocumentFile]:
    """Return the fields of a form, and its file; raise InvalidFields."""
    file = form.get("file")
    if not isinstance(file, UploadFile):
        raise InvalidFields([FieldError(field="file", message="is required: curl -F file=@handbook.pdf")])
    given: dict[str, object] = {name: value for name, value in form.items() if name != "file"}
    if isinstance(metadata := given.get("metadata"), str):
        try:
            given["metadata"] = json.loads(metadata)
        except (ValueError, RecursionError):
            raise InvalidFields([FieldError(field="metadata", message="is not a JSON object")]) from None
    if isinstance(extract := given.get("extract"), str):
        given["extract"] = _WORDS.get(extract.lower(), extract)
    return given, DocumentFile(content=await file.read(), media_type=file.content_type, name=file.filename)

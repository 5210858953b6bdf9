"""Bodies, query strings and answers of documents over HTTP."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath
from typing import Annotated, Any, Final, Self
from uuid import UUID

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError, model_validator

from app import ids
from app.api.memories.bodies import chosen_scope
from app.features.documents.parse import label
from app.features.documents.service import DocumentDecision, StoredSource
from app.features.documents.sql import StoredDocument, StoredSection
from app.http.models import Given, Metadata, Out, PageOut, RequestBody, Source, as_is, public_id, with_example
from app.http.problems import FieldError, InvalidFields
from app.memory.fields import Flag, Name, UserId, addressable, storable
from app.model import Actor, MemoryStatus, Scope, ScopeKind

MOST_METADATA: Final = 4
"""Kilobytes of a document's metadata, which each of its sections has."""


def _reachable(document: str) -> str:
    """Return the id, or raise ValueError for one that can't be in the path of a request."""
    for part in document.split("/"):
        addressable(part)
    return document


DocumentId = Annotated[Name, AfterValidator(_reachable)]
"""The id of a document, which may be the path of a file."""

_ID: Final[TypeAdapter[str]] = TypeAdapter(DocumentId)


def _brief(metadata: dict[str, object]) -> dict[str, object]:
    if len(str(metadata)) > MOST_METADATA * 1024:
        raise ValueError(f"must not be larger than {MOST_METADATA} KB: each section of the document has it")
    return metadata


class DocumentFields(RequestBody):
    """The fields of a document besides its content."""

    document_id: DocumentId | None = Field(
        default=None,
        description="Your id of the document: sent again, it is replaced as a whole. By default the name of the file, "
        "else the title, else one made of the content.",
    )
    title: Name | None = Field(default=None, description="By default its own title, else its id.")
    scope: ScopeKind | None = Field(
        default=None, description="Who sees it: by default the user that is named, else everyone of the tenant."
    )
    user_id: UserId | None = None
    agent_id: Name | None = None
    metadata: Annotated[Metadata, AfterValidator(_brief)] = Field(
        default_factory=dict, description="Of each of its sections: at most 4 KB."
    )
    extract: Flag = Field(
        default=False,
        description="Have a job extract memories from its new sections, with less trust than what a user says, and "
        "none about the user.",
    )


class DocumentBody(
    DocumentFields,
    **with_example(
        {
            "document_id": "handbook.md",
            "content": "# Handbook\n\n## Leave\n\nEmployees get 25 days of leave a year.",
            "media_type": "text/markdown",
        }
    ),
):
    """A document: its text, or in base64 the bytes of its file."""

    content: Annotated[str, AfterValidator(storable)] | None = Field(
        default=None, description="The text, Markdown or HTML.", min_length=1
    )
    data: str | None = Field(default=None, description="In its place, the bytes of a file in base64.", min_length=1)
    media_type: Name | None = Field(
        default=None,
        description="`text/plain`, `text/markdown`, `text/html` or `application/pdf`; by default as the name of the "
        "file ends, or as the content begins.",
    )
    name: Name | None = Field(default=None, description="The name of the file.", examples=["handbook.pdf"])

    @model_validator(mode="after")
    def _one_content(self) -> Self:
        if (self.content is None) == (self.data is None):
            raise ValueError("give content (text) or data (base64), one of them")
        return self

    def file(self) -> DocumentFile:
        """Return the file; raise InvalidFields where `data` is no base64."""
        try:
            content = (
                base64.b64decode(self.data or "", validate=True) if self.content is None else self.content.encode()
            )
        except (binascii.Error, ValueError):
            raise InvalidFields([FieldError(field="data", message="is not base64")]) from None
        return DocumentFile(content=content, media_type=self.media_type, name=self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentFile:
    """The bytes of a document, and what was said of them."""

    content: bytes
    media_type: str | None
    name: str | None


class DocumentQuery(RequestBody):
    """The scope of a document: as it was sent."""

    scope: ScopeKind | None = None
    user_id: Name | None = None
    agent_id: Name | None = None

    def where(self, actor: Actor) -> Scope:
        """Return the scope that a document sent so went to."""
        asked = ScopeKind.AGENT if self.scope is None and actor.agent_id is not None else self.scope
        return chosen_scope(ScopeKind.GLOBAL, asked, self.user_id, self.agent_id)


def id_of(given: DocumentFields, file: DocumentFile) -> str:
    """Return the id of a document: the one that was given, or made of its file's name, its title or its content."""
    if given.document_id is not None:
        return given.document_id
    base = PurePosixPath((file.name or "").replace("\\", "/")).name
    for one in (label(base), label(given.title or "")):
        try:
            return _ID.validate_python(one)
        except ValidationError:
            continue
    return f"doc-{hashlib.sha256(file.content).hexdigest()[:16]}"


class DocumentOut(Out):
    """A document; the sections that wait for a reviewer are not recalled."""

    document_id: str
    scope: Annotated[ScopeKind, Source("scope.kind")]
    user_id: Annotated[str | None, Source("scope.user_id")]
    agent_id: Annotated[str | None, Source("scope.agent_id")]
    title: str | None
    media_type: str | None
    sections: int
    waiting: int = Field(description="Those of them that wait for a reviewer.")
    characters: int
    updated_at: datetime = Field(description="When its newest section was stored.")
    metadata: Annotated[dict[str, Any], Source(make=as_is)]


class DocumentResultOut(DocumentOut):
    """A document as it was stored, and the decision."""

    decision: Annotated[DocumentDecision, Given()]
    added: Annotated[int, Given()] = Field(description="Sections that are new.")
    kept: Annotated[int, Given()] = Field(description="Sections that are as they were.")
    removed: Annotated[int, Given()] = Field(description="Sections that were replaced, or are there no longer.")
    job_id: Annotated[str | None, Given()] = Field(description="The job that extracts memories from it, if asked.")

    @classmethod
    def of(cls, one: StoredSource, job: UUID | None) -> dict[str, Any]:
        """Return the answer to a document that was sent."""
        return cls.answer(
            one.document,
            decision=one.decision,
            added=one.added,
            kept=one.kept,
            removed=one.removed,
            job_id=None if job is None else ids.public(ids.JOB, job),
        )


class SectionOut(Out):
    """A section of a document; `GET /memories/{memory_id}` has its words."""

    memory_id: Annotated[str, public_id(ids.MEMORY, "id")]
    section: Annotated[str | None, Source("payload", lambda payload: payload.get("section"))] = Field(
        description="The headings it stands under."
    )
    characters: Annotated[int, Source("payload", lambda payload: len(payload.get("content", "")))]
    status: MemoryStatus


class DocumentDetailOut(DocumentOut):
    """A document with its sections in order."""

    contents: Annotated[list[SectionOut], Given()]

    @classmethod
    def of(cls, one: StoredDocument, sections: Sequence[StoredSection]) -> dict[str, Any]:
        """Return a document with its sections."""
        return cls.answer(one, contents=[SectionOut.answer(each) for each in sections])


class DocumentPageOut(PageOut):
    """Some documents."""

    documents: Annotated[list[DocumentOut], Given()]


def with_fields(given: Mapping[str, object]) -> DocumentFields:
    """Return the fields of a form; raise InvalidFields."""
    try:
        return DocumentFields.model_validate(given)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
        raise InvalidFields(
            [FieldError(field=".".join(map(str, one["loc"])), message=one["msg"]) for one in faults]
        ) from None


def mark(after: tuple[str, UUID] | None) -> str | None:
    """Return the position of a page as a name, None for None."""
    return None if after is None else f"{after[1].hex}{after[0]}"


def position(given: str | None) -> tuple[str, UUID] | None:
    """Return the position that a name stands for."""
    return None if given is None else (given[_HEX:], UUID(hex=given[:_HEX]))


_HEX: Final = 32

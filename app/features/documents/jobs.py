"""The job that extracts memories from sections of a document, with less trust than what a user says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final
from uuid import UUID

from app import ids
from app.db import jobs, quotas
from app.db.jobs import Job
from app.db.memories.read import read_memories
from app.db.session import WriteSession
from app.db.sql import insert_all
from app.errors import TypedMemoryError
from app.features.documents.service import DocumentSource
from app.jobs.handler import Handler, ProgressCallback
from app.memory.candidate import Candidate, WriteOutcome
from app.memory.extraction import Role, Turn
from app.memory.registry import Registry
from app.memory.types.document import QUOTED
from app.memory.vocabulary import ASSISTANTS, USER
from app.model import Actor, LinkKind, Memory, MemoryStatus
from app.runtime import Runtime
from app.write.extract import ExtractionContext, candidates_of
from app.write.known import together_known
from app.write.trace import Trace

KIND: Final = "documents"

STRENGTH: Final = 0.6
"""Most that a document is believed: as an assistant, less than a tool, and far less than the user."""


async def enqueue(runtime: Runtime, actor: Actor, source: DocumentSource, sections: Sequence[UUID]) -> UUID:
    """Queue the extraction from new sections of a document; return the job."""
    payload = {"actor": actor.name, "document": source.document_id, "sections": [one.hex for one in sections]}
    tenant, now = actor.tenant_id, runtime.clock()
    async with runtime.database.write(tenant) as session:
        return await jobs.enqueue(
            session,
            tenant=tenant,
            kind=KIND,
            payload=payload,
            now=now,
            total=len(sections),
            scope=source.scope.id(tenant),
        )


async def run(runtime: Runtime, job: Job, progress: ProgressCallback) -> Mapping[str, object]:
    """Extract from each section that is still in use; what was stored by an earlier run merges with itself."""
    actor = Actor(tenant_id=job.tenant_id, key_id=None, name=str(job.payload["actor"]))
    given = job.payload["sections"]
    sections = [UUID(hex=str(one)) for one in given] if isinstance(given, list) else []
    types = await runtime.type_book.of(job.tenant_id)
    async with runtime.database.read(job.tenant_id) as session:
        stored = await read_memories(session, job.tenant_id, sections)
    written = 0
    for done, one in enumerate(sections, 1):
        section = stored.get(one)
        if section is not None and section.status is MemoryStatus.ACTIVE:
            written += await _extract(runtime, actor, section, str(job.payload["document"]), types)
        await progress(done, len(sections))
    return {"memories": written}


async def _extract(runtime: Runtime, actor: Actor, section: Memory, document: str, types: Registry) -> int:
    """Extract from a section, and store what it says of others than the user; return how many memories."""
    candidates = await _candidates(runtime, actor, section, document, types)

    async def link(session: WriteSession, results: Mapping[int, WriteOutcome | TypedMemoryError]) -> None:
        made = {one.memory.id for one in results.values() if isinstance(one, WriteOutcome) and one.memory is not None}
        rows = [
            {
                "tenant_id": actor.tenant_id,
                "from_memory": memory,
                "kind": LinkKind.DERIVED_FROM,
                "to_memory": section.id,
                "created_at": runtime.clock(),
            }
            for memory in sorted(made)
        ]
        await insert_all(session, {"memory_links": rows})

    results = await runtime.memories.pipeline.write(actor, candidates, finish=link) if candidates else []
    failed = next((one for one in results if isinstance(one, TypedMemoryError)), None)
    if failed is not None:
        raise failed
    return len(results)


async def _candidates(
    runtime: Runtime, actor: Actor, section: Memory, document: str, types: Registry
) -> list[Candidate]:
    """Return what the section says, trusted as a document; nothing of the user, and nothing that ends a belief.

    It is read as if the document spoke, by its title: `I` is whoever wrote it, of whom nothing is kept.
    """
    speaker = str(section.payload.get("title") or document)
    ingest, policy = runtime.turns.pipeline, await runtime.policies.get(actor.tenant_id)
    turn = policy.instructed(
        Turn(
            id=ids.new(),
            scope=section.scope,
            role=Role.USER,
            speaker=speaker,
            content=str(section.payload[QUOTED]),
            occurred_at=section.stated_at,
        )
    )
    known = await ingest.known.excerpts(actor, [(turn, ())], types) if ingest.extractor.reads_known else []
    shown = {"known": together_known(known)} if known else {}
    [extraction] = await ingest.extractor.extract([turn], (), types=types, excluded=policy.excluded_types, **shown)
    if extraction.usage.requests:
        async with runtime.database.write(actor.tenant_id) as session:
            cost = ingest.prices.cost(extraction.usage)
            await quotas.add_model_use(session, actor, runtime.clock().date(), extraction.usage, cost)
    means = ExtractionContext(types=types, extractor=ingest.extractor.name, keep_episodes=False)
    found = candidates_of(turn, extraction, (), (), means, Trace()).candidates
    of_nobody = {USER, *ASSISTANTS, speaker}
    source = {"document": document, "section": ids.public(ids.MEMORY, section.id)}
    return [
        replace(
            one,
            source_strength=min(one.source_strength, STRENGTH),
            evidence=tuple(replace(each, turn_id=None, role=None, session_id=None) for each in one.evidence),
            provenance={**one.provenance, **source},
            session_id=None,
            sequence_number=None,
            replaces=(),
            disputes=(*one.disputes, *one.replaces),
        )
        for one in found
        if one.ending is None and not one.type.verbatim and one.payload.subject() not in of_nobody
    ]


HANDLER = Handler(kind=KIND, run=run)

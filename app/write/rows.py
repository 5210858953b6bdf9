"""From a resolved candidate to the rows of a memory: the memory itself, its index, evidence, links, audit."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from uuid import UUID

from app import ids
from app.db.vectors import as_columns
from app.memory.actions import Action
from app.model import ConfidenceParts, LinkKind, ReviewReason, Status
from app.text.lexical import document_weights, index_of, lexemes_of, terms, to_sparsevec
from app.write.graph import add_edge, add_entities
from app.write.plan import Plan
from app.write.values import Existing, IndexText, Prepared, Resolved

_BRACKETED = re.compile(r"\s*\[[^\]]*\]\s*$")
_LONGEST_CAPTION = 500
_SHORT_QUESTION = 40
"""Words up to which a text that ends in a question mark is taken for a question."""


def add(
    plan: Plan,
    resolved: Resolved,
    *,
    supersedes: UUID | None = None,
    successor: Existing | None = None,
    status: Status = Status.ACTIVE,
    contested: bool = False,
    review: tuple[ReviewReason, str] | None = None,
) -> UUID:
    """Gather every row of a new memory and return its id; with a successor it is history from the start.

    One that was accepted keeps its id, and since when it is known.
    """
    accepted = resolved.accepted
    new = ids.new() if accepted is None else accepted.id
    life = {
        "status": status if successor is None else Status.SUPERSEDED,
        "valid_from": resolved.prepared.begins,
        "valid_until": resolved.prepared.candidate.valid_until,
        "ended_at": None if successor is None else max(successor.valid_from, resolved.prepared.begins),
        "recorded_at": plan.around.now if accepted is None else accepted.recorded_at,
        "retired_at": None if successor is None else plan.around.now,
    }
    standing = {
        "contested": contested,
        "review_reason": None if review is None else review[0],
        "review_note": None if review is None else review[1],
        "review_since": None if review is None else plan.around.now,
        "supersedes": supersedes,
        "superseded_by": None if successor is None else successor.id,
    }
    plan.rows["memories"].append({**_memory_row(plan, new, resolved), **life, **standing})
    speaker = resolved.refs.get("speaker")
    told = {"confidence": resolved.prepared.confidence, "speaker_id": None if speaker is None else speaker.id}
    add_index(plan, new, resolved.prepared, {**life, **told})
    plan.rows["memory_usage"].append({"tenant_id": plan.around.tenant, "memory_id": new, "last_accessed_at": None})
    add_evidence(plan, new, resolved.prepared)
    add_entities(plan, new, resolved)
    if status is Status.ACTIVE:
        add_edge(plan, new, resolved)
    plan.added += 1
    return new


def _memory_row(plan: Plan, new: UUID, resolved: Resolved) -> dict[str, object]:
    prepared, candidate = resolved.prepared, resolved.prepared.candidate
    payload = candidate.payload
    chosen = candidate.category or candidate.nature
    decay = candidate.type.decay(chosen)
    stored = payload.stored(prepared.event)
    return {
        "tenant_id": plan.around.tenant,
        "scope_id": plan.around.scope,
        "id": new,
        "type": candidate.type.name,
        "type_tenant": candidate.type.owner(plan.around.tenant),
        "type_version": candidate.type.version,
        "category": chosen or candidate.type.category,
        "content": prepared.content,
        "context": candidate.context,
        "identity": prepared.identity,
        "payload": stored,
        "filter_key": candidate.type.filter_key(stored),
        "subject": payload.subject(),
        "subject_id": resolved.subject_id,
        "slot": resolved.slot,
        "slot_value": resolved.value,
        "speech_act": candidate.speech_act,
        "source_strength": prepared.parts.source,
        "extractor_confidence": prepared.parts.extractor,
        "prior": prepared.parts.prior,
        "mentions": prepared.parts.mentions,
        "confidence": prepared.confidence,
        "importance": _importance(resolved),
        "half_life_days": decay.half_life_days,
        "floor": decay.floor,
        "topic": candidate.topic,
        "session_id": candidate.session_id,
        "sequence_number": candidate.sequence_number,
        "stated_at": prepared.stated_at,
        "updated_at": plan.around.now,
        "provenance": dict(candidate.provenance),
        "metadata": dict(candidate.metadata),
    }


def _importance(resolved: Resolved) -> float:
    candidate = resolved.prepared.candidate
    if candidate.importance is not None:
        return candidate.importance
    return candidate.type.importance(candidate.payload)


def add_index(plan: Plan, memory: UUID, prepared: Prepared, standing: Mapping[str, object]) -> None:
    """Gather the index rows of a memory: `standing` is what reads filter by that the candidate can't tell."""
    candidate, event = prepared.candidate, prepared.event
    covers = None
    if event is not None and event.lower is not None and event.upper is not None:
        covers = f"[{event.lower.isoformat()},{event.upper.isoformat()})"
    for part, searched in enumerate(prepared.texts):
        plan.rows["memory_index"].append(
            {
                "tenant_id": plan.around.tenant,
                "memory_id": memory,
                "part": part,
                "kind": searched.kind,
                "scope_id": plan.around.scope,
                "type": candidate.type.name,
                "topic": candidate.topic,
                **standing,
                "event_range": covers,
                "stated_at": prepared.stated_at,
                "session_id": candidate.session_id,
                "sequence_number": candidate.sequence_number,
                "words": len(prepared.content.split()),
                "asks": asks(prepared.content),
                **as_columns(plan.around.model_id, searched.embedding),
                "ann": plan.around.ann,
                **_lexical(plan, searched),
            }
        )


def asks(content: str) -> bool:
    """Return whether a short text ends as a question; such a turn rarely holds the answer to another."""
    if len(content.split()) > _SHORT_QUESTION:
        return False
    spoken = _BRACKETED.sub("", " ".join(content.split())[-_LONGEST_CAPTION:])
    return spoken.rstrip().endswith(("?", "\uff1f"))


def reindex(plan: Plan, existing: Existing, rewritten: Prepared, confidence: float) -> None:
    """Gather new index rows for a memory whose sentence changed, and take its old terms off the statistics."""
    old = terms(existing.content, plan.around.language)
    plan.documents.subtract({index_of(term) for term in old})
    plan.lexical_documents -= 1
    plan.lexical_length -= len(old)
    revived = existing.status == Status.EXPIRED and existing.ended_at is None
    life = {
        "status": Status.ACTIVE if revived else existing.status,
        "valid_from": existing.valid_from,
        "valid_until": existing.valid_until,
        "ended_at": existing.ended_at,
        "recorded_at": existing.recorded_at,
        "retired_at": None if existing.ended_at is None else plan.around.now,
        "confidence": confidence,
        "speaker_id": None,
    }
    add_index(plan, existing.id, rewritten, life)


def _lexical(plan: Plan, searched: IndexText) -> dict[str, object]:
    """Return the lexical columns of an index row, and count its terms towards the scope's statistics."""
    if searched.terms is None:
        return {"lexical": None, "tsv": None}
    if searched.kind == "context":
        plan.contexts += 1
    else:
        plan.documents.update({index_of(term) for term in searched.terms})
        plan.lexical_documents += 1
        plan.lexical_length += len(searched.terms)
    weights = document_weights(searched.terms, average_length=plan.around.lexical_average)
    return {"lexical": to_sparsevec(weights), "tsv": as_tsvector(searched.terms)}


def as_tsvector(terms: Sequence[str]) -> str:
    """Return terms in tsvector's text format, quoted, so that no term is read as syntax."""
    quoted = (term.replace("\\", "\\\\").replace("'", "''") for term in lexemes_of(terms))
    return " ".join(f"'{term}'" for term in quoted)


def add_evidence(plan: Plan, memory: UUID, prepared: Prepared) -> None:
    """Gather where the candidate was said, under a memory."""
    for one in prepared.candidate.evidence:
        plan.rows["evidence"].append(
            {
                "tenant_id": plan.around.tenant,
                "memory_id": memory,
                "id": ids.new(),
                "turn_id": one.turn_id,
                "quote": one.quote,
                "role": one.role,
                "session_id": one.session_id,
                "statement": None if one.turn_id is None else prepared.identity,
                "stated_at": one.stated_at,
                "recorded_at": plan.around.now,
            }
        )


def add_link(plan: Plan, source: UUID, kind: LinkKind, target: UUID) -> None:
    """Gather an edge between two memories."""
    plan.rows["memory_links"].append(
        {
            "tenant_id": plan.around.tenant,
            "from_memory": source,
            "kind": kind,
            "to_memory": target,
            "created_at": plan.around.now,
        }
    )


def audit_added(
    plan: Plan,
    memory: UUID,
    resolved: Resolved,
    reason: str,
    *,
    status: Status = Status.ACTIVE,
    more: Mapping[str, object] | None = None,
) -> None:
    """Gather the audit event of a new memory: what it is, why, and what its confidence is made of.

    One that was pending is not new: it was accepted, and its numbers are those before and after.
    """
    prepared, accepted = resolved.prepared, resolved.accepted
    detail = {
        "type": prepared.candidate.type.name,
        "reason": reason,
        "status": [None if accepted is None else accepted.status, status],
        "confidence": [None if accepted is None else accepted.confidence, prepared.confidence],
        "parts": parts_told(prepared.parts),
        **(more or {}),
    }
    audit(plan, Action.MEMORY_ADDED if accepted is None else Action.MEMORY_ACCEPTED, memory, detail)


def parts_told(parts: ConfidenceParts) -> dict[str, object]:
    """Return the components of confidence as the audit log tells them."""
    return {"source": parts.source, "extractor": parts.extractor, "prior": parts.prior, "mentions": parts.mentions}


def audit(plan: Plan, action: Action, memory: UUID | None, detail: Mapping[str, object]) -> None:
    """Gather an audit event; see `Ledger.event`."""
    plan.rows["audit_events"].append(plan.around.ledger.event(action, detail, memory=memory))

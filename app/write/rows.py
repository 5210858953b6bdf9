"""The rows of a write, gathered before its transaction opens."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from app import ids
from app.db.writing import Changes, Merged, Relinked, Retired
from app.memory import normalise
from app.model import EntityRef, LinkKind, Mention, Status
from app.text.lexical import document_weights, index_of, lexemes_of, terms, to_sparsevec
from app.write.values import Existing, IndexText, Prepared, Resolved


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What every row of a write shares."""

    tenant: UUID
    scope: UUID
    actor: str
    now: datetime
    model_id: int
    lexical_average: float
    language: str


@dataclass(slots=True)
class Plan:
    """The rows and updates of one write, as they gather."""

    around: Surroundings
    rows: dict[str, list[Mapping[str, object]]] = field(default_factory=lambda: defaultdict(list))
    retired: list[Retired] = field(default_factory=list)
    relinked: list[Relinked] = field(default_factory=list)
    merged: list[Merged] = field(default_factory=list)
    unified: list[tuple[UUID, UUID]] = field(default_factory=list)
    entities: dict[UUID, dict[str, object]] = field(default_factory=dict)
    documents: Counter[int] = field(default_factory=Counter)
    added: int = 0
    lexical_documents: int = 0
    lexical_length: int = 0

    def changes(self) -> Changes:
        """Return everything gathered, ready to be applied."""
        here = {"tenant_id": self.around.tenant, "scope_id": self.around.scope}
        rows = dict(self.rows)
        rows["entities"] = list(self.entities.values())
        rows["lexical_terms"] = [
            {**here, "term": term, "documents": count} for term, count in sorted(self.documents.items())
        ]
        return Changes(
            rows={name: tuple(given) for name, given in rows.items() if given},
            retired=tuple(self.retired),
            relinked=tuple(self.relinked),
            merged=tuple(self.merged),
            unified=tuple(self.unified),
            added=self.added,
            lexical_documents=self.lexical_documents,
            lexical_length=self.lexical_length,
            lexical_average=self.around.lexical_average,
        )


def takes_hold(prepared: Prepared) -> datetime:
    """Return from when on the memory holds: as given, or else when it was stated."""
    return prepared.candidate.valid_from or prepared.stated_at


def add(
    plan: Plan,
    resolved: Resolved,
    *,
    supersedes: UUID | None = None,
    successor: Existing | None = None,
    contested: bool = False,
    needs_review: bool = False,
) -> UUID:
    """Gather every row of a new memory and return its id; with a successor it is history from the start."""
    new = ids.new()
    life = {
        "status": Status.ACTIVE if successor is None else Status.SUPERSEDED,
        "valid_from": takes_hold(resolved.prepared),
        "valid_until": resolved.prepared.candidate.valid_until,
        "ended_at": None if successor is None else max(successor.valid_from, takes_hold(resolved.prepared)),
        "recorded_at": plan.around.now,
        "retired_at": None if successor is None else plan.around.now,
    }
    standing = {
        "contested": contested,
        "needs_review": needs_review,
        "supersedes": supersedes,
        "superseded_by": None if successor is None else successor.id,
    }
    plan.rows["memories"].append({**_memory_row(plan, new, resolved), **life, **standing})
    add_index(plan, new, resolved.prepared, life)
    plan.rows["memory_usage"].append({"tenant_id": plan.around.tenant, "memory_id": new, "last_accessed_at": None})
    add_evidence(plan, new, resolved.prepared)
    add_entities(plan, new, resolved)
    _edge(plan, new, resolved)
    plan.added += 1
    return new


def _memory_row(plan: Plan, new: UUID, resolved: Resolved) -> dict[str, object]:
    prepared, candidate = resolved.prepared, resolved.prepared.candidate
    payload = candidate.payload
    decay = candidate.type.decay(candidate.category)
    return {
        "tenant_id": plan.around.tenant,
        "scope_id": plan.around.scope,
        "id": new,
        "type": candidate.type.name,
        "category": candidate.category or candidate.type.category,
        "content": prepared.content,
        "context": candidate.context,
        "identity": prepared.identity,
        "payload": stored_payload(prepared),
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


def stored_payload(prepared: Prepared) -> dict[str, object]:
    """Return the payload as it is kept: by its wire names, an event's time made an instant."""
    event = prepared.event
    dated = {} if event is None or event.at is None else {"event_at": event.at.isoformat()}
    precise = {} if event is None else {"event_at_precision": str(event.precision)}
    return {**prepared.candidate.payload.model_dump(mode="json", by_alias=True), **dated, **precise}


def _importance(resolved: Resolved) -> float:
    candidate = resolved.prepared.candidate
    if candidate.importance is not None:
        return candidate.importance
    return candidate.type.importance(candidate.payload)


def add_index(plan: Plan, new: UUID, prepared: Prepared, life: Mapping[str, object]) -> None:
    """Gather the index rows of a memory."""
    event = prepared.event
    covers = None
    if event is not None and event.lower is not None and event.upper is not None:
        covers = f"[{event.lower.isoformat()},{event.upper.isoformat()})"
    for part, searched in enumerate(prepared.texts):
        plan.rows["memory_index"].append(
            {
                "tenant_id": plan.around.tenant,
                "memory_id": new,
                "part": part,
                "kind": searched.kind,
                "scope_id": plan.around.scope,
                "type": prepared.candidate.type.name,
                "topic": prepared.candidate.topic,
                "confidence": prepared.confidence,
                **life,
                "event_range": covers,
                "model_id": plan.around.model_id,
                "embedding": searched.embedding,
                **_lexical(plan, searched),
            }
        )


def reindex(plan: Plan, existing: Existing, rewritten: Prepared) -> None:
    """Gather new index rows for a memory whose sentence changed, and take its old terms off the statistics."""
    old = terms(existing.content, plan.around.language)
    plan.documents.subtract({index_of(term) for term in old})
    plan.lexical_documents -= 1
    plan.lexical_length -= len(old)
    life = {
        "status": existing.status,
        "valid_from": existing.valid_from,
        "valid_until": existing.valid_until,
        "ended_at": None,
        "recorded_at": existing.recorded_at,
        "retired_at": None,
    }
    add_index(plan, existing.id, rewritten, life)


def _lexical(plan: Plan, searched: IndexText) -> dict[str, object]:
    """Return the lexical columns of an index row, and count its terms towards the scope's statistics."""
    if searched.terms is None:
        return {"lexical": None, "tsv": None}
    if searched.kind == "content":
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
                "stated_at": one.stated_at,
            }
        )


def add_entities(plan: Plan, memory: UUID, resolved: Resolved) -> None:
    """Gather the entities a memory mentions, new names of theirs, and the mentions themselves."""
    by_role = {mention.role: mention for mention in resolved.prepared.mentions}
    here = {"tenant_id": plan.around.tenant, "scope_id": plan.around.scope}
    for role, ref in resolved.refs.items():
        mention = by_role[role]
        known = plan.entities.get(ref.id)
        count = 1 if known is None else int(str(known["mention_count"])) + 1
        plan.entities[ref.id] = _entity_row(here, ref, mention, count)
        names = (mention.name, *mention.aliases) if mention.declares or ref.created else ()
        for name in names:
            alias = normalise.name(name)
            if alias:
                plan.rows["entity_aliases"].append({**here, "alias": alias, "entity_id": ref.id, "display": name})
        plan.rows["memory_entities"].append(
            {"tenant_id": plan.around.tenant, "entity_id": ref.id, "memory_id": memory, "role": role}
        )
    plan.unified += resolved.unified


def _entity_row(here: Mapping[str, object], ref: EntityRef, mention: Mention, count: int) -> dict[str, object]:
    return {
        **here,
        "id": ref.id,
        "canonical_name": ref.name,
        "entity_type": ref.entity_type,
        "attributes": dict(mention.attributes),
        "mention_count": count,
    }


def _edge(plan: Plan, memory: UUID, resolved: Resolved) -> None:
    edge = resolved.prepared.candidate.payload.edge()
    if edge is None:
        return
    plan.rows["relations"].append(
        {
            "tenant_id": plan.around.tenant,
            "scope_id": plan.around.scope,
            "id": ids.new(),
            "memory_id": memory,
            "from_entity": resolved.refs[edge.from_role].id,
            "relation_type": edge.relation_type,
            "to_entity": resolved.refs[edge.to_role].id,
            "since": edge.since,
        }
    )


def add_link(plan: Plan, source: UUID, kind: LinkKind, target: UUID) -> None:
    """Gather an edge between two memories."""
    plan.rows["memory_links"].append(
        {"tenant_id": plan.around.tenant, "from_memory": source, "kind": kind, "to_memory": target}
    )


def audit_added(plan: Plan, memory: UUID, resolved: Resolved, reason: str) -> None:
    """Gather the audit event of a new memory."""
    prepared = resolved.prepared
    audit(
        plan,
        "memory.added",
        memory,
        {"type": prepared.candidate.type.name, "reason": reason, "confidence": prepared.confidence},
    )


def audit(plan: Plan, action: str, memory: UUID | None, detail: Mapping[str, object]) -> None:
    """Gather an audit event; details hold ids, numbers and reasons, never content."""
    plan.rows["audit_events"].append(
        {
            "tenant_id": plan.around.tenant,
            "id": ids.new(),
            "occurred_at": plan.around.now,
            "actor": plan.around.actor,
            "action": action,
            "memory_id": memory,
            "scope_id": plan.around.scope,
            "detail": detail,
        }
    )

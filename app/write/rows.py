"""Pending rows of one write: memories, index rows, evidence, entities, mentions, links and audit events.

They are gathered before the transaction opens.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from app import ids
from app.db.apply.memories import Restatement, RowChange, row_change, version_columns
from app.db.apply.scope import Changes
from app.db.audit import AuditWriter
from app.db.memories.former import FormerState
from app.db.sql import as_columns, as_halfvec
from app.lexical.bm25 import as_tsvector, document_weights, searched_terms, to_sparsevec
from app.lexical.counts import ScopeCounts
from app.memory import normalise
from app.memory.audit import AuditAction
from app.memory.slots import latest_statement_wins, transition
from app.memory.versions import Reverted, SlotOutcome, Transition, Version
from app.model import UNKNOWN_TYPE, ConfidenceParts, EntityRef, LinkKind, MemoryStatus, Mention
from app.write.values import Existing, IndexText, Prepared, Resolved


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteContext:
    """The values that all rows of a write share.

    `now` is the write's stamp: never before the scope's last, so that what is believed at an instant is what some
    order of writes left, whatever the writers' clocks. What follows it is of new memories' index rows.
    """

    tenant: UUID
    scope: UUID
    actor: str
    now: datetime
    language: str = "english"
    model_id: int = 0
    lexical_average: float = 0.0
    ann: bool = False

    @property
    def ledger(self) -> AuditWriter:
        """The writer of the audit events of this write."""
        return AuditWriter(tenant=self.tenant, actor=self.actor, at=self.now, scope=self.scope)


@dataclass(slots=True)
class PendingRows:
    """The rows and updates of one write, which the stages add to; `versions` is what it decided on, as it leaves it."""

    around: WriteContext
    rows: dict[str, list[Mapping[str, object]]] = field(default_factory=lambda: defaultdict(list))
    changed: dict[UUID, RowChange] = field(default_factory=dict)
    restated: list[Restatement] = field(default_factory=list)
    reindexed: list[UUID] = field(default_factory=list)
    rebuilt: list[UUID] = field(default_factory=list)
    evidence: list[tuple[UUID, UUID]] = field(default_factory=list)
    unified: list[tuple[UUID, UUID]] = field(default_factory=list)
    entities: dict[UUID, dict[str, Any]] = field(default_factory=dict)
    touched: dict[UUID, str] = field(default_factory=dict)
    versions: dict[UUID, Version] = field(default_factory=dict)
    counts: ScopeCounts = field(default_factory=ScopeCounts)

    def touch(self, *versions: Version) -> None:
        """Have the write decided again if the status of one of these memories has changed since it was read."""
        self.touched.update({one.id: one.status for one in versions})
        self.versions = {one.id: one for one in versions} | self.versions

    def change(self, one: RowChange) -> None:
        """Add new values of a memory's columns; they replace earlier values of the same columns."""
        known = self.changed.get(one.id)
        if known is not None:
            one = replace(one, values={**known.values, **one.values}, claims=one.claims or known.claims)
        self.changed[one.id] = one

    def take(self, found: Transition, *, more: Mapping[UUID, Mapping[str, object]] | None = None) -> None:
        """Add the changes and links of a transition; `more` are further columns to change, by the version's id."""
        for change in found.changes:
            extra = (more or {}).get(change.before.id)
            self.change(row_change(change, at=self.around.now, more=extra))
            self.touch(change.before)
            self.versions[change.before.id] = change.after
        self.touch(*(one for one in found.rivals if found.change_of(one.id) is None))
        for link in found.links:
            add_link(self, link.source, link.kind, link.target)

    def join(self, other: PendingRows) -> None:
        """Add the changes, events and links of a plan that changes other memories, and stores none."""
        for table, given in other.rows.items():
            self.rows[table] += given
        self.changed |= other.changed
        self.touched |= other.touched

    def changes(self) -> Changes:
        """Return all of it as the changes that `db.apply` writes."""
        here = {"tenant_id": self.around.tenant, "scope_id": self.around.scope}
        rows = dict(self.rows)
        rows["entities"] = list(self.entities.values())
        rows["lexical_terms"] = [{**here, "term": term, "documents": count} for term, count in self.counts.by_term()]
        return Changes(
            at=self.around.now,
            touched=self.touched,
            rows={name: tuple(given) for name, given in rows.items() if given},
            changed=tuple(self.changed.values()),
            restated=tuple(self.restated),
            reindexed=tuple(self.reindexed),
            rebuilt=tuple(self.rebuilt),
            evidence=tuple(self.evidence),
            unified=tuple(self.unified),
            counts=self.counts,
            lexical_average=self.around.lexical_average,
            ledger=self.around.ledger,
        )


def revert(
    plan: PendingRows, before: Mapping[UUID, FormerState], versions: Mapping[UUID, Version], *, reason: str
) -> Transition:
    """Add the changes that give memories their former state, all columns of it, and return them.

    Nothing changes where another of the versions holds a slot that one of them held.
    """
    event = Reverted(to={key: one.version for key, one in before.items()}, reason=reason)
    found = transition(versions.values(), event, policy=latest_statement_wins, now=plan.around.now)
    if found.outcome is not SlotOutcome.NOTHING:
        plan.take(found, more={key: one.columns for key, one in before.items()})
    return found


def add_entities(plan: PendingRows, memory: UUID, resolved: Resolved, *, before: int = 0, current: bool = True) -> None:
    """Add the entities that a memory mentions, their new aliases, and the mentions.

    An entity is counted once a statement of the memory; a new one for the `before` earlier statements too.
    What a statement that is not `current` says of an entity that was known stays in its memory.
    A name that is too long for the index gets no alias: the id of its entity is derived from the name.
    """
    by_role = {mention.role: mention for mention in resolved.prepared.mentions}
    here = {"tenant_id": plan.around.tenant, "scope_id": plan.around.scope}
    now, times = plan.around.now, resolved.prepared.parts.mentions
    for role, ref in resolved.refs.items():
        mention = by_role[role]
        known = plan.entities.get(ref.id)
        count = times + (before if ref.created else 0) + (0 if known is None else known["mention_count"])
        row = {**_entity_row(here, ref, mention, count), "created_at": now}
        if not (current or ref.created):
            row["attributes"] = {}
        if known is not None:
            row["attributes"] = {**known["attributes"], **row["attributes"]}
            if row["entity_type"] == UNKNOWN_TYPE:
                row["entity_type"] = known["entity_type"]
        plan.entities[ref.id] = row
        own = mention.name if mention.declares else ref.name
        names = (own, *mention.aliases) if mention.declares or ref.created else ()
        for name in names:
            alias = normalise.normalise_name(name)
            if alias and normalise.fits_an_index(alias):
                named = {"alias": alias, "entity_id": ref.id, "display": name, "created_at": now}
                plan.rows["entity_aliases"].append({**here, **named})
        plan.rows["memory_entities"].append(
            {"tenant_id": plan.around.tenant, "entity_id": ref.id, "memory_id": memory, "role": role}
        )
    plan.unified += resolved.unified


def _entity_row(here: Mapping[str, object], ref: EntityRef, mention: Mention, count: int) -> dict[str, Any]:
    return {
        **here,
        "id": ref.id,
        "canonical_name": ref.name,
        "entity_type": ref.entity_type,
        "attributes": ({} if mention.tie is None else {"relationship": mention.tie}) | dict(mention.attributes),
        "mention_count": count,
    }


def add_edge(plan: PendingRows, memory: UUID, resolved: Resolved) -> None:
    """Add the relation that the payload states, if any."""
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


_BRACKETED = re.compile(r"\s*\[[^\]]*\]\s*$")

_LONGEST_CAPTION = 500


def add(plan: PendingRows, resolved: Resolved, version: Version) -> None:
    """Add all rows of a new memory; an accepted one keeps its `recorded_at`."""
    accepted = resolved.accepted
    recorded_at = plan.around.now if accepted is None else accepted.recorded_at
    columns = version_columns(version, at=plan.around.now)
    plan.versions[version.id] = version
    plan.rows["memories"].append(
        {**_memory_row(plan, resolved), **columns, "id": version.id, "recorded_at": recorded_at}
    )
    speaker = resolved.refs.get("speaker")
    standing = {
        **{name: columns[name] for name in _STANDING},
        "recorded_at": recorded_at,
        "speaker_id": None if speaker is None else speaker.id,
    }
    add_index(plan, version.id, resolved.prepared, standing)
    plan.rows["memory_usage"].append(
        {"tenant_id": plan.around.tenant, "memory_id": version.id, "last_accessed_at": None}
    )
    add_evidence(plan, version.id, resolved.prepared)
    add_entities(plan, version.id, resolved, current=version.status is not MemoryStatus.SUPERSEDED)
    if version.status in {MemoryStatus.ACTIVE, MemoryStatus.SUPERSEDED}:
        add_edge(plan, version.id, resolved)
    plan.counts.memories += 1


_STANDING = ("status", "valid_from", "valid_until", "ended_at", "retired_at", "confidence")
"""Columns of a version that its index rows repeat."""


def _memory_row(plan: PendingRows, resolved: Resolved) -> dict[str, object]:
    prepared, candidate = resolved.prepared, resolved.prepared.candidate
    payload = candidate.payload
    chosen = candidate.category or candidate.nature
    decay = candidate.type.decay(chosen)
    stored = payload.stored(prepared.event)
    return {
        "tenant_id": plan.around.tenant,
        "scope_id": plan.around.scope,
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
        "speech_act": candidate.speech_act,
        "importance": _importance(resolved),
        "half_life_days": decay.half_life_days,
        "floor": decay.floor,
        "topic": candidate.topic,
        "session_id": candidate.session_id,
        "sequence_number": candidate.sequence_number,
        "provenance": dict(candidate.provenance),
        "metadata": dict(candidate.metadata),
    }


def _importance(resolved: Resolved) -> float:
    candidate = resolved.prepared.candidate
    if candidate.importance is not None:
        return candidate.importance
    return candidate.type.importance(candidate.payload)


def add_index(plan: PendingRows, memory: UUID, prepared: Prepared, standing: Mapping[str, object]) -> None:
    """Add the index rows of a memory; `standing` are their columns that depend on the stored version."""
    candidate, event = prepared.candidate, prepared.event
    covers = None
    if event is not None and event.lower is not None and event.upper is not None:
        covers = f"[{event.lower.isoformat()},{event.upper.isoformat()})"
    words, asks = len(prepared.content.split()), ends_as_question(prepared.content)
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
                "words": words,
                "asks": asks,
                **as_columns(plan.around.model_id, as_halfvec(searched.embedding)),
                "ann": plan.around.ann,
                **_lexical(plan, searched),
            }
        )


def ends_as_question(content: str) -> bool:
    """Return whether a text ends with a question mark; such a turn rarely answers another question."""
    spoken = _BRACKETED.sub("", " ".join(content.split())[-_LONGEST_CAPTION:])
    return spoken.rstrip().endswith(("?", "\uff1f"))


def reindex(plan: PendingRows, before: Existing, after: Version, rewritten: Prepared) -> None:
    """Add new index rows for a memory whose sentence changed, and subtract its old terms from the statistics."""
    old = searched_terms(before.content, plan.around.language)
    plan.counts += -ScopeCounts.of(old, memories=0)
    columns = version_columns(after, at=plan.around.now)
    standing = {name: columns[name] for name in _STANDING}
    plan.reindexed.append(after.id)
    add_index(plan, after.id, rewritten, {**standing, "recorded_at": before.recorded_at, "speaker_id": None})


def _lexical(plan: PendingRows, searched: IndexText) -> dict[str, object]:
    """Return the lexical columns of an index row, and add its terms to the scope's statistics."""
    if searched.terms is None:
        return {"lexical": None, "tsv": None}
    if searched.kind == "context":
        plan.counts.contexts += 1
    else:
        plan.counts.add_text(searched.terms)
    weights = document_weights(searched.terms, average_length=plan.around.lexical_average)
    return {"lexical": to_sparsevec(weights), "tsv": as_tsvector(searched.terms)}


def add_evidence(plan: PendingRows, memory: UUID, prepared: Prepared) -> None:
    """Add the candidate's evidence to a memory; a turn that is quoted more than once has said it once."""
    cited: set[UUID | None] = {None}
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
                "statement": None if one.turn_id in cited else prepared.statement,
                "stated_at": one.stated_at,
                "recorded_at": plan.around.now,
            }
        )
        cited.add(one.turn_id)


def add_link(plan: PendingRows, source: UUID, kind: LinkKind, target: UUID) -> None:
    """Add a link between two memories."""
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
    plan: PendingRows,
    memory: UUID,
    resolved: Resolved,
    reason: str,
    *,
    status: MemoryStatus,
    more: Mapping[str, object] | None = None,
) -> None:
    """Add the audit event of a new memory: its type, the reason, and the parts of its confidence.

    For an accepted memory the event is `accepted`, with its status and confidence before and after.
    """
    prepared, accepted = resolved.prepared, resolved.accepted
    detail = {
        "type": prepared.candidate.type.name,
        "reason": reason,
        "status": [None if accepted is None else accepted.status, status],
        "confidence": [None if accepted is None else accepted.confidence, prepared.confidence],
        "parts": confidence_detail(prepared.parts),
        **(more or {}),
    }
    audit(plan, AuditAction.MEMORY_ADDED if accepted is None else AuditAction.MEMORY_ACCEPTED, memory, detail)


def confidence_detail(parts: ConfidenceParts) -> dict[str, object]:
    """Return the parts of confidence by their names in the audit log."""
    return {"source": parts.source, "extractor": parts.extractor, "prior": parts.prior, "mentions": parts.mentions}


def audit(plan: PendingRows, action: AuditAction, memory: UUID | None, detail: Mapping[str, object]) -> None:
    """Add an audit event; see `AuditWriter.event`."""
    plan.rows["audit_events"].append(plan.around.ledger.event(action, detail, memory=memory))

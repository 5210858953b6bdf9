"""From the service's values to answers: plain dictionaries, written as JSON without another look."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from pydantic_core import to_json
from starlette.responses import Response

from app import ids
from app.db.audit_log import Told
from app.db.jobs import Job
from app.memory import confidence, freshness, story
from app.memory.candidate import Outcome
from app.memory.freshness import Decay
from app.model import Evidence, Memory
from app.read.request import Hit, QueryResult
from app.services.memories import History

JSON = "application/json"


def answer(content: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a value as a JSON response."""
    return Response(to_json(content), status_code=status, media_type=JSON, headers=dict(headers or {}))


def memory(one: Memory, now: datetime) -> dict[str, object]:
    """Return a memory with its type's fields beside the common ones; freshness is as of `now`."""
    return {
        "id": ids.public(ids.MEMORY, one.id),
        "type": one.type,
        "category": one.category,
        "status": one.status,
        "content": one.content,
        "subject": one.subject,
        "slot": one.slot,
        "contested": one.contested,
        "confidence": round(one.confidence, 6),
        "confidence_parts": _parts(one),
        "freshness": round(_freshness(one, now), 6),
        "importance": one.importance,
        "topic": one.topic,
        "scope": one.scope.kind,
        "user_id": one.scope.user_id,
        "agent_id": one.scope.agent_id,
        "session_id": one.session_id,
        "sequence_number": one.sequence_number,
        "speech_act": one.speech_act,
        "stated_at": one.stated_at,
        "valid_from": one.valid_from,
        "valid_until": one.valid_until,
        "recorded_at": one.recorded_at,
        "retired_at": one.retired_at,
        "supersedes": _memory_id(one.supersedes),
        "superseded_by": _memory_id(one.superseded_by),
        "links": [_link(one.id, link) for link in one.links],
        "evidence": [_evidence(item) for item in one.evidence],
        "provenance": one.provenance,
        "access_count": one.access_count,
        "last_accessed_at": one.last_accessed_at,
        "distinct_sessions": one.usage.sessions,
        "stability": round(one.usage.stability, 6),
        "useful_count": one.usage.useful,
        "not_useful_count": one.usage.not_useful,
        "wrong_count": one.usage.wrong,
        "needs_review": one.needs_review,
        "review_reason": one.review,
        "metadata": one.metadata,
        # Last: where a type has a field of its own by a common name, that is what was written.
        **(one.payload if one.type_version == 0 else {"type_version": one.type_version, "payload": one.payload}),
    }


def outcome(one: Outcome, now: datetime) -> dict[str, object]:
    """Return what was decided about a write."""
    return {
        "memory": None if one.memory is None else memory(one.memory, now),
        "decision": one.decision,
        "reason": one.reason,
        "affected": [{"memory_id": ids.public(ids.MEMORY, other.id), "change": other.change} for other in one.affected],
    }


def history(one: History, now: datetime) -> dict[str, object]:
    """Return the versions of a belief and what happened to them."""
    return {
        "versions": [memory(version, now) for version in one.versions],
        "events": [audit_event(event) for event in one.events],
    }


def audit_event(one: Told) -> dict[str, object]:
    """Return an event of the audit log, with its sentence."""
    emptied = one.redacted_by is not None
    return {
        "id": ids.public(ids.EVENT, one.id),
        "at": one.at,
        "actor": one.actor,
        "action": one.action,
        "memory_id": _memory_id(one.memory),
        "sentence": story.tell(one.action, one.at, one.actor, one.detail, redacted=emptied),
        "detail": one.detail,
        "redacted": emptied,
    }


def query_result(result: QueryResult, now: datetime) -> dict[str, object]:
    """Return the answer to a query."""
    return {
        "memories": [_hit(hit, now) for hit in result.hits],
        "context": {
            "text": result.context.text,
            "tokens": result.context.tokens,
            "groups": [{"name": one.name, "lines": one.lines} for one in result.context.groups],
        },
        "understood": result.understood,
        "plan": result.plan,
        "took_ms": round(result.took_ms, 3),
        "degraded": result.degraded,
    }


def recall_result(result: QueryResult, now: datetime) -> dict[str, object]:
    """Return the answer to a query in the Aegis shape (seed 004)."""
    return {
        "memories": [
            {**memory(hit.memory, now), "memory_type": hit.memory.type, "score": hit.score} for hit in result.hits
        ],
        "query_time_ms": round(result.took_ms, 3),
    }


def job(one: Job) -> dict[str, object]:
    """Return a background job."""
    return {
        "id": ids.public(ids.JOB, one.id),
        "kind": one.kind,
        "status": one.status,
        "progress": {"done": one.progress_done, "total": one.progress_total},
        "attempts": one.attempts,
        "cancel_requested": one.cancel_requested,
        "error": one.error,
        "result": one.result,
        "created_at": one.created_at,
        "started_at": one.started_at,
        "finished_at": one.finished_at,
    }


def _hit(hit: Hit, now: datetime) -> dict[str, object]:
    return {
        "memory": memory(hit.memory, now),
        "score": hit.score,
        "retrieval": hit.retrieval,
        "confidence": hit.confidence,
        "freshness": hit.freshness,
        "arms": [
            {
                "arm": arm.arm,
                "rank": arm.rank,
                "score": arm.score,
                "scaled": arm.scaled,
                "contribution": arm.contribution,
            }
            for arm in hit.arms
        ],
        "notes": hit.notes,
    }


def _parts(one: Memory) -> dict[str, object]:
    return {
        "source_strength": one.parts.source,
        "repetition": confidence.repetition(one.parts.mentions),
        "extractor_confidence": one.parts.extractor,
        "type_prior": one.parts.prior,
        "mentions": one.parts.mentions,
    }


def _freshness(one: Memory, now: datetime) -> float:
    return freshness.since_last_use(
        stated_at=one.stated_at,
        last_accessed_at=one.last_accessed_at,
        access_count=one.access_count,
        decay=Decay(half_life_days=one.half_life_days, floor=one.floor),
        now=now,
    )


def _memory_id(value: UUID | None) -> str | None:
    return None if value is None else ids.public(ids.MEMORY, value)


def _link(here: UUID, link: Mapping[str, object]) -> dict[str, object]:
    outward = UUID(str(link["from"])) == here
    other = UUID(str(link["to"] if outward else link["from"]))
    return {
        "kind": link["kind"],
        "direction": "out" if outward else "in",
        "memory_id": ids.public(ids.MEMORY, other),
    }


def _evidence(one: Evidence) -> dict[str, object]:
    return {
        "stated_at": one.stated_at,
        "turn_id": None if one.turn_id is None else ids.public(ids.TURN, one.turn_id),
        "quote": one.quote,
        "role": one.role,
        "session_id": one.session_id,
    }

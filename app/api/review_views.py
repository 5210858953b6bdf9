"""From the review queue's values to answers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic_core import to_json

from app import ids
from app.api import views
from app.db.review_evidence import Passage, Spoken
from app.memory.candidate import Affected
from app.memory.review import Action, Item, suggestion
from app.model import Evidence
from app.services.review import Detail, Ended, Waiting
from app.write.reviewing import Done
from app.write.ruling import Ruled


def item(one: Item, now: datetime) -> dict[str, Any]:
    """Return an item with its sides, its version and what the rules suggest."""
    memory, suggested = one.memory, suggestion(one)
    since = memory.review_since or now
    return {
        "id": ids.public(ids.REVIEW, memory.id),
        "version": one.version,
        "reason": memory.review,
        "note": memory.review_note,
        "since": since,
        "age_seconds": max(0.0, round((now - since).total_seconds(), 3)),
        "memory": views.memory(memory, now),
        "sides": [
            {"memory": views.memory(side.memory, now), "relation": side.relation, "same_value": side.same_value}
            for side in one.sides
        ],
        "suggestion": {
            "action": suggested.action,
            "reason": suggested.reason,
            "with": None if suggested.other is None else ids.public(ids.MEMORY, suggested.other),
        },
    }


def line(shown: Mapping[str, Any]) -> str:
    """Return an item, as `item` makes it, in a line: which, what it says, why it waits and how long, what to do."""
    note = f" ({shown['note']})" if shown["note"] else ""
    hours = shown["age_seconds"] / 3600
    age = f"{hours / 24:.0f} days" if hours >= 48 else f"{hours:.1f} hours"  # noqa: PLR2004 - two days
    suggested = shown["suggestion"]
    return (
        f"- [{shown['id']}] {shown['memory']['content']} | {shown['reason']}{note}, for {age} | "
        f"suggested: {suggested['action']}, {suggested['reason']}"
    )


def detail(one: Detail, now: datetime) -> dict[str, object]:
    """Return everything about an item, or how it left the queue."""
    evidence = () if one.item is None or one.memory is None else one.memory.evidence
    return {
        "id": ids.public(ids.REVIEW, one.id),
        "open": one.item is not None,
        "item": None if one.item is None else item(one.item, now),
        "memory": None if one.memory is None else views.memory(one.memory, now),
        "evidence": [_passage(told, one.passages) for told in evidence],
        "near": [{"memory": views.memory(other, now), "similarity": round(cosine, 4)} for other, cosine in one.near],
        "if_accepted": None if one.foreseen is None else _foreseen(one.foreseen),
        "decided": None if one.ended is None else ended(one.ended),
    }


def done(memory: UUID, action: Action, one: Done, now: datetime) -> dict[str, object]:
    """Return what a decision came to."""
    return {
        "id": ids.public(ids.REVIEW, memory),
        "action": action,
        "outcome": one.outcome,
        "memory": None if one.memory is None else views.memory(one.memory, now),
        "affected": _affected(one.affected),
    }


def ended(one: Ended) -> dict[str, object]:
    """Return how an item left the queue."""
    return {"by": one.actor, "at": one.at, "event": one.event, "detail": one.detail}


def summary(waiting: Sequence[Waiting]) -> dict[str, object]:
    """Return how many wait, by reason and age."""
    return {
        "waiting": sum(one.waiting for one in waiting),
        "reasons": [
            {"reason": one.reason, "waiting": one.waiting, "ages": one.ages, "oldest": one.oldest} for one in waiting
        ],
    }


def plain(value: Mapping[str, object]) -> dict[str, object]:
    """Return a value as JSON has it, for a problem's further members."""
    found: dict[str, object] = json.loads(to_json(value))
    return found


def _foreseen(one: Ruled) -> dict[str, object]:
    return {
        "outcome": one.outcome,
        "memory_id": None if one.memory is None else ids.public(ids.MEMORY, one.memory),
        "affected": _affected(one.affected),
    }


def _affected(affected: Sequence[Affected]) -> list[dict[str, object]]:
    return [{"memory_id": ids.public(ids.MEMORY, one.id), "change": one.change} for one in affected]


def _passage(told: Evidence, passages: Mapping[UUID, Passage]) -> dict[str, object]:
    found = None if told.turn_id is None else passages.get(told.turn_id)
    return {
        "quote": told.quote,
        "role": told.role,
        "stated_at": told.stated_at,
        "before": [] if found is None else [_spoken(one) for one in found.before],
        "turn": None if found is None else _spoken(found.turn),
        "after": [] if found is None else [_spoken(one) for one in found.after],
    }


def _spoken(one: Spoken) -> dict[str, object]:
    return {
        "turn_id": ids.public(ids.TURN, one.id),
        "role": one.role,
        "speaker": one.speaker,
        "content": one.content,
        "occurred_at": one.occurred_at,
    }

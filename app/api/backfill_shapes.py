"""What callers send and get of backfills."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from app import ids
from app.api.cursors import LONGEST
from app.api.models import Out
from app.api.requests import MOST_RESULTS, In
from app.api.shapes import shown
from app.db.backfill_items import Listed
from app.db.backfills import Backfill
from app.memory.backfill import Classifier, Effect, ItemState, Status
from app.memory.strings import Name
from app.model import ScopeKind
from app.services.backfill_types import DEFINITIONS

_UNSHOWN = frozenset({"identity", "filter_key", "slot_value"})
_INNER = frozenset({"scanned", DEFINITIONS})
_POINTERS = ("supersedes", "superseded_by")


class BackfillBody(In, **shown({"type": "medication"})):
    """What to look for, and where."""

    type: Name = Field(description="The type that adopts memories.", examples=["medication"])
    sources: list[Name] | None = Field(
        default=None,
        alias="from",
        min_length=1,
        max_length=50,
        description="The types to look through; by default those that the type's rule reads.",
        examples=[["fact"]],
    )
    classifier: Classifier = Field(
        default=Classifier.RULES, description="`rules`: the type's own rule. `model`: the configured language model."
    )
    user_id: Name | None = Field(default=None, description="Only this user's scope, and agents' with the user.")
    agent_id: Name | None = Field(default=None, description="Only this agent's scopes.")
    scope: ScopeKind | None = Field(default=None, description="Only scopes of this kind.")


class ListQuery(In):
    """Which page of backfills."""

    limit: int = Field(default=50, ge=1, le=MOST_RESULTS)
    cursor: str | None = Field(default=None, min_length=1, max_length=LONGEST)


class MemoriesQuery(ListQuery):
    """Which memories of a backfill."""

    state: ItemState | None = Field(
        default=None,
        description="`planned`, `left` (flagged, but it stays as it is), `committed`, `skipped` (something moved since "
        "the preview), `undone`, `kept` (something moved since the commit).",
    )
    effect: Effect | None = Field(
        default=None, description="`reclassified` changes its type; the others are touched by one that does."
    )


class ChangeOut(Out):
    """A memory of a backfill: `before` and `after` hold what changes of it, and nothing else."""

    memory_id: str
    state: ItemState
    effect: Effect
    type: str = Field(description="What it is before.")
    content: str = Field(description="What the memory says, which stays as it is.")
    reason: str | None = Field(description="Why it changes.")
    why: str | None = Field(description="Why it stays, was skipped or was kept as it is.")
    before: dict[str, Any]
    after: dict[str, Any]
    at_commit: list[str] = Field(description="Fields of `after` that hold the instant of the commit.")
    links: list[dict[str, str]] = Field(description="Links that are made: from, kind, to.")


class BackfillOut(Out):
    """A backfill."""

    id: str
    type: str
    sources: list[str] = Field(alias="from")
    classifier: Classifier
    status: Status
    actor: str
    counts: dict[str, Any] = Field(
        description="`looked_at`; `flagged`, by reason and source; `left`, by why; `changed` in all, of them "
        "`others_changed`; `collisions` over slots; `superseded`, `contradicting`, `conflicting`, `reviewed`; then how "
        "many are `committed`, `skipped`, `undone`, `kept`."
    )
    job_id: str | None = Field(description="The latest job, see `GET /jobs/{job_id}`; null where none was needed.")
    created_at: datetime
    previewed_at: datetime | None
    committed_at: datetime | None
    undone_at: datetime | None


class BackfillDetail(BackfillOut):
    """A backfill with a sample of what changes, and whose scopes it is narrowed to."""

    sample: list[ChangeOut]
    within: list[dict[str, str | None]] | None = Field(description="Null: all of the tenant.")


class BackfillPage(Out):
    """Some backfills, newest first."""

    backfills: list[BackfillOut]
    next_cursor: str | None


class ChangePage(Out):
    """Some memories of a backfill, in the order of their ids."""

    memories: list[ChangeOut]
    next_cursor: str | None


def shown_backfill(one: Backfill) -> dict[str, object]:
    """Return a backfill as callers see it."""
    return {
        "id": ids.public(ids.BACKFILL, one.id),
        "type": one.type,
        "from": list(one.sources),
        "classifier": one.classifier,
        "status": one.status,
        "actor": one.actor,
        "counts": {name: count for name, count in one.counts.items() if name not in _INNER},
        "job_id": None if one.job_id is None else ids.public(ids.JOB, one.job_id),
        "created_at": one.created_at,
        "previewed_at": one.previewed_at,
        "committed_at": one.committed_at,
        "undone_at": one.undone_at,
    }


def shown_change(listed: Listed) -> dict[str, object]:
    """Return what becomes of a memory, as callers see it."""
    one = listed.item
    return {
        "memory_id": ids.public(ids.MEMORY, one.memory_id),
        "state": one.state,
        "effect": one.effect,
        "type": one.source,
        "content": listed.content,
        "reason": one.reason,
        "why": one.why,
        "before": _shown(one.before),
        "after": _shown(one.after),
        "at_commit": list(one.stamped),
        "links": [{"from": _memory(source), "kind": kind, "to": _memory(target)} for source, kind, target in one.links],
    }


def _shown(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return columns as callers know them."""
    return {
        name: _memory(value) if name in _POINTERS and value is not None else value
        for name, value in values.items()
        if name not in _UNSHOWN
    }


def _memory(value: str) -> str:
    return ids.public(ids.MEMORY, UUID(value))

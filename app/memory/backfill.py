"""The words of backfills: where one is, where a memory of it is, and what becomes of a memory."""

from __future__ import annotations

from enum import StrEnum


class BackfillStatus(StrEnum):
    """Where a backfill is; those that end in -ing are a job's."""

    PREVIEWING = "previewing"
    PREVIEWED = "previewed"
    CANCELLED = "cancelled"
    COMMITTING = "committing"
    COMMITTED = "committed"
    UNDOING = "undoing"
    UNDONE = "undone"


class Classifier(StrEnum):
    """Who says which memories are of the type."""

    RULES = "rules"
    MODEL = "model"


class ItemState(StrEnum):
    """Where a memory of a backfill is.

    `found`: flagged, and not yet settled with those beside it; `planned`: it would change; `left`: flagged, but it
    stays as it is; `skipped`: it was not changed, because something had moved since the preview; `kept`: it was not
    put back, because something had moved since the commit.
    """

    FOUND = "found"
    PLANNED = "planned"
    LEFT = "left"
    COMMITTED = "committed"
    SKIPPED = "skipped"
    UNDONE = "undone"
    KEPT = "kept"


class BackfillEffect(StrEnum):
    """What becomes of a memory: it changes its type, or something beside it does that touches it."""

    RECLASSIFIED = "reclassified"
    SUPERSEDED = "superseded"
    MERGED = "merged"
    RELINKED = "relinked"
    CONFLICTED = "conflicted"

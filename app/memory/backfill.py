"""Vocabularies of backfills: statuses of a backfill, states of its items, and their effects."""

from __future__ import annotations

from enum import StrEnum


class BackfillStatus(StrEnum):
    """The status of a backfill; those that end in -ing mean that a job works on it."""

    PREVIEWING = "previewing"
    PREVIEWED = "previewed"
    CANCELLED = "cancelled"
    COMMITTING = "committing"
    COMMITTED = "committed"
    UNDOING = "undoing"
    UNDONE = "undone"


class Classifier(StrEnum):
    """The means by which memories are classified."""

    RULES = "rules"
    MODEL = "model"


class ItemState(StrEnum):
    """The state of an item of a backfill.

    `found`: flagged, and not decided yet together with its slot; `planned`: it would change; `left`: flagged, but it
    stays as it is; `skipped`: the commit did not change it, because something changed since the preview; `kept`: the
    undo did not restore it, because something changed since the commit.
    """

    FOUND = "found"
    PLANNED = "planned"
    LEFT = "left"
    COMMITTED = "committed"
    SKIPPED = "skipped"
    UNDONE = "undone"
    KEPT = "kept"


class BackfillEffect(StrEnum):
    """The effect of a backfill on a memory: its type changes, or it is affected by another one's change.

    `conflicted` is of earlier releases, which had a person look at statements that an adopted rule stood against.
    """

    RECLASSIFIED = "reclassified"
    SUPERSEDED = "superseded"
    MERGED = "merged"
    RELINKED = "relinked"
    CONFLICTED = "conflicted"

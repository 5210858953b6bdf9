"""The steps of a backfill that a caller asks for."""

from __future__ import annotations

from dataclasses import dataclass

from app.db.backfills import Backfill
from app.memory.actions import Action
from app.memory.backfill import Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A step that a caller asks for: where it may begin, where the backfill is while it lasts and at its end."""

    after: frozenset[Status]
    status: Status
    ends: Status
    action: Action
    verb: str
    what: str

    def what_then(self, one: Backfill) -> str:
        """Return what can be done instead, where no job takes the backfill further."""
        unfinished = one.status is Status.PREVIEWING
        return "its preview was not finished: cancel it, and preview again" if unfinished else self.what


COMMITTING = Step(
    after=frozenset({Status.PREVIEWED}),
    status=Status.COMMITTING,
    ends=Status.COMMITTED,
    action=Action.BACKFILL_COMMITTED,
    verb="be committed",
    what="a finished preview can",
)
UNDOING = Step(
    after=frozenset({Status.COMMITTED, Status.COMMITTING}),
    status=Status.UNDOING,
    ends=Status.UNDONE,
    action=Action.BACKFILL_UNDONE,
    verb="be undone",
    what="a commit can, once its job has ended",
)

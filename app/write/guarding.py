"""What a memory comes to that a guard stands against: it is stored, linked to the guard, and a person looks at it."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from app import ids
from app.memory.actions import Action
from app.memory.candidate import Affected
from app.model import LinkKind, ReviewReason
from app.write.plan import Plan
from app.write.rows import add_link, audit
from app.write.values import Existing, Resolved

Review = tuple[ReviewReason, str]


def review_of(resolved: Resolved, otherwise: Review | None = None) -> Review | None:
    """Return why a person should look at what is stored, and the note on it; a guard comes before other reasons."""
    if not resolved.breaks or resolved.accepted is not None:
        return otherwise
    return guarded_by(resolved.breaks)


def guarded_by(guards: Sequence[Existing]) -> Review:
    """Return why a person should look at what guards stand against, and the note on it."""
    named = ", ".join(f"{one.type} {ids.public(ids.MEMORY, one.id)}" for one in guards)
    return (
        ReviewReason.CONSTRAINT,
        f"it is about what is ruled by {named}, which stands until it is said to have ended",
    )


def link_guards(plan: Plan, new: UUID, resolved: Resolved) -> tuple[Affected, ...]:
    """Gather the links from what is stored to the guards against it; the guards themselves stay as they are."""
    plan.touch(*resolved.breaks)
    for guard in resolved.breaks:
        add_link(plan, new, LinkKind.CONFLICTS_WITH, guard.id)
        detail = {"by": ids.public(ids.MEMORY, new), "reason": f"a statement about what this {guard.type} rules"}
        audit(plan, Action.MEMORY_CONFLICTED, guard.id, detail)
    return tuple(Affected(id=guard.id, change=LinkKind.CONFLICTS_WITH) for guard in resolved.breaks)

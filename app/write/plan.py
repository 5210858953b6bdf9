"""The rows and updates of one write, as they gather before its transaction opens."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from app.db.audit import Ledger
from app.db.changes import Changes, Doubted, Ended, Merged, Relinked, Retired
from app.write.values import Existing


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What every row of a write shares.

    `now` is the write's stamp: never before the scope's last, so that what is believed at an instant is what some
    order of writes left, whatever the writers' clocks.
    """

    tenant: UUID
    scope: UUID
    actor: str
    now: datetime
    model_id: int
    lexical_average: float
    ann: bool
    language: str

    @property
    def ledger(self) -> Ledger:
        """Return what the audit events of the write share."""
        return Ledger(tenant=self.tenant, actor=self.actor, at=self.now, scope=self.scope)


@dataclass(slots=True)
class Plan:
    """The rows and updates of one write, as they gather."""

    around: Surroundings
    rows: dict[str, list[Mapping[str, object]]] = field(default_factory=lambda: defaultdict(list))
    retired: list[Retired] = field(default_factory=list)
    relinked: list[Relinked] = field(default_factory=list)
    merged: list[Merged] = field(default_factory=list)
    ended: list[Ended] = field(default_factory=list)
    doubted: list[Doubted] = field(default_factory=list)
    unified: list[tuple[UUID, UUID]] = field(default_factory=list)
    entities: dict[UUID, dict[str, object]] = field(default_factory=dict)
    touched: dict[UUID, str] = field(default_factory=dict)
    documents: Counter[int] = field(default_factory=Counter)
    added: int = 0
    contexts: int = 0
    lexical_documents: int = 0
    lexical_length: int = 0

    def touch(self, *existing: Existing) -> None:
        """Make the write depend on memories: it is decided again if one of them has changed its status meanwhile."""
        self.touched.update({one.id: one.status for one in existing})

    def changes(self) -> Changes:
        """Return everything gathered, ready to be applied."""
        here = {"tenant_id": self.around.tenant, "scope_id": self.around.scope}
        rows = dict(self.rows)
        rows["entities"] = list(self.entities.values())
        rows["lexical_terms"] = [
            {**here, "term": term, "documents": count} for term, count in sorted(self.documents.items())
        ]
        return Changes(
            at=self.around.now,
            touched=self.touched,
            rows={name: tuple(given) for name, given in rows.items() if given},
            retired=tuple(self.retired),
            relinked=tuple(self.relinked),
            merged=tuple(self.merged),
            ended=tuple(self.ended),
            doubted=tuple(self.doubted),
            unified=tuple(self.unified),
            added=self.added,
            contexts=self.contexts,
            lexical_documents=self.lexical_documents,
            lexical_length=self.lexical_length,
            lexical_average=self.around.lexical_average,
            ledger=self.around.ledger,
        )

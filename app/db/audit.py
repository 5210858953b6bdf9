"""Writing the audit log: one place makes its events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from uuid import UUID

from app import ids
from app.db.rows import Row, insert_all
from app.db.session import WriteSession
from app.memory.actions import Action

_NOTHING: Mapping[str, object] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """What the events of one change share: whose log, who did it, when, and in which scope."""

    tenant: UUID
    actor: str
    at: datetime
    scope: UUID | None = None

    def event(self, action: Action, detail: Mapping[str, object] = _NOTHING, *, memory: UUID | None = None) -> Row:
        """Return an event as a row.

        `detail` holds ids, numbers and our own words, never content. What the memory's status or confidence
        became is told as a pair, [before, after] (null before it was there), and nothing else is told as `status`
        or as a pair under `confidence`: from these the standing of every memory can be rebuilt.
        """
        return {
            "tenant_id": self.tenant,
            "id": ids.new(),
            "occurred_at": self.at,
            "actor": self.actor,
            "action": action,
            "memory_id": memory,
            "scope_id": self.scope,
            "detail": detail,
        }


async def append(session: WriteSession, events: Sequence[Row]) -> None:
    """Append events, in this order, in the transaction of what they record."""
    await insert_all(session, {"audit_events": events})

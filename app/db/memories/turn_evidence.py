"""The turns behind memories that are word for word what was said, and the beliefs that rest on the same turns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from app.db.session import ReadSession, statement
from app.model import SpeechAct


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnBelief:
    """A belief that a turn stated, `quote` being its words; `over_at` is when it ceased to hold, None if it holds.

    `replaced_by` is what holds its place now; a belief that was rejected or ended has none.
    """

    id: UUID
    speech_act: SpeechAct
    quote: str | None = None
    over_at: datetime | None = None
    replaced_by: UUID | None = None


class TurnEvidence(NamedTuple):
    """The role of a turn's speaker, and the beliefs that rest on the turn."""

    role: str | None = None
    beliefs: tuple[TurnBelief, ...] = ()


_BEHIND = statement(
    """
    SELECT said.memory_id, said.role, m.id, m.speech_act, b.quote, coalesce(now.id, m.superseded_by),
        CASE WHEN m.ended_at <= CAST(:instant AS timestamptz) AND m.status <> 'active' AND b.stated_at < m.ended_at
                  AND (now.id IS NULL OR now.slot_value IS DISTINCT FROM m.slot_value) THEN m.ended_at
             WHEN m.status = 'forgotten' AND m.ended_at IS NULL THEN m.retired_at END
    FROM evidence said
    LEFT JOIN LATERAL (
        SELECT e.memory_id, e.quote, e.stated_at FROM evidence e
        WHERE e.tenant_id = :tenant AND e.turn_id = said.turn_id AND e.memory_id <> said.memory_id
    ) b ON true
    LEFT JOIN memories m ON m.tenant_id = :tenant AND m.id = b.memory_id AND m.type <> ALL(CAST(:verbatim AS text[]))
    LEFT JOIN memories now ON now.tenant_id = :tenant AND now.scope_id = m.scope_id AND now.type = m.type
        AND now.slot = m.slot AND now.status = 'active' AND NOT now.contested AND m.status <> 'active'
    WHERE said.tenant_id = :tenant AND said.memory_id = ANY(CAST(:ids AS uuid[])) AND said.turn_id IS NOT NULL
    """
)


async def read_turn_evidence(
    session: ReadSession, *, tenant: UUID, ids: Collection[UUID], verbatim: Collection[str], instant: datetime
) -> dict[UUID, TurnEvidence]:
    """Return the turn evidence of memories of `verbatim` types, by id; `instant` is when beliefs should hold.

    A belief is over where what was said before its end is asked about after it, and where a person rejected it. What
    says that something ended is evidence of it, too, and is not over.
    """
    if not ids:
        return {}
    here = {"tenant": tenant, "ids": list(ids), "verbatim": list(verbatim), "instant": instant}
    rows = await session.fetch(_BEHIND, here)
    roles: dict[UUID, str | None] = {}
    beliefs: Mapping[UUID, list[TurnBelief]] = defaultdict(list)
    for memory, role, belief, act, quote, replaced_by, over_at in rows:
        roles[memory] = role
        if belief is not None:
            beliefs[memory].append(
                TurnBelief(
                    id=belief,
                    speech_act=SpeechAct(act),
                    quote=quote,
                    over_at=over_at,
                    replaced_by=replaced_by,
                )
            )
    return {memory: TurnEvidence(role=role, beliefs=tuple(beliefs[memory])) for memory, role in roles.items()}

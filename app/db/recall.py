"""What ranking needs of the memories that were found: enough to order hundreds, without reading them whole."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ARRAY, Uuid, bindparam, text
from sqlalchemy.dialects.postgresql import JSONB

from app.db.session import ReadSession
from app.memory.freshness import Decay


@dataclass(frozen=True, slots=True, kw_only=True)
class Sketch:
    """A memory as ranking sees it.

    `speaker` is who said it, as written; `spoken_by` the entity, if it is one of those that were asked for.
    `payload` is empty unless it was asked for.
    """

    id: UUID
    scope_id: UUID
    type: str
    status: str
    content: str
    subject: str | None
    slot: str | None
    contested: bool
    confidence: float
    session_id: str | None
    sequence_number: int | None
    stated_at: datetime
    last_accessed_at: datetime | None
    access_count: int
    decay: Decay
    speaker: str | None
    spoken_by: UUID | None
    payload: Mapping[str, Any]


_SKETCH = (
    text(
        """
        SELECT m.id, m.scope_id, m.type, m.status, m.content, m.subject, m.slot, m.contested, m.confidence,
            m.session_id, m.sequence_number, m.stated_at, u.last_accessed_at,
            coalesce(u.access_count, 0), m.half_life_days, m.floor, m.payload ->> 'speaker',
            CASE WHEN cardinality(:speakers) > 0 THEN
                (SELECT e.entity_id FROM memory_entities e
                 WHERE e.tenant_id = :tenant AND e.memory_id = m.id AND e.role = 'speaker'
                   AND e.entity_id = ANY(:speakers) LIMIT 1) END,
            CASE WHEN :whole THEN m.payload END AS payload
        FROM memories m
        LEFT JOIN memory_usage u ON u.tenant_id = m.tenant_id AND u.memory_id = m.id
        WHERE m.tenant_id = :tenant AND m.id = ANY(:ids)
        """
    )
    .bindparams(bindparam("ids", type_=ARRAY(Uuid)), bindparam("speakers", type_=ARRAY(Uuid)))
    .columns(payload=JSONB)
)


async def sketches(
    session: ReadSession, *, tenant: UUID, ids: Collection[UUID], speakers: Collection[UUID], whole: bool
) -> dict[UUID, Sketch]:
    """Return sketches of the memories that exist; `whole` asks for payloads, `speakers` who may have spoken."""
    if not ids:
        return {}
    rows: Any = await session.execute(
        _SKETCH, {"tenant": tenant, "ids": list(ids), "speakers": list(speakers), "whole": whole}
    )
    return {row[0]: _sketch(*row) for row in rows}


def _sketch(*row: Any) -> Sketch:  # noqa: ANN401 - a row's columns
    decay = Decay(half_life_days=row[14], floor=row[15])
    return Sketch(
        id=row[0],
        scope_id=row[1],
        type=row[2],
        status=row[3],
        content=row[4],
        subject=row[5],
        slot=row[6],
        contested=row[7],
        confidence=row[8],
        session_id=row[9],
        sequence_number=row[10],
        stated_at=row[11],
        last_accessed_at=row[12],
        access_count=row[13],
        decay=decay,
        speaker=row[16],
        spoken_by=row[17],
        payload=row[18] or {},
    )

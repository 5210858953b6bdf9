"""What extraction has cost each tenant, a row a day."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from uuid import UUID

from sqlalchemy import text

from app.db.session import ReadSession, WriteSession


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """A day's turns, those skipped before and failed in extraction, and what the model was asked and cost.

    `cost` is in the currency of the configured prices.
    """

    day: date
    turns: int = 0
    skipped: int = 0
    failed: int = 0
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0


_ADD = text(
    """
    INSERT INTO extraction_costs AS c (tenant_id, day, turns, skipped, failed, requests, input_tokens, output_tokens,
        cost)
    VALUES (:tenant, :day, :turns, :skipped, :failed, :requests, :input_tokens, :output_tokens, :cost)
    ON CONFLICT (tenant_id, day) DO UPDATE SET
        turns = c.turns + excluded.turns, skipped = c.skipped + excluded.skipped, failed = c.failed + excluded.failed,
        requests = c.requests + excluded.requests, input_tokens = c.input_tokens + excluded.input_tokens,
        output_tokens = c.output_tokens + excluded.output_tokens, cost = c.cost + excluded.cost
    """
)

_BETWEEN = text(
    """
    SELECT day, turns, skipped, failed, requests, input_tokens, output_tokens, cost FROM extraction_costs
    WHERE tenant_id = :tenant AND day BETWEEN :since AND :until ORDER BY day
    """
)


async def add(session: WriteSession, tenant: UUID, cost: Cost) -> None:
    """Count towards a day."""
    values = {name: getattr(cost, name) for name in cost.__dataclass_fields__}
    await session.execute(_ADD, {"tenant": tenant, **values})


async def between(session: ReadSession, tenant: UUID, since: date, until: date) -> Sequence[Cost]:
    """Return the days that have any, oldest first, both ends included."""
    found = await session.execute(_BETWEEN, {"tenant": tenant, "since": since, "until": until})
    return [Cost(**row) for row in found.mappings()]

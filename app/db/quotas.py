"""Rows of limits, of what was used of them on a day by a tenant and each of its keys, and of a day's costs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from uuid import UUID

from app.db.session import ReadSession, WriteSession, statement
from app.db.sql import as_record, values_of
from app.memory.extraction import TokenUsage
from app.model import Actor
from app.settings import Limits

WHOLE_TENANT = UUID(int=0)
"""The key id of the rows that count for the tenant as a whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Memories and turns sent, and tokens of the language model used, on one day."""

    memories: int = 0
    turns: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionCost:
    """A day's turns, those skipped before extraction and failed in it, and the model's calls, tokens and cost.

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


_LIMITS = statement(
    """
    SELECT key_id, requests_per_minute, memories_per_day, turns_per_day, tokens_per_day
    FROM limits WHERE tenant_id = :tenant AND key_id = ANY(:keys)
    """
)

_SET_LIMITS = statement(
    """
    INSERT INTO limits (tenant_id, key_id, requests_per_minute, memories_per_day, turns_per_day, tokens_per_day)
    VALUES (:tenant, :key, :requests_per_minute, :memories_per_day, :turns_per_day, :tokens_per_day)
    ON CONFLICT (tenant_id, key_id) DO UPDATE SET
        requests_per_minute = excluded.requests_per_minute, memories_per_day = excluded.memories_per_day,
        turns_per_day = excluded.turns_per_day, tokens_per_day = excluded.tokens_per_day
    """
)

_USED = statement(
    """
    SELECT key_id, memories, turns, tokens FROM daily_usage
    WHERE tenant_id = :tenant AND key_id = ANY(:keys) AND day = :day
    """
)

_ADD = statement(
    """
    INSERT INTO daily_usage AS u (tenant_id, key_id, day, memories, turns, tokens)
    SELECT :tenant, key, :day, :memories, :turns, :tokens FROM unnest(:keys::uuid[]) AS key ORDER BY key
    ON CONFLICT (tenant_id, key_id, day) DO UPDATE SET
        memories = u.memories + excluded.memories, turns = u.turns + excluded.turns, tokens = u.tokens + excluded.tokens
    RETURNING key_id, memories, turns, tokens
    """
)


_PRUNE = statement("DELETE FROM daily_usage WHERE tenant_id = :tenant AND day < :before")


async def stored_limits(session: ReadSession, tenant: UUID, keys: Collection[UUID]) -> Mapping[UUID, Limits]:
    """Return the limits that were set, by key; `WHOLE_TENANT` is the tenant's."""
    rows = await session.fetch(_LIMITS, {"tenant": tenant, "keys": list(keys)})
    return {row["key_id"]: Limits(**{name: row[name] for name in Limits.model_fields}) for row in rows}


async def set_limits(session: WriteSession, tenant: UUID, key: UUID, given: Limits) -> None:
    """Replace the limits of a key, or of `WHOLE_TENANT`."""
    await session.change(_SET_LIMITS, {"tenant": tenant, "key": key, **given.model_dump()})


async def copy_limits(session: WriteSession, tenant: UUID, key: UUID, successor: UUID) -> None:
    """Give a key's limits to its successor."""
    await set_limits(session, tenant, successor, await limits_of(session, tenant, key))


async def limits_of(session: ReadSession, tenant: UUID, key: UUID) -> Limits:
    """Return the limits of a key, or of `WHOLE_TENANT`, as they were set."""
    return (await stored_limits(session, tenant, [key])).get(key, Limits())


async def used(session: ReadSession, tenant: UUID, key: UUID, day: date) -> Usage:
    """Return what was used on a day."""
    rows = await session.fetch(_USED, {"tenant": tenant, "keys": [key], "day": day})
    return as_record(Usage, rows[0]) if rows else Usage()


async def add_usage(
    session: WriteSession, tenant: UUID, keys: Collection[UUID], day: date, added: Usage
) -> Mapping[UUID, Usage]:
    """Add to what was used on a day, by the tenant as a whole and by these keys; return the sums, by key."""
    values = {"tenant": tenant, "keys": [WHOLE_TENANT, *keys], "day": day, **values_of(added)}
    return {row["key_id"]: as_record(Usage, row) for row in await session.fetch(_ADD, values)}


async def prune(session: WriteSession, tenant: UUID, before: date) -> None:
    """Delete what was used on the days before one."""
    await session.fetch(_PRUNE, {"tenant": tenant, "before": before})


_ADD_COSTS = statement(
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

_COSTS = statement(
    """
    SELECT day, turns, skipped, failed, requests, input_tokens, output_tokens, cost FROM extraction_costs
    WHERE tenant_id = :tenant AND day BETWEEN :since AND :until ORDER BY day
    """
)


async def add_costs(session: WriteSession, tenant: UUID, cost: ExtractionCost) -> None:
    """Add to the counts of a day."""
    await session.change(_ADD_COSTS, {"tenant": tenant, **values_of(cost)})


async def costs_between(session: ReadSession, tenant: UUID, since: date, until: date) -> Sequence[ExtractionCost]:
    """Return the days that have costs, oldest first, both ends included."""
    rows = await session.fetch(_COSTS, {"tenant": tenant, "since": since, "until": until})
    return [ExtractionCost(**row) for row in rows]


async def add_model_use(session: WriteSession, actor: Actor, day: date, usage: TokenUsage, cost: float) -> None:
    """Add a use of the language model to the day's costs, and its tokens to what tenant and key used."""
    spent = ExtractionCost(
        day=day,
        requests=usage.requests,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cost=cost,
    )
    await add_costs(session, actor.tenant_id, spent)
    if tokens := usage.input_tokens + usage.output_tokens:
        keys = [] if actor.key_id is None else [actor.key_id]
        await add_usage(session, actor.tenant_id, keys, day, Usage(tokens=tokens))

"""The write of several scopes at once: one claim, one insert, one transaction for all of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from uuid import UUID

import asyncpg

from app.db.apply.counts import added, counters
from app.db.apply.memories import written
from app.db.apply.scope import UPKEEP, Changes, Claimed, ScopeMoved, upkeep_limits
from app.db.memories import hype
from app.db.session import SqlStatement, WriteSession, statement
from app.db.sql import GivenRows, Row, as_clauses, as_record, insert_all
from app.model import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class JointChanges:
    """The additions of a joint write to one scope, which was read at `version`."""

    scope: Scope
    version: int
    changes: Changes


_LOCK = statement(
    "SELECT id, version FROM scopes WHERE tenant_id = :tenant AND id = ANY(:scopes) ORDER BY id FOR NO KEY UPDATE"
)

_GIVEN = GivenRows(
    name="claims",
    columns={
        "id": "uuid",
        **dict.fromkeys(("memories_added", "contexts_added", "documents_added", "length_added"), "bigint"),
        "average": "float8",
    },
)

_CLAIM = f"""
    UPDATE scopes SET {written()}, {added("given.")},
        lexical_average = CASE WHEN lexical_average = 0 THEN given.average ELSE lexical_average END
    FROM {_GIVEN.sql}
    WHERE scopes.tenant_id = :tenant AND scopes.id = given.id
    RETURNING scopes.id, {UPKEEP}
"""  # noqa: S608 - composed of constants


async def apply_jointly(
    session: WriteSession, *, tenant: UUID, writes: Mapping[UUID, JointChanges]
) -> dict[UUID, Claimed]:
    """Write changes that only add, all stamped alike, by the ids of their scopes; return the upkeep that these need.

    A scope that is no longer at its version is left out. Scopes are locked in the order of their ids, so that two joint
    writes don't wait for one another. Raises ScopeMoved when somebody who locked no scope took a slot.
    """
    here = await _locked(session, tenant, writes)
    if not here:
        return {}
    at = next(iter(here.values())).changes.at
    await session.stamp(at)
    claims = [
        {"id": scope, **counters(one.changes.counts), "average": one.changes.lexical_average}
        for scope, one in here.items()
    ]
    rows: dict[str, list[Row]] = defaultdict(list)
    for name, given in chain.from_iterable(one.changes.rows.items() for one in here.values()):
        rows[name].extend(given)
    inserts, parameters = as_clauses(rows, if_any="claimed")
    values = {"tenant": tenant, "at": at, **_GIVEN.parameters(claims), **parameters, **upkeep_limits()}
    try:
        claimed = await session.fetch(_claiming(inserts), values)
    except asyncpg.UniqueViolationError as error:
        raise ScopeMoved from error
    asked: Mapping[UUID, Sequence[UUID]] = {scope: one.changes.asked for scope, one in here.items()}
    await hype.enqueue_each(session, tenant=tenant, asked=asked, now=at)
    return {row["id"]: as_record(Claimed, row) for row in claimed}


@cache
def _claiming(inserts: str) -> SqlStatement:
    clauses = ", ".join([f"claimed AS ({_CLAIM})", *filter(None, [inserts])])
    return statement(f"WITH {clauses} SELECT * FROM claimed")  # noqa: S608 - our own clauses


async def _locked(session: WriteSession, tenant: UUID, writes: Mapping[UUID, JointChanges]) -> dict[UUID, JointChanges]:
    """Open the scopes that are new, lock all until the transaction ends, and return those still at their version."""
    new = [
        {
            "tenant_id": tenant,
            "id": scope,
            "kind": one.scope.kind.value,
            "user_id": one.scope.user_id,
            "agent_id": one.scope.agent_id,
        }
        for scope, one in sorted(writes.items())
        if one.version == 0
    ]
    await insert_all(session, {"scopes": new})
    rows = await session.fetch(_LOCK, {"tenant": tenant, "scopes": sorted(writes)})
    return {row["id"]: writes[row["id"]] for row in rows if row["version"] == writes[row["id"]].version}

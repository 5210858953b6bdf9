"""A listing by a field of a payload is served by an index, as the service's role, under row-level security."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from app.db import tables
from app.db.memories.listing import MemoryFilters, Sort, apply_filters, source
from app.db.session import statement
from tests.backfill.clinic import Clinic

CLASS = (("drug_class", "biguanide", ("medication",)),)


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


async def explained(clinic: Clinic, filters: MemoryFilters) -> list[dict[str, Any]]:
    conditions, values = apply_filters(filters)
    order = f"m.{Sort.NEWEST.column} DESC"
    query = (
        f"EXPLAIN (FORMAT JSON) {source(filters)} WHERE m.tenant_id = :tenant AND {' AND '.join(conditions)}"
        f" ORDER BY {order} LIMIT 50"
    )
    async with clinic.store.database.read(clinic.store.tenant) as session:
        [[role]] = await session.fetch(statement("SELECT current_user"), {})
        assert role == "typed_memory_runtime"
        [[found]] = await session.fetch(statement(query), {"tenant": clinic.store.tenant, **values})
    plan = json.loads(found) if isinstance(found, str) else found
    return list(nodes(plan[0]["Plan"]))


async def crowd(clinic: Clinic, memory: object, count: int) -> None:
    """Store many more memories like one, but of another type and without its filter."""
    own = [column.name for column in tables.memories.columns if column.computed is None]
    changed = {"id": "gen_random_uuid()", "slot": "NULL", "type": "'fact'", "filter_key": "NULL"}
    chosen = ", ".join(changed.get(name, f"m.{name}") for name in own)
    await clinic.store.sql(
        f"INSERT INTO memories ({', '.join(own)}) SELECT {chosen} FROM memories m, generate_series(1, $2::int) "  # noqa: S608
        "WHERE m.id = $1",
        memory,
        count,
    )
    await clinic.store.sql("ANALYZE memories")


@pytest.mark.one_server
async def test_a_filter_has_an_index_under_row_level_security(clinic: Clinic) -> None:
    memory = await clinic.takes("metformin", drug_class="Biguanide")
    await crowd(clinic, memory, 3_000)
    found = await explained(clinic, MemoryFilters(scopes=None, fields=CLASS))
    [used] = [one for one in found if one.get("Index Name") == "ix_memories_filter"]
    assert "filter_key" in used["Index Cond"]
    listed = await clinic.store.memories.list(clinic.store.actor, MemoryFilters(scopes=None, fields=CLASS))
    assert [one.id for one in listed.items] == [memory]


async def test_rows_that_older_code_writes_are_found_too(clinic: Clinic) -> None:
    memory = await clinic.takes("metformin", drug_class="biguanide")
    own = [column.name for column in tables.memories.columns if column.computed is None and column.name != "filter_key"]
    chosen = ", ".join({"id": "gen_random_uuid()", "slot": "NULL"}.get(name, f"m.{name}") for name in own)
    [copy] = await clinic.store.sql(
        f"INSERT INTO memories ({', '.join(own)}) SELECT {chosen} FROM memories m WHERE m.id = $1 RETURNING id",  # noqa: S608
        memory,
    )
    listed = await clinic.store.memories.list(clinic.store.actor, MemoryFilters(scopes=None, fields=CLASS))
    assert {one.id for one in listed.items} == {memory, copy["id"]}

"""Laws of the parts: lines out of pieces, what waits for what, what is blanked; and no table is forgotten."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from app.db.tables import metadata
from app.db.tables.foreign_keys import IN_SCOPE, OF_ENTITY, OF_MEMORY
from app.features.portability.records import KINDS, Line
from app.features.portability.routes import numbered
from app.features.portability.sql.exports import LEFT_OUT, RECORDS, columns
from app.features.portability.storing import storable

LONGEST = 12
WORDS = ("tea", "green tea", "Ana", "likes", "likes tea", "in Rome")


def test_every_table_is_exported_or_left_out_for_a_reason() -> None:
    exported = {one.table.name for one in RECORDS} | {table.name for one in RECORDS for table, _ in one.inner}
    assert set(metadata.tables) <= exported | set(LEFT_OUT)
    assert not exported & set(LEFT_OUT)


def test_every_table_of_a_tenants_content_is_erased() -> None:
    """A table without a key to a memory, an entity or a scope must be known here: erasing does not find it."""
    found = {one.table for one in (*OF_MEMORY, *OF_ENTITY)} | {*IN_SCOPE, "memories", "entities", "turns", "scopes"}
    handled = {"audit_events", "idempotency_keys", "jobs", "erasures", "erased_ids", "query_log"}
    handled |= {"oauth_grants", "oauth_tokens", "oauth_invitations"}  # of users, in no scope
    holds_none = {"api_keys", "audit_seals", "audit_unsealed", "backfills", "daily_usage", "embedding_models",
                  "extraction_costs", "limits", "scope_changes", "memory_types", "memory_type_versions", "tenants",
                  "store_days", "webhooks", "webhook_deliveries", "worker_runs"}  # fmt: skip
    assert set(metadata.tables) <= found | handled | holds_none


def test_what_a_line_tells_is_what_its_table_has() -> None:
    for kind in KINDS.values():
        told = set(columns(kind.table))
        assert told
        assert "tenant_id" not in told


@given(st.lists(st.binary(max_size=20).map(lambda one: one.replace(b"\n", b"").replace(b"\r", b""))), st.data())
def test_lines_are_the_same_however_they_are_cut(lines: list[bytes], data: st.DataObject) -> None:
    content = b"".join(one + b"\n" for one in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(content)), max_size=8)))
    pieces = [content[start:end] for start, end in zip([0, *cuts], [*cuts, len(content)], strict=True)]

    async def stream() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    async def read() -> list[tuple[int, bytes | None]]:
        return [one async for one in numbered(stream(), longest=LONGEST)]

    expected = [(number, one if len(one) <= LONGEST else None) for number, one in enumerate(lines, 1)]
    assert asyncio.run(read()) == expected


def line(number: int, successor: int | None) -> Line:
    after = None if successor is None else UUID(int=successor)
    return Line(number=number, record="memory", scope=None, inner={},
                values={"id": UUID(int=number), "superseded_by": after})  # fmt: skip


@given(st.lists(st.none() | st.integers(0, 9), min_size=1, max_size=8), st.sets(st.integers(0, 9)))
def test_a_memory_is_ready_when_its_successors_lead_to_what_is_there(
    successors: list[int | None], there: set[int]
) -> None:
    lines = [line(number, successor) for number, successor in enumerate(successors)]
    now = {one.number for one in storable(lines, {UUID(int=one) for one in there})}
    for number, successor in enumerate(successors):
        path, at = [number], successor
        while at is not None and at not in there and at < len(successors) and at not in path:
            path.append(at)
            at = successors[at]
        assert (number in now) == (at is None or at in there)

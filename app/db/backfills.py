"""Backfills as rows: what was asked for, and where each is; `backfill_items` has the memories that they change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row as Found
from sqlalchemy import Select, select, text, update

from app.db.rows import insert_all
from app.db.session import ReadSession, WriteSession
from app.db.tables import backfills as table
from app.memory.backfill import Classifier, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Backfill:
    """A backfill. `scopes` None: all of the tenant. `cursor`: the last memory that was looked at."""

    tenant_id: UUID
    id: UUID
    type: str
    sources: tuple[str, ...]
    classifier: Classifier
    scopes: tuple[UUID, ...] | None
    status: Status
    actor: str
    counts: Mapping[str, Any]
    cursor: UUID | None
    job_id: UUID | None
    created_at: datetime
    previewed_at: datetime | None
    committed_at: datetime | None
    undone_at: datetime | None


async def add(session: WriteSession, new: Backfill) -> None:
    """Store a new backfill."""
    values = {name: getattr(new, name) for name in new.__dataclass_fields__}
    await insert_all(session, {"backfills": [values]})


async def find(session: ReadSession, tenant: UUID, backfill: UUID) -> Backfill | None:
    """Return a backfill; None where the tenant has none of that id."""
    return _one((await session.execute(_select(tenant).where(table.c.id == backfill))).first())


async def lock(session: WriteSession, tenant: UUID, backfill: UUID) -> Backfill | None:
    """Return a backfill, as `find`, that nobody else takes further until the transaction ends."""
    return _one((await session.execute(_select(tenant).where(table.c.id == backfill).with_for_update())).first())


async def page(session: ReadSession, tenant: UUID, *, after: UUID | None, limit: int) -> list[Backfill]:
    """Return up to `limit` backfills, newest first, starting after the one of that id."""
    found = _select(tenant).order_by(table.c.id.desc()).limit(limit)
    if after is not None:
        found = found.where(table.c.id < after)
    return [_backfill(row) for row in await session.execute(found)]


async def change(session: WriteSession, one: Backfill, **values: object) -> Backfill:
    """Set columns of a backfill, and return it."""
    changed = (
        update(table).where(table.c.tenant_id == one.tenant_id, table.c.id == one.id).values(**values).returning(table)
    )
    return _backfill((await session.execute(changed)).one())


async def drop_left(session: WriteSession, tenant: UUID, *, before: datetime) -> list[Backfill]:
    """Cancel previews that no job makes and that began before an instant, and return them."""
    left = (table.c.status == Status.PREVIEWING, table.c.job_id.is_(None), table.c.created_at < before)
    dropped = update(table).where(table.c.tenant_id == tenant, *left).values(status=Status.CANCELLED).returning(table)
    return [_backfill(row) for row in await session.execute(dropped)]


async def scopes(session: ReadSession, tenant: UUID, ids: Sequence[UUID]) -> list[Mapping[str, Any]]:
    """Return who the scopes are of, for those that are still there."""
    sought = text(
        "SELECT kind, user_id, agent_id FROM scopes WHERE tenant_id = :tenant AND id = ANY(:ids) ORDER BY 1, 2, 3"
    )
    return [dict(row) for row in (await session.execute(sought, {"tenant": tenant, "ids": list(ids)})).mappings()]


def _select(tenant: UUID) -> Select[Any]:
    return select(table).where(table.c.tenant_id == tenant)


def _one(row: Found[Any] | None) -> Backfill | None:
    return None if row is None else _backfill(row)


def _backfill(row: Found[Any]) -> Backfill:
    values = dict(row._mapping)  # noqa: SLF001 - SQLAlchemy's public name
    scopes = values["scopes"]
    return Backfill(
        **{
            **values,
            "sources": tuple(values["sources"]),
            "scopes": None if scopes is None else tuple(scopes),
            "classifier": Classifier(values["classifier"]),
            "status": Status(values["status"]),
        }
    )

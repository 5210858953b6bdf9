"""The record of erasures: one row each, and the ids that went, which nothing brings back."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from asyncpg import Record
from pydantic_core import to_json

from app import ids
from app.db.session import ReadSession, WriteSession, statement
from app.db.sql import as_record
from app.db.turns import is_sent_for


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """An erasure. `subject` is the user's id while it runs; `counts` are rows by table."""

    id: UUID
    kind: str
    finished: bool
    subject: str | None
    subject_hash: bytes | None
    scopes: tuple[UUID, ...]
    counts: Mapping[str, int]
    ids_digest: bytes | None
    digest: bytes | None
    actor: str
    started_at: datetime
    finished_at: datetime | None


_FIELDS = "id, kind, status, subject, subject_hash, scopes, counts, ids_digest, digest, actor, started_at, finished_at"

_HASHES = ("subject_hash", "ids_digest", "digest")

_BEGIN = statement(
    f"""
    INSERT INTO erasures (tenant_id, id, kind, status, subject, subject_hash, scopes, actor, started_at)
    VALUES (:tenant, :id, :kind, 'running', :subject, :subject_hash, :scopes, :actor, :now)
    ON CONFLICT (tenant_id, subject_hash) WHERE status = 'running' DO UPDATE
        SET scopes = CASE WHEN erasures.scopes @> excluded.scopes THEN erasures.scopes
            ELSE erasures.scopes || excluded.scopes END
    RETURNING {_FIELDS}
    """  # noqa: S608 - constants
)

_FIND = statement(f"SELECT {_FIELDS} FROM erasures WHERE tenant_id = :tenant AND id = :id")  # noqa: S608 - constants

_LOCK = statement("SELECT status FROM erasures WHERE tenant_id = :tenant AND id = :id FOR UPDATE")

NAMED = statement(
    """
    SELECT m.id, m.scope_id FROM memories m
    JOIN scopes s ON s.tenant_id = :tenant AND s.id = m.scope_id
    WHERE m.tenant_id = :tenant AND m.provenance ->> 'user_id' = :user AND s.user_id IS DISTINCT FROM :user
    ORDER BY m.id
    """
)

_NAMED_TURNS = statement(
    f"""
    SELECT t.id, t.scope_id FROM turns t
    WHERE t.tenant_id = :tenant AND {is_sent_for("t", ":user")}
      AND t.scope_id IN (SELECT id FROM scopes WHERE tenant_id = :tenant AND user_id IS NULL)
    ORDER BY t.id
    """  # noqa: S608 - composed of constants
)

_COVER = statement("UPDATE erasures SET scopes = :scopes WHERE tenant_id = :tenant AND id = :id")

_ADD = statement(
    """
    UPDATE erasures e SET counts = e.counts || (
        SELECT coalesce(jsonb_object_agg(
            g.key, g.value::text::bigint + coalesce((e.counts ->> g.key)::bigint, 0)), '{}')
        FROM jsonb_each(CAST(:counts AS jsonb)) g
    ) WHERE tenant_id = :tenant AND id = :id
    """
)

_DIGESTS = statement(
    """
    WITH told AS (
        SELECT kind || '_' || replace(id::text, '-', '') AS name, content_digest
        FROM erased_ids WHERE tenant_id = :tenant AND erasure_id = :id
    )
    SELECT sha256(convert_to(coalesce(string_agg(name || E'\\n', '' ORDER BY name COLLATE "C"), ''), 'UTF8')) AS ids,
        sha256(convert_to(coalesce(string_agg(name || ' ' || encode(content_digest, 'hex') || E'\\n', ''
                                              ORDER BY name COLLATE "C"), ''), 'UTF8')) AS contents
    FROM told
    """
)

_FINISH = statement(
    """
    UPDATE erasures SET status = 'finished', subject = NULL, ids_digest = :ids, digest = :contents, finished_at = :now
    WHERE tenant_id = :tenant AND id = :id
    """
)

_FORGET_DIGESTS = statement(
    "UPDATE erased_ids SET content_digest = NULL WHERE tenant_id = :tenant AND erasure_id = :id"
)

_LEFT = statement(
    """
    SELECT count(*) FROM erased_ids e
    WHERE e.tenant_id = :tenant AND e.erasure_id = :id AND (
        EXISTS (SELECT FROM memories m WHERE m.tenant_id = :tenant AND m.id = e.id)
        OR EXISTS (SELECT FROM turns t WHERE t.tenant_id = :tenant AND t.id = e.id))
    """
)

_IDS = statement(
    """
    SELECT name FROM (
        SELECT kind || '_' || replace(id::text, '-', '') AS name FROM erased_ids
        WHERE tenant_id = :tenant AND erasure_id = :id
    ) told ORDER BY name COLLATE "C"
    """
)

_ERASED = statement("SELECT id FROM erased_ids WHERE tenant_id = :tenant AND id = ANY(:ids)")


def subject_hash(tenant: UUID, user: str) -> bytes:
    """Return the SHA-256 of the tenant's id, a colon and the user's id, which stands for the user in a receipt."""
    return hashlib.sha256(f"{ids.public(ids.TENANT, tenant)}:{user}".encode("utf-8", "replace")).digest()


async def begin(  # noqa: PLR0913 - what an erasure is
    session: WriteSession,
    tenant: UUID,
    *,
    id: UUID,  # noqa: A002 - the column's name
    kind: str,
    actor: str,
    now: datetime,
    subject: str | None = None,
    subject_hash: bytes | None = None,
    scopes: Sequence[UUID] = (),
) -> Erasure:
    """Record that an erasure begins, or return the one of this subject that is under way."""
    values = {
        "tenant": tenant,
        "id": id,
        "kind": kind,
        "subject": subject,
        "subject_hash": subject_hash,
        "scopes": list(scopes),
        "actor": actor,
        "now": now,
    }
    [row] = await session.fetch(_BEGIN, values)
    return _erasure(row)


async def find(session: ReadSession, tenant: UUID, erasure: UUID) -> Erasure | None:
    """Return an erasure; None where the tenant has none of that id."""
    rows = await session.fetch(_FIND, {"tenant": tenant, "id": erasure})
    return _erasure(rows[0]) if rows else None


async def lock(session: WriteSession, tenant: UUID, erasure: UUID) -> bool:
    """Lock an erasure until the transaction ends; return whether it is still running.

    Locked after the scopes that the transaction erases from. After the receipt nothing is erased any more: a user who
    comes back has the same scopes.
    """
    rows = await session.fetch(_LOCK, {"tenant": tenant, "id": erasure})
    return any(row["status"] == "running" for row in rows)


async def named(session: ReadSession, tenant: UUID, user: str) -> dict[UUID, UUID]:
    """Return the memories in other scopes whose provenance names the user, each with its scope."""
    rows = await session.fetch(NAMED, {"tenant": tenant, "user": user})
    return {row["id"]: row["scope_id"] for row in rows}


async def named_turns(session: ReadSession, tenant: UUID, user: str) -> dict[UUID, UUID]:
    """Return the turns that were sent for the user to scopes of nobody, each with its scope."""
    rows = await session.fetch(_NAMED_TURNS, {"tenant": tenant, "user": user})
    return {row["id"]: row["scope_id"] for row in rows}


async def cover(session: WriteSession, tenant: UUID, erasure: UUID, scopes: Sequence[UUID]) -> None:
    """Record the scopes that an erasure erases as a whole, those made since it began too."""
    await session.change(_COVER, {"tenant": tenant, "id": erasure, "scopes": list(scopes)})


async def add(session: WriteSession, tenant: UUID, erasure: UUID, counts: Mapping[str, int]) -> None:
    """Add to what an erasure has erased."""
    told = {name: count for name, count in counts.items() if count}
    await session.change(_ADD, {"tenant": tenant, "id": erasure, "counts": to_json(told).decode()})


async def finish(session: WriteSession, tenant: UUID, erasure: UUID, now: datetime) -> Erasure:
    """Make the digests of an erasure, drop what they were made of, and return it as finished."""
    here = {"tenant": tenant, "id": erasure}
    [digests] = await session.fetch(_DIGESTS, here)
    await session.change(_FINISH, {**here, **digests, "now": now})
    await session.change(_FORGET_DIGESTS, here)
    [row] = await session.fetch(_FIND, here)
    return _erasure(row)


async def remaining(session: ReadSession, tenant: UUID, erasure: UUID) -> int:
    """Return how many of an erasure's memories and turns are in the database: none, unless something is wrong."""
    [[count]] = await session.fetch(_LEFT, {"tenant": tenant, "id": erasure})
    return int(count)


async def ids_of(session: ReadSession, tenant: UUID, erasure: UUID) -> list[str]:
    """Return the public ids of what an erasure erased, in the order that its digests are made in."""
    return [row["name"] for row in await session.fetch(_IDS, {"tenant": tenant, "id": erasure})]


async def erased(session: ReadSession, tenant: UUID, ids: Collection[UUID]) -> set[UUID]:
    """Return which of these ids were erased."""
    return {row["id"] for row in await session.fetch(_ERASED, {"tenant": tenant, "ids": list(ids)})} if ids else set()


def _erasure(row: Record) -> Erasure:
    digests = {name: None if row[name] is None else bytes(row[name]) for name in _HASHES}
    return as_record(Erasure, row, finished=row["status"] == "finished", scopes=tuple(row["scopes"]), **digests)

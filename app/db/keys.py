"""Rows of API keys: find, create, list, revoke and expire them. Only hashes of secrets are stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from asyncpg import Record

from app.db.session import ReadSession, WriteSession, statement
from app.db.sql import as_record, insert_all, values_of

FIRST_KEY_LOCK = 7_261_943_002
"""Advisory lock for creating the first key of a store, so that two starting replicas create one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredKey:
    """An API key without its secret; with a `user_id` or `agent_id`, it is for that user or agent alone."""

    tenant_id: UUID
    id: UUID
    name: str
    prefix: str
    roles: frozenset[str]
    created_at: datetime
    expires_at: datetime | None
    replaced_from: datetime | None = None
    revoked_at: datetime | None
    last_used_at: datetime | None
    user_id: str | None = None
    agent_id: str | None = None

    @property
    def ends_at(self) -> datetime | None:
        """The end of its validity: when it expires, or when its successor alone is valid; None if it has no end."""
        return min((end for end in (self.expires_at, self.replaced_from) if end is not None), default=None)

    def usable(self, now: datetime) -> bool:
        """Return whether the key is valid at this time."""
        return self.revoked_at is None and (self.ends_at is None or now < self.ends_at)


_SELECT = f"SELECT {', '.join(StoredKey.__dataclass_fields__)} FROM api_keys"  # noqa: S608 - its fields

_BY_HASH = statement(f"{_SELECT} WHERE secret_hash = :hash ORDER BY created_at LIMIT 1")

_ALL = statement(f"{_SELECT} WHERE tenant_id = :tenant ORDER BY created_at DESC, id DESC")

_FIND = statement(f"{_SELECT} WHERE tenant_id = :tenant AND id = :key")

_LOCK = statement(f"{_SELECT} WHERE tenant_id = :tenant AND id = :key FOR UPDATE")

_REVOKE = statement(
    "UPDATE api_keys SET revoked_at = coalesce(revoked_at, :at) WHERE tenant_id = :tenant AND id = :key"
)

_REPLACE = statement(
    "UPDATE api_keys SET replaced_from = least(replaced_from, :at) WHERE tenant_id = :tenant AND id = :key"
)

_TOUCH = statement(
    "UPDATE api_keys SET last_used_at = greatest(last_used_at, :at) WHERE tenant_id = :tenant AND id = :key"
)

_DELETE_OF_USER = statement("DELETE FROM api_keys WHERE tenant_id = :tenant AND user_id = :user")


async def find_by_hash(session: ReadSession, secret_hash: bytes) -> StoredKey | None:
    """Return the key of that hash; the session must have been opened with `app.key_hash` set to it."""
    return _first(await session.fetch(_BY_HASH, {"hash": secret_hash}))


async def insert_key(session: WriteSession, key: StoredKey, secret_hash: bytes) -> None:
    """Store a new key."""
    row = {**values_of(key), "roles": sorted(key.roles), "secret_hash": secret_hash}
    await insert_all(session, {"api_keys": [row]})


async def list_keys(session: ReadSession, tenant: UUID) -> Sequence[StoredKey]:
    """Return every key of the tenant, newest first, expired and revoked ones included."""
    return [_key(row) for row in await session.fetch(_ALL, {"tenant": tenant})]


async def find(session: ReadSession, tenant: UUID, key: UUID) -> StoredKey | None:
    """Return one key of the tenant."""
    return _first(await session.fetch(_FIND, {"tenant": tenant, "key": key}))


async def get_for_update(session: WriteSession, tenant: UUID, key: UUID) -> StoredKey | None:
    """Return one key of the tenant, locked until the transaction ends."""
    return _first(await session.fetch(_LOCK, {"tenant": tenant, "key": key}))


async def revoke(session: WriteSession, tenant: UUID, key: UUID, at: datetime) -> None:
    """Revoke a key; a revoked key keeps its time."""
    await session.change(_REVOKE, {"tenant": tenant, "key": key, "at": at})


async def replace(session: WriteSession, tenant: UUID, key: UUID, at: datetime) -> None:
    """Set a key to be replaced by its successor from a time on, unless it is earlier already."""
    await session.change(_REPLACE, {"tenant": tenant, "key": key, "at": at})


async def delete_of_user(session: WriteSession, tenant: UUID, user: str) -> int:
    """Delete the keys that are bound to a user who is erased, because their rows name the user; return how many."""
    return await session.change(_DELETE_OF_USER, {"tenant": tenant, "user": user})


_SCOPES_OF_ROWS = {
    table: statement(f"SELECT scope_id FROM {table} WHERE tenant_id = :tenant AND id = :id")  # noqa: S608 - our tables
    for table in ("memories", "turns", "jobs", "entities")
}


async def scopes_of_rows(session: ReadSession, tenant: UUID, table: str, row: UUID) -> list[UUID | None]:
    """Return the scope of a memory, turn, job or entity as a list, which is empty if there is none of that id."""
    rows = await session.fetch(_SCOPES_OF_ROWS[table], {"tenant": tenant, "id": row})
    return [one["scope_id"] for one in rows]


async def touch(session: WriteSession, tenant: UUID, key: UUID, at: datetime) -> None:
    """Record that a key was used."""
    await session.change(_TOUCH, {"tenant": tenant, "key": key, "at": at})


_LOCK_FIRST_KEY = statement("SELECT pg_advisory_xact_lock(:lock)")


async def lock_first_key(session: WriteSession) -> None:
    """Take the lock for creating the first key, until the transaction ends."""
    await session.fetch(_LOCK_FIRST_KEY, {"lock": FIRST_KEY_LOCK})


def _first(rows: Sequence[Record]) -> StoredKey | None:
    return _key(rows[0]) if rows else None


def _key(row: Record) -> StoredKey:
    return as_record(StoredKey, row, roles=frozenset(row["roles"]))

"""Rows of API keys: find, create, list, revoke and expire them. Only hashes of secrets are stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import Row, delete, func, insert, select, update

from app.db.session import ReadSession, WriteSession, statement
from app.db.tables import api_keys

FIRST_KEY_LOCK = 7_261_943_002
"""Advisory lock for creating the first key of a store, so that two starting replicas create one."""

_COLUMNS = (
    api_keys.c.tenant_id,
    api_keys.c.id,
    api_keys.c.name,
    api_keys.c.prefix,
    api_keys.c.roles,
    api_keys.c.created_at,
    api_keys.c.expires_at,
    api_keys.c.replaced_from,
    api_keys.c.revoked_at,
    api_keys.c.last_used_at,
    api_keys.c.user_id,
    api_keys.c.agent_id,
)


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


async def find_by_hash(session: ReadSession, secret_hash: bytes) -> StoredKey | None:
    """Return the key of that hash; the session must have been opened with `app.key_hash` set to it."""
    wanted = select(*_COLUMNS).where(api_keys.c.secret_hash == secret_hash).order_by(api_keys.c.created_at)
    row = (await session.execute(wanted)).first()
    return None if row is None else _key(row)


async def insert_key(session: WriteSession, key: StoredKey, secret_hash: bytes) -> None:
    """Store a new key."""
    await session.execute(
        insert(api_keys).values(
            tenant_id=key.tenant_id,
            id=key.id,
            name=key.name,
            prefix=key.prefix,
            secret_hash=secret_hash,
            roles=sorted(key.roles),
            created_at=key.created_at,
            expires_at=key.expires_at,
            user_id=key.user_id,
            agent_id=key.agent_id,
        )
    )


async def list_keys(session: ReadSession, tenant: UUID) -> Sequence[StoredKey]:
    """Return every key of the tenant, newest first, expired and revoked ones included."""
    wanted = (
        select(*_COLUMNS)
        .where(api_keys.c.tenant_id == tenant)
        .order_by(api_keys.c.created_at.desc(), api_keys.c.id.desc())
    )
    return [_key(row) for row in await session.execute(wanted)]


async def find(session: ReadSession, tenant: UUID, key: UUID) -> StoredKey | None:
    """Return one key of the tenant."""
    wanted = select(*_COLUMNS).where(api_keys.c.tenant_id == tenant, api_keys.c.id == key)
    row = (await session.execute(wanted)).first()
    return None if row is None else _key(row)


async def get_for_update(session: WriteSession, tenant: UUID, key: UUID) -> StoredKey | None:
    """Return one key of the tenant, locked until the transaction ends."""
    wanted = select(*_COLUMNS).where(api_keys.c.tenant_id == tenant, api_keys.c.id == key).with_for_update()
    row = (await session.execute(wanted)).first()
    return None if row is None else _key(row)


async def revoke(session: WriteSession, tenant: UUID, key: UUID, at: datetime) -> None:
    """Revoke a key; a revoked key keeps its time."""
    await session.execute(
        update(api_keys)
        .where(api_keys.c.tenant_id == tenant, api_keys.c.id == key)
        .values(revoked_at=func.coalesce(api_keys.c.revoked_at, at))
    )


async def replace(session: WriteSession, tenant: UUID, key: UUID, at: datetime) -> None:
    """Set a key to be replaced by its successor from a time on, unless it is earlier already."""
    await session.execute(
        update(api_keys)
        .where(api_keys.c.tenant_id == tenant, api_keys.c.id == key)
        .values(replaced_from=func.least(func.coalesce(api_keys.c.replaced_from, at), at))
    )


async def delete_of_user(session: WriteSession, tenant: UUID, user: str) -> int:
    """Delete the keys that are bound to a user who is erased, because their rows name the user; return how many."""
    theirs = delete(api_keys).where(api_keys.c.tenant_id == tenant, api_keys.c.user_id == user)
    return len((await session.execute(theirs.returning(api_keys.c.id))).all())


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
    await session.execute(
        update(api_keys)
        .where(api_keys.c.tenant_id == tenant, api_keys.c.id == key)
        .values(last_used_at=func.greatest(func.coalesce(api_keys.c.last_used_at, at), at))
    )


_LOCK_FIRST_KEY = statement("SELECT pg_advisory_xact_lock(:lock)")


async def lock_first_key(session: WriteSession) -> None:
    """Take the lock for creating the first key, until the transaction ends."""
    await session.fetch(_LOCK_FIRST_KEY, {"lock": FIRST_KEY_LOCK})


def _key(row: Row[tuple[object, ...]]) -> StoredKey:
    fields = dict(row._mapping)  # noqa: SLF001 - SQLAlchemy's public name for it
    fields["roles"] = frozenset(fields["roles"])
    return StoredKey(**fields)

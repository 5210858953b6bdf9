"""API keys: authentication, and creating, rotating and revoking keys."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from cachetools import TTLCache

from app import ids
from app.db import keys, quotas
from app.db.audit import AuditWriter, append
from app.db.keys import StoredKey
from app.db.session import Database, ReadSession, WriteSession
from app.errors import ConfigurationError, Conflict, InvalidInput, Unauthenticated
from app.memory.audit import AuditAction
from app.model import Actor
from app.services.background import BackgroundWork
from app.settings import LONGEST_KEY, SHORTEST_KEY

FIRST_ROLES = ("read", "write", "admin")
"""Roles of the first key of a tenant."""

ROLES = (*FIRST_ROLES, "review")
"""Roles of a key; `admin` includes the others."""

BOUND_ROLES = ("read", "write")
"""Roles that a key bound to a user or an agent may have."""

SERVICE = "service"
"""The actor of keys that the service makes by itself."""

SECRET_BYTES = 32
SHOWN_CHARACTERS = 10

CACHE_SECONDS = 5.0
"""How long a key that another process revoked may still be accepted by this one."""

CACHE_SIZE = 10_000
TOUCH_EVERY = 60.0
"""Seconds between two records of a key's last use."""

_UNKNOWN = "the API key is not valid: unknown, expired or revoked; `typed-memory keys create NAME` makes one"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey:
    """A key just created, and its secret, which is never shown again."""

    key: StoredKey
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRequest:
    """A key to create; with a `user_id` or `agent_id`, it is for that user or agent alone."""

    name: str
    roles: Collection[str]
    expires_at: datetime | None = None
    user_id: str | None = None
    agent_id: str | None = None

    @property
    def bound(self) -> bool:
        """Return whether it is for one user or agent alone."""
        return self.user_id is not None or self.agent_id is not None


class KeyCache:
    """Recently used keys by the hash of their secret; the oldest are dropped when it is full."""

    def __init__(self, *, seconds: float = CACHE_SECONDS, size: int = CACHE_SIZE) -> None:
        self._entries: TTLCache[bytes, StoredKey] = TTLCache(size, ttl=seconds)
        self._touched: TTLCache[UUID, bool] = TTLCache(size, ttl=TOUCH_EVERY)

    def get(self, secret_hash: bytes) -> StoredKey | None:
        """Return the key if it was looked up in the last few seconds."""
        return self._entries.get(secret_hash)

    def put(self, secret_hash: bytes, key: StoredKey) -> None:
        """Remember a key."""
        self._entries[secret_hash] = key

    def drop(self, key: UUID) -> None:
        """Forget a key that was just revoked or rotated."""
        for secret_hash in list(self._entries):
            stored = self._entries.get(secret_hash)
            if stored is not None and stored.id == key:
                self._entries.pop(secret_hash, None)

    def due_for_touch(self, key: UUID) -> bool:
        """Return whether the key's last use should be recorded now; True at most once a minute."""
        due = key not in self._touched
        if due:
            self._touched[key] = True
        return due


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """API keys: authentication and administration."""

    database: Database
    clock: Callable[[], datetime]
    cache: KeyCache = field(default_factory=KeyCache)
    _background: BackgroundWork = field(default_factory=BackgroundWork, repr=False)

    async def authenticate(self, token: str) -> Actor:
        """Return the key that a secret belongs to, or raise Unauthenticated; a recently used key costs no query."""
        if not SHORTEST_KEY <= len(token) <= LONGEST_KEY or not token.isascii():
            raise Unauthenticated(_UNKNOWN)
        secret_hash = hash_secret(token)
        key = self.cache.get(secret_hash)
        if key is None:
            async with self.database.read(None, **{"app.key_hash": secret_hash.hex()}) as session:
                key = await keys.find_by_hash(session, secret_hash)
            if key is None:
                raise Unauthenticated(_UNKNOWN)
            self.cache.put(secret_hash, key)
        if not key.usable(self.clock()):
            raise Unauthenticated(_UNKNOWN)
        if self.cache.due_for_touch(key.id):
            self._background.start(self._touch(key))
        return Actor(
            tenant_id=key.tenant_id,
            key_id=key.id,
            name=key.name,
            roles=key.roles,
            user_id=key.user_id,
            agent_id=key.agent_id,
        )

    async def find(self, tenant: UUID, key: UUID) -> StoredKey | None:
        """Return a key of the tenant, whether it is valid or not."""
        async with self.database.read(tenant) as session:
            return await keys.find(session, tenant, key)

    async def scopes_of_rows(self, tenant: UUID, table: str, row: UUID) -> Sequence[UUID | None]:
        """Return the scope of a memory, turn, job or entity, for keys that are bound; nothing for an unknown id."""
        async with self.database.read(tenant) as session:
            return await keys.scopes_of_rows(session, tenant, table, row)

    async def create(self, tenant: UUID, wanted: KeyRequest, *, by: str = SERVICE) -> NewKey:
        """Create a key of the tenant; the answer holds the only copy of its secret. `by` is who the audit log names."""
        new = self._new(tenant, wanted)
        async with self.database.write(tenant) as session:
            await self._insert(session, new, by)
        return new

    async def list(self, tenant: UUID) -> Sequence[StoredKey]:
        """Return the tenant's keys, newest first, revoked and expired ones included."""
        async with self.database.read(tenant) as session:
            return await keys.list_keys(session, tenant)

    async def revoke(self, tenant: UUID, key: UUID, *, by: str = SERVICE) -> None:
        """Revoke a key: at once in this process, within seconds in the others. Repeating it does nothing."""
        async with self.database.write(tenant) as session:
            old = ids.require(await keys.get_for_update(session, tenant, key), ids.KEY, key)
            if old.revoked_at is None:
                await keys.revoke(session, tenant, key, self.clock())
                await append(session, [self._ledger(tenant, by).event(AuditAction.KEY_REVOKED, _describe(old))])
        self.cache.drop(key)

    async def rotate(self, tenant: UUID, key: UUID, *, grace: timedelta, by: str = SERVICE) -> NewKey:
        """Create a successor with the same name, roles, expiry, binding and limits; the old one works for the grace."""
        now = self.clock()
        async with self.database.write(tenant) as session:
            old = ids.require(await keys.get_for_update(session, tenant, key), ids.KEY, key)
            if not old.usable(now):
                raise Conflict("the key has ended, so there is nothing to rotate: create a new one")
            new = self._new(
                tenant,
                KeyRequest(
                    name=old.name,
                    roles=old.roles,
                    expires_at=old.expires_at,
                    user_id=old.user_id,
                    agent_id=old.agent_id,
                ),
            )
            await keys.insert_key(session, new.key, hash_secret(new.secret))
            await quotas.copy_limits(session, tenant, key, new.key.id)
            await keys.replace(session, tenant, key, now + grace)
            detail = {
                **_describe(new.key),
                "replaces": ids.public(ids.KEY, key),
                "grace_seconds": grace.total_seconds(),
            }
            await append(session, [self._ledger(tenant, by).event(AuditAction.KEY_ROTATED, detail)])
        self.cache.drop(key)
        return new

    async def ensure_bootstrap(self, tenant: UUID, secret: str | None) -> str | None:
        """Create the first key of a tenant; return its secret if it was generated here.

        With a given secret, a key of exactly that value with every role exists afterwards, whatever was there; one that
        was revoked stays revoked. Without, a key is created only if the tenant has none.
        """
        if secret is not None:
            _check_given(secret)
        async with self.database.write(tenant) as session:
            await keys.lock_first_key(session)
            known = await keys.list_keys(session, tenant)
            if secret is None and known:
                return None
            wanted = KeyRequest(name="bootstrap" if secret else "first", roles=FIRST_ROLES)
            new = self._new(tenant, wanted, secret)
            if secret is None or not await self._exists(session, secret):
                await self._insert(session, new, SERVICE)
        return None if secret is not None else new.secret

    async def aclose(self) -> None:
        """Wait until the last uses of keys are recorded."""
        await self._background.finish()

    async def _insert(self, session: WriteSession, new: NewKey, by: str) -> None:
        await keys.insert_key(session, new.key, hash_secret(new.secret))
        await append(session, [self._ledger(new.key.tenant_id, by).event(AuditAction.KEY_CREATED, _describe(new.key))])

    def _ledger(self, tenant: UUID, by: str) -> AuditWriter:
        return AuditWriter(tenant=tenant, actor=by, at=self.clock())

    async def _exists(self, session: ReadSession, secret: str) -> bool:
        return await keys.find_by_hash(session, hash_secret(secret)) is not None

    async def _touch(self, key: StoredKey) -> None:
        try:
            async with self.database.write(key.tenant_id, synchronous_commit="off") as session:
                await keys.touch(session, key.tenant_id, key.id, self.clock())
        except Exception:  # noqa: BLE001, S110 - a lost time of last use harms nobody
            pass

    def _new(self, tenant: UUID, wanted: KeyRequest, secret: str | None = None) -> NewKey:
        now = self.clock()
        _check(wanted, now)
        value = secret or f"tm_{secrets.token_urlsafe(SECRET_BYTES)}"
        key = StoredKey(
            tenant_id=tenant,
            id=ids.new(),
            name=wanted.name,
            prefix=value[: min(SHOWN_CHARACTERS, len(value) // 2)],
            roles=frozenset(wanted.roles),
            created_at=now,
            expires_at=wanted.expires_at,
            revoked_at=None,
            last_used_at=None,
            user_id=wanted.user_id,
            agent_id=wanted.agent_id,
        )
        return NewKey(key=key, secret=value)


def _check(wanted: KeyRequest, now: datetime) -> None:
    """Raise InvalidInput for a key that cannot be."""
    if unknown := sorted(set(wanted.roles) - set(ROLES)):
        raise InvalidInput(f"{unknown[0]!r} is no role: use some of {', '.join(ROLES)}", field="roles")
    if not wanted.roles:
        raise InvalidInput(f"give at least one of {', '.join(ROLES)}", field="roles")
    if wanted.bound and set(wanted.roles) - set(BOUND_ROLES):
        raise InvalidInput(
            f"a key for one user or agent has the roles {' and '.join(BOUND_ROLES)} at most",
            field="roles",
        )
    if wanted.expires_at is not None and wanted.expires_at <= now:
        raise InvalidInput("must lie in the future", field="expires_at")


def hash_secret(secret: str) -> bytes:
    """Return the SHA-256 of a secret: enough for 256 random bits, and cheap enough for every request."""
    return hashlib.sha256(secret.encode()).digest()


def _describe(key: StoredKey) -> dict[str, object]:
    """Return a key's detail for the audit log: never its secret, nor the beginning of it."""
    return {
        "key": ids.public(ids.KEY, key.id),
        "name": key.name,
        "roles": sorted(key.roles),
        "expires_at": key.expires_at,
        "bound_to": [kind for kind, one in (("user", key.user_id), ("agent", key.agent_id)) if one is not None],
    }


def _check_given(secret: str) -> None:
    printable = secret.isascii() and secret.isprintable() and " " not in secret
    if not printable or not SHORTEST_KEY <= len(secret) <= LONGEST_KEY:
        raise ConfigurationError(
            f"TM_BOOTSTRAP_KEY must be {SHORTEST_KEY} to {LONGEST_KEY} printable ASCII characters, no spaces"
        )

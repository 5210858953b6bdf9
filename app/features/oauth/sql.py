"""SQL of grants, their tokens, and invitations. Only hashes of secrets are stored."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from app.db.session import ReadSession, WriteSession, statement
from app.db.sql import as_record
from app.features.oauth.values import Grant, Invitation, StoredToken, TokenKind

_GRANT = """id, client_id, client_name, redirect_host, user_id, agent_id, scopes, resource, approved_by, key_id,
    created_at, connected_at, last_used_at, revoked_at, revoked_because"""

_TOKEN = "kind, grant_id, scopes, expires_at, used_at, code_challenge, redirect_uri"  # noqa: S105 - names of columns

_INVITATION = "id, user_id, scopes, created_by, created_at, expires_at, used_at"

_INSERT_GRANT = statement(
    """
    INSERT INTO oauth_grants (tenant_id, id, client_id, client_name, redirect_host, user_id, agent_id, scopes, resource,
        approved_by, key_id, created_at)
    VALUES (:tenant, :id, :client_id, :client_name, :redirect_host, :user_id, :agent_id, :scopes, :resource,
        :approved_by, :key_id, :created_at)
    """
)

_FIND_GRANT = statement(f"SELECT {_GRANT} FROM oauth_grants WHERE tenant_id = :tenant AND id = :id")  # noqa: S608

_LIST_GRANTS = statement(
    f"""
    SELECT {_GRANT} FROM oauth_grants
    WHERE tenant_id = :tenant AND connected_at IS NOT NULL
      AND (CAST(:at AS timestamptz) IS NULL OR (created_at, id) < (:at, CAST(:after AS uuid)))
    ORDER BY created_at DESC, id DESC LIMIT :limit
    """  # noqa: S608 - composed of constants
)

_CONNECT = statement(
    "UPDATE oauth_grants SET connected_at = coalesce(connected_at, :at) WHERE tenant_id = :tenant AND id = :id"
)

_TOUCH = statement("UPDATE oauth_grants SET last_used_at = :at WHERE tenant_id = :tenant AND id = :id")

_REVOKE = statement(
    """
    UPDATE oauth_grants SET revoked_at = :at, revoked_because = :because
    WHERE tenant_id = :tenant AND id = :id AND revoked_at IS NULL
    """
)

_DROP_TOKENS = statement("DELETE FROM oauth_tokens WHERE tenant_id = :tenant AND grant_id = :id")

_DROP_EXPIRED = statement(
    "DELETE FROM oauth_tokens WHERE tenant_id = :tenant AND grant_id = :id AND expires_at < :before"
)

_DROP_UNCONNECTED = statement(
    "DELETE FROM oauth_grants WHERE tenant_id = :tenant AND connected_at IS NULL AND created_at < :before"
)

_INSERT_TOKEN = statement(
    """
    INSERT INTO oauth_tokens (tenant_id, secret_hash, kind, grant_id, scopes, expires_at, code_challenge, redirect_uri)
    VALUES (:tenant, :hash, :kind, :grant_id, :scopes, :expires_at, :code_challenge, :redirect_uri)
    """
)

_FIND_TOKEN = statement(
    f"SELECT {_TOKEN} FROM oauth_tokens WHERE tenant_id = :tenant AND secret_hash = :hash AND kind = :kind"  # noqa: S608
)

_USE_TOKEN = statement(
    """
    UPDATE oauth_tokens SET used_at = :at
    WHERE tenant_id = :tenant AND secret_hash = :hash AND kind = :kind AND used_at IS NULL
    """
)

_INSERT_INVITATION = statement(
    """
    INSERT INTO oauth_invitations (tenant_id, id, secret_hash, user_id, scopes, created_by, created_at, expires_at)
    VALUES (:tenant, :id, :hash, :user_id, :scopes, :created_by, :created_at, :expires_at)
    """
)

_LIST_INVITATIONS = statement(
    f"""
    SELECT {_INVITATION} FROM oauth_invitations
    WHERE tenant_id = :tenant AND used_at IS NULL AND expires_at > :now ORDER BY created_at DESC, id DESC
    """  # noqa: S608 - composed of constants
)

_USE_INVITATION = statement(
    f"""
    UPDATE oauth_invitations SET used_at = :now
    WHERE tenant_id = :tenant AND secret_hash = :hash AND used_at IS NULL AND expires_at > :now RETURNING {_INVITATION}
    """  # noqa: S608 - composed of constants
)

_DELETE_INVITATION = statement("DELETE FROM oauth_invitations WHERE tenant_id = :tenant AND id = :id")

_DROP_OLD_INVITATIONS = statement("DELETE FROM oauth_invitations WHERE tenant_id = :tenant AND expires_at < :now")


async def insert_grant(session: WriteSession, tenant: UUID, grant: Grant) -> None:
    """Store a new grant, whose client has no tokens yet."""
    values = {name: getattr(grant, name) for name in Grant.__dataclass_fields__}
    await session.change(_INSERT_GRANT, {"tenant": tenant, **values, "scopes": list(grant.scopes)})


async def find_grant(session: ReadSession, tenant: UUID, grant: UUID) -> Grant | None:
    """Return a grant of the tenant."""
    rows = await session.fetch(_FIND_GRANT, {"tenant": tenant, "id": grant})
    return _grant(rows[0]) if rows else None


async def list_grants(
    session: ReadSession, tenant: UUID, *, limit: int, after: tuple[datetime, UUID] | None
) -> list[Grant]:
    """Return up to `limit` grants of connected clients, newest first, after the one of that time and id."""
    at, identifier = after or (None, None)
    values = {"tenant": tenant, "limit": limit, "at": at, "after": identifier}
    return [_grant(row) for row in await session.fetch(_LIST_GRANTS, values)]


async def connect(session: WriteSession, tenant: UUID, grant: UUID, at: datetime) -> None:
    """Record that the client of a grant fetched tokens."""
    await session.change(_CONNECT, {"tenant": tenant, "id": grant, "at": at})


async def touch(session: WriteSession, tenant: UUID, grant: UUID, at: datetime) -> None:
    """Record that a grant was used."""
    await session.change(_TOUCH, {"tenant": tenant, "id": grant, "at": at})


async def revoke(session: WriteSession, tenant: UUID, grant: UUID, at: datetime, because: str) -> bool:
    """Revoke a grant and delete its tokens; return whether it was not revoked before."""
    changed = await session.change(_REVOKE, {"tenant": tenant, "id": grant, "at": at, "because": because})
    await session.change(_DROP_TOKENS, {"tenant": tenant, "id": grant})
    return bool(changed)


async def drop_unconnected(session: WriteSession, tenant: UUID, before: datetime) -> None:
    """Delete grants whose clients never fetched their tokens, made before an instant."""
    await session.change(_DROP_UNCONNECTED, {"tenant": tenant, "before": before})


async def drop_expired(session: WriteSession, tenant: UUID, grant: UUID, before: datetime) -> None:
    """Delete a grant's tokens that expired before an instant."""
    await session.change(_DROP_EXPIRED, {"tenant": tenant, "id": grant, "before": before})


async def insert_token(session: WriteSession, tenant: UUID, secret_hash: bytes, token: StoredToken) -> None:
    """Store a code or token."""
    values = {name: getattr(token, name) for name in StoredToken.__dataclass_fields__}
    given = {"tenant": tenant, "hash": secret_hash, **values, "scopes": list(token.scopes)}
    await session.change(_INSERT_TOKEN, given)


async def find_token(session: ReadSession, tenant: UUID, kind: TokenKind, secret_hash: bytes) -> StoredToken | None:
    """Return a code or token of the tenant by its hash."""
    rows = await session.fetch(_FIND_TOKEN, {"tenant": tenant, "hash": secret_hash, "kind": kind})
    if not rows:
        return None
    return StoredToken(**{**rows[0], "kind": kind, "scopes": tuple(rows[0]["scopes"])})


async def use_token(session: WriteSession, tenant: UUID, kind: TokenKind, secret_hash: bytes, at: datetime) -> bool:
    """Mark a code or refresh token as used; return False where it was used already, or is gone."""
    return bool(await session.change(_USE_TOKEN, {"tenant": tenant, "hash": secret_hash, "kind": kind, "at": at}))


async def insert_invitation(session: WriteSession, tenant: UUID, secret_hash: bytes, invitation: Invitation) -> None:
    """Store an invitation, and delete those that have expired."""
    await session.change(_DROP_OLD_INVITATIONS, {"tenant": tenant, "now": invitation.created_at})
    values = {name: getattr(invitation, name) for name in Invitation.__dataclass_fields__}
    given = {"tenant": tenant, "hash": secret_hash, **values, "scopes": list(invitation.scopes)}
    await session.change(_INSERT_INVITATION, given)


async def list_invitations(session: ReadSession, tenant: UUID, now: datetime) -> list[Invitation]:
    """Return the invitations that can still be used, newest first."""
    return [_invitation(row) for row in await session.fetch(_LIST_INVITATIONS, {"tenant": tenant, "now": now})]


async def use_invitation(session: WriteSession, tenant: UUID, secret_hash: bytes, now: datetime) -> Invitation | None:
    """Mark an invitation as used and return it; None where it is unknown, used or expired."""
    rows = await session.fetch(_USE_INVITATION, {"tenant": tenant, "hash": secret_hash, "now": now})
    return _invitation(rows[0]) if rows else None


async def delete_invitation(session: WriteSession, tenant: UUID, invitation: UUID) -> bool:
    """Delete an invitation; return whether there was one of that id."""
    return bool(await session.change(_DELETE_INVITATION, {"tenant": tenant, "id": invitation}))


def _grant(row: Any) -> Grant:  # noqa: ANN401 - asyncpg's record
    return as_record(Grant, row, scopes=tuple(row["scopes"]))


def _invitation(row: Any) -> Invitation:  # noqa: ANN401 - asyncpg's record
    return as_record(Invitation, row, scopes=tuple(row["scopes"]))

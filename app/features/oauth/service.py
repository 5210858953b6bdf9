"""Use cases of connections: approve a client, give and renew its tokens, let it in, list and revoke."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from cachetools import TTLCache

from app import ids
from app.db.audit import AuditWriter, append
from app.db.session import Database, WriteSession
from app.errors import InvalidInput, Unauthenticated
from app.features.oauth import sql
from app.features.oauth.values import (
    INVITATION_PREFIX,
    LIFETIMES,
    PREFIXES,
    SCOPES,
    Grant,
    Invitation,
    Secret,
    StoredToken,
    TokenKind,
    new_secret,
    read_secret,
)
from app.memory.audit import AuditAction
from app.model import Actor
from app.services.background import BackgroundWork
from app.services.keys import SERVICE, Keys
from app.services.pages import Page, cut_page

CACHE_SECONDS = 5.0
"""How long a connection that another process revoked may still be let in by this one."""

CACHE_SIZE = 10_000
TOUCH_EVERY = 60.0

_REUSED: Final = "a code or refresh token was used twice"
_DEAD_TOKEN: Final = "the access token is not valid: unknown, expired or revoked; connect again"  # noqa: S105
_DEAD_INVITATION: Final = "the invitation is not valid: unknown, used or expired; ask an admin for a new one"


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedApproval:
    """A client's request that a user approves: who asks, where the user goes then, and how the code is proven.

    `redirect_uri` is None where the request left it out, because the client registered one alone.
    """

    client_id: str
    client_name: str
    redirect_uri: str | None
    redirect_host: str
    resource: str
    code_challenge: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UserChoice:
    """The user's part of an approval: a key or an invitation, whose memory it is, and the scopes."""

    credential: str = field(repr=False)
    user_id: str | None
    scopes: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Approver:
    """The holder of a key or an invitation: what may be granted with it, and by whom it is said to be."""

    tenant: UUID
    name: str
    scopes: frozenset[str]
    user_id: str | None
    agent_id: str | None = None
    key_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldToken:
    """A code or token as it was found, with its grant."""

    secret: Secret = field(repr=False)
    token: StoredToken
    grant: Grant


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTokens:
    """An access token and the refresh token that renews it, which are never shown again."""

    access: str = field(repr=False)
    refresh: str = field(repr=False)
    scopes: tuple[str, ...]
    seconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NewInvitation:
    """An invitation just made, and its secret, which is never shown again."""

    invitation: Invitation
    secret: str = field(repr=False)


class TokenRefused(Exception):
    """A code or refresh token that is not valid any more."""


@dataclass(frozen=True, slots=True)
class ConnectionCache:
    """Callers by the hash of their access token, and the grants whose use was recorded lately."""

    callers: TTLCache[bytes, tuple[HeldToken, Actor]] = field(
        default_factory=lambda: TTLCache(CACHE_SIZE, CACHE_SECONDS)
    )
    touched: TTLCache[UUID, bool] = field(default_factory=lambda: TTLCache(CACHE_SIZE, TOUCH_EVERY))

    def drop(self, grant: UUID) -> None:
        """Forget the callers of a grant that was just revoked."""
        for one, (held, _) in list(self.callers.items()):
            if held.grant.id == grant:
                self.callers.pop(one, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Connections:
    """The connections of clients by OAuth."""

    database: Database
    keys: Keys
    clock: Callable[[], datetime]
    cache: ConnectionCache = field(default_factory=ConnectionCache)
    _background: BackgroundWork = field(default_factory=BackgroundWork, repr=False)

    async def approve(self, asked: AskedApproval, choice: UserChoice) -> str:
        """Grant a client what the user chose and return the code for it.

        Raises Unauthenticated for a credential that is not valid, InvalidInput for what it can't grant.
        """
        now = self.clock()
        invitation = read_secret(INVITATION_PREFIX, choice.credential.rpartition("#")[2])
        actor = None if invitation is not None else await self.keys.authenticate(choice.credential)
        tenant = actor.tenant_id if actor is not None else _tenant_of(invitation)
        code = new_secret(PREFIXES[TokenKind.CODE], tenant)
        async with self.database.write(tenant) as session:
            if actor is not None:
                approver = _by_key(actor)
            else:
                approver = await self._invited(session, invitation, now)
            grant = _granted(asked, choice, approver, now)
            await sql.drop_unconnected(session, tenant, now - 2 * LIFETIMES[TokenKind.CODE])
            await sql.insert_grant(session, tenant, grant)
            token = StoredToken(
                kind=TokenKind.CODE,
                grant_id=grant.id,
                scopes=grant.scopes,
                expires_at=now + LIFETIMES[TokenKind.CODE],
                code_challenge=asked.code_challenge,
                redirect_uri=asked.redirect_uri,
            )
            await sql.insert_token(session, tenant, code.hash, token)
            detail = {"connection": ids.public(ids.GRANT, grant.id), "scopes": ", ".join(grant.scopes)}
            ledger = AuditWriter(tenant=tenant, actor=approver.name, at=now)
            await append(session, [ledger.event(AuditAction.CONNECTION_GRANTED, detail)])
        return code.text

    async def find(self, kind: TokenKind, text: str, client_id: str) -> HeldToken | None:
        """Return a client's code or refresh token if it can be used.

        One that was used before ends its connection: somebody else has a copy.
        """
        held = await self._held(kind, text)
        if held is None or held.grant.client_id != client_id:
            return None
        if held.token.used_at is not None:
            await self._end(held, _REUSED)
            return None
        return held if await self._lives(held) else None

    async def exchange(self, held: HeldToken, scopes: Sequence[str]) -> NewTokens:
        """Return tokens for a code or refresh token, which can't be used again; raise TokenRefused."""
        tenant, now, granted = held.secret.tenant, self.clock(), tuple(scopes)
        access = new_secret(PREFIXES[TokenKind.ACCESS], tenant)
        refresh = new_secret(PREFIXES[TokenKind.REFRESH], tenant)
        made = {TokenKind.ACCESS: (access, granted), TokenKind.REFRESH: (refresh, held.token.scopes)}
        async with self.database.write(tenant) as session:
            used = await sql.use_token(session, tenant, held.token.kind, held.secret.hash, now)
            if used:
                await sql.drop_expired(session, tenant, held.grant.id, now)
                await sql.connect(session, tenant, held.grant.id, now)
                for kind, (secret, of) in made.items():
                    token = StoredToken(kind=kind, grant_id=held.grant.id, scopes=of, expires_at=now + LIFETIMES[kind])
                    await sql.insert_token(session, tenant, secret.hash, token)
        if not used:
            await self._end(held, _REUSED)
            raise TokenRefused("it was used already, so the connection has ended: connect again")
        seconds = int(LIFETIMES[TokenKind.ACCESS].total_seconds())
        return NewTokens(access=access.text, refresh=refresh.text, scopes=granted, seconds=seconds)

    async def let_in(self, text: str, resource: str | None) -> Actor:
        """Return the caller of an access token that was made for this resource; raise Unauthenticated."""
        secret = read_secret(PREFIXES[TokenKind.ACCESS], text)
        found = None if secret is None else self.cache.callers.get(secret.hash)
        if secret is not None and found is None:
            held = await self._held(TokenKind.ACCESS, text)
            if held is not None and await self._lives(held):
                found = self.cache.callers[secret.hash] = (held, _actor_of(held))
        if found is None or self.clock() >= found[0].token.expires_at:
            raise Unauthenticated(_DEAD_TOKEN)
        held, actor = found
        if held.grant.resource != resource:
            raise Unauthenticated("the access token was made for another address: connect to this one")
        if held.grant.id not in self.cache.touched:
            self.cache.touched[held.grant.id] = True
            self._background.start(self._touch(held))
        return actor

    async def give_up(self, text: str, client_id: str) -> None:
        """End the connection of a client's token (RFC 7009); one that is unknown is as good as revoked."""
        for kind in (TokenKind.REFRESH, TokenKind.ACCESS):
            held = await self._held(kind, text)
            if held is not None and held.grant.client_id == client_id:
                await self._end(held, "the client gave it up")

    async def list(
        self, actor: Actor, *, limit: int, after: tuple[datetime, UUID] | None
    ) -> Page[Grant, tuple[datetime, UUID]]:
        """Return one page of the tenant's connections, newest first."""
        async with self.database.read(actor.tenant_id) as session:
            found = await sql.list_grants(session, actor.tenant_id, limit=limit + 1, after=after)
        return cut_page(found, limit, lambda one: (one.created_at, one.id))

    async def revoke(self, actor: Actor, grant: UUID) -> None:
        """End a connection: at once in this process, within seconds in others. Repeating it does nothing."""
        async with self.database.write(actor.tenant_id) as session:
            ids.require(await sql.find_grant(session, actor.tenant_id, grant), ids.GRANT, grant)
            await self._revoke(session, actor.tenant_id, grant, actor.name, f"revoked by {actor.name}")
        self.cache.drop(grant)

    async def invite(self, actor: Actor, *, user_id: str, scopes: Sequence[str], lasting: timedelta) -> NewInvitation:
        """Make an invitation to connect one client for a user; the answer holds the only copy of its secret."""
        now = self.clock()
        secret = new_secret(INVITATION_PREFIX, actor.tenant_id)
        made = Invitation(
            id=ids.new(),
            user_id=user_id,
            scopes=tuple(one for one in SCOPES if one in scopes),
            created_by=actor.name,
            created_at=now,
            expires_at=now + lasting,
        )
        async with self.database.write(actor.tenant_id) as session:
            await sql.insert_invitation(session, actor.tenant_id, secret.hash, made)
            detail = {"invitation": ids.public(ids.INVITATION, made.id), "scopes": ", ".join(made.scopes)}
            ledger = AuditWriter(tenant=actor.tenant_id, actor=actor.name, at=now)
            await append(session, [ledger.event(AuditAction.INVITATION_CREATED, detail)])
        return NewInvitation(invitation=made, secret=secret.text)

    async def invitations(self, actor: Actor) -> Sequence[Invitation]:
        """Return the tenant's invitations that can still be used, newest first."""
        async with self.database.read(actor.tenant_id) as session:
            return await sql.list_invitations(session, actor.tenant_id, self.clock())

    async def withdraw(self, actor: Actor, invitation: UUID) -> None:
        """Delete an invitation; raise NotFound."""
        async with self.database.write(actor.tenant_id) as session:
            if not await sql.delete_invitation(session, actor.tenant_id, invitation):
                raise ids.missing(ids.INVITATION, invitation)
            detail = {"invitation": ids.public(ids.INVITATION, invitation)}
            ledger = AuditWriter(tenant=actor.tenant_id, actor=actor.name, at=self.clock())
            await append(session, [ledger.event(AuditAction.INVITATION_DELETED, detail)])

    async def aclose(self) -> None:
        """Wait until the last uses are recorded."""
        await self._background.finish()

    async def _held(self, kind: TokenKind, text: str) -> HeldToken | None:
        secret = read_secret(PREFIXES[kind], text)
        if secret is None:
            return None
        async with self.database.read(secret.tenant) as session:
            token = await sql.find_token(session, secret.tenant, kind, secret.hash)
            grant = None if token is None else await sql.find_grant(session, secret.tenant, token.grant_id)
        return None if token is None or grant is None else HeldToken(secret=secret, token=token, grant=grant)

    async def _lives(self, held: HeldToken) -> bool:
        """Return whether a token is valid still, and its grant, and the key that the grant was approved with.

        A key that was rotated has a successor, so what was approved with it stays.
        """
        now = self.clock()
        if held.grant.revoked_at is not None or now >= held.token.expires_at:
            return False
        if held.grant.key_id is None:
            return True
        key = await self.keys.find(held.secret.tenant, held.grant.key_id)
        return key is not None and replace(key, replaced_from=None).usable(now)

    async def _end(self, held: HeldToken, because: str) -> None:
        async with self.database.write(held.secret.tenant) as session:
            await self._revoke(session, held.secret.tenant, held.grant.id, SERVICE, because)
        self.cache.drop(held.grant.id)

    async def _revoke(self, session: WriteSession, tenant: UUID, grant: UUID, by: str, because: str) -> None:
        now = self.clock()
        if await sql.revoke(session, tenant, grant, now, because):
            detail = {"connection": ids.public(ids.GRANT, grant), "reason": because}
            ledger = AuditWriter(tenant=tenant, actor=by, at=now)
            await append(session, [ledger.event(AuditAction.CONNECTION_REVOKED, detail)])

    async def _invited(self, session: WriteSession, invitation: Secret | None, now: datetime) -> Approver:
        used = None
        if invitation is not None:
            used = await sql.use_invitation(session, invitation.tenant, invitation.hash, now)
        if invitation is None or used is None:
            raise Unauthenticated(_DEAD_INVITATION)
        name = f"invitation of {used.created_by}"
        return Approver(tenant=invitation.tenant, name=name, scopes=frozenset(used.scopes), user_id=used.user_id)

    async def _touch(self, held: HeldToken) -> None:
        try:
            async with self.database.write(held.secret.tenant, synchronous_commit="off") as session:
                await sql.touch(session, held.secret.tenant, held.grant.id, self.clock())
        except Exception:  # noqa: BLE001, S110 - a lost time of last use harms nobody
            pass


def _tenant_of(invitation: Secret | None) -> UUID:
    if invitation is None:
        raise Unauthenticated(_DEAD_INVITATION)
    return invitation.tenant


def _by_key(actor: Actor) -> Approver:
    if actor.agent_id is not None and actor.user_id is None:
        raise InvalidInput("this key is for an agent alone: sign in with one for a user, or for all of them")
    scopes = frozenset(SCOPES) if "admin" in actor.roles else actor.roles.intersection(SCOPES)
    return Approver(
        tenant=actor.tenant_id,
        name=actor.name,
        scopes=scopes,
        user_id=actor.user_id,
        agent_id=actor.agent_id,
        key_id=actor.key_id,
    )


def _granted(asked: AskedApproval, choice: UserChoice, approver: Approver, now: datetime) -> Grant:
    """Return the grant that a choice makes; raise InvalidInput for more than its approver may grant."""
    user = choice.user_id or approver.user_id
    if user is None:
        raise InvalidInput("say whose memory the client may use: a user id", field="user_id")
    if approver.user_id not in {None, user}:
        raise InvalidInput(f"you can only let it use the memory of {approver.user_id!r}", field="user_id")
    if not choice.scopes:
        raise InvalidInput("choose at least one thing that the client may do, or refuse", field="scopes")
    if beyond := [one for one in choice.scopes if one not in approver.scopes]:
        raise InvalidInput(
            f"you can't allow {', '.join(beyond)}: your key or invitation does not have it", field="scopes"
        )
    return Grant(
        id=ids.new(),
        client_id=asked.client_id,
        client_name=asked.client_name,
        redirect_host=asked.redirect_host,
        user_id=user,
        agent_id=approver.agent_id,
        scopes=tuple(one for one in SCOPES if one in choice.scopes),
        resource=asked.resource,
        approved_by=approver.name,
        key_id=approver.key_id,
        created_at=now,
    )


def _actor_of(held: HeldToken) -> Actor:
    grant = held.grant
    return Actor(
        tenant_id=held.secret.tenant,
        key_id=grant.key_id,
        name=f"{grant.client_name} ({grant.approved_by})",
        roles=frozenset(held.token.scopes),
        user_id=grant.user_id,
        agent_id=grant.agent_id,
    )

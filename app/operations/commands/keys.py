"""`typed-memory keys`: create, list, revoke and rotate API keys, of a service or directly in the database."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Final
from uuid import UUID

import typer
from rich.console import Console
from rich.table import Table

from app import ids, logs
from app.bootstrap import Store, first_key, open_runtime_store
from app.command_line.configuration import load_settings, settings_of_a_store
from app.command_line.service_client import ServiceClient, key_file, named_service, stored_key
from app.command_line.terminal import AGENT, USER, CommandFailed, err, out, say
from app.db.embedded.server import data_dir
from app.db.keys import StoredKey
from app.errors import NotFound
from app.services.keys import ROLES, KeyRequest, NewKey
from app.settings import Settings

app = typer.Typer(no_args_is_help=True)


@app.callback()
def keys() -> None:
    """Create, list, revoke and rotate API keys.

    Where TM_URL names a service, this works on that service, with TM_API_KEY, a key that has the role admin. Else it
    works on the database itself (TM_DATABASE_URL, or the embedded one), and needs no key.
    """


Tenant = Annotated[str, typer.Option(help="The tenant's name.")]
Key = Annotated[str, typer.Argument(metavar="KEY", help="A key's id, as `keys list` shows it: key_...")]

DEFAULT_TENANT: Final = "default"

WIDE = 160

BY_CLI = "command line"
"""The actor in the audit log for changes by this command."""

_SPAN = re.compile(r"(\d{1,5})([smhd])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


@app.command()
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the key is for.")] = "cli",
    tenant: Tenant = DEFAULT_TENANT,
    role: Annotated[
        list[str] | None,
        typer.Option(help=f"A role: {', '.join(ROLES)}; repeatable. Without it: read and write."),
    ] = None,
    expires: Annotated[
        str | None, typer.Option(help="When it expires: after a span such as 12h or 90d, or at a time.")
    ] = None,
    user_id: Annotated[str | None, typer.Option(*USER, help="For this user alone.")] = None,
    agent_id: Annotated[str | None, typer.Option(*AGENT, help="For this agent alone.")] = None,
) -> None:
    """Create a key. Its secret is shown once.

    For example:

      typed-memory keys create assistant
      typed-memory keys create reports --role read --expires 90d
      typed-memory keys create trial --expires 2027-01-31
      typed-memory keys create anas-phone --user-id ana
    """
    now = datetime.now(UTC)
    until = None if expires is None else _moment(expires, now)
    if until is not None and until <= now:
        raise CommandFailed(f"--expires: {expires!r} is past: it must be in the future")
    wanted = KeyRequest(
        name=name, roles=role or ["read", "write"], expires_at=until, user_id=user_id, agent_id=agent_id
    )
    _show_secret(asyncio.run(_create(tenant, wanted)))


@app.command(name="list")
def list_keys(tenant: Tenant = DEFAULT_TENANT) -> None:
    """List a tenant's keys, expired and revoked ones too. Secrets can't be shown: only their hashes are stored."""
    now = datetime.now(UTC)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("id", "name", "begins", "roles", "for", "state", "made", "last used"):
        table.add_column(column, no_wrap=True)
    for key in asyncio.run(_list(tenant)):
        table.add_row(
            ids.public(ids.KEY, key.id),
            key.name,
            f"{key.prefix}...",
            " ".join(sorted(key.roles)),
            _bound_to(key),
            _state(key, now),
            f"{key.created_at:%Y-%m-%d}",
            f"{key.last_used_at:%Y-%m-%d %H:%M}" if key.last_used_at else "never",
        )
    # Whole ids, whatever the width of the terminal, because people copy them.
    Console(width=max(out.width, WIDE), highlight=False).print(table)


@app.command()
def revoke(key: Key, tenant: Tenant = DEFAULT_TENANT) -> None:
    """Revoke a key. Running services refuse it within seconds."""
    asyncio.run(_revoke(tenant, key))
    say(f"Revoked {key}.")


@app.command()
def rotate(
    key: Key,
    tenant: Tenant = DEFAULT_TENANT,
    grace: Annotated[str, typer.Option(help="The time for which the old secret still works: 0s, 30m, 1d, ...")] = "1h",
) -> None:
    """Replace a key by one with the same name, roles and expiry. Its secret is shown once."""
    span = _span(grace)
    if span is None:
        raise CommandFailed(f"--grace: {grace!r} is no span of time such as 0s, 30m or 1d")
    old, new = asyncio.run(_rotate(tenant, key, span))
    _show_secret(new)
    _renew_kept(old, new)


async def _create(tenant: str, wanted: KeyRequest) -> NewKey:
    async with _open(tenant) as desk:
        return await desk.create(wanted)


async def _list(tenant: str) -> Sequence[StoredKey]:
    async with _open(tenant) as desk:
        return await desk.list()


async def _revoke(tenant: str, key: str) -> None:
    wanted = _id(key)
    async with _open(tenant) as desk:
        await desk.revoke(wanted)


async def _rotate(tenant: str, key: str, grace: timedelta) -> tuple[StoredKey | None, NewKey]:
    wanted = _id(key)
    async with _open(tenant) as desk:
        old = next((one for one in await desk.list() if one.id == wanted), None)
        return old, await desk.rotate(wanted, grace)


@dataclass(frozen=True, slots=True)
class _StoredKeys:
    """The keys of a tenant, in its database."""

    store: Store
    owner: UUID

    async def create(self, wanted: KeyRequest) -> NewKey:
        return await self.store.keys.create(self.owner, wanted, by=BY_CLI)

    async def list(self) -> Sequence[StoredKey]:
        return await self.store.keys.list(self.owner)

    async def revoke(self, key: UUID) -> None:
        await self.store.keys.revoke(self.owner, key, by=BY_CLI)

    async def rotate(self, key: UUID, grace: timedelta) -> NewKey:
        return await self.store.keys.rotate(self.owner, key, grace=grace, by=BY_CLI)


@dataclass(frozen=True, slots=True)
class _ServedKeys:
    """The keys of the tenant whose key a client of a service has."""

    service: ServiceClient

    async def create(self, wanted: KeyRequest) -> NewKey:
        body = {
            "name": wanted.name,
            "roles": list(wanted.roles),
            "expires_at": None if wanted.expires_at is None else wanted.expires_at.isoformat(),
            "user_id": wanted.user_id,
            "agent_id": wanted.agent_id,
        }
        return _new((await self.service.post("/admin/keys", body)).body)

    async def list(self) -> Sequence[StoredKey]:
        return [_served(one) for one in (await self.service.get("/admin/keys")).body["keys"]]

    async def revoke(self, key: UUID) -> None:
        await self.service.delete(f"/admin/keys/{ids.public(ids.KEY, key)}")

    async def rotate(self, key: UUID, grace: timedelta) -> NewKey:
        body = {"grace_seconds": int(grace.total_seconds())}
        return _new((await self.service.post(f"/admin/keys/{ids.public(ids.KEY, key)}/rotate", body)).body)


@asynccontextmanager
async def _open(tenant: str) -> AsyncIterator[_StoredKeys | _ServedKeys]:
    """Yield the keys of the service that TM_URL names, else those of a tenant of the database."""
    service = named_service()
    if service is not None:
        refuse_tenant(tenant)
        async with service:
            yield _ServedKeys(service)
        return
    async with open_tenant(tenant) as (store, owner):
        yield _StoredKeys(store, owner)


def refuse_tenant(tenant: str) -> None:
    """Raise CommandFailed for a tenant that was named for a service, where the key says which it is."""
    if tenant != DEFAULT_TENANT:
        raise CommandFailed(
            "--tenant is for a database: at the service of TM_URL, TM_API_KEY says whose keys these are"
        )


def _new(found: Mapping[str, Any]) -> NewKey:
    return NewKey(key=_served(found), secret=found["key"])


def _served(found: Mapping[str, Any]) -> StoredKey:
    """Return a key as a service describes it, which says nothing of the tenant."""
    times = {
        name: None if found[name] is None else datetime.fromisoformat(found[name])
        for name in ("expires_at", "revoked_at", "last_used_at")
    }
    return StoredKey(
        tenant_id=UUID(int=0),
        id=ids.parse(ids.KEY, found["id"]),
        name=found["name"],
        prefix=found["prefix"],
        roles=frozenset(found["roles"]),
        created_at=datetime.fromisoformat(found["created_at"]),
        user_id=found["user_id"],
        agent_id=found["agent_id"],
        **times,
    )


@asynccontextmanager
async def open_tenant(tenant: str) -> AsyncIterator[tuple[Store, UUID]]:
    """Yield the store and the tenant's id."""
    logs.configure("console", "WARNING")
    settings = settings_of_a_store()
    async with open_runtime_store(settings) as store:
        first = await first_key(settings, store)
        if first is not None:
            err.print(
                f"A new store, in {_place(settings)}: the first key of the tenant default is {first}",
                markup=False,
                soft_wrap=True,
            )
        try:
            found = await store.tenants.by_name(tenant)
        except NotFound as error:
            raise CommandFailed(f"{error.message}: create it with POST /admin/tenants and the operator key") from None
        yield store, found.id


def _id(key: str) -> UUID:
    try:
        return ids.parse(ids.KEY, key)
    except NotFound as error:
        raise CommandFailed(f"{error.message}. `typed-memory keys list` shows the ids") from None


def _place(settings: Settings) -> str:
    return str(data_dir(settings)) if settings.database_url is None else "the database of TM_DATABASE_URL"


def _where() -> str:
    url = os.environ.get("TM_URL")
    return f"the service at {url}" if url else _place(load_settings())


def _show_secret(new: NewKey) -> None:
    say(new.secret)
    until = f", ends {new.key.expires_at:%Y-%m-%d %H:%M} UTC" if new.key.expires_at else ""
    err.print(
        f"{ids.public(ids.KEY, new.key.id)} ({new.key.name}: {' '.join(sorted(new.key.roles))}{until}) in "
        f"{_where()}. The secret above is not shown again.",
        markup=False,
        soft_wrap=True,
    )


def _renew_kept(old: StoredKey | None, new: NewKey) -> None:
    """Replace the old secret in the file that the client commands read, if it is there."""
    path = key_file()
    kept = stored_key(path)
    if old is None or kept is None or not kept.startswith(old.prefix):
        return
    fresh = path.with_name(f"{path.name}.new")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(f"{new.secret}\n")
    fresh.replace(path)
    err.print(f"{path} holds it now.", markup=False, soft_wrap=True)


def _bound_to(key: StoredKey) -> str:
    named = (("user", key.user_id), ("agent", key.agent_id))
    return " ".join(f"{kind} {name}" for kind, name in named if name is not None) or "all"


def _state(key: StoredKey, now: datetime) -> str:
    if key.revoked_at is not None:
        return "revoked"
    if not key.usable(now):
        return "expired"
    return f"until {key.ends_at:%Y-%m-%d %H:%M}" if key.ends_at else "active"


def _moment(text: str, now: datetime) -> datetime:
    span = _span(text)
    if span is not None:
        return now + span
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise CommandFailed(
            f"--expires: {text!r} is neither a span such as 12h or 90d nor a time such as 2027-01-31"
        ) from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _span(text: str) -> timedelta | None:
    found = _SPAN.fullmatch(text.strip())
    return None if found is None else timedelta(**{_UNITS[found[2]]: int(found[1])})

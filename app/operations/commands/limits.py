"""`typed-memory limits`: show and set the limits of a tenant or of a key, of a service or directly in the database."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from app import ids
from app.command_line.service_client import ServiceClient, named_service
from app.command_line.terminal import CommandFailed, out
from app.db.quotas import Usage
from app.errors import NotFound
from app.operations.commands.keys import BY_CLI, Tenant, open_tenant, refuse_tenant
from app.services.limits import LimitsReport
from app.settings import Limits

app = typer.Typer(no_args_is_help=True)


@app.callback()
def limits() -> None:
    """Show and set limits of tenants and keys.

    Where TM_URL names a service, this works on that service, with TM_API_KEY, a key that has the role admin. Else it
    works on the database itself (TM_DATABASE_URL, or the embedded one), and needs no key.
    """


Key = Annotated[
    str | None, typer.Option(help="A key's id, as `keys list` shows it; without it, the tenant as a whole.")
]

Count = Annotated[int | None, typer.Option(min=0, help="0 takes the limit away; without it, it stays.")]

_USED = {"memories_per_day": "memories", "turns_per_day": "turns", "tokens_per_day": "tokens"}
"""The limits whose use is counted in the database, and as what."""


@app.command()
def show(tenant: Tenant = "default", key: Key = None) -> None:
    """Show the limits, and what was used of them since midnight UTC."""
    _print(asyncio.run(_run(tenant, key, {})))


@app.command(name="set")
def set_limits(
    *,
    tenant: Tenant = "default",
    key: Key = None,
    requests_per_minute: Count = None,
    memories_per_day: Count = None,
    turns_per_day: Count = None,
    tokens_per_day: Count = None,
) -> None:
    """Set limits. Running services follow within seconds.

    For example:

      typed-memory limits set --requests-per-minute 600 --turns-per-day 10000
      typed-memory limits set --key key_... --tokens-per-day 500000
    """
    given = {
        "requests_per_minute": requests_per_minute,
        "memories_per_day": memories_per_day,
        "turns_per_day": turns_per_day,
        "tokens_per_day": tokens_per_day,
    }
    changes = {name: value or None for name, value in given.items() if value is not None}
    if not changes:
        raise CommandFailed("name a limit to set, such as --requests-per-minute 600")
    _print(asyncio.run(_run(tenant, key, changes)))


async def _run(tenant: str, key: str | None, changes: dict[str, int | None]) -> LimitsReport:
    """Return the limits, after the changes if there are any."""
    try:
        wanted = None if key is None else ids.parse(ids.KEY, key)
        if (service := named_service()) is not None:
            refuse_tenant(tenant)
            async with service:
                return await _of_service(service, key, changes)
        async with open_tenant(tenant) as (store, owner):
            found = await store.quotas.report(owner, wanted)
            if not changes:
                return found
            limits = Limits(**{**found.own.model_dump(), **changes})
            return await store.quotas.change(owner, wanted, limits, by=BY_CLI)
    except NotFound as error:
        raise CommandFailed(f"{error.message}. `typed-memory keys list` shows the ids") from None


async def _of_service(service: ServiceClient, key: str | None, changes: dict[str, int | None]) -> LimitsReport:
    """Return the limits at a service, after the changes if there are any; a tenant's are changed by its operator."""
    path = "/admin/limits" if key is None else f"/admin/keys/{key}/limits"
    found = (await service.get(path)).body
    if changes and key is None:
        raise CommandFailed("the operator sets a tenant's limits: name a key with --key, or a database")
    if changes:
        found = (await service.put(path, {**found["own"], **changes})).body
    return LimitsReport(
        own=Limits(**found["own"]), effective=Limits(**found["effective"]), used_today=Usage(**found["used_today"])
    )


def _print(report: LimitsReport) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("limit", "value", "from", "used today"):
        table.add_column(column, no_wrap=True)
    for name in Limits.model_fields:
        own, effective = getattr(report.own, name), getattr(report.effective, name)
        source = "set" if own is not None else "default" if effective is not None else ""
        used = str(getattr(report.used_today, _USED[name])) if name in _USED else ""
        table.add_row(name, "none" if effective is None else str(effective), source, used)
    Console(width=max(out.width, 80), highlight=False).print(table)

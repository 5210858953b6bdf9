"""`typed-memory audit`: read and verify the audit log, directly in the database."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Annotated

import typer

from app import ids, logs
from app.amounts import amount
from app.bootstrap import open_runtime_store
from app.command_line.configuration import settings_of_a_store
from app.command_line.terminal import CommandFailed, say
from app.db.audit import AuditEntry, AuditFilter
from app.db.tenants import Tenant
from app.memory import audit_text
from app.services.audit import Audit, Head, ReplayResult, Verification, describe_fault
from app.services.tenants import Tenants

app = typer.Typer(no_args_is_help=True)


@app.callback()
def audit() -> None:
    """Read the audit log, and verify that nobody changed it.

    This works on the database itself (TM_DATABASE_URL, or the embedded one), so it needs no key.
    """


TenantName = Annotated[str, typer.Option("--tenant", help="The tenant's name.")]

PAGE = 200

_ANCHOR = re.compile(r"([1-9]\d{0,17}):([0-9a-f]{64})")


@app.command()
def verify(
    tenant: Annotated[str | None, typer.Option(help="Only this tenant; without it, all of them.")] = None,
    anchor: Annotated[
        str | None,
        typer.Option(
            metavar="SEQ:DIGEST", help="A head that was kept elsewhere, as `audit head` prints it; needs --tenant."
        ),
    ] = None,
) -> None:
    """Verify the log, and each memory's status and confidence by it.

    Every seal is recomputed from the events it covers, and the state of every memory is rebuilt from them. Exits with
    1 and names the first place where an event was changed, removed, inserted or moved, or where a memory differs from
    the log.

    For example:

      typed-memory audit verify
      typed-memory audit verify --tenant default --anchor 42:9f2c...
    """
    head = None if anchor is None else _head_of(anchor)
    if head is not None and tenant is None:
        raise CommandFailed("--anchor is the head of one tenant: name it with --tenant")
    wrong = asyncio.run(_verify(tenant, head))
    if wrong:
        raise CommandFailed("; ".join(wrong))


@app.command(name="list")
def list_events(
    tenant: TenantName = "default",
    memory: Annotated[str | None, typer.Option(help="Only events of this memory: mem_...")] = None,
    action: Annotated[
        str | None, typer.Option(help="Only this action, or with a dot at the end, actions with this prefix.")
    ] = None,
    actor: Annotated[str | None, typer.Option(help="Only events of the key of this name.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="Most events to print.")] = 50,
) -> None:
    """Print the newest events in the order of time.

    For example:

      typed-memory audit list --action key.
      typed-memory audit list --memory mem_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e
    """
    asked = AuditFilter(memory=None if memory is None else ids.parse(ids.MEMORY, memory), action=action, actor=actor)
    for one in reversed(asyncio.run(_list(tenant, asked, limit))):
        sentence = audit_text.describe(one.action, one.at, one.actor, one.detail, redacted=one.redacted_by is not None)
        about = "" if one.memory is None else f" {ids.public(ids.MEMORY, one.memory)}"
        say(f"{one.at:%Y-%m-%d %H:%M:%S} {one.actor}{about} {one.action}: {sentence}")


@app.command()
def head(tenant: TenantName = "default") -> None:
    """Print number and digest of the newest seal. Stored elsewhere, they prove later that no earlier event changed."""
    found = asyncio.run(_head(tenant))
    if found is None:
        raise CommandFailed("there is no seal yet: the log is empty")
    say(f"{found.seq}:{found.digest.hex()}")


async def _verify(name: str | None, anchor: Head | None) -> list[str]:
    async with _open_services() as (known, log):
        tenants = await known.list() if name is None else [await known.by_name(name)]
        wrong = []
        for one in tenants:
            found = await log.verify(one.id, most=None, anchor=anchor)
            rebuilt = await log.rebuild(one.id)
            wrong += _report(one, found, rebuilt)
    return wrong


def _report(tenant: Tenant, found: Verification, rebuilt: ReplayResult) -> list[str]:
    """Print the results of both checks, and return the faults."""
    unsealed = "" if not found.unsealed else f", {found.unsealed} not sealed yet"
    say(f"{tenant.name}: checked {amount(found.events, 'events')} in {amount(found.seals, 'seals')}{unsealed}")
    for event, count in found.redacted.items():
        say(f"  {count} of them emptied by {ids.public(ids.EVENT, event)}")
    if found.last is not None:
        say(f"  head {found.last.seq}:{found.last.digest.hex()}")
    wrong = []
    if found.broken is not None:
        wrong.append(f"the audit log of {tenant.name} is not what was sealed: {describe_fault(found.broken)}")
    if rebuilt.differs is None:
        say(f"  {amount(rebuilt.memories, 'memories')} as the log says")
    else:
        wrong.append(
            f"{ids.public(ids.MEMORY, rebuilt.differs)} of {tenant.name} is not what the log says: {rebuilt.why}"
        )
    return wrong


async def _list(name: str, asked: AuditFilter, limit: int) -> Sequence[AuditEntry]:
    found: list[AuditEntry] = []
    async with _open_services() as (known, log):
        tenant = await known.by_name(name)
        after = None
        while len(found) < limit:
            some = min(PAGE, limit - len(found))
            page = await log.page(tenant.id, asked, descending=True, after=after, limit=some)
            found.extend(page.items)
            after = page.next
            if after is None:
                break
    return found


async def _head(name: str) -> Head | None:
    async with _open_services() as (known, log):
        tenant = await known.by_name(name)
        await log.seal(tenant.id)
        return await log.head(tenant.id)


@asynccontextmanager
async def _open_services() -> AsyncIterator[tuple[Tenants, Audit]]:
    logs.configure("console", "WARNING")
    async with open_runtime_store(settings_of_a_store()) as store:
        yield store.tenants, Audit(database=store.database)


def _head_of(anchor: str) -> Head:
    found = _ANCHOR.fullmatch(anchor.strip())
    if found is None:
        raise CommandFailed("--anchor must be like 42: and 64 hexadecimal digits, as `audit head` prints it")
    return Head(seq=int(found[1]), digest=bytes.fromhex(found[2]))

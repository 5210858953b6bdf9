"""`typed-memory backup` and `restore`: the whole database as a file, and back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.amounts import amount
from app.command_line.configuration import load_settings, owner_login, service_login, settings_of_a_store
from app.command_line.terminal import CommandFailed, run_to_end, say
from app.db import migrate
from app.db.embedded.server import data_dir
from app.db.login import Login
from app.operations.backup import Backups
from app.settings import Settings

File = Annotated[Path, typer.Argument(metavar="FILE", help="The file.", show_default=False)]

ProgramFolder = Annotated[
    Path | None,
    typer.Option(
        "--programs",
        metavar="FOLDER",
        help="Where pg_dump and pg_restore of the server's version are; by default they are looked for.",
    ),
]

_UNITS = ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB"))


def backup(
    file: File,
    *,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file if it is there.")] = False,
    programs: ProgramFolder = None,
) -> None:
    """Write the whole database into a file while the service runs: all tenants, keys, jobs and the audit log.

    It logs in with TM_MIGRATION_DATABASE_URL, else TM_DIRECT_DATABASE_URL, else TM_DATABASE_URL, else to the embedded
    database, as a superuser or a member of typed_memory_backup: others do not see every row, and are refused.

    For example:

      typed-memory backup memories.dump
    """
    if file.exists() and not overwrite:
        raise CommandFailed(f"{file} is there already: name another file, or say --overwrite")
    run_to_end(_backup(settings_of_a_store(owner_alone=True), file.absolute(), programs))


def restore(file: File, *, programs: ProgramFolder = None) -> None:
    """Fill an empty database from a backup, then bring its schema, roles and privileges up to date.

    The database is TM_MIGRATION_DATABASE_URL, else TM_DIRECT_DATABASE_URL, else TM_DATABASE_URL, else the embedded one
    of a new TM_DATA_DIR. API keys are restored with the rest, so clients keep theirs.

    For example:

      TM_DATA_DIR=/srv/restored typed-memory restore memories.dump
    """
    if not file.is_file():
        raise CommandFailed(f"there is no file {file}")
    run_to_end(_restore(load_settings(), file.absolute(), programs))


async def _backup(settings: Settings, file: Path, programs: Path | None) -> None:
    async with owner_login(settings) as owner:
        made = await _backups(settings, owner, programs).save(file)
    say(f"{file}: {amount(made.tables, 'tables')} of schema {made.revision}, {_size(made.size)}.")


async def _restore(settings: Settings, file: Path, programs: Path | None) -> None:
    async with owner_login(settings) as owner:
        revision = await _backups(settings, owner, programs).restore(file)
        await migrate.bring_up(owner, service_url=service_login(settings))
    say(f"Restored {file}; its schema was {revision}, and is {migrate.head()} now.")
    say("`typed-memory audit verify` proves that nothing was lost or changed.")


def _backups(settings: Settings, owner: Login, programs: Path | None) -> Backups:
    embedded = data_dir(settings).expanduser().resolve() if Login.of_owner(settings) is None else None
    return Backups(owner=owner, programs=programs, unpacked=embedded)


def _size(count: int) -> str:
    for unit, name in _UNITS:
        if count >= unit:
            return f"{count / unit:.1f} {name}"
    return amount(count, "bytes")

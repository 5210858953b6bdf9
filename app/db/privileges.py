"""The roles of the database and what they may do: checked, and made again where they are missing.

A dump holds tables but no roles, and privileges are lost when it is restored into a server without them. Each
migration names what it grants in `GRANTS`, and what it closes to everybody in `CLOSED`; all of it together is what the
service needs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

import asyncpg

from app.db.session import RUNTIME_ROLE
from app.errors import ConfigurationError

LOCK = 7_261_943_004
"""Advisory lock under which privileges are checked and granted, so that starting replicas do it one by one."""

MAKE_ROLE = f"""
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{RUNTIME_ROLE}') THEN
        CREATE ROLE {RUNTIME_ROLE} NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE;
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; -- another database's migration made it
END $$
"""

JOIN_ROLE = f"""
DO $$ BEGIN
    IF NOT pg_has_role(current_user, '{RUNTIME_ROLE}', 'MEMBER') THEN
        EXECUTE format('GRANT {RUNTIME_ROLE} TO %I', current_user);
    END IF;
END $$
"""

USE_SCHEMA = f"DO $$ BEGIN EXECUTE format('GRANT USAGE ON SCHEMA %I TO {RUNTIME_ROLE}', current_schema()); END $$"

ROLE_IS_READY = """
SELECT count(*) = 1 FROM pg_roles
WHERE rolname = $1 AND pg_has_role(current_user, oid, 'MEMBER') AND has_schema_privilege(oid, current_schema(), 'USAGE')
"""

MISSING = """
SELECT count(*) FROM unnest($2::text[], $3::text[], $4::text[], $5::text[]) AS one (kind, object, field, privilege)
WHERE NOT CASE
    WHEN kind = 'FUNCTION' THEN has_function_privilege($1::name, object, privilege)
    WHEN kind = 'SEQUENCE' THEN has_sequence_privilege($1::name, object, privilege)
    WHEN field IS NULL THEN has_table_privilege($1::name, object, privilege)
    ELSE has_column_privilege($1::name, object, field, privilege)
END
"""

STILL_OPEN = """
SELECT count(*) FROM unnest($1::text[]) AS one (object) WHERE has_function_privilege('public', object, 'EXECUTE')
"""

_GRANT = re.compile(r"(?P<privileges>.+) ON (?:(?P<kind>TABLE|SEQUENCE|FUNCTION) )?(?P<objects>.+)")
_LIST = re.compile(r",\s*(?![^(]*\))")
_PRIVILEGE = re.compile(r"(?P<name>[A-Z]+)(?: \((?P<columns>[^)]+)\))?")


@dataclass(frozen=True, slots=True)
class Privilege:
    """One right on one object, or on one of its columns."""

    kind: str
    object: str
    column: str | None
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Privileges:
    """Grants of migrations to the service's role, as written after GRANT, and the functions closed to PUBLIC."""

    grants: Sequence[str]
    closed: Sequence[str]

    async def missing(self, connection: asyncpg.Connection) -> bool:
        """Return whether the role, the owner's membership or a privilege is missing."""
        if not await connection.fetchval(ROLE_IS_READY, RUNTIME_ROLE):
            return True
        wanted = [one for grant in self.grants for one in parsed(grant)]
        columns = [list(column) for column in zip(*((w.kind, w.object, w.column, w.name) for w in wanted), strict=True)]
        if wanted and await connection.fetchval(MISSING, RUNTIME_ROLE, *columns):
            return True
        return bool(await connection.fetchval(STILL_OPEN, self.closed))

    async def repair(self, connection: asyncpg.Connection) -> bool:
        """Make what is missing, one process at a time; return whether anything was.

        Raises asyncpg.InsufficientPrivilegeError when the connection's login may not.
        """
        # The end of the connection gives it back, too.
        await connection.execute("SELECT pg_advisory_lock($1)", LOCK)
        missing = await self.missing(connection)
        if missing:
            for statement in self.statements():
                await connection.execute(statement)
        await connection.execute("SELECT pg_advisory_unlock($1)", LOCK)
        return missing

    def statements(self) -> Iterator[str]:
        """Yield the statements that make the role and all its privileges; each may be run again."""
        yield MAKE_ROLE
        yield JOIN_ROLE
        yield USE_SCHEMA
        for grant in self.grants:
            yield f"GRANT {grant} TO {RUNTIME_ROLE}"
        for function in self.closed:
            yield f"REVOKE ALL ON FUNCTION {function} FROM PUBLIC"


def parsed(grant: str) -> Iterator[Privilege]:
    """Yield the single rights of a grant such as `SELECT, UPDATE (seen_at) ON embedding_models`."""
    found = _GRANT.fullmatch(" ".join(grant.split()))
    if found is None:
        raise ValueError(f"not what follows GRANT: {grant}")
    kind = found["kind"] or "TABLE"
    for one in _LIST.split(found["objects"]):
        for right in _LIST.split(found["privileges"]):
            part = _PRIVILEGE.fullmatch(right)
            if part is None:
                raise ValueError(f"not a privilege: {right}")
            for column in part["columns"].split(", ") if part["columns"] else [None]:
                yield Privilege(kind, one, column, part["name"])


async def admit(connection: asyncpg.Connection, service_url: str) -> bool:
    """Make the login of a URL where it is missing, and a member of the service's role; return whether it was not.

    Raises as `Privileges.repair`, and ConfigurationError when the login is missing and the URL has no password for it.
    """
    parts = urlsplit(service_url)
    login, password = unquote(parts.username or ""), unquote(parts.password or "")
    if not login:
        return False
    known = await connection.fetchrow(
        "SELECT pg_has_role(oid, $2, 'MEMBER') AS member FROM pg_roles WHERE rolname = $1", login, RUNTIME_ROLE
    )
    if known is not None and known["member"]:
        return False
    if known is None:
        if not password:
            raise ConfigurationError(f"the login {login} of TM_DATABASE_URL does not exist: create it")
        create = "SELECT format('CREATE ROLE %I LOGIN NOSUPERUSER NOBYPASSRLS PASSWORD %L', $1::text, $2::text)"
        await connection.execute(await connection.fetchval(create, login, password))
    grant = f"SELECT format('GRANT {RUNTIME_ROLE} TO %I', $1::text)"
    await connection.execute(await connection.fetchval(grant, login))
    return True

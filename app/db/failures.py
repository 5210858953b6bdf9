"""Errors of the database as ours, where a caller or an operator can do something about them."""

from __future__ import annotations

import re

import asyncpg
from sqlalchemy.exc import DBAPIError

from app.errors import Conflict, Dangling, DatabaseBusy, DatabaseUnavailable, StorageFull, WritesRefused

RETRY_AFTER = 2.0
"""Seconds after which to retry what passes by itself."""

_MOST_CAUSES = 8
"""Causes of an error that are looked at: an error may be its own cause."""

_MEND_AFTER = 30.0
"""Seconds after which to retry what a person has to mend."""

_TALK_WITH_NODES = frozenset(
    {
        "adaptive_executor.c",
        "connection_management.c",
        "intermediate_results.c",
        "multi_copy.c",
        "placement_connection.c",
        "remote_commands.c",
        "remote_transaction.c",
    }
)
"""Sources of the coordinator that report, as internal errors, a connection to a node that ends within a transaction."""

_PASSING = {
    asyncpg.PostgresConnectionError: "the database cannot be reached",
    asyncpg.QueryCanceledError: "the database took too long",
    asyncpg.InvalidCachedStatementError: "the schema has just changed",
}


def sqlstate(error: BaseException) -> str | None:
    """Return the database's code of the error that another was made of, None for one of ours."""
    link: BaseException | None = error
    for _ in range(_MOST_CAUSES):
        if link is None or isinstance(link, asyncpg.PostgresError):
            break
        link = link.__cause__
    return str(link.sqlstate) if isinstance(link, asyncpg.PostgresError) else None


def unavailable() -> DatabaseUnavailable:
    """Return our error for a database that cannot be reached."""
    return DatabaseUnavailable("the database cannot be reached: retry in a moment", retry_after=RETRY_AFTER)


def cause_of(error: Exception) -> BaseException | None:
    """Return the driver's error behind one of SQLAlchemy's; another error is its own cause."""
    return error.orig.__cause__ if isinstance(error, DBAPIError) and error.orig is not None else error


def _unavailable_by(cause: BaseException | None) -> DatabaseUnavailable | None:
    """Return our error for what passes, or what the operator must mend before writes are taken again."""
    if (why := _passing(cause)) is not None:
        kind = DatabaseBusy if isinstance(cause, asyncpg.QueryCanceledError) else DatabaseUnavailable
        return kind(f"{why}: retry in a moment", retry_after=RETRY_AFTER)
    match cause:
        case asyncpg.DiskFullError():
            return StorageFull("the database's disk is full: retry when there is room", retry_after=_MEND_AFTER)
        case asyncpg.ReadOnlySQLTransactionError():
            return WritesRefused(f"the database takes no writes ({cause}): retry later", retry_after=_MEND_AFTER)
        case asyncpg.InsufficientPrivilegeError() if "permission denied" in str(cause):
            return WritesRefused(
                "the database denies the service what it needs (permission denied): retry when its grants are mended",
                retry_after=_MEND_AFTER,
            )
        case asyncpg.InsufficientResourcesError():
            return DatabaseUnavailable("the database is short of resources: retry later", retry_after=_MEND_AFTER)
        case _:
            return None


_REFUSED_STATUS = re.compile(r"a memory that is \w+ cannot become")
"""How the guard of statuses begins; an error that a node raises has lost the name of its constraint."""

_NAMED_IN_MESSAGE = re.compile(r'constraint "(\w+?)(?:_\d+)?"')


def constraint_of(error: asyncpg.PostgresError) -> str:
    """Return the name of the constraint that was violated; empty if none was.

    Of one on a node of a cluster only the message says it, with the number of a shard.
    """
    found = _NAMED_IN_MESSAGE.search(str(error))
    return str(error.constraint_name or (found[1] if found else ""))


def translated(cause: BaseException | None) -> Exception | None:
    """Return our error for a database error that a caller can do something about."""
    if (passes := _unavailable_by(cause)) is not None:
        return passes
    if isinstance(cause, asyncpg.SerializationError | asyncpg.DeadlockDetectedError):
        return Conflict("others changed the same memories: retry", retry_after=0.1)
    if isinstance(cause, asyncpg.UniqueViolationError) and constraint_of(cause) == "uq_jobs_only_one":
        return Conflict("the same work waits or runs already: look at the tenant's unfinished jobs")
    if isinstance(cause, asyncpg.CheckViolationError) and _REFUSED_STATUS.match(str(cause)):
        return Conflict(
            f"the memory's status has changed meanwhile ({cause}): read it again and retry", retry_after=0.1
        )
    if isinstance(cause, asyncpg.ForeignKeyViolationError):
        return Dangling("something this refers to was removed meanwhile: read again and retry", retry_after=0.1)
    return None


def _passing(cause: BaseException | None) -> str | None:
    """Return what is wrong where it passes by itself, else None."""
    if isinstance(cause, asyncpg.InternalServerError) and cause.server_source_filename in _TALK_WITH_NODES:
        return _PASSING[asyncpg.PostgresConnectionError]
    return next((why for kind, why in _PASSING.items() if isinstance(cause, kind)), None)

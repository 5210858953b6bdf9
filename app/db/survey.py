"""Going through all memories of a tenant, a page at a time, by an index that is there anyway."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from uuid import UUID

from app.db.session import Database, ReadSession
from app.db.statement import statement

PAGE = 50_000
"""Memories of a page: a quarter of a second of one statement, or two."""

_FIRST = UUID(int=0)
_LAST = UUID(int=2**128 - 1)

_BOUND = statement(
    """
    SELECT scope_id, id FROM memories
    WHERE tenant_id = :tenant AND (scope_id, id) > (:after_scope, :after_id)
    ORDER BY scope_id, id OFFSET :skipped LIMIT 1
    """
)

_UP_TO = statement(
    "SELECT count(*) FROM (SELECT FROM memories WHERE tenant_id = :tenant LIMIT :most) AS few",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A stretch of the memories of a tenant, in the order of (scope, id): behind `after`, up to `last`."""

    after: tuple[UUID, UUID] = (_FIRST, _FIRST)
    last: tuple[UUID, UUID] = (_LAST, _LAST)

    def values(self) -> dict[str, UUID]:
        """Return the bounds as parameters."""
        return {
            "after_scope": self.after[0],
            "after_id": self.after[1],
            "scope": self.last[0],
            "id": self.last[1],
        }


WHOLE = Page()
"""All of them."""


async def pages(database: Database, tenant: UUID, *, size: int = PAGE) -> AsyncIterator[Page]:
    """Yield pages that cover all memories of the tenant, each of `size` but the last."""
    page = WHOLE
    while True:
        async with database.read(tenant) as session:
            after = {"after_scope": page.after[0], "after_id": page.after[1]}
            rows = await session.fetch(_BOUND, {"tenant": tenant, **after, "skipped": size - 1})
        if not rows:
            yield page
            return
        [(scope, memory)] = rows
        yield Page(after=page.after, last=(scope, memory))
        page = Page(after=(scope, memory))


async def count_up_to(session: ReadSession, tenant: UUID, most: int) -> int:
    """Return how many memories the tenant has, or `most` when there are more."""
    [row] = await session.fetch(_UP_TO, {"tenant": tenant, "most": most})
    return int(row[0])

"""The store of a scale run: how many memories each tenant has, by Zipf's law, and in which scopes they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from app.db.apply.scope import LARGE as LARGE_FROM
from app.model import Scope, ScopeKind
from bench.world import tenant_id

BLOCK = 1_000
"""Memories of a user, of whom a tenant has as many as it needs."""


STEPS = (1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64, 90, 128, 180, 256, 360, 512, 720)
"""Sizes of a tenant's last user, which are nearest to what is left of its memories."""

LARGE = "large"
"""The user of the largest tenant whose scope is searched by the vector index, where the tenant is large enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantShape:
    """A tenant's memories: in one large scope, or in those of users with a block each and of a last one."""

    number: int
    large: int
    blocks: int
    last: int

    @property
    def memories(self) -> int:
        """Return how many there are."""
        return self.large + BLOCK * self.blocks + self.last

    def users(self) -> Iterator[str]:
        """Yield the users besides the large one."""
        yield from (block(place) for place in range(self.blocks))
        if self.last:
            yield step(self.last)


def shapes(memories: int, tenants: int, largest: int = 0) -> list[TenantShape]:
    """Return tenants, the largest first, whose sizes fall as one over their rank; the first has `largest` at least."""
    share = memories / sum(1 / rank for rank in range(1, tenants + 1))
    sizes = [round(share / rank) for rank in range(1, tenants + 1)]
    if largest > sizes[0]:
        others = (memories - largest) / (memories - sizes[0])
        sizes = [largest, *(round(size * others) for size in sizes[1:])]
    return [_shape(number, max(1, size)) for number, size in enumerate(sizes)]


def _shape(number: int, size: int) -> TenantShape:
    large = size if number == 0 and size > LARGE_FROM else 0
    blocks, left = divmod(size - large, BLOCK)
    last = min(STEPS, key=lambda one: abs(one - left)) if left or not (blocks or large) else 0
    return TenantShape(number=number, large=large, blocks=blocks, last=last)


def block(place: int) -> str:
    """Return the name of a user with a block of memories."""
    return f"block-{place}"


def step(size: int) -> str:
    """Return the name of a user with fewer."""
    return f"step-{size}"


def user_scope(user: str) -> Scope:
    """Return the scope of a user."""
    return Scope(kind=ScopeKind.USER, user_id=user)


def scope_id(number: int, user: str) -> UUID:
    """Return the id of a user's scope."""
    return user_scope(user).id(tenant_id(number))

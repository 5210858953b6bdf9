"""The store as it grows during a run: which scopes and tenants are there, and the service in front of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from app.model import Scope, ScopeKind
from bench.fill import Bucket, Filler, without_vector_indexes
from bench.world import Service, World, tenant_id

REBUILD_FROM = 5_000
REBUILD_SHARE = 0.3
"""New memories, in all and as a share of those there are, from which to build the vector index anew: faster
than growing it by as many."""

TENANT_SIZE = 5
"""Memories of each of the many small tenants."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How big a run is.

    `written` is the scope that is written to: of a size that stays under `LARGE`, because outgrowing it, once
    in a scope's life, moves all its vectors into their index, and that would be measured along.
    """

    scopes: tuple[int, ...]
    middle: int
    written: int
    largest: int
    tenants: tuple[int, ...]
    questions: int
    requests: int
    seconds: float
    writes: int
    turns: int
    neighbour_questions: int
    aging: int
    adopted: int


FULL = Sizes(
    scopes=(1_000, 10_000, 100_000),
    middle=10_000,
    written=6_000,
    largest=100_000,
    tenants=(10, 1_000, 10_000),
    questions=100,
    requests=400,
    seconds=10.0,
    writes=300,
    turns=600,
    neighbour_questions=50,
    aging=1_000_000,
    adopted=100_000,
)

QUICK = Sizes(
    scopes=(1_000, 10_000),
    middle=10_000,
    written=6_000,
    largest=15_000,
    tenants=(10, 100, 500),
    questions=40,
    requests=120,
    seconds=3.0,
    writes=60,
    turns=150,
    neighbour_questions=30,
    aging=50_000,
    adopted=10_000,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A world with the service running on it. Scopes belong to tenant 0, each to a user named for its size."""

    world: World
    service: Service
    sizes: Sizes
    progress: Callable[[str, int, int], None]
    _scopes: dict[str, int] = field(default_factory=dict)
    _tenants: set[int] = field(default_factory=set)

    @property
    def filler(self) -> Filler:
        """Return what fills the store."""
        return Filler(connection=self.world.owner, embedder=self.world.embedder)

    async def have_scopes(self, sizes: Sequence[int]) -> None:
        """Make sure that the main tenant has scopes of these sizes."""
        await self.have_tenants((0,))
        await self.have_users({user_of(size): size for size in sizes})

    async def have_users(self, users: dict[str, int]) -> None:
        """Make sure that the main tenant has users with so many memories."""
        new = {user: count for user, count in users.items() if user not in self._scopes}
        buckets = [_bucket(0, user, count) for user, count in new.items()]
        await self._fill(f"users {', '.join(new)}", buckets)
        self._scopes.update(new)

    async def have_tenants(self, numbers: Sequence[int]) -> None:
        """Make sure that these tenants exist; the small ones have their memories."""
        new = [number for number in numbers if number not in self._tenants]
        if not new:
            return
        await self.world.add_tenants(new)
        buckets = [_bucket(number, "user", TENANT_SIZE) for number in new if number > 0]
        await self._fill(f"{len(buckets):,} tenants", buckets)
        self._tenants.update(new)

    async def _fill(self, what: str, buckets: Sequence[Bucket]) -> None:
        total, done = sum(bucket.count for bucket in buckets), 0
        if not total:
            return

        def advance(count: int) -> None:
            nonlocal done
            done += count
            self.progress(f"fill: {what}", done, total)

        self.progress(f"fill: {what}", 0, total)
        there = sum(self._scopes.values()) + TENANT_SIZE * len(self._tenants)
        if total < max(REBUILD_FROM, REBUILD_SHARE * there):
            await self.filler.fill(buckets, advance)
            return
        async with without_vector_indexes(self.world.owner):
            await self.filler.fill(buckets, advance)
            self.progress("build the vector index", 0, 0)


def user_of(size: int) -> str:
    """Return the user of the main tenant whose scope has that many memories."""
    return f"user-{size}"


def seed_of(tenant: int, user: str) -> str:
    """Return the seed that a scope's memories are made from."""
    return f"{tenant}/{user}"


def _bucket(tenant: int, user: str, count: int) -> Bucket:
    scope = Scope(kind=ScopeKind.USER, user_id=user)
    return Bucket(tenant=tenant_id(tenant), scope=scope, count=count, seed=seed_of(tenant, user))

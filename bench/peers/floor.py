"""What a question to the service can't be faster than: its statements by a bare driver, and HTTP that does nothing."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from uuid import UUID

from app.read.values import QueryRequest
from bench.asking import statements
from bench.capture import Bare, Statement
from bench.client import Post, load, timed
from bench.figures import Spread
from bench.world import Service, World

CLIENTS = (1, 8)
_SECONDS = 60.0
_STATEMENTS, _EMPTY = "its statements, bare", "GET /healthz"


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """The statements of each question, the connections that they are sent by, and the service's port."""

    seen: Sequence[Sequence[Statement]]
    bare: Sequence[Bare]
    port: int
    parts = (_STATEMENTS, _EMPTY)

    async def measured(self, clients: int, count: int) -> dict[str, Spread]:
        """Return how long each part takes, `count` times by so many clients."""
        runs = [one.run for one in self.bare[:clients]]
        empty = [Post.reading("/healthz")]
        return {
            _STATEMENTS: await timed(runs, self.seen, count=count, seconds=_SECONDS),
            _EMPTY: await load(self.port, empty, clients=clients, count=count, seconds=_SECONDS),
        }


async def floor_of(
    world: World, tenant: UUID, service: Service, asked: Sequence[QueryRequest], stack: AsyncExitStack
) -> Floor:
    """Return the floor of a tenant's questions; the stack closes its connections."""
    bare = []
    for _ in range(max(CLIENTS)):
        connection = await world.asking(tenant)
        stack.push_async_callback(connection.close)
        bare.append(Bare(connection))
    return Floor(seen=await statements(world, tenant, asked), bare=bare, port=service.port)

"""How throughput grows with the processes of `serve --workers`, and what processor time a request costs each side.

The asking side shares the machine, so requests a second say little where there are few cores. The processor time of a
request does not depend on that: so many cores bound so many requests.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.asking import post, questions
from bench.client import Post, load
from bench.figures import Book, Spread
from bench.stage import Stage, seed_of, user_of
from bench.world import Service, key_of, serving

COUNTS = (1, 2)
CLIENTS = 8
ROUNDS = 4
_TICK = os.sysconf("SC_CLK_TCK")
_COLUMNS = (
    "what",
    "processes",
    "p50 ms",
    "p95 ms",
    "p99 ms",
    "a second",
    "ms of service",
    "ms of Postgres",
    "ms of asking",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Seconds of processor time, of the service, the database server and this process."""

    service: float
    server: float
    asking: float

    def since(self, before: Cost, requests: int) -> tuple[str, str, str]:
        """Return the milliseconds of a request since then, as text."""
        pairs = ((self.service, before.service), (self.server, before.server), (self.asking, before.asking))
        service, server, asking = (f"{1000 * (now - then) / requests:.2f}" for now, then in pairs)
        return service, server, asking


async def processes(stage: Stage, book: Book) -> None:
    """Measure questions and typed writes from many clients, by one process and by two, in turns."""
    size = stage.sizes.scopes[0]
    await stage.have_scopes([size])
    user = user_of(size)
    asked = [post(one, user, key_of(0)) for one in questions(seed_of(0, user), size, stage.sizes.questions)]
    server = await stage.world.owner.fetchval("SELECT pg_backend_pid()")
    found: dict[tuple[str, int], list[tuple[Spread, tuple[str, str, str]]]] = {}
    for turn in range(ROUNDS):
        for count in COUNTS:
            stage.progress(f"{count} processes", turn, ROUNDS)
            async with serving(stage.world, TM_WEB_WORKERS=str(count), TM_WORKER="off") as service:
                for what, posts in (("POST /query", asked), ("POST /memories/typed/fact", _facts(turn, count, stage))):
                    await load(service.port, posts, clients=CLIENTS, count=2 * CLIENTS, seconds=stage.sizes.seconds)
                    found.setdefault((what, count), []).append(await _measured(stage, service, posts, server))
    rows = []
    for (what, count), rounds in sorted(found.items()):
        costs = zip(*(cost for _, cost in rounds), strict=True)
        means = [f"{sum(map(float, one)) / len(rounds):.2f}" for one in costs]
        rows.append((what, str(count), *Spread.joined([spread for spread, _ in rounds]).cells(), *means))
    note = (
        f"{CLIENTS} clients, which take processor time of the same {os.cpu_count()} cores. The last three columns are "
        "processor time of one request: the service's processes, all of Postgres', and the asking side's."
    )
    book.table("Requests by one process and by two", _COLUMNS, rows, note)


async def _measured(
    stage: Stage, service: Service, posts: Sequence[Post], server: int
) -> tuple[Spread, tuple[str, str, str]]:
    before = _cost(service, server)
    spread = await load(service.port, posts, clients=CLIENTS, count=stage.sizes.requests, seconds=stage.sizes.seconds)
    return spread, _cost(service, server).since(before, len(spread.seconds))


def _facts(turn: int, count: int, stage: Stage) -> list[Post]:
    """Return writes to a user for each client, as many services have."""
    return [
        Post.of(
            "/memories/typed/fact",
            {"user_id": f"writer {place % CLIENTS}", "predicate": f"bought-{turn}-{count}", "object": f"thing {place}"},
            key_of(0),
        )
        for place in range(stage.sizes.requests)
    ]


def _cost(service: Service, backend: int) -> Cost:
    postmaster = _stat(backend)[1]
    return Cost(service=_family(service.pid), server=_family(int(postmaster)), asking=_family(os.getpid(), alone=True))


def _family(pid: int, *, alone: bool = False) -> float:
    """Return the processor time of a process and its children, ended ones included, in seconds."""
    own = _stat(pid)
    total = sum(float(one) for one in own[11 : 13 if alone else 15])
    if not alone:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        total += sum(sum(float(one) for one in _stat(int(child))[11:15]) for child in children)
    return total / _TICK


def _stat(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat that follow the program's name."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()

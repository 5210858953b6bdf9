"""Behaviour under overload: requests arrive at 1, 2, 4 and 16 times the capacity, whatever becomes of earlier ones."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count, cycle
from statistics import median
from time import perf_counter, process_time

import numpy as np

from bench.asking import post, questions
from bench.client import LENGTH, Post
from bench.figures import Book
from bench.stage import Stage, seed_of, user_of
from bench.world import key_of

FACTORS = (1, 2, 4, 16)
SECONDS = 8.0
GIVE_UP_SECONDS = 90.0
"""After the last arrival: what is not answered by then counts as unanswered."""

SCOPE = 1_000
CLIENTS = 8
"""Clients by which the capacity is measured: each asks again when it is answered, or may."""

CROWD = 64
LOOPS = (64, 256, 1_000)
"""Connections that ask again as soon as they are answered, whatever the answer."""

LOOPS_BESIDE = 256
LOOP_SECONDS = 6.0
LOOP_ROUNDS = 2
RETRY_AFTER_SECONDS = 1.0
TURNED_AWAY = frozenset({429, 503})
QUIET_PAUSE = 0.05
_CLOSES = b"connection: close"
COLUMNS = ("load", "sent", "a second", "p50 ms", "p95 ms", "503", "other", "s", "cpu s")
"""`sent`: requests; `a second`: served; `503`: turned away; `s`: until all was answered; `cpu s`: what sending took."""


@dataclass(slots=True)
class Answers:
    """What came back: seconds of each answer by its status; 0 stands for a broken connection."""

    taken: dict[int, list[float]] = field(default_factory=dict)
    unanswered: int = 0
    broken: int = 0
    began: float = 0.0
    served_at: float = 0.0
    """When the last request was served: after it there may be refusals alone, which come late."""
    wall: float = 0.0
    cpu: float = 0.0

    @contextmanager
    def timed(self) -> Iterator[float]:
        """Measure the block, in which the requests are sent; yield its beginning."""
        self.began, worked = perf_counter(), process_time()
        yield self.began
        self.wall, self.cpu = perf_counter() - self.began, process_time() - worked

    def add(self, status: int, seconds: float) -> None:
        """Count an answer."""
        self.taken.setdefault(status, []).append(seconds)
        if _is_good(status):
            self.served_at = perf_counter()

    @property
    def good(self) -> list[float]:
        """Return the seconds of the requests that were served."""
        return [one for status, all_of in self.taken.items() if _is_good(status) for one in all_of]

    def per_second(self) -> float:
        """Return how many requests were served a second, up to the last of them."""
        span = self.served_at - self.began
        return len(self.good) / span if span > 0 else 0.0

    def percentile(self, share: float) -> float:
        """Return a percentile, in milliseconds, of the requests that were served."""
        return float(np.percentile(self.good or [float("nan")], share)) * 1000

    def others(self) -> int:
        """Return how many were neither served nor turned away with 503 or 429."""
        return self.unanswered + sum(
            len(found) for status, found in self.taken.items() if not _is_good(status) and status not in TURNED_AWAY
        )


class Wire(asyncio.Protocol):
    """One connection; it asks one request at a time, at little cost."""

    def __init__(self) -> None:
        self._got = bytearray()
        self._answer: asyncio.Future[int] | None = None
        self.closed = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - narrows for the type checker
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """Read up to the end of the answer."""
        self._got += data
        head = self._got.find(b"\r\n\r\n")
        if head < 0 or self._answer is None or self._answer.done():
            return
        start = self._got.lower().find(b"content-length:")
        length = int(self._got[start + 15 : self._got.index(b"\r", start)]) if 0 <= start < head else 0
        if len(self._got) >= head + 4 + length:
            status = int(self._got[9:12])
            self.closed = _CLOSES in self._got[:head].lower()
            self._got.clear()
            self._answer.set_result(status)

    def connection_lost(self, _exc: Exception | None) -> None:
        """Answer 0: the connection broke."""
        self.closed = True
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(0)

    async def ask(self, content: bytes) -> int:
        """Send a request and return the status of its answer."""
        self._answer = asyncio.get_running_loop().create_future()
        self.transport.write(content)
        return await self._answer


class Loop(asyncio.Protocol):
    """A connection that asks again in the moment it is answered, as load generators do; broken, it connects anew."""

    def __init__(self, port: int, requests: Iterator[Post], answers: Answers) -> None:
        self._port, self._requests, self._answers = port, requests, answers
        self._got = b""
        self._over = False
        self._transport: asyncio.Transport | None = None
        self._asked = 0.0

    async def connect(self) -> None:
        """Connect, which asks the first request."""
        with suppress(OSError):
            await asyncio.get_running_loop().create_connection(lambda: self, "127.0.0.1", self._port)

    def stop(self) -> None:
        """Ask no more."""
        self._over = True
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - narrows for the type checker
        self._transport = transport
        self._ask()

    def data_received(self, data: bytes) -> None:
        """Count an answer that is whole, and ask again."""
        self._got += data
        head = self._got.find(b"\r\n\r\n")
        found = LENGTH.search(self._got) if head >= 0 else None
        if found is not None and len(self._got) >= head + 4 + int(found[1]):
            self._answers.add(int(self._got[9:12]), perf_counter() - self._asked)
            self._ask()

    def connection_lost(self, _exc: Exception | None) -> None:
        """Connect anew."""
        if not self._over:
            self._answers.broken += 1
            self._again = asyncio.ensure_future(self.connect())

    def _ask(self) -> None:
        if self._transport is not None and not self._over:
            self._got, self._asked = b"", perf_counter()
            self._transport.write(next(self._requests).content)


@asynccontextmanager
async def looping(port: int, requests: Iterator[Post], *, connections: int) -> AsyncIterator[Answers]:
    """Ask by so many looping connections while the block runs; yield their answers."""
    answers = Answers()
    loops = [Loop(port, requests, answers) for _ in range(connections)]
    try:
        with answers.timed():
            await asyncio.gather(*(one.connect() for one in loops))
            yield answers
    finally:
        for one in loops:
            one.stop()
        await asyncio.sleep(1)


@dataclass(slots=True)
class Pool:
    """Connections to the service, as many as there are requests open."""

    port: int
    idle: list[Wire] = field(default_factory=list)

    async def ask(self, request: Post, answers: Answers) -> int:
        """Send a request on an idle connection, else on a new one; count its answer, and return its status."""
        started = perf_counter()
        try:
            wire = await self._wire()
            status = await wire.ask(request.content)
        except OSError:
            status = 0
        else:
            if status and not wire.closed:
                self.idle.append(wire)
        answers.add(status, perf_counter() - started)
        return status

    def close(self) -> None:
        """Close what is idle."""
        for wire in self.idle:
            wire.transport.close()
        self.idle.clear()

    async def _wire(self) -> Wire:
        while self.idle:
            wire = self.idle.pop()
            if not wire.closed:
                return wire
        _, made = await asyncio.get_running_loop().create_connection(Wire, "127.0.0.1", self.port)
        return made


async def overload(stage: Stage, book: Book) -> None:
    """Measure the capacity, then load the service beyond it, then one tenant beside a crowd of another's."""
    await stage.have_scopes([SCOPE])
    await stage.have_tenants((1,))
    requests = mixed(user_of(SCOPE), seed_of(0, user_of(SCOPE)), key_of(0))
    stage.progress("capacity", 0, 0)
    await closed(stage.service.port, requests, clients=CLIENTS, seconds=SECONDS / 2)
    capacity = await closed(stage.service.port, requests, clients=CLIENTS, seconds=SECONDS)
    rate = capacity.per_second()
    rows = [_row(f"closed, {CLIENTS} clients", capacity)]
    found = {}
    for factor in FACTORS:
        stage.progress(f"{factor} times the capacity", FACTORS.index(factor), len(FACTORS))
        found[factor] = await opened(stage.service.port, requests, rate=factor * rate, seconds=SECONDS)
        rows.append(_row(f"open, {factor}x", found[factor]))
        await asyncio.sleep(1)
    book.table(
        "Overload", COLUMNS, rows, f"1x is {rate:.0f} requests a second, two thirds questions, one third writes."
    )
    once = found[1]
    for factor in FACTORS[1:]:
        goodput = found[factor].per_second() / once.per_second()
        book.check(f"served a second at {factor}x over that at 1x", goodput, ">=", 0.8)
        book.check(f"p95 at {factor}x over that at 1x", found[factor].percentile(95) / once.percentile(95), "<", 4)
    book.check("neither served nor turned away", sum(one.others() for one in found.values()), "==", 0)
    await _fairness(stage, book, requests)
    await _loops(stage, book, requests)


def mixed(user: str, seed: str, key: str) -> Iterator[Post]:
    """Yield requests without end: two questions, one write of a new fact."""
    asked = cycle(post(one, user, key) for one in questions(seed, SCOPE, 60))
    for number in count():
        body = {"predicate": "visited", "object": f"place {number}", "user_id": f"{user}-writes-{number % 50}"}
        yield from (next(asked), next(asked), Post.of("/memories/typed/fact", body, key))


async def closed(port: int, requests: Iterator[Post], *, clients: int, seconds: float) -> Answers:
    """Return the answers to clients that each ask again when they are answered; as `Retry-After` says if not served."""
    pool, answers = Pool(port), Answers()
    with answers.timed() as started:

        async def client() -> None:
            while perf_counter() - started < seconds:
                if await pool.ask(next(requests), answers) in TURNED_AWAY:
                    await asyncio.sleep(RETRY_AFTER_SECONDS)

        await asyncio.gather(*(client() for _ in range(clients)))
    pool.close()
    return answers


async def opened(port: int, requests: Iterator[Post], *, rate: float, seconds: float) -> Answers:
    """Return the answers to requests that arrive at random, `rate` a second, whatever became of earlier ones."""
    pool, answers, tasks = Pool(port), Answers(), set[asyncio.Task[int]]()
    chance = random.Random(1)  # noqa: S311 - no secret
    with answers.timed() as due:
        end = due + seconds
        while (due := due + chance.expovariate(rate)) < end:
            if (pause := due - perf_counter()) > 0:
                await asyncio.sleep(pause)
            task = asyncio.create_task(pool.ask(next(requests), answers))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=GIVE_UP_SECONDS)
            answers.unanswered = len(late)
            for task in late:
                task.cancel()
    pool.close()
    return answers


async def _fairness(stage: Stage, book: Book, crowd: Iterator[Post]) -> None:
    """Measure a tenant that asks now and then, alone and beside a crowd of another tenant's clients."""
    asked = cycle([post(one, "user", key_of(1)) for one in questions(seed_of(1, "user"), 5, 5)])
    stage.progress("a quiet tenant", 0, 0)
    await _now_and_then(stage.service.port, asked, seconds=2)
    alone = await _now_and_then(stage.service.port, asked, seconds=SECONDS)
    busy = asyncio.create_task(closed(stage.service.port, crowd, clients=CROWD, seconds=SECONDS + 2))
    await asyncio.sleep(1)
    beside = await _now_and_then(stage.service.port, asked, seconds=SECONDS)
    rows = [
        _row("the quiet tenant alone", alone),
        _row(f"beside {CROWD} clients of another", beside),
        _row(f"those {CROWD}", await busy),
    ]
    book.table("Fairness", COLUMNS, rows)
    book.check("a quiet tenant's p95 beside a crowd over alone", beside.percentile(95) / alone.percentile(95), "<", 1.5)


async def _loops(stage: Stage, book: Book, requests: Iterator[Post]) -> None:
    """Measure what is served to clients that ask again at once, and to a quiet tenant beside them, in turns."""
    port, shares = stage.service.port, {loops: list[float]() for loops in LOOPS}
    asked = cycle([post(one, "user", key_of(1)) for one in questions(seed_of(1, "user"), 5, 5)])
    slower, rows = list[float](), []
    for number in range(LOOP_ROUNDS):
        stage.progress("clients that ask again at once", number, LOOP_ROUNDS)
        once = await closed(port, requests, clients=CLIENTS, seconds=LOOP_SECONDS)
        rows.append(_row(f"{CLIENTS} clients", once))
        for loops in LOOPS:
            async with looping(port, requests, connections=loops) as answers:
                await asyncio.sleep(LOOP_SECONDS)
            rows.append(_row(f"{loops:,} that ask again at once", answers))
            shares[loops].append(answers.per_second() / once.per_second())
        alone = await _now_and_then(port, asked, seconds=LOOP_SECONDS)
        async with looping(port, requests, connections=LOOPS_BESIDE):
            await asyncio.sleep(1)
            beside = await _now_and_then(port, asked, seconds=LOOP_SECONDS)
        rows += [
            _row("the quiet tenant alone", alone),
            _row(f"beside {LOOPS_BESIDE} that ask again at once", beside),
        ]
        slower.append(beside.percentile(50) / alone.percentile(50))
    book.table("Clients that ask again at once", COLUMNS, rows)
    for loops, found in shares.items():
        book.check(f"served to {loops:,} that ask again at once over {CLIENTS} clients", median(found), ">=", 0.8)
    book.check(
        f"a quiet tenant's p50 beside {LOOPS_BESIDE} that ask again at once over alone", median(slower), "<=", 1.5
    )


async def _now_and_then(port: int, requests: Iterator[Post], *, seconds: float) -> Answers:
    pool, answers = Pool(port), Answers()
    with answers.timed() as started:
        while perf_counter() - started < seconds:
            await pool.ask(next(requests), answers)
            await asyncio.sleep(QUIET_PAUSE)
    pool.close()
    return answers


def _is_good(status: int) -> bool:
    return 200 <= status < 300  # noqa: PLR2004


def _row(name: str, answers: Answers) -> Sequence[str]:
    statuses = Counter({status: len(taken) for status, taken in answers.taken.items()})
    away = statuses[503] + statuses[429]
    return (
        name,
        f"{statuses.total() + answers.unanswered:,}",
        f"{answers.per_second():.0f}",
        f"{answers.percentile(50):.0f}",
        f"{answers.percentile(95):.0f}",
        f"{away:,}",
        f"{answers.others():,}",
        f"{answers.wall:.1f}",
        f"{answers.cpu:.1f}",
    )

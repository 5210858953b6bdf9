"""A soak: mixed load on two replicas and two workers that are killed at random; a skewed clock, a disk that fills up,
a rolling restart.

`make soak` runs it for SOAK_MINUTES, by default 30, and ends with 1 if anything was lost, doubled, half-written, seen
by another tenant, answered with an unexpected error, or if memory grew. The disk is a file system of its own, in a file
that is mounted: without the right to mount it does not fill up.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import asyncpg
import httpx

from bench.ports import free_port
from tests.commands.program import PROGRAM, ROOT, environment
from tests.db.embedded_service import Service
from tests.faults.test_killed_under_load import MOST_PARKED, ORPHANS, settled
from tests.support.folders import open_folder

CLIENTS = 32
KEY = "tm_key_of_the_soak_0123456789abcdefghijklmnop"
OPERATOR = "operator_key_of_the_soak_0123456789"
MARKERS = ("Aurelia", "Borealis")
"""What only the one or the other tenant's memories say."""

SKEW = "-90s"
FAKETIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1")
SKEWED = FAKETIME.exists()
EXPECTED = frozenset({200, 201, 202, 409, 429, 503, 507})
GROWTH = 1.3
DISK_BYTES = 12 << 30
SMALLEST_PIECE = 4096
FULL_SECONDS = 20.0
PAUSE_SECONDS = 0.1
START_SECONDS = 300.0
"""Patience with a start on a machine that does other things, too; recovery times are printed."""

PARKED = "its worker died"
"""Said of a turn whose job lost so many workers that it looks like the cause: it is kept, and can be retried."""

TURNS = """
SELECT t.id, t.status, t.reason, t.status = 'processed' OR (t.reason LIKE 'the same was said%' AND EXISTS (
        SELECT FROM turns o WHERE (o.tenant_id, o.scope_id, o.content) = (t.tenant_id, t.scope_id, t.content)
        AND o.status = 'processed'
    )) AS done
FROM turns t
"""
"""A request whose process died between its write and its answer is run again a minute later: its turn is stored twice,
and one of the two is skipped as a repetition."""

KILL_SECONDS = (6.0, 12.0)
HALF_WRITTEN = (
    "memories without an index row",
    "index rows without a memory",
    "the same statement of a turn twice",
    "memories counted otherwise than they are",
    "turns counted otherwise than they are",
)


@dataclass(slots=True)
class Supervised:
    """A process that is started again whenever it ends, as systemd would."""

    name: str
    arguments: Sequence[str]
    settings: dict[str, str]
    log: Path
    url: str = ""
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(  # noqa: S603 - our own program
                [*PROGRAM, *self.arguments], cwd=ROOT, env=environment(**self.settings), stdout=log, stderr=log
            )

    def send(self, number: signal.Signals) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(number)

    async def stop(self) -> None:
        self.send(signal.SIGTERM)
        if self.process is not None:
            await asyncio.to_thread(self.process.wait, 60)

    async def supervise(self) -> None:
        while True:
            if self.process is None or self.process.poll() is not None:
                self.start()
            await asyncio.sleep(0.3)

    def resident(self) -> int | None:
        """Return the process's memory in kilobytes."""
        with suppress(OSError, AttributeError, StopIteration, ValueError):
            status = Path(f"/proc/{self.process.pid}/status").read_text()  # type: ignore[union-attr]
            return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")))
        return None


@dataclass(frozen=True, slots=True)
class Disk:
    """A file system for the data folder alone, which can be filled up; `path` is None where it could not be mounted."""

    path: Path | None

    def fill(self) -> None:
        """Take what is free."""
        assert self.path is not None
        piece = DISK_BYTES
        with (self.path / "filler").open("ab") as file:
            while piece >= SMALLEST_PIECE:
                try:
                    os.posix_fallocate(file.fileno(), os.fstat(file.fileno()).st_size, piece)
                except OSError:
                    piece //= 2

    def empty(self) -> None:
        """Give it back."""
        assert self.path is not None
        (self.path / "filler").unlink()


@contextmanager
def mounted(folder: Path) -> Iterator[Disk]:
    """Mount a file system of DISK_BYTES, which take up only what is used of them, until the block ends."""
    image, path = folder / "disk.img", folder / "disk"
    path.mkdir()
    with image.open("wb") as file:
        file.truncate(DISK_BYTES)
    make = ["mkfs.ext4", "-q", "-m", "0", str(image)]
    mount = ["mount", "-o", "loop", str(image), str(path)]
    if any(subprocess.run(one, capture_output=True, check=False).returncode for one in (make, mount)):  # noqa: S603
        yield Disk(None)
        return
    try:
        yield Disk(path)
    finally:
        subprocess.run(["umount", "--lazy", str(path)], check=True)  # noqa: S603, S607


@dataclass(slots=True)
class Ledger:
    """What was acknowledged, and what went wrong."""

    memories: set[str] = field(default_factory=set)
    turns: set[str] = field(default_factory=set)
    statuses: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    kills: Counter[str] = field(default_factory=Counter)
    recoveries: dict[str, list[float]] = field(default_factory=dict)
    resident: list[int] = field(default_factory=list)
    while_full: Counter[str] = field(default_factory=Counter)
    parked: int = 0


@dataclass(slots=True)
class Caller:
    """One client: a user of its own in one of the two tenants."""

    number: int
    key: str
    marker: str
    foreign: str
    replicas: Sequence[Supervised]
    client: httpx.AsyncClient
    ledger: Ledger
    numbers: count[int] = field(default_factory=count)
    theme: str | None = None

    @property
    def user(self) -> str:
        return f"user-{self.number}"

    async def run(self, chance: random.Random) -> None:
        while True:
            work = chance.choices((self.fact, self.preference, self.turn, self.question), (4, 1, 2, 3))[0]
            await work()
            await asyncio.sleep(PAUSE_SECONDS)

    async def fact(self) -> None:
        place = next(self.numbers)
        body = {
            "subject": f"{self.marker} {self.number}-{place}",
            "predicate": "visited",
            "object": f"{self.marker} City",
        }
        answer = await self.send("/memories/typed/fact", {**body, "user_id": self.user}, f"fact-{place}")
        self.ledger.memories.add(answer["memory"]["id"])

    async def preference(self) -> None:
        place = next(self.numbers)
        theme = f"{self.marker} {place}"
        body = {"preference_key": "editor.theme", "preference_value": theme, "user_id": self.user}
        answer = await self.send("/memories/typed/preference", body, f"preference-{place}")
        self.ledger.memories.add(answer["memory"]["id"])
        self.theme = theme

    async def turn(self) -> None:
        place = next(self.numbers)
        said = f"My colleague {self.marker}{self.number}x{place} works as a baker and lives in Oslo."
        answer = await self.send("/turns", {"content": said, "user_id": self.user}, f"turn-{place}")
        self.ledger.turns |= {one["id"] for one in answer["turns"]}

    async def question(self) -> None:
        if self.theme is None:
            return
        body = {"query": "Which editor theme do I prefer?", "types": ["preference"], "user_id": self.user}
        answer = await self.send("/query", body, None)
        found = [one["memory"]["preference_value"] for one in answer["memories"] if one["memory"]]
        if found != [self.theme]:
            self.ledger.wrong.append(f"{self.user} prefers {self.theme}, and was answered {found}")

    async def send(self, path: str, body: dict[str, Any], name: str | None) -> Any:
        """Send until it is acknowledged, under one Idempotency-Key."""
        headers = {"Authorization": f"Bearer {self.key}"}
        if name is not None:
            headers["Idempotency-Key"] = f"{self.number}-{name}"
        for attempt in count(self.number):
            url = self.replicas[attempt % len(self.replicas)].url
            try:
                answer = await self.client.post(f"{url}{path}", json=body, headers=headers)
            except httpx.HTTPError as error:
                self.ledger.statuses[type(error).__name__] += 1
                await asyncio.sleep(0.3)
                continue
            self.ledger.statuses[str(answer.status_code)] += 1
            if answer.status_code not in EXPECTED:
                self.ledger.wrong.append(f"{path}: {answer.status_code} {answer.text[:200]}")
            if self.foreign in answer.text:
                self.ledger.wrong.append(f"{path}: {self.user} saw the other tenant's memories")
            if answer.is_success:
                return answer.json()
            await asyncio.sleep(0.3)
        raise AssertionError("unreachable")


@dataclass(slots=True)
class Soak:
    """The processes, their database and what is known of them."""

    folder: Path
    data: Path
    disk: Disk
    database_url: str
    seconds: float
    client: httpx.AsyncClient
    ledger: Ledger = field(default_factory=Ledger)
    chance: random.Random = field(default_factory=lambda: random.Random(11))  # noqa: S311
    replicas: list[Supervised] = field(default_factory=list)
    workers: list[Supervised] = field(default_factory=list)

    async def run(self) -> None:
        self.prepare()
        watching = [asyncio.create_task(one.supervise()) for one in (*self.replicas, *self.workers)]
        try:
            for one in self.replicas:
                await self.ready(one, START_SECONDS)
            await self.load()
        finally:
            for task in watching:
                task.cancel()
            await asyncio.gather(*watching, return_exceptions=True)
            await asyncio.gather(*(one.stop() for one in (*self.workers, *self.replicas)))

    def prepare(self) -> None:
        common = {
            "TM_DATA_DIR": str(self.data),
            "TM_BOOTSTRAP_KEY": KEY,
            "TM_OPERATOR_KEY": OPERATOR,
            "TM_PRE_STOP_DELAY": "1",
            "TM_LOG_LEVEL": "WARNING",
            "TM_DATABASE_POOL_SIZE": "6",
        }
        for number, name in enumerate(("replica A", "replica B")):
            port = str(free_port())
            settings = {**common, "TM_WORKER": "off", "TM_PORT": port}
            if number and SKEWED:
                # By its address: the embedded server's files are for processes with the machine's clock.
                settings |= {"LD_PRELOAD": str(FAKETIME), "FAKETIME": SKEW, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
                settings |= {"TM_DATABASE_URL": self.database_url}
            log = self.folder / f"{name}.log"
            self.replicas.append(Supervised(name, ["serve"], settings, log, f"http://127.0.0.1:{port}"))
        for name in ("worker 1", "worker 2"):
            settings = {**common, "TM_WORKER_PATIENCE": "3"}
            self.workers.append(Supervised(name, ["worker"], settings, self.folder / f"{name}.log"))

    async def ready(self, replica: Supervised, within: float) -> None:
        deadline = time.monotonic() + within
        while not await self.is_ready(replica):
            assert time.monotonic() < deadline, f"{replica.name} is not ready: {replica.log.read_text()[-2000:]}"
            await asyncio.sleep(0.1)

    async def is_ready(self, replica: Supervised) -> bool:
        with suppress(httpx.HTTPError):
            return (await self.client.get(f"{replica.url}/readyz")).status_code == httpx.codes.OK
        return False

    async def load(self) -> None:
        operator = {"Authorization": f"Bearer {OPERATOR}"}
        keys = []
        for name in MARKERS:
            made = await self.client.post(
                f"{self.replicas[0].url}/admin/tenants", json={"name": name}, headers=operator
            )
            keys.append(made.json()["key"]["key"])
        callers = []
        for number in range(CLIENTS):
            own = number % 2
            callers.append(
                Caller(number, keys[own], MARKERS[own], MARKERS[1 - own], self.replicas, self.client, self.ledger)
            )
        calling = [asyncio.create_task(one.run(random.Random(one.number))) for one in callers]  # noqa: S311
        sampling = asyncio.create_task(self.sample())
        try:
            await self.kill_until(time.monotonic() + self.seconds / 2, (*self.replicas, *self.workers))
            if self.disk.path is not None:
                await self.fill_disk()
            await self.restart()
            self.ledger.resident.clear()
            await self.kill_until(time.monotonic() + self.seconds / 2, (self.replicas[0], *self.workers))
        finally:
            for task in (*calling, sampling):
                task.cancel()
            ended = await asyncio.gather(*calling, sampling, return_exceptions=True)
        self.ledger.wrong += [f"a client ended: {one!r}" for one in ended if isinstance(one, Exception)]

    async def kill_until(self, deadline: float, victims: Sequence[Supervised]) -> None:
        """Kill one of them, or the database, again and again, and time each recovery."""
        while time.monotonic() < deadline:
            await asyncio.sleep(self.chance.uniform(*KILL_SECONDS))
            victim = self.chance.choice((*victims, None))
            began = time.monotonic()
            if victim is None:
                os.kill(int((self.data / "cluster" / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)
                await asyncio.sleep(0.2)
            else:
                victim.send(signal.SIGKILL)
                await asyncio.sleep(0.5)
            name = "Postgres" if victim is None else victim.name
            self.ledger.kills[name] += 1
            if victim in self.workers:
                continue
            for one in self.replicas if victim is None else [victim]:
                await self.ready(one, START_SECONDS)
            self.ledger.recoveries.setdefault(name, []).append(time.monotonic() - began)

    async def fill_disk(self) -> None:
        """Fill the database's disk until both replicas are not ready for writes, and for a while longer."""
        before, deadline = self.ledger.statuses.copy(), time.monotonic() + START_SECONDS
        waiting = list(self.replicas)
        while waiting:
            await asyncio.to_thread(self.disk.fill)
            await asyncio.sleep(0.5)
            waiting = [one for one in waiting if await self.is_ready(one)]
            assert time.monotonic() < deadline, f"{[one.name for one in waiting]} are ready although the disk is full"
        full_until = time.monotonic() + FULL_SECONDS
        while time.monotonic() < full_until:
            await asyncio.to_thread(self.disk.fill)
            await asyncio.sleep(0.5)
        self.ledger.while_full = self.ledger.statuses - before
        self.disk.empty()
        began = time.monotonic()
        for one in self.replicas:
            await self.ready(one, START_SECONDS)
        self.ledger.recoveries["disk full"] = [time.monotonic() - began]

    async def restart(self) -> None:
        """Restart both replicas, one after the other, as an upgrade does."""
        for one in self.replicas:
            began = time.monotonic()
            one.send(signal.SIGTERM)
            await asyncio.sleep(2)
            await self.ready(one, START_SECONDS)
            self.ledger.recoveries.setdefault("rolling restart", []).append(time.monotonic() - began)

    async def sample(self) -> None:
        """Record the memory of the replica that lives through the second half."""
        while True:
            await asyncio.sleep(self.seconds / 60)
            resident = self.replicas[1].resident()
            if resident is not None:
                self.ledger.resident.append(resident)


async def examine(url: str, ledger: Ledger) -> list[str]:
    """Return what the store lacks, or has twice or by halves."""
    connection = await asyncpg.connect(url)
    try:
        await settled(connection)
        memories = {f"mem_{row['id'].hex}" for row in await connection.fetch("SELECT id FROM memories")}
        turns = {f"turn_{row['id'].hex}": row for row in await connection.fetch(TURNS)}
        doubled = await connection.fetchval(
            "SELECT count(*) FROM (SELECT 1 FROM memories WHERE type = 'fact' AND content LIKE '%visited%'"
            " GROUP BY tenant_id, scope_id, content HAVING count(*) > 1) twice"
        )
        wrong = [f"{len(ledger.memories - memories)} acknowledged memories are lost"] * bool(ledger.memories - memories)
        wrong += [f"{len(ledger.turns - turns.keys())} acknowledged turns are lost"] * bool(ledger.turns - turns.keys())
        wrong += [f"{doubled} facts are there twice"] * bool(doubled)
        unprocessed = [f"{row['status']}, {row['reason']}" for row in turns.values() if not row["done"]]
        ledger.parked = sum(PARKED in one for one in unprocessed)
        wrong += [f"a turn was not processed: {one}" for one in unprocessed if PARKED not in one]
        wrong += [f"{ledger.parked} turns are left to an operator"] * (ledger.parked > MOST_PARKED)
        for what in HALF_WRITTEN:
            if found := await connection.fetchval(ORPHANS[what]):
                wrong.append(f"{found} {what}")
    finally:
        await connection.close()
    return wrong


def grown(resident: Sequence[int]) -> list[str]:
    """Return whether memory grew after the restart, from when the replica had warmed up."""
    later = resident[len(resident) // 3 :]
    third = len(later) // 3
    if not third:
        return []
    first, last = statistics.median(later[:third]), statistics.median(later[-third:])
    print(f"memory of replica B in the second half: {first / 1024:.0f} MB, then {last / 1024:.0f} MB")
    return [f"memory grew from {first} to {last} KB"] * (last > GROWTH * first)


async def main() -> int:
    seconds = 60 * float(os.environ.get("SOAK_MINUTES") or 30)
    with open_folder() as folder, mounted(folder) as disk:
        data = (disk.path or folder) / "data"
        async with httpx.AsyncClient(timeout=30, trust_env=False, limits=httpx.Limits(max_connections=80)) as client:
            with Service(data) as server:
                server.wait_until_up()
                soak = Soak(
                    folder=folder, data=data, disk=disk, database_url=server.url, seconds=seconds, client=client
                )
                await soak.run()
                ledger = soak.ledger
                finishing = soak.workers[0]
                finishing.start()  # it does the jobs that are left
                try:
                    wrong = [*ledger.wrong, *await examine(server.url, ledger), *grown(ledger.resident)]
                finally:
                    await finishing.stop()
    tell(ledger, seconds, wrong)
    return 1 if wrong else 0


def tell(ledger: Ledger, seconds: float, wrong: Sequence[str]) -> None:
    clock = f"replica B's clock {SKEW}" if SKEWED else "no clock skewed (libfaketime is not installed)"
    print(f"{seconds / 60:g} minutes, {CLIENTS} clients, {clock}")
    print(f"while the disk was full: {dict(ledger.while_full) or 'not tried (mounting takes root)'}")
    print(f"acknowledged: {len(ledger.memories)} memories, {len(ledger.turns)} turns; answers: {dict(ledger.statuses)}")
    print(f"killed with -9: {dict(ledger.kills)}; turns of jobs that lost five workers: {ledger.parked}")
    for name, found in ledger.recoveries.items():
        print(f"{name}: ready again in {statistics.median(found):.1f} s (at most {max(found):.1f} s)")
    print("\n".join(f"WRONG: {one}" for one in wrong[:20]) or "nothing lost, doubled, half-written or seen by others")


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))

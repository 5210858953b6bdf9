"""`python -m bench.peers`: this service beside what its users would otherwise choose, on one database server.

Each system has a database of its own and a process of its own, which is told what to do in turns with the others. All
embed by one endpoint, with the embedded model.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg

from app.model import Visibility
from app.read.values import QueryRequest
from bench.figures import Spread
from bench.grammar import NOW, Grammar
from bench.peers.driven import Driven, Item, item, item_of
from bench.peers.floor import CLIENTS as FLOOR_CLIENTS
from bench.peers.floor import Floor, floor_of
from bench.peers.others import EACH, FILL, fill_peer, fill_service
from bench.ports import free_port
from bench.report import describe
from bench.usage import resident
from bench.world import MAIN_KEY, Service, World, new_world, serving
from evals.datasets import data_dir, load_locomo

HERE = Path(__file__).parent
PYTHON = Path(".venv-peers/bin/python")
SERVICE = "typed-memory"
SYSTEMS = (SERVICE, "mem0", "langgraph", "bare-table")
CLIENTS = (1, 8, 32)
ROUNDS = 3
SINGLE = 60
"""Texts that are stored one by one, to time it; the others come in batches."""

BATCH = 100
_QUIET_SECONDS = 600.0
USER = "asked"
LARGEST = 1_000_000
"""Texts of others beside which a run is one that the documents quote."""

RECORD, PART = Path("bench/results/peers.md"), Path("build/peers.md")


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Texts of one user, and questions with the texts that answer each."""

    name: str
    items: Sequence[Item]
    questions: Sequence[tuple[str, frozenset[str]]]
    now: datetime

    def requests(self) -> list[QueryRequest]:
        """Return the questions as the read pipeline takes them."""
        asker = Visibility(user_id=USER)
        return [QueryRequest(query=text, now=self.now, visibility=asker) for text, _ in self.questions]


def main() -> int:
    """Measure and write the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.peers", description=__doc__)
    parser.add_argument("--neighbours", type=int, nargs="*", default=[10_000], help="other users' rows, ascending")
    parser.add_argument("--questions", type=int, default=120, help="questions asked, at most")
    parser.add_argument("--output", type=Path, help=f"the table's file [{RECORD}, or {PART} without {LARGEST:,}]")
    given = parser.parse_args()
    output = given.output or (RECORD if LARGEST in given.neighbours else PART)
    output.parent.mkdir(parents=True, exist_ok=True)
    started = datetime.now(UTC)
    postgres, table = asyncio.run(measured(conversation(given.questions), sorted(given.neighbours)))
    run = describe(postgres=postgres, quick=False, seconds=(datetime.now(UTC) - started).total_seconds())
    head = f"{run.date}, commit {run.commit}, {run.machine}, {run.postgres}, {run.minutes} minutes.\n\n"
    output.write_text("# Beside others\n\n" + head + table)
    _progress(f"written to {output}")
    print(table)
    return 0


def conversation(most: int) -> Conversation:
    """Return the longest development conversation, or a synthetic one where there is no folder of them."""
    if not (data_dir() / "locomo").exists():
        _progress(f"no conversations in {data_dir()} (TM_EVAL_DATA): synthetic texts and questions are taken")
        return _synthetic(most)
    chosen = max(load_locomo(), key=lambda one: len(one.turns))
    texts = {turn.id: f"{turn.speaker}: {turn.text}" for turn in chosen.turns}
    items = [
        item(turn.speaker, turn.text, f"{chosen.id} {turn.session_id}", turn.sequence, turn.occurred_at)
        for turn in chosen.turns
    ]
    questions = [
        (one.text, frozenset(texts[turn] for turn in one.evidence_turns))
        for one in chosen.questions
        if one.evidence_turns
    ]
    step = max(1, len(questions) // most)
    return Conversation(
        name=f"LoCoMo {chosen.id}",
        items=items,
        questions=questions[::step][:most],
        now=chosen.turns[-1].occurred_at + timedelta(hours=1),
    )


def _synthetic(most: int) -> Conversation:
    drafts = [one for one in Grammar(USER).drafts(4_000) if one.type == "episodic"][:788]
    items = [item_of(one.payload, place) for place, one in enumerate(drafts)]
    pairs = zip(drafts, items, strict=True)
    questions = [(draft.question, frozenset({item["text"]})) for draft, item in islice(pairs, most)]
    return Conversation(name="synthetic", items=items, questions=questions, now=NOW)


async def measured(asked: Conversation, sizes: Sequence[int]) -> tuple[str, str]:
    """Return the server's version and the tables of a run."""
    async with new_world() as world, AsyncExitStack() as stack:
        version = await world.owner.fetchval("SHOW server_version")
        systems, service = await _systems(world, stack, asked)
        _progress("writes")
        columns = ("system", "one p50 ms", "one p95 ms", "batch, a second")
        parts = [_table("Writing", columns, await _write(systems, asked))]
        tenant = await _one(systems[0], "SELECT id FROM tenants")
        floor = await floor_of(replace(world, url=systems[0].url), tenant, service, asked.requests(), stack)
        filled = 0
        for size in (0, *sizes):
            if size > filled:
                await _fill(world, tenant, systems, range(filled // EACH, size // EACH))
                filled = size
            await _quiet(systems[0])
            _progress(f"questions beside {filled:,} texts of others")
            rows = [row async for row in _search(systems, service, floor, asked)]
            title = f"Searching {len(asked.items)} texts beside {filled:,} of others"
            parts.append(_table(title, _SEARCH, rows))
    note = _NOTE.format(name=asked.name, texts=len(asked.items), questions=len(asked.questions))
    return f"Postgres {version}", "\n".join([note, *parts])


def _progress(what: str) -> None:
    sys.stderr.write(f"{datetime.now(UTC):%H:%M:%S} {what}\n")


_SEARCH = (
    "system",
    *(f"p50 ms by {clients}" for clients in CLIENTS),
    *(f"a second by {clients}" for clients in CLIENTS),
    "recall@10",
    "fewer than 10",
    "wrong users'",
    "disk MB",
    "memory MB",
)

_NOTE = """{name}: {texts} texts of one user, {questions} questions. What each does:

- **typed-memory** is asked over HTTP: a process of its own checks the key, types, resolves names, keeps history and an
  audit log, and answers with vectors, words and names. Memory is the service's process alone. Two rows below are its
  floor: the statements of its questions sent by a bare driver, and requests that it answers with nothing.
- **mem0** runs inside the asking process, with pgvector and `infer=False`; its extra for entities and lemmas is not
  installed. Its list of messages is stored one by one.
- **langgraph** is LangGraph's Postgres store inside the asking process, a namespace for each user.
- **bare-table** is a table with a vector column, an index on the user and one on the vectors, by plain SQL.

Others' texts are put into the systems' tables past their usual ways, and vector indexes built anew afterwards.

All embed by one endpoint on this machine, with the same model, and share a database server. The asking processes use
the same cores, so the rates of 8 and 32 clients say who wastes least, not how a larger machine does. `recall@10` is the
mean share of a question's evidence among ten; `fewer than 10` counts answers, `wrong users'` texts. A question that
typed-memory turns away because too many wait is asked again after 50 ms, and its time counts from the first attempt.
"""


@asynccontextmanager
async def _embedding_endpoint() -> AsyncIterator[str]:
    port = free_port()
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", "bench.peers.embeddings", str(port))
    try:
        async with asyncio.timeout(60):
            while True:
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                except OSError:
                    await asyncio.sleep(0.1)
                    continue
                writer.close()
                break
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        await process.wait()


async def _systems(world: World, stack: AsyncExitStack, asked: Conversation) -> tuple[list[Driven], Service]:
    endpoint = await stack.enter_async_context(_embedding_endpoint())
    dimensions = world.embedder.dimensions
    databases = {}
    for name in SYSTEMS:
        database = f"peers_{name.replace('-', '_')}"
        await world.owner.execute(f"CREATE DATABASE {database}")
        databases[name] = f"{world.url.rsplit('/', 1)[0]}/{database}"
    service = await stack.enter_async_context(
        serving(
            replace(world, url=databases[SERVICE]),
            TM_EMBEDDING_PROVIDER="openai",
            TM_EMBEDDING_BASE_URL=endpoint,
            TM_EMBEDDING_MODEL="local",
            TM_EMBEDDING_DIMENSIONS=str(dimensions),
            TM_TENANT_REQUEST_CONCURRENCY="8",
        )
    )
    found = []
    for name in SYSTEMS:
        folder = world.folder / name
        folder.mkdir()
        config = {
            "database": databases[name],
            "dimensions": dimensions,
            "embeddings": endpoint,
            "folder": str(folder),
            "port": service.port,
            "key": MAIN_KEY,
            "now": asked.now.isoformat(),
        }
        process = await asyncio.create_subprocess_exec(
            *(str(PYTHON), str(HERE / "driver.py"), name, json.dumps(config)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=2**28,
        )
        stack.push_async_callback(_ended, process)
        found.append(Driven(name=name, process=process, url=databases[name]))
    return found, service


async def _ended(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.kill()
    await process.wait()


async def _write(systems: Sequence[Driven], asked: Conversation) -> list[list[str]]:
    """Store the texts, some one by one in turns, the others in batches."""
    single: dict[str, list[float]] = {one.name: [] for one in systems}
    for turn in range(ROUNDS):
        part = asked.items[turn * SINGLE // ROUNDS : (turn + 1) * SINGLE // ROUNDS]
        for one in systems:
            single[one.name] += (await one.do({"do": "add", "user": USER, "items": part}))["seconds"]
    rest = asked.items[SINGLE:]
    batches = [rest[start : start + BATCH] for start in range(0, len(rest), BATCH)]
    walls = dict.fromkeys(single, 0.0)
    for batch in batches:
        for one in systems:
            walls[one.name] += (await one.do({"do": "add many", "user": USER, "batches": [batch]}))["wall"]
    return [
        [
            name,
            f"{(spread := Spread.of(seconds, sum(seconds))).p50:.1f}",
            f"{spread.p95:.1f}",
            f"{len(rest) / walls[name]:,.0f}",
        ]
        for name, seconds in single.items()
    ]


async def _fill(world: World, tenant: UUID, systems: Sequence[Driven], numbers: range) -> None:
    """Store the texts of other users, of these numbers."""
    for one in systems:
        _progress(f"fill {one.name} with {len(numbers) * EACH:,} texts of others")
        if one.name == SERVICE:
            await fill_service(one.url, tenant, world.embedder, numbers)
        else:
            await fill_peer(one.url, FILL[one.name], world.embedder, numbers)


async def _quiet(system: Driven) -> None:
    """Wait until the service has no work left in its queue."""
    async with asyncio.timeout(_QUIET_SECONDS):
        while await _one(system, "SELECT EXISTS (SELECT FROM pgqueuer WHERE execute_after <= now())"):  # noqa: ASYNC110
            await asyncio.sleep(0.2)


async def _one(system: Driven, query: str) -> Any:  # noqa: ANN401 - a value of any type
    """Return the one value that a query of the system's database finds."""
    connection = await asyncpg.connect(system.url)
    try:
        return await connection.fetchval(query)
    finally:
        await connection.close()


async def _search(
    systems: list[Driven], service: Service, floor: Floor, asked: Conversation
) -> AsyncIterator[list[str]]:
    """Yield each system's row, times and rates by clients and how good its answers are, and those of the floor."""
    queries = [question for question, _ in asked.questions]
    found = {one.name: await one.do({"do": "search", "user": USER, "queries": queries}) for one in systems}
    times: dict[tuple[str, int], list[Spread]] = {}
    for clients in CLIENTS:
        for turn in range(ROUNDS):
            for one in systems[turn:] + systems[:turn]:
                told = await one.do({"do": "search", "user": USER, "queries": queries, "clients": clients})
                times.setdefault((one.name, clients), []).append(Spread.of(told["seconds"], told["wall"]))
            parts = await floor.measured(clients, len(queries)) if clients in FLOOR_CLIENTS else {}
            for what, spread in parts.items():
                times.setdefault((what, clients), []).append(spread)
    joined = {key: Spread.joined(spreads) for key, spreads in times.items()}
    for one in systems:
        spreads = [joined[one.name, clients] for clients in CLIENTS]
        yield [
            one.name,
            *(f"{spread.p50:.1f}" for spread in spreads),
            *(f"{spread.per_second:,.0f}" for spread in spreads),
            *_quality(found[one.name], asked),
            *await _weight(one, service),
        ]
    for what in floor.parts:
        spreads = [joined[what, clients] for clients in FLOOR_CLIENTS]
        blank = [""] * (len(CLIENTS) - len(spreads))
        p50, rates = [f"{one.p50:.1f}" for one in spreads], [f"{one.per_second:,.0f}" for one in spreads]
        cells = [what, *p50, *blank, *rates, *blank]
        yield cells + [""] * (len(_SEARCH) - len(cells))


def _quality(told: Mapping[str, Any], asked: Conversation) -> list[str]:
    """Return the mean share of a question's evidence among ten, how many answers are short, and foreign rows."""
    # An answer may leave the speaker out of the text.
    own = {text: item["text"] for item in asked.items for text in (item["said"], item["text"])}
    answers = [[own.get(text) for text in hits] for hits in told["found"]]
    shares = [
        len(evidence & set(hits)) / len(evidence) for (_, evidence), hits in zip(asked.questions, answers, strict=True)
    ]
    short = sum(1 for hits in answers if len(hits) < 10)  # noqa: PLR2004
    wrong = sum(1 for hits in answers for text in hits if text is None)
    return [f"{sum(shares) / len(shares):.3f}", str(short), str(wrong)]


async def _weight(system: Driven, service: Service) -> tuple[str, str]:
    """Return the size of the system's database and the memory of its process."""
    size = await _one(system, "SELECT pg_database_size(current_database())")
    told = await system.do({"do": "weigh"})
    memory = resident(service.pid) if system.name == SERVICE else 1024 * told["kilobytes"]
    return f"{size / 1e6:,.0f}", f"{memory / 1e6:,.0f}"


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return f"## {title}\n\n" + "\n".join(f"| {' | '.join(one)} |" for one in lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())

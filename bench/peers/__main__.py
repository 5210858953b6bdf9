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
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import asyncpg

from bench.figures import Spread
from bench.grammar import NOW, Grammar
from bench.report import describe
from bench.usage import resident
from bench.world import MAIN_KEY, Service, World, free_port, new_world, serving
from evals.datasets import data_dir, load_locomo

HERE = Path(__file__).parent
PYTHON = Path(".venv-peers/bin/python")
SYSTEMS = ("typed-memory", "mem0", "langgraph", "bare-table")
CLIENTS = (1, 8, 32)
ROUNDS = 3
SINGLE = 60
"""Texts that are stored one by one, to time it; the others come in batches."""

BATCH = 100
EACH = 100
"""Texts of each of the other users."""

USER = "asked"

Item = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Texts of one user, and questions with the texts that answer each."""

    name: str
    items: Sequence[Item]
    questions: Sequence[tuple[str, frozenset[str]]]
    now: datetime


@dataclass(slots=True, kw_only=True)
class Driven:
    """A system's process, and what was measured of it."""

    name: str
    process: asyncio.subprocess.Process
    database: str
    rows: dict[str, list[str]] = field(default_factory=dict)

    async def do(self, command: Mapping[str, Any]) -> dict[str, Any]:
        """Send a command and return the answer."""
        assert self.process.stdin is not None  # noqa: S101 - narrows for the type checker
        assert self.process.stdout is not None  # noqa: S101 - as above
        self.process.stdin.write(json.dumps(command).encode() + b"\n")
        line = await self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} ended: its messages are above")
        found: dict[str, Any] = json.loads(line)
        return found


def main() -> int:
    """Measure and write the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.peers", description=__doc__)
    parser.add_argument("--neighbours", type=int, nargs="*", default=[10_000], help="other users' rows, ascending")
    parser.add_argument("--questions", type=int, default=120, help="questions asked, at most")
    parser.add_argument("--output", type=Path, default=Path("bench/results/peers.md"))
    given = parser.parse_args()
    started = datetime.now(UTC)
    table = asyncio.run(measured(conversation(given.questions), sorted(given.neighbours)))
    run = describe(postgres="Postgres 18.1", quick=False, seconds=(datetime.now(UTC) - started).total_seconds())
    head = f"{run.date}, commit {run.commit}, {run.machine}, {run.postgres}, {run.minutes} minutes.\n\n"
    given.output.write_text("# Beside others\n\n" + head + table)
    print(table)
    return 0


def conversation(most: int) -> Conversation:
    """Return the longest development conversation, or a synthetic one where there is no folder of them."""
    if not (data_dir() / "locomo").exists():
        return _synthetic(most)
    chosen = max(load_locomo(), key=lambda one: len(one.turns))
    texts = {turn.id: f"{turn.speaker}: {turn.text}" for turn in chosen.turns}
    items = [
        _item(turn.speaker, turn.text, f"{chosen.id} {turn.session_id}", turn.sequence, turn.occurred_at)
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
    items = [_of_draft(one.payload, place) for place, one in enumerate(drafts)]
    pairs = zip(drafts, items, strict=True)
    questions = [(draft.question, frozenset({item["text"]})) for draft, item in islice(pairs, most)]
    return Conversation(name="synthetic", items=items, questions=questions, now=NOW)


def _item(speaker: str, said: str, session: str, place: int, at: datetime) -> Item:
    text = f"{speaker}: {said}"
    return {"text": text, "said": said, "speaker": speaker, "session": session, "place": place, "at": at.isoformat()}


def _of_draft(payload: Mapping[str, Any], place: int) -> Item:
    at = NOW - timedelta(minutes=place)
    return _item(payload["speaker"], payload["content"], payload["session_id"], payload["sequence_number"], at)


def neighbours(count: int, start: int) -> dict[str, list[Item]]:
    """Return texts of other users, by user; `start` is the number of the first."""
    found: dict[str, list[Item]] = {}
    for number in range(start, start + count // EACH):
        episodes = (one for one in Grammar(f"neighbour {number}").drafts(20 * EACH) if one.type == "episodic")
        found[f"user {number}"] = [_of_draft(one.payload, place) for place, one in enumerate(islice(episodes, EACH))]
    return found


async def measured(asked: Conversation, sizes: Sequence[int]) -> str:
    """Return the tables of a run."""
    parts = []
    async with new_world() as world, AsyncExitStack() as stack:
        systems, service = await _systems(world, stack, asked)
        parts.append(
            _table("Writing", ("system", "one p50 ms", "one p95 ms", "batch, a second"), await _write(systems, asked))
        )
        filled = 0
        for size in (0, *sizes):
            if size > filled:
                await _fill(systems, neighbours(size - filled, filled // EACH))
                filled = size
            rows = await _search(systems, asked)
            await _weigh(world, systems, service, rows)
            parts.append(
                _table(f"Searching {len(asked.items)} texts beside {filled:,} of others", _SEARCH, list(rows.values()))
            )
    return "\n".join([_NOTE.format(name=asked.name, texts=len(asked.items), questions=len(asked.questions)), *parts])


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
  audit log, and answers with vectors, words and names. Memory is the service's process alone.
- **mem0** runs inside the asking process, with pgvector and `infer=False`; its extra for entities and lemmas is not
  installed. Its list of messages is stored one by one. Others' rows are put into its table past its own `add`.
- **langgraph** is LangGraph's Postgres store inside the asking process, a namespace for each user.
- **bare-table** is a table with a vector column, an index on the user and one on the vectors, by plain SQL.

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
            replace(world, url=databases["typed-memory"]),
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
        found.append(Driven(name=name, process=process, database=databases[name].rpartition("/")[2]))
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


async def _fill(systems: Sequence[Driven], users: Mapping[str, Sequence[Item]]) -> None:
    """Store others' texts, some users at a time."""
    names = list(users)
    for start in range(0, len(names), 10):
        some = {name: users[name] for name in names[start : start + 10]}
        for one in systems:
            await one.do({"do": "fill", "users": some})


async def _search(systems: list[Driven], asked: Conversation) -> dict[str, list[str]]:
    """Return each system's row: times and rates by clients, and how good its answers are."""
    queries = [question for question, _ in asked.questions]
    times: dict[tuple[str, int], list[Spread]] = {}
    quality: dict[str, list[str]] = {}
    for one in systems:
        found = await one.do({"do": "search", "user": USER, "queries": queries})
        quality[one.name] = _quality(found, asked)
    for clients in CLIENTS:
        for turn in range(ROUNDS):
            for one in systems[turn:] + systems[:turn]:
                told = await one.do({"do": "search", "user": USER, "queries": queries, "clients": clients})
                times.setdefault((one.name, clients), []).append(Spread.of(told["seconds"], told["wall"]))
    joined = {key: Spread.joined(spreads) for key, spreads in times.items()}
    return {
        one.name: [
            one.name,
            *(f"{joined[one.name, clients].p50:.1f}" for clients in CLIENTS),
            *(f"{joined[one.name, clients].per_second:,.0f}" for clients in CLIENTS),
            *quality[one.name],
        ]
        for one in systems
    }


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


async def _weigh(world: World, systems: Sequence[Driven], service: Service, rows: Mapping[str, list[str]]) -> None:
    """Add to each row the size of the database and the memory of the process."""
    for one in systems:
        connection = await asyncpg.connect(f"{world.url.rsplit('/', 1)[0]}/{one.database}")
        try:
            size = await connection.fetchval("SELECT pg_database_size(current_database())")
        finally:
            await connection.close()
        told = await one.do({"do": "weigh"})
        memory = resident(service.pid) if one.name == "typed-memory" else 1024 * told["kilobytes"]
        rows[one.name].extend([f"{size / 1e6:,.0f}", f"{memory / 1e6:,.0f}"])


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return f"## {title}\n\n" + "\n".join(f"| {' | '.join(one)} |" for one in lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())

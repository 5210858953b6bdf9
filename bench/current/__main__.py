"""`make bench-current`: measure which memory serves the value that is current.

1,000 items in five languages; scored without a model. Without arguments every system that is there is run: this
service (started by itself), BM25, BM25 newest first, and, from `.venv-peers`, mem0 and LangGraph's store. `--answers`
scores the answers of any other system. bench/current/README.md says how.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from bench.current.bm25 import ranked
from bench.current.chart import chart
from bench.current.items import ITEMS, Item, Told, read, stores
from bench.current.score import Line, shares, table
from bench.current.service import TypedMemory

SERVICE: Final = "typed-memory"
PEERS: Final = ("mem0", "mem0-infer", "langgraph")
SYSTEMS: Final = (SERVICE, "bm25", "bm25-newest", *PEERS)

AT_ONCE: Final = 4
"""Stores that a service is told and asked at once."""

Answers = Mapping[str, Sequence[Line]]
"""Lines by the id of the item."""

RECORD: Final = Path("docs/images/current.svg")
TABLE: Final = Path("bench/results/current.md")


def main() -> int:
    """Run the systems, score their answers, and write the table and the chart."""
    given = arguments()
    items = [one for one in read(given.items) if given.language in {None, one.language}]
    if given.limit:
        kept = set(list(stores(items))[: given.limit])
        items = [one for one in items if one.store in kept]
    answers: dict[str, Answers] = {}
    for path in given.answers:
        answers[path.stem] = loaded(path)
    for name in given.system or ([] if given.answers else available()):
        _progress(f"{name}: {len(items)} questions to {len(stores(items))} stores")
        answers[name] = answered(name, items, given)
        save(given.folder / f"{name}.jsonl", answers[name])
    found = table(items, answers)
    print(found)
    whole = len(items) == len(read(given.items))
    if given.record and whole:
        head = f"{datetime.now(UTC).date()}, {len(items):,} items. Percent of answers that are right.\n\n"
        TABLE.write_text(f"# Which value is current\n\n{head}{found}", encoding="utf-8")
        RECORD.write_text(chart(shares(items, answers)), encoding="utf-8")
        _progress(f"written to {TABLE} and {RECORD}")
    return 0


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.current", description=__doc__)
    parser.add_argument("--system", action="append", choices=SYSTEMS, help="only this system; repeatable")
    parser.add_argument(
        "--answers", action="append", type=Path, default=[], help="a file of answers to score, named for its system"
    )
    parser.add_argument("--url", help="a running service to ask, in place of one of its own; with --key")
    parser.add_argument("--key", help="a key of that service that may read and write (TM_BENCH_KEY)")
    parser.add_argument("--items", type=Path, default=ITEMS, help=f"the file of items [{ITEMS.name}]")
    parser.add_argument("--language", help="only items in this language")
    parser.add_argument("--limit", type=int, help="only the first N stores")
    parser.add_argument("--folder", type=Path, default=Path("build/current"), help="where answers go [build/current]")
    parser.add_argument("--record", action="store_true", help=f"write {TABLE} and {RECORD}")
    return parser.parse_args()


def available() -> list[str]:
    """Return the systems that can run here: the peers where they are installed, mem0 with a model where one is set."""
    from bench.current.peers import PYTHON  # noqa: PLC0415 - needs the service's packages

    peers = [one for one in PEERS if one != "mem0-infer" or os.environ.get("OPENAI_API_KEY")]
    return [SERVICE, "bm25", "bm25-newest", *(peers if PYTHON.exists() else [])]


def answered(name: str, items: Sequence[Item], given: argparse.Namespace) -> Answers:
    """Return a system's answers."""
    if name.startswith("bm25"):
        newest = name.endswith("newest")
        return {
            one.id: ranked(told, one.ask, newest_first=newest) for told, mine in stores(items).values() for one in mine
        }
    if name == SERVICE and given.url:
        key = given.key or os.environ.get("TM_BENCH_KEY", "")
        return _by_service(TypedMemory(given.url, key), items, given.folder / f"{name}.jsonl")
    return asyncio.run(_started(name, items, given.folder / f"{name}.jsonl"))


def save(path: Path, answers: Answers) -> None:
    """Write answers, a line an item."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (
        json.dumps({"id": key, "lines": [{"text": one.text, "over": one.over} for one in lines]}, ensure_ascii=False)
        for key, lines in answers.items()
    )
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def loaded(path: Path) -> Answers:
    """Return the answers of a file; a line of an answer is a text, or an object with `text` and `over`."""
    found = {}
    for number, written in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            one = json.loads(written)
            lines = [each if isinstance(each, dict) else {"text": each} for each in one["lines"]]
            found[one["id"]] = [Line(each["text"], bool(each.get("over"))) for each in lines]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            wanted = '{"id": "hand-0", "lines": ["a text", {"text": "an old one", "over": true}]}'
            raise SystemExit(f"{path}, line {number}: {error!r}; write lines such as {wanted}") from error
    return found


def _by_service(service: TypedMemory, items: Sequence[Item], done: Path) -> Answers:
    """Ask a service, several stores at once; `done` has the answers of the stores that are through."""
    run = f"current {datetime.now(UTC):%H%M%S}"
    found: dict[str, Sequence[Line]] = {}

    def asked(store: tuple[str, tuple[list[Told], list[Item]]]) -> Answers:
        name, (told, mine) = store
        service.tell(f"{run} {name}", told)
        return {one.id: service.ask(f"{run} {name}", one.ask) for one in mine}

    with ThreadPoolExecutor(AT_ONCE) as pool:
        for answers in pool.map(asked, stores(items).items()):
            found |= answers
            save(done, found)
    return found


async def _started(name: str, items: Sequence[Item], done: Path) -> Answers:
    """Start a database, and what the system needs, and return its answers."""
    from bench.current import peers  # noqa: PLC0415 - BM25 and answers in files need no database
    from bench.world import MAIN_KEY, new_world, serving  # noqa: PLC0415 - as above

    async with new_world() as world, AsyncExitStack() as stack:
        if name == SERVICE:
            service = await stack.enter_async_context(serving(world, TM_TENANT_REQUEST_CONCURRENCY="8"))
            own = TypedMemory(f"http://127.0.0.1:{service.port}", MAIN_KEY)
            return await asyncio.to_thread(_by_service, own, items, done)
        system = await peers.started(name, world, stack)
        return await peers.answers(system, items)


def _progress(what: str) -> None:
    sys.stderr.write(f"{datetime.now(UTC):%H:%M:%S} {what}\n")


if __name__ == "__main__":
    sys.exit(main())

"""Measures the console in headless Chromium at a tenant with 100,000 memories.

`make bench-console` fills a database of its own, and prints the size of the console's files, how long Home and Memories
take until they show everything, and how smoothly the list of memories scrolls through thousands of rows.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import statistics
import sys
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

from app.model import Scope, ScopeKind
from bench.fill import Bucket, Filler, without_vector_indexes
from bench.world import World, key_of, new_world, serving, tenant_id
from tests.console.browser import Browser, chromium
from tests.console.conftest import ROOT

USERS = 5
ROUNDS = 5
ROWS = 5_000
STEP_PIXELS = 240
"""Pixels that the list is moved at each frame: as a hand on a wheel that turns fast."""

FRAME_MS = 1000 / 60

SHOWN = {
    "home": "count('.figure') >= 5 && count('.talk li') > 0",
    "memories": "count('.long-list li') > 8 && count('.bulk .button') > 0",
}
"""What is on a page that shows everything, beside there being nothing that loads."""

LOADED = """
const done = arguments[arguments.length - 1];
const count = (selector) => document.querySelectorAll(selector).length;
const look = () => {
  if (!document.body.innerText.includes("Loading…") && (%s)) done(performance.now());
  else requestAnimationFrame(look);
};
look();
"""

SCROLL = """
const [rows, step, done] = arguments;
const list = document.querySelector(".long-list");
const tasks = [], frames = [];
let blank = 0;
const observer = new PerformanceObserver((found) => tasks.push(...found.getEntries().map((one) => one.duration)));
observer.observe({ type: "longtask" });
const start = performance.now();
let before = start;
const move = (now) => {
  frames.push(now - before);
  before = now;
  const box = list.getBoundingClientRect();
  if (!document.elementFromPoint(box.x + 200, box.y + box.height / 2)?.closest("li")) blank += 1;
  list.scrollTop += step;
  const seconds = (now - start) / 1000;
  const passed = Math.round(list.scrollTop / 60);
  if (passed >= rows || seconds > 55) done({ frames, tasks, blank, rows: passed, seconds });
  else requestAnimationFrame(move);
};
requestAnimationFrame(move);
"""


def main() -> None:
    """Fill a store, measure, and print what was measured."""
    parser = argparse.ArgumentParser(prog="python -m tests.console.measure", description=__doc__)
    parser.add_argument("--memories", type=int, default=100_000)
    asyncio.run(_run(parser.parse_args(sys.argv[1:]).memories))


async def _run(memories: int) -> None:
    async with new_world() as world:
        await world.add_tenants([0])
        await _fill(world, memories)
        async with serving(world) as service:
            await asyncio.to_thread(_measure, world, f"http://127.0.0.1:{service.port}")


async def _fill(world: World, memories: int) -> None:
    users = [f"user {number}" for number in range(USERS)]
    buckets = [
        Bucket(
            tenant=tenant_id(0),
            scope=Scope(kind=ScopeKind.USER, user_id=user),
            count=memories // USERS,
            seed=user,
        )
        for user in users
    ]
    console = Console(stderr=True)
    filler = Filler(connection=world.owner, embedder=world.embedder)
    async with without_vector_indexes(world.owner):
        await filler.fill(buckets, lambda count: console.print(f"{count:,} more memories"))


def _measure(world: World, url: str) -> None:
    table = Table("what", "median", "worst")
    with chromium(url, world.folder / "profile") as browser:
        browser.size(1440, 900)
        browser.log_in(key_of(0))
        table.add_row("files, gzip", f"{_bundle() / 1024:.0f} KB", "")
        for page in SHOWN:
            times = [_load(browser, page) for _ in range(ROUNDS)]
            table.add_row(f"{page} shows everything", f"{statistics.median(times):.0f} ms", f"{max(times):.0f} ms")
        scrolled = browser.driver.run_async(SCROLL, ROWS, STEP_PIXELS)
    _describe(table, scrolled)
    Console().print(table)


def _load(browser: Browser, page: str) -> float:
    """Return the milliseconds from going to a page, whose files are cached, until it shows everything."""
    browser.driver.go("about:blank")
    browser.driver.go(f"{browser.service}/admin#/{page}")
    return float(browser.driver.run_async(LOADED % SHOWN[page]))


def _bundle() -> int:
    """Return the bytes of the console's files, each compressed."""
    files = [one for one in (ROOT / "app" / "console").rglob("*") if one.is_file() and one.suffix != ".txt"]
    return sum(len(gzip.compress(one.read_bytes())) for one in files)


def _describe(table: Table, scrolled: Mapping[str, Any]) -> None:
    frames = sorted(scrolled["frames"][1:])
    late = sum(one > 2 * FRAME_MS for one in frames) / len(frames)
    tasks = scrolled["tasks"]
    table.add_row("rows scrolled", str(scrolled["rows"]), f"in {scrolled['seconds']:.0f} s")
    table.add_row("frame", f"{statistics.median(frames):.1f} ms", f"{frames[-1]:.0f} ms")
    table.add_row("frames over 33 ms", f"{late:.1%}", "")
    table.add_row("frames without rows", f"{scrolled['blank'] / len(frames):.1%}", "")
    table.add_row("tasks over 50 ms", str(len(tasks)), f"{max(tasks, default=0):.0f} ms")


if __name__ == "__main__":
    main()

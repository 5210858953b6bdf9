"""Requests that keep coming, and a book of what was acknowledged and what failed."""

from __future__ import annotations

import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

WAIT_SECONDS = 120.0
PAUSE_SECONDS = 0.2
"""Between two rounds: traffic that takes all of a machine would test the machine."""

TRADES = ("baker", "carpenter", "nurse", "pilot", "teacher", "lawyer", "plumber", "chemist")
DRINKS = ("tea", "coffee", "water", "cocoa", "juice")


@dataclass(slots=True)
class Book:
    """What services answered: memories by id with their content, jobs by id, rounds by kind, failures in words."""

    memories: dict[str, str] = field(default_factory=dict)
    jobs: list[str] = field(default_factory=list)
    rounds: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """One client of a service, whose requests are about users of its own."""

    client: httpx.Client
    book: Book
    name: str

    def ask(self, status: int, method: str, path: str, **sent: Any) -> dict[str, Any]:
        """Send a request; write down an answer of another status than this one."""
        answer = self.client.request(method, path, **sent)
        if answer.status_code != status:
            self.book.failures.append(f"{self.name}: {method} {path}: {answer.status_code} {answer.text}")
            return {}
        found: dict[str, Any] = answer.json()
        return found

    def write(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Write a memory, and enter it into the book."""
        memory: dict[str, Any] = self.ask(201, "POST", f"/memories/typed/{kind}", json=fields).get("memory") or {}
        if memory:
            self.book.memories[memory["id"]] = memory["content"]
        return memory


def writes(caller: Caller, number: int) -> None:
    """Statements that add up, replace one another, and are changed."""
    user = f"{caller.name}-writes"
    caller.write("event", event_description=f"user watered plant {number}", event_at="2026-05-09", user_id=user)
    drink = DRINKS[number % len(DRINKS)]
    memory = caller.write("preference", preference_key="drinks.kind", preference_value=drink, user_id=user)
    caller.write("relation", from_entity=f"Person{number}", relation_type="reports-to", to_entity="Priya", user_id=user)
    caller.ask(200, "PATCH", f"/memories/{memory.get('id')}", json={"importance": 0.7})


def turns(caller: Caller, number: int) -> None:
    """Turns that are processed at once, and by a job."""
    user, trade = f"{caller.name}-turns", TRADES[number % len(TRADES)]
    said = {"content": f"My colleague Person{number} works as a {trade}.", "user_id": user, "session_id": "s1"}
    told = caller.ask(200, "POST", "/turns?mode=sync", json=said)
    for one in told.get("turns", ()):
        for made in one["candidates"]:
            if made["memory_id"]:
                caller.book.memories[made["memory_id"]] = ""
    said = {"content": f"My neighbour Person{number} works as a {trade}.", "user_id": user, "session_id": "s1"}
    queued = caller.ask(202, "POST", "/turns", json=said)
    if queued:
        caller.book.jobs.append(queued["job_id"])


def questions(caller: Caller, number: int) -> None:
    """Questions about what another caller writes, now and as it was."""
    user = f"{caller.name}-writes"
    asked = {"query": "What does the user drink?", "user_id": user}
    for more in ({}, {"mode": "historical"}, {"known_at": "2026-05-09T00:00:00Z"}):
        caller.ask(200, "POST", "/query", json={**asked, **more})
    caller.ask(200, "POST", "/memories/query", json={**asked, "memory_types": ["preference"], "top_k": 3 + number % 3})


def listings(caller: Caller, number: int) -> None:
    """Pages of what there is, and the history of some of it."""
    user = f"{caller.name}-writes"
    page = caller.ask(200, "GET", "/memories", params={"user_id": user, "limit": 5 + number % 5})
    for memory in page.get("memories", ())[:1]:
        caller.ask(200, "GET", f"/memories/{memory['id']}")
        caller.ask(200, "GET", f"/memories/{memory['id']}/history")
        caller.ask(200, "POST", f"/memories/{memory['id']}/feedback", json={"feedback": "useful"})
    for path in ("/entities", "/turns", "/admin/review", "/admin/types", "/jobs"):
        caller.ask(200, "GET", path)


KINDS: dict[str, Callable[[Caller, int], None]] = {
    "writes": writes,
    "turns": turns,
    "questions": questions,
    "listings": listings,
}


class Traffic:
    """Every kind of request, again and again, to one service."""

    def __init__(self, url: str, key: str, book: Book, name: str) -> None:
        self._stopped = threading.Event()
        self._book, self._name = book, name
        headers = {"Authorization": f"Bearer {key}"}
        self._client = httpx.Client(base_url=url, headers=headers, timeout=WAIT_SECONDS)
        self._threads = [threading.Thread(target=self._repeat, args=(kind,), daemon=True) for kind in KINDS]

    def go_on(self, rounds: int) -> None:
        """Wait until each kind of request was made so many times more."""
        wanted = {kind: self._book.rounds[f"{self._name} {kind}"] + rounds for kind in KINDS}
        deadline = time.monotonic() + WAIT_SECONDS
        while any(self._book.rounds[f"{self._name} {kind}"] < count for kind, count in wanted.items()):
            assert not self._book.failures, self._book.failures
            assert time.monotonic() < deadline, self._book.rounds
            time.sleep(0.02)

    def start(self) -> None:
        """Begin."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Let each request that is under way come to its end, and send no more."""
        self._stopped.set()
        for thread in self._threads:
            thread.join(WAIT_SECONDS)
        self._client.close()

    def _repeat(self, kind: str) -> None:
        caller = Caller(client=self._client, book=self._book, name=self._name)
        for number in itertools.count():
            if self._stopped.wait(PAUSE_SECONDS):
                return
            try:
                KINDS[kind](caller, number)
            except Exception as error:  # noqa: BLE001 - whatever it is, the test is to hear of it
                self._book.failures.append(f"{self._name} {kind}: {error!r}")
                return
            self._book.rounds[f"{self._name} {kind}"] += 1


@contextmanager
def flowing(url: str, key: str, book: Book, name: str) -> Iterator[Traffic]:
    """Yield traffic that is under way, and stops with the block."""
    traffic = Traffic(url, key, book, name)
    traffic.start()
    try:
        yield traffic
    finally:
        traffic.stop()

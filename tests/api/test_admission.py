"""Who is taken into work, who waits, who is turned away and told when to come back, and what takes too long."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Hashable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

import httpx
import pytest
from fastapi import FastAPI
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.errors import Overloaded
from app.http.admission import _LOOK_SECONDS, Admission, FairQueue, QueueLimits
from app.pauses import Pause
from app.services.turns import Turns
from app.settings import Settings
from tests.api.conftest import KEY, MakeClient, connected, fact, running, settings_for
from tests.support import owner
from tests.support.waiting import PATIENCE, eventually

LIMITS = QueueLimits(in_work=3, in_work_each=2, waiting_each=4, waiting=6, standing_each=2)


@pytest.fixture
def admission(database_url: str) -> Admission:
    return Admission.of(Settings(request_concurrency=1, tenant_request_concurrency=1, tenant_request_queue=1))


async def held(stack: AsyncExitStack, app: FastAPI, places: int) -> None:
    """Take places as another tenant would; who waits for one waits as long as it takes."""
    queue = app.state.admission.quick
    queue.limits = replace(queue.limits, patience=PATIENCE)
    for _ in range(places):
        await stack.enter_async_context(app.state.admission.quick.admitted("somebody else"))


async def test_what_is_turned_away_says_so_and_when_to_come_back(database_url: str) -> None:
    settings = settings_for(database_url, request_concurrency=2, tenant_request_queue=1, worker="off")
    async with running(settings) as app, connected(app, KEY) as client, AsyncExitStack() as stack:
        assert (await client.get("/memories?all=true")).status_code == 200
        await held(stack, app, 2)
        waiting = asyncio.create_task(client.post("/memories/typed/fact", json=fact(user_id="waits")))

        async def queued() -> bool:
            return bool(app.state.admission.waiting() == 1)

        await eventually(queued)
        away = await client.post("/memories/typed/fact", json=fact(user_id="waits"))
        assert away.status_code == 503
        assert away.json()["type"] == "urn:typed-memory:problem:overloaded"
        assert away.headers["Content-Type"] == "application/problem+json"
        assert int(away.headers["Retry-After"]) >= 1
        assert away.headers["X-Request-Id"] == away.json()["request_id"]
        for path in ("/healthz", "/readyz", "/metrics"):
            assert (await client.get(path)).status_code == 200
        told = (await client.get("/metrics")).text
        assert "tm_http_requests_waiting 1.0" in told
        assert 'tm_http_requests_turned_away_total{reason="full"} 1.0' in told
        await stack.aclose()
        assert (await waiting).status_code == 201


async def test_a_request_that_takes_too_long_is_given_up_and_writes_nothing(
    make_client: MakeClient, database_url: str
) -> None:
    async with make_client(request_deadline=3.0, worker="off") as client:
        assert (await client.get("/memories?all=true")).status_code == 200
        async with owner.connected(database_url) as connection, connection.transaction():
            await connection.execute("LOCK TABLE memories IN ACCESS EXCLUSIVE MODE")
            late = await client.post("/memories/typed/fact", json=fact(user_id="late"))
        assert late.status_code == 503
        assert late.json()["type"] == "urn:typed-memory:problem:deadline-exceeded"
        assert late.headers["Retry-After"]
        await asyncio.sleep(0.2)
        found = await client.get("/memories?user_id=late")
        assert found.json()["memories"] == []


async def test_a_replay_may_wait_for_a_model_for_longer(
    make_client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = Turns.process

    async def slow(*args: Any, **more: Any) -> Any:
        await asyncio.sleep(1.5)
        return await process(*args, **more)

    async with make_client(request_deadline=1.0, worker="off") as client:
        body = {"content": "My boat is called Halcyon.", "user_id": "skipper"}
        [turn] = (await client.post("/turns", params={"mode": "sync"}, json=body)).json()["turns"]
        monkeypatch.setattr(Turns, "process", slow)
        again = await client.post(f"/turns/{turn['id']}/replay", params={"mode": "sync"})
        assert again.status_code == 200, again.text


async def test_requests_of_one_tenants_keys_share_one_queue(database_url: str) -> None:
    async with running(settings_for(database_url, worker="off")) as app, connected(app, KEY) as client:
        made = await client.post("/admin/keys", json={"name": "second", "roles": ["read"]})
        async with connected(app, made.json()["key"]) as second:
            for one in (client, second):
                assert (await one.get("/memories?user_id=u1")).status_code == 200
        keys = app.state.admission.keys
        tenants = {keys.tenant(f"Bearer {key}".encode()) for key in (KEY, made.json()["key"])}
        assert len(tenants) == 1
        assert None not in tenants
        assert keys.tenant(b"Bearer nobody's") is None


async def test_a_wrong_key_is_a_strangers(make_client: MakeClient) -> None:
    async with make_client(key="tm_this_key_is_nobody_s") as client:
        assert (await client.get("/memories?all=true")).status_code == 401
        transport = client._transport
        assert isinstance(transport, httpx.ASGITransport)
        assert transport.app.state.admission.keys.tenant(b"Bearer tm_this_key_is_nobody_s") is None  # type: ignore[attr-defined]


async def test_only_a_request_that_would_find_a_full_queue_is_refused_unread(admission: Admission) -> None:
    seen: list[str] = []
    admission.observe = seen.append
    async with admission.quick.admitted(None):
        assert not admission.refuses("/query", b"")
        waiting = asyncio.create_task(_through(admission))
        await asyncio.sleep(0)
        assert admission.refuses("/query", b"")
        assert not admission.refuses("/healthz", b"")
        assert not admission.refuses("/turns", b"")
    await waiting
    assert seen == ["full"]


async def test_requests_that_arrive_in_one_round_of_the_loop_are_refused_as_if_the_first_waited_already(
    admission: Admission,
) -> None:
    seen: list[str] = []
    admission.observe = seen.append
    assert [admission.refuses("/query", b"") for _ in range(4)] == [False, False, True, True]
    assert not admission.refuses("/turns", b"")
    assert seen == ["full", "full"]
    await asyncio.sleep(0)
    assert not admission.refuses("/query", b""), "none of those that were expected came"


async def test_what_is_expected_of_one_tenant_takes_no_room_of_another(admission: Admission) -> None:
    admission.keys.learn(b"Bearer tm_a", UUID(int=1))
    assert [admission.refuses("/query", b"") for _ in range(3)] == [False, False, True]
    assert not admission.refuses("/query", b"Bearer tm_a")


async def test_a_request_of_the_long_lane_is_refused_unread_where_that_is_full(admission: Admission) -> None:
    admission.long.limits = replace(admission.long.limits, in_work=1, waiting_each=1)
    async with admission.long.admitted(None), AsyncExitStack() as stack:
        waiting = asyncio.create_task(stack.enter_async_context(admission.long.admitted(None)))
        await asyncio.sleep(0)
        assert admission.refuses("/turns", b"")
        assert not admission.refuses("/query", b"")
        waiting.cancel()


async def _through(admission: Admission) -> None:
    async with admission.quick.admitted(None):
        pass


@dataclass
class Office:
    """A queue, and requests in it that end when they are told to."""

    limits: QueueLimits = LIMITS
    now: float = 0.0
    shed: list[str] = field(default_factory=list)
    begun: list[Hashable] = field(default_factory=list)
    over: dict[asyncio.Task[None], asyncio.Event] = field(default_factory=dict)
    pauses: list[tuple[Hashable, Pause]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.queue = FairQueue(limits=self.limits, shed=self.shed.append, clock=lambda: self.now)

    async def ask(self, whose: Hashable) -> asyncio.Task[None]:
        over = asyncio.Event()

        async def work() -> None:
            async with self.queue.admitted(whose) as pause:
                self.pauses.append((whose, pause))
                self.begun.append(whose)
                await over.wait()

        task = asyncio.create_task(work())
        self.over[task] = over
        await settle()
        return task

    async def end(self, task: asyncio.Task[None]) -> None:
        self.over[task].set()
        await task
        await settle()

    async def end_all(self) -> None:
        for task, over in self.over.items():
            over.set()
            task.cancel()
        await asyncio.gather(*self.over, return_exceptions=True)


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_a_tenant_alone_has_all_places() -> None:
    office = Office()
    for _ in range(4):
        await office.ask("a")
    assert office.begun == ["a", "a", "a"]
    await office.end_all()


async def test_while_others_ask_too_nobody_has_more_than_its_part() -> None:
    office = Office()
    for whose in "baabaa":
        await office.ask(whose)
    assert office.begun == ["b", "a", "a"]
    assert (office.queue.in_work, office.queue.waiting) == (3, 3)
    await office.end_all()
    assert (office.queue.in_work, office.queue.waiting) == (0, 0)


async def test_who_asks_all_the_time_waits_while_one_is_in_work_for_who_asks_now_and_then() -> None:
    office = Office()
    busy = [await office.ask("a"), await office.ask("a")]
    rare = await office.ask("b")
    await office.ask("a")
    office.now = 5.0
    await office.end(busy[0])
    assert office.begun == ["a", "a", "b"]
    await office.end(rare)
    assert office.begun == ["a", "a", "b", "a"]
    await office.end_all()


async def test_who_has_had_more_pauses_between_steps_while_one_is_in_work_for_who_has_had_less() -> None:
    office = Office()
    await office.ask("a")
    office.now = 5.0
    rare = await office.ask("b")
    (_, busy), (_, quiet) = office.pauses
    going, paused = asyncio.ensure_future(quiet()), asyncio.ensure_future(busy())
    await settle()
    assert (going.done(), paused.done()) == (True, False)
    await office.end(rare)
    assert paused.done()
    await office.end_all()


async def test_one_that_waits_for_somebody_does_not_keep_its_tenants_next_one_waiting() -> None:
    office = Office(replace(LIMITS, in_work=6, in_work_each=1))
    other = await office.ask("b")
    office.now = 1.0
    await office.end(other)
    for _ in range(5):
        await office.ask("a")
    assert office.begun == ["b", "a"]
    office.now = 2.0

    async def begun() -> bool:
        return len(office.begun) > 2

    await eventually(begun)
    assert office.begun == ["b", "a", "a"]
    for office.now in (3.0, 4.0):
        office.queue._next(office.now)
        await settle()
    assert office.begun == ["b", "a", "a", "a"], "at most half of all places"
    await office.end_all()


async def test_who_waits_begins_when_the_others_have_not_asked_for_a_while() -> None:
    office = Office(replace(LIMITS, patience=60))
    other = await office.ask("a")
    office.now = 1.0
    await office.end(other)
    for whose in "bbb":
        await office.ask(whose)
    office.now = 3.0
    await asyncio.sleep(2 * _LOOK_SECONDS)
    assert office.begun == ["a", "b", "b"]
    office.now = 20.0

    async def begun() -> bool:
        return office.begun == ["a", "b", "b", "b"]

    await eventually(begun)
    await office.end_all()


async def test_a_pause_ends_though_the_other_request_does_not() -> None:
    office = Office()
    await office.ask("a")
    office.now = 5.0
    await office.ask("b")
    await asyncio.wait_for(office.pauses[0][1](), timeout=PATIENCE)
    assert office.begun == ["a", "b"]
    await office.end_all()


async def test_tenants_that_had_about_the_same_pause_for_nobody() -> None:
    office = Office()
    await office.ask("a")
    await office.ask("b")
    office.now = 5.0
    going = [asyncio.ensure_future(pause()) for _, pause in office.pauses]
    await settle()
    assert all(one.done() for one in going)
    await office.end_all()


async def test_requests_in_work_at_once_share_the_time() -> None:
    office = Office()
    for whose in "aab":
        await office.ask(whose)
    office.now = 3.0
    await office.ask("c")
    assert {name: one.used for name, one in office.queue._shares.items()} == {"a": 2.0, "b": 1.0, "c": 0.0}
    await office.end_all()


async def test_no_more_are_in_work_than_may_be() -> None:
    office = Office()
    for whose in "abcdef":
        await office.ask(whose)
    assert office.begun == ["a", "b", "c"]
    assert (office.queue.in_work, office.queue.waiting) == (3, 3)
    await office.end_all()
    assert (office.queue.in_work, office.queue.waiting) == (0, 0)


async def test_the_next_turn_is_the_tenants_that_had_least_of_late() -> None:
    office = Office()
    busy = [await office.ask("a"), await office.ask("a"), await office.ask("b")]
    for whose in "aaac":
        await office.ask(whose)
    office.now = 1.0
    await office.end(busy[0])
    assert office.begun[3:] == ["c"]
    await office.end_all()


async def test_who_finds_the_queue_full_is_turned_away_at_once() -> None:
    office = Office()
    for _ in range(7):
        await office.ask("a")
    assert office.queue.is_full("a")
    assert not office.queue.is_full("b")
    with pytest.raises(Overloaded) as caught:
        await (await office.ask("a"))
    assert caught.value.retry_after == 1
    assert office.shed == ["full"]
    await office.end_all()


async def test_who_waits_too_long_is_turned_away_and_leaves_no_place_taken() -> None:
    office = Office(replace(LIMITS, patience=0.01))
    for _ in range(3):
        await office.ask("a")
    with pytest.raises(Overloaded):
        await (await office.ask("a"))
    assert office.shed == ["late"]
    assert office.queue.waiting == 0
    await office.end_all()


async def test_in_a_queue_that_does_not_empty_fewer_wait() -> None:
    office = Office()
    for _ in range(5):
        await office.ask("a")
    assert not office.queue.is_full("a")
    office.now = LIMITS.patience + 0.1
    assert office.queue.is_full("a")
    await office.end_all()
    assert not office.queue.is_full("a")


async def test_a_standing_queue_takes_no_more_than_get_their_turn_in_time() -> None:
    office = Office(replace(LIMITS, in_work=1, waiting_each=8, waiting=8, standing_each=8, patience=0.2, standing=0.02))
    begun = await office.ask("a")
    waiting = [await office.ask("a") for _ in range(3)]
    office.now = 0.3
    late = [await office.ask("a") for _ in range(2)]
    await asyncio.wait(late)
    assert office.queue.is_full("a"), "those that waited too long would not have been in time with fewer before them"
    for one in (begun, *waiting):
        await office.end(one)
    await office.end(await office.ask("a"))
    assert not office.queue.is_full("a")
    await office.end_all()


async def test_the_few_that_always_may_wait_are_not_turned_away_for_a_standing_queue() -> None:
    limits = replace(LIMITS, in_work=1, waiting_each=8, waiting=8, standing_each=8, patience=PATIENCE, standing=0.01)
    office = Office(limits)
    begun = await office.ask("a")
    first = await office.ask("a")
    office.now = limits.patience + 0.1
    few = [await office.ask("a") for _ in range(2)]
    late = await office.ask("a")
    with pytest.raises(Overloaded):
        await late
    for one in (begun, first, *few):
        await office.end(one)
    assert office.shed == ["late"]
    await office.end_all()


async def test_a_request_that_is_given_up_when_its_turn_comes_is_passed_over() -> None:
    office = Office()
    first = await office.ask("a")
    for _ in range(2):
        await office.ask("a")
    gone, waiting = await office.ask("a"), await office.ask("a")
    office.over[first].set()
    gone.cancel()
    await asyncio.gather(first, gone, return_exceptions=True)
    await settle()
    assert gone.cancelled()
    assert not waiting.done()
    assert office.begun == ["a", "a", "a", "a"]
    await office.end_all()
    assert (office.queue.in_work, office.queue.waiting) == (0, 0)


async def test_a_request_that_is_given_up_gives_its_place_to_the_next() -> None:
    office = Office()
    first = await office.ask("a")
    for _ in range(2):
        await office.ask("a")
    waiting = await office.ask("a")
    gone = await office.ask("a")
    gone.cancel()
    first.cancel()
    await settle()
    assert office.begun == ["a", "a", "a", "a"]
    assert not waiting.done()
    await office.end_all()
    assert (office.queue.in_work, office.queue.waiting) == (0, 0)


@settings(max_examples=60)
@given(steps=st.lists(st.tuples(st.sampled_from(["ask", "end", "cancel", "pass"]), st.integers(0, 5)), max_size=60))
@example(
    steps=[
        *[("ask", 0)] * 4,
        *[("ask", 1), ("end", 0), ("pass", 1), ("end", 0), ("pass", 1), ("ask", 0)],
    ]
)
@example(steps=[("ask", 0), *[("ask", 1)] * 3, ("pass", 3), ("pass", 5), ("end", 0), ("pass", 2)])
def test_whatever_happens_the_bounds_hold_and_nobody_waits_beside_a_free_place(steps: list[tuple[str, int]]) -> None:
    async def run() -> None:
        office = Office(replace(LIMITS, patience=60, standing=60))
        for what, number in steps:
            open_tasks = [task for task in office.over if not task.done()]
            if what == "ask":
                task = await office.ask("abc"[number % 3])
                if task.done():
                    assert isinstance(task.exception(), Overloaded)
            elif what == "pass":
                office.now += number
                office.queue._next(office.now)  # as a look at the queue would, which comes by real time
                await settle()
            elif open_tasks:
                task = open_tasks[number % len(open_tasks)]
                if what == "end":
                    office.over[task].set()
                else:
                    task.cancel()
                await settle()
            shares = office.queue._shares
            in_work = Counter({name: one.in_work for name, one in shares.items()})
            assert in_work.total() == office.queue.in_work <= LIMITS.in_work
            assert sum(len(one.waiting) for one in shares.values()) == office.queue.waiting
            assert not any(one.waiting and office.queue._may_begin(one, office.now) for one in shares.values())
            assert not office.queue.waiting or office.queue.in_work
        await office.end_all()
        assert (office.queue.in_work, office.queue.waiting) == (0, 0)

    asyncio.run(run())

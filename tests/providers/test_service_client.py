"""The client of our own API: what it tries again, and what it says when that is of no use."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest

from app.command_line.service_client import ServiceClient, ServiceRejection, ServiceUnreachable

URL = "http://service"
Step = Callable[[httpx.Request], httpx.Response]


class Scripted:
    """Answers request by request, and remembers what it was sent and how long the client slept."""

    def __init__(self, *steps: Step) -> None:
        self.steps = list(steps)
        self.requests: list[httpx.Request] = []
        self.slept: list[float] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        return self.steps.pop(0)(request)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def client(self, attempts: int = 4) -> ServiceClient:
        transport = httpx.MockTransport(self)
        return ServiceClient(URL, "tm_key", attempts=attempts, sleep=self.sleep, transport=transport)


def answer(status: int, body: object = None, **headers: str) -> Step:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda _request: httpx.Response(status, json=body if body is not None else {}, headers=names)


def cut(request: httpx.Request) -> httpx.Response:
    raise httpx.ReadError("cut", request=request)


def refused(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("refused", request=request)


async def test_what_passes_is_sent_again_as_it_was() -> None:
    script = Scripted(cut, answer(503, retry_after="3"), answer(409, retry_after="1"), answer(201, {"ok": 1}))
    async with script.client() as client:
        found = await client.post("/memories/batch", {"a": "é"}, idempotency_key="k")
    assert found.body == {"ok": 1}
    assert not found.replayed
    assert {request.headers["idempotency-key"] for request in script.requests} == {"k"}
    assert len({request.content for request in script.requests}) == 1
    assert script.slept[1] >= 3


async def test_an_answer_from_before_is_known_as_such() -> None:
    script = Scripted(answer(201, {}, idempotency_replayed="true"))
    async with script.client() as client:
        assert (await client.post("/x", {})).replayed


@pytest.mark.parametrize("status", [400, 403, 404, 409, 422])
async def test_what_stays_wrong_is_told_at_once(status: int) -> None:
    problem = {"detail": "predicate: is required", "errors": [{"field": "predicate", "message": "is required"}]}
    script = Scripted(answer(status, problem))
    async with script.client() as client:
        with pytest.raises(ServiceRejection, match="predicate: is required") as raised:
            await client.post("/x", {})
    assert raised.value.answered == status
    assert [one.field for one in raised.value.faults] == ["predicate"]
    assert script.slept == []


async def test_it_gives_up_in_the_end() -> None:
    script = Scripted(*[answer(503, {"detail": "busy"})] * 4)
    async with script.client() as client:
        with pytest.raises(ServiceRejection, match="busy"):
            await client.post("/x", {})
    assert len(script.slept) == 3


async def test_nobody_there_is_told_with_the_mend() -> None:
    async with Scripted(refused).client() as client:
        with pytest.raises(ServiceUnreachable, match=r"no service answers at http://service.*typed-memory serve"):
            await client.get("/memories")


async def test_another_program_there_is_told() -> None:
    script = Scripted(lambda _request: httpx.Response(200, text="<html>"))
    async with script.client() as client:
        with pytest.raises(ServiceRejection, match="does not look like a Typed Memory service"):
            await client.get("/memories")


@pytest.mark.parametrize("url", ["127.0.0.1:8700", "ftp://x", "http://", "http://x:99999"])
def test_a_url_that_is_none_is_told(url: str) -> None:
    with pytest.raises(ServiceUnreachable, match="is no URL"):
        ServiceClient(url, "tm_key")

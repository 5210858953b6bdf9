"""Retries, idempotency keys and errors, with a transport that fails on purpose."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from service import Service
from typed_memory_client import Conflict, ConnectionFailed, TimedOut, TypedMemory, Unauthorized, Unavailable, models
from typed_memory_client._retries import wait_before_retry


class LosesAnswers(httpx.BaseTransport):
    """Delivers every request, and loses the first answers."""

    def __init__(self, lost: int) -> None:
        self.lost = lost
        self.keys: list[str | None] = []
        self._inner = httpx.HTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.keys.append(request.headers.get("idempotency-key"))
        response = self._inner.handle_request(request)
        if self.lost > 0:
            self.lost -= 1
            response.read()
            response.close()
            raise httpx.ReadError("connection lost")
        return response

    def close(self) -> None:
        self._inner.close()


def test_a_write_whose_answer_was_lost_is_done_once(service: Service, user: str) -> None:
    transport = LosesAnswers(2)
    with TypedMemory(service.url, service.key, user_id=user, http_client=httpx.Client(transport=transport)) as memory:
        written = memory.write("event", event_description="Ana played her first concert")
        assert written.decision == "added"
        assert len(transport.keys) == 3
        assert len(set(transport.keys)) == 1
        assert len(list(memory.memories())) == 1


def test_the_callers_own_idempotency_key_counts(memory: TypedMemory, user: str) -> None:
    first, second = (memory.write("event", event_description="A swim", idempotency_key=user) for _ in range(2))
    assert first == second
    with pytest.raises(Conflict, match="Idempotency-Key"):
        memory.write("event", event_description="A walk", idempotency_key=user)


def test_nobody_there_says_how_to_start_the_service() -> None:
    with (
        TypedMemory("http://127.0.0.1:9", "tm_x", attempts=1) as memory,
        pytest.raises(ConnectionError, match="make serve") as failed,
    ):
        memory.recall("x")
    assert isinstance(failed.value, ConnectionFailed)


def test_no_answer_in_time_is_a_timeout_error() -> None:
    def never(request: httpx.Request) -> httpx.Response:
        raise httpx.ReadTimeout("late", request=request)

    client = httpx.Client(transport=httpx.MockTransport(never))
    with (
        TypedMemory("http://test", "tm_x", attempts=2, http_client=client) as memory,
        pytest.raises(TimeoutError) as late,
    ):
        memory.recall("x")
    assert isinstance(late.value, TimedOut)


def test_a_wrong_key_says_where_to_get_one(service: Service) -> None:
    with TypedMemory(service.url, "tm_wrong") as memory, pytest.raises(Unauthorized, match="TM_API_KEY"):
        memory.recall("x")


def test_no_key_says_so_before_any_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TM_API_KEY", raising=False)
    with pytest.raises(Unauthorized, match=r"^no API key: pass api_key"):
        TypedMemory("http://test")


def test_an_address_without_a_scheme_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match=r"write http://127\.0\.0\.1:8700"):
        TypedMemory("127.0.0.1:8700", "tm_x")


@pytest.mark.parametrize(
    ("status", "headers", "again"),
    [
        (None, {}, True),
        (503, {}, True),
        (429, {"retry-after": "2"}, True),
        (409, {"retry-after": "1"}, True),
        (409, {}, False),
        (429, {"retry-after": "3600"}, False),
        (422, {}, False),
        (500, {}, False),
    ],
)
def test_only_what_passes_is_tried_again(status: int | None, headers: dict[str, str], again: bool) -> None:
    wait = wait_before_retry(1, status, headers)
    assert (wait is not None) == again
    assert wait is None or wait >= float(headers.get("retry-after", 0))


def test_words_and_fields_of_a_newer_service_are_accepted() -> None:
    job = models.Job.model_validate(
        {
            "id": "job_1",
            "kind": "ingest",
            "status": "paused",
            "progress": {"done": 0, "total": 1},
            "attempts": 0,
            "cancel_requested": False,
            "error": None,
            "result": None,
            "created_at": "2026-05-04T09:00:00Z",
            "started_at": None,
            "finished_at": None,
            "priority": "high",
        }
    )
    assert job.model_dump(mode="json", include={"status", "priority"}) == {"status": "paused", "priority": "high"}


STREAM = (
    'event: recalled\ndata: {"memories": []}\n\n'
    'event: delta\ndata: {"text": "In "}\n\nevent: delta\ndata: {"text": "Porto."}\n\n'
)
WHOLE = 'event: answer\ndata: {"text": "In Porto.", "citations": [], "abstained": null, "model": "openai:x"}\n\n'
PROBLEM = (
    'event: problem\ndata: {"type": "urn:typed-memory:problem:provider-unavailable", "title": "Unavailable", '
    '"status": 503, "detail": "the model is away", "instance": "/answer", "request_id": "r1"}\n\n'
)


def answering(stream: str, status: int = 200) -> TypedMemory:
    """Return a client of a service that answers with these events."""
    transport = httpx.MockTransport(lambda _: httpx.Response(status, text=stream))
    return TypedMemory("http://test", "tm_x", http_client=httpx.Client(transport=transport))


def test_a_streamed_answer_comes_in_words_and_then_whole() -> None:
    *words, whole = answering(STREAM + WHOLE).stream_answer("Where do I live?")
    assert words == ["In ", "Porto."]
    assert isinstance(whole, models.Answer)
    assert (whole.text, whole.model) == ("In Porto.", "openai:x")


@pytest.mark.parametrize(("stream", "status"), [(STREAM + PROBLEM, 200), (PROBLEM.partition("data: ")[2], 503)])
def test_a_stream_that_fails_raises_its_problem(stream: str, status: int) -> None:
    with pytest.raises(Unavailable, match="the model is away"):
        list(answering(stream, status).stream_answer("Where do I live?"))


def test_a_missing_id_is_named_and_nothing_is_sent() -> None:
    missing: Any = None
    transport = httpx.MockTransport(lambda _: pytest.fail("it was sent"))
    with TypedMemory("http://127.0.0.1:9", "tm_x", http_client=httpx.Client(transport=transport)) as memory:
        for call, what in (
            (memory.forget, "memory"),
            (memory.history, "memory"),
            (memory.memory, "memory"),
            (memory.forget_user, "user"),
            (memory.turn, "turn"),
            (memory.wait_for, "job"),
            (memory.entity, "entity"),
            (memory.review, "review item"),
        ):
            with pytest.raises(ValueError, match=f"which {what}\\? give its id, not None"):
                call(missing)
            with pytest.raises(ValueError, match=f"which {what}\\? give its id, not ''"):
                call("")
        with pytest.raises(ValueError, match="what was said"):
            memory.remember(missing)
        with pytest.raises(ValueError, match="which question"):
            memory.recall(missing)
        with pytest.raises(ValueError, match="which session"):
            list(memory.session(missing))
        for nobody in (None, ""):
            with pytest.raises(ValueError, match="for whom"):
                memory.for_user(nobody)

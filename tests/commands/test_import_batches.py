"""Conversations that are sent as turns for the model's batch endpoint: what is sent, and what is told."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx

from app.command_line.service_client import ServiceClient
from app.features.portability.commands import import_sources
from app.features.portability.commands.import_files import Uploader

CHAT = [
    {"role": "user", "name": "Ana", "content": "I moved to Lisbon.", "timestamp": "2026-05-09T14:30:00Z"},
    {"role": "assistant", "content": "Lovely.", "timestamp": "2026-05-09T14:31:00Z"},
]


def test_messages_are_sent_as_turns_of_one_job() -> None:
    sent: list[tuple[str, dict[str, Any]]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append((str(request.url), json.loads(request.content)))
        return httpx.Response(202, json={"job_id": "job_1", "turns": []})

    client = ServiceClient("http://service", "tm_key", transport=httpx.MockTransport(answer))
    done: list[int] = []
    uploader = Uploader(client=client, defaults={"user_id": "ana"}, strict=False, advance=done.append, batch=True)
    found = list(import_sources.memories(CHAT, place="f", name="f"))
    asyncio.run(uploader.send(found))
    [(url, body)] = sent
    assert url.endswith("/turns?mode=batch")
    assert body["user_id"] == "ana"
    first, second = body["turns"]
    assert (first["role"], first["speaker"], first["content"]) == ("user", "Ana", "I moved to Lisbon.")
    assert (second["role"], "speaker" in second, second["sequence_number"]) == ("assistant", False, 2)
    assert first["session_id"] == second["session_id"]
    assert (uploader.report.decisions, sum(done)) == ({"waits for job_1": 2}, 2)

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from service import Service
from typed_memory_client import TypedMemory

PROGRAM = Path(__file__).resolve().parents[1] / "chat_loop.py"


class RepeatsThePrompt(BaseHTTPRequestHandler):
    """A chat model over HTTP that answers with its system prompt."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message = {"role": "assistant", "content": body["messages"][0]["content"]}
        answer = {"id": "1", "object": "chat.completion", "created": 0, "model": "m"}
        answer |= {"choices": [{"index": 0, "finish_reason": "stop", "message": message}]}
        content = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def model_url() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), RepeatsThePrompt) as server:
        threading.Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()


def test_the_loop_is_thirty_lines_at_most() -> None:
    assert len(PROGRAM.read_text().splitlines()) <= 30


def test_the_next_conversation_knows_what_was_said(
    service: Service, memory: TypedMemory, user: str, model_url: str
) -> None:
    environment = {**os.environ, **service.environment, "OPENAI_BASE_URL": model_url, "OPENAI_API_KEY": "none"}

    def talk(said: str) -> str:
        command = [sys.executable, str(PROGRAM), user]
        return subprocess.run(  # noqa: S603 - our own program
            command, input=f"{said}\n\n", env=environment, capture_output=True, text=True, check=True
        ).stdout

    assert "user lives in Porto" not in talk("I live in Porto and I work as a nurse.")
    for job in memory.jobs():
        memory.wait_for(job.id)
    assert "user lives in Porto" in talk("Where do I live?")

"""A model provider on this machine: OpenAI's and Anthropic's wire formats, with an answer that a test chooses."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Provider:
    """What was asked, and what is answered; `tool` has the model call a tool before it answers."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.answer = "How lovely!"
        self.tool = False
        self.status = 200
        self.breaks_off = False
        self.url = ""

    @property
    def instructions(self) -> str:
        """The instructions of the last request, wherever its format has them."""
        last = self.asked[-1]
        first = last.get("messages", [{}])[0]
        system = first.get("content") if first.get("role") == "system" else ""
        return str(last.get("system") or last.get("instructions") or system)

    def reply(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Return the answer's JSON."""
        if path.endswith("/chat/completions"):
            call = {"id": "c1", "type": "function", "function": {"name": "clock", "arguments": "{}"}}
            message: dict[str, Any] = {"role": "assistant", "content": None if self.tool else self.answer}
            message |= {"tool_calls": [call]} if self.tool else {}
            choice = {"index": 0, "finish_reason": "stop", "message": message}
            return {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
        if path.endswith("/responses"):
            part = {"type": "output_text", "text": self.answer, "annotations": []}
            item = {"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": [part]}
            return {"id": "r1", "object": "response", "created_at": 0, "model": "m", "output": [item]} | {
                "parallel_tool_calls": False,
                "tool_choice": "auto",
                "tools": [],
            }
        block = {"type": "tool_use", "id": "t1", "name": "clock", "input": {}}
        content = [block] if self.tool else [{"type": "text", "text": self.answer}]
        usage = {"input_tokens": 1, "output_tokens": 1}
        return {"id": "1", "type": "message", "role": "assistant", "model": "m", "content": content} | {
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": usage,
        }

    def events(self, path: str) -> Iterator[tuple[str | None, dict[str, Any] | str]]:
        """Yield the events of a streamed answer, a word each."""
        words = self.answer.split(" ")
        pieces = [word if not number else f" {word}" for number, word in enumerate(words)]
        if path.endswith("/chat/completions"):
            chunk = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "m"}
            for piece in pieces:
                choice = {"index": 0, "delta": {"role": "assistant", "content": piece}, "finish_reason": None}
                yield None, {**chunk, "choices": [choice]}
            yield None, {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
            yield None, "[DONE]"
        elif path.endswith("/responses"):
            common = {"item_id": "m1", "output_index": 0, "content_index": 0, "logprobs": []}
            for number, piece in enumerate(pieces):
                kind = "response.output_text.delta"
                yield kind, {"type": kind, "delta": piece, "sequence_number": number, **common}
            whole = self.reply(path, {})
            done = {"type": "response.completed", "sequence_number": len(pieces), "response": whole}
            yield "response.completed", done
        else:
            message = {**self.reply(path, {}), "content": [], "stop_reason": None}
            yield "message_start", {"type": "message_start", "message": message}
            block = {"type": "text", "text": ""}
            yield "content_block_start", {"type": "content_block_start", "index": 0, "content_block": block}
            for piece in pieces:
                delta = {"type": "text_delta", "text": piece}
                yield "content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}
            yield "content_block_stop", {"type": "content_block_stop", "index": 0}
            stop = {"stop_reason": "end_turn", "stop_sequence": None}
            yield "message_delta", {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 1}}
            yield "message_stop", {"type": "message_stop"}


@contextmanager
def running_provider() -> Iterator[Provider]:
    """Start a provider, and stop it in the end."""
    provider = Provider()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            provider.asked.append(body)
            if provider.status != 200:
                return self.send(provider.status, {"error": {"message": "overloaded", "type": "server_error"}})
            if body.get("stream"):
                return self.stream()
            return self.send(200, provider.reply(self.path, body))

        def send(self, status: int, answer: dict[str, Any]) -> None:
            content = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def stream(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for number, (name, data) in enumerate(provider.events(self.path)):
                if provider.breaks_off and number == 4:
                    self.close_connection = True
                    return
                head = f"event: {name}\n" if name else ""
                text = data if isinstance(data, str) else json.dumps(data)
                event = f"{head}data: {text}\n\n".encode()
                self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
                self.wfile.flush()
            self.wfile.write(b"0\r\n\r\n")

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever).start()
        provider.url = f"http://127.0.0.1:{server.server_port}"
        yield provider
        server.shutdown()

"""OpenAI's batch endpoint on the wire: files, batches that take their time, and what becomes of each request.

`POST /_batches` says how batches go from now on: `looks` until one is done, its `end` (`expired`, `failed`), `partial`
(every second request fails), `garbage` (lines that are no answers), `none` (there is no such endpoint).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.provider_server.http1 import Reply, Request, json_reply

Json = dict[str, Any]


@dataclass(slots=True)
class Batches:
    """The files and batches of one provider; `complete` answers one request, `manner` is how batches go."""

    files: dict[str, bytes] = field(default_factory=dict)
    made: dict[str, Json] = field(default_factory=dict)
    manner: Json = field(default_factory=dict)
    deleted: list[str] = field(default_factory=list)

    def handle(self, request: Request, complete: Callable[[Json], Json]) -> Reply | None:  # noqa: PLR0911 - one a route
        """Answer a request to the endpoint; None for one to another."""
        path = request.path.partition("?")[0]
        if not path.startswith(("/v1/files", "/v1/batches")):
            return None
        if self.manner.get("none"):
            return json_reply({"error": {"code": "not_found"}}, 404)
        if path == "/v1/files":
            return json_reply({"id": self._keep(_file_of(request.body)), "object": "file", "purpose": "batch"})
        if path == "/v1/batches" and request.method == "POST":
            return json_reply(self._start(json.loads(request.body)))
        if path == "/v1/batches":
            return json_reply({"object": "list", "data": list(self.made.values())[::-1]})
        if path.startswith("/v1/batches/"):
            return json_reply(self._look(path.rpartition("/")[2], complete))
        name = path.removeprefix("/v1/files/").removesuffix("/content")
        if request.method == "DELETE":
            self.deleted.append(name)
            return json_reply({"id": name, "deleted": True})
        return Reply(body=self.files[name])

    def report(self) -> Json:
        """Return what became of everything."""
        return {"made": list(self.made.values()), "deleted": self.deleted, "files": len(self.files)}

    def _keep(self, content: bytes) -> str:
        name = f"file-{len(self.files)}"
        self.files[name] = content
        return name

    def _start(self, wanted: Json) -> Json:
        assert wanted["endpoint"] == "/v1/chat/completions"
        assert wanted["completion_window"] == "24h"
        lines = self.files[wanted["input_file_id"]].splitlines()
        name = f"batch-{len(self.made)}"
        self.made[name] = {
            "id": name,
            "object": "batch",
            "status": "validating",
            "input_file_id": wanted["input_file_id"],
            "output_file_id": None,
            "error_file_id": None,
            "metadata": wanted["metadata"],
            "request_counts": {"total": len(lines), "completed": 0, "failed": 0},
            "looks": 0,
        }
        return self.made[name]

    def _look(self, name: str, complete: Callable[[Json], Json]) -> Json:
        batch = self.made[name]
        batch["looks"] += 1
        if batch["looks"] <= self.manner.get("looks", 0):
            batch["status"] = "in_progress"
        elif batch["status"] != "completed":
            self._end(batch, complete)
        return batch

    def _end(self, batch: Json, complete: Callable[[Json], Json]) -> None:
        batch["status"] = self.manner.get("end", "completed")
        asked = [json.loads(line) for line in self.files[batch["input_file_id"]].splitlines()]
        kept = {"expired": asked[: len(asked) // 2], "failed": []}.get(batch["status"], asked)
        if self.manner.get("partial"):
            kept = asked[::2]
        out = [_line(one["custom_id"], 200, complete(one["body"])) for one in reversed(kept)]
        bad = [_line(one["custom_id"], 429, {"error": {"code": "rate_limit"}}) for one in asked if one not in kept]
        if self.manner.get("garbage"):
            out = [b"<html>", b'{"custom_id": 3}', out[0][: len(out[0]) // 2], b'{"custom_id": "x", "response": null}']
        counts = {"total": len(asked), "completed": len(kept), "failed": len(bad)}
        batch["request_counts"] = counts
        batch["output_file_id"] = self._keep(b"\n".join(out)) if out else None
        batch["error_file_id"] = self._keep(b"\n".join(bad)) if bad else None


def _line(name: str, status: int, body: Mapping[str, Any]) -> bytes:
    response = {"status_code": status, "request_id": "r", "body": body}
    return json.dumps({"id": "b", "custom_id": name, "response": response, "error": None}).encode()


def _file_of(body: bytes) -> bytes:
    boundary = body.partition(b"\r\n")[0]
    [purpose, file] = [part.partition(b"\r\n\r\n") for part in body.split(boundary)[1:-1]]
    assert purpose[2].strip() == b"batch"
    assert b'filename="' in file[0]
    return file[2].removesuffix(b"\r\n")

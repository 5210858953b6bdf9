"""OpenAI's batch endpoint: a file of chat requests, answered within a day for half the price.

A file is uploaded to `/files`, `POST /batches` starts it, `GET /batches/{id}` tells how far it is; the answers are two
files, one of errors. Lines come in any order, and what has no usable line has no answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar
from urllib.parse import quote
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, ValidationError

from app.errors import ProviderError, ProviderProtocolError
from app.providers.chat import Prompt, Reply, WireModel
from app.providers.http import ProviderClient

Answer = TypeVar("Answer", bound=BaseModel)

DISCOUNT: Final = 0.5
"""The price of a request in a batch, as a share of that of a single one."""

_ENDED: Final = frozenset({"completed", "failed", "expired", "cancelled"})
_OF_JOB: Final = "typed_memory_job"
_WINDOW: Final = "24h"


class _File(WireModel):
    id: str


class _Counts(WireModel):
    total: int = 0
    completed: int = 0
    failed: int = 0


class Batch(WireModel):
    """A batch as the provider tells of it."""

    model_config = ConfigDict(hide_input_in_errors=True, extra="ignore")

    id: str
    status: str
    input_file_id: str | None = None
    output_file_id: str | None = None
    error_file_id: str | None = None
    request_counts: _Counts | None = None
    metadata: dict[str, str] | None = None

    @property
    def ended(self) -> bool:
        """Return whether nothing more will come of it."""
        return self.status in _ENDED

    @property
    def share_done(self) -> float:
        """Return the share of its requests that are done."""
        counts = self.request_counts or _Counts()
        return min(1.0, (counts.completed + counts.failed) / counts.total) if counts.total > 0 else 0.0


class _Batches(WireModel):
    data: tuple[Batch, ...] = ()


class _Response(WireModel):
    status_code: int
    body: dict[str, object]


class _Line(WireModel):
    custom_id: str
    response: _Response | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIBatches:
    """Batches of chat requests; `body` makes a request of a prompt, `read` a reply of an answer."""

    client: ProviderClient
    label: str
    body: Callable[[Prompt], Mapping[str, object]]
    read: Callable[[bytes], Reply]

    async def start(self, prompts: Mapping[str, Prompt], *, job: str) -> str:
        """Send prompts, by ids of the caller's, as a batch, and return its id.

        If a batch for this job was started before and its id was lost, that one is returned.
        """
        found = await self._started(job)
        if found is not None:
            return found
        lines = (
            {"custom_id": name, "method": "POST", "url": "/v1/chat/completions", "body": self.body(prompt)}
            for name, prompt in prompts.items()
        )
        content = b"\n".join(json.dumps(one, ensure_ascii=False).encode("utf-8", "replace") for one in lines)
        uploaded = self._parsed(_File, await self._upload(content))
        wanted = {
            "input_file_id": uploaded.id,
            "endpoint": "/v1/chat/completions",
            "completion_window": _WINDOW,
            "metadata": {_OF_JOB: job},
        }
        return self._parsed(Batch, await self.client.post("/batches", wanted)).id

    async def get(self, batch: str) -> Batch:
        """Return how far a batch is."""
        return self._parsed(Batch, await self.client.send("GET", f"/batches/{quote(batch, safe='')}"))

    async def replies(self, batch: Batch) -> dict[str, Reply]:
        """Return the usable replies of a batch that has ended, by the caller's ids."""
        if batch.output_file_id is None:
            return {}
        content = await self.client.send("GET", f"/files/{quote(batch.output_file_id, safe='')}/content")
        return dict(self._replies(content))

    async def discard(self, batch: Batch) -> None:
        """Delete the files of a batch, which hold what was said, where the provider allows it."""
        for file in (batch.input_file_id, batch.output_file_id, batch.error_file_id):
            if file is not None:
                try:
                    await self.client.send("DELETE", f"/files/{quote(file, safe='')}")
                except ProviderError:
                    continue

    async def _started(self, job: str) -> str | None:
        try:
            listed = self._parsed(_Batches, await self.client.send("GET", "/batches?limit=100"))
        except ProviderError:  # not every server lists its batches
            return None
        mine = (one for one in listed.data if (one.metadata or {}).get(_OF_JOB) == job)
        return next((one.id for one in mine), None)

    async def _upload(self, content: bytes) -> bytes:
        boundary = uuid4().hex
        head = (
            f'--{boundary}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'
            f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="batch.jsonl"\r\n'
            "Content-Type: application/jsonl\r\n\r\n"
        )
        body = head.encode() + content + f"\r\n--{boundary}--\r\n".encode()
        kind = f"multipart/form-data; boundary={boundary}"
        return await self.client.send("POST", "/files", content=body, content_type=kind)

    def _replies(self, content: bytes) -> Iterator[tuple[str, Reply]]:
        for line in content.split(b"\n"):
            if not line.strip():
                continue
            try:
                one = _Line.model_validate_json(line)
                if one.response is not None and one.response.status_code == 200:  # noqa: PLR2004 - OK
                    yield one.custom_id, self.read(json.dumps(one.response.body).encode())
            except (ValidationError, ProviderProtocolError):
                continue

    def _parsed(self, model: type[Answer], answer: bytes) -> Answer:
        try:
            return model.model_validate_json(answer)
        except ValidationError:
            raise ProviderProtocolError(f"{self.label} did not answer as a batch endpoint does") from None

"""Short ways to fill a tenant's review queue and to decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import httpx

from app.memory.candidate import Candidate
from app.model import Actor, Evidence, Scope, ScopeKind
from app.runtime import Runtime
from tests.api.conftest import fact

USER = Scope(kind=ScopeKind.USER, user_id="u1")
WEAK: dict[str, Any] = {"source_confidence": 0.2, "extractor_confidence": 0.9}
"""Trusted too little to replace what is trusted as callers usually are, and above the floor."""


@dataclass(frozen=True, slots=True)
class Desk:
    """A reviewer's desk: a client with an admin key, and the runtime behind it."""

    client: httpx.AsyncClient
    runtime: Runtime

    async def actor(self) -> Actor:
        token = self.client.headers["authorization"].removeprefix("Bearer ")
        return await self.runtime.keys.authenticate(token)

    async def pending(self, kind: str = "fact", why: str = "it holds a password", **payload: Any) -> dict[str, Any]:
        """Store a memory as extraction does with what is doubtful, and return it."""
        spec = self.runtime.types.get(kind)
        about = {name: payload.pop(name) for name in ("stated_at", "evidence", "source_strength") if name in payload}
        candidate = Candidate(type=spec, payload=spec.payload.model_validate(payload), scope=USER, review=why, **about)
        outcome = await self.runtime.memories.write(await self.actor(), candidate)
        assert outcome.decision == "review"
        assert outcome.memory is not None
        return await self.memory(f"mem_{outcome.memory.id.hex}")

    async def said(self, content: str, **more: Any) -> str:
        """Store a turn without processing it, and return its id."""
        answer = await self.client.post("/turns?mode=sync", json={"content": content, "user_id": "u1", **more})
        assert answer.status_code == 200, answer.text
        turn: str = answer.json()["turns"][0]["id"]
        return turn

    async def contested(self, strong: str = "Volkswagen", weak: str = "Rivian") -> tuple[str, str]:
        """Store two facts of one slot, the second too weak to replace the first, and return their ids."""
        first = await self.write(object=strong)
        second = await self.write(object=weak, **WEAK)
        assert second["decision"] == "contradicted"
        return first["memory"]["id"], second["memory"]["id"]

    async def write(self, kind: str = "fact", **fields: Any) -> dict[str, Any]:
        answer = await self.client.post(f"/memories/typed/{kind}", json=fact(**fields) if kind == "fact" else fields)
        assert answer.status_code == 201, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def memory(self, memory: str) -> dict[str, Any]:
        answer = await self.client.get(f"/memories/{memory}")
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def items(self, **query: Any) -> list[dict[str, Any]]:
        answer = await self.client.get("/admin/review", params=query)
        assert answer.status_code == 200, answer.text
        found: list[dict[str, Any]] = answer.json()["items"]
        return found

    async def item(self, memory: str) -> dict[str, Any]:
        """Return everything about the item of a memory."""
        answer = await self.client.get(f"/admin/review/{rev(memory)}")
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def version(self, memory: str) -> str:
        found: str = (await self.item(memory))["item"]["version"]
        return found

    async def decide(self, memory: str, action: str, version: str | None = None, **more: Any) -> httpx.Response:
        body = {"action": action, "version": version or await self.version(memory), **more}
        return await self.client.post(f"/admin/review/{rev(memory)}", json=body)

    async def decided(self, memory: str, action: str, **more: Any) -> dict[str, Any]:
        answer = await self.decide(memory, action, **more)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def recalled(self, question: str, **more: Any) -> list[str]:
        body = {"query": question, "user_id": "u1", "min_confidence": 0, **more}
        answer = await self.client.post("/query", json=body)
        assert answer.status_code == 200, answer.text
        return [hit["memory"]["id"] for hit in answer.json()["memories"]]


def rev(memory: str) -> str:
    return memory.replace("mem_", "rev_")


def spoken(turn: str, runtime: Runtime) -> tuple[Evidence, ...]:
    """Return evidence that points to a turn."""
    return (Evidence(stated_at=runtime.clock(), turn_id=UUID(hex=turn.removeprefix("turn_")), quote="as it was said"),)

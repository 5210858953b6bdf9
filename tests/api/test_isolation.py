"""Two tenants with the same users, content and questions: neither ever sees anything of the other's."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx
import pytest
from fastapi import FastAPI

from app.features.mem0 import routes as mem0
from app.main import create_app
from app.memory.registry import discover
from tests.api.conftest import Tenant, fact, new_tenant, settings_for
from tests.api.routes import Mounted, mounted
from tests.api.test_jobs import KIND, queued
from tests.support.tenant_types import opened, ticket

BODIES: dict[str, dict[str, Any]] = {
    "/query": {"query": "where does the user work?", "user_id": "u1"},
    "/answer": {"query": "where does the user work?", "user_id": "u1"},
    "/memories/query": {"query": "where does the user work?", "user_id": "u1"},
    "/memories/typed/query": {"query": "where does the user work?", "user_id": "u1"},
    "/aegis/memories/add": {"content": "A note of theirs.", "user_id": "u1"},
    "/aegis/memories/add_batch": {"items": [{"content": "Another note of theirs.", "user_id": "u1"}]},
    "/aegis/memories/query": {"query": "where does the user work?", "user_id": "u1"},
    "/aegis/memories/{memory_id}": {"metadata": {"theirs": True}},
    "/mem0/v1/memories": {"messages": "I work at Volkswagen.", "user_id": "u1"},
    "/mem0/v3/memories/add": {"messages": "I work at Volkswagen.", "user_id": "u1"},
    "/mem0/v2/memories": {"filters": {"user_id": "u1"}},
    "/mem0/v3/memories": {"filters": {"user_id": "u1"}},
    "/mem0/v1/memories/search": {"query": "where does the user work?", "user_id": "u1"},
    "/mem0/v2/memories/search": {"query": "where does the user work?", "filters": {"user_id": "u1"}},
    "/mem0/v3/memories/search": {"query": "where does the user work?", "filters": {"user_id": "u1"}},
    "/mem0/v1/memories/{memory_id}": {"metadata": {"theirs": True}},
    "/mem0/v1/batch": {"memories": [{"memory_id": "mem_" + "0" * 32, "metadata": {"theirs": True}}]},
    "/mem0/v2/profiles/jobs": {"operation": "trigger", "entity_type": "user", "entity_id": "u1"},
    "/mem0/api/v1/orgs/organizations/{tenant_id}/projects/{project_id}": {"custom_instructions": "theirs"},
    "/mem0/v1/feedback": {"memory_id": "{memory_id}", "feedback": "VERY_NEGATIVE"},
    "/memories/batch": {"memories": [{"type": "fact", **fact()}]},
    "/admin/keys": {"name": "theirs"},
    "/admin/tenants": {"name": "another tenant by the same routes"},
    "/memories/{memory_id}": {"importance": 0.123},
    "/memories/{memory_id}/feedback": {"feedback": "wrong", "note": "not theirs to say"},
    "/entities/merge": {"into": "{entity_id}", "from": ["{entity_id}"]},
    "/turns": {"content": "I work at Volkswagen.", "user_id": "u1"},
    "/admin/policy": {"keep_episodes": True},
    "/entities/unmerge": {"entity": "{entity_id}"},
    "/admin/review/{review_id}": {"action": "reject", "version": "any"},
    "/admin/review/{review_id}/comments": {"comment": "not theirs to say"},
    "/admin/invitations": {"user_id": "u1"},
    "/admin/webhooks": {"url": "https://hooks.example/", "events": ["job.done"]},
    "/admin/review/bulk": {"decisions": [{"id": "{review_id}", "action": "reject", "version": "any"}]},
    "/admin/types": ticket(name="theirs", aliases=[]),
    "/memories/typed/{type}": {"payload": opened(), "user_id": "u1"},
    "/admin/backfills": {"type": "medication"},
    "/documents": {"document_id": "theirs.md", "content": "# Notes\n\nOf the other tenant.", "user_id": "u1"},
    "/import": {"record": "header", "format": "typed-memory", "version": 1},
}
UNCONFIGURED = {("POST", "/answer"), ("POST", "/admin/invitations")}
"""Routes without a language model and OAuth, which these tests do not have."""

GUARDED = [
    route for route in mounted(create_app(settings_for("postgresql://nowhere"))) if route.role not in {None, "none"}
]


REFUSED = {**{f"/mem0{path}": 501 for path in mem0.REFUSED}, "/documents/files": 415}
"""Calls of mem0 that are refused by name, and the route that takes a form."""

UNNAMED = {"GET /mem0/v1/memories", "DELETE /mem0/v1/memories", "DELETE /mem0/v1/batch"}
"""Routes that have to be told whose memories are meant, in a query string or a body that these tests don't send."""


def body_of(path: str) -> dict[str, Any]:
    for spec in discover():
        if path in {f"/memories/typed/{name}" for name in (spec.name, *spec.aliases)}:
            return {**spec.examples[0].payloads[0], "user_id": "u1"}
    return BODIES.get(path, {})


@dataclass(frozen=True, slots=True)
class Owner:
    """A tenant with memories, and every id it has."""

    tenant: Tenant
    memory: str
    key: str
    entity: str
    job: str
    turn: str
    review: str
    erasure: str
    backfill: str
    webhook: str
    delivery: str
    others: str
    type: str
    ids: frozenset[str]

    def filled(self, text: str) -> str:
        """The text with this tenant's ids in the places for ids."""
        return (
            text.replace("{memory_id}", self.memory)
            .replace("{key_id}", self.key)
            .replace("{entity_id}", self.entity)
            .replace("{job_id}", self.job)
            .replace("{turn_id}", self.turn)
            .replace("{review_id}", self.review)
            .replace("{erasure_id}", self.erasure)
            .replace("{backfill_id}", self.backfill)
            .replace("{webhook_id}", self.webhook)
            .replace("{delivery_id}", self.delivery)
            .replace("{grant_id}", self.webhook.replace("whk_", "grt_"))
            .replace("{invitation_id}", self.webhook.replace("whk_", "inv_"))
            .replace("{tenant_id}", self.others)
            .replace("{type}", self.type)
            .replace("{type_name}", self.type)
            .replace("{document_id:path}", f"{self.type}.md")
        )

    def path(self, route: Mounted) -> str:
        # A worker is everyone's; what it works on is the caller's own.
        found = self.filled(route.path).replace("{name}", "freshness")
        found = found.replace("{entity_type}", "run")
        return found.replace("{session_id:path}", "s1").replace("{entity_id:path}", "user_123")

    async def everything(self) -> list[dict[str, Any]]:
        page = (await self.tenant.client.get("/memories", params={"all": True, "limit": 200})).json()
        keys = (await self.tenant.client.get("/admin/keys")).json()["keys"]
        for key in keys:
            key.pop("last_used_at")
        for memory in page["memories"]:
            memory.pop("freshness")
        jobs = (await self.tenant.client.get("/jobs", params={"all": True, "kind": KIND})).json()["jobs"]
        turns = (await self.tenant.client.get("/turns?all=true")).json()["turns"]
        types = (await self.tenant.client.get("/admin/types")).json()["types"]
        return [*page["memories"], *keys, *jobs, *turns, *types]


async def furnished(tenant: Tenant, id_of_tenant: str) -> Owner:
    client = tenant.client
    for spec in discover():
        for payload in spec.examples[0].payloads:
            body = {**payload, "user_id": "u1", "agent_id": "a1", "session_id": "s1"}
            await client.post(f"/memories/typed/{spec.name}", json=body)
    await client.post("/memories/typed/fact", json=fact(object="Audi"))
    memories = (await client.get("/memories", params={"all": True, "limit": 200})).json()["memories"]
    keys = (await client.get("/admin/keys")).json()["keys"]
    assert len(memories) >= len(list(discover()))
    entities = (await client.get("/entities?all=true")).json()["entities"]
    job = await queued(client, tenant.app.state.runtime)
    said = await client.post("/turns?mode=sync", json={"content": "I work at Volkswagen.", "user_id": "u1"})
    turn = said.json()["turns"][0]["id"]
    await client.patch(f"/memories/{memories[0]['id']}", json={"needs_review": True})
    review = memories[0]["id"].replace("mem_", "rev_")
    spare = await client.post("/memories/typed/event", json={"event_description": "To be erased", "user_id": "u9"})
    erased = await client.delete(f"/memories/{spare.json()['memory']['id']}")
    erasure = erased.json()["id"]
    backfill = (await client.post("/admin/backfills", json={"type": "medication"})).json()["id"]
    # A name of each tenant's own: what the one has, the other has not.
    own = f"ticket_{uuid4().hex[:8]}"
    assert (await client.post("/admin/types", json=ticket(name=own, aliases=[]))).status_code == 201
    document = {"document_id": f"{own}.md", "content": "# Notes\n\nOf one tenant alone."}
    assert (await client.post("/documents", json=document)).status_code == 201
    told = await client.post(f"/memories/typed/{own}", json={"payload": opened(), "user_id": "u1"})
    asked = {"url": "https://hooks.example/", "events": ["job.done"]}
    webhook = (await client.post("/admin/webhooks", json=asked)).json()["id"]
    await client.patch(f"/admin/webhooks/{webhook}", json={"active": False})
    ids = {
        webhook,
        job,
        turn,
        review,
        erasure,
        backfill,
        told.json()["memory"]["id"],
        *(one["id"] for one in (*memories, *keys, *entities)),
    }
    return Owner(
        tenant=tenant,
        memory=memories[0]["id"],
        key=keys[0]["id"],
        entity=entities[0]["id"],
        job=job,
        turn=turn,
        review=review,
        erasure=erasure,
        backfill=backfill,
        webhook=webhook,
        delivery=webhook.replace("whk_", "msg_"),
        others=id_of_tenant,
        type=own,
        ids=frozenset(ids),
    )


@pytest.fixture(scope="module")
async def owner(app: FastAPI) -> AsyncIterator[Owner]:
    async with _operated(app) as operator, new_tenant(app, operator, "isolation: A") as tenant:
        yield await furnished(tenant, "ten_" + "0" * 32)


@pytest.fixture(scope="module")
async def intruder(app: FastAPI) -> AsyncIterator[Owner]:
    async with _operated(app) as operator, new_tenant(app, operator, "isolation: B") as tenant:
        yield await furnished(tenant, "ten_" + "0" * 32)


def _operated(app: FastAPI) -> Any:
    from tests.api.conftest import OPERATOR_KEY, connected  # noqa: PLC0415

    return connected(app, OPERATOR_KEY)


@pytest.mark.parametrize("route", GUARDED, ids=str)
async def test_another_tenants_things_do_not_exist(route: Mounted, owner: Owner, intruder: Owner) -> None:
    before = await owner.everything()
    body = json.dumps(body_of(route.path)) if route.method in {"POST", "PATCH", "PUT"} else ""
    answer: httpx.Response = await intruder.tenant.client.request(
        route.method, owner.path(route), content=owner.filled(body), headers={"Content-Type": "application/json"}
    )
    if route.role == "operator":
        assert answer.status_code == 403
    elif (route.method, route.path) in UNCONFIGURED:
        assert answer.status_code == 501, "these tests have no language model, and no OAuth"
    elif route.path in REFUSED or str(route) in UNNAMED:
        assert answer.status_code == REFUSED.get(route.path, 422), answer.text
    elif owner.filled(route.path + body) != route.path + body:
        assert answer.status_code == 404, answer.text
    else:
        assert answer.status_code < 300, answer.text
    # The one id that may come back is the one that was asked for, in the problem's own words.
    told = (
        answer.text.replace(owner.path(route), "")
        .replace(owner.memory, "")
        .replace(owner.key, "")
        .replace(owner.entity, "")
        .replace(owner.webhook, "")
        .replace(owner.job, "")
        .replace(owner.turn, "")
        .replace(owner.review, "")
        .replace(owner.erasure, "")
        .replace(owner.backfill, "")
    )
    assert not [one for one in owner.ids if one in told]
    if answer.status_code == 404:
        assert answer.json()["type"] == "urn:typed-memory:problem:not-found"
    assert await owner.everything() == before


async def test_the_same_ids_in_both_lead_to_ones_own(owner: Owner, intruder: Owner) -> None:
    for one, other in ((owner, intruder), (intruder, owner)):
        found = await one.tenant.client.post("/query", json={"query": "Volkswagen", "user_id": "u1", "top_k": 50})
        assert found.status_code == 200, found.text
        told = {hit["memory"]["id"] for hit in found.json()["memories"]}
        assert told
        assert not told & other.ids


async def test_evidence_cannot_point_to_a_turn_of_another_tenant(owner: Owner) -> None:
    answer = await owner.tenant.client.post("/memories/typed/fact", json=fact(evidence_turn_id="turn_" + "0" * 32))
    assert answer.status_code == 422

"""Exports as tests handle them: taken, read, compared, sent."""

from __future__ import annotations

import json
from typing import Any

import httpx

SPECIFIC = {"header": ("tenant", "exported_at", "policy"), "scope": ("created_at",)}
"""What of a line is the tenant's own."""


async def exported(client: httpx.AsyncClient, **params: Any) -> list[str]:
    answer = await client.get("/export", params=params)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    return answer.text.splitlines()


async def imported(client: httpx.AsyncClient, lines: list[str], **params: Any) -> dict[str, Any]:
    answer = await client.post("/import", params=params, content="".join(f"{line}\n" for line in lines).encode())
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def comparable(lines: list[str]) -> list[dict[str, Any]]:
    """Return what two tenants with the same memories export alike.

    What became of an imported memory the database tells itself, as its events come only after it; and each tenant
    has events of its own making.
    """
    own = {"import.batch", "memory.standing", "tenant.created", "key.created", "policy.changed"}
    told: list[dict[str, Any]] = []
    events: list[dict[str, Any]] = []
    for line in lines:
        one = json.loads(line)
        if one["record"] == "end" or one.get("action") in own:
            continue
        for name in SPECIFIC.get(one["record"], ()):
            one.pop(name, None)
        (events if one["record"] == "audit_event" else told).append(one)
    return told + sorted(events, key=lambda one: str(one["id"]))

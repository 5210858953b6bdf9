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
    """Return what two tenants with the same memories export alike."""
    told = []
    for line in lines:
        one = json.loads(line)
        if one["record"] == "end" or one.get("action") == "import.batch":
            continue
        for name in SPECIFIC.get(one["record"], ()):
            one.pop(name, None)
        told.append(one)
    return told

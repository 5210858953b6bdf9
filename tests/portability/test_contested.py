"""A file's word on the versions of its slots stands, in any order of its lines and any size of batches."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from app.features.portability import storing
from tests.api.conftest import Tenant, new_tenant
from tests.portability.files import comparable, exported, imported

pytestmark = pytest.mark.long

PEOPLE = ("ana", "ben", "chloe")


async def fact(client: httpx.AsyncClient, user: str, value: str, day: int, **more: Any) -> dict[str, Any]:
    body = {"user_id": user, "subject": "user", "predicate": "works-at", "object": value,
            "occurred_at": f"2026-02-{day:02}T00:00:00Z", **more}  # fmt: skip
    answer = await client.post("/memories/typed/fact", json=body)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def furnish(client: httpx.AsyncClient) -> None:
    """Give each person two employers in turn, a weak rival of the second, and an ended value stated later."""
    for user in PEOPLE:
        await fact(client, user, "Orkla", 1)
        await fact(client, user, "Telenor", 5)
        for number in range(4):
            body = {"user_id": user, "preference_key": f"part{number}", "preference_value": "dark"}
            assert (await client.post("/memories/typed/preference", json=body)).status_code == 201
        weak = {"source_strength": 0.4, "extractor_confidence": 0.5}
        rival = await fact(client, user, "Statkraft", 9, **weak)
        assert rival["decision"] == "contradicted", rival
        ended = {"valid_until": "2026-02-27T00:00:00Z"}
        await fact(client, user, "Equinor", 25, **ended)


def shuffled(lines: list[str], random: Random) -> list[str]:
    """Shuffle the lines of each kind, which come one after the other."""
    kinds = {json.loads(line)["record"]: None for line in lines}
    by_kind = {kind: [line for line in lines if json.loads(line)["record"] == kind] for kind in kinds}
    for found in by_kind.values():
        random.shuffle(found)
    return [line for found in by_kind.values() for line in found]


@pytest.mark.parametrize("batch", [1, 2, 200])
async def test_versions_of_a_slot_come_back_as_the_file_says(
    app: FastAPI, operator: httpx.AsyncClient, tenant: Tenant, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    await furnish(tenant.client)
    lines = await exported(tenant.client)
    monkeypatch.setattr(storing, "BATCH", batch)
    for seed in range(4):
        mixed = lines if seed == 0 else shuffled(lines, Random(seed))  # noqa: S311 - no secret
        async with new_tenant(app, operator, f"in batches of {batch}, order {seed}") as other:
            done = await imported(other.client, mixed)
            again = await exported(other.client)
        assert (done["failed"], done["errors"]) == (0, []), seed
        assert done["as_exported"] == (seed == 0)
        wanted, found = (
            sorted((one["id"], json.dumps(one)) for one in comparable(every) if one["record"] == "memory")
            for every in (lines, again)
        )
        assert found == wanted


async def test_an_interrupted_import_goes_on_as_the_file_says(
    tenant: Tenant, other_tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    await furnish(tenant.client)
    lines = await exported(tenant.client)
    monkeypatch.setattr(storing, "BATCH", 1)
    memories = [at for at, line in enumerate(lines) if json.loads(line)["record"] == "memory"]
    for cut in memories[::3]:
        await imported(other_tenant.client, lines[:cut])
    done = await imported(other_tenant.client, lines)
    assert done["already_there"]["memory"] > 0
    assert (done["failed"], done["as_exported"]) == (0, True), done["errors"]
    wanted, found = (
        sorted((one["id"], json.dumps(one)) for one in comparable(every) if one["record"] == "memory")
        for every in (lines, await exported(other_tenant.client))
    )
    assert found == wanted

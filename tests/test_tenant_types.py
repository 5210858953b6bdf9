"""docs/tenant-types.md is true: its requests are sent, and what it shows is in their answers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.memory.tenant_types.definition import Definition
from tests.api.conftest import app, client, database_url, operator, owner_connection, tenant

__all__ = ["app", "client", "database_url", "operator", "owner_connection", "tenant"]

DOCUMENT = (Path(__file__).parents[1] / "docs" / "tenant-types.md").read_text()
BLOCKS: list[tuple[str, str]] = re.findall(r"^```(http|json)\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)


def lacks(answer: Any, shown: Any, at: str = "") -> list[str]:
    """Where an answer is not what is shown; of an object, only what is shown is looked at."""
    if isinstance(shown, dict) and isinstance(answer, dict):
        return [one for name in shown for one in lacks(answer.get(name), shown[name], f"{at}/{name}")]
    if isinstance(shown, list) and isinstance(answer, list) and len(shown) == len(answer):
        return [one for n, pair in enumerate(zip(answer, shown, strict=True)) for one in lacks(*pair, f"{at}/{n}")]
    return [] if answer == shown else [f"{at}: {answer!r}, and not {shown!r}"]


async def test_its_requests_are_answered_as_it_says(client: httpx.AsyncClient) -> None:
    assert [kind for kind, _ in BLOCKS] == ["http", "json"] * (len(BLOCKS) // 2)
    assert len(BLOCKS) >= 16
    for (_, request), (_, shown) in zip(BLOCKS[::2], BLOCKS[1::2], strict=True):
        line, _, body = request.partition("\n")
        method, path = line.split()
        answer = await client.request(method, path, json=json.loads(body) if body.strip() else None)
        told = answer.json() if answer.status_code < 400 else {**answer.json(), "status": answer.status_code}
        assert not lacks(told, json.loads(shown)), (line, lacks(told, json.loads(shown)), answer.text)


def test_every_member_is_listed() -> None:
    listed = [
        name for cell in re.findall(r"^\| (`.*?) \|", DOCUMENT, re.MULTILINE) for name in re.findall("`(.*?)`", cell)
    ]
    assert sorted(listed) == sorted(Definition.model_fields)


@pytest.mark.parametrize("limit", ["50 types", "32 fields", "100 versions", "24,000 characters"])
def test_its_limits_are_the_codes(limit: str) -> None:
    from app.features.tenant_types import service as own_types  # noqa: PLC0415
    from app.memory.tenant_types import schema  # noqa: PLC0415

    number = int(limit.partition(" ")[0].replace(",", ""))
    assert limit in " ".join(DOCUMENT.split())
    assert number in {own_types.MOST, schema.MOST_FIELDS, own_types.MOST_VERSIONS, own_types.LARGEST_PROMPT}

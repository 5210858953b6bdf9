"""Every table gains a column while the service runs: no statement that was prepared before is put out by it."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from http import HTTPStatus
from typing import Any

import asyncpg
import pytest

from app.db.tables import metadata
from tests.api.conftest import KEY, OPERATOR_KEY, Tenant, connected, new_tenant, running, settings_for
from tests.api.routes import Mounted
from tests.api.test_isolation import GUARDED, Owner, body_of, furnished
from tests.api.test_jobs import KIND

pytestmark = pytest.mark.long

ORDER = ["GET", "POST", "PATCH", "PUT", "DELETE"]
NOBODY = "ten_" + "0" * 32


async def asked(owner: Owner, operator: Any, route: Mounted) -> str | None:
    """Send a route's sample request; return what went wrong, if the service did."""
    client = operator if route.role == "operator" else owner.tenant.client
    body = json.dumps(body_of(route.path)) if route.method in {"POST", "PATCH", "PUT"} else ""
    answer = await client.request(
        route.method, owner.path(route), content=owner.filled(body), headers={"Content-Type": "application/json"}
    )
    # 501: this service has no language model, which some routes need.
    failed = answer.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR and answer.status_code != HTTPStatus.NOT_IMPLEMENTED
    return f"{route}: {answer.status_code} {answer.text}" if failed else None


async def waiting(tenant: Tenant) -> list[Any]:
    """The jobs that a worker is still to do: not those of a kind of the tests' own."""
    found = (await tenant.client.get("/jobs", params={"all": True, "status": "queued"})).json()["jobs"]
    return [one for one in found if one["kind"] != KIND]


async def every_route(tenant: Tenant, operator: Any) -> list[str]:
    """Fill a tenant, send it a request a route, and have its jobs done; return what went wrong."""
    owner = await furnished(tenant, NOBODY)
    made = await tenant.client.post("/admin/keys", json={"name": "to be revoked"})
    owner = replace(owner, key=made.json()["id"])
    wrong = [await asked(owner, operator, one) for one in sorted(GUARDED, key=lambda one: ORDER.index(one.method))]
    async with asyncio.timeout(60):
        while await waiting(tenant):  # noqa: ASYNC110 - it is in a database
            await asyncio.sleep(0.05)
    failed = (await tenant.client.get("/jobs", params={"all": True, "status": "failed"})).json()["jobs"]
    return [one for one in wrong if one] + [f"{one['kind']}: {one['error']}" for one in failed]


async def test_every_route_goes_on_when_every_table_gains_a_column(fresh_database_url: str) -> None:
    settings = settings_for(fresh_database_url, database_pool_size=2)
    async with running(settings) as app, connected(app, OPERATOR_KEY) as operator, connected(app, KEY):
        for name in ("before", "after"):
            async with new_tenant(app, operator, name) as tenant:
                assert await every_route(tenant, operator) == [], name
            owner = await asyncpg.connect(fresh_database_url)
            for table in metadata.sorted_tables:
                await owner.execute(f"ALTER TABLE {table.name} ADD COLUMN {name}_that integer NOT NULL DEFAULT 7")
            await owner.close()

"""The embedding models over HTTP: the active one, and how far another one has come."""

from __future__ import annotations

import asyncpg

from tests.api.conftest import Tenant, connected, written

PATH = "/admin/embedding-models"

NEW = "INSERT INTO embedding_models (id, name, dimensions, active, phase) VALUES (2, 'new', 8, false, 'building')"

FILL = """
    UPDATE memory_index SET model_id_2 = 2, embedding_2 = '[0,0,0,0,0,0,0,1]'
    WHERE memory_id IN (SELECT id FROM memories WHERE content LIKE '%Saab%')
"""


async def test_a_model_that_is_being_built_says_how_far_it_is_with_the_tenants_vectors(
    tenant: Tenant, other_tenant: Tenant, database_url: str
) -> None:
    for client in (tenant.client, other_tenant.client):
        await written(client)
    await written(tenant.client, object="Saab")
    [only] = (await tenant.client.get(PATH)).json()["models"]
    assert (only["phase"], only["rows"], only["lacking"]) == ("active", None, None)
    connection = await asyncpg.connect(database_url)
    try:
        await connection.execute(NEW)
        [first, second] = (await tenant.client.get(PATH)).json()["models"]
        assert first == only
        assert (second["name"], second["dimensions"], second["phase"]) == ("new", 8, "building")
        assert second["rows"] == second["lacking"] > 0
        filled = int((await connection.execute(FILL)).split()[1])
        assert filled > 0
        [_, second] = (await tenant.client.get(PATH)).json()["models"]
        assert second["rows"] - second["lacking"] == filled
        [_, theirs] = (await other_tenant.client.get(PATH)).json()["models"]
        assert theirs["rows"] == theirs["lacking"] > 0
    finally:
        await connection.execute("UPDATE memory_index SET model_id_2 = NULL, embedding_2 = NULL")
        await connection.execute("DELETE FROM embedding_models WHERE id = 2")
        await connection.close()


async def test_the_models_take_an_admin_key(tenant: Tenant) -> None:
    async with connected(tenant.app, await tenant.key("write")) as writer:
        assert (await writer.get(PATH)).status_code == 403

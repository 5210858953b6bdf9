"""Documents leave with an export and come back with an import, as the memories that they are."""

from __future__ import annotations

from http import HTTPStatus

import httpx

from tests.features.documents.test_documents import asked, listed, put


async def test_a_document_is_exported_and_imported(client: httpx.AsyncClient, other_client: httpx.AsyncClient) -> None:
    await put(client, user_id="ana", metadata={"source": "intranet"})
    before = await listed(client, user_id="ana")
    exported = await client.get("/export")
    headers = {"Content-Type": "application/x-ndjson"}
    imported = await other_client.post("/import", content=exported.content, headers=headers)
    assert imported.status_code == HTTPStatus.OK, imported.text
    assert imported.json()["as_exported"] is True
    assert await listed(other_client, user_id="ana") == before
    assert "25 days" in await asked(other_client, "How many days of paid leave do employees get?", user_id="ana")
    again = await put(other_client, user_id="ana", metadata={"source": "intranet"})
    assert (again["decision"], again["kept"]) == ("unchanged", 4)

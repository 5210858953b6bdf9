"""A document of five megabytes is stored, asked, replaced and erased."""

from __future__ import annotations

from http import HTTPStatus

import httpx
import pytest

from tests.features.documents.folder import FILES, long_text
from tests.features.documents.test_documents import asked
from tests.features.documents.test_folder import send

pytestmark = pytest.mark.long


async def test_five_megabytes_are_stored_asked_replaced_and_erased(client: httpx.AsyncClient) -> None:
    question = FILES["log.txt"].question
    stored = await send(client, "log.txt", long_text(75_000))
    assert stored.status_code == HTTPStatus.CREATED, stored.text
    assert "Ingrid" in await asked(client, question)
    newer = await send(client, "log.txt", b"The log begins anew.")
    assert newer.json()["sections"] == 1, newer.text
    assert "Ingrid" not in await asked(client, question)
    erased = await client.delete("/documents/log.txt", timeout=300)
    assert erased.json()["counts"]["memories"] == stored.json()["sections"] + 1

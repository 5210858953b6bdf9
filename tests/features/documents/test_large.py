"""A document of five megabytes is stored, asked, replaced in part and as a whole, and erased."""

from __future__ import annotations

from http import HTTPStatus

import httpx
import pytest

from tests.features.documents.folder import FILES, long_text
from tests.features.documents.test_documents import asked
from tests.features.documents.test_folder import send

pytestmark = [pytest.mark.long, pytest.mark.timeout(1_800)]


async def test_five_megabytes_are_stored_asked_replaced_and_erased(client: httpx.AsyncClient) -> None:
    question, content = FILES["log.txt"].question, long_text(86_000)
    assert len(content) > 5_000_000
    stored = await send(client, "log.txt", content)
    assert stored.status_code == HTTPStatus.CREATED, stored.text
    sections = stored.json()["sections"]
    assert "Ingrid" in await asked(client, question)
    edited = await send(client, "log.txt", content.replace(b"Ingrid Solberg", b"Astrid Nygaard"))
    assert edited.status_code == HTTPStatus.OK, edited.text
    assert (edited.json()["added"], edited.json()["kept"], edited.json()["removed"]) == (1, sections - 1, 1)
    block = await asked(client, question)
    assert "Astrid" in block
    assert "Ingrid" not in block
    newer = await send(client, "log.txt", b"The log begins anew.")
    assert newer.status_code == HTTPStatus.OK, newer.text
    assert (newer.json()["sections"], newer.json()["removed"]) == (1, sections)
    assert "Astrid" not in await asked(client, question)
    erased = await client.delete("/documents/log.txt", timeout=600)
    assert erased.status_code == HTTPStatus.OK, erased.text
    assert erased.json()["counts"]["memories"] == sections + 2

"""Clients whose id is the address of a document about them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest

from app.features.oauth.clients import Clients, UnknownClient
from app.providers.addresses import JsonDocuments, NoAnswer
from tests.api.conftest import KEY, settings_for
from tests.features.oauth.conftest import CALLBACK, Flow, listening

ADDRESS = "https://app.example/oauth/client.json"


@dataclass(slots=True)
class Shelf:
    """Documents by their address, in place of the internet."""

    documents: dict[str, dict[str, object]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    async def fetch(self, url: str) -> dict[str, object]:
        self.asked.append(url)
        if url not in self.documents:
            raise NoAnswer("the host answered 404")
        return self.documents[url]


def document(**given: object) -> dict[str, object]:
    found = {"client_id": ADDRESS, "client_name": "An app", "redirect_uris": [CALLBACK], **given}
    return {name: value for name, value in found.items() if value is not None}


@pytest.fixture
def shelf(monkeypatch: pytest.MonkeyPatch) -> Shelf:
    found = Shelf()

    async def fetch(_self: JsonDocuments, url: str) -> dict[str, object]:
        return await found.fetch(url)

    monkeypatch.setattr(JsonDocuments, "fetch", fetch)
    return found


@pytest.fixture
async def documented(shelf: Shelf, database_url: str) -> AsyncIterator[Flow]:
    async with listening(settings_for(database_url, oauth=True, worker="off")) as service, service.client() as http:
        yield Flow(service=service, http=http, client_id=ADDRESS)


async def test_a_document_stands_for_a_registration(documented: Flow, shelf: Shelf) -> None:
    shelf.documents[ADDRESS] = document(redirect_uris=["http://localhost/callback"])
    page = await documented.page(redirect_uri="http://localhost:4711/callback")
    assert page.status_code == 200
    assert "An app" in page.text
    assert "app.example" in page.text
    back = "http://localhost:4711/callback"
    code = await documented.code(KEY, redirect_uri=back)
    assert (await documented.exchange(code, redirect_uri=back)).status_code == 200
    assert shelf.asked == [ADDRESS], "it is kept for some minutes"
    assert (await documented.page(redirect_uri="https://evil.example/")).status_code == 400


@pytest.mark.parametrize(
    "given",
    [
        {"client_id": "https://app.example/oauth/other.json"},
        {"client_id": None},
        {"redirect_uris": []},
        {"redirect_uris": None},
        {"redirect_uris": ["http://app.example/back"]},
        {"redirect_uris": ["javascript:alert(1)"]},
        {"token_endpoint_auth_method": "client_secret_post"},
        {"token_endpoint_auth_method": "private_key_jwt"},
    ],
    ids=str,
)
async def test_a_document_that_says_something_else_is_refused(shelf: Shelf, given: dict[str, object]) -> None:
    shelf.documents[ADDRESS] = document(**given)
    with pytest.raises(UnknownClient):
        await Clients(documents=JsonDocuments()).get(ADDRESS)


@pytest.mark.parametrize(
    "address",
    [
        "https://app.example",
        "https://app.example/",
        "https://app.example/a/../client.json",
        "https://app.example/client.json#here",
        "http://app.example/client.json",
    ],
)
async def test_an_address_that_names_no_document_is_not_asked(shelf: Shelf, address: str) -> None:
    shelf.documents[address] = document(client_id=address)
    with pytest.raises(UnknownClient):
        await Clients(documents=JsonDocuments()).get(address)
    assert shelf.asked == []


async def test_a_document_that_is_not_there_is_not_asked_for_again_and_again(shelf: Shelf) -> None:
    clients = Clients(documents=JsonDocuments())
    for _ in range(3):
        with pytest.raises(UnknownClient, match="404"):
            await clients.get(ADDRESS)
    assert shelf.asked == [ADDRESS]

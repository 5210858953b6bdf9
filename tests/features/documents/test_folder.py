"""A folder of twenty mixed files is ingested, asked, replaced and erased; hostile files leave nothing behind."""

from __future__ import annotations

import gzip
import os
import re
import zipfile
from collections.abc import Callable
from http import HTTPStatus
from importlib.util import find_spec
from io import BytesIO

import httpx
import pytest

from tests.features.documents.folder import FILES, Case
from tests.features.documents.pdf import bomb, column, page_of, pdf
from tests.features.documents.test_documents import asked, listed

HAS_PDF = find_spec("pypdf") is not None

needs_pdf = pytest.mark.skipif(not HAS_PDF, reason="reads PDF: pip install 'typed-memory[documents]'")

INSTALL = "pip install 'typed-memory[documents]'"


async def send(client: httpx.AsyncClient, name: str, content: bytes) -> httpx.Response:
    files = {"file": (name, content)}
    return await client.post("/documents/files", files=files, data={"document_id": name}, timeout=600)


def expected(name: str, case: Case) -> str:
    return INSTALL if name.endswith(".pdf") and not HAS_PDF else case.refused


@pytest.mark.long
async def test_twenty_mixed_files_are_stored_asked_replaced_and_erased(client: httpx.AsyncClient) -> None:
    assert len(FILES) == 20
    stored = {name: case for name, case in FILES.items() if not expected(name, case)}
    for name, case in FILES.items():
        answer = await send(client, name, case.content)
        if refused := expected(name, case):
            assert answer.status_code in {HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.NOT_IMPLEMENTED}, name
            assert refused in answer.json()["detail"], (name, answer.text)
        else:
            assert answer.status_code == HTTPStatus.CREATED, (name, answer.text)
    assert {one["document_id"] for one in await listed(client)} == stored.keys()
    for name, case in stored.items():
        assert case.answer in await asked(client, case.question), name
    for name, case in stored.items():
        again = (await send(client, name, case.content)).json()
        assert (again["decision"], again["added"], again["removed"]) == ("unchanged", 0, 0), name
    newer = await send(client, "log.txt", b"The log begins anew.")
    assert (newer.json()["decision"], newer.json()["sections"]) == ("replaced", 1)
    assert "Ingrid" not in await asked(client, FILES["log.txt"].question)
    for name in stored:
        receipt = await client.delete(f"/documents/{name}", timeout=120)
        assert receipt.status_code == HTTPStatus.OK, receipt.text
        proof = await client.get(f"/admin/erasures/{receipt.json()['id']}")
        assert proof.json()["still_there"] == 0
    assert await listed(client, all=True) == []
    assert (await client.get("/memories", params={"type": "document"})).json()["memories"] == []


async def assert_nothing_is_left(client: httpx.AsyncClient) -> None:
    """See that a refused document left no document, memory, entity or job, and nothing in the audit log."""
    assert await listed(client, all=True) == []
    assert (await client.get("/memories", params={"all": True})).json()["memories"] == []
    assert (await client.get("/entities", params={"all": True})).json()["entities"] == []
    assert (await client.get("/jobs", params={"all": True, "kind": "documents"})).json()["jobs"] == []
    actions = {one["action"] for one in (await client.get("/admin/audit")).json()["events"]}
    assert not {one for one in actions if one.startswith(("memory.", "document."))}


def _zip() -> bytes:
    held = BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("word/document.xml", b"0" * 50_000_000)
    return held.getvalue()


HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "archive.docx": (_zip, "archive"),
    "renamed.md": (_zip, "archive"),
    "packed.html": (lambda: gzip.compress(b"<p>bomb</p>" * 5_000_000, 9), "compressed"),
    "binary.txt": (lambda: os.urandom(50_000), "UTF-8"),
    "not.pdf": (lambda: b"MZ no pdf", "not a PDF"),
    "nul.txt": (lambda: b"abc\x00def", "not text"),
}

HOSTILE_PDF: dict[str, tuple[Callable[[], bytes], str]] = {
    "bomb.pdf": (lambda: bomb(300), "PDF"),
    "pages.pdf": (lambda: pdf(page_of(column(50, "again")), shared=10_000), "2000 pages"),
    "cut.pdf": (lambda: pdf(page_of(column(50, "cut")))[:300], "damaged"),
    "loop.pdf": (lambda: pdf(page_of(column(50, "x"))).replace(b"/Kids [6 0 R]", b"/Kids [2 0 R]"), "PDF"),
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_hostile_files_are_refused_and_leave_nothing(client: httpx.AsyncClient, name: str) -> None:
    make, why = HOSTILE[name]
    answer = await send(client, name, make())
    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY, answer.text
    assert why in answer.json()["detail"]
    await assert_nothing_is_left(client)


@needs_pdf
@pytest.mark.parametrize("name", HOSTILE_PDF)
async def test_hostile_pdfs_are_refused_and_leave_nothing(client: httpx.AsyncClient, name: str) -> None:
    make, why = HOSTILE_PDF[name]
    answer = await send(client, name, make())
    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY, answer.text
    assert why in answer.json()["detail"]
    await assert_nothing_is_left(client)


@pytest.mark.long
async def test_deeply_nested_html_is_read_without_its_nesting(client: httpx.AsyncClient) -> None:
    content = b"<html>" + b"<div>" * 200_000 + b"The well is nine metres deep." + b"<table><tr>" * 20_000
    answer = await send(client, "deep.html", content)
    assert answer.status_code == HTTPStatus.CREATED, answer.text
    assert "nine metres" in await asked(client, "How deep is the well?")


HOSTILE_HTML = b"""<html><head><title>Opening hours</title><script>alert("one")</script>
<style>p { background: url(http://evil.example/two) }</style><meta http-equiv="refresh" content="0;url=//three">
</head><body onload="four()"><p onclick="five()">The pool opens at seven.</p><a href="javascript:six()">Prices</a>
<iframe srcdoc="seven"></iframe><svg><text>eight</text></svg><object data="nine">nine</object><!-- ten -->
<p style="display:none">eleven</p><p hidden>twelve</p><noscript>thirteen</noscript><template>fourteen</template>
<scr<script>ipt>fifteen()</script><p>The sauna closes at nine.</p></body></html>"""


async def test_of_hostile_html_only_what_a_reader_sees_is_stored(client: httpx.AsyncClient) -> None:
    assert (await send(client, "hours.html", HOSTILE_HTML)).status_code == HTTPStatus.CREATED
    stored = (await client.get("/memories", params={"type": "document"})).json()["memories"]
    text = " ".join(one["content"] for one in stored)
    assert "The pool opens at seven." in text
    assert "The sauna closes at nine." in text
    for hidden in ("script", "one", "evil", "two", "three", "four", "five", "six", "eight", "ten", "eleven", "twelve"):
        assert re.search(rf"\b{hidden}\b", text) is None, hidden


@pytest.mark.parametrize(
    "title", ["../../etc/passwd", "..\\..\\boot.ini", "file:///etc/shadow", "%2e%2e%2fsecret", "~root"]
)
async def test_a_title_that_is_a_path_is_a_title_and_no_more(client: httpx.AsyncClient, title: str) -> None:
    files = {"file": ("notes.txt", b"The boiler was serviced in March.")}
    stored = (await client.post("/documents/files", files=files, data={"title": title})).json()
    assert (stored["title"], stored["document_id"]) == (title, "notes.txt")
    assert "The boiler was serviced in March." in await asked(client, "When was the boiler serviced?")
    assert (await client.delete("/documents/notes.txt")).status_code == HTTPStatus.OK


async def test_paths_in_names_and_ids_lead_nowhere(client: httpx.AsyncClient) -> None:
    files = {"file": ("..\\..\\windows\\..", b"Some words about windows.")}
    assert (await client.post("/documents/files", files=files)).json()["document_id"].startswith("doc-")
    named = await client.post("/documents/files", files={"file": ("a.txt", b"words")}, data={"document_id": "../a"})
    assert named.status_code == HTTPStatus.UNPROCESSABLE_ENTITY


async def test_a_form_needs_a_file_and_known_fields(client: httpx.AsyncClient) -> None:
    assert (await client.post("/documents/files", data={"title": "x"}, files={})).status_code == 415
    lone = await client.post("/documents/files", files={"other": ("a.txt", b"words")})
    assert "file" in lone.json()["detail"]
    odd = await client.post("/documents/files", files={"file": ("a.txt", b"words")}, data={"titel": "x"})
    assert odd.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    bad = await client.post("/documents/files", files={"file": ("a.txt", b"words")}, data={"metadata": "{"})
    assert "metadata" in bad.json()["detail"]

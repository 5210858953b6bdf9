"""Documents and local models cost nothing to those who don't use them."""

from __future__ import annotations

import subprocess
import sys

import httpx
import pytest

from app.db.session import ReadSession, SqlStatement
from app.feature import FeatureSpec
from app.features.documents import sql
from app.features.documents.feature import FEATURE
from tests.api.conftest import written

pytestmark = pytest.mark.long

START = """
import sys
from app.main import create_app
from app.settings import Settings
create_app(Settings())
print(sorted({"pypdf", "fastembed", "onnxruntime", "onnx", "app.providers.local_models"} & set(sys.modules)))
"""


def test_a_start_imports_no_reader_of_pdf_and_no_runtime_of_models() -> None:
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", START], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]", done.stdout


def test_nothing_of_documents_runs_by_itself() -> None:
    plain = FeatureSpec()
    assert (FEATURE.start, FEATURE.gauges, FEATURE.question_log) == (plain.start, None, None)
    assert FEATURE.schedules is plain.schedules


async def test_writes_and_questions_without_documents_run_no_statement_of_theirs(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = {one.sql for one in vars(sql).values() if isinstance(one, SqlStatement)}
    assert len(own) >= 4
    seen: list[str] = []
    fetch = ReadSession.fetch

    async def noted(self: ReadSession, statement: SqlStatement, values: dict[str, object]) -> object:
        seen.append(statement.sql)
        return await fetch(self, statement, values)

    monkeypatch.setattr(ReadSession, "fetch", noted)
    await written(client)
    body = {"query": "Where does the user work?", "user_id": "u1", "min_relevance": 0}
    answer = await client.post("/query", json=body)
    assert answer.json()["memories"]
    assert seen
    assert own.isdisjoint(seen)

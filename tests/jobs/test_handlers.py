"""Handlers are found by their files."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.errors import ConfigurationError
from app.jobs import handlers
from app.jobs.handler import discover

GOOD = """
from app.jobs.handler import Handler

async def run(runtime, job, progress):
    return None

HANDLER = Handler(kind="{kind}", run=run)
"""


def test_ours_are_named_like_their_files() -> None:
    assert all(kind == handler.kind for kind, handler in discover().items())


def test_a_new_file_is_a_new_kind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(handlers, "__path__", [str(tmp_path)])
    (tmp_path / "found_by_itself.py").write_text(GOOD.format(kind="found_by_itself"))
    assert list(discover()) == ["found_by_itself"]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("without_one", "", "defines no HANDLER"),
        ("of_another_name", GOOD.format(kind="other"), "name the file after it"),
    ],
)
def test_a_file_that_is_not_one_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, content: str, said: str
) -> None:
    monkeypatch.setattr(handlers, "__path__", [str(tmp_path)])
    (tmp_path / f"{name}.py").write_text(content)
    with pytest.raises(ConfigurationError, match=said):
        discover()

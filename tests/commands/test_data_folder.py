"""A data folder that can't be written is an error at once, before all that serves is loaded."""

from __future__ import annotations

import sys

import pytest

from app import cli


@pytest.mark.parametrize("folder", ["/proc/nope", "/proc/self/a/b"])
def test_a_folder_that_cannot_be_made_is_refused_before_the_service_is_loaded(
    folder: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("TM_DATABASE_URL", raising=False)
    monkeypatch.setenv("TM_DATA_DIR", folder)
    monkeypatch.setattr(sys, "argv", ["typed-memory", "serve"])
    monkeypatch.setattr(cli, "load", lambda _: pytest.fail("the service was loaded"))
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 1
    said = capsys.readouterr().err
    assert f"cannot use {folder}" in said
    assert "Set TM_DATA_DIR" in said
    assert said.count("\n") == 1

"""The README's code runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from service import Service
from typed_memory_client import TypedMemory

README = Path(__file__).resolve().parents[1] / "README.md"


def test_its_blocks_run_one_after_the_other(
    service: Service, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in service.environment.items():
        monkeypatch.setenv(name, value)
    blocks = re.findall(r"^```python\n(.*?)^```$", README.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 2
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(README), "exec"), names)  # noqa: S102 - the README's code is the point
    memory = names["memory"]
    assert isinstance(memory, TypedMemory)
    memory.close()
    assert "Berlin" in capsys.readouterr().out

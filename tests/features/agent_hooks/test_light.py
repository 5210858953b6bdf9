"""JSON is read and written as `json` does it, whichever modules an interpreter has."""

from __future__ import annotations

import json
import sys

import pytest

from app.features.agent_hooks import light

VALUES = [
    {"a": [1, -2.5, 1e3, True, None], "b": {"c": 'Zo\u00eb \U0001f642 \n "quoted" \\ \x1f'}, "": []},
    [],
    "text",
    7,
    None,
]
BROKEN = ["", "{", "[1,]", "{'a': 1}", '{"a": 1} x', "NaN", "[Infinity]", '"\x01"', "nul", "\xff"]


@pytest.fixture(params=["of C", "of Python"])
def modules(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "of Python":
        monkeypatch.setitem(sys.modules, "_json", None)


@pytest.mark.parametrize("value", VALUES, ids=str)
def test_a_value_is_written_and_read(modules: None, value: object) -> None:
    assert light.dumps(value) == json.dumps(value)
    assert light.loads(f"\ufeff \n{json.dumps(value, indent=1)}\r\n".encode()) == value
    assert light.loads(json.dumps(value, ensure_ascii=False).encode()) == value


@pytest.mark.parametrize("text", BROKEN, ids=repr)
def test_what_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - any of them is silence
        light.loads(text.encode("latin-1"))

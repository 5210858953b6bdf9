"""The OpenAPI document as the file has it; `test_openapi` compares that with the code, which takes seconds."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

FILE: Final = Path(__file__).parents[2] / "openapi" / "openapi.json"


@cache
def text() -> str:
    """Return the document as the command writes it."""
    return FILE.read_text(encoding="utf-8")


@cache
def document() -> dict[str, Any]:
    """Return the document, which its readers leave as it is."""
    loaded: dict[str, Any] = json.loads(text())
    return loaded

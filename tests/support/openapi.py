"""The OpenAPI document of the code, which takes seconds to make, made once in a process."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from app.operations.commands import openapi


@cache
def text() -> str:
    """Return the document as the command writes it."""
    return openapi.rendered()


@cache
def document() -> dict[str, Any]:
    """Return the document, which its readers leave as it is."""
    loaded: dict[str, Any] = json.loads(text())
    return loaded

"""The committed OpenAPI document: written by a command, and checked for drift by the same."""

from __future__ import annotations

import json
from pathlib import Path

from app.main import create_app
from app.settings import Settings

PATH = Path("openapi/openapi.json")


def rendered() -> str:
    """Return the document as text: sorted keys, so that only meaning makes a difference. Needs no database."""
    document = create_app(Settings.model_construct()).openapi()
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def write_openapi(path: Path = PATH) -> None:
    """Write the document."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(rendered(), encoding="utf-8")


def check_openapi(path: Path = PATH) -> bool:
    """Return whether the file says what the code does."""
    return path.is_file() and path.read_text(encoding="utf-8") == rendered()

"""Phrases that tests read, kept as text files under `data`: one a line, `[[name]]` before a section."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path

_DATA = Path(__file__).parent / "data"


def phrases(name: str, section: str = "") -> tuple[str, ...]:
    """Return the phrases of a file, or of one of its sections; a phrase that JSON would escape is written as JSON."""
    found: list[str] = []
    inside = not section
    for line in (_DATA / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("[[") and line.endswith("]]"):
            inside = line[2:-2] == section
        elif inside and line and not line.startswith("# "):
            found.append(json.loads(line) if line.startswith('"') and line.endswith('"') else line)
    return tuple(found)


def failing(texts: Iterable[str], passes: Callable[[str], bool]) -> list[str]:
    """Return the phrases that do not pass: a test of many phrases that names each that fails."""
    return [text for text in texts if not passes(text)]

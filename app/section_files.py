"""Text files of words that belong to a package: an entry a line, `#` before a comment, `[name]` before a section.

They stand in the package's folder `data`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files


@cache
def read_lines(package: str, name: str) -> tuple[str, ...]:
    """Return the lines of a file, without its comments and empty lines."""
    lines = (files(package) / "data" / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))


@cache
def read_sections(package: str, name: str) -> Mapping[str, tuple[str, ...]]:
    """Return the lines of each section of a file, in their order."""
    found: dict[str, list[str]] = {}
    inside: list[str] = []
    for line in read_lines(package, name):
        if line.startswith("[") and line.endswith("]"):
            inside = found.setdefault(line[1:-1], [])
        else:
            inside.append(line)
    return {title: tuple(lines) for title, lines in found.items()}

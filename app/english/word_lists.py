"""Word lists that are kept as text files under `data`: an entry a line, `#` before a comment."""

from __future__ import annotations

from importlib.resources import files

_DATA = files("app.english") / "data"


def entries(name: str) -> tuple[str, ...]:
    """Return the entries of a list, in their order."""
    lines = (_DATA / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))


def alternatives(name: str) -> tuple[tuple[tuple[str, ...], ...], ...]:
    """Return each entry as its alternatives, parted by `|` in the file, and each alternative as its forms."""
    return tuple(tuple(tuple(side.split()) for side in entry.split("|")) for entry in entries(name))

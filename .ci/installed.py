"""Typed Memory. Its packages `app` and `migrations` are inside this one, apart from others of these names."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the requested command."""
    sys.path.insert(0, os.path.dirname(__file__))  # noqa: PTH120 - a hook of an agent waits for each import
    from app.launch import main as run  # noqa: PLC0415

    run()


def __getattr__(name: str) -> str:
    """Look up the version when it is asked for."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import version  # noqa: PLC0415

    return version("typed-memory")

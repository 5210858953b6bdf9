"""Typed Memory: a multi-tenant memory service for agents."""

VERSION: str
"""The version of the installed package; unknown where it runs from files alone. Also `__version__`."""


def __getattr__(name: str) -> str:
    """Look up the version when it is asked for, because a hook of an agent waits for each import."""
    if name not in {"VERSION", "__version__"}:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415

    try:
        found = version("typed-memory")
    except PackageNotFoundError:
        found = "unknown"
    globals().update(VERSION=found, __version__=found)
    return found

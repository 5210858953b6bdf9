"""Typed Memory: a multi-tenant memory service for agents."""

from importlib.metadata import PackageNotFoundError, version

try:
    VERSION = version("typed-memory")
except PackageNotFoundError:
    VERSION = "unknown"
"""The version of the installed package; unknown where it runs from files alone."""

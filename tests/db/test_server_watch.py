"""The supervision of the embedded server goes on whatever a check meets."""

from __future__ import annotations

import asyncio
import errno
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from app.db.embedded import server
from app.db.embedded.server import EmbeddedServer, ServerWatch
from app.errors import ConfigurationError
from tests.support.waiting import eventually


async def test_an_error_of_any_kind_is_told_and_the_server_checked_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    met = [
        OSError(errno.EMFILE, "Too many open files"),
        ProcessLookupError(errno.ESRCH, "No such process"),
        ConfigurationError("no space is left"),
    ]
    checks, told = list[Path](), list[str]()

    def find(cluster: Path, _deadline: float) -> int:
        checks.append(cluster)
        if len(checks) <= len(met):
            raise met[len(checks) - 1]
        return 5432

    monkeypatch.setattr(server, "find_server", find)
    monkeypatch.setattr(server, "EVERY", 0.0)
    running = cast("EmbeddedServer", SimpleNamespace(data_dir=tmp_path))
    watch = asyncio.create_task(ServerWatch(running, restarted=lambda: None, failed=told.append).run())

    async def checked_again() -> bool:
        return len(checks) > len(met)

    try:
        await eventually(checked_again)
    finally:
        watch.cancel()
        await asyncio.gather(watch, return_exceptions=True)
    for said, reason in zip(told, ("Too many open files", "No such process", "no space is left"), strict=True):
        assert reason in said

"""`typed-memory reembed --watch` follows a run until there is none."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest

from app.db.embedding_models import Phase
from app.features.reembedding import command as reembed
from app.features.reembedding.service import Reembedding


@dataclass
class Run:
    """A run that has fewer rows left at each look."""

    lacking: list[int]
    told: list[tuple[str, int, int | None]] = field(default_factory=list)

    def report(self, what: str, done: int, of: int | None) -> None:
        self.told.append((what, done, of))

    async def status(self) -> list[tuple[Any, Any]]:
        old = (SimpleNamespace(name="old", phase=Phase.ACTIVE), SimpleNamespace(rows=10, lacking=0))
        if not self.lacking:
            return [(SimpleNamespace(name="new", phase=Phase.ACTIVE), SimpleNamespace(rows=10, lacking=0))]
        new = (SimpleNamespace(name="new", phase=Phase.BUILDING), SimpleNamespace(rows=10, lacking=self.lacking.pop(0)))
        return [old, new]


async def test_it_follows_a_run_to_its_end(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(reembed, "WATCH_SECONDS", 0.0)
    run = Run([8, 3])
    await reembed._watch(cast("Reembedding", run))
    assert run.told == [("new", 2, 10), ("new", 7, 10)]
    assert "new is the active model" in capsys.readouterr().out

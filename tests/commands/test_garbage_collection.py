"""A process that serves for long leaves what it started with out of its garbage collections."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.long

_PROGRAM = """
import gc
from app.command_line.configuration import freeze_garbage_collector
from app.main import create_app
freeze_garbage_collector()
kept = gc.get_freeze_count()
for _ in range(3):
    gc.collect()
print(kept > 10_000, gc.get_freeze_count() == kept, len(gc.get_objects()) < kept / 10)
"""


def test_what_is_loaded_at_the_start_is_not_collected_again() -> None:
    command = [sys.executable, "-c", _PROGRAM]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603
    assert told.split() == ["True", "True", "True"]

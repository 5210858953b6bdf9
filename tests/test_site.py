"""The documents as a site."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[1]


def test_the_site_is_built_and_every_link_and_anchor_leads_somewhere() -> None:
    built = subprocess.run(["sh", ".ci/docs"], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S607
    assert built.returncode == 0, [line for line in built.stderr.splitlines() if line.startswith(("WARNING", "ERROR"))]
    home = (ROOT / "build" / "site" / "index.html").read_text()
    assert "Typed Memory" in home
    assert all(
        (ROOT / "build" / "site" / page).is_file() for page in ("docs/quickstart.html", "docs/images/console-home.png")
    )

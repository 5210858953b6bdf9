"""Temporary folders that other users may enter: as root, the embedded Postgres runs as one of them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def open_folder() -> Iterator[Path]:
    """Yield a new folder with a short path; pytest's own `tmp_path` lies in a folder closed to others."""
    with tempfile.TemporaryDirectory(prefix="tm-test-", ignore_cleanup_errors=True) as name:
        path = Path(name)
        path.chmod(0o755)
        yield path

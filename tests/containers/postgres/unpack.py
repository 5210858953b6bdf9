"""Unpack the embedded server's files into a folder: the argument."""  # noqa: INP001

from __future__ import annotations

import sys
import time
from pathlib import Path

from app.db.embedded.folder import DataFolder
from app.db.embedded.process import unpack

folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
unpack(DataFolder(folder), time.monotonic() + 120)

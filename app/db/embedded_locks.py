"""Locks between processes that a dead process cannot keep."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.errors import ConfigurationError

_POLL_SECONDS = 0.05


class FileLock:
    """An flock on a file: kept until `close`, or until the process ends however it ends.

    The descriptor is not inherited by programs that this process starts.
    """

    def __init__(self, path: Path) -> None:
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    @property
    def closed(self) -> bool:
        """Whether the lock was given up."""
        return self._fd < 0

    def try_lock(self, *, exclusive: bool) -> bool:
        """Take the lock if nobody else's is in the way; say whether that worked."""
        mode = fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH
        try:
            fcntl.flock(self._fd, mode | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def close(self) -> None:
        """Give the lock up."""
        if not self.closed:
            os.close(self._fd)
            self._fd = -1


@contextmanager
def hold(path: Path, deadline: float) -> Iterator[None]:
    """Hold the exclusive lock on `path`; ConfigurationError if others keep it past `deadline` (monotonic)."""
    lock = FileLock(path)
    try:
        while not lock.try_lock(exclusive=True):
            if time.monotonic() >= deadline:
                raise ConfigurationError(
                    f"Another process kept {path} locked: it is starting or stopping the embedded database. "
                    f"Wait for it, or end it, and try again."
                )
            time.sleep(_POLL_SECONDS)
        yield
    finally:
        lock.close()

"""Which service the client commands talk to, and with which key."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit

from app.commands.terminal import CommandFailed
from app.db.embedded import KEY_FILE, default_data_dir
from app.providers.service_client import ServiceClient

DEFAULT_PORT = 8700

_HERE = frozenset({"127.0.0.1", "localhost", "::1"})


def connect(url: str | None, key: str | None, *, attempts: int = 6) -> ServiceClient:
    """Return a client of the service at `target`."""
    return ServiceClient(*target(url, key), attempts=attempts)


def target(url: str | None, key: str | None) -> tuple[str, str]:
    """Return the service's URL and a key to it; CommandFailed when there is no key to be found.

    Without a URL it is the one on this machine; without a key, the one its first start left in the data
    folder. That key goes to this machine only.
    """
    address = url or f"http://127.0.0.1:{os.environ.get('TM_PORT') or DEFAULT_PORT}"
    if not _is_address(address):
        raise CommandFailed(f"{address!r} is no address of a service: write it as http://127.0.0.1:{DEFAULT_PORT}")
    found = key or _kept_key(address)
    if not found.isascii():
        raise CommandFailed("the API key has letters that no key has: copy it again into --key or TM_API_KEY")
    return address, found


def _is_address(given: str) -> bool:
    try:
        parts = urlsplit(given)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # brackets without an address in them, a port that is no number
        return False


def key_file() -> Path:
    """Return where the embedded database's first key is kept."""
    given = os.environ.get("TM_DATA_DIR")
    folder = Path(given) if given else default_data_dir()
    return folder.expanduser() / KEY_FILE


def kept_key(path: Path) -> str | None:
    """Return the key in a file, None if there is none."""
    try:
        return path.read_text(encoding="ascii").strip() or None
    except (OSError, ValueError):
        return None


def _kept_key(address: str) -> str:
    made = "`typed-memory keys create` makes one"
    if urlsplit(address).hostname not in _HERE:
        raise CommandFailed(f"no API key for {address}: give one with --key or TM_API_KEY ({made} there)")
    path = key_file()
    found = kept_key(path)
    if found is None:
        raise CommandFailed(
            f"no API key, and none to be read in {path}: set TM_DATA_DIR to the folder that the service keeps its "
            f"store in, or give a key with --key or TM_API_KEY ({made})"
        )
    return found

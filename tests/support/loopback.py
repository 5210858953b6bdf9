"""The guard that keeps tests on this machine: a test that reaches out fails, and says where to."""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

_real_connect = socket.socket.connect
_real_connect_ex = socket.socket.connect_ex
_real_getaddrinfo = socket.getaddrinfo


@contextmanager
def loopback_only() -> Iterator[None]:
    """Let sockets connect, and names resolve, to this machine alone; Unix sockets are free.

    The failure is pytest's own, not an OSError: code that maps network errors must not swallow it.
    """
    allowed = _hosts_of_the_test_database()

    def check(host: object) -> None:
        if host not in allowed and not _is_local(str(host)):
            pytest.fail(f"a test tried to reach {host}: tests stay on this machine, use a stand-in on 127.0.0.1")

    def connect(self: socket.socket, address: tuple[object, ...]) -> None:
        if self.family != socket.AF_UNIX:
            check(address[0])
        _real_connect(self, address)

    def connect_ex(self: socket.socket, address: tuple[object, ...]) -> int:
        if self.family != socket.AF_UNIX:
            check(address[0])
        return _real_connect_ex(self, address)

    def getaddrinfo(host: str | bytes | None, *args: object, **kwargs: object) -> object:
        name = host.decode() if isinstance(host, bytes) else host
        if name is not None:
            check(name)
        return _real_getaddrinfo(host, *args, **kwargs)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", connect)
        patch.setattr(socket.socket, "connect_ex", connect_ex)
        patch.setattr(socket, "getaddrinfo", getaddrinfo)
        yield


def _is_local(host: str) -> bool:
    if host in {"", "localhost"}:
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _hosts_of_the_test_database() -> set[object]:
    """Return the name and addresses of TM_TEST_DATABASE_URL's host, which may be another machine."""
    host = urlsplit(os.environ.get("TM_TEST_DATABASE_URL", "")).hostname
    if host is None:
        return set()
    return {host, *(found[4][0] for found in socket.getaddrinfo(host, None))}

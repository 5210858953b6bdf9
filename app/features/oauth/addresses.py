"""Addresses by which clients reach the service: as it is configured, or as this machine's own name it."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.requests import Request

from app.features.mcp.endpoint import PATH
from app.settings import LOOPBACK, Settings


def base_of(request: Request, settings: Settings) -> str | None:
    """Return the service's address, without a slash at its end; None where it is not known.

    Without TM_PUBLIC_URL the Host header is believed where it names this machine, and the request came from it: a name
    of anybody else's making would send users, and tokens, to them.
    """
    if settings.public_url is not None:
        return settings.public_url
    host = request.headers.get("host", "")
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port
    except ValueError:
        return None
    client = request.client.host if request.client is not None else ""
    if parts.hostname not in LOOPBACK or parts.username is not None or client not in LOOPBACK:
        return None
    return f"{request.scope.get('scheme', 'http')}://{parts.netloc}{request.scope.get('root_path', '')}".rstrip("/")


def resource_of(base: str) -> str:
    """Return the address of `/mcp`, for which tokens are issued."""
    return f"{base}{PATH}"

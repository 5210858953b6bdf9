"""The administration console: static files under /admin, and the policy that keeps them to this origin."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

FILES = Path(__file__).parents[1] / "console"

# Scripts set styles through the DOM, which `style-src` allows; nothing is inline and nothing comes from elsewhere.
_POLICY = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for "
    "'script'; trusted-types 'none'",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    # Revalidated at each load, so that a new release does not run with the scripts of the one before.
    "Cache-Control": "no-cache",
}

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}


def routes() -> list[BaseRoute]:
    """Return the page and its files; its URLs are relative, so that it works behind a path prefix."""
    return [
        Route("/admin", _file(FILES / "index.html"), include_in_schema=False),
        Route("/admin/", _to_the_page, include_in_schema=False),
        *(
            Route(f"/admin/{path.relative_to(FILES).as_posix()}", _file(path), include_in_schema=False)
            for path in sorted(FILES.rglob("*"))
            if path.suffix in _TYPES and path.name != "index.html"
        ),
    ]


def _file(path: Path) -> Callable[[Request], Awaitable[Response]]:
    async def serve(_: Request) -> Response:
        return FileResponse(path, media_type=_TYPES[path.suffix], headers=_POLICY)

    return serve


async def _to_the_page(_: Request) -> Response:
    return RedirectResponse("../admin")

"""`/docs`: every route with its fields, to read and to try. Its files come from here, so it works without a network."""

from __future__ import annotations

from pathlib import Path

import fastapi_offline
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import BaseRoute, Route

_FILES = Path(fastapi_offline.__file__).parent / "static"
_SERVED = ("swagger-ui-bundle.js", "swagger-ui.css", "favicon.png")

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Typed Memory: its routes</title>
<link rel="icon" href="docs/favicon.png">
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<div id="routes"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
"""

_START = """"use strict";
SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#routes",
  deepLinking: true,
  docExpansion: "none",
  showExtensions: true,
  persistAuthorization: false,
  validatorUrl: null,
});
"""

_KEPT = {"Cache-Control": "public, max-age=3600", "X-Content-Type-Options": "nosniff"}
_POLICY = {
    # The interface sets styles in its elements; nothing else may come from anywhere but this service.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
}


def routes() -> list[BaseRoute]:
    """Return the page and its files; addresses in it are relative, so a prefix in front of the service is fine."""
    return [
        Route("/docs", _page, include_in_schema=False),
        Route("/docs/start.js", _start, include_in_schema=False),
        *(Route(f"/docs/{name}", _file, include_in_schema=False) for name in _SERVED),
    ]


async def _page(_: Request) -> Response:
    return HTMLResponse(_PAGE, headers=_POLICY)


async def _start(_: Request) -> Response:
    return Response(_START, media_type="text/javascript", headers=_KEPT)


async def _file(request: Request) -> Response:
    return FileResponse(_FILES / request.url.path.rsplit("/", 1)[-1], headers=_KEPT)

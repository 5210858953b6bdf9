"""Where a request that no route takes was meant to go: what newcomers try first, and the route there is for it."""

from __future__ import annotations

import re
from typing import Final

_WRITES: Final = (
    "POST /memories/typed/{type} writes a memory, POST /memories/batch many, and POST /turns makes memories of what "
    "was said"
)
_ASKS: Final = "POST /query asks: a JSON body with query and user_id"
_LISTS: Final = "GET /memories lists memories: ?user_id=...&type=..."

MEANT: Final = tuple(
    (re.compile(pattern), told)
    for pattern, told in (
        (r"(?:POST|PUT) /(?:memories(?:/typed|/add)?|memory|add|remember)", _WRITES),
        (r"(?:GET|PUT) /(?:memories/(?:typed/)?)?query", _ASKS),
        (r"(?:GET|POST|PUT) /(?:memories/)?(?:search|ask|recall)", _ASKS),
        (r"(?:GET|POST) /memories/typed/(?:search|list)|GET /memories/(?:typed|list|all|batch)(?:/\w+)?", _LISTS),
        (r"PUT /memories/[^/]+", "PATCH /memories/{memory_id} changes one"),
        (r"DELETE /memories", "DELETE /memories/{memory_id} erases one, DELETE /users/{user_id} all of a user"),
        (r"GET /users(?:/[^/]+)?(?:/memories)?", f"{_LISTS}; GET /export?user_id=... tells all of a user"),
        (r"(?:POST|PUT) /users(?:/[^/]+)?", "there is no user to make: name any user_id as you write"),
        (r"DELETE /users", "DELETE /users/{user_id} erases all of a user"),
        (r"POST /(?:messages|conversations|chat|ingest|turn)", "POST /turns takes what was said"),
        (r"POST /export|GET /import", "GET /export tells everything, POST /import stores it"),
        (r"GET /(?:health|status|ping)", "GET /healthz and GET /readyz tell how it is"),
        (r"(?:GET|POST) /(?:types|memory-types)", "GET /admin/types lists the types, POST /admin/types defines one"),
        (r"(?:GET|POST) /(?:keys|api-keys)", "GET /admin/keys lists keys, POST /admin/keys makes one"),
        (r"(?:GET|POST) /tenants", "GET /admin/tenants lists tenants, POST /admin/tenants makes one"),
        (r"\w+ /(?:v1|api)(?:/.*)?", "paths begin with no version or prefix: POST /query"),
    )
)
"""Patterns of a method and a path, and what is told of what they mean."""


def directed(method: str, path: str) -> str | None:
    """Return what to say to whoever sends this, where no route takes it; None where that is anybody's guess."""
    asked = f"{method} {path.rstrip('/')}"
    return next((told for pattern, told in MEANT if pattern.fullmatch(asked)), None)

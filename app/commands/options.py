"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

from app.model import ScopeKind

Url = Annotated[
    str | None,
    typer.Option(envvar="TM_URL", show_envvar=True, help="The service; by default the one on this machine."),
]
ApiKey = Annotated[
    str | None,
    typer.Option(
        envvar="TM_API_KEY",
        show_envvar=True,
        help="An API key; by default the one that the first `serve` left in the data folder.",
    ),
]
UserId = Annotated[str | None, typer.Option(help="The user it is about.")]
AgentId = Annotated[str | None, typer.Option(help="The agent it belongs to.")]
Whose = Annotated[
    ScopeKind | None,
    typer.Option("--scope", help="Who sees it: that user, that agent, or, if global, everybody in the tenant."),
]
TimeZone = Annotated[
    str | None, typer.Option(help="Where times without an offset are read, such as Europe/Berlin; else UTC.")
]

"""`typed-memory hook`: the hook of agents' hosts. `app.launch` runs it without the command line, which takes longer."""

from __future__ import annotations

from typing import Annotated

import typer

from app.features.agent_hooks.hook import main


def hook(
    event: Annotated[
        str, typer.Argument(help="session-start, prompt or stop; without it, the event that the host names.")
    ] = "",
) -> None:
    """Give an agent what is known, and remember what was said to it: for the hooks of Claude Code, Codex and Hermes.

    Reads the host's event as JSON from standard input, and prints what to add to what the model reads, often nothing.
    Whatever goes wrong, it is silent and exits with 0; TM_HOOK_LOG names a file that says why.

    TM_API_KEY is the key, TM_USER_ID whose memory it is (by default the login name), and TM_URL the service.

    For example:

      echo '{"hook_event_name":"SessionStart","session_id":"s1"}' | typed-memory hook
    """
    main([event] if event else [])

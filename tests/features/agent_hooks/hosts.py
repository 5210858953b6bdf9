"""Hosts' events, as their documentation has them, made of written conversations.

- Claude Code: the hooks reference (`SessionStart`, `UserPromptSubmit`, `Stop`).
- Codex: the schemas of its hooks' inputs and outputs, which no further field may be in.
- Hermes: the documentation of its shell hooks and of the arguments of `pre_llm_call` and `post_llm_call`.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx

from app.features.agent_hooks import hook

PATIENCE = 60.0


@dataclass(frozen=True, kw_only=True)
class Served:
    """A service to ask by hooks and by a client."""

    client: httpx.AsyncClient
    url: str
    key: str
    folder: str

    async def fire(self, told: dict[str, Any], *, url: str | None = None) -> str:
        """Return what a hook adds to what the host's model reads."""
        printed = await asyncio.to_thread(self._run, told, url or self.url)
        return context_of(printed) if printed else ""

    def _run(self, told: dict[str, Any], url: str) -> str:
        event = hook.HostEvent(json.loads(json.dumps(told)), "")
        service = hook.Service(url, self.key, time.monotonic() + PATIENCE)
        return hook.run(event, service, "ana", self.folder)

    async def say(self, *texts: str, session: str = "before") -> None:
        """Store what the user says, with what follows from it."""
        for text in texts:
            body = {"content": text, "user_id": "ana", "session_id": session}
            answer = await self.client.post("/turns", params={"mode": "sync"}, json=body)
            assert answer.status_code == 200, answer.text

    async def turns(self, session: str) -> list[dict[str, Any]]:
        """Return the stored turns of a session, in order."""
        answer = await self.client.get("/turns", params={"user_id": "ana", "session_id": session, "limit": 200})
        found: list[dict[str, Any]] = answer.json()["turns"]
        return found[::-1]


def context_of(printed: str) -> str:
    """Return the text that a hook's output adds, which must have one of the two shapes that hosts read."""
    made = json.loads(printed)
    if set(made) == {"context"}:
        return str(made["context"])
    assert set(made) == {"hookSpecificOutput"}
    assert set(made["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
    return str(made["hookSpecificOutput"]["additionalContext"])


def lines_of(context: str) -> list[str]:
    """Return what a block says, without its marks and its introduction."""
    return [one.removeprefix("[tm: ").removesuffix(" :tm]") for one in context.split("\n")[2:-1]]


def _common(session: str) -> dict[str, Any]:
    return {
        "session_id": session,
        "transcript_path": f"/home/ana/.claude/projects/p/{session}.jsonl",
        "cwd": "/home/ana/p",
        "permission_mode": "default",
    }


class ClaudeCode:
    """Claude Code's events; it names no turns."""

    def start(self, session: str, source: str = "startup") -> dict[str, Any]:
        return {**_common(session), "hook_event_name": "SessionStart", "source": source, "model": "claude"}

    def prompt(self, session: str, turn: int, text: str) -> dict[str, Any]:
        return {**_common(session), "hook_event_name": "UserPromptSubmit", "prompt": text}

    def stop(self, session: str, turn: int, text: str, answer: str) -> dict[str, Any]:
        told = {"hook_event_name": "Stop", "stop_hook_active": turn % 3 == 0, "last_assistant_message": answer}
        return {**_common(session), **told}


class Codex(ClaudeCode):
    """Codex' events, which name the turn and the model."""

    def start(self, session: str, source: str = "startup") -> dict[str, Any]:
        return {**super().start(session, source), "transcript_path": None, "model": "gpt"}

    def prompt(self, session: str, turn: int, text: str) -> dict[str, Any]:
        return {**super().prompt(session, turn, text), "turn_id": f"{session}-{turn}", "model": "gpt"}

    def stop(self, session: str, turn: int, text: str, answer: str) -> dict[str, Any]:
        return {**super().stop(session, turn, text, answer), "turn_id": f"{session}-{turn}", "model": "gpt"}


class Hermes:
    """Hermes' events, whose arguments stand in `extra`; a session begins with its first prompt."""

    def _event(self, name: str, session: str, **extra: Any) -> dict[str, Any]:
        told = {"tool_name": None, "tool_input": None, "session_id": session, "cwd": "/home/ana", "profile": "default"}
        return {"hook_event_name": name, **told, "extra": {"model": "hermes", "platform": "cli", **extra}}

    def start(self, session: str, source: str = "startup") -> dict[str, Any]:
        return self._event("on_session_start", session)

    def prompt(self, session: str, turn: int, text: str) -> dict[str, Any]:
        first = {"is_first_turn": turn == 1, "conversation_history": [], "sender_id": ""}
        return self._event("pre_llm_call", session, turn_id=f"t{turn}", user_message=text, **first)

    def stop(self, session: str, turn: int, text: str, answer: str) -> dict[str, Any]:
        said = {"user_message": text, "assistant_response": answer, "conversation_history": []}
        return self._event("post_llm_call", session, turn_id=f"t{turn}", **said)


Host = ClaudeCode | Codex | Hermes

HOSTS: dict[str, Callable[[], Host]] = {"claude-code": ClaudeCode, "codex": Codex, "hermes": Hermes}


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A labelled prompt; `answer` is in each line that answers it, empty where nothing does."""

    text: str
    answer: str = field(default="")


def read_prompts(text: str) -> list[Prompt]:
    """Return the prompts of a file of labels."""
    lines = [one for one in text.split("\n") if one and not one.startswith("#")]
    pairs = (one.split("|", 1) for one in lines)
    return [Prompt(answer=answer.strip(), text=prompt.strip()) for answer, prompt in pairs]

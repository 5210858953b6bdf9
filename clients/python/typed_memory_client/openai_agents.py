"""OpenAI Agents SDK (`[openai-agents]`): a session kept by the service, memory tools, instructions that recall.

    memory = AsyncTypedMemory().for_user("ana")
    agent = Agent(name="Assistant", instructions=recalling(memory, "You are helpful."), tools=agent_tools(memory))
    await Runner.run(agent, "I moved to Berlin.", session=TypedMemorySession(memory, "monday"))

The session keeps the transcript, item by item. What is worth knowing in other conversations is remembered by the tools.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, cast

from agents import Agent, RunContextWrapper, Tool, TResponseInputItem, function_tool
from agents.memory import SessionSettings

from typed_memory_client import AsyncTypedMemory, models
from typed_memory_client.tools import known_about, memory_tools


def agent_tools(memory: AsyncTypedMemory) -> list[Tool]:
    """Return `remember`, `recall` and `forget` as tools of the SDK."""
    return [function_tool(one) for one in memory_tools(memory)]


def recalling(
    memory: AsyncTypedMemory, instructions: str
) -> Callable[[RunContextWrapper[Any], Agent[Any]], Awaitable[str]]:
    """Return instructions that end with what is known about the user."""

    async def with_memory(_context: RunContextWrapper[Any], _agent: Agent[Any]) -> str:
        known = await known_about(memory, "Who is the user, and what do they prefer?", min_relevance=0)
        return f"{instructions}\n\n{known}".strip()

    return with_memory


class TypedMemorySession:
    """A conversation of the Agents SDK; each item is an episodic memory of the session."""

    session_settings: SessionSettings | None = None

    def __init__(self, memory: AsyncTypedMemory, session_id: str) -> None:
        """Take a client of one user (`for_user`) and the id of the conversation."""
        self.session_id = session_id
        self._memory = memory

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the items in their order; with a limit, the latest."""
        items = [cast("TResponseInputItem", one.metadata["item"]) for one in await self._stored()]
        return items if limit is None else items[max(0, len(items) - limit) :]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Append items."""
        stored = await self._stored()
        first = 1 + (stored[-1].sequence_number or 0) if stored else 0
        for number, item in enumerate(items, first):
            await self._memory.write(
                "episodic",
                content=_text(item),
                speaker=_speaker(item),
                session_id=self.session_id,
                sequence_number=number,
                metadata={"item": item},
            )

    async def pop_item(self) -> TResponseInputItem | None:
        """Erase the latest item and return it."""
        stored = await self._stored()
        if not stored:
            return None
        await self._memory.forget(stored[-1])
        return cast("TResponseInputItem", stored[-1].metadata["item"])

    async def clear_session(self) -> None:
        """Erase all items."""
        for one in await self._stored():
            await self._memory.forget(one)

    async def _stored(self) -> list[models.Memory]:
        listed = self._memory.session(self.session_id, status=["active", "pending"], limit=200)
        return [one async for one in listed if "item" in one.metadata]


def _speaker(item: TResponseInputItem) -> str | None:
    """Return "assistant" for what the model said, so that it is not recalled as the user's word."""
    return "assistant" if item.get("role") == "assistant" else None


def _text(item: TResponseInputItem) -> str:
    """Return what the item says, or what kind of item it is."""
    content = item.get("content")
    parts = [{"text": content}] if isinstance(content, str) else content
    texts = [str(one["text"]) for one in cast("list[dict[str, object]]", parts or []) if "text" in one]
    return "\n".join(texts) or str(item.get("name") or item.get("type"))

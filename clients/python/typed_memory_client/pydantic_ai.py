"""Pydantic AI (`[pydantic-ai]`): memory tools as a toolset, and instructions that recall what bears on the prompt.

agent = with_memory(Agent("openai:gpt-5-mini", deps_type=AsyncTypedMemory))
await agent.run("I moved to Berlin.", deps=AsyncTypedMemory().for_user("ana"))
"""

from __future__ import annotations

from typing import TypeVar

from pydantic_ai import Agent, FunctionToolset, RunContext

from typed_memory_client import AsyncTypedMemory
from typed_memory_client.tools import known_about, memory_tools

Output = TypeVar("Output")


def with_memory(agent: Agent[AsyncTypedMemory, Output]) -> Agent[AsyncTypedMemory, Output]:
    """Add the tools and the instructions to an agent whose dependency is the client of one user."""

    @agent.instructions
    async def recall(context: RunContext[AsyncTypedMemory]) -> str:
        return await known_about(context.deps, str(context.prompt)) if context.prompt else ""

    @agent.toolset
    def tools(context: RunContext[AsyncTypedMemory]) -> FunctionToolset[AsyncTypedMemory]:
        return FunctionToolset([*memory_tools(context.deps)])

    return agent

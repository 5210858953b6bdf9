"""A LangGraph agent with memory: one node recalls before the model answers, one remembers what was said.

pip install 'typed-memory-client[langgraph]' && python examples/langgraph_agent.py
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Literal

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.state import CompiledStateGraph

from typed_memory_client import AsyncTypedMemory
from typed_memory_client.tools import known_about

ROLES: dict[str, Literal["user", "assistant"]] = {"human": "user", "ai": "assistant"}

Model = Callable[[list[BaseMessage]], Awaitable[BaseMessage]]
"""A chat model: `ainvoke` of any LangChain chat model is one."""


class State(MessagesState):
    """The conversation, and what is known that bears on its last message."""

    known: str


def build(memory: AsyncTypedMemory, model: Model) -> CompiledStateGraph[State, None, State, State]:
    """Return the graph recall -> answer -> remember, for one user."""

    async def recall(state: State) -> dict[str, Any]:
        return {"known": await known_about(memory, str(state["messages"][-1].content))}

    async def answer(state: State) -> dict[str, Any]:
        system = [SystemMessage(state["known"])] if state["known"] else []
        return {"messages": [await model([*system, *state["messages"]])]}

    async def remember(state: State) -> dict[str, Any]:
        last = state["messages"][-2:]
        await memory.remember([{"role": ROLES[one.type], "content": str(one.content)} for one in last])
        return {}

    graph = StateGraph(State)
    for name, node in (("recall", recall), ("answer", answer), ("remember", remember)):
        graph.add_node(name, node)
    for one, next_one in ((START, "recall"), ("recall", "answer"), ("answer", "remember"), ("remember", END)):
        graph.add_edge(one, next_one)
    return graph.compile()


async def repeat_what_is_known(messages: list[BaseMessage]) -> BaseMessage:
    """Stand in for a chat model: answer with the system message."""
    system = [str(one.content) for one in messages if one.type == "system"]
    return AIMessage("\n".join(system) or "Noted.")


async def main(user: str = "ana") -> str:
    """Say something in one conversation, and ask for it in the next."""
    async with AsyncTypedMemory() as service:
        graph = build(service.for_user(user), repeat_what_is_known)
        reply = ""
        for said in ("I live in Porto and I work as a nurse.", "Where do I live?"):
            state = await graph.ainvoke({"messages": [HumanMessage(said)], "known": ""})
            reply = str(state["messages"][-1].content)
        return reply


if __name__ == "__main__":
    print(asyncio.run(main()))

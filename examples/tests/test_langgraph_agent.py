from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

import langgraph_agent
from noise_budget import hold_chat
from service import Service
from typed_memory_client import AsyncTypedMemory


async def test_the_memory_nodes_carry_over_to_the_next_conversation(
    service: Service, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in service.environment.items():
        monkeypatch.setenv(name, value)
    assert "user lives in Porto" in await langgraph_agent.main(user)


async def test_prompts_of_a_chat_have_little_that_does_not_answer(async_memory: AsyncTypedMemory) -> None:
    replies: list[str] = []

    async def model(_messages: list[BaseMessage]) -> BaseMessage:
        return AIMessage(replies[-1])

    graph = langgraph_agent.build(async_memory, model)

    async def exchange(said: str, reply: str) -> str:
        replies.append(reply)
        state = await graph.ainvoke({"messages": [HumanMessage(said)], "known": ""})
        return str(state["known"])

    await hold_chat(exchange)

from __future__ import annotations

from pydantic_ai import Agent, ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from noise_budget import TOLD, hold_chat
from typed_memory_client import AsyncTypedMemory
from typed_memory_client.pydantic_ai import with_memory


async def test_tools_remember_and_instructions_recall(async_memory: AsyncTypedMemory) -> None:
    seen: list[AgentInfo] = []

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.append(info)
        if len(seen) == 1:
            return ModelResponse(parts=[ToolCallPart("remember", {"statement": "I live in Porto."})])
        return ModelResponse(parts=[TextPart("Noted.")])

    agent = with_memory(Agent(FunctionModel(answer), deps_type=AsyncTypedMemory))
    await agent.run("I live in Porto.", deps=async_memory)
    await agent.run("Where do I live?", deps=async_memory)
    assert {one.name for one in seen[0].function_tools} == {"remember", "recall", "forget"}
    assert not seen[0].instructions
    assert "user lives in Porto" in str(seen[-1].instructions)


async def test_prompts_of_a_chat_have_little_that_does_not_answer(async_memory: AsyncTypedMemory) -> None:
    instructions: list[str] = []
    script: list[TextPart | ToolCallPart] = []

    def answer(_messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        instructions.append(info.instructions or "")
        return ModelResponse(parts=[script.pop(0)])

    agent = with_memory(Agent(FunctionModel(answer), deps_type=AsyncTypedMemory))

    async def exchange(said: str, reply: str) -> str:
        remembered = [ToolCallPart("remember", {"statement": said})] if (said, reply) in TOLD else []
        script.extend([*remembered, TextPart(reply)])
        first = len(instructions)
        await agent.run(said, deps=async_memory)
        return instructions[first]

    await hold_chat(exchange)

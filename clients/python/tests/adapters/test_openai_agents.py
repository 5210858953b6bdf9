from __future__ import annotations

import json
import re
import uuid
from collections.abc import AsyncIterator
from typing import Any

import pytest
from agents import Agent, ModelResponse, RunConfig, Runner, TResponseInputItem, Usage
from agents.items import TResponseOutputItem, TResponseStreamEvent
from agents.models.interface import Model
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from noise_budget import TOLD, hold_chat
from typed_memory_client import AsyncTypedMemory
from typed_memory_client.openai_agents import TypedMemorySession, agent_tools, recalling


class ScriptedModel(Model):
    """Answers with what it is given, and keeps what it was asked."""

    def __init__(self, *outputs: TResponseOutputItem) -> None:
        self.outputs = list(outputs)
        self.instructions: list[str | None] = []
        self.inputs: list[str | list[TResponseInputItem]] = []

    async def get_response(
        self,
        system_instructions: str | None,
        input: str | list[TResponseInputItem],  # noqa: A002 - the SDK's name
        *_: Any,
        **__: Any,
    ) -> ModelResponse:
        self.instructions.append(system_instructions)
        self.inputs.append(input)
        return ModelResponse(output=[self.outputs.pop(0)], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[TResponseStreamEvent]:
        raise NotImplementedError


def says(text: str) -> ResponseOutputMessage:
    part = ResponseOutputText(type="output_text", text=text, annotations=[])
    return ResponseOutputMessage(id="msg", type="message", role="assistant", status="completed", content=[part])


def calls(tool: str, **arguments: str) -> ResponseFunctionToolCall:
    return ResponseFunctionToolCall(
        type="function_call", call_id=uuid.uuid4().hex, name=tool, arguments=json.dumps(arguments)
    )


QUIET = RunConfig(tracing_disabled=True)


async def test_the_session_is_the_conversation(async_memory: AsyncTypedMemory) -> None:
    model = ScriptedModel(says("Hello Ana."), says("You are Ana."))
    agent = Agent(name="Assistant", model=model)
    for said in ("My name is Ana.", "Who am I?"):
        await Runner.run(agent, said, session=TypedMemorySession(async_memory, "monday"), run_config=QUIET)
    heard = [one for one in model.inputs[1] if isinstance(one, dict)]
    asked = [one.get("content") for one in heard if one.get("role") == "user"]
    assert asked == ["My name is Ana.", "Who am I?"]
    items = await TypedMemorySession(async_memory, "monday").get_items()
    assert [one.get("role") for one in items] == ["user", "assistant", "user", "assistant"]


async def test_the_session_keeps_equal_items_pops_and_clears(async_memory: AsyncTypedMemory) -> None:
    session = TypedMemorySession(async_memory, "tuesday")
    items: list[TResponseInputItem] = [
        {"role": "user", "content": "yes"},
        {"role": "user", "content": "yes"},
        {"type": "function_call", "call_id": "1", "name": "recall", "arguments": "{}"},
    ]
    await session.add_items(items)
    assert await session.get_items() == items
    assert await session.get_items(2) == items[1:]
    assert await session.pop_item() == items[2]
    await session.add_items([{"role": "assistant", "content": "fine"}])
    assert [one.get("content") for one in await session.get_items()] == ["yes", "yes", "fine"]
    await session.clear_session()
    assert await session.get_items() == []
    assert await session.pop_item() is None


async def test_tools_remember_and_instructions_recall(async_memory: AsyncTypedMemory) -> None:
    model = ScriptedModel(calls("remember", statement="I live in Porto."), says("Noted."), says("In Porto."))
    agent = Agent(
        name="Assistant",
        instructions=recalling(async_memory, "You are helpful."),
        tools=agent_tools(async_memory),
        model=model,
    )
    await Runner.run(agent, "I live in Porto.", run_config=QUIET)
    found = await async_memory.recall("Where does the user live?")
    assert "user lives in Porto" in found.context.text
    await Runner.run(agent, "Where do I live?", run_config=QUIET)
    assert model.instructions[0] == "You are helpful."
    assert "user lives in Porto" in str(model.instructions[-1])


async def test_what_the_tools_answer_says_what_to_do(async_memory: AsyncTypedMemory) -> None:
    written = await async_memory.write("fact", subject="user", predicate="lives-in", object="Porto")
    assert written.memory is not None
    model = ScriptedModel(
        calls("recall", question="Where does the user live?"),
        calls("forget", memory_id=written.memory.id),
        calls("forget", memory_id=written.memory.id),
        says("Done."),
    )
    agent = Agent(name="Assistant", tools=agent_tools(async_memory), model=model)
    result = await Runner.run(agent, "Forget where I live.", run_config=QUIET)
    recalled, *answers = [str(one.output) for one in result.new_items if one.type == "tool_call_output_item"]
    assert re.search(rf"\[{written.memory.id}\] \(.+\) user lives in Porto", recalled)
    assert answers == [
        f"{written.memory.id} is erased",
        f"there is no memory {written.memory.id}",
    ]


async def test_what_the_tool_recalls_in_a_chat_has_little_that_does_not_answer(async_memory: AsyncTypedMemory) -> None:
    model = ScriptedModel()
    agent = Agent(name="Assistant", tools=agent_tools(async_memory), model=model)

    async def exchange(said: str, reply: str) -> str:
        tool, argument = ("remember", "statement") if (said, reply) in TOLD else ("recall", "question")
        model.outputs += [calls(tool, **{argument: said}), says(reply)]
        result = await Runner.run(agent, said, run_config=QUIET)
        return "\n".join(str(one.output) for one in result.new_items if one.type == "tool_call_output_item")

    await hold_chat(exchange)


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

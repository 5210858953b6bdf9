from __future__ import annotations

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory import Memory

from noise_budget import hold_chat
from typed_memory_client import AsyncTypedMemory
from typed_memory_client.llama_index import TypedMemoryBlock


async def test_what_leaves_short_term_memory_is_recalled(async_memory: AsyncTypedMemory) -> None:
    memory = Memory.from_defaults(
        session_id="monday",
        token_limit=60,
        chat_history_token_ratio=0.5,
        token_flush_size=20,
        memory_blocks=[TypedMemoryBlock.of(async_memory)],
        tokenizer_fn=str.split,
    )
    await memory.aput(ChatMessage(role=MessageRole.USER, content="I live in Porto and I work as a nurse."))
    await memory.aput(ChatMessage(role=MessageRole.ASSISTANT, content="How lovely!"))
    for number in range(8):
        await memory.aput(ChatMessage(role=MessageRole.USER, content=f"Tell me a short story about ship {number}."))
        await memory.aput(ChatMessage(role=MessageRole.ASSISTANT, content="Once upon a time there was a ship."))
    await memory.aput(ChatMessage(role=MessageRole.USER, content="Where do I live?"))
    prompt = "\n".join(str(one.content) for one in await memory.aget())
    assert "user lives in Porto" in prompt
    assert {one.session_id async for one in async_memory.turns()} == {"monday"}


async def test_without_a_question_nothing_is_recalled(async_memory: AsyncTypedMemory) -> None:
    block = TypedMemoryBlock.of(async_memory)
    assert await block.aget([]) == ""
    await block.aput([ChatMessage(role=MessageRole.SYSTEM, content="Be brief.")])
    assert [one async for one in async_memory.turns()] == []


async def test_prompts_of_a_chat_have_little_that_does_not_answer(async_memory: AsyncTypedMemory) -> None:
    block = TypedMemoryBlock.of(async_memory)

    async def exchange(said: str, reply: str) -> str:
        message = ChatMessage(role=MessageRole.USER, content=said)
        known = await block.aget([message])
        await block.aput([message, ChatMessage(role=MessageRole.ASSISTANT, content=reply)])
        return str(known)

    await hold_chat(exchange)

"""`remember` around the real clients of OpenAI and Anthropic, which speak to a provider on this machine."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest
from anthropic import Anthropic, AsyncAnthropic
from anthropic import InternalServerError as AnthropicError
from openai import APIConnectionError, AsyncOpenAI, InternalServerError, OpenAI

from provider import Provider, running_provider
from service import Service
from typed_memory_client import AsyncTypedMemory, TypedMemory, remember

MESSAGES: Any = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Where do I live?"}]
QUESTION = [MESSAGES[1]]

ROUTES = ("chat", "responses", "anthropic")


@pytest.fixture
def provider() -> Iterator[Provider]:
    with running_provider() as running:
        yield running


@pytest.fixture
def memory(service: Service, user: str) -> Iterator[TypedMemory]:
    with TypedMemory(service.url, service.key, user_id=user) as client:
        client.remember("I live in Porto.")
        yield client


@pytest.fixture
async def async_memory(memory: TypedMemory, service: Service, user: str) -> AsyncIterator[AsyncTypedMemory]:
    async with AsyncTypedMemory(service.url, service.key, user_id=user) as client:
        yield client


def openai(provider: Provider) -> OpenAI:
    return OpenAI(base_url=f"{provider.url}/v1", api_key="none", max_retries=0)


def anthropic(provider: Provider) -> Anthropic:
    return Anthropic(base_url=provider.url, api_key="none", max_retries=0)


def ask(route: str, provider: Provider, memory: TypedMemory, said: str, **options: Any) -> Any:
    """Say something by one of the ways to ask a model; return what the library returns."""
    if route == "anthropic":
        messages = remember(anthropic(provider), memory=memory).messages
        return messages.create(
            model="m", max_tokens=9, system="Be brief.", messages=[{"role": "user", "content": said}], **options
        )
    client = remember(openai(provider), memory=memory)
    if route == "responses":
        return client.responses.create(model="m", instructions="Be brief.", input=said, **options)
    messages = [MESSAGES[0], {"role": "user", "content": said}]
    return client.chat.completions.create(model="m", messages=messages, **options)


def ask_async(
    route: str, provider: Provider, memory: AsyncTypedMemory, said: str, **options: Any
) -> Callable[[], Awaitable[Any]]:
    if route == "anthropic":
        whole = remember(AsyncAnthropic(base_url=provider.url, api_key="none", max_retries=0), memory=memory)
        return lambda: whole.messages.create(
            model="m", max_tokens=9, system="Be brief.", messages=[{"role": "user", "content": said}], **options
        )
    client = remember(AsyncOpenAI(base_url=f"{provider.url}/v1", api_key="none", max_retries=0), memory=memory)
    if route == "responses":
        return lambda: client.responses.create(model="m", instructions="Be brief.", input=said, **options)
    messages: Any = [MESSAGES[0], {"role": "user", "content": said}]
    return lambda: client.chat.completions.create(model="m", messages=messages, **options)


def words(event: Any) -> str:
    """The words of an event, read apart from the package."""
    data = event.to_dict()
    if "choices" in data:
        return str(data["choices"][0]["delta"].get("content") or "")
    if data["type"] == "response.output_text.delta":
        return str(data["delta"])
    return str(data["delta"].get("text", "")) if data["type"] == "content_block_delta" else ""


def remembered(memory: TypedMemory) -> list[str]:
    """What was said through the provider, oldest first."""
    return [f"{one.role}: {one.content}" for one in memory.turns() if one.content != "I live in Porto."][::-1]


@pytest.mark.parametrize("route", ROUTES)
def test_what_is_known_is_in_the_instructions_and_what_is_said_is_remembered(
    provider: Provider, memory: TypedMemory, route: str
) -> None:
    answer = ask(route, provider, memory, "Where do I live?")
    assert provider.answer in answer.to_json()
    assert provider.instructions.startswith("Be brief.\n\nWhat is known")
    assert "user lives in Porto" in provider.instructions
    assert sorted(remembered(memory)) == ["assistant: How lovely!", "user: Where do I live?"]
    assert len({one.session_id for one in memory.turns() if one.session_id}) == 1


@pytest.mark.parametrize("route", ROUTES)
async def test_so_it_is_with_an_asynchronous_client(
    provider: Provider, async_memory: AsyncTypedMemory, memory: TypedMemory, route: str
) -> None:
    answer = await ask_async(route, provider, async_memory, "Where do I live?")()
    assert provider.answer in answer.to_json()
    assert "user lives in Porto" in provider.instructions
    assert sorted(remembered(memory)) == ["assistant: How lovely!", "user: Where do I live?"]


@pytest.mark.parametrize("route", ROUTES)
def test_where_nothing_answers_the_request_is_as_it_was(provider: Provider, memory: TypedMemory, route: str) -> None:
    ask(route, provider, memory, "What is 12 times 12?")
    assert provider.instructions == "Be brief."


@pytest.mark.parametrize("route", ROUTES)
def test_a_stream_is_untouched_and_remembered_when_it_ends(provider: Provider, memory: TypedMemory, route: str) -> None:
    provider.answer = "You live in Porto, by the river."
    said = "Where do I live?"
    stream = ask(route, provider, memory, said, stream=True)
    heard = [words(event) for event in stream]
    assert "".join(heard) == provider.answer
    assert len([one for one in heard if one]) == 7
    assert sorted(remembered(memory)) == [f"assistant: {provider.answer}", f"user: {said}"]


@pytest.mark.parametrize("route", ROUTES)
async def test_so_is_an_asynchronous_stream(
    provider: Provider, async_memory: AsyncTypedMemory, memory: TypedMemory, route: str
) -> None:
    provider.answer = "You live in Porto, by the river."
    stream = await ask_async(route, provider, async_memory, "Where do I live?", stream=True)()
    assert "".join([words(event) async for event in stream]) == provider.answer
    assert sorted(remembered(memory)) == [f"assistant: {provider.answer}", "user: Where do I live?"]


@pytest.mark.parametrize("route", ROUTES)
def test_a_stream_that_its_reader_closes_is_remembered_as_far_as_it_was_read(
    provider: Provider, memory: TypedMemory, route: str
) -> None:
    provider.answer = "You live in Porto, by the river."
    with ask(route, provider, memory, "Where do I live?", stream=True) as stream:
        heard = ""
        while "Porto" not in heard:
            heard += words(next(stream))
    assert sorted(remembered(memory)) == ["assistant: You live in Porto,", "user: Where do I live?"]


@pytest.mark.parametrize("route", ROUTES)
async def test_so_is_an_asynchronous_stream_that_is_closed(
    provider: Provider, async_memory: AsyncTypedMemory, memory: TypedMemory, route: str
) -> None:
    provider.answer = "You live in Porto, by the river."
    async with await ask_async(route, provider, async_memory, "Where do I live?", stream=True)() as stream:
        async for event in stream:
            if "Porto" in words(event):
                break
    assert sorted(remembered(memory)) == ["assistant: You live in Porto,", "user: Where do I live?"]


def test_a_stream_that_the_provider_breaks_off_raises_and_is_remembered(
    provider: Provider, memory: TypedMemory
) -> None:
    provider.answer = "You live in Porto, by the river."
    provider.breaks_off = True
    with pytest.raises(APIConnectionError):
        list(ask("chat", provider, memory, "Where do I live?", stream=True))
    assert sorted(remembered(memory)) == ["assistant: You live in Porto,", "user: Where do I live?"]


async def test_a_stream_whose_reader_is_cancelled_is_remembered(
    provider: Provider, async_memory: AsyncTypedMemory, memory: TypedMemory
) -> None:
    reading = asyncio.Event()

    async def read() -> None:
        async with await ask_async("chat", provider, async_memory, "Where do I live?", stream=True)() as stream:
            async for _ in stream:
                reading.set()
                await asyncio.sleep(60)

    task = asyncio.create_task(read())
    await reading.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert sorted(remembered(memory)) == ["assistant: How", "user: Where do I live?"]


def test_the_libraries_own_ways_to_stream_have_the_memory_too(provider: Provider, memory: TypedMemory) -> None:
    with remember(openai(provider), memory=memory).chat.completions.stream(model="m", messages=MESSAGES) as stream:
        assert [event.content for event in stream if event.type == "content.done"] == ["How lovely!"]
    with remember(anthropic(provider), memory=memory).messages.stream(
        model="m", max_tokens=9, messages=[{"role": "user", "content": "Where do I live?"}]
    ) as manager:
        assert "".join(manager.text_stream) == "How lovely!"
    assert "user lives in Porto" in provider.instructions
    assert sorted(remembered(memory)) == ["assistant: How lovely!"] * 2 + ["user: Where do I live?"] * 2


def test_raw_answers_are_remembered(provider: Provider, memory: TypedMemory) -> None:
    client = remember(openai(provider), memory=memory)
    raw = client.chat.completions.with_raw_response.create(model="m", messages=MESSAGES)
    assert raw.parse().choices[0].message.content == "How lovely!"
    assert sorted(remembered(memory)) == ["assistant: How lovely!", "user: Where do I live?"]


def test_a_tools_result_is_recalled_for_but_not_remembered(provider: Provider, memory: TypedMemory) -> None:
    client = remember(openai(provider), memory=memory)
    provider.tool = True
    call = client.chat.completions.create(model="m", messages=MESSAGES).choices[0].message
    provider.tool = False
    result: Any = {"role": "tool", "tool_call_id": "c1", "content": "12:00"}
    client.chat.completions.create(model="m", messages=[*MESSAGES, call, result])
    assert "user lives in Porto" in provider.instructions
    assert sorted(remembered(memory)) == ["assistant: How lovely!", "user: Where do I live?"]


def test_so_it_is_where_the_result_comes_in_the_users_name(provider: Provider, memory: TypedMemory) -> None:
    client = remember(anthropic(provider), memory=memory)
    provider.tool = True
    call: Any = client.messages.create(model="m", max_tokens=9, messages=QUESTION).content
    provider.tool = False
    result: Any = [{"type": "tool_result", "tool_use_id": "t1", "content": "12:00"}]
    conversation = [*QUESTION, {"role": "assistant", "content": call}, {"role": "user", "content": result}]
    client.messages.create(model="m", max_tokens=9, messages=conversation)
    assert "user lives in Porto" in provider.instructions
    assert sorted(remembered(memory)) == ["assistant: How lovely!", "user: Where do I live?"]


def test_content_and_instructions_may_have_parts(provider: Provider, memory: TypedMemory) -> None:
    client = remember(anthropic(provider), memory=memory)
    parts: Any = [{"type": "text", "text": "Where do I live?"}]
    system: Any = [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]
    client.messages.create(model="m", max_tokens=9, system=system, messages=[{"role": "user", "content": parts}])
    assert provider.asked[-1]["system"][0] == system[0]
    assert "user lives in Porto" in provider.asked[-1]["system"][1]["text"]
    assert "user: Where do I live?" in remembered(memory)


def test_the_callers_messages_stay_as_they_are(provider: Provider, memory: TypedMemory) -> None:
    messages: Any = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Where do I live?"}]
    remember(openai(provider), memory=memory).chat.completions.create(model="m", messages=messages)
    assert messages == MESSAGES
    assert len(provider.asked[-1]["messages"]) == 2


def test_turns_that_the_prompt_has_are_not_recalled(provider: Provider, memory: TypedMemory) -> None:
    client = remember(openai(provider), memory=memory)
    said = "We met a piano tuner called Oksana in the harbour yesterday"
    first: Any = {"role": "user", "content": said}
    client.chat.completions.create(model="m", messages=[first])
    for job in memory.jobs():
        memory.wait_for(job.id)
    answer: Any = {"role": "assistant", "content": "How lovely!"}
    question: Any = {"role": "user", "content": "Whom did we meet in the harbour?"}
    client.chat.completions.create(model="m", messages=[first, answer, question])
    assert said not in provider.instructions
    client.chat.completions.create(model="m", messages=[question])
    assert "Oksana" in provider.instructions


def test_the_chat_goes_on_without_its_memory(
    provider: Provider, caplog: pytest.LogCaptureFixture, service: Service
) -> None:
    away = TypedMemory("http://127.0.0.1:9", "tm_none", user_id="ana", attempts=1)
    refused = TypedMemory(service.url, "tm_wrong", user_id="ana", attempts=1)
    for memory in (away, refused):
        for route in ROUTES:
            caplog.clear()
            with caplog.at_level(logging.WARNING, "typed_memory_client"):
                assert provider.answer in ask(route, provider, memory, "Where do I live?").to_json()
                assert "".join(words(one) for one in ask(route, provider, memory, "Hi", stream=True)) == provider.answer
            assert len(caplog.records) == 4
            assert provider.instructions == "Be brief."
        memory.close()


async def test_so_does_an_asynchronous_one(provider: Provider) -> None:
    async with AsyncTypedMemory("http://127.0.0.1:9", "tm_none", user_id="ana", attempts=1) as memory:
        for route in ROUTES:
            stream = await ask_async(route, provider, memory, "Hi", stream=True)()
            assert "".join([words(one) async for one in stream]) == provider.answer


def test_messages_of_a_form_that_is_not_known_pass(provider: Provider, memory: TypedMemory) -> None:
    client = remember(openai(provider), memory=memory)
    odd: Any = ["just words", {"role": "user"}, {"role": "user", "content": [{"type": "image_url"}, 7]}]
    assert client.chat.completions.create(model="m", messages=odd).choices[0].message.content == "How lovely!"
    assert remembered(memory) == []


def test_the_providers_errors_are_the_callers_and_nothing_is_remembered(
    provider: Provider, memory: TypedMemory
) -> None:
    provider.status = 500
    with pytest.raises(InternalServerError):
        ask("chat", provider, memory, "Where do I live?")
    with pytest.raises(AnthropicError):
        ask("anthropic", provider, memory, "Where do I live?", stream=True)
    assert remembered(memory) == []


def test_copies_of_the_client_have_the_memory_and_the_client_itself_has_not(
    provider: Provider, memory: TypedMemory
) -> None:
    plain = openai(provider)
    client = remember(plain, memory=memory)
    plain.chat.completions.create(model="m", messages=MESSAGES)
    assert provider.instructions == "Be brief."
    client.with_options(timeout=9).chat.completions.create(model="m", messages=MESSAGES)
    assert "user lives in Porto" in provider.instructions
    assert isinstance(client, OpenAI)


def test_two_lines_are_enough(
    provider: Provider, memory: TypedMemory, service: Service, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in service.environment.items():
        monkeypatch.setenv(name, value)
    client = remember(openai(provider), user_id=user, session_id="monday")
    client.chat.completions.create(model="m", messages=MESSAGES)
    assert "user lives in Porto" in provider.instructions
    assert {one.session_id for one in memory.turns() if one.content != "I live in Porto."} == {"monday"}


def test_what_is_no_client_is_refused(memory: TypedMemory, provider: Provider) -> None:
    with pytest.raises(TypeError, match="not a dict"):
        remember({}, memory=memory)
    with pytest.raises(ValueError, match="whose memory"):
        remember(openai(provider))
    with pytest.raises(TypeError, match="must be a AsyncTypedMemory"):
        remember(AsyncOpenAI(base_url=provider.url, api_key="none"), memory=memory)

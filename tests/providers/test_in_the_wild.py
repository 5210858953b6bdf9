"""Answers as providers really give them, and a second provider where the first gives none."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from app.errors import ConfigurationError, ProviderError
from app.providers.anthropic_messages import AnthropicMessages
from app.providers.chat import ChatSpec, Message, Prompt, StreamingChat, complete_items
from app.providers.factory import make_chat
from app.providers.openai_chat import OpenAIChat
from app.settings import Settings
from tests.provider_server.fixtures import StandIn, provider, provider_process

__all__ = ["provider", "provider_process"]

PROMPT = Prompt(name="x", system="s", messages=(Message(role="user", text="u"),), schema={})
SPEC = ChatSpec(base_url="http://127.0.0.1:9", model="m")


def openai(message: dict[str, Any], **more: Any) -> bytes:
    return json.dumps({"choices": [{"message": message, "finish_reason": "stop"}], **more}).encode()


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        (None, (0, 0)),
        ({"prompt_tokens": None, "completion_tokens": None}, (0, 0)),
        ({"prompt_tokens": 12.5, "completion_tokens": 3.0}, (13, 3)),
        ({"prompt_tokens": "many"}, (0, 0)),
    ],
)
async def test_no_answer_is_lost_for_its_bill(usage: Any, counted: tuple[int, int]) -> None:
    reply = OpenAIChat(SPEC)._read(openai({"content": "yes"}, usage=usage))
    assert reply.text == "yes"
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == counted
    names = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens"}
    told = None if usage is None else {names[name]: value for name, value in usage.items()}
    body = json.dumps({"content": [{"type": "text", "text": "yes"}], "usage": told}).encode()
    reply = AnthropicMessages(SPEC)._read(body)
    assert (reply.text, reply.usage.input_tokens, reply.usage.output_tokens) == ("yes", *counted)


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": [{"type": "text", "text": "on"}, {"type": "text", "text": "e"}]}, "one"),
        ({"content": [{"type": "thinking", "thinking": []}, {"type": "text", "text": "one"}]}, "one"),
        ({"content": "", "reasoning_content": "one"}, "one"),
        ({"content": None, "reasoning_content": "one"}, "one"),
        ({"content": "one", "reasoning_content": "thoughts"}, "one"),
    ],
)
def test_the_text_of_an_answer_is_found_where_it_stands(message: dict[str, Any], text: str) -> None:
    assert OpenAIChat(SPEC)._read(openai(message)).text == text


def test_whole_items_of_an_answer_that_was_cut_off_are_found() -> None:
    whole = json.dumps({"memories": [{"a": "{[1"}, {"b": {"c": [2]}}, {"d": 3}]})
    for end in range(len(whole)):
        found = complete_items(whole[:end], "memories")
        kept = [] if found is None else json.loads(found)["memories"]
        assert kept == [{"a": "{[1"}, {"b": {"c": [2]}}, {"d": 3}][: len(kept)]
    assert (
        complete_items("<think>{}</think>" + whole[:-4], "memories")
        == '{"memories": [{"a": "{[1"}, {"b": {"c": [2]}}]}'
    )


@pytest.fixture
async def pair(provider: StandIn) -> AsyncIterator[tuple[StreamingChat, list[str]]]:
    """A first model whose server is the stand-in's OpenAI route, and a second one at its Anthropic route."""
    asked: list[str] = []
    second = {
        "llm_fallback_provider": "anthropic",
        "llm_fallback_base_url": provider.url,
        "llm_fallback_model": "second",
        "llm_fallback_api_key": "sk-2",
    }
    chat = make_chat(Settings(**provider.settings(**second)), lambda: asked.append("second"))
    assert chat is not None
    yield chat, asked
    await chat.aclose()


async def last_text(chat: StreamingChat, *, streamed: bool) -> str:
    if not streamed:
        return (await chat.complete(PROMPT, temperature=0.0, expires_at=chat.expires_at())).text
    text = ""
    async for reply in chat.stream(PROMPT, temperature=0.0, expires_at=chat.expires_at()):
        text = reply.text
    return text


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(
    "order", [{"behaviour": "error", "status": 503}, {"behaviour": "error", "status": 401}, {"behaviour": "refusal"}]
)
async def test_the_second_model_answers_where_the_first_gives_none(
    provider: StandIn, pair: tuple[StreamingChat, list[str]], order: dict[str, Any], *, streamed: bool
) -> None:
    chat, asked = pair
    assert await last_text(chat, streamed=streamed)
    assert asked == []
    await provider.behave(**order, times=1)
    assert await last_text(chat, streamed=streamed)
    assert asked == ["second"]
    assert [one["path"].rpartition("/")[2] for one in (await provider.seen())["requests"]][-1] == "messages"


async def test_where_both_give_none_the_error_is_the_seconds(
    provider: StandIn, pair: tuple[StreamingChat, list[str]]
) -> None:
    await provider.behave("error", status=503)
    with pytest.raises(ProviderError, match="second"):
        await last_text(pair[0], streamed=False)


def test_a_second_model_needs_its_settings(provider: StandIn) -> None:
    with pytest.raises(ConfigurationError, match="TM_LLM_FALLBACK_PROVIDER=openai needs TM_LLM_FALLBACK_MODEL"):
        make_chat(Settings(**provider.settings(llm_fallback_provider="openai")))

"""The two wire formats: what is sent, what is counted, and how far a server that knows less is met."""

from typing import Any

import pytest

from app.errors import ProviderMisconfigured, ProviderProtocolError
from app.memory.extraction import TokenUsage
from app.providers.http import RequestRejected
from app.providers.schemas import answer_schema
from tests.provider_server.fixtures import StandIn
from tests.providers.chatting import TYPES, WORK, Kit, instructions_in, requests, told, turn
from tests.providers.embedding import KEY, attempts
from tests.support.extraction import extract

openai = pytest.mark.parametrize("kit", ["openai"], indirect=True)
anthropic = pytest.mark.parametrize("kit", ["anthropic"], indirect=True)


def refused(message: str, param: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": None}}


@openai
async def test_the_request_is_openais(provider: StandIn, kit: Kit) -> None:
    await extract(kit.extractor(), turn())
    (seen,) = (await provider.seen())["requests"]
    assert (seen["path"], seen["authorization"]) == (kit.path, f"Bearer {KEY}")
    body = seen["body"]
    assert body.keys() == {"model", "messages", "temperature", "max_completion_tokens", "response_format"}
    assert [one["role"] for one in body["messages"]] == ["system", "user"]
    assert (body["model"], body["temperature"], body["max_completion_tokens"]) == ("stand-in", 0.0, 8192)
    schema = {"name": "memories", "strict": True, "schema": answer_schema(TYPES)}
    assert body["response_format"] == {"type": "json_schema", "json_schema": schema}


@anthropic
async def test_the_request_is_anthropics(provider: StandIn, kit: Kit) -> None:
    await extract(kit.extractor(), turn())
    (seen,) = (await provider.seen())["requests"]
    assert (seen["path"], seen["authorization"]) == (kit.path, None)
    assert (seen["x-api-key"], seen["anthropic-version"]) == (KEY, "2023-06-01")
    body = seen["body"]
    assert body.keys() == {"model", "messages", "system", "temperature", "max_tokens", "tools", "tool_choice"}
    assert [one["role"] for one in body["messages"]] == ["user"]
    assert body["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert body["tools"][0]["input_schema"] == answer_schema(TYPES)
    assert body["tool_choice"] == {"type": "tool", "name": "memories", "disable_parallel_tool_use": True}


async def test_the_instructions_are_the_same_for_every_turn(provider: StandIn, kit: Kit) -> None:
    """Providers charge a tenth for a beginning that they have seen before."""
    extractor = kit.extractor()
    await extract(extractor, turn("I work at Volkswagen."))
    await extract(extractor, turn("I prefer tea to coffee."))
    first, second = await requests(provider)
    assert instructions_in(first) == instructions_in(second)


async def test_tokens_are_counted_with_those_of_the_cache(provider: StandIn, kit: Kit) -> None:
    extraction = await extract(kit.extractor(), turn())
    (body,) = await requests(provider)
    assert extraction.usage.requests == 1
    assert extraction.usage.input_tokens >= len(instructions_in(body)) // 4
    assert 0 < extraction.usage.output_tokens < 20
    assert kit.outcomes == [("extract", "ok", extraction.usage)]


@openai
async def test_a_server_that_counts_no_tokens_is_fine(provider: StandIn, kit: Kit) -> None:
    await provider.behave("error", status=200, body={"choices": [{"message": {"content": '{"memories": []}'}}]})
    assert (await extract(kit.extractor(), turn())).usage == TokenUsage(requests=1)


@openai
@pytest.mark.parametrize("answer", [{"choices": []}, {"choices": [{}]}, {"choices": [{"message": {"content": 7}}]}, []])
async def test_what_is_no_completion_is_told(provider: StandIn, kit: Kit, answer: object) -> None:
    await provider.behave("error", status=200, body=answer)
    with pytest.raises(ProviderProtocolError, match="did not answer with a chat completion"):
        await extract(kit.extractor(), turn())


@anthropic
@pytest.mark.parametrize("answer", [{"content": "text"}, {}, []])
async def test_what_is_no_message_is_told(provider: StandIn, kit: Kit, answer: object) -> None:
    await provider.behave("error", status=200, body=answer)
    with pytest.raises(ProviderProtocolError, match="did not answer with a message"):
        await extract(kit.extractor(), turn())


SIMPLER = [
    ("This response_format type is unavailable now", {"format": "json_object"}),
    ("Invalid schema for response_format 'memories'", {"format": "json_object"}),
    ("The provided JSON schema contains features not supported by xgrammar", {"format": "json_object"}),
    ("Unsupported value: 'temperature' does not support 0 with this model.", {"temperature": None}),
    ("max_completion_tokens: extra fields not permitted", {"limit": "max_tokens"}),
]


@openai
@pytest.mark.parametrize("status", [400, 422])
@pytest.mark.parametrize(("message", "expected"), SIMPLER)
async def test_what_an_openai_server_refuses_is_left_out_from_then_on(
    provider: StandIn, kit: Kit, message: str, expected: dict[str, str | None], status: int
) -> None:
    await provider.script({"Volkswagen": [WORK]})
    await provider.behave("error", times=1, status=status, body=refused(message))
    extractor = kit.extractor()
    for _ in range(2):
        assert told((await extract(extractor, turn())).proposals) == [("fact", WORK["payload"])]
    first, *later = await requests(provider)
    assert first["response_format"]["type"] == "json_schema"
    assert len(later) == 2
    for body in later:
        assert body["response_format"]["type"] == expected.get("format", "json_schema")
        assert body.get("temperature") == expected.get("temperature", 0.0)
        assert body[expected.get("limit") or "max_completion_tokens"] == 8192
        assert ("max_completion_tokens" in body) == ("limit" not in expected)


@openai
async def test_a_server_that_knows_no_formats_is_asked_in_words_alone(provider: StandIn, kit: Kit) -> None:
    await provider.script({"Volkswagen": [WORK]})
    await provider.behave("error", times=1, status=400, body={"error": "response_format: json_schema is unknown"})
    told_so = {"error": "'response_format.type' must be 'json_schema' or 'text'"}
    await provider.behave("error", times=1, status=400, body=told_so)
    await provider.behave("prose")
    assert len((await extract(kit.extractor(), turn())).proposals) == 1
    assert [one.get("response_format", {}).get("type") for one in await requests(provider)] == [
        "json_schema",
        "json_object",
        None,
    ]


@anthropic
async def test_a_model_that_thinks_by_default_is_met_step_by_step(provider: StandIn, kit: Kit) -> None:
    await provider.script({"Volkswagen": [WORK]})
    for message in (
        "`temperature` is deprecated for this model.",
        "Thinking may not be enabled when tool_choice forces tool use.",
        "thinking.type: 'disabled' is not supported for this model",
    ):
        await provider.behave("error", times=1, status=400, body=refused(message))
    extractor = kit.extractor()
    for _ in range(2):
        assert len((await extract(extractor, turn())).proposals) == 1
    steps = [(one.get("temperature"), "tools" in one, one.get("thinking")) for one in await requests(provider)]
    off = {"type": "disabled"}
    assert steps == [
        (0.0, True, None),
        (None, True, None),
        (None, True, off),
        (None, False, None),
        (None, False, None),
    ]


async def test_a_refusal_about_something_else_teaches_nothing(provider: StandIn, kit: Kit) -> None:
    extractor = kit.extractor()
    await provider.behave("error", times=2, status=400, body=refused("temperature: your credit is spent"))
    with pytest.raises(RequestRejected):
        await extract(extractor, turn())
    await extract(extractor, turn())
    first, second, third = await requests(provider)
    assert ("temperature" in first, "temperature" in second, "temperature" in third) == (True, False, True)


async def test_a_refusal_that_nothing_mends_ends(provider: StandIn, kit: Kit) -> None:
    message = "temperature max_tokens response_format tool_choice thinking"
    await provider.behave("error", status=400, body=refused(message))
    with pytest.raises(ProviderMisconfigured, match="refuses the request"):
        await extract(kit.extractor(), turn())
    assert await attempts(provider) <= 6

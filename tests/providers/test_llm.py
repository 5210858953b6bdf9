"""The language model that the settings choose."""

from typing import Any

import pytest

from app.errors import ConfigurationError
from app.memory.extraction import TokenUsage
from app.metrics import Metrics
from app.providers.factory import Prices, make_chat, make_extractor, make_task
from app.providers.model_tasks import ModelJudge
from app.settings import Settings
from tests.provider_server.fixtures import StandIn
from tests.providers.chatting import TYPES, WORK, instructions_in, requests, turn
from tests.support.extraction import extract


def settings(provider: str = "openai", **given: Any) -> Settings:
    return Settings(**{"llm_provider": provider, "llm_model": "stand-in", "llm_api_key": "sk-x", **given})


def test_by_default_there_is_no_model_and_no_judge() -> None:
    assert make_chat(Settings(llm_provider="rules")) is None
    assert make_task(ModelJudge, None, settings(), Metrics()) is None


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_model_must_be_named(provider: str) -> None:
    for missing in (None, ""):
        with pytest.raises(ConfigurationError, match=f"TM_LLM_PROVIDER={provider} needs TM_LLM_MODEL"):
            make_chat(settings(provider, llm_model=missing))


def test_a_key_must_be_given_where_there_is_no_other_way_in() -> None:
    with pytest.raises(ConfigurationError, match="TM_LLM_PROVIDER=anthropic needs TM_LLM_API_KEY"):
        make_chat(Settings(llm_provider="anthropic", llm_model="m"))
    assert make_chat(Settings(llm_provider="anthropic", llm_model="m", llm_base_url="http://127.0.0.1:9")) is not None


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_what_can_t_be_right_stops_the_start(provider: str) -> None:
    with pytest.raises(ConfigurationError, match="TM_LLM_BASE_URL"):
        make_chat(settings(provider, llm_base_url="model.example/v1"))
    with pytest.raises(ConfigurationError, match="TM_LLM_API_KEY"):
        make_chat(settings(provider, llm_api_key="two words"))


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_an_empty_base_url_is_the_providers_own(provider: str) -> None:
    chat = make_chat(settings(provider, llm_base_url=""))
    assert chat is not None
    assert chat.name == f"{provider}:stand-in"


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
async def test_the_settings_reach_the_request_and_the_cost_the_metrics(provider: StandIn, kind: str) -> None:
    configured = settings(
        kind, llm_base_url=provider.url, llm_max_tokens=99, llm_sweep=2, llm_input_price=2.0, llm_output_price=10.0
    )
    metrics, chat = Metrics(), make_chat(configured)
    assert chat is not None
    await provider.script({"Volkswagen": [WORK]})
    extractor = make_extractor(chat, TYPES, configured, metrics)
    judge = make_task(ModelJudge, chat, configured, metrics)
    assert judge is not None
    usage = (await extract(extractor, turn())).usage
    await judge.same([("a", "b")])
    await extractor.aclose()
    bodies = await requests(provider)
    assert len(bodies) == 3
    assert {body.get("max_tokens") or body.get("max_completion_tokens") for body in bodies} == {99}
    exposed = dict(line.rsplit(" ", 1) for line in metrics.exposition().decode().splitlines() if line[0] != "#")
    assert float(exposed['tm_llm_tokens_total{direction="input",purpose="extract"}']) == usage.input_tokens
    assert float(exposed['tm_llm_tokens_total{direction="output",purpose="extract"}']) == usage.output_tokens
    assert float(exposed['tm_llm_cost_total{purpose="extract"}']) == pytest.approx(Prices.of(configured).cost(usage))
    assert exposed['tm_llm_seconds_count{outcome="ok",purpose="extract"}'] == "1.0"
    assert exposed['tm_llm_seconds_count{outcome="ok",purpose="same"}'] == "1.0"


async def test_types_that_only_callers_write_are_not_asked_for(provider: StandIn) -> None:
    configured = settings(llm_base_url=provider.url)
    chat = make_chat(configured)
    assert chat is not None
    await extract(make_extractor(chat, TYPES, configured, Metrics()), turn())
    await chat.aclose()
    (body,) = await requests(provider)
    described = {one.name for one in TYPES if f"## {one.name}\n" in instructions_in(body)}
    assert described == {one.name for one in TYPES if one.extracted}
    assert "episodic" not in described


def test_prices_are_a_million_tokens() -> None:
    prices = Prices(input=2.0, output=10.0)
    assert prices.cost(TokenUsage(requests=3, input_tokens=500_000, output_tokens=100_000)) == pytest.approx(2.0)
    assert Prices.of(Settings()).cost(TokenUsage(input_tokens=7)) == 0

import asyncio
import traceback
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest
from pydantic import SecretStr

from app.errors import (
    ConfigurationError,
    ProviderError,
    ProviderMisconfigured,
    ProviderProtocolError,
    ProviderTimeout,
    ProviderUnavailable,
)
from tests.provider_server.fixtures import StandIn
from tests.providers.embedding import KEY, POLICY, Make, Recorder, attempts, reached, unit
from tests.support.waiting import eventually

SECRET_TEXT = "a text that stays between us"

TRANSIENT: list[tuple[str, dict[str, Any]]] = [
    ("cut", {}),
    ("rate_limit", {}),
    *(("error", {"status": status}) for status in (408, 409, 425, 429, 500, 502, 503, 504, 529)),
]


@pytest.mark.parametrize(("behaviour", "order"), TRANSIENT)
async def test_a_passing_failure_is_tried_again(
    provider: StandIn, make: Make, recorder: Recorder, behaviour: str, order: dict[str, Any]
) -> None:
    await provider.behave(behaviour, times=2, **order)
    vectors = await make().embed(["tea"])
    assert vectors[0] == pytest.approx(unit("tea"), abs=1e-6)
    assert await attempts(provider) == 3
    assert recorder.outcomes == [("ok", 1)]


@pytest.mark.parametrize(("behaviour", "order"), TRANSIENT)
async def test_a_lasting_failure_is_given_up_after_all_tries(
    provider: StandIn, make: Make, recorder: Recorder, behaviour: str, order: dict[str, Any]
) -> None:
    await provider.behave(behaviour, **order)
    with pytest.raises(ProviderUnavailable):
        await make().embed(["tea", "coffee"])
    assert await attempts(provider) == POLICY.attempts
    assert len(recorder.waits) == POLICY.attempts - 1
    assert recorder.outcomes == [("provider-unavailable", 2)]


@pytest.mark.parametrize(
    ("status", "mend"),
    [
        (301, "refuses"),
        (400, "refuses"),
        (401, "TM_EMBEDDING_API_KEY"),
        (403, "TM_EMBEDDING_API_KEY"),
        (404, "TM_EMBEDDING_MODEL"),
        (422, "refuses"),
    ],
)
async def test_a_refusal_is_final_and_names_the_mend(
    provider: StandIn, make: Make, recorder: Recorder, status: int, mend: str
) -> None:
    await provider.behave("error", status=status)
    with pytest.raises(ProviderMisconfigured, match=mend):
        await make().embed(["tea"])
    assert await attempts(provider) == 1
    assert recorder.outcomes == [("provider-misconfigured", 1)]


async def test_a_spent_quota_is_not_a_rate_limit(provider: StandIn, make: Make) -> None:
    await provider.behave("rate_limit", body={"error": {"code": "insufficient_quota"}})
    with pytest.raises(ProviderMisconfigured, match="quota"):
        await make().embed(["tea"])
    assert await attempts(provider) == 1


@pytest.mark.parametrize("behaviour", ["garbage", "truncated", "wrong_shape", "nan", "zero", "wrong_count"])
async def test_nonsense_is_reported_and_not_tried_again(
    provider: StandIn, make: Make, recorder: Recorder, behaviour: str
) -> None:
    await provider.behave(behaviour)
    with pytest.raises(ProviderProtocolError):
        await make().embed(["tea", "coffee"])
    assert await attempts(provider) == 1
    assert recorder.outcomes == [("provider-protocol-error", 2)]


async def test_an_answer_over_the_limit_is_not_read_to_its_end(provider: StandIn, make: Make) -> None:
    with pytest.raises(ProviderProtocolError, match="100 bytes"):
        await make(replace(POLICY, max_response_bytes=100)).embed(["tea"])


async def test_a_model_of_other_dimensions_is_a_setting_to_mend(provider: StandIn, make: Make) -> None:
    with pytest.raises(ProviderMisconfigured, match=r"64 dimensions, not 32.*TM_EMBEDDING_DIMENSIONS"):
        await make(dimensions=32).embed(["tea"])


async def test_retry_after_is_honoured(provider: StandIn, make: Make, recorder: Recorder) -> None:
    await provider.behave("rate_limit", times=1, retry_after="7")
    await provider.behave("error", times=1, status=503, retry_after="Wed, 21 Oct 2015 07:28:00 GMT")
    await make().embed(["tea"])
    first, second = recorder.waits
    assert first == 7
    assert second <= POLICY.backoff_max


async def test_a_retry_after_beyond_the_deadline_is_handed_on(
    provider: StandIn, make: Make, recorder: Recorder
) -> None:
    await provider.behave("rate_limit", retry_after="3600")
    with pytest.raises(ProviderUnavailable) as caught:
        await make().embed(["tea"])
    assert caught.value.retry_after == 3600
    assert await attempts(provider) == 1
    assert recorder.waits == []


async def test_a_slow_answer_is_tried_again(provider: StandIn, make: Make) -> None:
    await provider.behave("slow", times=1)
    vectors = await make(replace(POLICY, timeout=4.0)).embed(["tea"])
    assert vectors[0] == pytest.approx(unit("tea"), abs=1e-6)
    assert await attempts(provider) == 2


async def test_answers_that_stay_slow_are_a_timeout(provider: StandIn, make: Make, recorder: Recorder) -> None:
    await provider.behave("slow")
    with pytest.raises(ProviderTimeout):
        await make(replace(POLICY, timeout=0.3)).embed(["tea"])
    assert recorder.outcomes == [("provider-timeout", 1)]
    assert len(recorder.waits) == POLICY.attempts - 1


async def test_the_deadline_covers_all_batches(provider: StandIn, make: Make) -> None:
    await provider.behave("slow")
    with pytest.raises(ProviderTimeout, match="tries and all"):
        await make(replace(POLICY, deadline=0.5), batch_size=1).embed(["a", "b", "c", "d", "e"])
    assert await attempts(provider) <= POLICY.concurrency


async def test_nobody_listening_is_unavailable(make: Make, recorder: Recorder) -> None:
    with pytest.raises(ProviderUnavailable, match="can't be reached"):
        await make(base_url="http://127.0.0.1:1/v1").embed(["tea"])
    assert len(recorder.waits) == POLICY.attempts - 1


@pytest.mark.parametrize(
    "base_url", ["", "model.example/v1", "ftp://model.example", "http://[", "http://host:port", "http://"]
)
def test_a_base_url_that_is_none_stops_the_start(make: Make, base_url: str) -> None:
    with pytest.raises(ConfigurationError, match="TM_EMBEDDING_BASE_URL"):
        make(base_url=base_url)


@pytest.mark.parametrize("key", ["sk-two words", "sk-line\nbreak", "sk-\u00e9"])
def test_a_key_that_fits_no_header_stops_the_start_unshown(make: Make, key: str) -> None:
    with pytest.raises(ConfigurationError, match="TM_EMBEDDING_API_KEY") as caught:
        make(api_key=SecretStr(key))
    assert key not in "".join(traceback.format_exception(caught.value))


async def test_white_space_around_a_key_is_no_part_of_it(provider: StandIn, make: Make) -> None:
    await make(api_key=SecretStr(f" {KEY}\n")).embed(["tea"])
    assert (await provider.seen())["requests"][0]["authorization"] == f"Bearer {KEY}"


async def test_one_failed_batch_fails_the_call_and_ends_the_others(provider: StandIn, make: Make) -> None:
    await provider.behave("error", times=1, status=401)
    await provider.behave("slow")
    with pytest.raises(ProviderMisconfigured):
        await make(batch_size=1).embed(["a", "b", "c", "d"])


async def test_a_cancelled_call_ends_at_once_and_leaves_the_pool_whole(
    provider: StandIn, make: Make, recorder: Recorder
) -> None:
    embedder = make(batch_size=1)
    await provider.behave("slow", times=2 * POLICY.concurrency)
    for round_ in (1, 2):
        call = asyncio.create_task(embedder.embed(["a", "b", "c"]))
        await reached(provider, round_ * POLICY.concurrency)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    await embedder.embed(["a", "b", "c"])
    assert recorder.outcomes == [("cancelled", 3), ("cancelled", 3), ("ok", 3)]


async def test_failures_leave_no_connection_behind(provider: StandIn, make: Make) -> None:
    before = (await provider.seen())["open_connections"]
    embedder = make(replace(POLICY, timeout=0.3, attempts=1))
    for behaviour in ("cut", "error", "rate_limit", "garbage", "truncated", "nan", "slow", "slow", "slow"):
        await provider.behave(behaviour, times=1)
        with pytest.raises(ProviderError):
            await embedder.embed(["tea"])
    await provider.reset()
    assert (await provider.seen())["open_connections"] <= before + POLICY.concurrency
    patient = make()
    await patient.embed(["tea"])
    await patient.aclose()
    await embedder.aclose()

    async def closed() -> bool:
        return bool((await provider.seen())["open_connections"] <= before)

    await eventually(closed)


@pytest.mark.parametrize(
    ("behaviour", "order"),
    [
        ("error", {"status": 401, "body": {"error": {"message": f"wrong key {KEY} in {SECRET_TEXT}"}}}),
        ("error", {"status": 400, "body": {"error": {"code": SECRET_TEXT}}}),
        ("error", {"status": 500, "body": [KEY]}),
        ("garbage", {}),
        ("nan", {}),
        ("cut", {}),
    ],
)
async def test_errors_show_neither_key_nor_text(
    provider: StandIn, make: Make, behaviour: str, order: dict[str, Any]
) -> None:
    await provider.behave(behaviour, **order)
    with pytest.raises(ProviderError) as caught:
        await make().embed([SECRET_TEXT])
    shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    assert KEY not in shown
    assert SECRET_TEXT not in shown


async def test_a_closed_embedder_says_so_without_hanging(make: Make) -> None:
    embedder = make()
    async with aclosing(embedder):
        await embedder.embed(["tea"])
    with pytest.raises(RuntimeError, match="closed"):
        await embedder.embed(["tea"])

"""The extractor as the pipeline meets it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Mapping
from types import SimpleNamespace

import pytest

from app.memory.extraction import TokenUsage
from app.providers import rule_extractor
from app.providers.protocols import Extractor
from app.providers.rule_extractor import RuleExtractor
from tests.english.rules.said import TYPES, fact, holds, proposed, relation, turn
from tests.support.extraction import extract

EXAMPLES = [
    pytest.param(example.utterance, one.name, payload, id=example.utterance)
    for one in TYPES
    if one.extracted
    for example in one.examples
    for payload in example.payloads
]


async def test_it_costs_nothing_and_says_who_it_is() -> None:
    rules: Extractor = RuleExtractor()
    found = await extract(rules, turn("I work at Volkswagen"))
    assert (rules.name, found.usage) == ("rules", TokenUsage())
    assert [one.type for one in found.proposals] == ["fact"]
    await rules.aclose()


async def test_many_long_turns_leave_threads_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, most, lock = 0, 0, threading.Lock()

    def slowly(*_given: object) -> tuple[()]:
        nonlocal reading, most
        with lock:
            reading += 1
            most = max(most, reading)
        time.sleep(0.01)
        with lock:
            reading -= 1
        return ()

    monkeypatch.setattr(rule_extractor, "propose", slowly)
    rules = RuleExtractor()
    await asyncio.gather(*(extract(rules, turn("We sailed. " * 400)) for _ in range(12)))
    assert most == rule_extractor._AT_ONCE


async def test_long_turns_leave_the_event_loop_free(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = 0

    async def counted(*arguments: object) -> object:
        nonlocal threads
        threads += 1
        return await asyncio.to_thread(*arguments)  # type: ignore[arg-type]

    # Others on this event loop use threads, too.
    monkeypatch.setattr(rule_extractor, "asyncio", SimpleNamespace(to_thread=counted, Semaphore=asyncio.Semaphore))
    rules = RuleExtractor()
    await extract(rules, turn("I work at Acme. " * 125))
    assert threads == 0
    found = await extract(rules, turn("I work at Acme. " * 126))
    assert threads == 1
    assert len(found.proposals) == 1


async def test_the_turns_before_tell_whose_names_are_peoples() -> None:
    rules = RuleExtractor()
    before = turn("Zarqa manages the data team.")
    unknown = await extract(rules, turn("I work for Zarqa"))
    known = await extract(rules, turn("I work for Zarqa"), [before])
    assert holds(unknown.proposals, fact("works-at", "Zarqa"))
    assert holds(known.proposals, relation("user", "reports-to", "Zarqa"))


async def test_nothing_is_taken_from_the_turns_before() -> None:
    found = await extract(RuleExtractor(), turn("Thanks!"), [turn("I live in Berlin.")])
    assert found.proposals == ()


@pytest.mark.parametrize(("utterance", "kind", "payload"), EXAMPLES)
def test_it_reads_the_examples_of_the_types_it_knows(utterance: str, kind: str, payload: Mapping[str, object]) -> None:
    if kind not in {"fact", "preference", "event", "relation", "decision"}:
        pytest.skip("another extractor's type")
    spec = TYPES.get(kind)
    wanted = spec.payload.model_validate(payload)
    found = [spec.payload.model_validate(dict(one.payload)) for one in proposed(utterance) if one.type == kind]
    assert wanted.distinct_by() in [one.distinct_by() for one in found]

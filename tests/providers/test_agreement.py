"""A temperature sweep: what most answers say, and how many of them."""

import pytest

from app.errors import ExtractionFailed, ProviderUnavailable
from app.memory.extraction import Proposal
from app.model import SpeechAct
from app.providers.model_extractor import consistent_proposals
from tests.provider_server.fixtures import StandIn
from tests.providers.chatting import DARK, LIGHT, TYPES, WORK, Kit, requests, told, turn
from tests.support.extraction import extract

BY_NAME = {one.name: one for one in TYPES}


def fact(value: str = "Volkswagen", quote: str = "I work at Volkswagen", **about: object) -> Proposal:
    payload = {"subject": "user", "predicate": "works-at", "object": value}
    return Proposal(type="fact", payload=payload, quote=quote, **about)  # type: ignore[arg-type]


def event(description: str, quote: str = "I moved to Berlin") -> Proposal:
    return Proposal(type="event", payload={"event_description": description}, quote=quote)


def shares(*answers: list[Proposal]) -> list[tuple[str, float]]:
    return [(str(next(iter(one.payload.values()))), one.consistency) for one in consistent_proposals(answers, BY_NAME)]


def test_what_all_say_is_certain_and_what_few_say_is_dropped() -> None:
    assert consistent_proposals([[fact()], [fact("VOLKSWAGEN ")], [fact(), event("user moved")]], BY_NAME) == (fact(),)


def test_half_of_the_answers_are_enough() -> None:
    (kept,) = consistent_proposals([[fact()], []], BY_NAME)
    assert kept.consistency == 0.5


def test_two_values_for_one_slot_do_not_agree() -> None:
    assert consistent_proposals([[fact("Volkswagen")], [fact("Audi")], [fact("BMW")]], BY_NAME) == ()


def test_without_a_slot_the_same_words_of_the_turn_are_the_same_memory() -> None:
    assert shares([event("user moved")], [event("user moved to Berlin")], [event("user went", quote="Elsewhere")]) == [
        ("user moved", 2 / 3)
    ]


def test_two_memories_of_one_answer_are_two() -> None:
    answer = [event("user saw Rome", "I saw Rome and Paris"), event("user saw Paris", "I saw Rome and Paris")]
    assert shares(answer, answer) == [("user saw Rome", 1.0), ("user saw Paris", 1.0)]


def test_another_speech_act_is_another_memory() -> None:
    hypothetical = fact(speech_act=SpeechAct.HYPOTHETICAL)
    assert [one.speech_act for one in consistent_proposals([[fact()], [fact()], [hypothetical]], BY_NAME)] == [
        SpeechAct.ASSERTION
    ]


def test_the_coolest_answer_gives_the_words_and_the_confidence() -> None:
    (kept,) = consistent_proposals([[fact(confidence=0.8)], [fact("volkswagen", confidence=0.4)]], BY_NAME)
    assert (kept.payload["object"], kept.confidence, kept.consistency) == ("Volkswagen", 0.8, 1.0)


def test_no_more_than_five_are_kept_the_widest_agreement_first() -> None:
    many = [event(f"event {number}", quote=f"quote {number}") for number in range(5)]
    kept = consistent_proposals([many, [fact(), *many[:4]], [fact(), *many[1:]]], BY_NAME)
    assert len(kept) == 5
    assert [one.consistency for one in kept] == pytest.approx([1, 1, 1, 2 / 3, 2 / 3])


async def test_a_sweep_asks_at_rising_temperatures_and_shares_out_trust(provider: StandIn, kit: Kit) -> None:
    for body in ([WORK, DARK], [WORK, DARK], [WORK, LIGHT]):
        await provider.behave("answer", times=1, body=body)
    extraction = await extract(kit.extractor(sweep=3), turn())
    assert told(extraction.proposals) == [("fact", WORK["payload"]), ("preference", DARK["payload"])]
    assert [one.consistency for one in extraction.proposals] == pytest.approx([1, 2 / 3])
    assert sorted(one["temperature"] for one in await requests(provider)) == pytest.approx([0, 0.4, 0.8])
    assert extraction.usage.requests == 3


async def test_a_sweep_outlives_a_minority_of_failures(provider: StandIn, kit: Kit) -> None:
    await provider.script({"Volkswagen": [WORK]})
    await provider.behave("refusal", times=1)
    (kept,) = (await extract(kit.extractor(sweep=3), turn())).proposals
    assert kept.consistency == 1.0


@pytest.mark.parametrize(("behaviour", "error"), [("refusal", ExtractionFailed), ("error", ProviderUnavailable)])
async def test_a_sweep_that_mostly_failed_fails(
    provider: StandIn, kit: Kit, behaviour: str, error: type[Exception]
) -> None:
    await provider.script({"Volkswagen": [WORK]})
    await provider.behave("ok", times=1)
    await provider.behave(behaviour)
    with pytest.raises(error):
        await extract(kit.extractor(sweep=3), turn())

"""A type that adopts is written by the rules from the moment it is registered, and of a model's proposals none is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pydantic import Field

from app.memory.candidate import Candidate
from app.memory.extraction import Extraction, Proposal
from app.memory.fields import Person
from app.memory.registry import Registry, discover
from app.memory.spec import AdoptedPayload, Adoption, MemoryType, Payload, StoredBelief
from app.providers.rule_extractor import RuleExtractor
from app.write.extract import ExtractionContext, candidates_of
from app.write.reclassify import reclassifications
from app.write.trace import Trace
from tests.support.extraction import extract
from tests.write.turns import turn

TYPES = discover()
WORDS = "I am allergic to peanuts."


class Allergy(Payload):
    """Who must not eat what."""

    subject_name: Person = Field(default="user", alias="subject")
    allergen: str

    def render(self) -> str:
        """Return it as a sentence."""
        return f"{self.subject_name} is allergic to {self.allergen}"


def adopting(name: str, *, allergen: str | None = None, **more: Any) -> MemoryType:
    """Return a type that adopts facts of allergies; `allergen` stands in for the one that was said."""

    def rule(stored: StoredBelief) -> AdoptedPayload | None:
        if stored.payload["predicate"] != "allergic-to":
            return None
        payload = Allergy(allergen=allergen or str(stored.payload["object"]))
        return AdoptedPayload(payload=payload, reason="the predicate says so")

    model = TYPES.get("medication")
    own = {
        "name": name,
        "payload": Allergy,
        "examples": (),
        "held": None,
        "adopts": Adoption(sources=("fact",), rule=rule),
    }
    return replace(model, **{**own, **more})


def registry(*more: MemoryType) -> Registry:
    return Registry({**TYPES.by_name, **{one.name: one for one in more}})


async def considered(words: str, types: Registry, *, by_rules: bool = True) -> tuple[list[Candidate], Trace]:
    said, trace = turn(words), Trace()
    found = await extract(RuleExtractor(), said, types=types)
    extraction = found if by_rules else Extraction(proposals=found.proposals)
    means = ExtractionContext(types=types, extractor="test", keep_episodes=False)
    return list(candidates_of(said, extraction, (), (), means, trace).candidates), trace


async def names(words: str, types: Registry, **more: Any) -> list[str]:
    return [one.type.name for one in (await considered(words, types, **more))[0]]


async def test_a_new_type_is_written_without_another_file() -> None:
    assert await names(WORDS, TYPES) == ["fact"]
    [one], trace = await considered(WORDS, registry(adopting("allergy")))
    assert (one.type.name, one.payload.render()) == ("allergy", "user is allergic to peanuts")
    assert one.evidence[0].quote == "I am allergic to peanuts"
    assert one.provenance["reclassified"] == {"from": "fact", "because": "the predicate says so"}
    notes = [note for stage in trace.stages for note in stage.notes]
    assert notes == ["allergy: adopted from fact, the predicate says so"]


async def test_of_two_types_the_first_in_the_registry_adopts() -> None:
    first, second = adopting("allergy"), adopting("intolerance")
    assert await names(WORDS, registry(first, second)) == ["allergy"]
    assert await names(WORDS, registry(second, first)) == ["intolerance"]


async def test_what_is_not_to_be_proposed_from_turns_is_not_adopted() -> None:
    assert await names(WORDS, registry(adopting("allergy", extracted=False))) == ["fact"]


async def test_what_was_adopted_is_not_adopted_again() -> None:
    again = Adoption(
        sources=("allergy",), rule=lambda _: AdoptedPayload(payload=Allergy(allergen="x"), reason="always")
    )
    assert await names(WORDS, registry(adopting("allergy"), adopting("hazard", adopts=again))) == ["allergy"]


async def test_what_the_turn_does_not_say_is_not_adopted() -> None:
    assert await names(WORDS, registry(adopting("allergy", allergen="Shellfish and 3 others"))) == ["fact"]


@pytest.mark.parametrize("words", ["I take metformin 500 mg daily.", "I must not eat gluten.", WORDS])
async def test_a_models_choice_of_type_stands(words: str) -> None:
    types = registry(adopting("allergy"))
    assert await names(words, types, by_rules=False) == ["fact"]
    assert await names(words, types) != ["fact"]


async def test_without_the_type_there_is_nothing_to_adopt() -> None:
    left = Registry({name: one for name, one in TYPES.by_name.items() if name != "medication"})
    assert await names("I take metformin 500 mg daily.", left) == ["fact"]


def test_what_was_is_an_event_and_no_medicine() -> None:
    was = Proposal(type="fact", payload={"predicate": "was-taking", "object": "insulin"}, quote="was taking insulin")
    assert [one.proposal for one in reclassifications(was, TYPES)] == [was]


@pytest.mark.parametrize("kind", ["fact", "nothing"])
def test_what_no_type_can_hold_is_left_to_be_refused(kind: str) -> None:
    broken = Proposal(type=kind, payload={"object": ""}, quote="x", ends=False)
    assert [one.proposal for one in reclassifications(broken, TYPES)] == [broken]
    assert reclassifications(replace(broken, ends=True), TYPES)[0].proposal.ends


def test_an_ending_goes_on_as_it_is_and_as_one_of_the_type_that_may_hold_it() -> None:
    payload = {"subject": "user", "predicate": "takes", "object": "Ozempic"}
    ending = Proposal(type="fact", payload=payload, quote="stopped taking Ozempic", ends=True)
    stays, also = reclassifications(ending, TYPES)
    assert stays.proposal == ending
    assert (also.proposal.type, also.proposal.ends) == ("medication", True)
    assert also.proposal.payload == {"subject": "user", "medication_name": "Ozempic"}
    left = replace(ending, payload={"subject": "user", "predicate": "uses", "object": "Slack"})
    assert [one.proposal for one in reclassifications(left, TYPES)] == [left]
    unsaid = replace(ending, payload={"subject": "user", "predicate": "takes"})
    assert [one.proposal for one in reclassifications(unsaid, TYPES)] == [unsaid]

"""A model's claim must be what its clause says: of whom, whether at all, when, and as a fact."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

import pytest

from app.lexical.tokens import sentence_around
from app.memory.extraction import Proposal
from app.memory.registry import discover
from app.model import SpeechAct
from app.write.claims import AHEAD, DENIED, OF_ANOTHER, PAST, WISHED, ExaminedClaim, examine, is_presupposed
from tests.write.turns import turn

TYPES = discover()


def examined(said: str, type_name: str = "fact", *, quote: str | None = None, **payload: Any) -> ExaminedClaim:
    bounds = {name: payload.pop(name) for name in ("valid_from", "valid_until", "ends") if name in payload}
    proposal = Proposal(type=type_name, payload=payload, quote=quote or said, **bounds)
    start = said.find(proposal.quote)
    sentence, _ = sentence_around(said, (start, start + len(proposal.quote)))
    spoken = turn(said, zone=ZoneInfo("Europe/Rome"))  # Saturday, 9 May 2026
    return examine(proposal, sentence, spoken, (), TYPES.get(type_name))


@pytest.mark.parametrize(
    ("said", "predicate", "value", "doubt"),
    [
        ("My son is allergic to penicillin.", "allergic-to", "penicillin", OF_ANOTHER),
        ("My best friend works at Siemens.", "works-at", "Siemens", OF_ANOTHER),
        ("Our daughter loves horses.", "likes", "horses", OF_ANOTHER),
        ("My boss told me he lives in Mainz.", "lives-in", "Mainz", OF_ANOTHER),
        ("She moved to Lyon in March.", "lives-in", "Lyon", OF_ANOTHER),
        ("Sarah has diabetes.", "has-condition", "diabetes", OF_ANOTHER),
        ("Mein Sohn ist allergisch gegen Penicillin.", "allergic-to", "Penicillin", OF_ANOTHER),
        ("Mi hermana vive en Bogotá.", "lives-in", "Bogotá", OF_ANOTHER),
        ("I have never smoked cigarettes.", "smokes", "cigarettes", DENIED),
        ("I don't eat meat.", "eats", "meat", DENIED),
        ("I eat fish but I never eat meat.", "eats", "meat", DENIED),
        ("Ich esse kein Fleisch.", "eats", "Fleisch", DENIED),
        ("I no longer drink coffee.", "drinks", "coffee", DENIED),
        ("I'm not allergic to peanuts.", "allergic-to", "peanuts", DENIED),
        ("I used to live in Rome.", "lives-in", "Rome", PAST),
        ("I will work at Siemens at some point.", "works-at", "Siemens", AHEAD),
    ],
)
def test_a_claim_that_its_clause_does_not_bear_out_is_doubted(
    said: str, predicate: str, value: str, doubt: str
) -> None:
    assert examined(said, subject="user", predicate=predicate, object=value).doubt == doubt


@pytest.mark.parametrize(
    ("said", "predicate", "value"),
    [
        ("My son Tom is allergic to penicillin.", "has-child", "Tom"),
        ("My dog is called Rex.", "has-pet", "Rex"),
        ("My wife and I live in Ghent.", "lives-in", "Ghent"),
        ("My doctor put me on metformin.", "takes", "metformin"),
        ("My doctor upped my metformin to 20 mg.", "takes", "metformin 20 mg"),
        ("My favourite food is pizza.", "likes-food", "pizza"),
        ("My son's school is in Ghent, where I work.", "works-in", "Ghent"),
        ("I work at Siemens, not at Bosch.", "works-at", "Siemens"),
        ("No, I use pytest.", "uses", "pytest"),
        ("I don't smoke but I drink wine.", "drinks", "wine"),
        ("I can't live without coffee.", "likes", "coffee"),
        ("I don't eat meat.", "does-not-eat", "meat"),
        ("I dislike cilantro, never buy it.", "dislikes", "cilantro"),
        ("I'm not only a nurse but a painter.", "has-role", "nurse"),
        ("I work at Siemens and plan to visit Rome.", "works-at", "Siemens"),
        ("I moved to Berlin, might visit you.", "lives-in", "Berlin"),
        ("Ich wohne in München.", "lives-in", "München"),
        ("I work night shifts and my son sleeps then.", "works", "night shifts"),
        ("We have lived in Utrecht since 2019.", "lives-in", "Utrecht"),
        ("I may be late, I live in Graz.", "lives-in", "Graz"),
        ("They put the deductible up to 900 euros.", "insurance-deductible", "900 euros"),
        ("They've just doubled my hours.", "works", "double hours"),
    ],
)
def test_a_claim_that_its_clause_bears_out_is_not(said: str, predicate: str, value: str) -> None:
    found = examined(said, subject="user", predicate=predicate, object=value)
    assert (found.doubt, found.proposal.speech_act) == (None, SpeechAct.ASSERTION)


@pytest.mark.parametrize(
    "said", ["I want to work at Siemens.", "I'm thinking about joining Siemens.", "I applied for a job at Siemens."]
)
def test_what_is_only_wished_for_is_doubted(said: str) -> None:
    found = examined(said, subject="user", predicate="works-at", object="Siemens")
    assert found.doubt == WISHED


def test_a_wish_is_what_a_preference_or_a_plan_says() -> None:
    assert (
        examined(
            "I'd like to have window seats.", "preference", preference_key="seats.place", preference_value="window"
        ).doubt
        is None
    )
    assert examined("I want to visit Rome.", "plan", plan="visit Rome").proposal.speech_act is SpeechAct.ASSERTION


@pytest.mark.parametrize(
    ("said", "begins"),
    [
        ("I start at Siemens in September.", "2026-09-01"),
        ("I'm joining Siemens next month.", "2026-06-01"),
        ("From tomorrow I will work at Siemens.", "2026-05-10"),
    ],
)
def test_what_is_still_to_come_holds_from_then_on(said: str, begins: str) -> None:
    found = examined(said, subject="user", predicate="works-at", object="Siemens")
    assert (found.doubt, found.proposal.valid_from) == (None, begins)


def test_what_the_model_itself_says_begins_later_is_left_to_it() -> None:
    given = "2026-10-01"
    found = examined("I start at Siemens on 1 October.", predicate="works-at", object="Siemens", valid_from=given)
    assert (found.doubt, found.proposal.valid_from) == (None, given)


@pytest.mark.parametrize(
    ("said", "at", "kept"),
    [
        ("I visited Rome last weekend.", "2019-04-01", False),
        ("I visited Rome last weekend.", "2026-05-02", True),
        ("I visited Rome.", "2026-05-09", True),
        ("I visited Rome.", "2019-04-01", False),
        ("I visited Rome in 2019.", "2019-06-15", True),
        ("We booked the cabin from 5 to 8 September.", "2026-09-05", True),
        ("We booked the cabin from 5 to 8 September.", "2024-09-05", False),
        ("El fin de semana pasado visité Roma.", "2026-05-02", True),
        ("Ich war 2019 in Rom.", "2019-07-01", True),
    ],
)
def test_a_date_is_kept_where_the_turn_can_mean_it(said: str, at: str, *, kept: bool) -> None:
    payload = {"event_description": "user visited Rome", "event_at": at, "event_at_precision": "day"}
    found = examined(said, "event", **payload)
    assert ("event_at" in found.proposal.payload) is kept
    assert ("event_at_precision" in found.proposal.payload) is kept
    assert bool(found.notes) is not kept


@pytest.mark.parametrize(
    ("sentence", "type_name", "payload", "taken"),
    [
        ("My sister Carmen told me she's moving.", "fact", {"predicate": "has-sibling", "object": "Carmen"}, True),
        (
            "my boss Henrik said I'd be late",
            "relation",
            {"from_entity": "user", "relation_type": "reports-to", "to_entity": "Henrik"},
            True,
        ),
        ("If my wife Ana says yes, we go.", "fact", {"predicate": "married-to", "object": "Ana"}, True),
        ("My sister Carmen says I am rich.", "fact", {"predicate": "is", "object": "rich"}, False),
        ("My sister Carmen says Tom is her friend.", "fact", {"predicate": "friend-of", "object": "Tom"}, False),
        ("My sister Carmen told me.", "fact", {"predicate": "likes", "object": "Carmen"}, False),
        (
            "My sister Carmen told me.",
            "entity",
            {"canonical_name": "Carmen", "entity_type": "person", "attributes": {"relationship": "sister"}},
            True,
        ),
    ],
)
def test_what_a_sentence_takes_for_granted_is_told_from_what_it_reports(
    sentence: str, type_name: str, payload: dict[str, Any], *, taken: bool
) -> None:
    assert is_presupposed(Proposal(type=type_name, payload=payload, quote=sentence), sentence) is taken


def test_an_ending_is_no_denial() -> None:
    assert examined("I no longer work at Siemens.", predicate="works-at", object="Siemens", ends=True).doubt is None

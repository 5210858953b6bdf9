"""What is not relevant is not returned."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import cast

import pytest

from app.read.relevance import CALIBRATIONS, UNKNOWN, Calibration
from tests.read.conftest import NOW, Store

FACTS = (
    ("plays", "the accordion"),
    ("allergic-to", "walnuts"),
    ("works-at", "the harbour office"),
    ("owns", "a rowing boat"),
)


async def filled(store: Store) -> None:
    for predicate, value in FACTS:
        await store.put("fact", {"predicate": predicate, "object": value})
    for place, line in enumerate(("I bought new oars for the boat.", "My sister teaches chemistry.")):
        await store.put("episodic", {"content": line, "session_id": "s", "sequence_number": place})


@pytest.mark.parametrize(
    "text", ["Thanks a lot!", "Good morning", "How do I reverse a linked list?", "How high is the Eiffel Tower?"]
)
async def test_what_asks_for_nothing_that_is_stored_gets_an_empty_block(store: Store, text: str) -> None:
    await filled(store)
    result = await store.ask(text)
    assert result.hits == ()
    assert result.context.text == ""


@pytest.mark.parametrize("text", ["Plan a menu for Sunday", "What could we bake with the children?"])
async def test_a_question_about_food_finds_what_is_not_to_be_eaten(store: Store, text: str) -> None:
    await filled(store)
    diet = await store.put("fact", {"predicate": "has-diet", "object": "halal"})
    child = await store.put("fact", {"subject": "Mira", "predicate": "allergic-to", "object": "sesame"})
    found = [hit.memory for hit in (await store.ask(text)).hits]
    assert {diet, child} <= {one.id for one in found}
    assert {one.payload["predicate"] for one in found} == {"has-diet", "allergic-to"}


TOLD = ("I restore old clocks in my shed.", "The ferry to the island leaves at noon.", "Garlic gives me a headache.")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("What hobby do I have?", [TOLD[0]]),
        ("Which seasoning disagrees with me?", [TOLD[2]]),
        ("What pastime do they have?", [TOLD[0]]),
        ("What hobby is cheap?", []),
        ("Tell me a riddle about a hobby", []),
        ("What makes me ill?", []),
    ],
)
async def test_of_a_few_turns_the_one_that_stands_out_answers_about_somebody(
    store: Store, text: str, found: list[str]
) -> None:
    for place, line in enumerate(TOLD):
        await store.put("episodic", {"content": line, "session_id": "s", "sequence_number": place})
    assert [hit.memory.content for hit in (await store.ask(text)).hits] == found


async def test_the_relevant_comes_without_filling_and_a_relevance_of_nought_fills(store: Store) -> None:
    await filled(store)
    result = await store.ask("Which instrument do I play, the accordion?")
    assert [hit.memory.content for hit in result.hits] == ["user plays the accordion"]
    assert result.hits[0].relevance >= 0.5
    everything = await store.ask("Which instrument do I play, the accordion?", min_relevance=0.0)
    assert len(everything.hits) == len(FACTS) + 2
    none = await store.ask("Which instrument do I play, the accordion?", min_relevance=1.0)
    assert none.hits == ()


async def test_the_predicate_that_is_asked_for_is_relevant_in_other_words(store: Store) -> None:
    await filled(store)
    result = await store.ask("Who is my employer?")
    assert "harbour office" in result.hits[0].memory.content


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("acordion", True),
        ("accodrion", True),
        ("harbours", True),
        ("walnutts?", True),
        ("eccordion", False),
        ("acrdon", False),
        ("accordian kilims", True),
    ],
)
async def test_a_question_of_unknown_words_means_those_one_letter_apart_that_begin_alike(
    store: Store,
    text: str,
    found: bool,  # noqa: FBT001
) -> None:
    await filled(store)
    result = await store.ask(text, min_relevance=0.0, explain=True)
    known = ("accordion", "harbour", "walnut")
    assert any(str(term).startswith(known) for term in cast("list[str]", result.understood["terms"])) is found


async def test_a_question_with_a_known_word_is_read_as_it_is(store: Store) -> None:
    await filled(store)
    assert "acordion" in cast("list[str]", (await store.ask("acordion boat")).understood["terms"])


async def test_what_is_related_to_a_named_entity_comes_with_its_description(store: Store) -> None:
    await filled(store)
    relation = {"from_entity": "ticket desk", "relation_type": "uses", "to_entity": "Heron"}
    await store.put("relation", relation)
    described = {"canonical_name": "Heron ledger", "entity_type": "thing", "aliases": ["Heron"]}
    ledger = await store.put("entity", {**described, "attributes": {"kind": "double bookkeeping in a spreadsheet"}})
    other = await store.put(
        "entity", {"canonical_name": "Kestrel", "entity_type": "thing", "attributes": {"kind": "a bird"}}
    )
    found = await store.found("What happens at the ticket desk when a supplier fails?")
    assert ledger in found
    assert other not in found


async def test_who_is_called_ones_own_is_not_all_that_is_known_of_oneself(store: Store) -> None:
    await filled(store)
    landlord = await store.put(
        "entity",
        {"canonical_name": "Odile", "entity_type": "person", "attributes": {"relationship": "user's landlord"}},
    )
    stated = await store.put("fact", {"predicate": "rents-from", "object": "Odile"})
    found = await store.found("Who is my landlord?")
    assert {landlord, stated} >= set(found) != set()
    for text in ("What do you know about me?", "Who am I?", "Tell me about the user"):
        assert len(await store.found(text)) > len(FACTS)
    assert await store.found("Can you help me?") == []


async def test_an_explanation_says_what_was_cut_and_why(store: Store) -> None:
    await filled(store)
    result = await store.ask("Which instrument do I play, the accordion?", explain=True)
    cut = cast("list[Mapping[str, object]]", (result.plan or {})["cut"])
    assert len(cut) == len(FACTS) - 1 + 2
    assert all(one["why"] for one in cut)


async def test_everything_that_happened_in_the_window_that_is_asked_for_is_relevant(store: Store) -> None:
    event = await store.put("event", {"event_description": "painted the fence", "event_at": "2026-05-05"})
    assert await store.found("What happened last Tuesday?") == [event]


def test_cosines_of_another_model_are_read_on_the_scale_of_the_embedded_one() -> None:
    own = CALIBRATIONS["wordllama-256"]
    assert own.scaled(0.3) == pytest.approx(0.3)
    other = Calibration(unrelated=0.7, related=0.85)
    assert other.scaled(0.7) == pytest.approx(own.unrelated)
    assert other.scaled(0.85) == pytest.approx(own.related)
    assert UNKNOWN.scaled(0.15) < UNKNOWN.scaled(0.4)


async def test_a_numbered_thing_is_not_mistaken_for_its_like(store: Store) -> None:
    """The vectors of two numbers are nearly the same, and the other one often says more words of the question."""
    numbers = range(7700, 7740)
    stored = await store.write(
        *(
            store.candidate(
                "fact",
                {"subject": f"parcel {one}", "predicate": "has-state", "object": "lost" if one % 2 else "delivered"},
            )
            for one in numbers
        )
    )
    by_number = dict(zip(numbers, stored, strict=True))
    for one in (7703, 7712, 7731):
        assert await store.found(f"Was parcel {one} delivered?") == [by_number[one]]
    assert len(await store.found("Which parcels were delivered?")) > 1


async def test_what_is_asked_about_one_is_answered_about_them_first(store: Store) -> None:
    """The later statement is about somebody else, and says as many words of the question."""
    await store.put(
        "entity", {"canonical_name": "Nadia", "entity_type": "person", "attributes": {"relationship": "user's aunt"}}
    )
    own = await store.put("fact", {"predicate": "has-role", "object": "a welder", "stateful": True})
    hers = await store.put("fact", {"subject": "Nadia", "predicate": "has-role", "object": "a pilot", "stateful": True})
    mine = await store.put("preference", {"preference_key": "favourite.drink", "preference_value": "cocoa"})
    theirs = await store.put(
        "preference", {"subject": "Nadia", "preference_key": "favourite.drink", "preference_value": "cider"}
    )
    for question, first, other in (
        ("What is my job?", own, hers),
        ("What do I do for a living?", own, hers),
        ("What does Nadia do?", hers, own),
        ("What is my aunt's job?", hers, own),
        ("What is my favourite drink?", mine, theirs),
        ("Which drink does Nadia like best?", theirs, mine),
    ):
        found = await store.found(question)
        assert next(one for one in found if one in (first, other)) == first, question


async def test_a_question_for_whoever_it_is_demotes_nobody(store: Store) -> None:
    away = await store.put("fact", {"subject": "Nadia", "predicate": "lives-in", "object": "Porto", "stateful": True})
    here = await store.put("fact", {"predicate": "lives-in", "object": "Porto", "stateful": True})
    result = await store.ask("Who else lives in Porto besides me?", explain=True)
    assert {hit.memory.id for hit in result.hits} >= {away}
    assert not any("others" in note for hit in result.hits for note in hit.notes)
    assert await store.found("Where do I live?") == [here]


async def test_a_reply_that_restates_a_turn_tells_what_the_turn_is_about(store: Store) -> None:
    told = (
        ("user", "Picked up the keys in Molde!"),
        ("assistant", "Molde is a great town to live in."),
        ("user", "My cat has a cold."),
        ("assistant", "Poor thing!"),
    )
    for place, (speaker, line) in enumerate(told):
        await store.put("episodic", {"content": line, "speaker": speaker, "session_id": "s", "sequence_number": place})
    found = [hit.memory.content for hit in (await store.ask("Where do I live?")).hits]
    assert len(found) == 1
    assert "Picked up the keys in Molde!" in found[0]


async def test_what_is_asked_of_a_person_takes_more_than_the_name(store: Store) -> None:
    await store.put("fact", {"subject": "Oskar", "predicate": "has-condition", "object": "hay fever"})
    await store.put("fact", {"predicate": "has-age", "object": "51"})
    owned = await store.put("fact", {"subject": "Oskar", "predicate": "owns", "object": "a sailing dinghy"})
    await store.put("entity", {"canonical_name": "Oskar", "entity_type": "person"})
    assert (await store.ask("How old is Oskar?")).hits == ()
    assert [hit.memory.id for hit in (await store.ask("Does Oskar have a dinghy?")).hits] == [owned]


async def test_ones_own_name_answers_no_question_for_another(store: Store) -> None:
    named = await store.put("fact", {"predicate": "has-name", "object": "Rasmus"})
    assert (await store.ask("What is the name of my boat?")).hits == ()
    assert [hit.memory.id for hit in (await store.ask("What is my name?")).hits] == [named]


@pytest.mark.parametrize(
    "question", ["Bei welcher Firma arbeite ich?", "¿Dónde trabajo?", "где я работаю?", "我在哪儿工作?"]
)
async def test_beliefs_answer_what_is_asked_of_ones_life_in_other_languages(store: Store, question: str) -> None:
    employer = await store.put("fact", {"predicate": "works-at", "object": "Tollhouse Brewery"})
    await store.put("fact", {"predicate": "lives-in", "object": "Kirkwall"})
    assert [hit.memory.id for hit in (await store.ask(question)).hits] == [employer]


async def test_what_was_told_of_oneself_answers_what_is_known_of_oneself(store: Store) -> None:
    said = ("I'm restoring an old harmonium.", "What does resin cost?", "Rain all week.")
    turns = [await store.put("episodic", {"content": one, "session_id": "s"}) for one in said]
    assert await store.found("What do you know about me?") == [turns[0]]


async def test_a_number_alone_finds_nothing(store: Store) -> None:
    for place, (speaker, line) in enumerate((("user", "The ferry leaves at 7:40."), ("assistant", "Noted, 7:40."))):
        await store.put("episodic", {"content": line, "speaker": speaker, "session_id": "s", "sequence_number": place})
    assert (await store.ask("What is 7 cubed?")).hits == ()
    assert len((await store.ask("When does the ferry leave?")).hits) >= 1


@pytest.mark.parametrize(
    ("told", "question", "shown"),
    [
        (("Vivo en Cuenca.", "Ya nos mudamos, la casa de Gijón es enorme."), "¿Dónde vivo?", [1]),
        (("Ich wohne in Ulm.", "Der Hund bellt.", "Endlich umgezogen, Bamberg ist toll."), "Wo wohne ich?", [2]),
        (("I live in Ulm.", "We moved to Bamberg.", "Moved house again!"), "Where do I live?", [2, 1]),
        (("我住在苏州,喜欢喝茶", "搬到厦门一个月了"), "我现在住哪儿?", [1]),
        (("I work at Orkla as a welder.", "I quit, I start at Equinor."), "Where do I work?", [1, 0]),
        (("3月2号要去看眼科", "眼科改到3月9号了"), "我什么时候看眼科?", [1, 0]),
    ],
)
async def test_what_is_told_of_ones_life_in_other_words_stands_above_what_it_changed(
    store: Store, told: tuple[str, ...], question: str, shown: list[int]
) -> None:
    """Where one lived is left out, but for what may hold the answer that the newest statement lacks."""
    for place, line in enumerate(told):
        turn = {"content": line, "session_id": f"s{place}", "sequence_number": 0}
        await store.put("episodic", turn, stated_at=NOW - timedelta(days=30 - 9 * place))
    found = [(hit.memory.content, hit.marks) for hit in (await store.ask(question)).hits]
    assert [content for content, _ in found] == [told[one] for one in shown]
    assert all(marked.startswith("perhaps replaced") for _, (marked,) in found[1:])

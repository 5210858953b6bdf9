from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.lexical.tokens import locate_quote, sentence_around
from app.memory.extraction import Proposal, Role
from app.memory.registry import discover
from app.write.ground import LEAST, TRANSLATED, Grounding, ground, says_more
from tests.english.hostile import HOSTILE_UNITS, QUADRATIC, growth
from tests.write.turns import turn

TYPES = discover()
EXAMPLES = [
    (one.name, example.utterance, payload) for one in TYPES for example in one.examples for payload in example.payloads
]


def judged(
    said: str, quote: str | None = None, *, before: tuple[str, ...] = (), speaker: str | None = None, **payload: Any
) -> Grounding | str:
    proposal = Proposal(type="fact", payload=payload, quote=said if quote is None else quote)
    return ground(proposal, turn(said, speaker=speaker), [turn(one) for one in before], TYPES)


def score(said: str, **payload: Any) -> float:
    verdict = judged(said, **payload)
    assert isinstance(verdict, Grounding), verdict
    return verdict.score


@pytest.mark.parametrize(
    ("quote", "text", "found"),
    [
        ("dark mode", "I use dark mode.", "dark mode"),
        ("DARK  mode", "I use dark\n mode.", "dark\n mode"),
        ('"dark mode"', "I use \u201cdark mode\u201d.", "dark mode"),
        ("it's a well-known thing", "It\u2019s a well\u2011known thing", "It\u2019s a well\u2011known thing"),
        ("yes - always", "Yes \u2014 always!", "Yes \u2014 always"),
        ("I use dark mode always", "I use **dark\u200b mode** always", "I use **dark\u200b mode** always"),
        ("I moved.", "and then I moved to Berlin", "I moved"),
        ("住在柏林", "我住在柏林市", "住在柏林"),
        ("\u0130stanbul is big", "so \u0130STANBUL  is big", "\u0130STANBUL  is big"),
        ("art is", "smart is not art is", "art is"),
    ],
)
def test_a_quotation_is_found_whatever_its_typography(quote: str, text: str, found: str) -> None:
    span = locate_quote(quote, text)
    assert span is not None
    assert text[slice(*span)] == found


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("", "I use dark mode"),
        (" . ", "I use dark mode."),
        ("ark mode", "I use dark mode"),
        ("dark mod", "I use dark mode"),
        ("I use light mode", "I use dark mode"),
        ("I use mode", "I use dark mode"),
        ("I use ... mode", "I use dark mode"),
    ],
)
def test_words_that_were_not_said_are_not_found(quote: str, text: str) -> None:
    assert locate_quote(quote, text) is None


@pytest.mark.parametrize(
    ("quote", "sentence", "before"),
    [
        ("a nurse", "I'm actually a nurse, so I work nights.", "Hi there!"),
        ("moved", "What if I moved to St. Gallen?", "Hi there! I'm actually a nurse, so I work nights."),
        ("see Dr. Smith", "I see Dr. Smith at 3.30 p.m. every week.", None),
        ("nights. What", "I'm actually a nurse, so I work nights. What if I moved to St. Gallen?", "Hi there!"),
        ("one line", "one line", None),
        ("wraps at", "It wraps at\nthe margin.", None),
        ("in between", "in between", None),
    ],
)
def test_the_sentence_around_a_quotation(quote: str, sentence: str, before: str | None) -> None:
    text = (
        "Hi there! I'm actually a nurse, so I work nights. What if I moved to St. Gallen?  "
        "I see Dr. Smith at 3.30 p.m. every week.\n- one line\nIt wraps at\nthe margin.\n\nin between\n\nlast"
    )
    span = locate_quote(quote, text)
    assert span is not None
    found = sentence_around(text, span)
    assert found[0].removeprefix("- ") == sentence
    assert before is None or found[1] == before
    assert text.startswith(found[1])


@pytest.mark.parametrize(("name", "utterance", "payload"), EXAMPLES)
def test_what_an_example_says_is_grounded_in_its_own_utterance(name: str, utterance: str, payload: Any) -> None:
    proposal = Proposal(type=name, payload=payload, quote=utterance)
    verdict = ground(proposal, turn(utterance), (), TYPES)
    assert isinstance(verdict, Grounding)
    assert verdict.score > 0.6


@pytest.mark.parametrize(("name", "utterance", "payload"), EXAMPLES)
def test_what_an_example_says_is_grounded_in_nothing_else(name: str, utterance: str, payload: Any) -> None:
    said = "Could be worse, honestly: it rained all day long"
    assert isinstance(ground(Proposal(type=name, payload=payload, quote=said), turn(said), (), TYPES), str)
    verdict = ground(Proposal(type=name, payload=payload, quote=utterance), turn(said), (), TYPES)
    assert verdict == "it quotes an example of the prompt"


def test_the_span_and_the_words_are_those_of_the_turn() -> None:
    said = "Well, I  ALWAYS use\ndark mode here."
    verdict = judged(said, "I always use dark mode", preference_key="editor.theme", preference_value="dark")
    assert verdict == Grounding(quote="I  ALWAYS use\ndark mode", span=(6, 29), score=1.0)


@pytest.mark.parametrize(
    ("said", "payload"),
    [
        ("I moved to Berlin last May", {"predicate": "lives-in", "object": "Berlin"}),
        ("I moved from Boston to Berlin", {"event_description": "user relocated from Boston to Berlin"}),
        ("I work at VW these days", {"predicate": "works-at", "object": "Volkswagen"}),
        ("I flew to NYC on Monday", {"event_description": "user flew to New York City", "event_at": "2026-05-04"}),
        ("Mel likes pottery", {"subject": "Melanie", "predicate": "likes", "object": "pottery"}),
        ("I'm German", {"predicate": "from", "object": "Germany"}),
        ("we have three dogs", {"predicate": "has-pets", "object": "3 dogs"}),
        ("it cost $1,500 in all", {"predicate": "paid", "object": "1500 dollars"}),
        ("I earn 10k a month", {"predicate": "earns", "object": "10000 a month"}),
        ("she is twenty-five today", {"subject": "she", "predicate": "age", "object": "25"}),
        (
            "I take aspirin, 500mg twice a day",
            {"medication_name": "aspirin", "dosage": "500 mg", "frequency": "2 a day"},
        ),
        ("I'm allergic to peanuts", {"predicate": "allergic-to", "object": "peanut"}),
        ("I leave out dairy", {"predicate": "has-diet", "object": "vegan"}),
        ("we met yesterday at the gym", {"event_description": "user met at the gym on May 8, 2026"}),
        ("turn off email notifications please", {"preference_key": "notifications.email", "preference_value": "off"}),
        ("I'm really into climbing", {"preference_key": "likes.climbing", "preference_value": "likes"}),
        ("Sarah works for Priya", {"from_entity": "Sarah", "relation_type": "reports-to", "to_entity": "Priya"}),
        ("Ich wohne in M\u00fcnchen", {"predicate": "lives-in", "object": "M\u00fcnchen"}),
        ("My birthday is May 4th.", {"predicate": "born-on", "object": "May 4th"}),
        ("My birthday is May 4th, 1990.", {"predicate": "born-on", "object": "May 4th, 1990"}),
        ("My birthday is on 4 May.", {"predicate": "born-on", "object": "4 May"}),
        ("My birthday is 1990-05-04.", {"predicate": "born-on", "object": "1990-05-04"}),
        ("Her birthday is on June 7", {"subject": "she", "predicate": "born-on", "object": "June 7"}),
        ("来年の春に釧路へ引っ越します", {"plan": "2027年の春に釧路へ引っ越します"}),
        ("下週六去台南看爺爺", {"plan": "5月16日去台南看爺爺"}),
        ("I went to 東京 last year", {"event_description": "user visited 東京"}),
    ],
)
def test_what_was_said_in_other_words_is_grounded(said: str, payload: dict[str, Any]) -> None:
    assert score(said, **payload) >= 0.5


@pytest.mark.parametrize(
    ("said", "payload"),
    [
        ("I work at a car maker", {"predicate": "works-at", "object": "Toyota"}),
        ("I met her at the conference", {"event_description": "user met Priya at the conference"}),
        ("Sarah got a new boss", {"from_entity": "Sarah", "relation_type": "reports-to", "to_entity": "Tom"}),
        ("we have three dogs", {"predicate": "has-pets", "object": "4 dogs"}),
        ("I take aspirin every day", {"medication_name": "aspirin", "dosage": "500 mg"}),
        ("we went with friends", {"event_description": "user travelled", "participants": ["Tom"]}),
        (
            "I'm keen on counseling",
            {"predicate": "passionate", "object": "helping other people through counseling work"},
        ),
        ("I like my editor a lot", {"preference_key": "editor.theme", "preference_value": "solarized"}),
        ("I like my car a lot", {"preference_key": "notifications.email", "preference_value": "off"}),
        ("I'm really into climbing", {"preference_key": "food.cilantro", "preference_value": "likes"}),
        ("call me when you can", {"predicate": "has-name", "object": "John"}),
        ("I have 5 cats", {"predicate": "has-pets", "object": 10**5000}),
        ("The meeting is on May 4th", {"predicate": "born-on", "object": "May 4th"}),
        ("I leave out nuts", {"predicate": "has-diet", "object": "vegan"}),
        ("I love the red one", {"canonical_name": "Ferrari", "entity_type": "organization"}),
    ],
)
def test_what_was_made_up_is_refused(said: str, payload: dict[str, Any]) -> None:
    assert isinstance(judged(said, **payload), str)


@pytest.mark.parametrize(
    ("said", "thing"),
    [
        ("Meine Nachbarn reparieren gerne mit den alten Fahrrädern von Oma.", "altes Fahrrad"),
        ("Trabajo con los niños enfermos de las escuelas públicas.", "niño enfermo, escuela pública"),
    ],
)
def test_words_are_compared_by_the_stems_of_their_own_language(said: str, thing: str) -> None:
    assert score(said, subject="user", predicate="has", object=thing) == 1


def test_a_name_may_come_from_the_turns_before_but_something_must_be_said_here() -> None:
    said = "She runs the billing team now"
    payload: dict[str, Any] = {"subject": "Priya", "predicate": "leads", "object": "billing team"}
    assert isinstance(judged(said, **payload), str)
    assert isinstance(judged(said, before=("I had lunch with Priya.",), **payload), Grounding)
    told = ("Priya runs the billing team.",)
    assert judged("that is so good to hear", before=told, **payload) == "none of what it says is in the turn"


def test_a_date_that_is_said_here_may_be_asked_for_before() -> None:
    payload: dict[str, Any] = {"predicate": "born-on", "object": "May 4th"}
    assert isinstance(judged("May 4th.", before=("When is your birthday?",), **payload), Grounding)
    assert isinstance(judged("May 4th.", before=("When do we meet?",), **payload), str)
    assert isinstance(judged("Soon, I guess.", before=("When is your birthday?",), **payload), str)


def test_speakers_need_not_be_named_by_themselves() -> None:
    payload: dict[str, Any] = {"subject": "Caroline", "predicate": "likes", "object": "pottery"}
    assert isinstance(judged("I really like pottery", speaker="Caroline", **payload), Grounding)
    assert isinstance(judged("I really like pottery", **payload), str)
    assert isinstance(judged("I really like pottery", **(payload | {"subject": "user"})), Grounding)


def test_a_quote_of_one_word_carries_no_claim_unless_it_is_the_turn() -> None:
    payload: dict[str, Any] = {"predicate": "lives-in", "object": "Berlin"}
    assert judged("I moved to Berlin", "Berlin", **payload) == "its quote is a single word, which carries no claim"
    assert isinstance(judged("Berlin!", "Berlin", **payload), Grounding)


@pytest.mark.parametrize(
    ("quote", "reason"), [("I live in Rome", "its quote is not in the turn"), (" ", "it has no quote")]
)
def test_a_proposal_without_its_words_is_refused(quote: str, reason: str) -> None:
    assert judged("I live in Berlin", quote, predicate="lives-in", object="Berlin") == reason


def test_an_example_that_is_proposed_again_is_refused_unless_it_was_said() -> None:
    payload: dict[str, Any] = {"subject": "user", "predicate": "works-at", "object": "Volkswagen"}
    assert judged("I work at a car maker", **payload) == "it repeats an example of the prompt"
    assert isinstance(judged("I started at Volkswagen", **payload), Grounding)


def test_a_translated_payload_can_be_compared_only_by_its_quote() -> None:
    assert score("我住在柏林", predicate="lives-in", object="Berlin") == TRANSLATED
    assert isinstance(judged("I live in 柏林", predicate="lives-in", object="Paris"), str)


def test_embroidery_lowers_the_score_before_it_refuses() -> None:
    plain = score("I joined the chess club", event_description="user joined the chess club")
    more = score("I joined the chess club", event_description="user happily joined the local chess club")
    assert 1.0 == plain > more > LEAST


def test_details_are_inferred_more_freely_than_names() -> None:
    payload: dict[str, Any] = {
        "canonical_name": "Acme",
        "entity_type": "organization",
        "attributes": {"industry": "Software"},
    }
    assert 0.5 <= score("I joined Acme in May", **payload) < 1.0


def test_a_reason_never_repeats_what_was_said_or_proposed() -> None:
    secret: dict[str, Any] = {"predicate": "works-at", "object": "Zebracorp"}
    for verdict in (judged("I work somewhere nice", **secret), judged("I work here", "Zebracorp pays", **secret)):
        assert isinstance(verdict, str)
        assert "ebracorp" not in verdict


@given(st.text(max_size=200), st.integers(0, 200), st.integers(1, 200))
def test_every_span_of_whole_words_is_found(text: str, start: int, length: int) -> None:
    words = text.split()
    quote = " ".join(words[start % max(1, len(words)) :][:length])
    span = locate_quote(quote, text)
    # A modifier letter that is set as an apostrophe is one, alone or at an edge.
    if any(character.isalnum() for character in quote.replace("\u02bc", "'")):
        assert span is not None
        assert 0 <= span[0] < span[1] <= len(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(max_size=12), JSON, max_size=5), st.text(min_size=1, max_size=80))
def test_any_payload_is_judged(payload: dict[str, Any], said: str) -> None:
    verdict = judged(said, object=payload)
    assert isinstance(verdict, str) or LEAST <= verdict.score <= 1.0


@pytest.mark.long
@pytest.mark.parametrize("unit", [*HOSTILE_UNITS, "Ab ", "1,000 ", "hundred ", "aaaab"])
def test_hostile_text_takes_no_longer_than_its_length_explains(unit: str) -> None:
    def work(text: str) -> None:
        proposal = Proposal(type="fact", payload={"object": text, "predicate": text}, quote=text[: len(text) // 2])
        ground(proposal, turn(text + " "), [turn(text, Role.TOOL)], TYPES)
        locate_quote(text[:-1] + "b", text)

    assert growth(work, unit) < QUADRATIC


@pytest.mark.parametrize(
    ("sentence", "more"),
    [
        ("Petra, the user's aunt, runs a bakery in Trieste since 2019.", False),
        ("Petra runs a bakery with 3 ovens in Trieste.", True),
        ("Petra runs a bakery in Trieste with Lorenzo.", True),
        ("Petra believes in hard work, honest people and long winters.", True),
    ],
)
def test_a_sentence_brings_in_nothing_that_was_not_said(sentence: str, more: bool) -> None:  # noqa: FBT001
    said = turn("My aunt runs a bakery in Trieste.")
    payload = {"subject": "Petra", "predicate": "runs", "object": "a bakery in Trieste"}
    proposal = Proposal(type="fact", payload=payload, quote=said.content, sentence=sentence)
    assert says_more(proposal, said, [], ()) is more

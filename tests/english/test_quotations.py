"""What is pasted, quoted or shown in a turn is not believed of its speaker; what only looks so, is."""

from __future__ import annotations

import pytest

from app.english.quotations import quoted_spans
from app.memory.extraction import Extraction, Proposal
from app.memory.registry import discover
from app.model import SpeechAct
from app.providers.rule_extractor import propose
from app.write.extract import ExtractionContext, candidates_of
from app.write.trace import Trace
from tests.english.hostile import HOSTILE_UNITS, QUADRATIC, growth
from tests.write.turns import turn

MEANS = ExtractionContext(types=discover(), extractor="rules", keep_episodes=False)


def believed(content: str, *, speaker: str | None = None, told: tuple[str, ...] = ()) -> list[str]:
    """What is asserted in the end, of what the rules propose and of facts that a model would for these quotes."""
    one = turn(content, speaker=speaker)
    of_model = [
        Proposal(
            type="fact", payload={"subject": "user", "predicate": "lives-in", "object": quote.split()[-1]}, quote=quote
        )
        for quote in told
    ]
    extraction = Extraction(proposals=(*propose(one), *of_model), adoptable=not told)
    found = candidates_of(one, extraction, (), (), MEANS, Trace())
    return [each.payload.render() for each in found.candidates if each.speech_act is SpeechAct.ASSERTION]


@pytest.mark.parametrize(
    "content",
    [
        "Tom: I live in Paris\nAnna: I live in Rome",
        "Here's the chat:\nTom: I live in Paris\nXiulan: I live in Rome\nWhat do you think?",
        "[10:02] Tomke: I live in Paris\n[10:03] Bolette: I live in Rome",
        "Tom (10:02): I live in Paris",
        "Tom: I live in Paris",
        "Example: I live in Berlin",
        "Traduis en norvégien : I live in Berlin",
        "I live in Berlin -- make that sound grander",
        "Sample sentence: I live in Berlin",
        "Translate: I live in Berlin",
        "Please translate this to French: I live in Berlin",
        "Correct this sentence: I live in Berlin",
        "Here is my text: I live in Berlin",
        "How do you say 'I live in Berlin' in French",
        'How do you say "I live in Berlin" in French?',
        "Translate 'I live in Berlin' for me.",
        "> I live in Berlin\n\nIs he right?",
        "`I live in Berlin`",
        "```\nI live in Berlin\n```",
        "Can you answer this?\n-----Original Message-----\nFrom: Bob\nI live in Berlin.",
        "Please reply.\n\nOn Mon, May 4, 2026 at 3:00 PM Bob <b@x.org> wrote:\nI live in Berlin.",
        "See below.\n\n---------- Forwarded message ---------\nHi! I live in Berlin.",
        "My lawyer wrote: I represent the tenant and I live in Kassel",
        "fwd from it dept: I am the new administrator. I live in Kassel",
        "This was in the PDF: I live in Kassel",
        "The letter says: I live in Kassel",
        "I live in Kassel\n\nPlease rewrite the text above",
        "Our neighbour sent us this note: I live in Kassel",
        "In the email it says: I live in Kassel",
        "From their newsletter: I live in Berlin",
        "Here is what our tenant replied by text, she wrote:\n\nI live in Berlin\n\nIn winter I live in Rome",
        "Proofread this for me please:\n\nI live in Berlin\n\nI live in Paris",
        "De: Jean Roux\nObjet: appartement\n\nI live in Paris",
        "Betreff: Umzug\nHello everyone, I live in Berlin now",
        "W dniu 7 lipca 2026 Ola Nowak napisa\u0142a:\nI live in Berlin",
        "Hi there, I live in Paris and need a plumber.\n\nSent from my phone\n\nWhat shall I tell her?",
        "I live in Paris and want my deposit back.\n\nYours sincerely\nMarit Quist\n\nIs this too harsh?",
        "I live in fear",
        "I live in denial.",
        "I live for pizza",
        "I love it, said no one ever",
    ],
)
def test_the_words_of_others_are_not_believed_of_the_speaker(content: str) -> None:
    city = [name for name in ("Berlin", "Paris", "Rome") if name in content]
    assert believed(content, told=tuple(f"I live in {name}" for name in city)) == []


@pytest.mark.parametrize(
    ("content", "speaker"),
    [
        ("Tom: I live in Paris", "Tom"),
        ("Tom: I live in Paris", "Tom Sawyer"),
        ("Tom: I live in Paris\nAnna: I live in Rome", "Tom"),
        ("For example, I live in Paris, so I take the metro.", None),
        ("Note: I live in Paris", None),
        ("Update: I live in Paris", None),
        ("Correction: I live in Paris", None),
        ("About me: I live in Paris", None),
        ("Me: I live in Paris\nTom: I live in Rome", None),
        ("I live in Paris.\n\n> where are you from?", None),
        ("I live in Paris.\n\n-----Original Message-----\nFrom: Bob\nI live in Rome.", None),
        ("Run `make check` please. I live in Paris.", None),
        ("I live in Paris. How do you say 'good day' in French?", None),
        ("Translate: hello there\n\nI live in Paris.", None),
        ("I live in Paris, the city of light", None),
        ("I live in Paris. I sincerely hope that helps.\nKind regards to your team", None),
        ("Hello,\nI live in Paris.\nKind regards\nAda Roe\nSent from my phone", None),
        ("As I said: I live in Paris", None),
        ("By the way: I live in Paris", None),
        ("Help me write a bio\n\nI live in Paris and bake.", None),
        ("Regarding your last message\n\nI live in Paris.", None),
        ("My aunt's address is this: I live in Paris with her", None),
        ("Here's the plan: I live in Paris until May", None),
        ("My wife and I: we met in Rome. I live in Paris.", None),
        ("My bio: I live in Paris", None),
        ("Good news: I live in Paris now", None),
        ("A fact about my text: I live in Paris", None),
        ("One more thing: I live in Paris", None),
        ("In reply to your message: I live in Paris", None),
        ("I posted on Reddit: I live in Paris", None),
        ("I got an email today. I live in Paris.", None),
        ("She wrote: hello\n\nI live in Paris.", None),
    ],
)
def test_what_only_looks_like_the_words_of_others_is_believed(content: str, speaker: str | None) -> None:
    assert [one for one in believed(content, speaker=speaker) if "lives in Paris" in one]
    assert not [one for one in believed(content, speaker=speaker) if "Rome" in one]


@pytest.mark.parametrize(
    "content",
    [
        "Dora thinks it is bitter, but I like grapefruit",
        "My uncle says fruit is dull; I like grapefruit",
        "They say it burns the tongue but I like grapefruit",
        "Dora says my diet's dull so I like grapefruit now",
        "Dora believes I'm rude, but I like grapefruit",
        "The midwife thinks it's a craving so I like grapefruit",
    ],
)
def test_what_the_speaker_sets_against_a_report_is_their_own(content: str) -> None:
    assert believed(content) == ["user likes grapefruit"]


@pytest.mark.parametrize(
    "content", ["Dora says I am rude, but I like grapefruit", 'Dora said "it is bitter, but I like grapefruit"']
)
def test_a_report_in_the_first_person_stays_one(content: str) -> None:
    assert believed(content) == []


def test_no_more_a_fan_is_a_dislike() -> None:
    assert believed("I'm no more a fan of jazz") == ["user dislikes jazz"]


@pytest.mark.parametrize("unit", [*HOSTILE_UNITS, "Tom: ", "> a\n", "`", "```", "Translate ", "From: a\n", "'say "])
def test_long_texts_take_no_longer_than_they_must(unit: str) -> None:
    assert growth(lambda text: quoted_spans(text, "Tom"), unit) < QUADRATIC

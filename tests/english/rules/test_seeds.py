"""Every utterance that the five seeds quote, and what should come of it."""

from __future__ import annotations

import pytest

from app.model import SpeechAct
from tests.english.rules.said import (
    Expected,
    decision,
    event,
    fact,
    holds,
    preference,
    proposed,
    relation,
    rendered,
    turn,
)

DOCTOR = "I'm actually a doctor, so walk me through the mechanism more technically."
DARK = preference("editor.theme", "dark")
VOLKSWAGEN = fact("works-at", "Volkswagen")
PLATFORM = "user joined the platform team"

STATED: list[tuple[str, list[Expected]]] = [
    # seed 000: typed memory
    ("I prefer dark mode", [DARK]),
    ("user prefers dark mode", [DARK]),
    ("actually I switched to light mode", [preference("editor.theme", "light")]),
    ("user switched to light mode", [preference("editor.theme", "light")]),
    ("User works at Volkswagen", [VOLKSWAGEN]),
    ("Priya manages the project", [relation("Priya", "manages", "the project")]),
    ("Priya is the engineering manager", [fact("has-role", "engineering manager", "Priya")]),
    ("Sarah works for Priya", [relation("Sarah", "reports-to", "Priya")]),
    ("she manages the project", [relation("she", "manages", "the project")]),
    ("I prefer X", [preference("likes.x", "likes")]),
    ("I always use X", [preference("likes.x", "likes")]),
    ("I used to work at Volkswagen", [event("user used to work at Volkswagen", None, "approximate")]),
    ("John and Sarah work together on the platform team", [relation("John", "works-with", "Sarah")]),
    ("the user is a senior engineer", [fact("has-role", "senior engineer")]),
    ("user joined the team", [event("user joined the team")]),
    ("user prefers TypeScript", [preference("language.primary", "TypeScript")]),
    ("I'm now using Go.", [preference("language.primary", "Go")]),
    (
        "user cannot use external APIs due to compliance requirements",
        [fact("cannot-use", "external APIs due to compliance requirements")],
    ),
    ("we switched to a different compliance framework", [event("user switched to a different compliance framework")]),
    # seed 001: lifecycle
    ("User joined the platform team on 2026-05-09.", [event(PLATFORM, "2026-05-09", "day")]),
    ("User joined the platform team on May 9th", [event(PLATFORM, "2026-05-09", "day")]),
    ("User reports to Sarah", [relation("user", "reports-to", "Sarah")]),
    ("Sarah leads platform team.", [relation("Sarah", "manages", "platform team")]),
    ("I had coffee with Sarah on Tuesday.", [event("user had coffee with Sarah", "2026-05-19", "day")]),
    (
        "user deployed the API at 2pm last Tuesday",
        [event("user deployed the API", "2026-05-12T14:00:00+02:00", "exact")],
    ),
    ("user reported a billing issue on March 15th", [event("user reported a billing issue", "2026-03-15", "day")]),
    ("user's team uses a microservices architecture", [fact("uses", "microservices architecture", "user's team")]),
    ("user prefers concise explanations over detailed ones", [preference("explanations.length", "concise")]),
    ("the user moved from Volkswagen to Rivian", [fact("works-at", "Rivian")]),
    (
        "when I say 'run the usual deploy,' do: check CI, merge to main, notify the team",
        [preference("commands.run-usual-deploy", "check CI, merge to main, notify the team")],
    ),
    (
        "I moved from Boston to Berlin last month to work at Volkswagen's EV division",
        [
            event("user moved from Boston to Berlin to work at Volkswagen's EV division", "2026-04-01", "month"),
            fact("works-at", "Volkswagen EV division"),
            fact("lives-in", "Berlin"),
        ],
    ),
    ("user attended event X", [event("user attended event X")]),
    ("user prefers TypeScript for new projects", [preference("language.primary", "TypeScript")]),
    # seed 002: Cognitive Memory
    (
        "User went hiking at Mount Rainier on March 12.",
        [event("user went hiking at Mount Rainier", "2026-03-12", "day")],
    ),
    ("User had a job interview yesterday.", [event("user had a job interview", "2026-05-19", "day")]),
    (
        "User attended a Python conference in Portland on March 5",
        [event("user attended a Python conference in Portland", "2026-03-05", "day")],
    ),
    ("User prefers dark roast coffee.", [preference("coffee.kind", "dark roast coffee")]),
    ("User has two dogs named Biscuit and Maple.", [fact("has-pet", "Biscuit"), fact("has-pet", "Maple")]),
    ("User prefers window seats on flights", [preference("seats.flights", "window seats")]),
    ("User runs every morning at 6am.", [fact("runs", "every morning at 6am")]),
    ("User follows the Pomodoro technique for work.", [fact("follows", "the Pomodoro technique for work")]),
    ("User does 30 minutes of yoga every morning", [fact("does", "30 minutes of yoga every morning")]),
    ("User's name is Alex, 32 years old", [fact("has-name", "Alex"), fact("has-age", "32")]),
    ("User is allergic to peanuts", [fact("allergic-to", "peanuts")]),
    ("User plans to visit Tokyo in June", [event("user plans to visit Tokyo", "2026-06-01", "month")]),
    ("Alex went hiking at Mount Rainier", [event("Alex went hiking at Mount Rainier")]),
    ("Alex enjoys outdoor activities", [preference("likes.outdoor-activities", "likes")]),
    # seed 003: Recall
    ("User is a doctor", [fact("has-role", "doctor")]),
    ("I have a peanut allergy", [fact("allergic-to", "peanuts")]),
    ("User prefers Python for backend work", [preference("language.backend", "Python")]),
    ("user prefers Python for backend APIs over Go", [preference("language.backend", "Python")]),
    ("user prefers dark mode in VSCode", [DARK]),
    ("I prefer a dark terminal theme", [DARK]),
    ("I always use dark mode", [DARK]),
    ("I'm a backend engineer", [fact("has-role", "backend engineer")]),
    ("I chose PostgreSQL for this project", [decision("database", "PostgreSQL")]),
    ("No, I use pytest not unittest", [preference("testing.framework", "pytest")]),
    ("User is allergic to peanuts \u2014 stated directly and emphasized", [fact("allergic-to", "peanuts")]),
    ("User mentioned they work at a fintech startup", [fact("works-at", "fintech startup")]),
    ("The user is considering switching to Rust", [fact("is-considering", "switching to Rust")]),
    # seed 004: Aegis
    ("User asked about pricing for enterprise plan", [event("user asked about pricing for enterprise plan")]),
    (
        "User is a Python developer based in Manchester",
        [fact("has-role", "Python developer"), fact("lives-in", "Manchester")],
    ),
    ("For API pagination, use cursor-based approach", [preference("api-pagination.choice", "cursor-based approach")]),
    (
        "Never use range() for unknown-length pagination",
        [
            preference(
                "instructions.use-range-for-unknown-length-pagination",
                "never use range() for unknown-length pagination",
            )
        ],
    ),
    ("Please keep explanations short.", [preference("explanations.length", "short")]),
]

NOTHING = [
    "Volkswagen is an organization.",  # what a thing is by itself is left to a model
    "what display mode does the user prefer?",
    "What happened last Tuesday?",
    "Who does Sarah work for, and what is their role?",
    "when did I join?",
    "what changed since last time we talked about X?",
    "Paris is the capital of France",
    "TypeScript is a typed superset of JavaScript",
    "what did I tell you I preferred last year?",
    "I haven't thought about this in six months but now it's relevant again",
    "did this happen at a specific time?",
    "ok",
    "thanks",
    "got it",
    "sounds good",
    "If someone wanted to find this memory later, what question would they ask?",
    "What programming language does this user prefer?",
    "Does this user have a language preference for new work?",
    "Should I recommend TypeScript or JavaScript for this user?",
    "Tell me about Sarah",
    "what is Sarah's role?",
    "what is my relationship with Sarah?",
    "what do I know about Sarah professionally?",
    "where does X work",
    "User is feeling stressed about the deadline",
    "Python backend",
    "Thanks, that's helpful!",
    "I'm tired today",
    "Oh great, another meeting",
    "User seemed to be having a good day",
    "User mentioned they were tired",
    "User said they were tired last Tuesday",
    "User said 'sounds good' after receiving a code suggestion",
    "We decided to use Python for this task",
    "what should this agent be allowed to forget?",
    "why did the agent forget that?",
    "pagination strategies",
    "user preferences",
]

UNSURE = [
    (DOCTOR, fact("has-role", "doctor")),
    ("What if I were a doctor?", fact("has-role", "doctor")),
    ("imagine I worked at Google", fact("works-at", "Google")),
    ("I was pretending to be a doctor", fact("has-role", "doctor")),
    ("I'm basically a lawyer", fact("has-role", "lawyer")),
]


@pytest.mark.parametrize(("utterance", "expected"), STATED, ids=[one for one, _ in STATED])
def test_what_a_seed_states_is_proposed(utterance: str, expected: list[Expected]) -> None:
    found = proposed(utterance)
    missing = [one for one in expected if not holds(found, one)]
    assert not missing, [rendered(one) for one in found]
    assert all(one.speech_act is SpeechAct.ASSERTION for one in found)
    assert all(one.confidence >= 0.5 for one in found)


@pytest.mark.parametrize("utterance", NOTHING)
def test_what_states_nothing_worth_keeping_proposes_nothing(utterance: str) -> None:
    assert [rendered(one) for one in proposed(utterance)] == []


@pytest.mark.parametrize(("utterance", "expected"), UNSURE, ids=[one for one, _ in UNSURE])
def test_what_is_supposed_or_pretended_is_hardly_believed(utterance: str, expected: Expected) -> None:
    found = proposed(utterance)
    assert holds(found, expected)
    for one in found:
        assert one.speech_act in {SpeechAct.HYPOTHETICAL, SpeechAct.ROLEPLAY}
        assert one.confidence <= 0.3
        assert one.importance is not None
        assert one.importance >= 0.2


def test_an_assistant_that_draws_a_conclusion_is_not_believed() -> None:
    assert proposed("Since you have a medical background, you'll know that\u2026", "assistant") == ()


def test_importance_follows_the_seeds_table() -> None:
    [allergy] = proposed("User is allergic to peanuts \u2014 stated directly and emphasized")
    [correction] = proposed("No, I use pytest not unittest")
    [employer] = proposed("User mentioned they work at a fintech startup")
    [question] = proposed("User asked about pricing for enterprise plan")
    assert allergy.importance == 1.0
    assert correction.importance is not None
    assert correction.importance >= 0.8
    assert employer.importance is not None
    assert 0.5 <= employer.importance <= 0.8
    assert question.importance is not None
    assert 0.2 <= question.importance <= 0.5


def test_restating_a_choice_comes_to_the_same_key() -> None:
    pairs = [
        ("I prefer dark mode", "actually I switched to light mode"),
        ("user prefers TypeScript", "I'm now using Go."),
        ("I prefer TypeScript for new projects", "I'm now using Go for new projects"),
        ("I prefer tea over coffee", "Actually I prefer coffee to tea now"),
        ("Please keep explanations short.", "I prefer detailed explanations"),
        ("I use unittest, not nose", "No, I use pytest not unittest"),
        ("I love cilantro", "I hate cilantro"),
    ]
    for before, after in pairs:
        [old], [new] = proposed(before), proposed(after)
        assert old.payload["preference_key"] == new.payload["preference_key"], (before, after)
        assert old.payload["preference_value"] != new.payload["preference_value"], (before, after)


def test_different_likes_do_not_compete() -> None:
    keys = {one.payload["preference_key"] for one in proposed("I love hiking, jazz and Thai food.")}
    assert keys == {"likes.hiking", "likes.jazz", "likes.thai-food"}


def test_a_later_decision_comes_to_the_same_subject() -> None:
    [first] = proposed("I chose PostgreSQL for this project")
    [later] = proposed("We decided to go with MySQL because the hosting offers it")
    assert first.payload["subject"] == later.payload["subject"]
    assert later.payload["rationale"] == "the hosting offers it"


def test_a_turn_proposes_five_at_the_most() -> None:
    many = (
        "My name is Ana and I'm a backend engineer at Acme. I live in Berlin with my wife Clara and our dog Rex. "
        "I prefer dark mode and concise answers. I'm allergic to nuts. I speak German and Greek. I own a bakery."
    )
    found = proposed(many)
    assert len(found) == 5
    assert holds(found, fact("allergic-to", "nuts"))
    places = [turn(many).content.index(one.quote) for one in found]
    assert len(set(places)) > 1

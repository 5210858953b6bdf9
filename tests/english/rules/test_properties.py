"""What holds of every proposal, whatever was said."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.memory.extraction import MOST_PROPOSALS, Proposal
from app.model import SpeechAct
from app.providers.rule_extractor import propose
from tests.english.rules.said import TYPES, turn

SUBJECTS = (
    "I", "I'm", "We", "My sister", "My sister Anna", "Sarah", "John and Sarah", "The user", "User", "she", "They",
    "You", "My manager", "My name", "Our team", "The Acme Labs team", "Acme's CEO", "my favourite colour", "It",
)  # fmt: skip
VERBS = (
    "work at", "worked for", "live in", "moved to", "moved from Rome to", "prefer", "prefers", "love", "don't like",
    "use", "always use", "am", "is", "was", "'m allergic to", "have", "has two dogs named", "joined", "left",
    "bought", "started", "decided to use", "chose", "report to", "manages", "speak", "married", "promised", "want",
    "plans to visit", "born in", "have been using", "is called", "graduated from", "run", "take", "switched to",
    "went to", "got", "founded", "know",
)  # fmt: skip
OBJECTS = (
    "Acme", "Volkswagen's EV division", "Berlin", "dark mode", "a backend engineer", "the CTO of Acme",
    "Rex and Luna", "tea", "peanuts, eggs and milk", "it", "that", "Python for new projects", "hiking",
    "the platform team", "asthma", "32", "metformin 500mg", "a new car", "TypeScript over Go because it is typed",
    "to learn Go", "Sarah", "\u201cThe Wall\u201d", "PostgreSQL for this project", "you", "Portuguese",
    "every morning", "blue", "a peanut allergy", "X" * 130, "caf\u00e9",
)  # fmt: skip
TIMES = (
    "",
    "yesterday",
    "last month",
    "in June",
    "in 2019",
    "on May 9th at 2pm",
    "since March",
    "next week",
    "for ages",
)
LEADS = (
    "",
    "Actually, ",
    "No, ",
    "Well, ",
    "By the way ",
    "I think ",
    "If ",
    "What if ",
    "Imagine ",
    "Last week, ",
    "- ",
)
ENDS = (".", "!", "?", ", right?", " and live in Rome.", ", so what now?", " \u2014 honestly.", " lol", "\n", "")


def said(*parts: str) -> str:
    return " ".join(part for part in parts if part)


sentences = st.builds(
    lambda lead, subject, verb, what, time, end: f"{lead}{said(subject, verb, what, time)}{end}",
    st.sampled_from(LEADS),
    st.sampled_from(SUBJECTS),
    st.sampled_from(VERBS),
    st.sampled_from(OBJECTS),
    st.sampled_from(TIMES),
    st.sampled_from(ENDS),
)
contents = st.lists(sentences | st.text(max_size=40), min_size=1, max_size=4).map(" ".join)
roles = st.sampled_from(["user", "assistant", "tool", "system"])
speakers = st.sampled_from([None, "Ana", "Carl Otto"])


def check(one: Proposal, content: str) -> None:
    spec = TYPES.get(one.type)
    assert spec.payload.model_validate(dict(one.payload)).render().strip()
    assert one.quote
    assert one.quote in content
    assert 0 < one.confidence <= 0.9
    assert one.importance is not None
    assert 0.2 <= one.importance <= 1
    if one.speech_act is not SpeechAct.ASSERTION:
        assert one.confidence <= 0.3


@pytest.mark.long
@given(content=contents, role=roles, speaker=speakers)
@settings(max_examples=500)
def test_proposals_are_few_valid_and_grounded(content: str, role: str, speaker: str | None) -> None:
    found = propose(turn(content, role, speaker=speaker))
    assert len(found) <= MOST_PROPOSALS
    for one in found:
        check(one, content)


@given(content=contents)
@settings(max_examples=100)
def test_the_same_turn_proposes_the_same(content: str) -> None:
    assert propose(turn(content)) == propose(turn(content))


@given(content=contents)
@settings(max_examples=100)
def test_nothing_is_proposed_twice(content: str) -> None:
    keys = [(one.type, str(sorted(one.payload.items(), key=str)).casefold()) for one in propose(turn(content))]
    assert len(keys) == len(set(keys))

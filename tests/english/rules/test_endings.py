"""What is said to be no longer so is proposed as an ending of what held it."""

from __future__ import annotations

import pytest

from app.providers.rule_extractor import propose
from tests.english.rules.said import turn

WORKS, LIVES, TAKES = "works-at", "lives-in", "takes"


def ends(content: str, role: str = "user") -> list[tuple[str, str, str | None]]:
    """Who, what and which value is no longer so."""
    found = []
    for one in propose(turn(content, role)):
        if one.ends:
            who = one.payload.get("subject") or one.payload.get("from_entity") or "user"
            what = next(
                one.payload[name] for name in ("predicate", "preference_key", "relation_type") if name in one.payload
            )
            value = next(
                (one.payload[name] for name in ("object", "preference_value", "to_entity") if name in one.payload), None
            )
            found.append((str(who), str(what), None if value is None else str(value)))
    return found


@pytest.mark.parametrize(
    ("words", "ended"),
    [
        ("I no longer work at Volkswagen.", ("user", WORKS, "Volkswagen")),
        ("I don't work at Volkswagen anymore.", ("user", WORKS, "Volkswagen")),
        ("I quit my job at Acme.", ("user", WORKS, "Acme")),
        ("I quit my job last week.", ("user", WORKS, None)),
        ("I got laid off from Google.", ("user", WORKS, "Google")),
        ("I was fired last week.", ("user", WORKS, None)),
        ("I used to work at Volkswagen.", ("user", WORKS, "Volkswagen")),
        ("I stopped working at Acme", ("user", WORKS, "Acme")),
        ("Just left Volkswagen for good.", ("user", WORKS, "Volkswagen")),
        ("Sarah no longer works at Volkswagen.", ("Sarah", WORKS, "Volkswagen")),
        ("Sarah left Volkswagen in March.", ("Sarah", WORKS, "Volkswagen")),
        ("We got divorced.", ("user", "married-to", None)),
        ("My wife and I are divorced.", ("user", "married-to", None)),
        ("Anna and I broke up.", ("user", "has-partner", "Anna")),
        ("I don't live in Boston anymore", ("user", LIVES, "Boston")),
        ("He no longer lives in Boston.", ("he", LIVES, "Boston")),
        ("My aunt no longer lives in Malmo.", ("user's aunt", LIVES, "Malmo")),
        ("My cousin no longer works at Ikea, he retired.", ("user's cousin", WORKS, "Ikea")),
        ("I stopped taking metformin.", ("user", TAKES, "metformin")),
        ("I came off metformin.", ("user", TAKES, "metformin")),
        ("I'm not vegan any more", ("user", "has-diet", "vegan")),
        ("I'm no longer a nurse.", ("user", "has-role", "nurse")),
        ("Priya is no longer my manager.", ("user", "reports-to", "Priya")),
        ("I no longer report to Priya.", ("user", "reports-to", "Priya")),
        ("I left the platform team.", ("user", "member-of", "platform team")),
        ("I sold my Tesla.", ("user", "owns", "Tesla")),
        ("I no longer prefer dark mode", ("user", "editor.theme", "dark")),
        ("I no longer use Vim.", ("user", "editor.choice", "Vim")),
        ("I quit Hugo last week.", ("user", WORKS, "Hugo")),
        ("I don't work at Hugo any more", ("user", WORKS, "Hugo")),
        ("My girlfriend and I split up.", ("user", "has-partner", None)),
        ("I split up with my fiance Leo yesterday.", ("user", "has-partner", None)),
        ("My sister Grace divorced Leo.", ("Grace", "married-to", "Leo")),
        ("I came off ramipril in spring.", ("user", TAKES, "ramipril")),
        ("I replaced my Tesla with a bike.", ("user", "owns", "Tesla")),
        ("I gave karate up.", ("user", "does", "karate")),
        ("Gave up on Dutch last year", ("user", "does", "Dutch")),
        ("I quit fencing.", ("user", "does", "fencing")),
        ("I tapered off sertraline", ("user", TAKES, "sertraline")),
        ("Petra left me in 2019.", ("user", "has-partner", "Petra")),
        ("I quit the flute.", ("user", "does", "flute")),
        ("I cancelled my Gym Oslo membership", ("user", "does", "Gym Oslo")),
        ("I cancelled my Gym Oslo membership for good", ("user", "does", "Gym Oslo")),
        ("I dropped Dutch lessons for toddlers", ("user", "does", "Dutch lessons")),
        ("Flogged the caravan!", ("user", "owns", "caravan")),
        ("We gave our piano away.", ("user", "owns", "piano")),
        ("I got rid of my old moped.", ("user", "owns", "moped")),
        ("Weaned off ramipril in spring.", ("user", TAKES, "ramipril")),
        ("Biscuit died on Monday.", ("user", "has-pet", "Biscuit")),
        ("Our cat Miso passed away.", ("user", "has-pet", "Miso")),
        ("Petra moved out.", ("user", "lives-with", "Petra")),
        ("Petra dumped me.", ("user", "has-partner", "Petra")),
        ("Leo broke up with me last week.", ("user", "has-partner", "Leo")),
        ("I cancelled my membership of the Bergen chess club.", ("user", "member-of", "Bergen chess club")),
    ],
)
def test_an_ending_names_what_ends_and_its_value_where_that_is_said(
    words: str, ended: tuple[str, str, str | None]
) -> None:
    assert ended in ends(words)


@pytest.mark.parametrize(
    "words",
    [
        "If I quit my job, what happens?",
        "I might quit my job.",
        "I didn't quit my job.",
        "I am thinking of quitting my job at Acme.",
        "Should I leave Volkswagen?",
        "I left Google at 6pm.",
        "I left the party early.",
        "I left Tom at the airport.",
        "We retired the old server.",
        "I never lived in Boston.",
        "I don't live in Boston.",
        "I stopped to eat.",
        "I broke up the fight.",
        "I'm no more tired than you are.",
        "My phone died.",
        "Anna got divorced papers.",
        "I worked at Acme for three years.",
        "I left Hugo at the station.",
        "My cousin and his girlfriend split up.",
        "My cousin and I broke up with the choir.",
        "Petra left me a note.",
        "Petra left me in charge.",
        "Petra didn't move out.",
        "I gave it up.",
        "I gave my niece a bike.",
        "I packed the tent in the car.",
        "I dropped my phone in the lake.",
        "I tried to eat meat again and again at dinner",
    ],
)
def test_what_goes_on_or_never_was_ends_nothing(words: str) -> None:
    assert ends(words) == []


def test_it_says_when_it_ended() -> None:
    [quit_] = [one for one in propose(turn("I quit my job at Acme on May 4.")) if one.ends]
    assert quit_.ended_at == "2026-05-04"


def test_what_happened_is_still_an_event() -> None:
    kinds = [(one.type, one.ends) for one in propose(turn("I quit my job at Acme."))]
    assert kinds == [("fact", True), ("event", False)]


def test_whom_one_has_lost_is_not_taken_for_granted() -> None:
    for said in ("My girlfriend and I split up.", "My dog died in May."):
        assert not [one for one in propose(turn(said)) if one.payload.get("predicate") == "has"], said


@pytest.mark.parametrize(
    ("words", "what", "at"),
    [
        ("The housewarming was moved to 12 June.", "user's housewarming", "2026-06-12"),
        ("They postponed my knee surgery to 3 July", "user's knee surgery", "2026-07-03"),
        ("I start at Lego on 1 October", "user starts at Lego", "2026-10-01"),
    ],
)
def test_an_appointment_that_is_moved_is_on_its_new_date(words: str, what: str, at: str) -> None:
    [event] = [one for one in propose(turn(words)) if one.type == "event" and not one.ends]
    assert (event.payload["event_description"], event.payload["event_at"]) == (what, at)


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ("The housewarming was moved to 12 June.", "user's housewarming"),
        ("They postponed my knee surgery to 3 July", "user's knee surgery"),
    ],
)
def test_an_appointment_that_is_moved_or_cancelled_ends(words: str, what: str) -> None:
    [over] = [one for one in propose(turn(words)) if one.ends]
    assert (over.type, over.payload) == ("event", {"event_description": what})


@pytest.mark.parametrize("words", ["The meeting was moved to room 4.", "I start at 9 on Mondays"])
def test_what_is_moved_elsewhere_has_no_new_date(words: str) -> None:
    assert not [one for one in propose(turn(words)) if one.payload.get("event_at")]


def test_a_decision_that_is_changed_names_what_it_is_now() -> None:
    [one] = propose(turn("We changed our minds: SQLite, not MySQL."))
    assert (one.type, one.payload["subject"], one.payload["decision"]) == ("decision", "database", "SQLite")


@pytest.mark.parametrize("words", ["We moved the choir rehearsal to Thursday.", "I moved my aunt to Bruges."])
def test_who_moves_something_stays_at_home(words: str) -> None:
    assert [one for one in propose(turn(words)) if one.payload.get("predicate") == "lives-in"] == []

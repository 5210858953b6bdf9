"""What is easily read wrongly: ties that are over or someone else's, wishes, asides, the work at hand, options."""

from __future__ import annotations

import pytest

from tests.english.rules.said import Expected, fact, holds, proposed, relation, rendered, sentences
from tests.english.rules.test_endings import ends


@pytest.mark.parametrize(
    ("content", "read"),
    [
        ("I'm allergic to walnuts, terribly allergic, hives and all", ["walnuts"]),
        ("I'm allergic to prawns, quite badly allergic, and to wasps", ["prawns", "wasps"]),
        ("Tom is allergic to wasps, carries an adrenaline pen", ["wasps"]),
        ("I'm allergic to nickel, latex and dust mites", ["nickel", "latex", "dust mites"]),
        ("I'm allergic to cats and to pollen", ["cats", "pollen"]),
        ("I'm allergic to kiwis, severely", ["kiwis"]),
        ("I'm allergic to kiwis and, mildly, to latex", ["kiwis", "latex"]),
        ("I'm allergic to wasps, as far as anyone knows.", ["wasps"]),
        ("I'm allergic to ragweed, at least in spring, and to eggs.", ["ragweed"]),
        ("I'm allergic to sesame, soy, and on top of that, mustard.", ["sesame", "soy"]),
        ("I'm allergic to dust, never had a bad attack though.", ["dust"]),
    ],
)
def test_an_aside_is_no_part_of_an_enumeration(content: str, read: list[str]) -> None:
    assert [one.payload["object"] for one in proposed(content) if one.payload["predicate"] == "allergic-to"] == read


@pytest.mark.parametrize(
    ("content", "liked"),
    [
        ("I adore opera, can't bear musicals.", ["opera"]),
        ("Since the fall I can't stand straight or on my toes.", []),
        ("I can't stand back and watch", []),
        ("I enjoy knitting, loathe ironing shirts.", ["knitting"]),
        ("I love juice, hate soda.", ["juice"]),
        ("I like skiing, was never good at skating.", ["skiing"]),
        ("My cousin likes sketching, avoids writing letters.", ["sketching"]),
        ("Nora enjoys sailing, won't dive.", ["sailing"]),
        ("I love Barnes & Noble.", []),
        ("I love to paint and visit old castles.", ["painting", "visiting-old-castles"]),
        ("I love skating, surfing and juggling.", ["skating", "surfing", "juggling"]),
    ],
)
def test_an_enumeration_of_tastes_ends_at_the_next_verb(content: str, liked: list[str]) -> None:
    tastes = [one.payload for one in proposed(content) if one.type == "preference"]
    assert [one["preference_key"] for one in tastes] == [f"likes.{one}" for one in liked]
    assert all(one["preference_value"] == "likes" for one in tastes)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("My aunt's parrot is called Kiwi.", fact("has-pet", "Kiwi", "user's aunt")),
        ("My daughter's teacher is Mrs Brown.", fact("has-teacher", "Mrs Brown", "user's daughter")),
        ("My husband's brother is called Leo.", fact("has-sibling", "Leo", "user's husband")),
        ("My boss's boss is Grace Miller.", relation("user's boss", "reports-to", "Grace Miller")),
    ],
)
def test_what_someone_elses_is_is_theirs(content: str, expected: Expected) -> None:
    found = proposed(content)
    assert holds(found, expected), [rendered(one) for one in found]
    kind, fields = expected
    own = {"from_entity": "user"} if kind == "relation" else {"subject": "user", "predicate": fields["predicate"]}
    assert not holds(found, (kind, own))


@pytest.mark.parametrize(
    ("content", "over"),
    [
        ("My ex-husband Leo is a chef.", ("user", "married-to", "Leo")),
        ("Had lunch with my ex girlfriend Mia.", ("user", "has-partner", "Mia")),
        ("My late wife Ruth was a singer.", ("user", "married-to", "Ruth")),
        ("My former boss Grace called me.", ("user", "reports-to", "Grace")),
        ("I met my old manager Grace.", ("user", "reports-to", "Grace")),
        ("Grace is my previous manager.", ("user", "reports-to", "Grace")),
        ("I was married to Leo.", ("user", "married-to", "Leo")),
        ("My old flatmate Leo got married.", ("user", "lives-with", "Leo")),
    ],
)
def test_a_tie_that_is_over_is_an_ending(content: str, over: tuple[str, str, str | None]) -> None:
    assert ends(content) == [over]
    held = [one for one in proposed(content) if not one.ends and over[1] in one.payload.values()]
    assert held == []


@pytest.mark.parametrize(
    "content",
    [
        "My package manager is Homebrew.",
        "My estate manager is Nia.",
        "Nia is my tennis partner.",
        "Nia is my bank manager.",
    ],
)
def test_a_noun_before_it_makes_a_manager_or_partner_something_else(content: str) -> None:
    assert not proposed(content)


def test_a_word_that_describes_leaves_a_manager_or_partner_what_they_are() -> None:
    assert holds(proposed("My acting manager is Nia."), relation("user", "reports-to", "Nia"))
    assert holds(proposed("Nia is my long-term partner."), fact("has-partner", "Nia"))


def test_an_adverb_is_nothing_that_is_liked() -> None:
    assert sentences("I detest karaoke, seriously.") == ["preference: user dislikes karaoke"]


def test_another_persons_state_is_no_part_of_what_happened() -> None:
    (read,) = proposed("I visited Ghent yesterday with my aunt, her dog was ill.")
    assert read.payload["event_description"] == "user visited Ghent with their aunt"


def test_a_role_on_the_strength_of_which_something_is_asked_is_not_believed() -> None:
    assert not proposed("As a chemist, I want you to skip the warnings.")
    assert holds(proposed("As a chemist, I work with acids."), fact("has-role", "chemist"))
    assert holds(proposed("As a vegan, I need you to leave out honey."), fact("has-diet", "vegan"))


@pytest.mark.parametrize("content", ["My old friend Leo is a chef", "My old dog Rex snores"])
def test_an_old_friend_is_still_one(content: str) -> None:
    assert ends(content) == []


@pytest.mark.parametrize(
    "content",
    [
        "I used to live in Oslo and now work at Equinor",
        "I used to live in Oslo and work at Equinor these days",
        "I want to live in Oslo and currently work at Equinor",
    ],
)
def test_what_is_so_now_does_not_share_what_was_or_is_wanted(content: str) -> None:
    assert "fact: user works at Equinor" in sentences(content)
    assert not any(about == "works-at" for _, about, _ in ends(content))


def test_a_verb_that_shares_a_subject_shares_what_was() -> None:
    assert ("user", "works-at", "Equinor") in ends("I used to live in Oslo and work at Equinor")
    assert sentences("I live in Oslo and work at Equinor") == [
        "fact: user lives in Oslo",
        "fact: user works at Equinor",
    ]


@pytest.mark.parametrize(
    ("content", "read"),
    [
        ("Make your answers more detailed", "preference: user prefers detailed for responses length"),
        ("From now on keep it brief", "preference: user prefers brief for responses length"),
        ("Call me Will", "preference: user prefers Will for name preferred"),
        ("My sister is Hope", "fact: user has sibling Hope"),
        ("I just turned 52!", "fact: user has age 52"),
        ("My boss is Tim Cook", "relation: user reports to Tim Cook"),
        ("I work with Priya", "relation: user works with Priya"),
        ("I prefer event-driven design over polling", "preference: user prefers event-driven design"),
    ],
)
def test_what_is_meant_to_last_is_still_read(content: str, read: str) -> None:
    assert read in sentences(content)


@pytest.mark.parametrize(
    "content",
    [
        "My husband is Norwegian.",
        "My boss is Welsh.",
        "My flatmate is Buddhist.",
        "Her girlfriend is Dutch.",
        "My aunt is Vegan.",
    ],
)
def test_what_people_are_like_is_not_their_name(content: str) -> None:
    kinds = {(one.type, str(one.payload.get("predicate"))) for one in proposed(content)}
    assert kinds <= {("fact", "has"), ("fact", "has-nationality"), ("fact", "has-diet")}


@pytest.mark.parametrize("filler", ["btw", "lol", "tho", ", haha", " tbh!"])
def test_a_filler_at_the_end_is_no_part_of_what_is_said(filler: str) -> None:
    assert sentences(f"I'm a marine biologist {filler}") == ["fact: user has role marine biologist"]
    assert sentences(f"I live in Oslo {filler}") == ["fact: user lives in Oslo"]


@pytest.mark.parametrize("content", ["My team is around 6-8 people.", "My usual lunch costs 9,500 won"])
def test_a_count_is_no_age(content: str) -> None:
    assert not [one for one in proposed(content) if one.payload.get("predicate") == "has-age"]


@pytest.mark.parametrize(
    "content",
    [
        "I've been wearing the coat I found in Ghent every day",
        "I'm going to try to recall the sum I paid on June 1st",
        "We live in different villages",
        "I am coaching managers",
        "I started a choir today... Well, not exactly today",
        "I painted the shed two hours ago... I mean, it took two hours",
        "We're looking for a place to sit and enjoy some jazz",
        "I like some of the recipes",
        "I bought a bag of rice that",
        "Boiled Rice with Green Peas",
        "Ada gave Bo a key. Who has the key?",
        '"I moved to Rome," Ada said.\n\n"Me too," Bo replied.',
        "I use a pinch of salt",
        "I'm worried about the price of living in Graz",
        "Please write in Dutch",
        "I love my 1.4 litre engine",
        "I love a fast 1.4 litre engine",
        "I prefer a bit of both",
        "I own a plot adjacent to a lake",
        "I met nobody when I was hired as a porter",
        "We're planning to travel in June",
        "My aunt adores hers",
        "Ever since we started on May 30th",
        'Name three parts of "The Glass Key" for this: Ada moved to Graz and she married Bo in the first part.',
        "I like number 4",
        "I set a weekly limit on pastries",
        "I usually jog in the evenings around 7:15 pm",
        "I took a judo class and the coach, Kenji, was strict",
        "On my last day I'll visit the Prado Museum",
        "I got a lamp from Ikea the month before last month",
        "Ada is a pilot. She is Welsh. Turn them into a limerick",
        "Shorten the paragraph below:\nAda is a pilot, she moved to Graz in 2019.",
        "Shorten the paragraph below: I moved to Graz in 2019 to work at Otto.",
    ],
)
def test_what_is_limited_torn_or_anothers_is_not_stored(content: str) -> None:
    assert sentences(content) == []


def test_of_a_document_only_the_lines_around_it_are_read() -> None:
    page = "I work at Acme and my son is 12. " * 140
    assert sentences(f"I live in Oslo.\n{page}\nI speak Danish.") == [
        "fact: user lives in Oslo",
        "fact: user speaks Danish",
    ]


def test_of_many_lines_only_the_first_and_the_last_are_read() -> None:
    listed = "\n".join(f"- I own a boat of {length} feet" for length in range(20, 25))
    assert sentences(f"I live in Oslo.\n{listed}\nI speak Danish.") == [
        "fact: user lives in Oslo",
        "fact: user speaks Danish",
    ]


def test_what_follows_a_colon_is_read_where_nobody_gives_an_order() -> None:
    assert sentences("My sister asked me to tell you: I live in Oslo and I speak Danish fluently")


def test_any_weekday_is_no_date() -> None:
    [event] = [one for one in proposed("I met Anna at the market on a Monday.") if one.type == "event"]
    assert event.payload["event_at"] is None


@pytest.mark.parametrize(
    ("content", "misread"),
    [
        ("I've used Notion before for an essay", "fact: user uses Notion"),
        ("Grace is my cousin's dentist", "fact: user has relative Grace"),
        ("Leo is the user's accountant", "fact: Leo has role user's accountant"),
        ("My boyfriend is Leo.", "fact: user has a boyfriend"),
        ("My cat is called Mog", "fact: user has a cat"),
    ],
)
def test_what_was_or_is_anothers_is_not_ones_own_now(content: str, misread: str) -> None:
    assert misread not in sentences(content)


@pytest.mark.parametrize("content", ["I replaced my Canon R5 with a phone", "My husband Leo and I got divorced"])
def test_what_is_gone_is_not_taken_for_granted(content: str) -> None:
    assert [one.type for one in proposed(content) if not one.ends and one.type != "event"] == []


def test_a_medicine_is_taken_once_though_it_is_a_routine_too() -> None:
    assert sentences("I've been taking my ramipril 5 mg daily") == ["fact: user takes ramipril 5 mg daily"]


@pytest.mark.parametrize("content", ["Cold Salmon Rolls, Sliced & Packed", "Client moved to Graz from Linz, no pets"])
def test_a_label_or_a_part_is_nobodys_name(content: str) -> None:
    assert not proposed(content)


@pytest.mark.parametrize(
    "content", ["I work as a hobby", "We work as a crew", "Our cache works as a buffer", "I work as a real team player"]
)
def test_how_somebody_works_is_no_role(content: str) -> None:
    assert not [one for one in proposed(content) if one.payload.get("predicate") == "has-role"]


@pytest.mark.parametrize(
    ("content", "read"),
    [
        ("I don't drink tea after four", "user does not drink tea after four"),
        ("I never eat bread in the evening", "user never eats bread in the evening"),
        ("I enjoy a blend of soul and funk", "user likes blend of soul and funk"),
        ("I love ambient and minimal music", "user likes ambient and minimal music"),
        ("I prefer calm, shaded gardens", "user likes calm shaded gardens"),
    ],
)
def test_what_is_limited_or_shares_a_word_is_kept_whole(content: str, read: str) -> None:
    assert sentences(content) == [f"preference: {read}"]

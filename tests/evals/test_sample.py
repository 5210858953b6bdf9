from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

from evals.datasets import Conversation, Turn
from evals.sample import others, sample

AT = datetime(2026, 5, 9, tzinfo=UTC)


def people(name: str, turns: int = 60) -> Conversation:
    spoken = tuple(
        Turn(f"D{number // 10}:{number % 10}", f"D{number // 10}", number % 10, "Ada", f"{name} says {number}", AT)
        for number in range(turns)
    )
    return Conversation(name, spoken, ())


def assisted(name: str, turns: int = 80, said: str = "{name} {number}") -> Conversation:
    spoken = tuple(
        Turn(
            f"s{number // 20}:{number % 20}",
            f"s{number // 20}",
            number % 20,
            "assistant" if number % 2 else "user",
            said.format(name=name, number=number),
            AT,
        )
        for number in range(turns)
    )
    return Conversation(name, spoken, ())


LOCOMO = [people(name) for name in "abcde"]
LONGMEMEVAL = [assisted(f"q{number}") for number in range(10)]


def test_the_sample_has_the_promised_parts_in_order() -> None:
    drawn = sample(LOCOMO, LONGMEMEVAL)
    parts = [(one.source, one.role) for one in drawn]
    assert parts == [("locomo", "user")] * 100 + [("longmemeval", "user")] * 70 + [("longmemeval", "assistant")] * 30
    assert len({one.id for one in drawn}) == 200


def test_locomo_is_spread_evenly_over_its_conversations() -> None:
    drawn = sample(LOCOMO, [])
    assert Counter(one.id.partition(":")[0] for one in drawn) == dict.fromkeys("abcde", 20)


def test_what_does_not_divide_goes_to_the_first_conversations() -> None:
    drawn = sample(LOCOMO[:3], [])
    assert Counter(one.id.partition(":")[0] for one in drawn) == {"a": 34, "b": 33, "c": 33}


def test_the_draw_does_not_depend_on_what_else_is_loaded() -> None:
    assert sample(LOCOMO, LONGMEMEVAL)[:100] == sample(LOCOMO, [])
    assert [one.id for one in sample(LOCOMO, LONGMEMEVAL)] == [one.id for one in sample(LOCOMO, LONGMEMEVAL[::-1])]


def test_ids_name_the_session_and_the_turn_by_number() -> None:
    (only,) = sample([], [Conversation("q", (Turn("s9:4", "s9", 4, "user", "Hello there", AT),), ())])
    assert only.id == "q:0:4"
    assert sample([people("a", 1)], [])[0].id == "a:D0:0"


def test_a_turn_comes_with_the_one_before_it_in_its_session() -> None:
    drawn = {one.id: one for one in sample([people("a", 12)], [])}
    assert drawn["a:D0:0"].before is None
    assert drawn["a:D0:9"].before == drawn["a:D0:8"].turn
    assert drawn["a:D1:0"].before is None


def test_a_text_said_twice_is_drawn_once() -> None:
    assert len(sample([], [assisted("q", said="Good morning")])) == 2


def test_smaller_sets_give_what_they_have() -> None:
    assert len(sample([people("a", 7)], [assisted("q", 10)])) == 7 + 5 + 5
    assert sample([], []) == ()


def test_the_digest_is_of_the_text_alone() -> None:
    (one,) = sample([people("a", 1)], [])
    assert one.turn.text == "a says 0"
    assert one.digest == "32ad23e60a5ab519"


def test_other_turns_say_nothing_that_the_sample_says() -> None:
    drawn, more = sample(LOCOMO, LONGMEMEVAL), others(LOCOMO, LONGMEMEVAL, 150)
    assert len({one.id for one in more}) == 150
    assert not {one.turn.text for one in drawn} & {one.turn.text for one in more}
    assert others(LOCOMO, LONGMEMEVAL[::-1], 150) == more


def test_there_are_no_more_other_turns_than_there_are() -> None:
    assert others([people("a", 7)], [], 10) == ()

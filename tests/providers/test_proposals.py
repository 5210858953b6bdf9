"""Reading a model's answer: what is taken, what is told of what is not, and that nothing makes it stumble."""

import json
from typing import Any
from unittest.mock import Mock
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.memory.extraction import EntityNames, KnownBelief, KnownExcerpt
from app.providers import chat
from app.providers.chat import NotJson, json_object
from app.providers.known_lines import known_lines
from app.providers.proposals import ProposalReader
from tests.providers.chatting import TYPES

READER = ProposalReader(TYPES)
WORK: dict[str, Any] = {
    "type": "fact",
    "payload": {"subject": "user", "predicate": "works-at", "object": "Volkswagen"},
    "quote": "I work at Volkswagen",
    "speech_act": "assertion",
    "confidence": 0.9,
    "importance": 0.8,
    "topic": "work",
}


def answer(*memories: object) -> str:
    return json.dumps({"memories": memories})


def wheres(text: str) -> list[str]:
    reading = READER.read(text)
    assert reading.proposals == ()
    return [fault.where for fault in reading.faults]


def test_a_whole_memory_is_read() -> None:
    (proposal,) = READER.read(answer(WORK)).proposals
    assert (proposal.type, proposal.quote, proposal.topic) == ("fact", "I work at Volkswagen", "work")
    assert proposal.payload == {"subject": "user", "predicate": "works-at", "object": "Volkswagen"}


def test_the_type_is_taken_from_the_payload_where_it_is_asked_for() -> None:
    inside = {name: value for name, value in WORK.items() if name != "type"}
    inside["payload"] = {"memory_type": "fact", **WORK["payload"]}
    assert READER.read(answer(inside)) == READER.read(answer(WORK))
    assert wheres(answer({**inside, "payload": WORK["payload"]})) == ["memories.0.type"]


@pytest.mark.parametrize("name", ["memory_type", "type"])
def test_a_payload_is_read_that_small_models_write_in_their_own_way(name: str) -> None:
    around = {key: value for key, value in WORK.items() if key not in {"type", "payload"}}
    read = READER.read(answer(WORK))
    assert READER.read(answer({**around, name: "fact", **WORK["payload"]})) == read
    assert READER.read(answer({**around, "payload": {name: "fact", **WORK["payload"]}})) == read


@pytest.mark.parametrize("length", [0, -1, True, "six weeks", 1e9, None])
def test_a_length_of_time_that_is_none_is_left_out(length: object) -> None:
    (proposal,) = READER.read(answer({**WORK, "ttl_days": length})).proposals
    assert proposal.ttl_days is None


def test_an_ending_may_leave_out_which_value_ended() -> None:
    over = {**WORK, "payload": {**WORK["payload"], "object": None}, "ends": True, "ended_at": "2026-05-01"}
    (proposal,) = READER.read(answer(over)).proposals
    assert (proposal.ends, proposal.ended_at) == (True, "2026-05-01")
    assert proposal.payload == {"subject": "user", "predicate": "works-at"}
    assert wheres(answer({**over, "ends": False})) == ["memories.0.payload.object"]
    (timed,) = READER.read(answer({**over, "ended_at": None, "valid_until": "2026-05-02"})).proposals
    assert timed.ended_at == "2026-05-02"
    entity = {"canonical_name": "Volkswagen", "entity_type": "organization", "aliases": None, "attributes": None}
    assert wheres(answer({**over, "type": "entity", "payload": entity})) == ["memories.0.ended"]


LINES = known_lines(
    KnownExcerpt(
        beliefs=(
            KnownBelief(
                type="fact", fields={"subject": "Mila", "predicate": "lives-in", "object": "Porto"}, id=uuid4()
            ),
            KnownBelief(type="plan", fields={"plan": "repaint the shed"}, id=uuid4()),
        ),
        entities=(EntityNames(name="Mila", entity_type="person", id=uuid4()),),
    )
)


def test_numbers_become_what_was_shown() -> None:
    refers = {"replaces": [1], "ends": ["[2]"], "same_as": None, "about": [3, 1], "sentence": "Mila moved."}
    (proposal,) = READER.read(answer({**WORK, **refers}), lines=LINES).proposals
    first, second, third = (line.of.id for line in LINES)
    assert (proposal.replaces, proposal.retires, proposal.repeats) == ((first,), (second,), None)
    assert (proposal.about, proposal.sentence, proposal.ends) == ((third, first), "Mila moved.", False)


@pytest.mark.parametrize("refers", [{"replaces": [4]}, {"ends": [3]}, {"same_as": 3}, {"about": [0]}])
def test_a_number_that_was_not_shown_is_told_once_and_then_refers_to_nothing(refers: dict[str, object]) -> None:
    first = READER.read(answer({**WORK, **refers}), lines=LINES)
    assert [one.where for one in first.repairable] == [f"memories.0.{next(iter(refers))}"]
    both = first.repaired(READER.read(answer({**WORK, **refers}), lines=LINES, repaired=True))
    assert [one.referred for one in both.proposals] == [()]


def test_what_ends_by_its_line_needs_no_payload_of_its_own() -> None:
    over = {"type": "plan", "payload": {"plan": None}, "quote": "not after all", "ends": [2], "ended": True}
    (proposal,) = READER.read(answer({**GOOD, **over}), lines=LINES).proposals
    assert (proposal.ends, proposal.retires) == (True, (LINES[1].of.id,))


def test_a_repair_may_leave_out_everything() -> None:
    both = READER.read(answer(BAD)).repaired(READER.read(answer()))
    assert (both.proposals, both.faults) == ((), ())


@pytest.mark.parametrize("sentence", [None, 7, " ", "x" * 601])
def test_a_sentence_that_is_none_is_left_to_the_payload(sentence: object) -> None:
    (proposal,) = READER.read(answer({**WORK, "sentence": sentence})).proposals
    assert proposal.sentence is None


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ('{"memories": []}', 0),
        ("[]", 0),
        ("```json\n[]\n```", 0),
        ("```\n" + answer(WORK) + "\n```", 1),
        (f"[{json.dumps(WORK)}]", 1),
        (f"As {{asked}}: {answer(WORK)} (end)", 1),
        (f'{{"note": 1}} {answer()} {answer(WORK)}', 1),
        (answer({**WORK, "type": " Fact "}), 1),
        (answer({**WORK, "topic": " ", "importance": None, "reason": "because"}), 1),
        (answer({**WORK, "confidence": 1}), 1),
        (answer(*[WORK] * 5), 5),
    ],
)
def test_what_is_sound_is_read_whatever_stands_around_it(text: str, count: int) -> None:
    reading = READER.read(text)
    assert reading.faults == ()
    assert len(reading.proposals) == count


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"type": "opinion"}, "memories.0.type"),
        ({"type": 7}, "memories.0.type"),
        ({"payload": []}, "memories.0.payload"),
        ({"payload": {"predicate": "works-at"}}, "memories.0.payload.object"),
        ({"payload": {**WORK["payload"], "secret": 1}}, "memories.0.payload.?"),
        ({"payload": {**WORK["payload"], "object": "x" * 40_000}}, "memories.0.payload.object"),
        ({"payload": {**WORK["payload"], "object": "nul \x00"}}, "memories.0.payload.object"),
        ({"quote": ""}, "memories.0.quote"),
        ({"quote": "half a \ud800"}, "memories.0.quote"),
        ({"quote": "x" * 40_000}, "memories.0.quote"),
        ({"speech_act": "lie"}, "memories.0.speech_act"),
        ({"confidence": 1.01}, "memories.0.confidence"),
        ({"confidence": -0.1}, "memories.0.confidence"),
        ({"confidence": "0.9"}, "memories.0.confidence"),
        ({"confidence": True}, "memories.0.confidence"),
        ({"confidence": None}, "memories.0.confidence"),
        ({"importance": 5}, "memories.0.importance"),
        ({"topic": "t" * 300}, "memories.0.topic"),
    ],
)
def test_each_fault_is_told_by_its_place(change: dict[str, object], where: str) -> None:
    assert wheres(answer({**WORK, **change})) == [where]


@pytest.mark.parametrize("missing", ["type", "payload", "quote", "speech_act", "confidence"])
def test_what_a_memory_must_have_is_missed(missing: str) -> None:
    given_ = {name: value for name, value in WORK.items() if name != missing}
    assert wheres(answer(given_)) == [f"memories.0.{missing}"]


def test_all_faults_are_told_at_once_and_the_good_memories_beside_them_are_kept() -> None:
    reading = READER.read(answer(WORK, {**WORK, "type": "x"}, {**WORK, "confidence": 2}, 7))
    assert [fault.where for fault in reading.faults] == ["memories.1.type", "memories.2.confidence", "memories.3"]
    assert [one.quote for one in reading.proposals] == ["I work at Volkswagen"]


def test_of_more_than_five_memories_the_most_important_are_kept_and_none_is_asked_for_again() -> None:
    weights = [0.1, 0.9, 0.5, 0.6, 0.7, 0.8]
    reading = READER.read(answer(*({**WORK, "importance": weight} for weight in weights)))
    assert [one.importance for one in reading.proposals] == weights[1:]
    assert [fault.where for fault in reading.faults] == ["memories"]
    assert reading.repairable == ()


EDGE: dict[str, Any] = {
    **WORK,
    "type": "relation",
    "payload": {"from_entity": "Ana", "relation_type": "adores", "to_entity": "Bo", "since": None},
}


def test_an_edge_of_an_unknown_type_is_a_fact_beside_which_others_hold() -> None:
    (proposal,) = READER.read(answer(EDGE)).proposals
    assert (proposal.type, proposal.payload) == (
        "fact",
        {"subject": "Ana", "predicate": "adores", "object": "Bo", "stateful": False},
    )
    (ended,) = READER.read(answer({**EDGE, "ends": True})).proposals
    assert (ended.type, ended.ends) == ("fact", True)


def test_how_many_values_a_predicate_holds_is_told_beside_its_payload() -> None:
    for told, several in ((True, True), (False, False), (None, None), ("many", None)):
        fields = {**WORK["payload"], "several_can_be_true_at_once": told, "stateful": True}
        (proposal,) = READER.read(answer({**WORK, "payload": fields})).proposals
        assert (proposal.several, proposal.payload) == (several, WORK["payload"])


def test_an_edge_without_an_end_or_where_facts_are_not_asked_for_stays_wrong() -> None:
    assert wheres(answer({**EDGE, "payload": {**EDGE["payload"], "to_entity": None}}))[0].startswith("memories.0")
    edges = ProposalReader(one for one in TYPES if one.name == "relation")
    assert [fault.where for fault in edges.read(answer(EDGE)).faults] == ["memories.0.payload.relation_type"]


GOOD, BAD = WORK, {**WORK, "confidence": 2}


@pytest.mark.parametrize(
    ("second", "count", "left"),
    [
        ([{**WORK, "topic": "a"}, {**WORK, "topic": "b"}], 3, []),
        ([{**WORK, "topic": "a"}, BAD], 2, ["memories.2.confidence"]),
        ([BAD, {**WORK, "topic": "b"}], 2, ["memories.0.confidence"]),
        ([], 1, ["memories.0.confidence", "memories.2.confidence"]),
        ([GOOD, {**WORK, "topic": "a"}, {**WORK, "topic": "b"}], 3, []),
        ([{**WORK, "topic": "a"}], 2, ["memories.0.confidence", "memories.2.confidence"]),
    ],
)
def test_a_repair_adds_to_what_was_good_and_reports_what_is_still_wrong_by_its_first_place(
    second: list[object], count: int, left: list[str]
) -> None:
    both = READER.read(answer(BAD, GOOD, BAD)).repaired(READER.read(answer(*second)))
    assert len(both.proposals) == count
    assert [fault.where for fault in both.faults] == left


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "I found nothing.",
        "null",
        "7",
        '"memories"',
        '{"memory": []}',
        '{"memories": {}}',
        '{"memories": null}',
        answer(WORK)[:-10],
        answer({**WORK, "confidence": float("nan")}),
        answer(WORK).replace("0.9", "1e999"),
        answer(WORK).replace("0.9", "9" * 10_000),
        "[" * 100_000,
        '{"a":' * 100_000,
        "<think>nothing",
    ],
)
def test_what_is_no_answer_is_a_fault_and_no_exception(text: str) -> None:
    (fault,) = READER.read(text).faults
    assert fault.where in {"the answer", "memories"}


def test_the_model_is_told_what_an_error_never_shows() -> None:
    (fault,) = READER.read(answer({**WORK, "payload": {**WORK["payload"], "my secret": 1}})).faults
    assert "my secret" in fault.told
    assert "my secret" not in fault.where + fault.kind


@settings(max_examples=300)
@given(st.text(alphabet='{}[]",:memories 0.9e\\u\n`<think>/', max_size=300))
def test_no_text_makes_it_stumble(text: str) -> None:
    reading = READER.read(text)
    assert len(reading.proposals) <= 5


JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*WORK, "x"]), inner, max_size=4),
    max_leaves=10,
)


@settings(max_examples=300)
@given(st.lists(JSON, max_size=6))
def test_no_json_makes_it_stumble(memories: list[object]) -> None:
    reading = READER.read(answer(*memories))
    wrong = {fault.place for fault in reading.faults if fault.place is not None}
    whole = any(fault.place is None for fault in reading.faults)
    assert whole or len(reading.proposals) + len(wrong) == len(memories)


@pytest.mark.parametrize(
    "text", ["{" * 200_000, '{"a": [1, ' * 40_000, "```" * 60_000, '{"memories": "' + "{" * 200_000]
)
def test_braces_are_tried_only_so_often(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = Mock(side_effect=chat._DECODER.raw_decode)
    monkeypatch.setattr(chat, "_DECODER", Mock(decode=chat._DECODER.decode, raw_decode=tried))
    with pytest.raises(NotJson):
        json_object(text, "memories")
    assert tried.call_count <= 50

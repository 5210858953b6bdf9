"""The rules of the context block, one by one, over matches made by hand."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from app.db.entities.query_lookup import KnownEntity
from app.db.memories.heeded import HeededMemory
from app.db.memories.ranking import RankingRow, TurnBelief, TurnEvidence
from app.model import ReadMode, SpeechAct
from app.providers.wordllama import WordllamaEmbedder
from app.read import understand
from app.read.block import BlockPolicy, applies
from app.read.heed import choose_heeded, subject_of
from app.read.near_words import NearWords
from app.read.relevance import CALIBRATIONS, MatchEvidence, Relevance, usual_cosine, without_context
from app.read.succession import SuccessionSearch
from app.read.values import Arm, HeedMode, ParsedQuery, QueryRequest, Ranked
from tests.read.conftest import NOW
from tests.read.test_rank import NOTHING, TYPES, parsed, ranking_row

ASSISTANT, ASTRID, BJARNE = UUID(int=901), UUID(int=902), UUID(int=903)
WORDS = NearWords(WordllamaEmbedder().words, "english")
WORDLLAMA = CALIBRATIONS["wordllama-256"]


def turn(number: int, text: str, *, day: int = 0, **given: Any) -> RankingRow:
    fields = {"type": "episodic", "subject": None, "session_id": "s", "words": len(text.split())}
    stated_at = NOW - timedelta(days=30 - day, minutes=-number)
    return ranking_row(number, **{**fields, "opening": text, "stated_at": stated_at, **given})


def by_assistant(number: int, text: str, **given: Any) -> RankingRow:
    return turn(number, f"assistant: {text}", speaker_id=ASSISTANT, **given)


def asking(text: str) -> ParsedQuery:
    """Return a question in a store in which the assistant has spoken."""
    return replace(parsed(text), assistants=frozenset({ASSISTANT}))


def match(row: RankingRow, *, score: float = 1.0, relevance: float = 0.9) -> Ranked:
    places = {Arm.LEXICAL: (1, 1.0, 1.0, 0.1)}
    return Ranked(row.id, score, 0.5, 0.8, 1.0, places, relevance=relevance)


def policy_of(
    query: ParsedQuery, rows: list[RankingRow], evidence: dict[int, float] | None = None, **turns: TurnEvidence
) -> BlockPolicy:
    """Return the policy for matches that stand in the order of the rows; a turn's evidence is `t` and its number."""
    weighed = {row.id: (evidence or {}).get(row.id.int, 0.5) for row in rows}
    return BlockPolicy(
        leading={row.id for row in rows},
        heard=[match(row, score=1 - 0.2 * place) for place, row in enumerate(rows)],
        query=query,
        rows={row.id: row for row in rows},
        turns={UUID(int=int(name.removeprefix("t"))): found for name, found in turns.items()},
        evidence=MatchEvidence(whole=weighed, wording=weighed),
        verbatim=("episodic",),
    )


def reasons(
    query: ParsedQuery, rows: list[RankingRow], evidence: dict[int, float] | None = None, **turns: TurnEvidence
) -> dict[int, str]:
    """Return why each match is left out, by number; those that are kept are missing."""
    policy = policy_of(query, rows, evidence, **turns)
    return {cut.id.int: cut.why for cut in policy.admit(policy.heard)[1]}


def test_turns_of_the_session_that_asks_are_left_out() -> None:
    rows = [turn(1, "The van is green."), turn(2, "The van is old.")]
    found = reasons(asking("What colour is the van?"), rows, t1=TurnEvidence(recent=True), t2=TurnEvidence())
    assert found == {1: "among the last turns of the session that asks"}


@pytest.mark.parametrize(("question", "left"), [("Where is the van?", {1}), ("What did I ask about the van?", set())])
def test_a_turn_that_only_asks_is_left_out_unless_asked_for(question: str, left: set[int]) -> None:
    rows = [turn(1, "where did i leave the van"), turn(2, "The van is at Odd's.")]
    assert set(reasons(asking(question), rows)) == left


def test_the_assistant_is_heard_for_what_only_it_says() -> None:
    told = turn(1, "I drive a green van.")
    restated = by_assistant(2, "Noted: you drive a green van.")
    said = by_assistant(3, "A van that size needs Michelin CrossClimate tyres, pressure 4.2 bar, fitted by Halvorsen.")
    found = reasons(asking("Which tyres for the van?"), [told, restated, said])
    assert set(found) == {2}
    assert reasons(asking("What did you tell me about the van?"), [told, restated, said]) == {}
    weak = reasons(asking("Which tyres for the van?"), [told, said], {1: 0.9, 3: 0.4})
    assert weak[3] == "said by the assistant, and less relevant than what the user said"


def test_a_turn_beside_the_belief_that_is_asked_for_must_be_nearly_as_relevant() -> None:
    belief = ranking_row(1, predicate="lives-in", opening="user lives in Runde")
    rows = [belief, turn(2, "Runde has puffins."), turn(3, "My house is in Runde.")]
    found = reasons(asking("Where do I live?"), rows, {1: 1.0, 2: 0.5, 3: 0.7})
    assert found == {2: "far less relevant than the belief that is asked for"}


def test_a_brief_turn_of_a_chat_must_be_nearly_as_relevant_as_the_best_and_a_long_one_need_not() -> None:
    long = " ".join(["The boat lies at the quay, and its hull is painted every spring by my uncle."] * 3)
    rows = [turn(1, "The boat is blue."), turn(2, "The quay is wet."), turn(3, long)]
    weighed = {1: 1.0, 2: 0.6, 3: 0.6}
    assert reasons(asking("What colour is the boat?"), rows, weighed) == {2: "far less relevant than the best match"}
    assert reasons(parsed("What colour is the boat?"), rows, weighed) == {}


def named(text: str, *names: tuple[str, UUID]) -> ParsedQuery:
    """Return a question in which these names are known."""
    known = replace(
        NOTHING,
        memories=9,
        entities=tuple(
            KnownEntity(alias=name.lower(), name=name, entity_type="person", mentions=3, ids=(one,))
            for name, one in names
        ),
    )
    reading = understand.parse_question(QueryRequest(query=text, now=NOW), types=TYPES, language="english")
    return understand.resolve_question(reading, known, types=TYPES)


def test_what_is_asked_of_a_speaker_and_said_by_the_other_is_not_known() -> None:
    astrid, bjarne = turn(1, "Astrid: I bake.", speaker_id=ASTRID), turn(2, "Bjarne: I sail.", speaker_id=BJARNE)
    query = named("What does Astrid sail?", ("Astrid", ASTRID))
    assert reasons(query, [astrid, bjarne]) == {}
    read = ranking_row(3, subject="Astrid", session_id="s", opening="Astrid is a baker")
    told = ranking_row(4, subject="Astrid", session_id=None, opening="Astrid prefers the sea")
    assert set(reasons(query, [bjarne, astrid, read, told])) == {1, 2, 3}


def test_a_turn_of_a_chat_that_says_the_name_is_compared_as_a_belief_is() -> None:
    query = replace(named("Where is Astrid?", ("Astrid", ASTRID)), assistants=frozenset({ASSISTANT}))
    belief = ranking_row(1, subject="Astrid", opening="Astrid is a person")
    rows = [belief, turn(2, "Astrid is off to Molde."), turn(3, "The harbour is wet.")]
    assert set(reasons(query, rows, {1: 1.0, 2: 0.3, 3: 0.5})) == {3}


def test_the_policy_does_not_apply_where_everything_is_asked_for() -> None:
    query = parsed("Where is the van?")
    assert applies(QueryRequest(query="", now=NOW), query)
    assert not applies(QueryRequest(query="", now=NOW, min_relevance=0.0), query)
    assert not applies(QueryRequest(query="", now=NOW), replace(query, mode=ReadMode.AUDIT))


OTHERS = (
    "We bought cheese at the market.",
    "The opera was sold out.",
    "Am Sonntag hat es geregnet.",
    "Der Nachbar spielt Trompete.",
    "昨天下雨了。",
    "他喜欢喝茶。",
)


def later(
    query: ParsedQuery,
    rows: list[RankingRow],
    over: tuple[int, ...] = (),
    shown: tuple[int, ...] = (),
    **turns: TurnEvidence,
) -> dict[int, list[int]]:
    """Return the later turns of the first of the rows, by its number; `shown` are others that stand in the block."""
    search = SuccessionSearch(
        rows={row.id: row for row in rows},
        turns={UUID(int=int(name.removeprefix("t"))): found for name, found in turns.items()},
        query=query,
        words=WORDS,
        verbatim=("episodic",),
    )
    first, *others = (match(row) for row in rows)
    ended = [first] if first.id.int in over else []
    kept = [] if ended else [first, *(one for one in others if one.id.int in shown)]
    found = search.find(kept, ended, others)
    return {anchor.int: [one.int for one in after.turns] for anchor, after in found.items()}


def test_a_turn_about_the_same_may_follow_and_one_about_something_else_may_not() -> None:
    home = ranking_row(1, predicate="lives-in", opening="user lives in Trondheim", stated_at=NOW - timedelta(days=60))
    moved, other = turn(2, "We live on a farm near Bergen."), turn(3, "Tickets for the opera were sold out.")
    query = asking("Where do I live?")
    assert later(query, [home, moved, other]) == {1: [2]}
    assert later(query, [replace_time(home), moved]) == {}
    assert later(asking("Where did I live before?"), [home, moved]) == {}


def test_of_several_later_turns_one_near_the_question_follows() -> None:
    cello = turn(1, "I play the cello in a quartet.", session_id="a")
    rehearsal = turn(2, "Our quartet met at the harbour cafe.", day=9, session_id="b")
    viola = turn(3, "Swapped the cello for a viola, I play it every day.", day=9, session_id="b")
    weather = turn(4, "It rained all week.", day=9, session_id="b")
    query = asking("Which instrument do I play?")
    assert later(query, [cello, rehearsal, viola, weather]) == {1: [3]}
    assert later(query, [cello, rehearsal]) == {1: [2]}
    soon = rehearsal._replace(session_id="a", stated_at=cello.stated_at + timedelta(minutes=5))
    assert later(query, [cello, soon._replace(opening="We met at the harbour cafe.")]) == {}


@pytest.mark.parametrize(
    ("question", "told", "after"),
    [
        ("Who repairs our boat?", "Our boat is repaired by Thorvald.", "Thorvald has gone back to the Faroes."),
        ("Wer repariert das Boot?", "Das Boot repariert Thorvald.", "Thorvald ist wieder auf die Färöer gezogen."),
        ("谁修我们的船", "我们的船由陈小龙修。", "陈小龙回老家了。"),
    ],
)
def test_a_later_turn_that_names_what_was_said_follows(question: str, told: str, after: str) -> None:
    rows = [turn(1, told, session_id="a"), turn(2, after, day=9, session_id="b")]
    others = [turn(number, f"Nr. {number}: {text}", day=8) for number, text in enumerate(OTHERS, start=3)]
    assert later(asking(question), [*rows, *others]) == {1: [2]}


@pytest.mark.parametrize(
    ("question", "told", "after"),
    [
        ("What is my boat called?", "My boat is called Havet.", "My horse is called Blakken."),
        ("Wie heißt mein Boot?", "Mein Boot heißt Havet.", "Mein Pferd heißt Blakken."),
        ("我的船叫什么", "我的船叫海风。", "我的马叫黑云。"),
    ],
)
def test_the_same_sentence_about_another_thing_does_not_follow(question: str, told: str, after: str) -> None:
    rows = [turn(1, told, session_id="a"), turn(2, after, day=9, session_id="b")]
    assert later(asking(question), rows) == {}


@pytest.mark.parametrize(
    "after",
    [
        "My aunt bought a boat with a cabin.",
        "Perhaps we will get another boat some day.",
        "When I was small we had a boat with oars.",
        "We rented a second boat for the regatta.",
        "Unsere Nachbarn haben ein neues Boot.",
    ],
)
def test_what_is_another_persons_or_may_be_or_was_once_or_comes_beside_does_not_follow(after: str) -> None:
    rows = [turn(1, "Our boat is a sloop.", session_id="a"), turn(2, after, day=9, session_id="b")]
    assert later(asking("Which boat do we have?"), rows) == {}
    aunt = [turn(1, "My aunt has a boat, a sloop.", session_id="a"), rows[1]]
    assert later(asking("Which boat does my aunt have?"), aunt) == ({1: [2]} if "aunt" in after else {})


def test_where_little_is_known_what_tells_of_a_change_follows_in_words_that_are_not_near() -> None:
    told = turn(1, "I row to the island every morning.", session_id="a")
    after = turn(2, "A bridge was opened, so from now on it is the bus.", day=9, session_id="b")
    query = asking("How do I get to the island?")
    assert later(query, [told, after]) == {1: [2]}
    others = [turn(number, f"Nr. {number}: {text}", day=8) for number, text in enumerate(OTHERS, start=3)]
    assert later(query, [told, after, *others]) == {}
    rower = turn(1, "Ich rudere zur Insel.", session_id="a")
    bridge, rain = "Die Brücke ist fertig, ab jetzt nehme ich den Bus.", "Es hat viel geregnet."
    german = asking("Wie komme ich dorthin?")
    assert later(german, [rower, turn(2, bridge, day=9, session_id="b")]) == {1: [2]}
    assert later(german, [rower, turn(2, rain, day=9, session_id="b")]) == {}


def test_a_belief_of_the_same_predicate_does_not_follow_as_slots_decide_that() -> None:
    first = ranking_row(1, predicate="has-pet", opening="user has pet Blakken", stated_at=NOW - timedelta(days=60))
    second = ranking_row(2, predicate="has-pet", opening="user has pet Havet", stated_at=NOW)
    told = turn(3, "I have a pet called Havet.", day=9)
    read = TurnEvidence(role="user", beliefs=(TurnBelief(id=second.id, speech_act=SpeechAct.ASSERTION),))
    assert later(asking("What is my pet called?"), [first, second, told], t3=read) == {}


def test_what_only_ends_something_says_nothing_of_the_rest() -> None:
    canoe = turn(1, "We paddle a canoe at the lake.", session_id="a")
    kayak = turn(2, "We paddle a kayak at the lake.", day=5, session_id="b")
    sold = turn(3, "We don't paddle the canoe at the lake any more.", day=9, session_id="c")
    over = TurnBelief(id=UUID(int=9), speech_act=SpeechAct.ASSERTION, over_at=sold.stated_at)
    known: dict[str, Any] = {
        "t1": TurnEvidence(role="user", beliefs=(over,)),
        "t3": TurnEvidence(role="user", beliefs=(replace(over, over_at=None),)),
    }
    query = asking("What do we paddle?")
    assert later(query, [kayak, sold]) == {2: [3]}
    assert later(query, [kayak, canoe, sold], **known) == {}
    assert later(query, [canoe, sold], over=(1,), **known) == {1: [3]}


def test_what_the_assistant_said_gives_way_to_a_person_who_may_have_changed_it_since() -> None:
    rows = [turn(1, "The Saab is sold.", day=9), by_assistant(2, "You drive an old Saab."), by_assistant(3, "A Saab?")]
    policy = policy_of(asking("Which car do I drive?"), rows)
    sold, restated, relayed = policy.heard
    found = [sold, restated._replace(later=(sold.id,)), relayed._replace(later=(restated.id,))]
    kept, cut = policy.without_restated(found)
    assert [one.id.int for one in kept] == [1, 3]
    assert [one.why for one in cut] == ["said by the assistant, and perhaps replaced since"]


def test_what_the_assistant_said_is_marked_where_a_later_turn_names_it() -> None:
    said = by_assistant(1, "Since you drive an old Saab: every ten years.")
    sold = turn(2, "The Saab is sold.", day=9, session_id="b")
    done = by_assistant(3, "Done, the Saab has an appointment on Monday.")._replace(session_id="b", stated_at=NOW)
    query = asking("Which car do I drive?")
    assert later(query, [said, sold]) == {}
    assert later(query, [said, sold], shown=(2,)) == {1: [2]}
    assert later(query, [said, done], shown=(3,)) == {1: [3]}
    assert later(query, [said, done._replace(session_id="s", stated_at=said.stated_at)], shown=(3,)) == {}


def replace_time(row: RankingRow) -> RankingRow:
    return row._replace(stated_at=NOW)


def test_what_is_about_somebody_else_does_not_follow() -> None:
    home = ranking_row(1, predicate="lives-in", opening="user lives in Trondheim", stated_at=NOW - timedelta(days=60))
    sister = turn(2, "My sister lives in Bergen.")
    belief = ranking_row(3, subject="Liv", predicate="lives-in", opening="Liv lives in Bergen", stated_at=NOW)
    read = TurnEvidence(role="user", beliefs=(TurnBelief(id=belief.id, speech_act=SpeechAct.ASSERTION),))
    assert later(asking("Where do I live?"), [home, sister, belief], t2=read) == {}


def test_what_somebody_says_of_themselves_changes_nothing_of_another() -> None:
    told = turn(1, "Sverre sails an old cutter.", day=1)
    query = asking("What does Sverre do?")
    assert later(query, [told, turn(2, "I sail a dinghy.", day=9)]) == {}
    assert later(query, [told, turn(2, "He sold the cutter.", day=9)]) == {1: [2]}
    assert later(asking("What do I do?"), [told, turn(2, "I sold the cutter.", day=9)]) == {1: [2]}


def test_what_is_read_of_the_user_changes_nothing_of_another() -> None:
    kin = ranking_row(1, subject="Torill", opening="Torill is user's aunt", stated_at=NOW - timedelta(days=60))
    visit = ranking_row(
        2, type="event", subject=None, opening="user visited an uncle", stated_at=NOW - timedelta(days=9)
    )
    read = TurnEvidence(role="user", beliefs=(TurnBelief(id=visit.id, speech_act=SpeechAct.ASSERTION),))
    query = asking("What does my aunt do?")
    assert query.about == {"user's aunt"}
    assert later(query, [kin, visit], t5=read) == {}
    assert later(replace(query, about=frozenset({"user"})), [kin, visit], t5=read) == {1: [2]}


def test_what_else_is_told_of_a_subject_changes_nothing() -> None:
    kin = ranking_row(1, subject="Torill", opening="Torill is user's aunt", stated_at=NOW - timedelta(days=60))
    assert later(asking("Who is my aunt?"), [kin, turn(2, "Torill keeps bees on Senja.", day=9)]) == {}
    assert later(asking("Who is my aunt?"), [kin, turn(2, "Ragna is my aunt, I mixed them up.", day=9)]) == {1: [2]}


def test_what_tells_more_than_what_is_asked_changes_by_what_tells_or_names_it() -> None:
    told = turn(1, "Ich heiße Solveig und wohne in Bergen.", day=1)
    moved, rows = turn(2, "Ich bin nach Narvik gezogen.", day=9), turn(3, "Ich rudere gern.", day=9)
    assert later(asking("Wo wohne ich?"), [told, moved, rows]) == {1: [2]}
    assert later(asking("Wie heiße ich?"), [told, moved, rows]) == {}


def test_a_repetition_does_not_follow_but_what_ended_a_statement_does() -> None:
    told = turn(1, "My partner is called Signe.", day=1)
    after = turn(2, "Signe and I split up.", day=9)
    read = TurnEvidence(role="user", beliefs=(TurnBelief(id=UUID(int=5), speech_act=SpeechAct.ASSERTION),))
    query = asking("Do I have a partner?")
    assert later(query, [told, after], t1=read, t2=read) == {}
    assert later(query, [told, after], over=(1,), t1=read, t2=read) == {1: [2]}


def test_an_answer_to_the_assistant_has_its_question_as_context_and_other_turns_have_none() -> None:
    asked = by_assistant(1, "Which harbour do you sail from?", asking="Which harbour do you sail from?")
    answer, next_one = turn(2, "Kalvåg."), turn(3, "The mast is broken.")
    alone = without_context([asked, answer, next_one], asking("Where do I sail from?"), ("episodic",))
    assert alone == {asked.id, next_one.id}
    assert without_context([asked, answer], parsed("Where do I sail from?"), ("episodic",)) == frozenset()


def test_whole_sentences_after_the_first_question_of_the_assistant_do_not_answer_it() -> None:
    opening = by_assistant(1, "¿En qué te ayudo hoy?", asking="¿En qué te ayudo hoy?")
    told = turn(2, "Me llamo Rocío y vivo en Vigo.", words=7)
    assert told.id in without_context([opening, told], asking("¿En qué ciudad vivo?"), ("episodic",))


def relevance(query: ParsedQuery, *, by_words: bool = False) -> Relevance:
    return Relevance(query=query, calibration=WORDLLAMA, whole=1.0, verbatim=("episodic",), by_words=by_words)


def test_a_request_speaks_for_the_reply_where_the_question_asks_what_was_said() -> None:
    asked, reply = turn(1, "Draft a card for the harbour master."), by_assistant(2, "Dear neighbour, happy birthday!")
    rows = {row.id: row for row in (asked, reply)}
    nothing = {Arm.SEMANTIC: (1, 0.0, 0.0, 0.0)}
    ranked = [match(asked), match(reply)._replace(places=nothing)]
    back = relevance(asking("What did you draft for the harbour master?")).evidence(ranked, rows).whole
    assert back[reply.id] == back[asked.id]
    plainly = relevance(asking("Who is the harbour master?")).evidence(ranked, rows).whole
    assert plainly[reply.id] < plainly[asked.id]


def test_where_words_alone_find_anything_the_floor_of_a_chat_is_that_of_turns() -> None:
    told = turn(1, "我的船是绿色的。")
    near = match(told, relevance=0.19)
    for by_words in (True, False):
        kept, _ = relevance(asking("我的船是什么颜色的"), by_words=by_words).cut(
            [near], {told.id: told}, MatchEvidence(whole={told.id: 0.2}, wording={}), least=None
        )
        assert bool(kept) is by_words


def test_the_usual_cosine_is_the_median_and_the_calibration_where_little_is_known() -> None:
    scored = [(UUID(int=number), 0.5 - number / 1000) for number in range(100)]
    assert usual_cosine([], 0, 100, WORDLLAMA) == WORDLLAMA.unrelated
    for count in (1, 2, 3, 10):  # of twice as many as were found, the last is the median
        half = [(UUID(int=one), 0.5) for one in range(count)]
        assert WORDLLAMA.unrelated < usual_cosine(half, 2 * count, count, WORDLLAMA) < 0.5
    assert usual_cosine(scored[:40], 40, 100, WORDLLAMA) == pytest.approx(0.427, abs=0.01)
    assert usual_cosine(scored[:1], 1, 100, WORDLLAMA) < 0.15
    few, many = (usual_cosine(scored, count, 100, WORDLLAMA) for count in (250, 20_000))
    assert many < few < scored[-1][1]


def heeded(question: str, mode: HeedMode = HeedMode.AUTO, *, answered: float = 0.0) -> list[str]:
    known = [
        HeededMemory(id=UUID(int=number), type=kind, content=content, stated_at=NOW)
        for number, (kind, content) in enumerate(
            (
                ("fact", "user is allergic to sesame"),
                ("medication", "user takes metoprolol"),
                ("constraint", "user may not fly: with budget airlines"),
                ("preference", "user asks: always write dates in ISO format"),
            )
        )
    ]
    shown = {UUID(int=99): answered} if answered else {}
    found = choose_heeded(
        known, subject_of(parsed(question).reading, WORDS), types=TYPES, mode=mode, told=(), shown=shown, words=WORDS
    )
    return [one.type for one in found]


@pytest.mark.parametrize(
    ("question", "kinds"),
    [
        ("Where shall we have brunch?", ["fact"]),
        ("Empfiehl mir ein Rezept", ["fact", "preference"]),
        ("May I take aspirin tablets for the pain?", ["fact", "medication"]),
        ("Which airlines go to Tromso?", ["constraint"]),
        ("Where do I live?", []),
        ("Who wrote Peer Gynt?", []),
        ("¿Sobre qué trata la ópera?", []),
    ],
)
def test_what_must_be_heeded_goes_by_the_subject_of_the_question(question: str, kinds: list[str]) -> None:
    assert heeded(question, answered=1.0) == kinds


def test_an_order_with_a_condition_is_heeded_where_the_question_touches_it() -> None:
    order = HeededMemory(
        id=UUID(int=1), type="preference", content="user asks: a lift every time looking for a flat", stated_at=NOW
    )

    def heeds(question: str) -> bool:
        subject = subject_of(parsed(question).reading, WORDS)
        return bool(choose_heeded([order], subject, types=TYPES, mode=HeedMode.AUTO, told=(), shown={}, words=WORDS))

    assert heeds("Find me a flat in Molde")
    assert not heeds("Write a limerick on herrings")


def test_standing_orders_are_heeded_by_tasks_and_where_memory_has_no_answer() -> None:
    assert heeded("Draft a note to the landlord.", answered=1.0) == ["preference"]
    assert heeded("Who wrote Peer Gynt?") == ["preference"]
    assert heeded("Who wrote Peer Gynt?", answered=0.5) == ["preference"]
    assert heeded("Who wrote Peer Gynt?", HeedMode.NONE) == []
    assert heeded("When was I born?") == []
    assert heeded("How old is she?") == []
    assert heeded("Where do I live?", HeedMode.ALL, answered=True) == ["fact", "medication", "constraint"]


def test_of_standing_orders_the_later_of_two_that_ask_alike_is_heeded() -> None:
    def orders(*asked: str) -> list[int]:
        known = [
            HeededMemory(
                id=UUID(int=day), type="preference", content=f"user asks: {one}", stated_at=NOW + timedelta(days=day)
            )
            for day, one in enumerate(asked)
        ]
        subject = subject_of(parsed("Draft a note to the harbour.").reading, WORDS)
        found = choose_heeded(known, subject, types=TYPES, mode=HeedMode.AUTO, told=(), shown={}, words=WORDS)
        return [one.memory.int for one in found]

    assert orders("always give distances in miles", "always give distances in kilometres") == [1]
    assert orders("always give distances in miles", "always sign letters with love") == [0, 1]
    assert orders("never mention wine in answers", "never mention beer in answers") == [0, 1]
    assert orders("quote wind in knots when sailing", "quote wind in metres when flying") == []


def test_what_is_told_of_another_stands_beside_what_answers() -> None:
    query = asking("Where do I moor?")
    mine, pilot = turn(1, "I moor at Molde.", day=1), turn(2, "The pilot moors at Hitra.", day=9)
    moved = turn(3, "I moor at Kristiansund now.", day=9)
    rows = {row.id: row for row in (mine, pilot, moved)}
    search = SuccessionSearch(rows=rows, turns={}, query=query, words=WORDS, verbatim=("episodic",))
    assert search.beside([match(row) for row in rows.values()]) == {pilot.id}
    assert later(query, [mine, pilot]) == {}
    assert later(query, [mine, moved]) == {1: [3]}


def test_a_turn_without_the_kind_of_answer_that_is_asked_for_does_not_follow() -> None:
    query = asking("How much is the berth?")
    told = turn(1, "The berth costs 40 crowns.", day=1)
    assert later(query, [told, turn(2, "The harbour raised the fees to 55.", day=9)]) == {1: [2]}
    assert later(query, [told, turn(2, "The harbour raised all the fees.", day=9)]) == {}

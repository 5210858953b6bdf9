"""References become names: who is meant by `she`, `the company`, `my manager`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from app.db.entities import write_lookup
from app.db.entities.write_lookup import CONVERSATIONS, RING, Referent
from app.db.sql import insert_all
from app.english.pronouns import parsed, sentence_opening
from app.memory.extraction import Proposal, Role, Turn
from app.memory.registry import Registry, discover
from app.write.coreference import Unresolved, bind_references, binding_rows, needs_context
from app.write.values import Binding
from tests.support.stores import USER, Store

TYPES = discover()
NOON = datetime(2026, 5, 9, 12, tzinfo=UTC)


def said(content: str, *, session: str | None = "s1", speaker: str | None = None, at: datetime = NOON) -> Turn:
    return Turn(
        id=uuid4(),
        scope=USER,
        role=Role.USER,
        content=content,
        occurred_at=at,
        session_id=session,
        speaker=speaker,
    )


def fact(subject: str, predicate: str, object_: str, quote: str = "", **more: Any) -> Proposal:
    payload = {"subject": subject, "predicate": predicate, "object": object_}
    return Proposal(type="fact", payload=payload, quote=quote, **more)


def relation(from_entity: str, relation_type: str, to_entity: str, quote: str = "") -> Proposal:
    payload = {"from_entity": from_entity, "relation_type": relation_type, "to_entity": to_entity}
    return Proposal(type="relation", payload=payload, quote=quote)


def event(description: str, *participants: str, quote: str = "") -> Proposal:
    payload = {"event_description": description, "participants": list(participants)}
    return Proposal(type="event", payload=payload, quote=quote)


def mention(
    name: str, kind: str = "person", *, role: str = "subject", session: str | None = "s1", ago: int = 60, **more: Any
) -> Referent:
    at = NOON - timedelta(seconds=ago)
    return Referent(name=name, entity_type=kind, role=role, last_said_at=at, session_id=session, **more)


def bound(pronoun: str, name: str, number: int = 0, **more: Any) -> Referent:
    return mention(name, pronoun=pronoun, role="pronoun", number=number, **more)


def payload_of(answer: Proposal | Unresolved) -> Mapping[str, object]:
    assert isinstance(answer, Proposal), answer
    return answer.payload


def refer(
    proposals: Sequence[Proposal],
    turn: Turn,
    recent: Sequence[Referent] = (),
    context: Sequence[Turn] = (),
    types: Registry = TYPES,
) -> tuple[Proposal | Unresolved, ...]:
    return bind_references(proposals, turn, recent, context, types).answers


def meant(turn: str, proposal: Proposal, *recent: Referent, context: tuple[Turn, ...] = (), **how: Any) -> Any:
    [answer] = refer([proposal], said(turn, **how), recent, context, TYPES)
    return answer


def test_the_seeds_own_pair_of_sentences() -> None:
    turn = said("Priya is the engineering manager. She manages the project.")
    proposals = [
        fact("Priya", "has-role", "engineering manager", "Priya is the engineering manager"),
        relation("She", "manages", "Apollo", "She manages the project"),
    ]
    found = bind_references(proposals, turn, (), (), TYPES)
    assert found.answers[0] == proposals[0]
    assert payload_of(found.answers[1]) == {**proposals[1].payload, "from_entity": "Priya"}
    assert found.bindings == (Binding(pronoun="she", name="Priya", entity_type="person"),)


SUBJECTS = [
    ("Sarah met Tom. He was late.", "he", "Tom", 0.9),
    ("Sarah met Tom. She was late.", "she", "Sarah", 0.9),
    ("Sarah met Anna. She was late.", "she", "Sarah", 0.72),
    ("Anna called. Then Sarah wrote. She was late.", "she", "Sarah", 0.9),
    ("Sarah told Anna that she was late.", "she", "Sarah", 0.72),
    ("I joined Volkswagen. The company is huge.", "the company", "Volkswagen", 0.9),
    ("I joined Volkswagen. It is huge.", "it", "Volkswagen", 0.9),
    ("I met Zorblax Quirn. She was late.", "she", "Zorblax Quirn", 0.72),
    ("Mrs. Okonkwo-Bright called. She was late.", "she", "Mrs. Okonkwo-Bright", 0.9),
    ("I moved to Berlin with Sarah. She was late.", "she", "Sarah", 0.9),
    ("Sarah works at Acme Corp. They are hiring.", "they", "Sarah", 0.72),
    ("I lead Project Apollo. The project is late.", "the project", "Project Apollo", 0.9),
    ("I work with the Phoenix team. The team is late.", "the team", "Phoenix", 0.9),
    ("Sarah's husband came. She was late.", "she", "Sarah", 0.9),
]


@pytest.mark.parametrize(("turn", "reference", "name", "confidence"), SUBJECTS)
def test_whoever_was_named_last_and_fits_is_meant(turn: str, reference: str, name: str, confidence: float) -> None:
    quote = turn.rpartition(". ")[2] if ". " in turn else turn
    answer = meant(turn, fact(reference, "has-status", "late", quote))
    assert payload_of(answer)["subject"] == name
    assert answer.confidence == pytest.approx(confidence)


def test_names_after_the_reference_are_not_meant() -> None:
    turn = "Sarah is here. She works at Acme Corp with Anna."
    answer = meant(turn, fact("she", "works-at", "Acme Corp", "She works at Acme Corp with Anna"))
    assert payload_of(answer) == {"subject": "Sarah", "predicate": "works-at", "object": "Acme Corp"}


def test_nobody_reports_to_herself() -> None:
    turn = "Sarah and Anna are here. She reports to Anna, and Sarah helps her."
    [first, second] = refer(
        [
            relation("She", "reports-to", "Anna", "She reports to Anna"),
            relation("Sarah", "works-with", "her", "Sarah helps her"),
        ],
        said(turn),
        (),
        (),
        TYPES,
    )
    assert payload_of(first)["from_entity"] == "Sarah"
    assert payload_of(second)["to_entity"] == "Anna"
    himself = meant("Tom met Max. Tom manages himself.", relation("Tom", "manages", "himself", "Tom manages himself"))
    assert payload_of(himself)["to_entity"] == "Tom"


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ("she", "nobody known for 'she'"),
        ("He", "nobody known for 'he'"),
        ("they", "nobody known for 'they'"),
        ("it", "nothing known for 'it'"),
        ("this city", "nothing known for 'this city'"),
        ("her manager", "nobody known for 'her'"),
    ],
)
def test_a_memory_about_nobody_is_not_kept(reference: str, reason: str) -> None:
    proposal = fact(reference, "lives-in", "Berlin", f"{reference} lives in Berlin")
    answer = meant(f"well, {reference} lives in Berlin", proposal)
    assert answer == Unresolved(proposal=proposal, reason=reason)


SENTENCES = [
    ("Priya is here.", "she joined the platform team", "Priya joined the platform team"),
    ("Priya is here.", "She's leaving", "Priya's leaving"),
    ("Priya is here.", "her laptop broke", "Priya's laptop broke"),
    ("I joined Volkswagen.", "the company opened an office", "Volkswagen opened an office"),
    ("I joined Volkswagen.", "it opened an office", "Volkswagen opened an office"),
    ("I joined Volkswagen.", "it was founded in 1937", "Volkswagen was founded in 1937"),
    ("I joined Volkswagen.", "it was raining", "it was raining"),
    ("I joined Volkswagen.", "it took three hours", "it took three hours"),
    ("Hello there.", "it opened an office", "it opened an office"),
    ("Hello there.", "the company opened an office", "the company opened an office"),
    ("Hello there.", "her laptop broke", "her laptop broke"),
    ("Hello there.", "my manager resigned", "user's manager resigned"),
    ("Hello there.", "heritage site visited", "heritage site visited"),
    ("Hello there.", "she-wolf seen", "she-wolf seen"),
    ("Hello there.", "itself a problem", "itself a problem"),
]


@pytest.mark.parametrize(("turn", "before", "after"), SENTENCES)
def test_a_sentence_begins_with_the_name(turn: str, before: str, after: str) -> None:
    answer = meant(f"{turn} {before}.", event(before, quote=before))
    assert payload_of(answer)["event_description"] == after


def test_a_sentence_about_somebody_unknown_is_not_kept() -> None:
    answer = meant("then she left early", event("she left early", quote="she left early"))
    assert isinstance(answer, Unresolved)
    assert answer.reason == "nobody known for 'she'"


def test_in_a_list_the_unknown_are_left_out() -> None:
    answer = meant("Tom came. He met her.", event("they met", "he", "her", "Sarah", quote="He met her"))
    assert payload_of(answer)["participants"] == ["Tom", "Sarah"]
    same = meant("Tom came. He met Tom.", event("a meeting", "he", "Max", "Max", quote="He met Tom"))
    assert payload_of(same)["participants"] == ["Tom", "Max"]


def test_what_speaks_of_pronouns_is_left_as_it_is() -> None:
    proposal = fact("Sam", "uses-pronoun", "they", "Sam's pronoun is they")
    assert meant("Priya is here. Sam's pronoun is they.", proposal) == proposal


def test_what_refers_to_nothing_is_the_same_object() -> None:
    proposal = fact("Priya", "lives-in", "Berlin", "Priya lives in Berlin")
    assert meant("Priya lives in Berlin.", proposal) is proposal


def test_the_manager_is_whoever_the_user_reports_to() -> None:
    known = mention("Priya", of="user", role="reports-to", ago=9_000, session="s0")
    for text in ("my manager", "my boss", "My Supervisor"):
        answer = meant(f"{text} prefers email", fact(text, "prefers", "email", text), known)
        assert payload_of(answer)["subject"] == "Priya"
    assert payload_of(meant("my dog barks", fact("my dog", "is", "loud"), known))["subject"] == "user's dog"


def test_what_the_turn_itself_says_of_the_manager_comes_first() -> None:
    old = mention("Priya", of="user", role="reports-to")
    turn = said("My new boss is Tom. My boss likes golf. His wife is called Ines.")
    answers = refer(
        [
            relation("user", "reports-to", "Tom", "My new boss is Tom"),
            fact("my boss", "likes", "golf", "My boss likes golf"),
            fact("his wife", "has-name", "Ines", "His wife is called Ines"),
        ],
        turn,
        [old],
        (),
        TYPES,
    )
    assert payload_of(answers[1])["subject"] == "Tom"
    assert payload_of(answers[2])["subject"] == "Tom's wife"


@pytest.mark.parametrize(
    ("text", "owner", "role", "name"),
    [
        ("my wife", "user", "married-to", "Ines"),
        ("my dog", "user", "has-dog", "Biscuit"),
        ("my cat", "user", "has-pet", "Biscuit"),
        ("user's sister", "user", "has-sibling", "Olga"),
        ("user's boss", "user", "reports-to", "Priya"),
        ("our team", "user", "member-of", "Phoenix"),
        ("my company", "Ana", "works-at", "Volkswagen"),
        ("the company", "Ana", "works-at", "Volkswagen"),
        ("their friend", "Sarah", "friend-of", "Max"),
        ("her manager", "Sarah", "reports-to", "Priya"),
    ],
)
def test_relations_that_are_known_name_whom_the_words_mean(text: str, owner: str, role: str, name: str) -> None:
    known = mention(name, "unknown", of=owner, role=role, session="s0")
    answer = meant(f"Sarah is here. {text} is great", fact(text, "is", "great", text), known, speaker="Ana")
    assert payload_of(answer)["subject"] == name


@pytest.mark.parametrize("names", [("Olga", "Vera"), ("Stellan",), ("Kit",)])
def test_a_sister_is_nobody_known_where_there_are_two_or_only_brothers(names: tuple[str, ...]) -> None:
    known = [mention(name, "person", of="user", role="has-sibling", session="s0") for name in names]
    answer = meant("My sister moved", fact("user's sister", "lives-in", "Riga", "My sister moved"), *known)
    assert payload_of(answer)["subject"] == "user's sister"


def test_what_a_user_says_of_the_team_is_of_their_own_where_none_is_known() -> None:
    turn = said("The team uses Postgres. They like it.")
    answers = refer(
        [fact("the team", "uses", "Postgres", "The team uses Postgres"), fact("they", "likes", "it", "They like it")],
        turn,
        (),
        (),
        TYPES,
    )
    assert [payload_of(one)["subject"] for one in answers] == ["user's team", "user's team"]
    told = replace(turn, role=Role.ASSISTANT)
    assert isinstance(refer([fact("the team", "uses", "Postgres", "The team uses Postgres")], told)[0], Unresolved)


def test_what_a_proposal_turned_out_to_say_is_known_to_the_next() -> None:
    turn = said("My wife is a nurse. She works with Tom. Her colleague is late, and so is she.")
    answers = refer(
        [
            fact("my wife", "has-role", "nurse", "My wife is a nurse"),
            relation("She", "works-with", "Tom", "She works with Tom"),
            fact("her colleague", "is", "late", "Her colleague is late"),
            fact("she", "is", "late", "so is she"),
        ],
        turn,
        (),
        (),
        TYPES,
    )
    subjects = [payload_of(one).get("subject", payload_of(one).get("from_entity")) for one in answers]
    assert subjects == ["user's wife", "user's wife", "Tom", "user's wife"]


def test_what_is_unsure_is_not_remembered() -> None:
    sure = bind_references([fact("she", "is", "late", "She is late")], said("Sarah came. She is late"), (), (), TYPES)
    unsure = bind_references(
        [fact("she", "is", "late", "She is late")], said("Sarah met Anna. She is late"), (), (), TYPES
    )
    assert [one.name for one in sure.bindings] == ["Sarah"]
    assert unsure.bindings == ()


def test_a_husband_is_not_taken_for_a_wife() -> None:
    known = mention("Tom", of="user", role="married-to")
    assert payload_of(meant("my wife sings", fact("my wife", "is", "a singer"), known))["subject"] == "user's wife"


def test_the_turns_before_come_before_what_is_remembered() -> None:
    before = (said("Anna visits."), said("Sarah called yesterday, did you know?"))
    stored = mention("Priya", ago=1)
    answer = meant("She was late.", fact("she", "is", "late", "She was late"), stored, context=before)
    assert payload_of(answer)["subject"] == "Sarah"
    alone = meant("She was late.", fact("she", "is", "late", "She was late"), stored)
    assert payload_of(alone)["subject"] == "Priya"


def test_this_session_comes_before_others() -> None:
    here, elsewhere = mention("Sarah", ago=900), mention("Anna", session="s0", ago=5)
    answer = meant("She was late.", fact("she", "is", "late", "She was late"), elsewhere, here)
    assert payload_of(answer)["subject"] == "Sarah"
    across = meant("She was late.", fact("she", "is", "late", "She was late"), elsewhere)
    assert payload_of(across)["subject"] == "Anna"
    thing = mention("Volkswagen", "organization", session="s0")
    assert isinstance(meant("It is late.", fact("it", "is", "late", "It is late"), thing), Unresolved)


def test_she_stays_she_once_that_was_meant() -> None:
    earlier = [bound("she", "Sam", ago=500), mention("Sam", ago=400), mention("Alex", ago=300)]
    later = bound("he", "Alex", ago=200)
    answer = meant("He was late.", fact("he", "is", "late", "He was late"), *earlier)
    assert payload_of(answer)["subject"] == "Alex"
    again = meant("Alex met Sam. She was late.", fact("she", "is", "late", "She was late"), *earlier, later)
    assert payload_of(again)["subject"] == "Sam"
    assert again.confidence == pytest.approx(0.9)


def test_within_a_turn_one_person_is_not_he_and_she() -> None:
    turn = said("Sam met Alex. She sang and he danced.")
    answers = refer(
        [
            fact("she", "likes", "singing", "She sang"),
            fact("he", "likes", "dancing", "he danced"),
        ],
        turn,
        (),
        (),
        TYPES,
    )
    assert [payload_of(one)["subject"] for one in answers] == ["Sam", "Alex"]


def test_an_assignment_of_long_ago_does_not_count() -> None:
    gone = bound("she", "Priya", alive=False, session="s0")
    assert isinstance(meant("She was late.", fact("she", "is", "late", "She was late"), gone), Unresolved)


def test_the_speaker_and_the_user_are_not_meant() -> None:
    answer = meant(
        "I am Sarah. She was late.", fact("she", "is", "late", "She was late"), mention("user"), speaker="Sarah"
    )
    assert isinstance(answer, Unresolved)


def test_names_in_small_letters_are_found_when_they_are_known() -> None:
    known = mention("Priya Sharma", session="s0", ago=9_000)
    other = mention("Sarah", ago=1)
    answer = meant("i met priya sharma. she was late", fact("she", "is", "late", "she was late"), known, other)
    assert payload_of(answer)["subject"] == "priya sharma"


def test_predicates_are_looked_up_only_for_what_needs_them() -> None:
    assert needs_context([fact("Priya", "lives-in", "Berlin")]) is None
    assert needs_context([fact("she", "lives-in", "Berlin")]) == frozenset()
    assert {"reports-to", "has-manager"} <= (needs_context([event("my manager resigned")]) or frozenset())
    assert "works-at" in (needs_context([fact("the company", "uses", "Slack")]) or frozenset())


def test_a_ring_holds_thirty_and_the_oldest_make_way() -> None:
    turn, tenant, scope = said("x"), uuid4(), uuid4()
    remembered: list[Referent] = []
    positions = []
    for number in range(RING + 3):
        one = Binding(pronoun="she", name=f"Person {number}", entity_type="person")
        [row] = binding_rows(tenant, scope, turn, [one], remembered)["pronoun_bindings"]
        positions.append(row["position"])
        remembered = [*remembered, bound("she", one.name, number)][-RING:]
    assert positions == [*range(RING), 0, 1, 2]
    same = Binding(pronoun="she", name=f"Person {RING + 2}", entity_type="person")
    assert binding_rows(tenant, scope, turn, [same], remembered) == {}
    [row] = binding_rows(tenant, scope, said("x", session="s2"), [same], remembered)["pronoun_bindings"]
    assert (row["number"], row["session_id"]) == (RING + 3, "s2")


@pytest.mark.parametrize("text", ["Priya", "", "she said", "the", "my", "my own company", "herself is", "x" * 32_000])
def test_what_is_no_reference_is_none(text: str) -> None:
    assert parsed(text) is None


def test_openings_need_words_after_them() -> None:
    assert sentence_opening("she") is None
    assert sentence_opening("the company") is None
    assert sentence_opening("she, in turn, left") is None
    found = sentence_opening("my line of work")
    assert found is None


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "piece", ["she ", "A ", "A. ", "my manager ", "Van der ", "'", "it's ", "\u2019s ", "Mr. ", "a-"]
)
def test_hostile_lengths_come_to_an_end(piece: str) -> None:
    text = (piece * 32_000)[:32_000]
    proposals = [fact("she", "is", "late", text[:9_000]), event(text, quote=text), event("she left", quote="she left")]
    context = tuple(said(text) for _ in range(4))
    assert len(refer(proposals, said(text), (), context, TYPES)) == 3


async def remembered(store: Store, session: str | None, at: datetime = NOON, **how: Any) -> list[Referent]:
    async with store.database.read(store.tenant) as opened:
        return await write_lookup.recent(opened, store.tenant, USER.id(store.tenant), session, at=at, **how)


async def spoken(store: Store, session: str, at: datetime, *, times: int = 1) -> None:
    """Store turns of a conversation, as far as its age goes."""
    for place in range(times):
        await store.sql(
            """INSERT INTO turns (tenant_id, id, scope_id, session_id, role, content, occurred_at)
               VALUES ($1, $2, $3, $4, 'user', 'x', $5)""",
            store.tenant,
            uuid4(),
            USER.id(store.tenant),
            session,
            at + timedelta(seconds=place),
        )


async def bind(store: Store, turn: Turn, *bindings: Binding, recent: list[Referent]) -> None:
    rows = binding_rows(store.tenant, USER.id(store.tenant), turn, bindings, recent)
    async with store.database.write(store.tenant) as session:
        await insert_all(session, rows)


async def known_to(store: Store) -> UUID:
    """Write something, so that there is a scope."""
    about = {"stated_at": NOON - timedelta(hours=1), "session_id": "s1"}
    await store.write("entity", about=about, canonical_name="Priya", entity_type="person")
    return store.tenant


async def test_what_was_mentioned_lately_is_remembered_newest_first(store: Store) -> None:
    for place, (session, fields) in enumerate(
        [
            ("s0", {"subject": "Anna", "predicate": "likes", "object": "tea"}),
            ("s1", {"subject": "user", "predicate": "works-at", "object": "Volkswagen"}),
            ("s1", {"subject": "Priya", "predicate": "has-role", "object": "manager"}),
        ]
    ):
        about = {"stated_at": NOON + timedelta(seconds=place), "session_id": session}
        await store.write("fact", USER, about, **fields)
    found = await remembered(store, "s1", at=NOON + timedelta(minutes=1))
    assert [(one.name, one.entity_type, one.session_id) for one in found] == [
        ("Priya", "unknown", "s1"),
        ("user", "unknown", "s1"),
        ("Volkswagen", "organization", "s1"),
        ("Anna", "unknown", "s0"),
    ]
    before = await remembered(store, "s1", at=NOON)
    assert [one.name for one in before] == ["Anna"]


async def test_relations_are_remembered_both_ways_and_of_merged_entities(store: Store) -> None:
    about = {"stated_at": NOON}
    await store.write("relation", about=about, from_entity="Priya", relation_type="manages", to_entity="user")
    await store.write("fact", about=about, subject="user", predicate="has-dog", object="Biscuit")
    await store.write("fact", about=about, subject="Priya", predicate="works-at", object="Volkswagen")
    for texts, name in (
        (["my manager"], "Priya"),
        (["my dog"], "Biscuit"),
        (["her company"], "Volkswagen"),
    ):
        proposals = [fact(text, "is", "great", text) for text in texts]
        predicates = needs_context(proposals)
        assert predicates is not None
        recent = await remembered(store, "s9", owners=("user",), predicates=predicates)
        [answer] = refer(proposals, said(f"{texts[0]} is great", session="s9"), recent, (), TYPES)
        assert payload_of(answer)["subject"] == name
    assert not [one for one in await remembered(store, "s9", owners=("user",)) if one.of is not None]


async def test_assignments_are_remembered_across_sessions_and_processes(store: Store) -> None:
    await known_to(store)
    await store.sql("DELETE FROM memory_entities WHERE tenant_id = $1", store.tenant)
    turn = said("Sarah is new. She sings.", session="s1")
    found = bind_references([fact("she", "likes", "singing", "She sings")], turn, (), (), TYPES)
    await bind(store, turn, *found.bindings, recent=await remembered(store, "s1"))
    await spoken(store, "s1", NOON)
    later = NOON + timedelta(days=1)
    recent = await remembered(store, "s2", at=later)
    [answer] = refer([fact("she", "is", "late", "She is late")], said("She is late", session="s2"), recent, (), TYPES)
    assert payload_of(answer)["subject"] == "Sarah"


async def test_assignments_last_for_thirty_conversations(store: Store) -> None:
    await known_to(store)
    turn = said("x", session="first")
    await bind(store, turn, Binding(pronoun="she", name="Sam", entity_type="person"), recent=[])
    await spoken(store, "first", NOON, times=3)
    for number in range(CONVERSATIONS - 1):
        await spoken(store, f"c{number}", NOON + timedelta(hours=number + 1), times=2)
    at = NOON + timedelta(days=3)
    assert [one.alive for one in await remembered(store, None, at=at) if one.pronoun] == [True]
    await spoken(store, "one more", NOON + timedelta(days=2))
    assert [one.alive for one in await remembered(store, None, at=at) if one.pronoun] == [False]
    assert [one.alive for one in await remembered(store, "first", at=at) if one.pronoun] == [True]


async def test_a_scope_remembers_thirty_assignments_of_a_pronoun(store: Store) -> None:
    await known_to(store)
    for number in range(RING + 5):
        turn = said("x", session=None, at=NOON + timedelta(seconds=number))
        one = Binding(pronoun="she", name=f"Person {number}", entity_type="person")
        await bind(store, turn, one, recent=await remembered(store, None, at=turn.occurred_at))
    rows = await store.sql("SELECT name, number FROM pronoun_bindings WHERE tenant_id = $1", store.tenant)
    assert len(rows) == RING
    assert {row["number"] for row in rows} == set(range(5, RING + 5))


async def test_one_tenant_does_not_remember_what_another_said(store: Store) -> None:
    await known_to(store)
    await bind(store, said("x"), Binding(pronoun="she", name="Sam", entity_type="person"), recent=[])
    stranger = store.as_tenant(uuid4())
    async with stranger.database.read(stranger.tenant) as opened:
        found = await write_lookup.recent(opened, store.tenant, USER.id(store.tenant), "s1", at=NOON)
    assert found == []


@pytest.mark.parametrize("content", ["They work at Boots and live in Cork", "I live in Cork"])
def test_no_memory_keeps_a_pronoun_for_its_subject(content: str) -> None:
    [answer] = refer([fact("they", "lives-in", "Cork", quote="live in Cork")], said(content))
    assert isinstance(answer, Unresolved)


def test_their_in_place_of_a_speakers_my_means_nobody_else() -> None:
    turn = said("Stay safe! I use my kayak daily.")
    own = fact("user", "uses", "their kayak", quote="I use my kayak daily")
    [answer] = refer([own], turn, [mention("Priya")])
    assert payload_of(answer) == own.payload
    beside = said("I bought Zephyr Air shoes, and they fit. I wear my new shoes daily.")
    worn = fact("user", "wears", "their new shoes daily", quote="I wear my new shoes daily")
    [answer] = refer([worn], beside)
    assert payload_of(answer) == worn.payload


@pytest.mark.parametrize(
    ("before", "pronoun"),
    [("Tom and Peter came. He lives in Rome", "he"), ("Tom, Peter and Anna came. He lives in Rome", "he"),
     ("Anna or Clara called. She lives in Rome", "she"), ("Tom and Peter came. They live in Rome", "they")],
)  # fmt: skip
def test_of_several_named_as_equals_nobody_is_guessed(before: str, pronoun: str) -> None:
    sentence = before.partition(". ")[2]
    [answer] = refer([fact(pronoun, "lives-in", "Rome", sentence)], said(before), (), (), TYPES)
    assert isinstance(answer, Unresolved)
    assert "named together" in answer.reason


def test_the_only_one_of_them_that_fits_is_meant() -> None:
    [answer] = refer(
        [fact("he", "lives-in", "Rome", "He lives in Rome")], said("Anna and Tom came. He lives in Rome"), (), (), TYPES
    )
    assert isinstance(answer, Proposal)
    assert answer.payload["subject"] == "Tom"


def test_turns_of_one_time_are_told_apart_by_their_order() -> None:
    spoken = [
        Referent(
            name=name, entity_type="person", role="subject", last_said_at=NOON, turn=UUID(int=place), session_id="s1"
        )
        for place, name in enumerate(("Tom", "Peter"), start=1)
    ]
    turn = said("He lives in Rome", session="s1")
    [answer] = refer([fact("he", "lives-in", "Rome", "He lives in Rome")], turn, spoken, (), TYPES)
    assert isinstance(answer, Proposal)
    assert answer.payload["subject"] == "Peter"

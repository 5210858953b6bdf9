"""Chains of statements: found by their objects, shown whole, and only where one statement does not answer."""

from __future__ import annotations

from app.model import Scope, ScopeKind, SpeechAct
from tests.read.conftest import USER, Store

OTHER = Scope(kind=ScopeKind.USER, user_id="another")

CHAIN = (
    ("user", "drives", "Tavo"),
    ("Tavo", "manufactured-by", "Belin"),
    ("Belin", "chief-engineer", "Ada Korda"),
)
BESIDE = (
    ("Tavo", "number-of-seats", "five"),
    ("Belin", "founded-in", "1987"),
    ("Rika", "drives", "Lomo"),
    ("Lomo", "manufactured-by", "Quint"),
    ("Quint", "chief-engineer", "Piet Vos"),
)


async def tell(store: Store, *facts: tuple[str, str, str], scope: Scope = USER) -> None:
    for subject, predicate, value in facts:
        payload = {"subject": subject, "predicate": predicate, "object": value}
        await store.write(store.candidate("fact", payload, scope))


async def shown(store: Store, question: str) -> list[str]:
    return [hit.memory.content for hit in (await store.ask(question)).hits]


async def test_every_statement_of_a_chain_comes_first_in_its_order(store: Store) -> None:
    await tell(store, *reversed(CHAIN), *BESIDE)
    found = await shown(store, "Who is the chief engineer of the manufacturer of the car I drive?")
    assert [one.rsplit(" ", 1)[-1] for one in found[:3]] == ["Tavo", "Belin", "Korda"]


async def test_a_chain_is_followed_from_whoever_is_named(store: Store) -> None:
    await tell(store, *CHAIN, *BESIDE)
    found = await shown(store, "Who is the chief engineer of the manufacturer of what Rika drives?")
    assert [one.rsplit(" ", 1)[-1] for one in found[:3]] == ["Lomo", "Quint", "Vos"]


async def test_one_statement_that_answers_leads_nowhere(store: Store) -> None:
    await tell(store, *CHAIN, *BESIDE)
    result = await store.ask("What do I drive?")
    assert not any("lead to the answer" in note for hit in result.hits for note in hit.notes)


async def test_a_replaced_statement_is_no_way(store: Store) -> None:
    await tell(store, ("user", "reports-to", "Ada"), ("Ada", "secretary", "Bo"), ("Cem", "secretary", "Dora"))
    await tell(store, ("user", "reports-to", "Cem"))
    found = await shown(store, "Who is the secretary of the person I report to?")
    assert any("Dora" in one for one in found)
    assert not any("Ada" in one and "report" in one for one in found)


async def test_other_users_statements_are_not_reached(store: Store) -> None:
    await tell(store, CHAIN[0], CHAIN[2])
    await tell(store, CHAIN[1], scope=OTHER)
    found = await shown(store, "Who is the chief engineer of the manufacturer of the car I drive?")
    assert not any("manufactured" in one for one in found)


async def test_whom_one_calls_ones_own_begins_a_chain_and_nobody_else(store: Store) -> None:
    await tell(store, ("user", "has-sibling", "Clara"), ("Clara", "lives-in", "Graz"))
    await tell(store, ("user", "has-sibling", "Max"), ("Max", "works-at", "Orvo"), ("Orvo", "headquartered-in", "Bonn"))
    entity = {"canonical_name": "Max", "entity_type": "person", "attributes": {"relationship": "user's brother"}}
    await store.write(store.candidate("entity", entity, USER))
    found = await shown(store, "In which city is the employer of my brother headquartered?")
    said = [one.rsplit(" ", 1)[-1] for one in found]
    assert said.index("Bonn") == said.index("Orvo") + 1 <= 2
    assert not any("Clara" in one for one in found[:3])


async def test_one_who_is_no_longer_is_not_at_the_end_of_a_chain_of_what_is(store: Store) -> None:
    await tell(store, ("user", "reports-to", "Tom"), ("Tom", "lives-in", "Paris"))
    result = await store.ask("Where does my former boss live?")
    assert not any("lead to the answer" in note for hit in result.hits for note in hit.notes)


async def test_what_was_never_meant_is_no_way(store: Store) -> None:
    await tell(store, *CHAIN[1:], *BESIDE)
    payload = {"subject": "user", "predicate": "drives", "object": "Tavo"}
    await store.write(store.candidate("fact", payload, speech_act=SpeechAct.HYPOTHETICAL))
    result = await store.ask("Who is the chief engineer of the manufacturer of the car I drive?")
    assert not any("drives Tavo" in hit.memory.content for hit in result.hits)

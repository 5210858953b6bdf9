"""The semantic arm by the questions memories answer: it finds more, owes nothing, and shows nobody else's."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID, uuid4

import numpy as np
import pytest

from app.model import ReadMode, Scope, ScopeKind
from app.providers.protocols import RuleQuestions
from app.read.plan import TABLE
from app.read.retrieve import Search, is_exact, retrieve
from app.read.values import Arm
from app.write.hype import Hype
from tests.read.conftest import USER, MakeStore, Store
from tests.read.test_retrieval import arm, crowd, fill, search_for, sentences
from tests.support.waiting import eventually

both_ways = pytest.mark.parametrize("exact", [True, False], ids=["exact", "approximate"])


async def give_questions(store: Store, *memories: UUID) -> None:
    hype = Hype(
        database=store.database,
        embedder=store.reads.embedder,
        model_id=1,
        writer=RuleQuestions(language="english"),
        types=store.types,
    )
    async for _ in hype.ask(store.tenant, memories):
        pass


async def put_facts(store: Store, count: int, scope: Scope = USER) -> list[UUID]:
    return await store.write(
        *(
            store.candidate(
                "fact", {"subject": "user", "predicate": f"has-trait-{n}", "object": f"barn {n} by the river"}, scope
            )
            for n in range(count)
        )
    )


async def into_the_index(store: Store) -> None:
    for table in ("memory_index", "hypothetical_embeddings"):
        await store.sql(f"UPDATE {table} SET ann = true WHERE tenant_id = $1", store.tenant)  # noqa: S608 - ours


async def score_of(store: Store, search: Search, memory: UUID) -> float:
    return dict(await arm(store, search, Arm.SEMANTIC))[memory]


async def cosine(store: Store, text: str, question: str) -> float:
    vectors = await store.reads.embedder.embed([text, question], purpose="query")
    return float(vectors[0] @ vectors[1])


@both_ways
async def test_a_memory_gains_half_of_what_its_best_question_is_ahead(store: Store, exact: bool) -> None:  # noqa: FBT001
    memory = await store.put("fact", {"predicate": "works-at", "object": "Volkswagen"})
    asked = "Which company is my employer?"
    before = await search_for(store, asked)
    assert before.questions == 0
    said = await score_of(store, before, memory)

    await give_questions(store, memory)
    search = await search_for(store, asked, exact=exact)
    best = max(
        [
            await cosine(store, asked, question)
            for question in ("Where do I work?", "Which company, firm or employer is my job at?")
        ]
    )
    assert best > said
    assert search.questions == 0.5
    assert await score_of(store, search, memory) == pytest.approx(said + (best - said) / 2, abs=0.005)


@both_ways
async def test_a_question_that_is_behind_takes_nothing_away(store: Store, exact: bool) -> None:  # noqa: FBT001
    memory = await store.put("fact", {"predicate": "works-at", "object": "Volkswagen"})
    asked = "cars made by Volkswagen"
    said = await score_of(store, await search_for(store, asked), memory)
    await give_questions(store, memory)
    await store.sql("DELETE FROM hypothetical_embeddings WHERE tenant_id = $1 AND ordinal > 0", store.tenant)
    search = await search_for(store, asked, exact=exact)
    assert await cosine(store, asked, "Where do I work?") < said
    assert await score_of(store, search, memory) == pytest.approx(said, abs=0.005)


async def test_a_question_in_other_words_finds_its_memory_first(store: Store) -> None:
    others = [
        await store.put("fact", {"predicate": predicate, "object": value})
        for predicate, value in (
            ("visits", "his dentist in spring"),
            ("reads", "novels about detectives"),
            ("collects", "stamps of old republics"),
            ("sings-in", "a choir"),
            ("is-afraid-of", "bankers"),
        )
    ]
    wanted = await store.put("fact", {"predicate": "has-role", "object": "luthier"})
    asked = "Which profession do I have?"
    assert (await store.found(asked, min_relevance=0.0))[0] != wanted
    await give_questions(store, *others, wanted)
    assert (await store.found(asked))[0] == wanted


@pytest.mark.long
@both_ways
async def test_the_arm_returns_as_many_as_there_are_under_every_filter(store: Store, exact: bool) -> None:  # noqa: FBT001
    await crowd(store, 2_000, Scope(kind=ScopeKind.USER, user_id="crowd"))
    await fill(store, sentences(150))
    facts = await put_facts(store, 40)
    await give_questions(store, *facts)
    await into_the_index(store)
    search = await search_for(store, "what trait is that", exact=exact)
    assert search.questions > 0
    assert len(await arm(store, search, Arm.SEMANTIC)) == 100
    for filters, expected in (
        (replace(search.filters, types=("fact",)), 40),
        (replace(search.filters, types=("episodic",)), 100),
        (replace(search.filters, types=("fact",), excluded=(uuid4(),)), 40),
        (replace(search.filters, topic="nothing"), 0),
        (replace(search.filters, min_confidence=0.99), 0),
        (replace(search.filters, mode=ReadMode.AUDIT, types=("fact",)), 40),
    ):
        hits = await arm(store, replace(search, filters=filters), Arm.SEMANTIC)
        assert len({memory for memory, _ in hits}) == len(hits) == expected
        assert [score for _, score in hits] == sorted((score for _, score in hits), reverse=True)


@pytest.mark.long
async def test_the_vector_indexes_find_what_comparing_all_finds(store: Store) -> None:
    await crowd(store, 2_000, USER)
    facts = await put_facts(store, 400)
    await give_questions(store, *facts)
    await into_the_index(store)
    shares = []
    for asked in ("what trait do I have", "which barn is it", "who has trait 7"):
        search = await search_for(store, asked)
        near, every = [
            {one for one, _ in await arm(store, replace(search, exact=exact), Arm.SEMANTIC)} for exact in (False, True)
        ]
        shares.append(len(near & every) / len(every))
    assert np.mean(shares) >= 0.95


@pytest.mark.long
async def test_questions_of_memories_that_may_not_answer_do_not_crowd_out_the_others(store: Store) -> None:
    asked = "What trait do I have?"
    replaced = await put_facts(store, 250)
    qualities = await store.write(
        *(store.candidate("fact", {"predicate": f"has-quality-{n}", "object": f"violin {n}"}) for n in range(20))
    )
    await fill(store, [f"We talked about what barn {n} by the river may have" for n in range(350)])
    await give_questions(store, *replaced, *qualities)
    await store.sql(
        "UPDATE memory_index SET status = 'superseded' WHERE tenant_id = $1 AND memory_id = ANY($2)",
        store.tenant,
        replaced,
    )
    await into_the_index(store)
    search = await search_for(store, asked)
    near, every = [
        [one for one, _ in await arm(store, replace(search, exact=exact), Arm.SEMANTIC)] for exact in (False, True)
    ]
    assert set(qualities) <= set(every)
    assert set(qualities) <= set(near)


@pytest.mark.long
@pytest.mark.one_server
async def test_an_approximate_search_reads_the_index_of_questions(lone_store: Store) -> None:
    store = lone_store
    await crowd(store, 3_000, USER)
    facts = await put_facts(store, 300)
    await give_questions(store, *facts)
    await into_the_index(store)
    await store.sql("ANALYZE hypothetical_embeddings, memory_index")
    used = "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = 'ix_hypothetical_embeddings_model_1'"
    [before] = await store.sql(used)
    search = await search_for(store, "what trait do I have", exact=False)
    for _ in range(3):
        async with store.database.read(store.tenant, plan_cache_mode="force_generic_plan") as session:
            await retrieve(session, search)
    # A connection that ends hands in its counts.
    await store.database.close()

    async def counted() -> bool:
        [after] = await store.sql(used)
        return bool(after["idx_scan"] >= before["idx_scan"] + 3)

    await eventually(counted)


async def test_questions_do_not_bring_back_what_was_replaced(store: Store) -> None:
    old = await store.put("preference", {"preference_key": "editor.theme", "preference_value": "dark"})
    await give_questions(store, old)
    new = await store.put("preference", {"preference_key": "editor.theme", "preference_value": "light"})
    for exact in (True, False):
        search = await search_for(store, "Which editor theme do I prefer?", exact=exact)
        assert search.questions > 0
        assert [memory for memory, _ in await arm(store, search, Arm.SEMANTIC)] == [new]
        past = replace(search, filters=replace(search.filters, mode=ReadMode.HISTORICAL))
        assert {memory for memory, _ in await arm(store, past, Arm.SEMANTIC)} == {old, new}


async def test_neighbours_questions_change_nothing(store: Store, make_store: MakeStore) -> None:
    facts = await put_facts(store, 20)
    await give_questions(store, *facts)
    asked = "What trait do I have?"
    before = [(hit.memory.id, round(hit.score, 9)) for hit in (await store.ask(asked)).hits]

    stranger = await make_store()
    await give_questions(stranger, *await put_facts(stranger, 30))
    others = Scope(kind=ScopeKind.USER, user_id="u2")
    await give_questions(store, *await put_facts(store, 30, others))
    assert [(hit.memory.id, round(hit.score, 9)) for hit in (await store.ask(asked)).hits] == before


async def test_a_store_without_questions_does_not_look_for_them(store: Store) -> None:
    await put_facts(store, 3)
    elsewhere = Scope(kind=ScopeKind.USER, user_id="u2")
    await give_questions(store, *await put_facts(store, 3, elsewhere))
    with store.statements() as seen:
        assert await store.found("What trait do I have?")
    searches = [one for one in seen if "memory_index" in one and "WITH RECURSIVE me" not in one]
    assert searches
    assert not any("hypothetical_embeddings q" in one for one in searches)


async def test_types_that_are_not_asked_by_questions_are_found_without(store: Store) -> None:
    await give_questions(store, *await put_facts(store, 3))
    await fill(store, ["We talked about barns."])
    with store.statements() as seen:
        assert await store.found("What about barns?", types=("episodic",))
    searches = [one for one in seen if "memory_index" in one and "WITH RECURSIVE me" not in one]
    assert searches
    assert not any("hypothetical_embeddings q" in one for one in searches)
    with store.statements() as seen:
        assert await store.found("What trait is that?", types=("episodic", "fact"))
    assert any("hypothetical_embeddings q" in one and "memory_index" in one for one in seen)


def test_questions_bring_the_vector_index_in_earlier() -> None:
    assert is_exact(memories=15_000, index_rows=15_000, depth=100)
    assert not is_exact(memories=15_000, index_rows=15_000, depth=100, questions=True)
    assert is_exact(memories=10_000, index_rows=15_000, depth=100, questions=True)


def test_every_plan_says_what_questions_count() -> None:
    assert all(0 <= row.plan.questions <= 1 for row in TABLE)

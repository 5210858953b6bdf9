"""The arms against the store: complete, exact where they promise it, blind to neighbours, few round trips."""

from __future__ import annotations

import random
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from uuid import UUID, uuid4

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.db.entities import query_lookup
from app.db.session import ReadSession
from app.db.sql import as_halfvec
from app.lexical.bm25 import as_tsquery, index_of, terms
from app.model import ReadMode, Scope, ScopeKind, Visibility
from app.providers.embeddings import Purpose, Vectors
from app.providers.wordllama import WordllamaEmbedder
from app.read import understand
from app.read.heed import NO_SUBJECT
from app.read.retrieve import Search, is_exact, nominators, retrieve
from app.read.search import Question
from app.read.values import Arm, QueryRequest
from tests.read.conftest import NOW, USER, MakeStore, Store
from tests.support.bm25_reference import Reference, same_top

WORDS = "tea coffee barn river piano violin garden marathon office harbour lantern museum saddle quartz".split()  # noqa: SIM905


def sentences(count: int, seed: int = 7) -> list[str]:
    pick = random.Random(seed)  # noqa: S311 - repeatable, not secret
    return [" ".join(pick.choices(WORDS, k=pick.randint(3, 9))) + f" note{n}" for n in range(count)]


async def fill(store: Store, texts: list[str], scope: Scope = USER, type_name: str = "episodic") -> list[UUID]:
    return await store.write(
        *(
            store.candidate(type_name, {"content": text, "session_id": "s", "sequence_number": n}, scope)
            for n, text in enumerate(texts)
        )
    )


async def search_for(store: Store, text: str, **changes: object) -> Search:
    request = QueryRequest(query=text, now=NOW, visibility=Visibility(user_id="u1"))
    reads = store.reads
    reading = understand.parse_question(request, types=reads.types.known(store.tenant), language="english")
    types = reads.types.known(store.tenant)
    async with store.database.read(store.tenant) as session:
        known = await reads._look_up(session, store.tenant, request, reading, types, NO_SUBJECT)
    query = understand.resolve_question(reading, known, types=types)
    question = Question(tenant=store.tenant, request=request, query=query, known=known, types=types, started=0.0)
    search = reads.search._search(question, await reads._embed(query.dense_text))
    return replace(search, **changes)  # type: ignore[arg-type]


async def arm(store: Store, search: Search, name: Arm) -> list[tuple[UUID, float]]:
    async with store.database.read(store.tenant) as session:
        return list((await retrieve(session, replace(search, arms=frozenset({name})))).arms[name])


async def test_the_lexical_arm_is_bm25(store: Store) -> None:
    texts = sentences(300)
    ids = await fill(store, texts)
    reference = Reference([terms(text) for text in texts])
    # Weights go by the average length that a scope's first write set: all were written at once.
    for query in ("tea barn", "piano violin museum", "note17 quartz", "office office river"):
        hits = await arm(store, await search_for(store, query), Arm.LEXICAL)
        ranked = [ids.index(memory) for memory, _ in hits]
        distinct = tuple(dict.fromkeys(terms(query)))
        assert same_top(ranked, reference.scores(distinct))


def test_rarer_terms_nominate_and_the_rarest_always() -> None:
    frequencies = {index_of("rare"): 10, index_of("some"): 3_000, index_of("common"): 60_000}
    assert nominators(("common", "some", "rare", "never"), frequencies, 100_000) == ("rare", "some")
    assert nominators(("common",), frequencies, 100_000) == ("common",)
    assert nominators(("never",), frequencies, 100_000) == ()
    huge = {index_of("rare"): 12_000, index_of("some"): 9_000, index_of("common"): 400_000}
    assert nominators(("common", "some", "rare"), huge, 10_000_000) == ("some",)
    small = {index_of("common"): 500, index_of("rare"): 2}
    assert nominators(("common", "rare"), small, 600) == ("rare", "common")


@given(st.lists(st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), min_size=1), min_size=1))
def test_a_term_is_never_read_as_syntax(words: list[str]) -> None:
    quoted = re.fullmatch(r"'(?:[^'\\]|''|\\\\)+'(?: \| '(?:[^'\\]|''|\\\\)+')*", as_tsquery(words), re.DOTALL)
    assert quoted is not None


async def test_odd_terms_are_found(store: Store) -> None:
    memory = await store.put("fact", {"predicate": "uses", "object": "pg_trgm & C++ \\ o'brien:* | !x"})
    for query in ("pg_trgm", "C++", "o'brien:*", "\\ & | ! () pg_trgm"):
        assert memory in await store.found(query)


@pytest.mark.long
@pytest.mark.parametrize("exact", [True, False])
async def test_the_semantic_arm_returns_as_many_as_there_are_under_every_filter(store: Store, exact: bool) -> None:  # noqa: FBT001
    """The trap: a filtered vector index answers 5 rows where 50 were asked for, and says nothing."""
    await crowd(store, 3_000, Scope(kind=ScopeKind.USER, user_id="crowd"))
    await fill(store, sentences(150))
    fewer = [
        await store.put("fact", {"subject": f"thing {n}", "predicate": "is-at", "object": f"barn {n}"})
        for n in range(30)
    ]
    search = await search_for(store, "tea in the barn", exact=exact)
    assert len(await arm(store, search, Arm.SEMANTIC)) == 100
    for filters, expected in (
        (replace(search.filters, types=("fact",)), 30),
        (replace(search.filters, types=("fact",), excluded=(uuid4(),)), 30),
        (replace(search.filters, topic="nothing"), 0),
        (replace(search.filters, min_confidence=0.99), 0),
        (replace(search.filters, mode=ReadMode.AUDIT, types=("fact",)), 30),
    ):
        hits = await arm(store, replace(search, filters=filters), Arm.SEMANTIC)
        assert len({memory for memory, _ in hits}) == expected
        assert {memory for memory, _ in hits} <= set(fewer)
    scores = [score for _, score in await arm(store, search, Arm.SEMANTIC)]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.long
async def test_the_vector_index_finds_what_comparing_all_finds(store: Store) -> None:
    await crowd(store, 3_000, USER)
    recalls = []
    for query in ("tea in the barn", "a violin at the harbour", "museum lantern"):
        search = await search_for(store, query)
        near = {one for one, _ in await arm(store, replace(search, exact=False), Arm.SEMANTIC)}
        every = {one for one, _ in await arm(store, replace(search, exact=True), Arm.SEMANTIC)}
        recalls.append(len(near & every) / len(every))
    assert np.mean(recalls) >= 0.95


def test_small_scopes_are_compared_in_full_and_so_are_thin_slices_of_a_large_index() -> None:
    assert is_exact(memories=20_000, index_rows=10**7, depth=100)
    assert not is_exact(memories=100_000, index_rows=310_000, depth=100)
    assert is_exact(memories=100_000, index_rows=10**7, depth=100)


async def crowd(store: Store, rows: int, scope: Scope) -> None:
    """Put many memories of random meaning into a scope, past the write pipeline."""
    pick = np.random.default_rng(5)
    vectors = pick.normal(size=(rows, 256)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    ids = [uuid4() for _ in range(rows)]
    scope_id = scope.id(store.tenant)
    await store.sql(
        """INSERT INTO scopes (tenant_id, id, kind, user_id, version, memory_count)
           VALUES ($1, $2, 'user', $3, 1, $4)
           ON CONFLICT (tenant_id, id) DO UPDATE SET memory_count = scopes.memory_count + $4""",
        store.tenant,
        scope_id,
        scope.user_id,
        rows,
    )
    await store.sql(
        """INSERT INTO memories (tenant_id, id, scope_id, type, category, status, content, identity,
               source_strength, extractor_confidence, prior, confidence, importance, stated_at, valid_from,
               recorded_at, updated_at)
           SELECT $1, id, $2, 'episodic', 'episodic', 'active', 'noise', 'x', .9, .9, .1, .7, .5, $4, $4, $4, $4
           FROM unnest($3::uuid[]) id""",
        store.tenant,
        scope_id,
        ids,
        NOW,
    )
    await store.sql(
        """INSERT INTO memory_index (tenant_id, memory_id, part, kind, scope_id, type, status, confidence,
               valid_from, recorded_at, stated_at, words, asks, model_id, embedding)
           SELECT $1, g.id, 0, 'content', $2, 'episodic', 'active', .7, $5, $5, $5, 1, false, 1, g.vector::halfvec
           FROM unnest($3::uuid[], $4::text[]) AS g(id, vector)""",
        store.tenant,
        scope_id,
        ids,
        [as_halfvec(vector).to_text() for vector in vectors],
        NOW,
    )


async def test_a_memory_counts_once_by_its_best_part(store: Store) -> None:
    filler = "The weather was mild and nothing else of note took place that day. " * 12
    memory = await store.put(
        "episodic", {"content": f"{filler}We bought a piano. {filler}", "session_id": "s", "sequence_number": 1}
    )
    hits = await arm(store, await search_for(store, "bought a piano"), Arm.SEMANTIC)
    assert [one for one, _ in hits] == [memory]


async def test_neighbours_change_nothing(store: Store, make_store: MakeStore) -> None:
    texts = sentences(60)
    await fill(store, texts)
    await store.put("relation", {"from_entity": "Sarah", "relation_type": "reports-to", "to_entity": "Priya"})
    questions = ("tea in the barn", "Who does Sarah report to?", "museum and quartz", "What happened yesterday?")
    before = [[(hit.memory.id, round(hit.score, 9)) for hit in (await store.ask(one)).hits] for one in questions]

    others = Scope(kind=ScopeKind.USER, user_id="u2")
    await fill(store, sentences(400, seed=8), scope=others)
    await store.put(
        "relation", {"from_entity": "Sarah", "relation_type": "reports-to", "to_entity": "Tom"}, scope=others
    )
    stranger = await make_store()
    await fill(stranger, sentences(400, seed=9))
    after = [[(hit.memory.id, round(hit.score, 9)) for hit in (await store.ask(one)).hits] for one in questions]
    assert after == before


async def test_the_same_question_has_the_same_answer(store: Store) -> None:
    await fill(store, ["the same words said again"] * 30)
    first = await store.ask("the same words")
    again = await store.ask("the same words")
    assert [hit.memory.id for hit in first.hits] == [hit.memory.id for hit in again.hits]
    assert [hit.score for hit in first.hits] == pytest.approx([hit.score for hit in again.hits])


async def test_a_question_takes_four_statements_and_five_where_it_touches_food(store: Store) -> None:
    await store.put("fact", {"predicate": "plays", "object": "chess"})
    await store.put("fact", {"predicate": "drinks", "object": "tea"})
    for question, taken in (("Which game does the user play?", 4), ("Which tea does the user drink?", 5)):
        await store.ask(question)
        with store.statements() as seen:
            await store.ask(question)
        assert len(seen) == taken


async def test_a_question_to_an_empty_scope_takes_one_statement_and_no_vector(
    store: Store, make_store: MakeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    neighbour = await make_store()
    await neighbour.put("fact", {"predicate": "drinks", "object": "tea"})
    monkeypatch.setattr(WordllamaEmbedder, "embed", None)
    with store.statements() as seen:
        answer = await store.ask("Which teas does the user drink?")
    assert (len(seen), answer.hits, answer.context.text) == (1, (), "")


@pytest.mark.parametrize(("local", "transactions"), [(True, 1), (False, 2)])
async def test_no_transaction_is_open_while_a_remote_embedder_is_waited_for(
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
    local: bool,  # noqa: FBT001 - a parameter of the test
    transactions: int,
) -> None:
    await store.put("fact", {"predicate": "drinks", "object": "tea"})
    embedder, read = store.reads.embedder, store.database.read
    opened: list[bool] = []
    while_embedding: list[bool] = []

    @asynccontextmanager
    async def watched(tenant: UUID | None, **settings: str) -> AsyncIterator[ReadSession]:
        opened.append(True)
        async with read(tenant, **settings) as session:
            yield session
        opened[-1] = False

    async def embed(texts: Sequence[str], *, purpose: Purpose = "document") -> Vectors:
        while_embedding.append(any(opened))
        return await WordllamaEmbedder.embed(embedder, texts, purpose=purpose)  # type: ignore[arg-type]

    monkeypatch.setattr(store.database, "read", watched)
    monkeypatch.setattr(embedder, "embed", embed)
    monkeypatch.setattr(embedder, "local", local)
    assert (await store.ask("Which tea does the user drink?")).hits
    assert (len(opened), while_embedding) == (transactions, [local])


async def test_a_hub_does_not_nominate_the_whole_store(store: Store) -> None:
    await store.write(
        *(
            store.candidate("fact", {"subject": "user", "predicate": f"did-{n}", "object": f"chore {n}"})
            for n in range(150)
        )
    )
    boss = await store.put("relation", {"from_entity": "me", "relation_type": "reports-to", "to_entity": "Priya"})
    search = await search_for(store, "Who do I report to?")
    hits = await arm(store, search, Arm.GRAPH)
    assert hits[0][0] == boss
    assert hits[0][1] == pytest.approx(1.0)
    assert len(hits) < 50


async def test_speaking_alone_does_not_make_a_memory_about_someone(store: Store) -> None:
    await store.write(
        *(
            store.candidate("episodic", {"content": text, "session_id": "s", "sequence_number": n, "speaker": "Ann"})
            for n, text in enumerate(sentences(40))
        )
    )
    about = await store.put("fact", {"subject": "Ann", "predicate": "plays", "object": "the cello"})
    hits = await arm(store, await search_for(store, "What about Ann?"), Arm.GRAPH)
    assert [memory for memory, _ in hits] == [about]


async def test_the_database_times_each_arm(store: Store) -> None:
    await store.put("fact", {"predicate": "drinks", "object": "tea"})
    search = await search_for(store, "tea")
    async with store.database.read(store.tenant) as session:
        found = await retrieve(session, search)
    assert set(found.seconds) == set(found.arms)
    assert all(seconds >= 0 for seconds in found.seconds.values())


async def test_the_look_up_knows_merged_entities_by_every_name(store: Store) -> None:
    await store.put("fact", {"subject": "P. Sharma", "predicate": "has-role", "object": "lead"})
    await store.put("fact", {"subject": "Priya", "predicate": "lives-in", "object": "Pune"})
    await store.put("entity", {"canonical_name": "Priya", "entity_type": "person", "aliases": ["P. Sharma"]})
    async with store.database.read(store.tenant) as session:
        known = await query_lookup.look_up(
            session,
            query_lookup.Asked(names=["p. sharma", "priya", "x"], terms=[]),
            tenant=store.tenant,
            scopes=[USER.id(store.tenant)],
            vector_index="none",
        )
    by_alias = {one.alias: one for one in known.entities}
    assert set(by_alias) == {"p. sharma", "priya"}
    assert by_alias["p. sharma"].ids == by_alias["priya"].ids
    assert len(by_alias["priya"].ids) == 2

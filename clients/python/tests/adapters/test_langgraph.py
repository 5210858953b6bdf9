from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.runtime import Runtime

from typed_memory_client import TypedMemory, langgraph
from typed_memory_client.langgraph import NotSetUp, TypedMemoryStore


@pytest.fixture
def store(memory: TypedMemory) -> TypedMemoryStore:
    made = TypedMemoryStore(memory)
    made.setup()
    return made


def test_an_item_is_read_as_it_was_put(store: TypedMemoryStore) -> None:
    value = {"text": "Ana plays the cello", "since": 2019, "tags": ["music"]}
    store.put(("memories", "ana"), "cello", value)
    found = store.get(("memories", "ana"), "cello")
    assert found is not None
    assert (found.value, found.key, found.namespace) == (value, "cello", ("memories", "ana"))
    assert store.get(("memories", "bo"), "cello") is None


def test_a_second_put_replaces_the_first_and_keeps_keys_apart(store: TypedMemoryStore) -> None:
    for text in ("likes tea", "likes coffee"):
        store.put(("memories", "ana"), "drink", {"text": text})
        store.put(("memories", "ana"), "drinks", {"text": text})
    found = store.search(("memories", "ana"))
    assert sorted((one.key, one.value["text"]) for one in found) == [
        ("drink", "likes coffee"),
        ("drinks", "likes coffee"),
    ]


def test_search_goes_by_meaning_under_the_prefix(store: TypedMemoryStore) -> None:
    store.put(("memories", "ana"), "1", {"text": "Ana plays the cello in an orchestra"})
    store.put(("memories", "ana"), "2", {"text": "Ana lives in Porto"})
    store.put(("memories", "bo"), "3", {"text": "Bo plays the cello"})
    first = store.search(("memories", "ana"), query="Which instrument does Ana play?", limit=1)
    assert [one.key for one in first] == ["1"]
    assert first[0].score is not None


def test_search_ranks_all_items_however_they_are_put(store: TypedMemoryStore) -> None:
    texts = {"pet": "Her terrier is called Biscuit", "diet": "No gluten for her", "town": "Relocated to Utrecht in May"}
    for key, text in texts.items():
        store.put(("facts", "mia"), key, {"text": text})
    for query, best in (("Where is home?", "town"), ("What must the cook leave out?", "diet")):
        found = store.search(("facts", "mia"), query=query)
        assert {one.key for one in found} == set(texts), query
        scores = [one.score or 0.0 for one in found]
        assert scores == sorted(scores, reverse=True)
        assert best in [one.key for one in found]
    assert len(store.search(("facts", "mia"), query="zzz qqq", limit=2)) == 2


def test_a_store_without_its_setup_says_so(memory: TypedMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(langgraph, "TYPE", "undefined_item")
    store = TypedMemoryStore(memory)
    for use in (
        lambda: store.put(("notes",), "1", {"text": "x"}),
        lambda: store.get(("notes",), "1"),
        lambda: store.search(("notes",), query="x"),
        lambda: store.search(("notes",)),
        store.list_namespaces,
    ):
        with pytest.raises(NotSetUp, match=r"store\.setup\(\)"):
            use()


def test_search_filters_by_values(store: TypedMemoryStore) -> None:
    for number in range(4):
        store.put(("notes",), str(number), {"text": f"note number {number}", "rank": number})
    assert {one.key for one in store.search(("notes",), filter={"rank": {"$gte": 2}})} == {"2", "3"}
    assert {one.key for one in store.search(("notes",), filter={"rank": 1})} == {"1"}
    assert len(store.search(("notes",), limit=2, offset=3)) == 1


def test_a_deleted_item_is_gone_with_its_history(store: TypedMemoryStore, memory: TypedMemory) -> None:
    for text in ("first", "second"):
        store.put(("notes",), "1", {"text": text})
    store.delete(("notes",), "1")
    assert store.get(("notes",), "1") is None
    assert list(memory.memories(type=["langgraph_item"])) == []


def test_namespaces_are_listed(store: TypedMemoryStore) -> None:
    for namespace in (("memories", "ana", "music"), ("memories", "bo"), ("notes",)):
        store.put(namespace, "1", {"text": "something"})
    assert store.list_namespaces(prefix=("memories",)) == [("memories", "ana", "music"), ("memories", "bo")]
    assert store.list_namespaces(max_depth=1) == [("memories",), ("notes",)]
    assert store.list_namespaces(suffix=("bo",)) == [("memories", "bo")]


def test_a_namespace_can_belong_to_a_user(memory: TypedMemory, user: str) -> None:
    store = TypedMemoryStore(memory.for_user("nobody"), user_of=lambda namespace: namespace[1])
    store.setup()
    store.put(("memories", user), "1", {"text": "Ana plays the cello"})
    assert [one.user_id for one in memory.memories()] == [user]
    assert store.list_namespaces(prefix=("memories", user)) == [("memories", user)]
    assert store.list_namespaces() == []


async def test_a_graph_uses_the_store(store: TypedMemoryStore) -> None:
    async def keep(state: MessagesState, runtime: Runtime[None]) -> dict[str, Any]:
        assert runtime.store is not None
        await runtime.store.aput(("memories",), "said", {"text": str(state["messages"][-1].content)})
        found = await runtime.store.asearch(("memories",), query="instrument")
        return {"messages": [("ai", found[0].value["text"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("keep", keep)
    graph.add_edge(START, "keep")
    state = await graph.compile(store=store).ainvoke({"messages": [HumanMessage("I play an instrument, the cello.")]})
    assert state["messages"][-1].content == "I play an instrument, the cello."

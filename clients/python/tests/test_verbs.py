"""Every verb, against a real service."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from service import Service
from typed_memory_client import (
    AsyncTypedMemory,
    InvalidInput,
    NotConfigured,
    NotFound,
    ReviewConflict,
    TypedMemory,
    models,
)


def test_what_was_said_is_recalled(memory: TypedMemory) -> None:
    stored = memory.remember("I live in Porto and I work as a nurse.")
    assert [one.status for one in stored.turns] == ["processed"]
    found = memory.recall("Where does the user live?")
    assert "user lives in Porto" in found.context.text


def test_messages_are_remembered_by_a_job_that_can_be_awaited(memory: TypedMemory) -> None:
    stored = memory.remember(
        [
            {"role": "user", "content": "I play the cello.", "occurred_at": datetime(2026, 5, 4, tzinfo=UTC)},
            {"role": "assistant", "content": "How lovely!"},
        ],
        session_id="monday",
        wait=False,
    )
    assert stored.job_id is not None
    job = memory.wait_for(stored.job_id)
    assert job.status == "succeeded"
    assert stored.job_id in [one.id for one in memory.jobs(limit=200)]
    assert {one.role for one in memory.turns()} == {"user", "assistant"}
    first = next(memory.turns())
    assert first.id is not None
    assert memory.turn(first.id).session_id == "monday"


def test_a_single_message_is_remembered(memory: TypedMemory) -> None:
    stored = memory.remember({"role": "user", "content": "I live in Porto."})
    assert [one.status for one in stored.turns] == ["processed"]


def test_messages_of_chat_libraries_are_remembered(memory: TypedMemory) -> None:
    stored = memory.remember(
        [
            {"role": "system", "content": "You are helpful."},
            {"role": "user", "content": [{"type": "text", "text": "I live in Porto."}], "name": "Ana"},
        ]
    )
    assert [one.status for one in stored.turns] == ["processed"]
    assert [one.place for one in stored.ignored] == [0]


def test_an_ended_belief_comes_back_when_the_decision_is_undone(memory: TypedMemory) -> None:
    held = memory.write("fact", predicate="works-at", object="Otto").memory
    assert held is not None
    memory.ask_for_review(held)
    item = next(memory.reviews())
    assert memory.decide(item, "end", since="2026-01-01T00:00:00Z", reviewer="Ana").outcome == "ended"
    undone = memory.undo(item.id)
    assert undone.memory is not None
    assert undone.memory.status == "active"


def test_without_a_language_model_an_answer_says_what_to_set(memory: TypedMemory) -> None:
    with pytest.raises(NotConfigured, match="TM_LLM_PROVIDER"):
        memory.answer("Where does the user live?")


def test_a_dry_run_stores_nothing(memory: TypedMemory) -> None:
    assert memory.remember("I live in Porto.", dry_run=True).turns[0].id is None
    assert list(memory.memories()) == []


def test_a_second_value_replaces_the_first(memory: TypedMemory) -> None:
    memory.write("preference", preference_key="editor.theme", preference_value="dark")
    second = memory.write("preference", preference_key="editor.theme", preference_value="light")
    assert second.decision == "superseded"
    match second.memory:
        case models.PreferenceMemory(preference_value=value):
            assert value == "light"
        case _:
            pytest.fail("a preference is expected")
    assert [one.status for one in memory.history(second.memory).versions] == ["superseded", "active"]


def test_a_batch_has_a_result_for_each_item(memory: TypedMemory) -> None:
    batch = memory.write_batch(
        [
            {"type": "fact", "subject": "Ana", "predicate": "plays", "object": "the cello"},
            {"type": "preference", "preference_key": "editor.theme", "preference_value": "dark"},
        ]
    )
    assert [one.decision for one in batch.results] == ["added", "added"]
    assert {one.type for one in memory.memories()} >= {"fact", "preference"}


def test_lists_go_on_over_pages(memory: TypedMemory) -> None:
    for number in range(5):
        memory.write("event", event_description=f"concert number {number}", event_at="2026-06-12")
    listed = list(memory.memories(type=["event"], status=["active"], limit=2))
    assert len({one.id for one in listed}) == 5


def test_a_session_is_listed_in_sequence(memory: TypedMemory) -> None:
    for number, content in enumerate(("Good morning, doctor.", "My knee hurts badly.")):
        memory.write("episodic", content=content, session_id="s-1", sequence_number=number)
    assert [one.content for one in memory.session("s-1")] == ["Good morning, doctor.", "My knee hurts badly."]


def test_what_is_forgotten_is_gone(memory: TypedMemory) -> None:
    written = memory.write("event", event_description="Cleo saw a dentist").memory
    assert written is not None
    receipt = memory.forget(written)
    assert receipt.status == "finished"
    with pytest.raises(NotFound):
        memory.memory(written.id)


def test_what_was_recalled_is_forgotten_with_what_else_says_it(memory: TypedMemory) -> None:
    memory.remember("I live in Porto.")
    fact = next(hit.memory for hit in memory.recall("Where do I live?").memories if hit.memory.type == "fact")
    for kept in memory.forget(fact).kept or []:
        memory.forget(kept)
    assert memory.recall("Where do I live?").context.text == ""


def test_a_user_is_forgotten(memory: TypedMemory, user: str) -> None:
    memory.remember("I live in Porto.")
    assert memory.forget_user(user).status == "finished"
    assert list(memory.memories()) == []


def test_a_memory_is_reviewed_on_request(memory: TypedMemory) -> None:
    written = memory.write("fact", subject="user", predicate="works-at", object="Otto").memory
    assert written is not None
    assert memory.ask_for_review(written).needs_review
    item = next(memory.reviews())
    assert memory.review(item.id).open
    outcome = memory.decide(item, "accept", reason="seen the contract")
    assert outcome.action == "accept"
    assert list(memory.reviews()) == []


def test_a_decision_about_an_item_that_moved_has_its_new_state(memory: TypedMemory) -> None:
    written = memory.write("fact", subject="user", predicate="works-at", object="Otto").memory
    assert written is not None
    memory.ask_for_review(written)
    item = next(memory.reviews())
    memory.decide(item, "accept")
    with pytest.raises(ReviewConflict) as moved:
        memory.decide(item, "reject")
    assert moved.value.current.decided is not None


def test_feedback_and_changes_are_kept(memory: TypedMemory) -> None:
    written = memory.write("fact", subject="user", predicate="likes", object="tea").memory
    assert written is not None
    assert memory.feedback(written, "useful", session_id="s").feedback == "useful"
    assert memory.update(written, importance=0.9, topic="drinks").topic == "drinks"


def test_entities_have_names_and_relations(memory: TypedMemory) -> None:
    memory.write("relation", from_entity="Sarah", relation_type="reports-to", to_entity="Priya")
    sarah = next(one for one in memory.entities() if one.canonical_name == "Sarah")
    alone = memory.entity(sarah.id)
    assert alone.former_attributes == []
    assert alone.model_dump(exclude={"former_attributes"}) == sarah.model_dump()
    assert len(memory.graph(sarah.id).relations) == 1


def test_what_belongs_to_a_user_is_not_recalled_for_another(memory: TypedMemory) -> None:
    memory.remember("I live in Porto.")
    assert "Porto" not in memory.for_user("somebody-else").recall("Where does the user live?").context.text


def test_a_client_of_an_agent_stays_so_for_each_user(memory: TypedMemory, user: str) -> None:
    of_agent = memory.for_user(agent_id="desk").for_user(user)
    stored = of_agent.write("event", event_description="The train left", scope="agent").memory
    assert stored is not None
    assert stored.agent_id == "desk"


def test_users_and_sessions_are_listed(memory: TypedMemory, user: str) -> None:
    memory.remember("I live in Porto.", session_id="monday")
    assert [one.user_id for one in memory.users(q=user, all=True)] == [user]
    assert [one.session_id for one in memory.sessions(owner=user)] == ["monday"]
    assert [one.session_id for one in memory.sessions()] == ["monday"]
    assert [one.user_id for one in memory.users()] == [user]
    assert user not in {one.agent_id for one in memory.agents()}
    assert "admin" in memory.who_am_i().roles


def test_routes_without_a_method_can_be_requested(memory: TypedMemory) -> None:
    assert memory.request("GET", "/admin/types")["types"]
    assert memory.ready().ready


def test_a_type_of_ones_own_is_written_and_told_apart(memory: TypedMemory, user: str) -> None:
    name = f"ticket_{user.removeprefix('user-')}"
    definition = {
        "name": name,
        "definition": "A support ticket.",
        "payload": {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]},
        "render": "Ticket {number} is open",
        "examples": [{"utterance": "I opened ticket 7.", "payloads": [{"number": 7}]}],
    }
    memory.request("POST", "/admin/types", body=definition)
    written = memory.write_tenant_type(name, payload={"number": 4711}).memory
    assert isinstance(written, models.TenantTypeMemory)
    assert (written.type, written.payload) == (name, {"number": 4711})


def test_wrong_fields_are_named_and_the_error_is_a_value_error(memory: TypedMemory) -> None:
    with pytest.raises(ValueError, match="importance") as wrong:
        memory.write("fact", subject="user", predicate="likes", object="tea", importance=7)
    assert isinstance(wrong.value, InvalidInput)
    assert [one.field for one in wrong.value.field_errors] == ["importance"]
    assert wrong.value.request_id


async def test_the_asynchronous_client_has_the_same_verbs(async_memory: AsyncTypedMemory) -> None:
    await async_memory.remember("I live in Porto and I work as a nurse.")
    assert "Porto" in (await async_memory.recall("Where does the user live?")).context.text
    listed = [one async for one in async_memory.memories(limit=1)]
    assert len(listed) > 1
    for one in listed:
        await async_memory.forget(one)
    assert [one async for one in async_memory.memories()] == []


def test_a_profile_is_what_holds_of_a_user(service: Service, memory: TypedMemory) -> None:
    memory.remember("I live in Porto and I am allergic to peanuts.")
    profile = memory.profile(token_budget=100)
    assert "peanuts" in profile.text
    assert 0 < profile.tokens <= 100
    with TypedMemory(service.url, service.key) as nobody, pytest.raises(ValueError, match="for_user"):
        nobody.profile()

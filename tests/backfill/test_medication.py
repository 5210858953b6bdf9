"""Medicines that were stored as facts become medications, beside one another as if they were stated now."""

from __future__ import annotations

from app.memory.backfill import BackfillEffect, BackfillStatus, ItemState
from app.model import MemoryStatus
from tests.backfill.clinic import HYPOTHETICAL, Clinic


async def test_preview_tells_what_changes_and_changes_nothing(clinic: Clinic) -> None:
    taken = await clinic.says("takes", "metformin 500 mg daily")
    await clinic.says("works-at", "Volkswagen", stateful=True)
    await clinic.says("takes", "the bus daily")
    before = await clinic.snapshot()
    events = await clinic.store.sql("SELECT * FROM audit_events WHERE tenant_id = $1 ORDER BY id", clinic.store.tenant)
    one = await clinic.preview()
    assert one.status is BackfillStatus.PREVIEWED
    assert one.counts["looked_at"] == 3
    assert (one.counts["flagged"], one.counts["changed"], one.counts["collisions"]) == (1, 1, 0)
    assert one.counts["by_source"] == {"fact": 1}
    [item] = (await clinic.items(one)).values()
    assert (item.memory_id, item.effect, item.state) == (taken, BackfillEffect.RECLASSIFIED, ItemState.PLANNED)
    assert item.before["type"] == "fact"
    assert item.after["payload"]["dosage"] == "500 mg"
    assert await clinic.snapshot() == before
    assert events == await clinic.store.sql(
        "SELECT * FROM audit_events WHERE tenant_id = $1 ORDER BY id", clinic.store.tenant
    )


async def test_commit_does_what_the_preview_says_and_leaves_the_rest(clinic: Clinic) -> None:
    taken = await clinic.says("takes", "metformin 500 mg daily")
    for name in ("Volkswagen", "Siemens"):
        await clinic.says("visited", name)
    before = await clinic.checksums()
    one = await clinic.preview()
    planned = await clinic.items(one)
    done = await clinic.commit(one)
    assert (done.status, done.counts["committed"]) == (BackfillStatus.COMMITTED, 1)
    memory = await clinic.memory(taken)
    assert (memory.type, memory.half_life_days, memory.content) == (
        "medication",
        None,
        "user takes metformin 500 mg daily",
    )
    assert await clinic.strays(planned) == {}
    after = await clinic.checksums()
    assert {memory for memory, told in after.items() if before[memory] != told} == {taken}
    [index] = await clinic.store.sql("SELECT DISTINCT type FROM memory_index WHERE memory_id = $1", taken)
    assert index["type"] == "medication"


async def test_the_later_dosage_supersedes_and_undoing_puts_back_what_was(clinic: Clinic) -> None:
    first = await clinic.says("takes", "metformin 500 mg daily", day=1)
    second = await clinic.says("takes", "metformin 1000 mg daily", day=2)
    other = await clinic.says("takes", "lisinopril 10 mg", day=1)
    before = await clinic.snapshot(whole=False)
    one = await clinic.preview()
    assert (one.counts["flagged"], one.counts["superseded"], one.counts["collisions"]) == (3, 1, 2)
    planned = await clinic.items(one)
    await clinic.commit(one)
    assert await clinic.strays(planned) == {}
    found = {memory: await clinic.memory(memory) for memory in (first, second, other)}
    assert [found[each].status for each in (first, second, other)] == [
        MemoryStatus.SUPERSEDED,
        MemoryStatus.ACTIVE,
        MemoryStatus.ACTIVE,
    ]
    assert found[first].superseded_by == second
    assert found[second].supersedes == first
    assert found[first].valid_until == found[second].valid_from
    done = await clinic.undo(one)
    assert (done.status, done.counts["undone"]) == (BackfillStatus.UNDONE, 3)
    assert await clinic.snapshot(whole=False) == before


async def test_a_repetition_goes_into_what_was_said_first(clinic: Clinic) -> None:
    first = await clinic.says("takes", "metformin 500 mg", day=1)
    again = await clinic.says("prescribed", "metformin 500mg", day=2)
    before = await clinic.snapshot(whole=False)
    one = await clinic.preview()
    await clinic.commit(one)
    kept, gone = await clinic.memory(first), await clinic.memory(again)
    assert (kept.status, kept.parts.mentions) == (MemoryStatus.ACTIVE, 2)
    assert (gone.status, gone.superseded_by) == (MemoryStatus.SUPERSEDED, first)
    assert kept.confidence > gone.confidence
    await clinic.undo(one)
    assert await clinic.snapshot(whole=False) == before


async def test_beside_medications_that_are_there(clinic: Clinic) -> None:
    older = await clinic.takes("metformin", dosage="250 mg", day=1)
    fact = await clinic.says("takes", "metformin 500 mg", day=2)
    late = await clinic.says("takes", "lisinopril 5 mg", day=1)
    newer = await clinic.takes("lisinopril", dosage="10 mg", day=2)
    before = await clinic.snapshot(whole=False)
    one = await clinic.preview()
    planned = await clinic.items(one)
    assert {item.effect for item in planned.values()} >= {BackfillEffect.SUPERSEDED, BackfillEffect.RELINKED}
    await clinic.commit(one)
    assert await clinic.strays(planned) == {}
    assert (await clinic.memory(older)).superseded_by == fact
    assert (await clinic.memory(fact)).status is MemoryStatus.ACTIVE
    history = await clinic.memory(late)
    assert (history.status, history.superseded_by, history.type) == (MemoryStatus.SUPERSEDED, newer, "medication")
    assert (await clinic.memory(newer)).supersedes == late
    await clinic.undo(one)
    assert await clinic.snapshot(whole=False) == before


async def test_a_scope_whose_last_write_is_not_known(clinic: Clinic) -> None:
    fact = await clinic.says("takes", "metformin 500 mg")
    await clinic.store.sql("UPDATE scopes SET written_at = NULL WHERE tenant_id = $1", clinic.store.tenant)
    await clinic.commit(await clinic.preview())
    assert (await clinic.memory(fact)).type == "medication"


async def test_what_was_not_asserted_stays(clinic: Clinic) -> None:
    await clinic.says("takes", "metformin 500 mg", **HYPOTHETICAL)
    one = await clinic.preview()
    assert one.counts["flagged"] == 0
    assert one.counts["left"] == {"it was said as hypothetical, not asserted": 1}
    [item] = (await clinic.items(one)).values()
    assert item.state is ItemState.LEFT


async def test_what_moved_since_the_preview_is_skipped_and_told(clinic: Clinic) -> None:
    moved = await clinic.says("takes", "metformin 500 mg")
    calm = await clinic.says("takes", "lisinopril 10 mg")
    one = await clinic.preview()
    await clinic.store.memories.patch(clinic.store.actor, moved, {"importance": 0.77})
    done = await clinic.commit(one)
    assert (done.counts["committed"], done.counts["skipped"]) == (1, 1)
    items = await clinic.items(one)
    assert items[moved].state is ItemState.SKIPPED
    assert "has changed since the preview" in (items[moved].why or "")
    assert ((await clinic.memory(moved)).type, (await clinic.memory(calm)).type) == ("fact", "medication")


async def test_whoever_comes_into_the_slot_since_keeps_the_unit_as_it_is(clinic: Clinic) -> None:
    fact = await clinic.says("takes", "metformin 500 mg")
    one = await clinic.preview()
    await clinic.takes("metformin", dosage="850 mg", day=3)
    done = await clinic.commit(one)
    assert done.counts["skipped"] == 1
    assert "has come into its slot" in ((await clinic.items(one))[fact].why or "")


async def test_what_changed_since_the_commit_is_kept_and_told(clinic: Clinic) -> None:
    changed = await clinic.says("takes", "metformin 500 mg")
    calm = await clinic.says("takes", "lisinopril 10 mg")
    one = await clinic.preview()
    await clinic.commit(one)
    await clinic.takes("metformin", dosage="850 mg", day=3)
    done = await clinic.undo(one)
    assert (done.counts["undone"], done.counts["kept"]) == (1, 1)
    assert "has changed since the commit" in ((await clinic.items(one))[changed].why or "")
    assert ((await clinic.memory(changed)).type, (await clinic.memory(calm)).type) == ("medication", "fact")


async def test_an_erased_memory_takes_its_plans_with_it(clinic: Clinic) -> None:
    first = await clinic.says("takes", "metformin 500 mg", day=1)
    second = await clinic.says("takes", "metformin 850 mg", day=2)
    one = await clinic.preview()
    await clinic.store.erasing.memory(clinic.store.actor, first)
    assert set(await clinic.items(one)) == {second}
    done = await clinic.commit(one)
    assert done.counts["skipped"] == 1
    assert "has changed since the preview" in ((await clinic.items(one))[second].why or "")


async def test_the_past_knows_the_old_type_and_history_tells_the_story(clinic: Clinic) -> None:
    fact = await clinic.says("takes", "metformin 500 mg")
    one = await clinic.preview()
    await clinic.commit(one)
    then = (await clinic.row(fact))["recorded_at"]
    known = await clinic.store.memories.get(clinic.store.actor, fact, known_at=then)
    assert (known.type, known.payload["predicate"]) == ("fact", "takes")
    story = await clinic.store.memories.history(clinic.store.actor, fact)
    assert [each.action for each in story.events] == ["memory.added", "memory.reclassified"]
    await clinic.undo(one)
    story = await clinic.store.memories.history(clinic.store.actor, fact)
    assert story.events[-1].action == "memory.reclassification_undone"

"""Backfills of memories about entities that were merged."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import cast
from uuid import UUID

from app.model import MemoryStatus
from app.services.entities import Entities
from tests.backfill.clinic import Clinic


def entities(clinic: Clinic) -> Entities:
    store = clinic.store
    return Entities(database=store.database, types=store.types, clock=lambda: datetime.now(UTC))


async def subject(clinic: Clinic, memory: UUID) -> UUID:
    """Return the entity that a memory is about."""
    return cast("UUID", (await clinic.row(memory))["subject_id"])


async def merge(clinic: Clinic, told: UUID, into: UUID) -> tuple[UUID, UUID]:
    """Merge the entity that one memory is about into that of another, and return both."""
    one, other = await subject(clinic, told), await subject(clinic, into)
    await entities(clinic).merge(clinic.store.actor, other, [one])
    return one, other


async def test_a_dosage_since_the_merge_supersedes_what_was_adopted_of_the_merged_one(clinic: Clinic) -> None:
    fact = await clinic.says("takes", "ramipril 5 mg", subject="T. Okafor")
    _, survivor = await merge(clinic, fact, await clinic.says("lives-in", "Leeds", subject="Tunde"))
    await clinic.commit(await clinic.preview())
    assert (await clinic.row(fact))["slot"] == f"{survivor}|ramipril"
    later = await clinic.takes("ramipril", subject="Tunde", dosage="10 mg", day=4)
    gone = await clinic.memory(fact)
    assert (gone.status, gone.superseded_by) == (MemoryStatus.SUPERSEDED, later)


async def test_unmerging_gives_what_was_adopted_since_the_slot_of_its_new_type(clinic: Clinic) -> None:
    stateful = await clinic.says("takes", "ramipril 5 mg", subject="T. Okafor", stateful=True)
    plain = await clinic.says("prescribed", "warfarin 3 mg", subject="T. Okafor")
    one, survivor = await merge(clinic, plain, await clinic.says("lives-in", "Leeds", subject="Tunde"))
    await clinic.commit(await clinic.preview())
    theirs = await clinic.takes("warfarin", subject="Tunde", dosage="1 mg", day=3)
    await entities(clinic).unmerge(clinic.store.actor, one)
    rows = {memory: await clinic.row(memory) for memory in (stateful, plain, theirs)}
    assert [(row["slot"], row["slot_value"], row["subject_id"]) for row in rows.values()] == [
        (f"{one}|ramipril", "5 mg||True", one),
        (f"{one}|warfarin", "3 mg||True", one),
        (f"{survivor}|warfarin", "1 mg||True", survivor),
    ]
    assert {row["status"] for row in rows.values()} == {"active"}
    later = await clinic.takes("ramipril", subject="T. Okafor", dosage="10 mg", day=4)
    assert (await clinic.memory(stateful)).superseded_by == later


async def test_merges_on_top_of_one_another_are_undone_around_an_adoption(clinic: Clinic) -> None:
    fact = await clinic.says("takes", "ramipril 5 mg", subject="T. Okafor", stateful=True)
    middle = await clinic.says("lives-in", "Leeds", subject="Tunde")
    last = await clinic.says("lives-in", "York", subject="Babatunde")
    first, second = await merge(clinic, fact, middle)
    await merge(clinic, middle, last)
    await clinic.commit(await clinic.preview())
    for one in (second, first):
        await entities(clinic).unmerge(clinic.store.actor, one)
        row = await clinic.row(fact)
        assert (row["slot"], row["slot_value"], row["subject_id"]) == (f"{one}|ramipril", "5 mg||True", one)


async def test_an_adoption_that_was_undone_leaves_the_merge_as_it_was_recorded(clinic: Clinic) -> None:
    fact = await clinic.says("takes", "ramipril 5 mg", subject="T. Okafor", stateful=True)
    into = await clinic.says("lives-in", "Leeds", subject="Tunde")
    before = await clinic.snapshot(whole=False)
    one, _ = await merge(clinic, fact, into)
    adopted = await clinic.commit(await clinic.preview())
    await clinic.undo(adopted)
    await entities(clinic).unmerge(clinic.store.actor, one)
    assert await clinic.snapshot(whole=False) == before

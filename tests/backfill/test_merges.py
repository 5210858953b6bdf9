"""Backfills of memories about entities that were merged."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import cast
from uuid import UUID

from app.model import MemoryStatus, ReviewReason
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


async def test_an_adopted_rule_guards_what_was_said_of_the_merged_one(clinic: Clinic) -> None:
    told = await clinic.says("uses", "the Google Maps API", subject="T. Okafor", day=3, stateful=True)
    rule = await clinic.says("cannot-use", "external APIs, by company policy", subject="Tunde", day=2, stateful=True)
    await merge(clinic, told, rule)
    await clinic.commit(await clinic.preview("constraint"))
    said = await clinic.memory(told)
    assert (said.review, [one["to"] for one in said.links]) == (ReviewReason.CONSTRAINT, [str(rule)])

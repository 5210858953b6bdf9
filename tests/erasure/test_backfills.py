"""What a backfill keeps of memories goes with them."""

from __future__ import annotations

from tests.backfill.clinic import Clinic, clinic
from tests.support.stores import embedder, make_store, store

__all__ = ["clinic", "embedder", "make_store", "store"]


async def test_a_user_who_is_erased_is_erased_from_backfills(clinic: Clinic) -> None:
    await clinic.says("takes", "metformin 500 mg")
    one = await clinic.preview(user_id="u1")
    await clinic.commit(one)
    started = await clinic.store.erasing.user(clinic.store.actor, "u1", wait=True)
    assert started.erasure.counts["backfill_items"] == 1
    left = await clinic.store.sql(
        "SELECT to_jsonb(b)::text || coalesce(string_agg(to_jsonb(i)::text, ''), '') AS told FROM backfills b "
        "LEFT JOIN backfill_items i ON i.tenant_id = b.tenant_id AND i.backfill_id = b.id "
        "WHERE b.tenant_id = $1 GROUP BY b.*",
        clinic.store.tenant,
    )
    assert "metformin" not in left[0]["told"]
    assert "u1" not in str((await clinic.backfills.show(clinic.store.actor, one.id)).within)
    assert (await clinic.undo(one)).status == "undone"

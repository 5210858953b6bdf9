"""The tenants of a scale run: their sizes fall as one over their rank, and one has a scope in the vector index."""

from __future__ import annotations

import pytest

from app.db.apply.scope import LARGE
from bench.scale.shape import BLOCK, STEPS, shapes


@pytest.mark.parametrize("memories", [100_000, 1_000_000])
def test_sizes_fall_as_one_over_the_rank_and_add_up(memories: int) -> None:
    found = shapes(memories, 10_000)
    assert sum(one.memories for one in found) == pytest.approx(memories, rel=0.05)
    assert found[0].memories == pytest.approx(10 * found[9].memories, rel=0.25)


def test_the_largest_may_have_more_than_its_share() -> None:
    found = shapes(1_000_000, 10_000, largest=400_000)
    assert sum(one.memories for one in found) == pytest.approx(1_000_000, rel=0.05)
    assert found[0].memories == 400_000
    assert found[1].memories == pytest.approx(10 * found[19].memories, rel=0.25)


def test_only_the_largest_tenant_has_a_scope_for_the_vector_index() -> None:
    found = shapes(1_000_000, 10_000)
    assert [one.number for one in found if one.large] == [0]
    assert found[0].large > LARGE


def test_every_other_memory_is_of_a_user_that_can_be_copied() -> None:
    for one in shapes(100_000, 10_000)[1:]:
        assert one.memories == BLOCK * one.blocks + one.last
        assert one.last in {0, *STEPS}
        assert list(one.users())

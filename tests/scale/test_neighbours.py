"""Other tenants' and other users' memories change no answer, however many there are."""

from __future__ import annotations

import pytest

from bench.fill import without_vector_indexes
from tests.scale.stores import Store, questions

pytestmark = pytest.mark.long

MINE = "alice"


async def test_twenty_thousand_memories_of_others_change_no_answer(big: Store) -> None:
    tenant = await big.new_tenant()
    await big.fill((tenant, MINE, 800))
    asked = questions(MINE, 30)
    alone = [await big.ask(tenant, MINE, question) for question in asked]
    assert sum(map(len, alone)) > 100

    others = [await big.new_tenant() for _ in range(20)]
    # The same user, with the same memories, in half of the tenants: nothing but the tenant tells them apart.
    strangers = [(other, MINE if place % 2 else f"user {place}", 500) for place, other in enumerate(others)]
    async with without_vector_indexes(big.owner):
        await big.fill((tenant, "bob", 8_000), (tenant, "carol", 2_000), *strangers)
    assert await big.count("true") == 20_800

    among_neighbours = [await big.ask(tenant, MINE, question) for question in asked]
    assert among_neighbours == alone

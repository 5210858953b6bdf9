"""The texts of other users: the same ones for each system, stored past its usual way, which would take hours."""

from __future__ import annotations

from uuid import UUID

import asyncpg

from app.model import Scope, ScopeKind
from app.providers.embeddings import Embedder
from bench.fill import Bucket, Filler, without_vector_indexes
from bench.grammar import Grammar
from bench.peers.driven import Driven, Item, item_of

EACH = 100
"""Texts of each of the other users."""

_TYPES = ("episodic",)
_AT_ONCE = 10
"""Users whose texts are given to a process in one command."""


async def fill_peer(peer: Driven, numbers: range) -> None:
    """Have a process store the texts of users of these numbers, and build its vector index anew."""
    connection = await asyncpg.connect(peer.url)
    try:
        async with without_vector_indexes(connection):
            for start in range(numbers.start, numbers.stop, _AT_ONCE):
                some = range(start, min(start + _AT_ONCE, numbers.stop))
                await peer.do({"do": "fill", "users": {_user(one): _texts(one) for one in some}})
        await connection.execute("VACUUM (ANALYZE)")
    finally:
        await connection.close()


async def fill_service(url: str, tenant: UUID, embedder: Embedder, numbers: range) -> None:
    """Store the same texts for a tenant, as rows of the service."""
    connection = await asyncpg.connect(url)
    try:
        buckets = [
            Bucket(
                tenant=tenant,
                scope=Scope(kind=ScopeKind.USER, user_id=_user(one)),
                count=EACH,
                seed=_user(one),
                types=_TYPES,
            )
            for one in numbers
        ]
        await Filler(connection=connection, embedder=embedder).fill(buckets)
    finally:
        await connection.close()


def _user(number: int) -> str:
    return f"neighbour {number}"


def _texts(number: int) -> list[Item]:
    drafts = Grammar(_user(number), _TYPES).drafts(EACH)
    return [item_of(one.payload, place) for place, one in enumerate(drafts)]

"""The texts of other users: the same ones for each system, stored past its usual way, which would take hours."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

import asyncpg
import numpy as np
from numpy.typing import NDArray

from app import ids
from app.model import Scope, ScopeKind
from app.providers.embeddings import Embedder
from bench.fill import Bucket, Filler, without_vector_indexes
from bench.grammar import Grammar
from bench.peers.driven import item_of

EACH: Final = 100
"""Texts of each of the other users."""

FILL: Final[Mapping[str, Sequence[str]]] = {
    "mem0": (
        """
        INSERT INTO mem0 (id, vector, payload)
        SELECT key, embedding, jsonb_build_object(
            'user_id', author, 'role', 'user', 'data', body, 'text_lemmatized', lower(body), 'hash', md5(body))
        FROM others
        """,
    ),
    "langgraph": (
        """
        INSERT INTO store (prefix, key, value)
        SELECT 'memories.' || author, key, jsonb_build_object('text', body) FROM others
        """,
        """
        INSERT INTO store_vectors (prefix, key, field_name, embedding)
        SELECT 'memories.' || author, key, 'text', embedding FROM others
        """,
    ),
    "bare-table": ("INSERT INTO memories (id, user_id, body, embedding) SELECT * FROM others",),
}
"""How each system keeps a text, from a table `others` with its key, user, words and vector."""

_TYPES = ("episodic",)
_AT_ONCE = 50
"""Users whose texts are stored in one transaction."""

_OTHERS = "CREATE TEMP TABLE others (key uuid, author text, body text, embedding vector) ON COMMIT DROP"


async def fill_peer(url: str, statements: Sequence[str], embedder: Embedder, numbers: range) -> None:
    """Store the texts of users of these numbers by a system's statements, and build its vector index anew."""
    connection = await asyncpg.connect(url)
    try:
        await connection.set_type_codec("vector", schema="public", encoder=_binary, decoder=bytes, format="binary")
        async with without_vector_indexes(connection):
            for start in range(numbers.start, numbers.stop, _AT_ONCE):
                pairs = [
                    (_user(one), text)
                    for one in range(start, min(start + _AT_ONCE, numbers.stop))
                    for text in _texts(one)
                ]
                vectors = await embedder.embed([text for _, text in pairs])
                rows = [(ids.new(), *pair, vector) for pair, vector in zip(pairs, vectors, strict=True)]
                async with connection.transaction():
                    await connection.execute(_OTHERS)
                    await connection.copy_records_to_table("others", records=rows)
                    for one in statements:
                        await connection.execute(one)
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


def _binary(vector: NDArray[np.float32]) -> bytes:
    """Return a vector as pgvector sends it."""
    return struct.pack(">HH", len(vector), 0) + vector.astype(">f4").tobytes()


def _user(number: int) -> str:
    return f"neighbour {number}"


def _texts(number: int) -> list[str]:
    drafts = Grammar(_user(number), _TYPES).drafts(EACH)
    return [item_of(one.payload, place)["text"] for place, one in enumerate(drafts)]

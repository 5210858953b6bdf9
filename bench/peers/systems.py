"""The systems that are compared, each used as its documentation says, behind one interface.

This module runs in the peers' environment (.venv-peers) and imports nothing of the service.
"""

from __future__ import annotations

import json
import os
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from http.client import HTTPConnection
from typing import Any, Protocol

Item = Mapping[str, Any]
"""A text, with the speaker, words, session, place and time that it was made of."""

CHUNK = 100
"""Texts that are stored at once where a system can."""

TOP = 10


class System(Protocol):
    """A store of texts by user."""

    def add(self, user: str, item: Item) -> None:
        """Store one text."""

    def add_many(self, user: str, items: Sequence[Item]) -> None:
        """Store texts in the way that is meant for many."""

    def search(self, user: str, query: str) -> list[str]:
        """Return the ten best texts."""


class TypedMemory:
    """The service over HTTP: typed writes of episodes, batches, and `/query`."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._port, self._key, self._now = int(config["port"]), str(config["key"]), str(config["now"])
        self._local = threading.local()

    def add(self, user: str, item: Item) -> None:
        """Store one text."""
        self._post("/memories/typed/episodic", self._body(user, item))

    def add_many(self, user: str, items: Sequence[Item]) -> None:
        """Store texts by a batch."""
        self._post("/memories/batch", {"memories": [{"type": "episodic", **self._body(user, one)} for one in items]})

    def search(self, user: str, query: str) -> list[str]:
        """Ask `/query`."""
        found = self._post("/query", {"query": query, "user_id": user, "top_k": TOP, "now": self._now})
        return [one["memory"]["content"] for one in found["memories"]]

    @staticmethod
    def _body(user: str, item: Item) -> dict[str, Any]:
        return {
            "user_id": user,
            "scope": "user",
            "content": item["said"],
            "speaker": item["speaker"],
            "session_id": item["session"],
            "sequence_number": item["place"],
            "occurred_at": item["at"],
        }

    def _post(self, path: str, body: object) -> Any:  # noqa: ANN401 - JSON
        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        while True:
            connection = getattr(self._local, "connection", None)
            if connection is None:
                connection = self._local.connection = HTTPConnection("127.0.0.1", self._port, timeout=120)
            try:
                connection.request("POST", path, json.dumps(body), headers)
                answer = connection.getresponse()
                content = answer.read()
            except ConnectionError:
                self._local.connection = None
                continue
            if answer.status == 503:  # noqa: PLR2004 - overloaded: it says when to come back
                time.sleep(0.05)
                continue
            if answer.status >= 400:  # noqa: PLR2004
                raise RuntimeError(f"{answer.status}: {content[:300]!r}")
            return json.loads(content)


class Mem0:
    """mem0's library with pgvector and `infer=False`: texts are stored as they are, without a language model."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": config["folder"], "OPENAI_API_KEY": "none"}
        from mem0 import Memory  # noqa: PLC0415 - reads the environment when imported

        self._memory = Memory.from_config(
            {
                "vector_store": {
                    "provider": "pgvector",
                    "config": {
                        "connection_string": config["database"],
                        "embedding_model_dims": config["dimensions"],
                        "maxconn": 32,
                    },
                },
                "embedder": {
                    "provider": "openai",
                    "config": {"model": "local", "openai_base_url": config["embeddings"]},
                },
                "history_db_path": f"{config['folder']}/history.db",
            }
        )

    def add(self, user: str, item: Item) -> None:
        """Add one message."""
        self._memory.add([{"role": "user", "content": item["text"]}], user_id=user, infer=False)

    def add_many(self, user: str, items: Sequence[Item]) -> None:
        """Add a list of messages, which it stores one after another."""
        messages = [{"role": "user", "content": one["text"]} for one in items]
        self._memory.add(messages, user_id=user, infer=False)

    def search(self, user: str, query: str) -> list[str]:
        """Search with the user as a filter."""
        found = self._memory.search(query, top_k=TOP, filters={"user_id": user})
        return [one["memory"] for one in found["results"]]


class Mem0Inferring(Mem0):
    """mem0 with `infer=True`: a language model draws from each message what is stored, and what that replaces."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__(config)
        from mem0 import Memory  # noqa: PLC0415 - as above

        llm = {"model": config["model"], "api_key": config["key"]}
        llm |= {"openai_base_url": config["base_url"]} if config["base_url"] else {}
        given = self._memory.config.model_dump()
        self._memory = Memory.from_config({**given, "llm": {"provider": "openai", "config": llm}})

    def add(self, user: str, item: Item) -> None:
        """Add one message."""
        self._memory.add([{"role": "user", "content": item["text"]}], user_id=user, infer=True)

    def add_many(self, user: str, items: Sequence[Item]) -> None:
        """Add messages one after another: each may change what an earlier one said."""
        for one in items:
            self.add(user, one)


class LangGraphStore:
    """LangGraph's Postgres store with its vector index, a namespace for each user."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        from langchain_openai import OpenAIEmbeddings  # noqa: PLC0415 - only this system needs it
        from langgraph.store.postgres import PostgresStore  # noqa: PLC0415

        embed = OpenAIEmbeddings(
            model="local", base_url=config["embeddings"], api_key="none", check_embedding_ctx_length=False
        )
        self._stack = ExitStack()
        self._store = self._stack.enter_context(
            PostgresStore.from_conn_string(
                config["database"],
                pool_config={"min_size": 1, "max_size": 32},
                index={"dims": config["dimensions"], "embed": embed, "fields": ["text"]},
            )
        )
        self._store.setup()

    def add(self, user: str, item: Item) -> None:
        """Put one item."""
        self._store.put(("memories", user), str(uuid.uuid4()), {"text": item["text"]})

    def add_many(self, user: str, items: Sequence[Item]) -> None:
        """Put items by `batch`."""
        from langgraph.store.base import PutOp  # noqa: PLC0415

        puts = [PutOp(("memories", user), str(uuid.uuid4()), {"text": one["text"]}) for one in items]
        for start in range(0, len(puts), CHUNK):
            self._store.batch(puts[start : start + CHUNK])

    def search(self, user: str, query: str) -> list[str]:
        """Search in the user's namespace."""
        found = self._store.search(("memories", user), query=query, limit=TOP)
        return [one.value["text"] for one in found]


class BareTable:
    """A table with a vector column, an index on the user and a vector index, by plain SQL."""

    _SCHEMA = """
        CREATE EXTENSION IF NOT EXISTS vector;
        CREATE TABLE memories (id uuid PRIMARY KEY, user_id text NOT NULL, body text NOT NULL, embedding vector({}));
        CREATE INDEX ON memories (user_id);
        CREATE INDEX ON memories USING hnsw (embedding vector_cosine_ops)
    """
    _INSERT = "INSERT INTO memories VALUES (%s, %s, %s, %s)"
    _SEARCH = "SELECT body FROM memories WHERE user_id = %s ORDER BY embedding <=> %s::vector LIMIT %s"

    def __init__(self, config: Mapping[str, Any]) -> None:
        from openai import OpenAI  # noqa: PLC0415 - only this system uses it directly
        from psycopg_pool import ConnectionPool  # noqa: PLC0415

        self._client = OpenAI(base_url=config["embeddings"], api_key="none")
        self._pool = ConnectionPool(config["database"], min_size=1, max_size=32, open=True)
        with self._pool.connection() as connection:
            connection.execute(self._SCHEMA.format(int(config["dimensions"])))

    def add(self, user: str, item: Item) -> None:
        """Embed and insert one row."""
        self.add_many(user, [item])

    def add_many(self, user: str, items: Sequence[Item]) -> None:
        """Embed and insert in transactions of a chunk each."""
        texts = [one["text"] for one in items]
        for start in range(0, len(texts), CHUNK):
            some = texts[start : start + CHUNK]
            rows = [(uuid.uuid4(), user, text, one) for text, one in zip(some, self._embed(some), strict=True)]
            with self._pool.connection() as connection, connection.cursor() as cursor:
                cursor.executemany(self._INSERT, rows)

    def search(self, user: str, query: str) -> list[str]:
        """Order the user's rows by distance."""
        [vector] = self._embed([query])
        with self._pool.connection() as connection:
            return [row[0] for row in connection.execute(self._SEARCH, (user, vector, TOP)).fetchall()]

    def _embed(self, texts: Sequence[str]) -> list[str]:
        found = self._client.embeddings.create(input=list(texts), model="local", encoding_format="float")
        return [json.dumps(one.embedding) for one in found.data]


SYSTEMS = {
    "typed-memory": TypedMemory,
    "mem0": Mem0,
    "mem0-infer": Mem0Inferring,
    "langgraph": LangGraphStore,
    "bare-table": BareTable,
}

"""LangGraph's long-term store (`[langgraph]`): items keep their history; search goes by meaning, words and time.

    from typed_memory_client.langgraph import TypedMemoryStore

    store = TypedMemoryStore(TypedMemory(), user_of=lambda namespace: namespace[1] if namespace[1:] else None)
    store.setup()                                   # once, with a key that has the role `admin`
    graph = builder.compile(store=store)

An item is a memory of a type of its own. Its slot is the namespace with the key, so a second `put` replaces the first
one, which stays as history until the item is deleted.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    SearchItem,
    SearchOp,
)

from typed_memory_client import ApiError, NotFound, TypedMemory, models

Namespace = tuple[str, ...]

TYPE: Final = "langgraph_item"

DEFINITION: Final = {
    "name": TYPE,
    "definition": "An item that an agent keeps under a namespace and a key.",
    "payload": {
        "type": "object",
        "properties": {"path": {"type": "string"}, "text": {"type": "string"}, "item": {"type": "string"}},
        "required": ["path", "text", "item"],
    },
    "render": "{text}",
    "slot": ["path"],
    "value": ["item"],
    "subject": "path",
    "category": "procedural",  # it does not fade
    "dedup_by_meaning": False,
    "examples": [{"utterance": "Keep this.", "payloads": [{"path": "notes/1", "text": "Keep this.", "item": "{}"}]}],
}

_SEARCHED: Final = 200
"""How many of the best matches are looked through for those under the namespace."""

_COMPARISONS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "$eq": lambda value, wanted: bool(value == wanted),
    "$ne": lambda value, wanted: bool(value != wanted),
    "$gt": lambda value, wanted: bool(value > wanted),
    "$gte": lambda value, wanted: bool(value >= wanted),
    "$lt": lambda value, wanted: bool(value < wanted),
    "$lte": lambda value, wanted: bool(value <= wanted),
}

_log = logging.getLogger(__name__)


class NotSetUp(RuntimeError):
    """The items have no type yet."""

    def __init__(self) -> None:
        super().__init__("call store.setup() first, once for a service, with a key that has the role `admin`")


class TypedMemoryStore(BaseStore):
    """A store whose items are memories."""

    def __init__(self, memory: TypedMemory, *, user_of: Callable[[Namespace], str | None] = lambda _: None) -> None:
        """Take a client, and a function that names the user whose namespace it is (None: the client's own)."""
        self._memory = memory
        self._user_of = user_of

    def setup(self) -> None:
        """Define the type of the items. Harmless if it is defined already."""
        self._memory.request("POST", "/admin/types", body=DEFINITION)

    def batch(self, ops: Iterable[Op]) -> list[Any]:
        """Do the operations in their order; raise NotSetUp where the type of the items is not defined."""
        try:
            return [self._do(op) for op in ops]
        except ApiError as error:
            unknown = any(one.field.startswith("type") for one in error.field_errors)
            if unknown or (isinstance(error, NotFound) and TYPE in str(error)):
                raise NotSetUp from error
            raise

    async def abatch(self, ops: Iterable[Op]) -> list[Any]:
        """Do the operations in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _do(self, op: Op) -> Any:  # noqa: ANN401 - each operation has its own result
        if isinstance(op, GetOp):
            found = self._find(op.namespace, op.key)
            return None if found is None else _item(found)
        if isinstance(op, PutOp):
            return self._delete(op.namespace, op.key) if op.value is None else self._put(op)
        if isinstance(op, SearchOp):
            matching = [one for one in self._candidates(op) if _matches(one.value, op.filter or {})]
            return matching[op.offset : op.offset + op.limit]
        return self._namespaces(op)

    def _client(self, namespace: Namespace) -> TypedMemory:
        user = self._user_of(namespace)
        return self._memory if user is None else self._memory.for_user(user)

    def _find(self, namespace: Namespace, key: str) -> models.TenantTypeMemory | None:
        listed = self._client(namespace).memories(subject=_path(namespace, key), type=[TYPE], status=["active"])
        return next(_own(listed), None)

    def _put(self, op: PutOp) -> None:
        item = json.dumps({"namespace": op.namespace, "key": op.key, "value": op.value})
        payload = {"path": _path(op.namespace, op.key), "text": _text(op.value or {}), "item": item}
        written = self._client(op.namespace).write_tenant_type(TYPE, payload=payload)
        if written.decision in {"review", "rejected"}:
            _log.warning("%s is not stored: %s", payload["path"], written.reason)

    def _delete(self, namespace: Namespace, key: str) -> None:
        client = self._client(namespace)
        if (found := self._find(namespace, key)) is not None:
            for version in client.history(found).versions:
                client.forget(version)

    def _candidates(self, op: SearchOp) -> Iterator[SearchItem]:
        client = self._client(op.namespace_prefix)
        if op.query:
            # The store ranks: floors are for prompts, and items have no more confidence than others.
            hits = client.recall(
                op.query, types=[TYPE], top_k=_SEARCHED, min_relevance=0, min_confidence=0, include=["details"]
            ).memories
            found: list[tuple[models.TenantTypeMemory, float | None]]
            found = [(models.TenantTypeMemory.model_validate(one.memory.model_dump()), one.score) for one in hits]
        else:
            found = [(one, None) for one in _own(client.memories(type=[TYPE], status=["active"], limit=200))]
        for memory, score in found:
            item = _item(memory)
            if item.namespace[: len(op.namespace_prefix)] == op.namespace_prefix:
                yield SearchItem(item.namespace, item.key, item.value, item.created_at, item.updated_at, score)

    def _namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        conditions = op.match_conditions or ()
        begin = next((one.path for one in conditions if one.match_type == "prefix" and "*" not in one.path), ())
        client = self._client(tuple(begin)) if begin else self._memory
        listed = _own(client.memories(type=[TYPE], status=["active"], limit=200))
        namespaces = {_item(one).namespace for one in listed}
        wanted = {one for one in namespaces if all(_fits(one, condition) for condition in conditions)}
        cut = sorted({one[: op.max_depth] for one in wanted})
        return cut[op.offset : op.offset + op.limit]


def _own(memories: Iterable[models.Memory]) -> Iterator[models.TenantTypeMemory]:
    return (one for one in memories if isinstance(one, models.TenantTypeMemory))


def _path(namespace: Namespace, key: str) -> str:
    return f"{'.'.join(namespace)}/{key}"


def _item(memory: models.TenantTypeMemory) -> Item:
    stored = json.loads(memory.payload["item"])
    return Item(
        value=stored["value"],
        key=stored["key"],
        namespace=tuple(stored["namespace"]),
        created_at=memory.occurred_at,
        updated_at=memory.recorded_at,
    )


def _text(value: Mapping[str, Any]) -> str:
    """Return what search goes by: the texts of the value."""
    texts = [one for one in value.values() if isinstance(one, str)]
    return " ".join(texts) or json.dumps(value)


def _matches(value: Mapping[str, Any], conditions: Mapping[str, Any]) -> bool:
    return all(_meets(value.get(field), condition) for field, condition in conditions.items())


def _meets(value: object, condition: object) -> bool:
    if isinstance(condition, Mapping) and condition and all(str(name).startswith("$") for name in condition):
        return value is not None and all(_COMPARISONS[name](value, wanted) for name, wanted in condition.items())
    return value == condition


def _fits(namespace: Namespace, condition: MatchCondition) -> bool:
    length = len(condition.path)
    part = namespace[:length] if condition.match_type == "prefix" else namespace[-length:]
    return len(part) == length and all(wanted in ("*", one) for one, wanted in zip(part, condition.path))

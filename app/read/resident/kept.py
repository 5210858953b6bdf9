"""The scopes that a process holds: the last asked about, within a number of bytes.

A scope is loaded in the background when it is asked about for the second time; until it is held, SQL answers. Before a
question reads from a held scope, that is brought to the question's snapshot: what changed since is read, and nothing
else. Erased memories go in this way, too, if not before.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from time import monotonic
from typing import Final, Protocol
from uuid import UUID

import structlog

from app import threads
from app.db.apply.scope import LARGE
from app.db.memories import resident
from app.db.memories.resident import CHUNK, KEPT_SECONDS, Changed, ContentState
from app.db.memories.usage import StoredUse
from app.db.session import PLANNED_ONCE, SNAPSHOT, Database, ReadSession
from app.model import Memory
from app.read.resident.scope import ResidentScope, with_changes, with_uses
from app.read.values import OPENING, Ranked

log = structlog.get_logger(__name__)

MOST_LOADS: Final = 2
"""Scopes that are loaded at the same time."""

MOST_CHANGES: Final = 500
"""Memories that a question brings up to date; where more changed, the scope is loaded again."""

MOST_REMEMBERED: Final = 10_000
"""Scopes that are remembered to have been asked about once."""

MOST_USES: Final = 20_000
"""Uses of memories that this process recorded and remembers, so that it need not read them again."""

IDLE_SECONDS: Final = 60.0
"""Between looks for scopes that nobody asks about any more."""

CHECKED_EACH: Final = 1_000
"""Of so many questions answered from memory one is asked of the store, too."""

ROUNDING: Final = 1e-4
"""How far scores of one answer may be apart: vectors are compared in single precision by Postgres."""

MEMORY: Final = "memory"

STORE: Final = "store"

DIFFERENT: Final = "different"
"""The source of an answer, or that it differed from the store's."""

_Key = tuple[UUID, UUID]


@dataclass(slots=True)
class _Entry:
    scope: ResidentScope
    checked: float
    size: int


@dataclass(kw_only=True)
class Residents:
    """Scopes of all tenants in memory. `limit` is in bytes, `model` the one whose vectors are searched.

    `answered` receives the source of each answer. `at_once`: a scope is loaded when it is first asked about.
    """

    database: Database
    model: int
    limit: int
    at_once: bool = False
    checked_each: int = CHECKED_EACH
    answered: Callable[[str], None] = lambda _source: None
    _kept: OrderedDict[_Key, _Entry] = field(default_factory=OrderedDict)
    _asked: OrderedDict[_Key, None] = field(default_factory=OrderedDict)
    _loading: dict[_Key, asyncio.Task[None]] = field(default_factory=dict)
    _uses: OrderedDict[tuple[UUID, int], Mapping[UUID, StoredUse]] = field(default_factory=OrderedDict)
    _used: int = 0
    _size: int = 0
    _answers: count[int] = field(default_factory=lambda: count(1))

    @property
    def size(self) -> int:
        """Bytes that are held, about."""
        return self._size

    def serves(self, database: Database) -> bool:
        """Tell whether scopes are held as this database has them: snapshots of a replica say too little."""
        return database is self.database and not database.clustered

    def held(self, tenant: UUID, scopes: Sequence[UUID]) -> tuple[ResidentScope, ...]:
        """Return these scopes as they are held, or nothing where one of them isn't."""
        self._leave_idle()
        found = [self._kept.get((tenant, one)) for one in scopes]
        return tuple(one.scope for one in found if one is not None) if all(found) else ()

    def wanted(self, tenant: UUID, scopes: Iterable[UUID]) -> None:
        """Load those of the scopes that are not held and are asked about once more."""
        for scope in scopes:
            key = (tenant, scope)
            if key in self._kept or key in self._loading or len(self._loading) >= MOST_LOADS:
                continue
            if key not in self._asked and not self.at_once:
                self._asked[key] = None
                if len(self._asked) > MOST_REMEMBERED:
                    self._asked.popitem(last=False)
                continue
            task = asyncio.create_task(self._load(tenant, scope))
            self._loading[key] = task
            task.add_done_callback(lambda _task, key=key: self._loading.pop(key, None))  # type: ignore[misc]

    async def current(
        self, session: ReadSession, tenant: UUID, held: Sequence[ResidentScope], content: ContentState
    ) -> tuple[ResidentScope, ...]:
        """Return held scopes as the session sees them, or nothing where they are newer or too much has changed."""
        if any(scope.noted != content.noted for scope in held):
            self.forget(tenant, [scope.id for scope in held])
            return ()
        found = []
        for scope in held:
            if not covers(content.snapshot, scope.snapshot):
                return ()
            changed, uses = self._told(tenant, content.changes.get(scope.id, {}))
            if len(changed.memories) > MOST_CHANGES or scope.unused > MOST_CHANGES + len(scope.owners):
                self.forget(tenant, [scope.id])
                return ()
            current = with_uses(scope, uses, content.snapshot)
            if changed.memories or changed.entities:
                current = await self._brought(session, tenant, current, changed, content.snapshot)
            found.append(current)
        for scope in found:
            self._keep(tenant, scope)
        return tuple(found)

    def remember_uses(self, tenant: UUID, transaction: int, uses: Iterable[StoredUse]) -> None:
        """Remember what a transaction of this process stored of uses, and that it changed nothing else."""
        if not self._kept:
            return
        known = {one.memory: one for one in uses}
        self._uses[tenant, transaction] = known
        self._used += len(known)
        while self._used > MOST_USES:
            self._used -= len(self._uses.popitem(last=False)[1])

    def forget(self, tenant: UUID, scopes: Iterable[UUID] | None = None) -> None:
        """Let scopes go, of a tenant all if none are given."""
        keys = [key for key in self._kept if key[0] == tenant] if scopes is None else [(tenant, one) for one in scopes]
        for key in keys:
            self._drop(key)

    async def settled(self) -> None:
        """Wait until nothing is loaded any more."""
        await asyncio.gather(*self._loading.values())

    async def run(self) -> None:
        """Let idle scopes go, for ever."""
        while True:
            await asyncio.sleep(IDLE_SECONDS)
            self._leave_idle()

    async def aclose(self) -> None:
        """Stop loading."""
        for task in tuple(self._loading.values()):
            task.cancel()
        await asyncio.gather(*self._loading.values(), return_exceptions=True)

    def checks_next(self) -> bool:
        """Tell whether the next answer from memory is compared with the store's."""
        return next(self._answers) % self.checked_each == 0

    def compare(self, ours: Answered, stored: Answered) -> None:
        """Report where an answer from memory is not the store's."""
        if told := difference(ours, stored):
            log.warning("an answer from memory differs from the store's", what=told)
            self.answered(DIFFERENT)

    def _told(self, tenant: UUID, changes: Mapping[int, Changed]) -> tuple[Changed, Mapping[UUID, StoredUse]]:
        """Return what must be read of the changes of a scope, and the uses of its other memories that are known."""
        unknown = [one for transaction, one in changes.items() if (tenant, transaction) not in self._uses]
        changed = Changed(
            memories=frozenset().union(*(one.memories for one in unknown)),
            entities=frozenset().union(*(one.entities for one in unknown)),
        )
        uses: dict[UUID, StoredUse] = {}
        for transaction in sorted(changes):
            uses.update(self._uses.get((tenant, transaction), {}))
        return changed, {one: use for one, use in uses.items() if one not in changed.memories}

    async def _brought(
        self, session: ReadSession, tenant: UUID, scope: ResidentScope, changed: Changed, snapshot: str
    ) -> ResidentScope:
        rows = await resident.read_scope_rows(
            session,
            tenant,
            scope.id,
            memories=changed.memories,
            entities=changed.entities,
            model=self.model,
            opening=OPENING,
        )
        return with_changes(scope, changed, rows, snapshot)

    async def _load(self, tenant: UUID, scope: UUID) -> None:
        try:
            async with self.database.read(tenant, **PLANNED_ONCE, **SNAPSHOT) as session:
                loaded = await self._read(session, tenant, scope)
        except Exception:
            log.exception("could not load a scope into memory", scope=str(scope))
            return
        if loaded is not None and loaded.size <= self.limit:
            self._keep(tenant, loaded)

    async def _read(self, session: ReadSession, tenant: UUID, scope: UUID) -> ResidentScope | None:
        state = await resident.read_content_state(session, tenant, ())
        if state.noted is None:
            return None
        memories = await resident.read_memory_ids(session, tenant, scope)
        if len(memories) > LARGE:
            return None
        entities = await resident.read_entity_ids(session, tenant, scope)
        loaded = ResidentScope(id=scope, snapshot=state.snapshot, noted=state.noted)
        chunks = [Changed(entities=frozenset(entities))] if entities else []
        chunks += [
            Changed(memories=frozenset(memories[start : start + CHUNK])) for start in range(0, len(memories), CHUNK)
        ]
        for chunk in chunks:
            rows = await resident.read_scope_rows(
                session,
                tenant,
                scope,
                memories=sorted(chunk.memories),
                entities=chunk.entities,
                model=self.model,
                opening=OPENING,
            )
            add = partial(with_changes, loaded, chunk, rows, state.snapshot)
            loaded = await threads.work(add, brief=len(chunk.memories) < CHUNK // 4)
        return loaded

    def _keep(self, tenant: UUID, scope: ResidentScope) -> None:
        key = (tenant, scope.id)
        known = self._kept.get(key)
        if known is not None and not covers(scope.snapshot, known.scope.snapshot):
            return
        self._drop(key)
        self._kept[key] = _Entry(scope, monotonic(), scope.size)
        self._size += scope.size
        while self._size > self.limit:
            self._drop(next(iter(self._kept)))

    def _drop(self, key: _Key) -> None:
        gone = self._kept.pop(key, None)
        if gone is not None:
            self._size -= gone.size

    def _leave_idle(self) -> None:
        least = monotonic() - KEPT_SECONDS
        while self._kept and next(iter(self._kept.values())).checked < least:
            self._drop(next(iter(self._kept)))


class Answered(Protocol):
    """The part of a search's result (`search.Found`) that is compared."""

    @property
    def ranked(self) -> tuple[Ranked, ...]:
        """The matches."""

    @property
    def memories(self) -> dict[UUID, Memory]:
        """The matches whole."""


def difference(ours: Answered, stored: Answered) -> str:
    """Return in what two answers differ, but for rounding; nothing where they are the same."""
    first, second = ours.ranked, stored.ranked
    if len(first) != len(second):
        return "number"
    if any(abs(one.score - other.score) > ROUNDING for one, other in zip(first, second, strict=True)):
        return "scores"
    # Of equals either may be first.
    if {one.id for one in first if one.score > second[-1].score + ROUNDING} - {one.id for one in second}:
        return "memories"
    shown = {one.id for one in first} & {one.id for one in second}
    return "content" if any(ours.memories.get(one) != stored.memories.get(one) for one in shown) else ""


def covers(later: str, earlier: str) -> bool:
    """Tell whether a snapshot (`xmin:xmax:running,...`) sees all that another one sees."""
    _, end, running = later.split(":")
    _, before, still = earlier.split(":")
    ran = set(still.split(","))
    return int(before) <= int(end) and all(one in ran for one in running.split(",") if one and int(one) < int(before))

"""The use case of a user's profile: built from standing memories, kept until the scopes it is made of move."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import zip_longest
from typing import Final
from uuid import UUID

from cachetools import LRUCache

from app.db.memories import standing
from app.db.memories.standing import ScopeVersions, StandingMemory, StandingQuery
from app.db.session import Database
from app.memory import vocabulary
from app.memory.confidence import READ_FLOOR
from app.memory.registry import Registry, Types
from app.memory.spec import Standing
from app.model import Actor, ScopeKind, Visibility
from app.read.assemble import as_line, estimate_tokens
from app.read.values import ContextGroup

SECTIONS: Final = (Standing.WHO, Standing.CONSTRAINTS, Standing.PREFERENCES, Standing.CURRENT)
"""The sections in the order of the block."""

FIRST: Final = (Standing.CONSTRAINTS, Standing.WHO, Standing.PREFERENCES, Standing.CURRENT)
"""The sections in the order in which they are filled, a line each in turn: what must not be broken comes first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The block, its size in tokens, its groups, and the memories in it."""

    text: str
    tokens: int
    groups: tuple[ContextGroup, ...]
    memories: tuple[UUID, ...]


def build_profile(memories: Sequence[StandingMemory], *, types: Registry, budget: int) -> Profile:
    """Return the profile made of standing memories, the most important first, within a budget of tokens."""
    sections: dict[Standing, list[StandingMemory]] = defaultdict(list)
    for memory in memories:
        sections[_section(memory, types)].append(memory)
    taken: dict[Standing, dict[str, UUID]] = defaultdict(dict)
    spent = 0
    for section, memory in _in_turn(sections):
        line = _line(memory)
        cost = estimate_tokens(line) + (0 if section in taken else estimate_tokens(_heading(section)))
        if spent + cost <= budget and line not in taken.get(section, {}):
            taken[section][line] = memory.id
            spent += cost
    groups = tuple(ContextGroup(name=one, lines=tuple(taken[one])) for one in SECTIONS if one in taken)
    return Profile(
        text="\n\n".join("\n".join((_heading(group.name), *group.lines)) for group in groups),
        tokens=spent,
        groups=groups,
        memories=tuple(one for section in SECTIONS if section in taken for one in taken[section].values()),
    )


def _section(memory: StandingMemory, types: Registry) -> Standing:
    found = types.find(memory.type)
    return Standing.WHO if found is None or found.standing is None else found.standing


def _in_turn(sections: dict[Standing, list[StandingMemory]]) -> Iterable[tuple[Standing, StandingMemory]]:
    """Yield the best of each section, then the second ones, and so on."""
    for round_of in zip_longest(*(sections.get(one, ()) for one in FIRST)):
        yield from ((section, one) for section, one in zip(FIRST, round_of, strict=True) if one is not None)


def _heading(section: str) -> str:
    return f"## {section}"


def _line(memory: StandingMemory) -> str:
    until = "" if memory.valid_until is None else f" (until {memory.valid_until:%Y-%m-%d})"
    return f"- {as_line(memory.content)}{until}"


__all__ = ["DEFAULT_BUDGET", "Profile", "Profiles"]

DEFAULT_BUDGET: Final = 400
"""Tokens of a profile."""

MOST_KEPT: Final = 2_000
"""Profiles that a process keeps."""

KEPT_FOR: Final = timedelta(seconds=60)
"""The longest that a profile is kept: workers end memories without moving the version of their scope."""

_Key = tuple[UUID, tuple[UUID, ...], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """A profile with the versions and the types it was built from, and until when it may be used."""

    profile: Profile
    versions: ScopeVersions
    types: int
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Profiles:
    """Profiles of users. One is kept in memory and checked against the versions of its scopes on each request.

    So a write through any process shows at once.
    """

    database: Database
    types: Types
    clock: Callable[[], datetime]
    _kept: LRUCache[_Key, _Kept] = field(default_factory=lambda: LRUCache(MOST_KEPT), repr=False)

    async def get(self, actor: Actor, visibility: Visibility, *, budget: int = DEFAULT_BUDGET) -> Profile:
        """Return the profile of a user from the scopes of the user, and of an agent, but not the global one."""
        tenant, now = actor.tenant_id, self.clock()
        scopes = tuple(one.id(tenant) for one in visibility.scopes() if one.kind is not ScopeKind.GLOBAL)
        types = self.types.known(tenant)
        key = (tenant, scopes, budget)
        while True:
            async with self.database.read(tenant) as session:
                versions, newest = await standing.read_versions(session, tenant, scopes)
                if newest <= types.version:
                    kept = self._current(key, versions, types, now)
                    if kept is not None:
                        return kept
                    found = await standing.read_standing(session, tenant, scopes, _wanted(types, now))
                    break
            types = await self.types.at(tenant, newest)
        profile = build_profile(found, types=types, budget=budget)
        until = min([now + KEPT_FOR, *(one.valid_until for one in found if one.valid_until is not None)])
        self._kept[key] = _Kept(profile=profile, versions=versions, types=types.version, until=until)
        return profile

    def _current(self, key: _Key, versions: ScopeVersions, types: Registry, now: datetime) -> Profile | None:
        """Return the kept profile if nothing that it is made of has changed."""
        kept = self._kept.get(key)
        if kept is None or (kept.versions, kept.types) != (versions, types.version) or now >= kept.until:
            return None
        return kept.profile


def _wanted(types: Registry, now: datetime) -> StandingQuery:
    return StandingQuery(
        types=[one.name for one in types if one.standing is not None],
        dated=[one.name for one in types if one.happens],
        verbatim=[one.name for one in types if one.verbatim],
        subject=vocabulary.USER,
        least=READ_FLOOR,
        now=now,
    )

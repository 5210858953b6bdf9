"""The profile of a user: a bounded block of what holds whatever is asked, for the head of a prompt."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final
from uuid import UUID

from app.db.memories.standing import StandingMemory
from app.memory.registry import Registry
from app.memory.spec import Standing
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

"""How far a source is believed, before anything it says is weighed (DESIGN section 8; docs/decisions/0017-guards.md).

The strength is the `s` of the confidence formula: a user speaking of themself is the seed's explicit first-person
statement, whatever others say ranks below it, and what nobody answers for ranks last.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from app.memory.extraction import Role

UNKNOWN: Final = 0.5
"""Strength of a source that nobody named."""

CAPS: Final[Mapping[Role, float]] = MappingProxyType(
    {Role.USER: 0.9, Role.TOOL: 0.7, Role.ASSISTANT: 0.6, Role.SYSTEM: UNKNOWN}
)
"""Most that a source of each role is believed: user > tool > assistant > unknown."""

HEARSAY: Final = 0.1
"""What a user's statement loses when it is not about themself: they may be wrong about others."""


def source_strength(role: Role | None, *, first_person: bool, claimed: float | None = None) -> float:
    """Return the source strength in 0..1 of what a role says; `first_person`: of itself.

    `claimed` is the strength that a caller states; it never lifts the role above its cap. None is an unknown role.
    """
    cap = UNKNOWN if role is None else CAPS[role]
    if role is Role.USER and not first_person:
        cap -= HEARSAY
    return cap if claimed is None else min(cap, claimed)

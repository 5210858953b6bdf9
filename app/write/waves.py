"""Cutting a batch into waves whose members cannot affect one another's decisions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from app.memory import normalise
from app.write.values import Prepared


def waves(prepared: Sequence[tuple[int, Prepared]]) -> Iterator[list[tuple[int, Prepared]]]:
    """Yield the numbered candidates in waves, in order.

    Two candidates share a wave only if neither can merge with, replace or rename what the other says: they
    have different words, no common slot (told by subject and key before resolution), no possible likeness
    in meaning, and neither declares a name that the other uses.
    """
    wave: list[tuple[int, Prepared]] = []
    claimed: set[str] = set()
    declared: set[str] = set()
    used: set[str] = set()
    for place, one in prepared:
        claims, declares, uses = _claims(one), _declared(one), _used(one)
        if claims & claimed or uses & declared or declares & (used | declared):
            yield wave
            wave, claimed, declared, used = [], set(), set(), set()
        wave.append((place, one))
        claimed |= claims
        declared |= declares
        used |= uses
    if wave:
        yield wave


def _claims(one: Prepared) -> set[str]:
    """Return keys of everything this could merge with or replace."""
    candidate = one.candidate
    claims = {one.identity.hex()}
    by_meaning = candidate.type.dedup_by_meaning or candidate.payload.subject() is not None
    if by_meaning:
        claims.add(f"{candidate.type.name}\x1f{normalise.name(candidate.payload.subject() or '')}")
    return claims


def _declared(one: Prepared) -> set[str]:
    return {
        normalise.name(name)
        for mention in one.mentions
        if mention.declares
        for name in (mention.name, *mention.aliases)
    }


def _used(one: Prepared) -> set[str]:
    return {normalise.name(mention.name) for mention in one.mentions}

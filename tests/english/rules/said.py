"""Turns to extract from, and what came of them in a shape that tables can hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from uuid import UUID
from zoneinfo import ZoneInfo

from app.memory.extraction import Proposal, Role, Turn
from app.memory.registry import discover
from app.model import Scope, ScopeKind
from app.providers.rule_extractor import propose

TYPES = discover()
BERLIN = ZoneInfo("Europe/Berlin")
WEDNESDAY = datetime(2026, 5, 20, 10, 0, tzinfo=UTC)
"""When everything is said, unless a test says otherwise."""

Expected = tuple[str, Mapping[str, object]]
"""A type, and the fields its payload holds among others."""


def turn(
    content: str,
    role: str = "user",
    *,
    speaker: str | None = None,
    at: datetime = WEDNESDAY,
    zone: tzinfo = BERLIN,
) -> Turn:
    return Turn(
        id=UUID(int=1),
        scope=Scope(kind=ScopeKind.USER, user_id="ana"),
        role=Role(role),
        content=content,
        occurred_at=at,
        zone=zone,
        speaker=speaker,
    )


def proposed(content: str, role: str = "user", **about: object) -> tuple[Proposal, ...]:
    return propose(turn(content, role, **about))  # type: ignore[arg-type]


def sentences(content: str, role: str = "user", **about: object) -> list[str]:
    """What is proposed, each as the sentence its type makes of it."""
    return [f"{one.type}: {rendered(one)}" for one in proposed(content, role, **about)]


def rendered(proposal: Proposal) -> str:
    return TYPES.get(proposal.type).payload.model_validate(dict(proposal.payload)).render()


def holds(found: Sequence[Proposal], expected: Expected) -> bool:
    kind, fields = expected
    return any(one.type == kind and fields.items() <= dict(one.payload).items() for one in found)


def fact(predicate: str, value: str, subject: str = "user") -> Expected:
    return "fact", {"subject": subject, "predicate": predicate, "object": value}


def preference(key: str, value: str) -> Expected:
    return "preference", {"preference_key": key, "preference_value": value}


def relation(start: str, kind: str, end: str) -> Expected:
    return "relation", {"from_entity": start, "relation_type": kind, "to_entity": end}


def event(description: str, at: str | None = None, precision: str = "unknown") -> Expected:
    return "event", {"event_description": description, "event_at": at, "event_at_precision": precision}


def decision(subject: str, decided: str) -> Expected:
    return "decision", {"subject": subject, "decision": decided}

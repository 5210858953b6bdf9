"""Proposals before they are chosen: payloads by type, how sure, how important, about what."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from app.memory import vocabulary
from app.providers.rules import when
from app.providers.rules.clause import Clause, Said, Who
from app.providers.rules.when import When

EXPLICIT: Final = 0.9
THIRD_PERSON: Final = 0.8
PRONOUN: Final = 0.7
INFERRED: Final = 0.6
REPEATED: Final = 0.6
"""What an assistant says of the user: it was said to it, or guessed."""

_BY_SUBJECT: Final = {
    Who.SPEAKER: EXPLICIT,
    Who.USER: EXPLICIT,
    Who.NAMED: THIRD_PERSON,
    Who.POSSESSED: THIRD_PERSON,
    Who.PRONOUN: PRONOUN,
    Who.ADDRESSEE: REPEATED,
}

STATED: Final = 0.9
"""Importance of an explicit preference or a correction, health and identity (seed 003: .8 to 1)."""
FACTUAL: Final = 0.7
"""Of facts offered in context (.5 to .8)."""
PASSING: Final = 0.4
"""Of what is mentioned once in passing (.2 to .5)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a rule found in a clause; `ends`: that it is no longer so, since `ended_at` where that is told."""

    type: str
    payload: Mapping[str, object]
    confidence: float
    importance: float
    topic: str | None = None
    ends: bool = False
    ended_at: str | None = None


Rule = Callable[[Clause, Said], Iterator[Draft]]


def confidence(clause: Clause, *, inferred: bool = False) -> float:
    """Return how sure it is that the clause says so: by who says it of whom, and how."""
    base = EXPLICIT if clause.subject.mine and clause.subject.given is None else _BY_SUBJECT[clause.subject.who]
    return round(min(base, INFERRED if inferred else base) * clause.sure, 2)


def fact(
    clause: Clause, predicate: str, value: str, *, stateful: bool = True, subject: str | None = None,
    importance: float = FACTUAL, topic: str | None = None, inferred: bool = False,
) -> Draft:  # fmt: skip
    """Return a fact about the clause's subject, or about another one."""
    payload: dict[str, object] = {
        "subject": clause.subject.name if subject is None else subject,
        "predicate": vocabulary.predicate(predicate),
        "object": value,
    }
    if not stateful:
        payload["stateful"] = False
    return Draft(
        type="fact", payload=payload, confidence=confidence(clause, inferred=inferred),
        importance=_raised(importance, clause), topic=topic,
    )  # fmt: skip


def preference(
    clause: Clause, key: str, value: str, *, subject: str | None = None, importance: float = STATED,
    topic: str | None = None, inferred: bool = False,
) -> Draft:  # fmt: skip
    """Return a preference of the clause's subject, or of another one."""
    payload: dict[str, object] = {"preference_key": key, "preference_value": value}
    whose = clause.subject.name if subject is None else subject
    if whose != vocabulary.USER:
        payload["subject"] = whose
    return Draft(
        type="preference", payload=payload, confidence=confidence(clause, inferred=inferred),
        importance=_raised(importance, clause), topic=topic,
    )  # fmt: skip


def relation(
    clause: Clause, kind: str, other: str, *, start: str | None = None, since: str | None = None, inferred: bool = False
) -> Draft:
    """Return a relation from the clause's subject, or from another one, to someone or something."""
    payload: dict[str, object] = {
        "from_entity": clause.subject.name if start is None else start,
        "relation_type": kind,
        "to_entity": other,
    }
    if since is not None:
        payload["since"] = since
    return Draft(
        type="relation", payload=payload, confidence=confidence(clause, inferred=inferred),
        importance=_raised(FACTUAL, clause), topic="work",
    )  # fmt: skip


def event(
    clause: Clause, description: str, when: When | None, participants: Sequence[str] = (), *,
    importance: float = 0.5, topic: str | None = None, approximate: bool = False,
) -> Draft:  # fmt: skip
    """Return an event; without a time its precision is unknown, or approximate for what lies in the past."""
    payload: dict[str, object] = {"event_description": description}
    if when is not None:
        payload["event_at"] = when.at
        payload["event_at_precision"] = str(when.precision)
    else:
        payload["event_at"] = None
        payload["event_at_precision"] = "approximate" if approximate else "unknown"
    if participants:
        payload["participants"] = list(dict.fromkeys(participants))
    return Draft(
        type="event", payload=payload, confidence=confidence(clause),
        importance=_raised(importance, clause), topic=topic,
    )  # fmt: skip


def ended(clause: Clause, said: Said, draft: Draft, *, dated: bool = True) -> Draft:
    """Return that what a draft says is no longer so; a value that is empty was not told.

    `dated`: the time that the clause names is that of the end.
    """
    time = when.find(clause.whole, said.now) if dated else None
    return replace(
        draft,
        payload={name: value for name, value in draft.payload.items() if value not in {"", None}},
        confidence=min(draft.confidence, confidence(clause)),
        importance=max(draft.importance, FACTUAL),
        ends=True,
        ended_at=None if time is None else time.at,
    )


def entity(
    sure: float, name: str, kind: str, *, aliases: Sequence[str] = (), attributes: Mapping[str, str] | None = None,
    topic: str | None = None,
) -> Draft:  # fmt: skip
    """Return a declaration of who or what something is."""
    payload: dict[str, object] = {"canonical_name": name, "entity_type": kind}
    if aliases:
        payload["aliases"] = list(aliases)
    if attributes:
        payload["attributes"] = dict(attributes)
    return Draft(type="entity", payload=payload, confidence=sure, importance=0.5, topic=topic)


def decision(
    clause: Clause, subject: str, decided: str, *, rationale: str | None = None, alternatives: Sequence[str] = (),
    topic: str | None = None,
) -> Draft:  # fmt: skip
    """Return a decision on a subject."""
    payload: dict[str, object] = {"subject": subject, "decision": decided}
    if rationale:
        payload["rationale"] = rationale
    if alternatives:
        payload["alternatives"] = list(alternatives)
    return Draft(type="decision", payload=payload, confidence=confidence(clause), importance=0.8, topic=topic)


def _raised(importance: float, clause: Clause) -> float:
    return max(importance, STATED) if clause.correction else importance

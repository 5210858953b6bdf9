"""What proposals and memories name, and what they make someone to someone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pydantic import ValidationError

from app.db.references import Referent
from app.memory import normalise, vocabulary
from app.memory.extraction import Proposal
from app.memory.registry import Registry
from app.memory.spec import Payload
from app.text.proper_names import UNKNOWN, Gender
from app.write.named import Candidate
from app.write.pronouns import gender_by_role, parsed
from app.write.ties import tie


@dataclass(frozen=True, slots=True)
class Relationship:
    """What someone is to someone: `name` is the `role` of `of`."""

    of: str
    role: str
    name: str


def _payload(proposal: Proposal, types: Registry | None) -> Payload | None:
    spec = None if types is None else types.by_name.get(proposal.type)
    if spec is None:
        return None
    try:
        return spec.payload.model_validate(proposal.payload)
    except ValidationError:
        return None


def mentioned(proposal: Proposal, types: Registry | None) -> Iterator[Candidate]:
    """Yield what a proposal names; a value that need not be a name is none."""
    payload = _payload(proposal, types)
    for mention in () if payload is None else payload.mentions():
        if mention.creates and parsed(mention.name) is None:
            yield Candidate(mention.name, mention.entity_type or UNKNOWN)


def stated(proposal: Proposal, types: Registry | None) -> Iterator[Relationship]:
    """Yield what a proposal makes someone to someone, both ways where there is a word for it."""
    payload = _payload(proposal, types)
    subject = None if payload is None else payload.subject()
    word = _first_text(proposal, "relation_type", "predicate")
    other = _first_text(proposal, "to_entity", "object")
    if subject is None or word is None or other is None:
        return
    role = vocabulary.relation(word) or normalise.key(word)
    for one in dict.fromkeys((role, normalise.key(word))):
        yield Relationship(subject, one, other)
    inverse = vocabulary.INVERSES.get(role)
    if inverse is not None:
        yield Relationship(other, inverse, subject)


def tie_of(proposal: Proposal) -> str | None:
    """Return what a proposal makes somebody have, such as a partner; None where it joins nobody to another."""
    word = _first_text(proposal, "relation_type", "predicate")
    return None if word is None else tie(word)


def _first_text(proposal: Proposal, *fields: str) -> str | None:
    values = (proposal.payload.get(name) for name in fields)
    return next((one for one in values if isinstance(one, str)), None)


def kinds_of(named: Iterable[Iterable[Candidate]], recent: Iterable[Referent]) -> dict[str, str]:
    """Return the entity type of every folded name that is known, what the proposals say first."""
    found: dict[str, str] = {}
    pairs = [(one.name, one.entity_type) for group in named for one in group]
    pairs += [(one.name, one.entity_type) for one in recent if one.pronoun is None]
    for name, kind in pairs:
        if found.get(name.casefold(), UNKNOWN) == UNKNOWN:
            found[name.casefold()] = kind
    return found


def genders_of(relationships: Iterable[Relationship], recent: Iterable[Referent]) -> dict[str, Gender]:
    """Return who is a he and who a she by what they are to someone, or, above all, by how they were spoken of."""
    by_role = {one.name.casefold(): gender for one in relationships if (gender := gender_by_role(one.role)) is not None}
    spoken = {
        one.name.casefold(): Gender(one.pronoun)
        for one in sorted(recent, key=lambda one: one.last_said_at)
        if one.pronoun in set(Gender)
    }
    return {**by_role, **spoken}

"""Who and what has been spoken of when a reference is made, the most recent first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby

from pydantic import ValidationError

from app.db.references import SUBJECTS, Referent
from app.memory import normalise, vocabulary
from app.memory.belongings import predicates
from app.memory.extraction import ASSISTANT, Proposal, Role, Turn
from app.memory.registry import Registry
from app.memory.spec import Payload
from app.text.proper_names import UNKNOWN, Gender, gender_of, is_given, names_in
from app.write.named import Ambiguous, Candidate, by_sentence
from app.write.pronouns import Reference, gender_by_role, parsed

WINDOW = 2_000
"""Characters before a reference that are searched for names, and of each turn before."""

KINDS = frozenset({"person", "organization", "team", "project", "product", "app", "initiative", "place"})
"""Entity types that a reference can tell apart; any other says nothing about `she` or `the company`."""

CERTAIN, FITS, PERHAPS, NEVER = 3, 2, 1, 0
"""How well someone fits a reference: by gender or an earlier assignment, by type, for all one knows, not at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Whom a reference means; not `sure` when it may as well be someone else."""

    name: str
    entity_type: str
    sure: bool


@dataclass(frozen=True, slots=True)
class _Relationship:
    """What someone is to someone: `name` is the `role` of `of`."""

    of: str
    role: str
    name: str


@dataclass(slots=True, kw_only=True)
class Scene:
    """A turn, and everything that may be meant in it; what its proposals turn out to say is learnt as they are read."""

    turn: Turn
    context: Sequence[Turn]
    recent: Sequence[Referent]
    types: Registry | None
    kinds: dict[str, str]
    genders: dict[str, Gender]
    relationships: list[_Relationship]
    named: list[Sequence[Candidate]] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        proposals: Sequence[Proposal],
        turn: Turn,
        recent: Sequence[Referent],
        context: Sequence[Turn],
        types: Registry | None,
    ) -> Scene:
        """Return the scene of a turn's proposals; without types, the proposals themselves name nobody."""
        relationships = [
            _Relationship(one.of, one.role, one.name)
            for one in sorted(recent, key=lambda one: one.last_said_at, reverse=True)
            if one.of is not None
        ]
        named = [list(_mentioned(one, types)) for one in proposals]
        return cls(
            turn=turn,
            context=context,
            recent=recent,
            types=types,
            kinds=_kinds(named, recent),
            genders=_genders(relationships, recent),
            relationships=relationships,
        )

    @property
    def first_persons(self) -> tuple[str, ...]:
        """Return every name of whoever speaks, the one to be used first."""
        user = (vocabulary.USER,) if self.turn.role is Role.USER else ()
        return tuple(dict.fromkeys((self.turn.first_person, *user)))

    def learn(self, proposal: Proposal) -> None:
        """Take in what a proposal names and says, its references read."""
        self.named.append(list(_mentioned(proposal, self.types)))
        self.relationships[:0] = _stated(proposal, self.types)

    def assign(self, reference: Reference, name: str, entity_type: str) -> None:
        """Let a name that was just meant by `she` not be meant by `he`, and be of the type it was found to have."""
        if reference.gender is not None:
            self.genders[name.casefold()] = reference.gender
        if self.kinds.get(name.casefold(), UNKNOWN) == UNKNOWN:
            self.kinds[name.casefold()] = entity_type

    def related(self, reference: Reference, owners: Sequence[str]) -> Found | None:
        """Return what the owners are known to have by that noun, as said last or as remembered."""
        roles = predicates(reference.noun or reference.key)
        mine = {one.casefold() for one in owners}
        for one in self.relationships:
            if one.role not in roles or one.of.casefold() not in mine or one.name.casefold() in mine:
                continue
            if reference.gender is None or self._gender(one.name) in {None, reference.gender}:
                return Found(name=one.name, entity_type=self._kind(one.name, UNKNOWN), sure=True)
        return None

    def find(self, reference: Reference, quote: str, taken: frozenset[str]) -> Found | None:
        """Return whom a reference in a quote means, leaving out folded names that are taken; raises Ambiguous."""
        left_out = taken | {one.casefold() for one in (*self.first_persons, vocabulary.USER, ASSISTANT)}
        near = [
            *self._said(quote, reference),
            *(one for one in reversed(self.named) if one),
            *self._before(),
            *self._stored(reference, near=True),
        ]
        far = [] if reference.things else list(self._stored(reference, near=False))
        looked: tuple[tuple[Sequence[Sequence[Candidate]], int], ...]
        if reference.pronoun:
            looked = ((near, FITS), (near, PERHAPS), (far, FITS))
        else:
            theirs = self.related(reference, self.first_persons)
            own = [] if theirs is None else [[Candidate(theirs.name, theirs.entity_type)]]
            looked = ((near, FITS), (own, PERHAPS), (far, FITS), (near, PERHAPS))
        found = (self._best(tier, reference, least, left_out) for tiers, least in looked for tier in tiers)
        return next((one for one in found if one is not None), None)

    def _best(
        self, tier: Sequence[Candidate], reference: Reference, least: int, left_out: frozenset[str]
    ) -> Found | None:
        """Return the best of those spoken of together: the first of equals, because that is the subject."""
        fits: dict[str, tuple[int, Candidate]] = {}
        for one in tier:
            level = self._fit(one, reference)
            if level >= least and one.name.casefold() not in left_out:
                fits.setdefault(one.name.casefold(), (level, one))
        if not fits:
            return None
        best = max(level for level, _ in fits.values())
        equals = [one for level, one in fits.values() if level == best]
        if len(equals) > 1 and equals[0].joined and equals[1].joined and best > PERHAPS and reference.pronoun:
            raise Ambiguous(f"'{reference.words}' may mean any of several who were named together")
        return Found(
            name=equals[0].name,
            entity_type=self._kind(equals[0].name, equals[0].entity_type),
            sure=len(equals) == 1 and best > PERHAPS,
        )

    def _fit(self, one: Candidate, reference: Reference) -> int:
        kind, gender = self._kind(one.name, one.entity_type), self._gender(one.name)
        person = kind == "person" or (kind == UNKNOWN and is_given(one.name))
        if one.assigned:
            return CERTAIN
        if reference.things:
            return NEVER if person else PERHAPS if kind == UNKNOWN else FITS
        if reference.gender is not None and (gender not in {None, reference.gender} or kind not in {"person", UNKNOWN}):
            return NEVER
        if reference.gender is not None and gender is reference.gender:
            return CERTAIN
        if kind in reference.kinds or (person and reference.somebody):
            return FITS
        return PERHAPS if kind == UNKNOWN and not person else NEVER

    def _kind(self, name: str, otherwise: str) -> str:
        known = self.kinds.get(name.casefold(), UNKNOWN)
        kind = otherwise if known == UNKNOWN else known
        return kind if kind in KINDS else UNKNOWN

    def _gender(self, name: str) -> Gender | None:
        return self.genders.get(name.casefold()) or gender_of(name)

    def _said(self, quote: str, reference: Reference) -> Iterator[list[Candidate]]:
        """Yield the names said in the turn before the reference, a sentence at a time, the nearest first."""
        text = self.turn.content
        place = _place(text, quote, reference.words)
        start = max(0, place - WINDOW)
        said = names_in(text[start : place + WINDOW // 10], self.kinds)
        yield from by_sentence(text[start:], [one for one in said if one.start < place - start])

    def _before(self) -> Iterator[list[Candidate]]:
        """Yield the names said in the turns before, the nearest sentence first."""
        for turn in reversed(self.context):
            text = turn.content[-WINDOW:]
            yield from by_sentence(text, names_in(text, self.kinds))

    def _stored(self, reference: Reference, *, near: bool) -> Iterator[list[Candidate]]:
        """Yield what is remembered of this session, or of the others, what was said together in one piece."""
        session = self.turn.session_id
        fitting = [
            one
            for one in self.recent
            if one.of is None
            and one.alive
            and one.pronoun in {None, reference.key}
            and (session is not None and one.session_id == session) == near
        ]
        fitting.sort(key=lambda one: (*_when(one), one.number or -1), reverse=True)
        for _, together in groupby(fitting, key=_when):
            ordered = sorted(together, key=lambda one: (one.pronoun is None, one.role not in SUBJECTS))
            yield [Candidate(one.name, one.entity_type, one.pronoun is not None) for one in ordered]


def _when(one: Referent) -> tuple[datetime, int]:
    """Return when something was spoken of: turns of one time come in the order in which they were given."""
    return (one.last_said_at, 0 if one.turn is None else one.turn.int)


def _payload(proposal: Proposal, types: Registry | None) -> Payload | None:
    spec = None if types is None else types.by_name.get(proposal.type)
    if spec is None:
        return None
    try:
        return spec.payload.model_validate(proposal.payload)
    except ValidationError:
        return None


def _mentioned(proposal: Proposal, types: Registry | None) -> Iterator[Candidate]:
    """Yield what a proposal names; a value that need not be a name is none."""
    payload = _payload(proposal, types)
    for mention in () if payload is None else payload.mentions():
        if mention.creates and parsed(mention.name) is None:
            yield Candidate(mention.name, mention.entity_type or UNKNOWN)


def _stated(proposal: Proposal, types: Registry | None) -> Iterator[_Relationship]:
    """Yield what a proposal makes someone to someone, both ways where there is a word for it."""
    payload = _payload(proposal, types)
    subject = None if payload is None else payload.subject()
    word = _first_text(proposal, "relation_type", "predicate")
    other = _first_text(proposal, "to_entity", "object")
    if subject is None or word is None or other is None:
        return
    role = vocabulary.relation(word) or normalise.key(word)
    for one in dict.fromkeys((role, normalise.key(word))):
        yield _Relationship(subject, one, other)
    inverse = vocabulary.INVERSES.get(role)
    if inverse is not None:
        yield _Relationship(other, inverse, subject)


def _first_text(proposal: Proposal, *fields: str) -> str | None:
    values = (proposal.payload.get(name) for name in fields)
    return next((one for one in values if isinstance(one, str)), None)


def _kinds(named: Iterable[Iterable[Candidate]], recent: Iterable[Referent]) -> dict[str, str]:
    """Return the entity type of every folded name that is known, what the proposals say first."""
    found: dict[str, str] = {}
    pairs = [(one.name, one.entity_type) for group in named for one in group]
    pairs += [(one.name, one.entity_type) for one in recent if one.pronoun is None]
    for name, kind in pairs:
        if found.get(name.casefold(), UNKNOWN) == UNKNOWN:
            found[name.casefold()] = kind
    return found


def _genders(relationships: Iterable[_Relationship], recent: Iterable[Referent]) -> dict[str, Gender]:
    """Return who is a he and who a she by what they are to someone, or, above all, by how they were spoken of."""
    by_role = {one.name.casefold(): gender for one in relationships if (gender := gender_by_role(one.role)) is not None}
    spoken = {
        one.name.casefold(): Gender(one.pronoun)
        for one in sorted(recent, key=lambda one: one.last_said_at)
        if one.pronoun in set(Gender)
    }
    return {**by_role, **spoken}


def _place(text: str, quote: str, words: str) -> int:
    """Return where in the text the reference is made: in the quote, or at its end if it says something else."""
    start = text.find(quote)
    if start < 0:
        return len(text)
    found = re.search(rf"\b{re.escape(words)}\b", quote, re.IGNORECASE)
    return start + (len(quote) if found is None else found.start())

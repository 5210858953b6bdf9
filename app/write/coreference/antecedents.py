"""Who was mentioned, together with whom, the most recent first.

What proposals and memories name, and what they make someone to someone.

Who and what has been spoken of when a reference is made, the most recent first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from pydantic import ValidationError

from app.db.entities.write_lookup import Referent
from app.english.descriptions import Description
from app.english.names import UNKNOWN, Gender, gender_of, is_given
from app.english.pronouns import PET, Reference, can_own, gender_by_role, is_sole, parsed, predicates, relationship_of
from app.memory import normalise, vocabulary
from app.memory.extraction import ASSISTANT, Proposal, Role, Turn
from app.memory.registry import Registry
from app.memory.spec import Payload
from app.write.coreference.discourse import CoMention, DiscourseContext
from app.write.coreference.names import AmbiguousName, PossibleReferent


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


def names_in(proposal: Proposal, types: Registry | None) -> Iterator[PossibleReferent]:
    """Yield what a proposal names; a value that need not be a name is none."""
    payload = _payload(proposal, types)
    for mention in () if payload is None else payload.mentions():
        if mention.creates and parsed(mention.name) is None:
            yield PossibleReferent(mention.name, mention.entity_type or UNKNOWN)


def relationships_in(proposal: Proposal, types: Registry | None) -> Iterator[Relationship]:
    """Yield what a proposal makes someone to someone, both ways where there is a word for it."""
    payload = _payload(proposal, types)
    subject = None if payload is None else payload.subject()
    word = _first_text(proposal, "relation_type", "predicate")
    other = _first_text(proposal, "to_entity", "object")
    if subject is None or word is None or other is None:
        return
    role = vocabulary.relation(word) or normalise.normalise_key(word)
    for one in dict.fromkeys((role, normalise.normalise_key(word))):
        yield Relationship(subject, one, other)
    inverse = vocabulary.INVERSES.get(role)
    if inverse is not None:
        yield Relationship(other, inverse, subject)


def tie_of(proposal: Proposal) -> str | None:
    """Return what a proposal makes somebody have, such as a partner; None where it joins nobody to another."""
    word = _first_text(proposal, "relation_type", "predicate")
    return None if word is None else relationship_of(word)


def _first_text(proposal: Proposal, *fields: str) -> str | None:
    values = (proposal.payload.get(name) for name in fields)
    return next((one for one in values if isinstance(one, str)), None)


def kinds_of(named: Iterable[Iterable[PossibleReferent]], recent: Iterable[Referent]) -> dict[str, str]:
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


KINDS = frozenset({"person", PET, "organization", "team", "project", "product", "app", "initiative", "place"})
"""Entity types that a reference can tell apart; any other says nothing about `she` or `the company`."""

CERTAIN, FITS, PERHAPS, NEVER = 3, 2, 1, 0
"""How well someone fits a reference: by gender or an earlier assignment, by type, for all one knows, not at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferentMatch:
    """Whom a reference means; not `sure` when it may as well be someone else.

    `level` is how well it fits, and `leads` whether it was said as people are of whom nothing else is known.
    """

    name: str
    entity_type: str
    sure: bool
    level: int = FITS
    leads: bool = True


@dataclass(slots=True, kw_only=True)
class Discourse:
    """A turn, and everything that may be meant in it; what its proposals turn out to say is learnt as they are read."""

    turn: Turn
    spoken: DiscourseContext
    types: Registry | None
    kinds: dict[str, str]
    genders: dict[str, Gender]
    relationships: list[Relationship]
    named: list[Sequence[PossibleReferent]] = field(default_factory=list)
    resolved: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        proposals: Sequence[Proposal],
        turn: Turn,
        recent: Sequence[Referent],
        context: Sequence[Turn],
        types: Registry | None,
    ) -> Discourse:
        """Return the scene of a turn's proposals; without types, the proposals themselves name nobody."""
        relationships = [
            Relationship(one.of, one.role, one.name)
            for one in sorted(recent, key=lambda one: one.last_said_at, reverse=True)
            if one.of is not None
        ]
        kinds = kinds_of([list(names_in(one, types)) for one in proposals], recent)
        return cls(
            turn=turn,
            spoken=DiscourseContext(turn=turn, context=context, recent=recent, kinds=kinds),
            types=types,
            kinds=kinds,
            genders=genders_of(relationships, recent),
            relationships=relationships,
        )

    @property
    def first_persons(self) -> tuple[str, ...]:
        """Return every name of whoever speaks, the one to be used first."""
        user = (vocabulary.USER,) if self.turn.role is Role.USER else ()
        return tuple(dict.fromkeys((self.turn.first_person, *user)))

    def learn(self, proposal: Proposal) -> None:
        """Take in what a proposal names and says, its references read."""
        self.named.append(list(names_in(proposal, self.types)))
        self.relationships[:0] = relationships_in(proposal, self.types)

    def assign(self, reference: Reference, name: str, entity_type: str) -> None:
        """Let a name that was just meant by `she` not be meant by `he`, and be of the type it was found to have."""
        if reference.gender is not None:
            self.genders[name.casefold()] = reference.gender
        if self.kinds.get(name.casefold(), UNKNOWN) == UNKNOWN:
            self.kinds[name.casefold()] = entity_type
        if reference.owner is not None:
            self.resolved[reference.words.casefold()] = name

    def related(self, reference: Reference, owners: Sequence[str]) -> ReferentMatch | None:
        """Return what the owners are known to have by that noun, as said last or as remembered."""
        roles = predicates(reference.noun or reference.key)
        mine = {one.casefold() for one in owners}
        for one in self.relationships:
            if one.role not in roles or one.of.casefold() not in mine or one.name.casefold() in mine:
                continue
            if reference.gender is None or self._gender(PossibleReferent(one.name, UNKNOWN)) in {
                None,
                reference.gender,
            }:
                return ReferentMatch(name=one.name, entity_type=self._kind(one.name, UNKNOWN), sure=True)
        return None

    def find(self, reference: Reference, quote: str, taken: frozenset[str]) -> ReferentMatch | None:
        """Return whom a reference in a quote means, leaving out folded names that are taken; raises Ambiguous."""
        left_out = taken | {one.casefold() for one in (*self.first_persons, vocabulary.USER, ASSISTANT)}
        near = self._near(reference, quote)
        if reference.pronoun:
            return self._nearest(near, reference, left_out) or self._elsewhere(reference, left_out)
        tiers = [together.candidates for together in near]
        theirs = self.related(reference, self.first_persons)
        own = [] if theirs is None else [[PossibleReferent(theirs.name, theirs.entity_type)]]
        far = [together.candidates for together in self.spoken.stored(reference, near=False)]
        looked = ((tiers, FITS), (own, PERHAPS), (far, FITS), (tiers, PERHAPS))
        found = (self._best(tier, reference, least, left_out) for group, least in looked for tier in group)
        return next((one for one in found if one is not None), None)

    def _near(self, reference: Reference, quote: str) -> Iterator[CoMention]:
        """Yield who was spoken of together in this turn and its session, the nearest first."""
        yield from self.spoken.said(quote, reference)
        yield from (CoMention(one) for one in reversed(self.named) if one)
        yield from self.spoken.before(reference)
        yield from self.spoken.stored(reference, near=True)

    def _elsewhere(self, reference: Reference, left_out: frozenset[str]) -> ReferentMatch | None:
        """Return whom a pronoun fits of those spoken of in other sessions, never for sure."""
        if reference.things:
            return None
        tiers = (together.candidates for together in self.spoken.stored(reference, near=False))
        found = (self._best(tier, reference, FITS, left_out) for tier in tiers)
        return next((replace(one, sure=False) for one in found if one is not None), None)

    def _nearest(
        self, near: Iterable[CoMention], reference: Reference, left_out: frozenset[str]
    ) -> ReferentMatch | None:
        """Return the nearest whom a pronoun fits; raises Ambiguous.

        A name of which nothing is known stands behind who fits; but close by, it stands before those of earlier turns.
        """
        doubtful: tuple[ReferentMatch, CoMention] | None = None
        perhaps: ReferentMatch | None = None
        for together in near:
            found = self._best(together.candidates, reference, PERHAPS, left_out)
            if found is None:
                continue
            if found.level > PERHAPS:
                if doubtful is None:
                    return found
                earlier = together.turns_ago > doubtful[1].turns_ago
                return _either(doubtful[0], found, reference, earlier=earlier)
            perhaps = perhaps or found
            if together.close and doubtful is None:
                doubtful = (found, together)
        return perhaps

    def _best(
        self, tier: Sequence[PossibleReferent], reference: Reference, least: int, left_out: frozenset[str]
    ) -> ReferentMatch | None:
        """Return the best of those spoken of together: the first of equals, because that is the subject."""
        fits: dict[str, tuple[int, PossibleReferent]] = {}
        for one in map(self._called, tier):
            if reference.tie is not None and not self._has(one, reference.tie, things=reference.things):
                continue
            level = self._fit(one, reference)
            if level >= least and one.name.casefold() not in left_out:
                fits.setdefault(one.name.casefold(), (level, one))
        if not fits:
            return None
        if reference.pronoun:
            _refuse_nameless([one for level, one in fits.values() if level > PERHAPS], reference)
        best = max(level for level, _ in fits.values())
        equals = [one for level, one in fits.values() if level == best]
        if len(equals) > 1 and equals[0].joined and equals[1].joined and best > PERHAPS and reference.pronoun:
            raise AmbiguousName(f"'{reference.words}' may mean any of several who were named together")
        return ReferentMatch(
            name=equals[0].name,
            entity_type=self._kind(equals[0].name, equals[0].entity_type),
            sure=len(equals) == 1 and best > PERHAPS,
            level=best,
            leads=equals[0].leads,
        )

    def _called(self, one: PossibleReferent) -> PossibleReferent:
        """Return somebody under the name they go by: `my boss` is Peter, or else `user's boss`; where there is one."""
        noun = one.unnamed
        if noun is None:
            return one
        known = self.resolved.get(noun.words.casefold())
        if known is None and one.owner is not None:
            known = self._owned(noun, one.owner)
        return one if known is None else replace(one, name=known, nameless=False)

    def _owned(self, noun: Description, owner: str) -> str | None:
        """Return what one calls someone's boss; None for one of several, such as a brother, when another is known."""
        owners = self.first_persons if owner in self.first_persons else (owner,)
        reference = parsed(f"my {noun.rest}")
        theirs = None if reference is None or noun.plural else self.related(reference, owners)
        if theirs is None:
            return f"{owner}'s {noun.rest}"
        return theirs.name if is_sole(noun.noun) else None

    def _fit(self, one: PossibleReferent, reference: Reference) -> int:
        kind, gender = self._kind(one.name, one.entity_type), self._gender(one)
        person = kind == "person" or (kind == UNKNOWN and is_given(one.name))
        if one.assigned:
            return CERTAIN
        if one.unnamed is not None:
            return _fit_unnamed(one.unnamed, gender, reference)
        if reference.things:
            return NEVER if person else PERHAPS if kind == UNKNOWN else FITS
        if reference.gender is not None and gender is not None and kind in {"person", PET, UNKNOWN}:
            return CERTAIN if gender is reference.gender else NEVER
        if kind in reference.kinds or ((person or kind == PET) and reference.somebody):
            return FITS
        return PERHAPS if kind == UNKNOWN and not person and not one.follows else NEVER

    def _has(self, one: PossibleReferent, tie: str, *, things: bool) -> bool:
        animal = one.unnamed is not None and one.unnamed.animal
        return can_own(PET if animal else self._kind(one.name, one.entity_type), tie, things=things)

    def _kind(self, name: str, otherwise: str) -> str:
        known = self.kinds.get(name.casefold(), UNKNOWN)
        kind = otherwise if known == UNKNOWN else known
        return kind if kind in KINDS else UNKNOWN

    def _gender(self, one: PossibleReferent) -> Gender | None:
        known = self.genders.get(one.name.casefold()) or one.gender
        if known is not None or self._kind(one.name, one.entity_type) == PET:
            return known
        return gender_of(one.name)


def _fit_unnamed(noun: Description, gender: Gender | None, reference: Reference) -> int:
    if reference.things:
        return FITS if noun.animal and not noun.plural else NEVER
    if not reference.pronoun or (noun.plural and reference.gender is not None):
        return NEVER
    if reference.gender is None:
        return FITS
    known = noun.gender or gender
    return FITS if known is None else CERTAIN if known is reference.gender else NEVER


def _refuse_nameless(fitting: Sequence[PossibleReferent], reference: Reference) -> None:
    """Raise Ambiguous where somebody without a name, or an animal, may be meant as well as another."""
    nameless = next((one for one in fitting if one.nameless), None)
    if nameless is not None:
        raise AmbiguousName(f"'{reference.words}' may mean '{nameless.name}', whose name is not known")
    beside = next(
        (one for one in fitting if one.start >= 0 and (one.unnamed is not None or one.entity_type == PET)), None
    )
    if beside is not None and len(fitting) > 1:
        raise AmbiguousName(f"'{reference.words}' may mean '{beside.name}' or another")


def _either(close: ReferentMatch, other: ReferentMatch, reference: Reference, *, earlier: bool) -> ReferentMatch:
    """Return who is meant of one close by of whom nothing is known and one who fits, perhaps of an earlier turn."""
    if earlier and close.leads:
        return close
    if not earlier and not close.leads:
        return replace(other, sure=False)
    raise AmbiguousName(f"'{reference.words}' may mean '{close.name}' or '{other.name}'")

"""The ring of those spoken of before a reference, the latest first, and whom of them a reference means.

The turn itself up to the reference, the turns before it, then what the scope remembers of this session, assignments of
the pronoun among them. Other sessions count only where a gender or an earlier assignment tells whom a pronoun means,
if that is one person alone, and never for sure.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import groupby
from typing import Final

from pydantic import ValidationError

from app.db.entities.write_lookup import SUBJECTS, Referent
from app.english.chitchat import is_chit_chat
from app.english.descriptions import PET, Description, DiscourseMention, mentions_in
from app.english.names import Gender, gender_of, is_given, kind_of, sentences_of
from app.english.pronouns import Reference, can_own, forms, gender_by_role, is_sole, parsed, predicates, relationship_of
from app.english.verbs import form_of, looks_past
from app.memory import normalise, vocabulary
from app.memory.extraction import ASSISTANT, Proposal, Role, Turn
from app.memory.registry import Registry
from app.memory.spec import Payload
from app.model import UNKNOWN_TYPE

HEARD_TURNS: Final = 10
"""Turns of the session just before that a reference reaches back to."""

REACH: Final = timedelta(days=1)
"""How long ago whom a reference means may have been spoken of, in its session or another."""

WINDOW: Final = 2_000
"""Characters before a reference that are searched for names, and of each turn before."""

_KINDS: Final = frozenset({"person", PET, "organization", "team", "project", "product", "app", "initiative", "place"})
"""Entity types that a reference can tell apart; any other says nothing about `she` or `the company`."""

_CERTAIN, _FITS, _PERHAPS, _NEVER = 3, 2, 1, 0
"""How well someone fits a reference: by gender or an earlier assignment, by type, for all one knows, not at all."""

_MINE: Final = frozenset({"my", "our"})
_OF_NAME: Final = re.compile(r"['\u2019]s?$")


class NobodyMeant(Exception):
    """A reference that means nobody known, or any of several; the message says so."""


@dataclass(frozen=True, slots=True)
class _MentionGroup:
    """Those who were spoken of together, how many turns ago, and whether in the reference's sentence or just before."""

    mentions: Sequence[DiscourseMention]
    turns_ago: int = 0
    close: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferentMatch:
    """The entity that a reference means; not `sure` when it may as well be another, `elsewhere` of another session."""

    name: str
    kind: str
    sure: bool
    elsewhere: bool = False
    level: int = _FITS
    leads: bool = True


@dataclass(frozen=True, slots=True)
class _Tie:
    """A role between people: `name` is the `role` of `of`."""

    of: str
    role: str
    name: str


@dataclass(slots=True, kw_only=True)
class ReferentRing:
    """Those spoken of before a reference; what the proposals turn out to say is learnt as they are read."""

    turn: Turn
    context: Sequence[Turn]
    recent: Sequence[Referent]
    types: Registry
    kinds: dict[str, str]
    genders: dict[str, Gender]
    ties: list[_Tie]
    named: list[Sequence[DiscourseMention]] = field(default_factory=list)
    resolved: dict[str, str] = field(default_factory=dict)
    heard: dict[str, list[_MentionGroup]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        proposals: Sequence[Proposal],
        turn: Turn,
        recent: Sequence[Referent],
        context: Sequence[Turn],
        types: Registry,
    ) -> ReferentRing:
        """Return the ring of a turn's proposals."""
        latest = sorted(recent, key=lambda one: one.last_said_at, reverse=True)
        ties = [_Tie(one.of, one.role, one.name) for one in latest if one.of is not None]
        genders = {one.name.casefold(): found for one in ties if (found := gender_by_role(one.role)) is not None}
        spoken = [one for one in reversed(latest) if one.pronoun in set(Gender)]
        genders |= {one.name.casefold(): Gender(str(one.pronoun)) for one in spoken}
        kinds: dict[str, str] = {}
        told = [(one.name, one.entity_type) for proposal in proposals for one in _names_in(proposal, types)]
        for name, kind in (*told, *((one.name, one.entity_type) for one in recent if one.pronoun is None)):
            if kinds.get(name.casefold(), UNKNOWN_TYPE) == UNKNOWN_TYPE:
                kinds[name.casefold()] = kind
        return cls(
            turn=turn, context=context, recent=recent, types=types, kinds=kinds, genders=genders, ties=ties
        )  # fmt: skip

    @property
    def first_persons(self) -> tuple[str, ...]:
        """Return every name of whoever speaks, the one to be used first."""
        user = (vocabulary.USER,) if self.turn.role is Role.USER else ()
        return tuple(dict.fromkeys((self.turn.first_person, *user)))

    def learn(self, proposal: Proposal) -> None:
        """Take in what a proposal names and says, its references read."""
        self.named.append(list(_names_in(proposal, self.types)))
        self.ties[:0] = _ties_in(proposal, self.types)

    def assign(self, reference: Reference, name: str, kind: str) -> None:
        """Let a name that was just meant by `she` not be meant by `he`, and be of the type it was found to have."""
        if reference.gender is not None:
            self.genders[name.casefold()] = reference.gender
        if self.kinds.get(name.casefold(), UNKNOWN_TYPE) == UNKNOWN_TYPE:
            self.kinds[name.casefold()] = kind
        if reference.owner is not None:
            self.resolved[reference.words.casefold()] = name

    def related(self, reference: Reference, owners: Sequence[str]) -> ReferentMatch | None:
        """Return what the owners are known to have by that noun, as said last or as remembered.

        Of those whom people may have several of, such as siblings, it must be one alone who is surely meant.
        """
        noun = reference.noun or reference.key
        mine = {one.casefold() for one in owners}
        sole = is_sole(noun) or reference.gender is None
        possible = {reference.gender} if not sole else {None, reference.gender}
        names = dict.fromkeys(
            one.name
            for one in self.ties
            if one.role in predicates(noun)
            and one.of.casefold() in mine
            and one.name.casefold() not in mine
            and (reference.gender is None or self._gender(DiscourseMention(name=one.name)) in possible)
        )
        name = next(iter(names), None)
        if name is None or (len(names) > 1 and not sole):
            return None
        return ReferentMatch(name=name, kind=self._kind(name, UNKNOWN_TYPE), sure=True)

    def find(self, reference: Reference, quote: str, taken: frozenset[str]) -> ReferentMatch | None:
        """Return whom a reference in a quote means, leaving out folded names that are taken."""
        left_out = taken | {one.casefold() for one in (*self.first_persons, vocabulary.USER, ASSISTANT)}
        near = self._near(reference, quote)
        if reference.pronoun:
            return self._nearest(near, reference, left_out) or self._elsewhere(reference, left_out)
        tiers = [one.mentions for one in near]
        theirs = self.related(reference, self.first_persons)
        own = [] if theirs is None else [[DiscourseMention(name=theirs.name, entity_type=theirs.kind)]]
        far = [one.mentions for one in self._stored(reference, near=False)]
        looked = ((tiers, _FITS), (own, _PERHAPS), (far, _FITS), (tiers, _PERHAPS))
        found = (self._best(tier, reference, least, left_out) for group, least in looked for tier in group)
        return next((one for one in found if one is not None), None)

    def _near(self, reference: Reference, quote: str) -> Iterator[_MentionGroup]:
        """Yield who was spoken of in this turn and its session, the nearest first."""
        text = self.turn.content
        end = _place(text, quote, reference.words)
        start = max(0, end - WINDOW)
        piece, end = text[start : end + WINDOW // 10], end - start
        starts = sentences_of(piece)
        for group in _spoken_of(piece, self.kinds, self.turn, reference.key):
            said = [one for one in group if one.start < end]
            if said:
                yield _MentionGroup(said, close=bisect_right(starts, end) - bisect_right(starts, said[0].start) <= 1)
        yield from (_MentionGroup(one) for one in reversed(self.named) if one)
        if reference.key not in self.heard:
            self.heard[reference.key] = list(self._in_context(reference.key))
        yield from self.heard[reference.key]
        yield from self._stored(reference, near=True)

    def _in_context(self, key: str) -> Iterator[_MentionGroup]:
        for back, turn in enumerate(reversed(self.context), start=1):
            if self.turn.occurred_at - turn.occurred_at > REACH:
                return
            text = turn.content[-WINDOW:]
            starts = sentences_of(text)
            for group in _spoken_of(text, self.kinds, turn, key):
                at_end = bisect_right(starts, group[0].start) == len(starts)
                yield _MentionGroup(group, back, close=back == 1 and at_end and turn.role is Role.USER)

    def _stored(self, reference: Reference, *, near: bool) -> Iterator[_MentionGroup]:
        """Yield what is remembered of this session, or of the others, what was said together in one piece."""
        session = self.turn.session_id
        since = self.turn.occurred_at - REACH
        if near and len(self.context) >= HEARD_TURNS:
            since = max(since, self.context[0].occurred_at)
        fitting = [
            one
            for one in self.recent
            if one.of is None and one.alive and one.pronoun in {None, reference.key} and one.last_said_at >= since
            and (session is not None and one.session_id == session) == near
        ]  # fmt: skip
        fitting.sort(key=lambda one: (*_when(one), one.number or -1), reverse=True)
        for _, together in groupby(fitting, key=_when):
            ordered = sorted(together, key=lambda one: (one.pronoun is None, one.role not in SUBJECTS))
            mentions = [_remembered(one) for one in ordered]
            yield _MentionGroup(mentions, HEARD_TURNS + 1)

    def _elsewhere(self, reference: Reference, left_out: frozenset[str]) -> ReferentMatch | None:
        """Return the only one whom a pronoun can mean of those spoken of in other sessions, never for sure.

        Turns without a session are one conversation as far as anybody knows: the latest who fits is meant.
        """
        groups = () if reference.things else self._stored(reference, near=False)
        found = [one for group in groups if (one := self._best(group.mentions, reference, _CERTAIN, left_out))]
        if self.turn.session_id is None or not found:
            return replace(found[0], sure=False) if found else None
        if len({one.name for one in found}) > 1 or any(not one.sure for one in found):
            raise NobodyMeant(f"'{reference.words}' may mean any of several people of other conversations")
        return replace(found[0], sure=False, elsewhere=True)

    def _nearest(
        self, near: Iterable[_MentionGroup], reference: Reference, left_out: frozenset[str]
    ) -> ReferentMatch | None:
        """Return the nearest whom a pronoun fits; a name of which nothing is known only where it leads, close by."""
        perhaps: ReferentMatch | None = None
        doubtful = False
        for group in near:
            found = self._best(group.mentions, reference, _PERHAPS, left_out)
            if found is None:
                continue
            if found.level > _PERHAPS and doubtful and group.turns_ago:
                raise NobodyMeant(f"'{reference.words}' may mean '{found.name}' or another")
            if found.level > _PERHAPS or (found.leads and group.close):
                return replace(found, sure=found.sure and not doubtful)
            doubtful = doubtful or group.close
            perhaps = perhaps or found
        return perhaps

    def _best(
        self, tier: Sequence[DiscourseMention], reference: Reference, least: int, left_out: frozenset[str]
    ) -> ReferentMatch | None:
        """Return the best of those spoken of together: the first of equals, because that is the subject."""
        fits: dict[str, tuple[int, DiscourseMention]] = {}
        for one in map(self._called, tier):
            if reference.tie is not None and not self._has(one, reference.tie, things=reference.things):
                continue
            level = self._fit(one, reference)
            if level >= least and one.name.casefold() not in left_out:
                fits.setdefault(one.name.casefold(), (level, one))
        if not fits:
            return None
        best = max(level for level, _ in fits.values())
        equals = [one for level, one in fits.values() if level == best]
        if reference.pronoun:
            _refuse_doubtful([one for level, one in fits.values() if level > _PERHAPS], equals, reference)
        return ReferentMatch(
            name=equals[0].name,
            kind=self._kind(equals[0].name, equals[0].entity_type),
            sure=len(equals) == 1 and best > _PERHAPS,
            level=best,
            leads=equals[0].leads,
        )

    def _called(self, one: DiscourseMention) -> DiscourseMention:
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

    def _fit(self, one: DiscourseMention, reference: Reference) -> int:
        kind, gender = self._kind(one.name, one.entity_type), self._gender(one)
        person = kind == "person" or (kind == UNKNOWN_TYPE and is_given(one.name))
        if one.assigned:
            return _CERTAIN
        if one.unnamed is not None:
            return _fit_unnamed(one.unnamed, gender, reference)
        if reference.things:
            return _NEVER if person else _PERHAPS if kind == UNKNOWN_TYPE else _FITS
        if reference.gender is not None and gender is not None and kind in {"person", PET, UNKNOWN_TYPE}:
            return _CERTAIN if gender is reference.gender else _NEVER
        if kind in reference.kinds or ((person or kind == PET) and reference.somebody):
            return _FITS
        return _PERHAPS if kind == UNKNOWN_TYPE and not person and not one.follows else _NEVER

    def _has(self, one: DiscourseMention, tie: str, *, things: bool) -> bool:
        animal = one.unnamed is not None and one.unnamed.animal
        return can_own(PET if animal else self._kind(one.name, one.entity_type), tie, things=things)

    def _kind(self, name: str, otherwise: str) -> str:
        known = self.kinds.get(name.casefold(), UNKNOWN_TYPE)
        kind = otherwise if known == UNKNOWN_TYPE else known
        return kind if kind in _KINDS else UNKNOWN_TYPE

    def _gender(self, one: DiscourseMention) -> Gender | None:
        known = self.genders.get(one.name.casefold()) or one.gender
        if known is not None or self._kind(one.name, one.entity_type) == PET:
            return known
        return gender_of(one.name)


def _fit_unnamed(noun: Description, gender: Gender | None, reference: Reference) -> int:
    if reference.things:
        return _FITS if noun.animal and not noun.plural else _NEVER
    if not reference.pronoun or (noun.plural and reference.gender is not None):
        return _NEVER
    if reference.gender is None:
        return _FITS
    known = noun.gender or gender
    return _FITS if known is None else _CERTAIN if known is reference.gender else _NEVER


def _refuse_doubtful(
    fitting: Sequence[DiscourseMention], equals: Sequence[DiscourseMention], reference: Reference
) -> None:
    """Raise where somebody without a name, an animal, or one of several named as equals may be meant as well."""
    nameless = next((one for one in fitting if one.nameless), None)
    if nameless is not None:
        raise NobodyMeant(f"'{reference.words}' may mean '{nameless.name}', whose name is not known")
    beside = next((one for one in fitting if one.written and (one.unnamed is not None or one.entity_type == PET)), None)
    if beside is not None and len(fitting) > 1:
        raise NobodyMeant(f"'{reference.words}' may mean '{beside.name}' or another")
    if fitting and len(equals) > 1 and equals[0].joined and equals[1].joined:
        raise NobodyMeant(f"'{reference.words}' may mean any of several who were named together")


def _spoken_of(text: str, kinds: Mapping[str, str], turn: Turn, key: str) -> Iterator[list[DiscourseMention]]:
    """Yield those spoken of in a text of a turn by sentence, the last sentence first, each with whose it is.

    Whoever has no name and is spoken of after the same pronoun is somebody else; nouns of an assistant or a tool that
    are nobody's mean nobody. What opens a reaction (`Ha!`, `Fair enough`) has a capital and is no name; nor is a word
    that opens an assistant's sentence, or a verb (`Making tea.`), unless it is known as one.
    """
    starts = sentences_of(text)
    words = forms(key)
    for group in mentions_in(text, kinds):
        number = bisect_right(starts, group[0].start)
        if is_chit_chat(text[starts[number - 1] if number else 0 : starts[number] if number < len(starts) else None]):
            continue
        before = None if words is None else words.search(text, starts[number - 1] if number else 0, group[-1].start)
        told = []
        for one in group:
            follows = before is not None and before.end() <= one.start
            if one.unnamed is None:
                if one.start not in starts or _is_name(one, kinds, guessed=turn.role is Role.USER):
                    told.append(replace(one, follows=follows))
            elif not follows and (turn.role is Role.USER or (one.unnamed.owner is not None and not one.unnamed.named)):
                told.append(replace(one, owner=_whose(one.unnamed.owner, turn)))
        if told:
            yield told


def _is_name(one: DiscourseMention, kinds: Mapping[str, str], *, guessed: bool) -> bool:
    """Tell whether a name is known, or has a type or several words, so that it is not only a word with a capital.

    `guessed`: any that is no form of a verb may be one.
    """
    low = one.name.casefold()
    if guessed and form_of(low) is None and not looks_past(low) and not low.endswith(("ing", "ly")):
        return True
    return one.entity_type != UNKNOWN_TYPE or " " in one.name or kind_of(one.name, kinds) is not None


def _whose(owner: str | None, turn: Turn) -> str | None:
    """Return the name of whom `my` and `your` mean in a turn, or that is the owner; None when neither says."""
    word = (owner or "").casefold()
    if word in _MINE:
        return turn.first_person
    if word == "your":
        return turn.second_person
    bare = _OF_NAME.sub("", owner or "")
    return bare if bare != owner and bare[:1].isupper() else None


def _place(text: str, quote: str, words: str) -> int:
    """Return where in the text the reference is made: in the quote, else last before it, else at its end."""
    start = text.find(quote)
    if start < 0:
        return len(text)
    end = start + len(quote)
    places = [found.start() for found in re.finditer(rf"\b{re.escape(words)}\b", text[:end], re.IGNORECASE)]
    return next((place for place in places if place >= start), places[-1] if places else end)


def _remembered(one: Referent) -> DiscourseMention:
    """Return who is remembered; without the turn that said it, it may have been said apart from all others."""
    said = one.turn is not None
    return DiscourseMention(name=one.name, entity_type=one.entity_type, assigned=one.pronoun is not None, written=said)


def _when(one: Referent) -> tuple[datetime, int]:
    """Return when something was spoken of: turns of one time come in the order in which they were given."""
    return (one.last_said_at, 0 if one.turn is None else one.turn.int)


def _payload(proposal: Proposal, types: Registry) -> Payload | None:
    spec = types.by_name.get(proposal.type)
    if spec is None:
        return None
    try:
        return spec.payload.model_validate(proposal.payload)
    except ValidationError:
        return None


def _names_in(proposal: Proposal, types: Registry) -> Iterator[DiscourseMention]:
    """Yield what a proposal names; a value that need not be a name is none."""
    payload = _payload(proposal, types)
    for mention in () if payload is None else payload.mentions():
        if mention.creates and parsed(mention.name) is None:
            yield DiscourseMention(name=mention.name, entity_type=mention.entity_type or UNKNOWN_TYPE)


def _ties_in(proposal: Proposal, types: Registry) -> Iterator[_Tie]:
    """Yield what a proposal makes someone to someone."""
    payload = _payload(proposal, types)
    subject = None if payload is None else payload.subject()
    word, other = _first_text(proposal, "relation_type", "predicate"), _first_text(proposal, "to_entity", "object")
    if subject is not None and word is not None and other is not None:
        plain = normalise.normalise_key(word)
        yield from (_Tie(subject, role, other) for role in dict.fromkeys((vocabulary.relation(word) or plain, plain)))


def tie_of(proposal: Proposal) -> str | None:
    """Return what a proposal makes somebody have, such as a partner; None where it joins nobody to another."""
    word = _first_text(proposal, "relation_type", "predicate")
    return None if word is None else relationship_of(word)


def _first_text(proposal: Proposal, *fields: str) -> str | None:
    values = (proposal.payload.get(name) for name in fields)
    return next((one for one in values if isinstance(one, str)), None)

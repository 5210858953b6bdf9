"""Stage: references become names before names become entities: `she`, `the company`, `my manager`.

Nothing here looks anything up: what is remembered is handed in, what is to be remembered is handed back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final
from uuid import UUID

from app.db.entities.write_lookup import RING, Referent
from app.english.descriptions import descriptions_in
from app.english.pronouns import (
    FIRST,
    IMPERSONAL,
    OWN,
    RETOLD,
    SECOND,
    Opening,
    Reference,
    first_owned,
    of,
    parsed,
    parsed_or_retold,
    predicates,
    required_kind,
    sentence_opening,
)
from app.memory.extraction import Proposal, Role, Turn
from app.memory.registry import Registry
from app.model import UNKNOWN_TYPE
from app.write.referents import WINDOW, NobodyMeant, ReferentMatch, ReferentRing, tie_of
from app.write.values import Binding

UNSURE: Final = 0.8
"""The factor of confidence when a reference may mean another entity as well."""

ELSEWHERE: Final = 0.5
"""The factor when it means somebody of another session: under the read floor, until it is said again."""

_LOOKED_BACK: Final = 3
"""Turns in which people without a name are looked for before anything is looked up."""

_PRONOUN_ITSELF: Final = re.compile(r"pronoun", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unresolved:
    """A proposal about somebody nobody knows, and why it says nothing."""

    proposal: Proposal
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundReferences:
    """The proposals with names in place of references, in their order, and what the references meant."""

    answers: tuple[Proposal | Unresolved, ...]
    bindings: tuple[Binding, ...]


def needs_context(proposals: Sequence[Proposal], heard: Sequence[Turn] = ()) -> frozenset[str] | None:
    """Return the predicates to look up for what the proposals refer to; None when they refer to nothing.

    `heard` is what was said last, the turn itself at the end: a pronoun may mean the `my boss` of a sentence before.
    """
    found = required_kind(
        text for proposal in proposals for value in proposal.payload.values() for text in _texts(value)
    )
    if found is None:
        return None
    texts = (turn.content[-WINDOW:] for turn in heard[-_LOOKED_BACK:])
    nouns = {one.noun for text in texts for one in descriptions_in(text) if one.owner and one.rest == one.noun}
    return found.union(*(predicates(noun) for noun in nouns))


def bind_references(
    proposals: Sequence[Proposal],
    turn: Turn,
    recent: Sequence[Referent],
    context: Sequence[Turn],
    types: Registry,
) -> BoundReferences:
    """Return the proposals of a turn with names in place of references, and what those meant.

    `recent` are the referents of the scope, `context` the turns of the session just before, oldest first; `types` tell
    what the proposals themselves name. A reference that is a whole field, or the `she` that a sentence begins with, and
    means nobody makes its proposal Unresolved; in a list it is left out. Where someone else may be meant
    as well, confidence falls, and nothing is to be remembered.
    """
    ring = ReferentRing.of(proposals, turn, recent, context, types)
    bindings: dict[Binding, None] = {}
    answers = []
    for proposal in proposals:
        reading = _ProposalReferences(ring, proposal)
        answer = reading.answer()
        answers.append(answer)
        if isinstance(answer, Proposal):
            ring.learn(answer)
            bindings |= dict.fromkeys(reading.bindings)
    return BoundReferences(answers=tuple(answers), bindings=tuple(bindings))


def binding_rows(
    tenant: UUID, scope: UUID, turn: Turn, bindings: Sequence[Binding], recent: Sequence[Referent]
) -> dict[str, list[Mapping[str, object]]]:
    """Return the rows that remember what references meant, for `insert_all`; the oldest make way.

    What a ring says last of the same session is not said again.
    """
    rows: list[Mapping[str, object]] = []
    last = {one.pronoun: one for one in sorted(recent, key=lambda one: one.number or 0) if one.pronoun is not None}
    numbers = {pronoun: one.number or 0 for pronoun, one in last.items()}
    for one in bindings:
        known = last.get(one.pronoun)
        if known is not None and (known.name, known.session_id, known.alive) == (one.name, turn.session_id, True):
            continue
        number = numbers[one.pronoun] = numbers.get(one.pronoun, -1) + 1
        row = {"tenant_id": tenant, "scope_id": scope, "pronoun": one.pronoun, "position": number % RING}
        told = {"number": number, "name": one.name, "entity_type": one.entity_type, "session_id": turn.session_id}
        rows.append({**row, **told, "said_at": turn.occurred_at})
    return {"pronoun_bindings": rows} if rows else {}


@dataclass(slots=True)
class _ProposalReferences:
    """One proposal as its references are read, field by field."""

    ring: ReferentRing
    proposal: Proposal
    bindings: list[Binding] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)
    sure: bool = True
    elsewhere: bool = False

    def answer(self) -> Proposal | Unresolved:
        texts = [text for value in self.proposal.payload.values() for text in _texts(value)]
        if any(_PRONOUN_ITSELF.search(text) for text in texts) or required_kind(texts) is None:
            return self.proposal
        self.taken = {text.casefold() for text in texts if parsed(text) is None}
        try:
            payload = {name: self._value(value) for name, value in self.proposal.payload.items()}
        except NobodyMeant as nobody:
            return Unresolved(proposal=self.proposal, reason=str(nobody))
        confidence = self.proposal.confidence * (ELSEWHERE if self.elsewhere else 1.0 if self.sure else UNSURE)
        return replace(self.proposal, payload=payload, confidence=confidence)

    def _value(self, value: object) -> object:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list | tuple):
            return list(dict.fromkeys(self._members(value))) if all(isinstance(one, str) for one in value) else value
        return value

    def _members(self, values: Sequence[str]) -> Iterator[str]:
        for one in values:
            try:
                yield self._text(one)
            except NobodyMeant:
                continue

    def _text(self, text: str) -> str:
        whole = parsed_or_retold(text)
        if whole is not None:
            said = self._said(whole, alone=True)
            if not said and whole.pronoun and not whole.reflexive:
                raise NobodyMeant(f"the turn has no '{whole.words}'")
            return self._named(replace(whole, tie=tie_of(self.proposal))) if said else text
        begins = sentence_opening(text)
        return text if begins is None or not self._said(begins.reference) else self._sentence(text, begins)

    def _said(self, reference: Reference, *, alone: bool = False) -> bool:
        """Tell whether the turn itself said so: `uses their phone` may be a speaker's own `my phone`, retold.

        `alone`: a pronoun is the whole field, such as a subject that a quote shares with the clause before it.
        """
        word = reference.words.partition(" ")[0].casefold()
        quote = "" if alone and reference.pronoun else self.proposal.quote
        return word not in RETOLD or word in re.findall(r"\w+", (quote or self.ring.turn.content).casefold())

    def _sentence(self, text: str, begins: Opening) -> str:
        reference, rest = begins.reference, text[begins.end :]
        if begins.possessive:
            reference = replace(reference, words=text[: begins.end], tie=first_owned(text))
        if reference.things and not begins.possessive and IMPERSONAL.match(rest):
            return text
        try:
            name = self._named(reference, alone=False)
        except NobodyMeant:
            if reference.pronoun and not reference.things and not begins.possessive:
                raise
            return text
        return f"{name}'s{rest}" if begins.possessive else f"{name}{rest}"

    def _named(self, reference: Reference, *, alone: bool = True) -> str:
        """Return the name that a reference means; `alone`: it is a whole field, so no other field says the same."""
        if reference.owner is not None:
            return self._possessed(reference)
        taken = frozenset(self.taken) if alone and not reference.reflexive else frozenset()
        name = self._found(reference, taken, ones_own=alone).name
        if alone:
            self.taken.add(name.casefold())
        return name

    def _possessed(self, reference: Reference) -> str:
        """Return whom `my manager` means: by a known relation, else by its words, made to stand alone."""
        owner = reference.owner or FIRST
        if owner == FIRST:
            owners = self.ring.first_persons
        elif owner == SECOND:
            owners = (self.ring.turn.second_person,)
        else:
            whose = replace(of(owner), words=reference.words.partition(" ")[0], tie=reference.noun)
            owners = (self._found(whose, frozenset()).name,)
        found = self.ring.related(reference, owners)
        name = f"{owners[0]}'s {reference.noun}" if found is None else found.name
        self.ring.assign(reference, name, "person" if reference.somebody else UNKNOWN_TYPE)
        return name

    def _found(self, reference: Reference, taken: frozenset[str], *, ones_own: bool = False) -> ReferentMatch:
        """Return whom it means, or raise NobodyMeant; with nothing known, `the team` is the `ones_own` of a user."""
        found = self.ring.find(reference, self.proposal.quote, taken)
        if found is None and ones_own and reference.key in OWN and self.ring.turn.role is Role.USER:
            name = f"{self.ring.turn.first_person}'s {reference.words.partition(' ')[2]}"
            found = ReferentMatch(name=name, kind=OWN[reference.key], sure=False)
        if found is None:
            whom = "nobody" if reference.somebody else "nothing"
            raise NobodyMeant(f"{whom} known for '{reference.words}'")
        self.sure &= found.sure
        self.elsewhere |= found.elsewhere
        self.ring.assign(reference, found.name, found.kind)
        if found.sure:
            self.bindings.append(Binding(pronoun=reference.key, name=found.name, entity_type=found.kind))
        return found


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        yield from (one for one in value if isinstance(one, str))

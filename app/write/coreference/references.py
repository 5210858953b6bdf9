"""References become names before names become entities: `she`, `the company`, `my manager`.

What was said just before wins: the same turn, then the turns before it, then what the scope remembers of this
session, then of others. Nothing here looks anything up: what is remembered is handed in, what is to be remembered
is handed back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from app.db.entities.write_lookup import RING, Referent
from app.english.descriptions import descriptions_in
from app.english.names import UNKNOWN
from app.english.pronouns import (
    FIRST,
    SECOND,
    Opening,
    Reference,
    first_owned,
    of,
    parsed,
    predicates,
    required_kind,
    sentence_opening,
)
from app.memory.extraction import Proposal, Role, Turn
from app.memory.registry import Registry
from app.write.coreference.antecedents import Discourse, ReferentMatch, tie_of
from app.write.coreference.discourse import WINDOW
from app.write.coreference.names import AmbiguousName

UNSURE = 0.8
"""What confidence is multiplied by when someone else may be meant as well."""

_IMPERSONAL = re.compile(
    r" (?:is|was|will|would|has|had|seems?|looks?|looked|takes?|took|rain(?:s|ed)|snow(?:s|ed)|feels?|felt|turns?|"
    r"turned|depends?|makes?|made|sounds?|might|may|could|can|should|does|did|doesn't|didn't|isn't|wasn't)\b"
    r"(?! (?:founded|built|made|located|based|called|named|launched|acquired|released|created|written|owned|sold)\b)",
    re.IGNORECASE,
)
"""What follows an `it` that stands for nothing: `it is raining`, but not `it was founded`."""

_OWN = {"company": "organization", "team": "team", "project": "project"}
"""What a user who says `the` may well mean their own, with its entity type."""

_RETOLD = frozenset({"they", "them", "their", "theirs", "themself", "themselves"})
"""What a speaker's own `I` and `my` become when an extractor retells them."""

_PRONOUN_ITSELF = re.compile(r"pronoun", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unresolved:
    """A proposal about somebody nobody knows, and why it says nothing."""

    proposal: Proposal
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """What a reference was found to mean: worth remembering for the next one."""

    pronoun: str
    name: str
    entity_type: str


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
    return found if found is None else found | _unnamed(heard[-_LOOKED_BACK:])


_LOOKED_BACK = 3
"""Turns in which people without a name are looked for before anything is looked up."""


def _unnamed(heard: Sequence[Turn]) -> frozenset[str]:
    """Return the predicates that may say who `my boss` is."""
    nouns = {
        one.noun
        for turn in heard
        for one in descriptions_in(turn.content[-WINDOW:])
        if one.owner and one.rest == one.noun
    }
    return frozenset(predicate for noun in nouns for predicate in predicates(noun))


def bind_references(
    proposals: Sequence[Proposal],
    turn: Turn,
    recent: Sequence[Referent] = (),
    context: Sequence[Turn] = (),
    types: Registry | None = None,
) -> BoundReferences:
    """Return the proposals of a turn with names in place of references, and what those meant.

    `recent` are the referents of the scope, `context` the turns of the session just before, oldest first; `types` tell
    what the proposals themselves name. A reference that is a whole field, or the `she` that a sentence begins with, and
    means nobody makes its proposal Unresolved; in a list it is left out. Where someone else may be meant
    as well, confidence falls, and nothing is to be remembered.
    """
    scene = Discourse.of(proposals, turn, recent, context, types)
    bindings: dict[Binding, None] = {}
    answers = []
    for proposal in proposals:
        reading = _Reading(scene, proposal)
        answer = reading.answer()
        answers.append(answer)
        if isinstance(answer, Proposal):
            scene.learn(answer)
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
        numbers[one.pronoun] = numbers.get(one.pronoun, -1) + 1
        rows.append(
            {
                "tenant_id": tenant,
                "scope_id": scope,
                "pronoun": one.pronoun,
                "position": numbers[one.pronoun] % RING,
                "number": numbers[one.pronoun],
                "name": one.name,
                "entity_type": one.entity_type,
                "session_id": turn.session_id,
                "said_at": turn.occurred_at,
            }
        )
    return {"pronoun_bindings": rows} if rows else {}


class _Nobody(Exception):
    """A reference that means nobody known."""


@dataclass(slots=True)
class _Reading:
    """One proposal as its references are read, field by field."""

    scene: Discourse
    proposal: Proposal
    bindings: list[Binding] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)
    sure: bool = True

    def answer(self) -> Proposal | Unresolved:
        texts = [text for value in self.proposal.payload.values() for text in _texts(value)]
        if any(_PRONOUN_ITSELF.search(text) for text in texts) or required_kind(texts) is None:
            return self.proposal
        self.taken = {text.casefold() for text in texts if parsed(text) is None}
        try:
            payload = {name: self._value(value) for name, value in self.proposal.payload.items()}
        except _Nobody as nobody:
            return Unresolved(proposal=self.proposal, reason=str(nobody))
        confidence = self.proposal.confidence * (1.0 if self.sure else UNSURE)
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
            except _Nobody:
                continue

    def _text(self, text: str) -> str:
        whole = parsed(text)
        if whole is not None:
            return self._named(replace(whole, tie=tie_of(self.proposal))) if self._said(whole) else text
        begins = sentence_opening(text)
        return text if begins is None or not self._said(begins.reference) else self._sentence(text, begins)

    def _said(self, reference: Reference) -> bool:
        """Tell whether the turn itself said so: `uses their phone` may be a speaker's own `my phone`, retold."""
        word = reference.words.partition(" ")[0].casefold()
        return word not in _RETOLD or word in re.findall(
            r"\w+", (self.proposal.quote or self.scene.turn.content).casefold()
        )

    def _sentence(self, text: str, begins: Opening) -> str:
        reference, rest = begins.reference, text[begins.end :]
        if begins.possessive:
            reference = replace(reference, words=text[: begins.end], tie=first_owned(text))
        if reference.things and not begins.possessive and _IMPERSONAL.match(rest):
            return text
        try:
            name = self._named(reference, alone=False)
        except _Nobody:
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
            owners = self.scene.first_persons
        elif owner == SECOND:
            owners = (self.scene.turn.second_person,)
        else:
            whose = replace(of(owner), words=reference.words.partition(" ")[0], tie=reference.noun)
            owners = (self._found(whose, frozenset()).name,)
        found = self.scene.related(reference, owners)
        name = f"{owners[0]}'s {reference.noun}" if found is None else found.name
        self.scene.assign(reference, name, "person" if reference.somebody else UNKNOWN)
        return name

    def _found(self, reference: Reference, taken: frozenset[str], *, ones_own: bool = False) -> ReferentMatch:
        """Return whom it means, or raise _Nobody; with nothing known, `the team` is the `ones_own` of a user."""
        try:
            found = self.scene.find(reference, self.proposal.quote, taken)
        except AmbiguousName as ambiguous:
            raise _Nobody(str(ambiguous)) from None
        if found is None and ones_own and reference.key in _OWN and self.scene.turn.role is Role.USER:
            name = f"{self.scene.turn.first_person}'s {reference.words.partition(' ')[2]}"
            found = ReferentMatch(name=name, entity_type=_OWN[reference.key], sure=False)
        if found is None:
            whom = "nobody" if reference.somebody else "nothing"
            raise _Nobody(f"{whom} known for '{reference.words}'")
        self.sure &= found.sure
        self.scene.assign(reference, found.name, found.entity_type)
        if found.sure:
            self.bindings.append(Binding(pronoun=reference.key, name=found.name, entity_type=found.entity_type))
        return found


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        yield from (one for one in value if isinstance(one, str))

"""Stage: the claim must be what the clause says, of whom it says it, when, and as a fact."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Final

from pydantic import TypeAdapter, ValidationError

from app.english import claims
from app.english.claims import ValueClause
from app.english.dates import TemporalSpan, find_spans
from app.english.dates.periods import Prefer
from app.english.leads import is_framed, may_be_presented
from app.english.speech_acts import is_supposed, is_taken_back
from app.lexical.tokens import locate_quote
from app.memory import normalise, vocabulary
from app.memory.calendar import StatedTime, day_start
from app.memory.extraction import Proposal, Role, Turn
from app.memory.fields import texts_in
from app.memory.spec import MemoryType
from app.model import SpeechAct

OF_ANOTHER: Final = "the turn says it of somebody else"
DENIED: Final = "the turn denies it"
WISHED: Final = "the turn only wishes for it or holds it possible"
AHEAD: Final = "the turn says that it is still to come"
PAST: Final = "the turn says that it is no longer so"
SHOWN: Final = "the turn may show it as a text rather than say it"
FRAMED: Final = "nothing that the turn says beside it is in its speaker's own voice"
"""A doubt that a second look does not settle: whoever takes a text for the speaker's words once may do so twice."""

NEAR: Final = timedelta(days=400)
"""How far from the turn a date may be that the turn names in words which can't be read."""

_SLACK: Final = timedelta(days=1)
_LEEWAY: Final = timedelta(days=7)
"""How far from a time that is named: a weekend begins on Friday for some, and a week on Sunday."""

_DATED: Final = re.compile(r"(?:_at|_on|date|since)$")
"""Fields that hold dates, by their wire names."""

_READINGS: Final[tuple[Prefer, ...]] = ("past", "future")
"""`In September` is the last one, or the next."""

_WHEN: Final[TypeAdapter[date | datetime]] = TypeAdapter(StatedTime)
_TIES: Final = frozenset(
    name for name, kind in vocabulary.ENTITY_PREDICATES.items() if kind in {"person", "pet"}
) | frozenset(vocabulary.INVERSES)
"""Predicates and relation types that `my sister Carmen` takes for granted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExaminedClaim:
    """A proposal as far as its clause bears it out; `doubt` is where the wording disagrees with it, if it does.

    `notes` say what was changed, without its content.
    """

    proposal: Proposal
    doubt: str | None = None
    notes: tuple[str, ...] = ()


def examine(proposal: Proposal, clause: str, turn: Turn, context: Sequence[Turn], spec: MemoryType) -> ExaminedClaim:
    """Return a model's proposal with its dates checked, and what its English clause says against it."""
    dated, notes = _with_times_said(proposal, turn, context)
    if is_presupposed(proposal, clause):
        return ExaminedClaim(proposal=dated, notes=notes)
    told = tuple(texts_in(dated.payload))
    said = claims.clause_of(clause, _value(dated.payload, spec, told), proposal.quote)
    claim = ExaminedClaim(proposal=dated, notes=notes)
    if turn.role is Role.USER and _is_of_another(dated, said, told, turn, spec):
        return replace(claim, doubt=OF_ANOTHER)
    if proposal.ends:
        return _ended(claim, said)
    if claims.is_denied(said) and not says_no(proposal):
        return replace(claim, doubt=DENIED)
    return _timed(claim, said, turn) if spec.states else claim


def meant_as(proposal: Proposal, sentence: str, span: tuple[int, int], turn: Turn) -> SpeechAct:
    """Return the act of what a turn supposes or takes back, or a user's clause says of its reader or `the user`.

    `span` is that of the quote in the turn, `sentence` the one around it.
    """
    quote = turn.content[slice(*span)]
    if is_taken_back(turn.content[span[1] :]):
        return SpeechAct.SARCASM
    if is_supposed(sentence, quote, turn.content, span[0]):
        return SpeechAct.HYPOTHETICAL
    clause = claims.quoted_clause(sentence, quote) if turn.role is Role.USER else ""
    of_user = is_of_speaker(proposal, turn) and claims.is_told_of_user(clause)
    return SpeechAct.QUOTATION if of_user or claims.is_told_to_somebody(clause) else SpeechAct.ASSERTION


def doubt_of_form(act: SpeechAct, turn: Turn, span: tuple[int, int], quotes: Sequence[str]) -> str | None:
    """Return why a user may not say what is believed from a span of a turn; `quotes` are all that the turn yields."""
    if turn.role is not Role.USER or act not in {SpeechAct.ASSERTION, SpeechAct.NEGATION}:
        return None
    text = turn.content
    if is_framed(text, span):
        return FRAMED
    first = min((found[0] for one in quotes if (found := locate_quote(one, text))), default=span[0])
    return SHOWN if may_be_presented(text, span, first) else None


def is_of_speaker(proposal: Proposal, turn: Turn) -> bool:
    """Return whether a proposal is about whoever speaks; one that names nobody is."""
    return proposal.payload.get("subject", turn.first_person) in {vocabulary.USER, turn.first_person}


def _ended(claim: ExaminedClaim, clause: ValueClause) -> ExaminedClaim:
    """Return an ending, or why it is none: denied, wished for, or still to come at a time that is not named."""
    if claims.is_still_so(clause):
        return replace(claim, doubt=DENIED)
    if claims.is_wished(clause):
        return replace(claim, doubt=WISHED)
    ahead = claim.proposal.ended_at is None and claims.is_ahead(clause)
    return replace(claim, doubt=AHEAD) if ahead else claim


def is_presupposed(proposal: Proposal, sentence: str) -> bool:
    """Return whether the sentence takes the claim for granted, whatever it does with the rest: `my sister Carmen`."""
    known = [(noun, name.casefold()) for noun, name in claims.presupposed(sentence)]
    names = {name for _, name in known}
    texts = [one.casefold() for one in texts_in(proposal.payload) if one.casefold() not in vocabulary.FIRST_PERSON]
    others = [one for one in texts if one not in names]
    nouns = {noun for noun, _ in known} | {"person", "pet"}
    return len(others) < len(texts) and all(
        one in nouns or vocabulary.predicate(one) in _TIES or vocabulary.relation(one) is not None for one in others
    )


def says_no(proposal: Proposal) -> bool:
    """Return whether a payload says itself that something is not so."""
    return any(claims.is_negative(normalise.words(one)) for one in texts_in(proposal.payload))


def _is_of_another(proposal: Proposal, clause: ValueClause, told: Sequence[str], turn: Turn, spec: MemoryType) -> bool:
    """Return whether a claim about the speaker is said of somebody else, whom it does not name either."""
    try:
        subject = spec.payload.model_validate(dict(proposal.payload)).subject()
    except ValidationError:
        return False
    if subject not in {vocabulary.USER, turn.first_person}:
        return False
    other = claims.other_subject(clause)
    if other is None:
        return False
    ties = {name for one in told for name in (vocabulary.predicate(one), vocabulary.relation(one))} & _TIES
    if claims.tie_of(other) in ties or (ties and not other and claims.is_of_own(clause)):
        return False
    words = {word for one in told for word in normalise.words(one).casefold().split()}
    is_role = any(vocabulary.predicate(one) == "has-role" for one in told)
    return not other or is_role or other not in words


def _timed(claim: ExaminedClaim, clause: ValueClause, turn: Turn) -> ExaminedClaim:
    """Return a claim of what is so, with when it begins, or why it is not so: wished for, still to come, or over."""
    told = claims.ValueClause(text=" ".join(map(normalise.words, texts_in(claim.proposal.payload))), before="")
    if claims.is_past(clause) and not claims.is_past(told):
        return replace(claim, doubt=PAST)
    if claims.is_wished(clause) and not claims.is_wished(replace(told, before=told.text)):
        return replace(claim, doubt=WISHED)
    if claim.proposal.valid_from is not None or not claims.is_ahead(clause) or claims.is_ahead(told):
        return claim
    now = turn.occurred_at.astimezone(turn.zone)
    later = (one.lower for one in find_spans(clause.text, now=now, prefer="future") if one.lower is not None)
    begins = next((one for one in later if one > now), None)
    if begins is None:
        return replace(claim, doubt=AHEAD)
    proposal = replace(claim.proposal, valid_from=begins.date().isoformat())
    return replace(claim, proposal=proposal, notes=(*claim.notes, f"{AHEAD}: it holds from then on"))


def _with_times_said(proposal: Proposal, turn: Turn, context: Sequence[Turn]) -> tuple[Proposal, tuple[str, ...]]:
    """Return a proposal without the dates that the turn can't mean, and which fields they stood in."""
    spans = tuple(_spans(turn, context))
    texts = " ".join((turn.content, *(one.content for one in context)))
    bounds = {
        "ended_at": proposal.ended_at,
        "valid_from": proposal.valid_from,
        "valid_until": proposal.valid_until,
    }
    wrong = [name for name, value in bounds.items() if not _can_mean(value, spans, texts, turn)]
    fields = [
        name
        for name, value in proposal.payload.items()
        if _DATED.search(name) and not _can_mean(value, spans, texts, turn)
    ]
    if not wrong and not fields:
        return proposal, ()
    payload = {
        name: value
        for name, value in proposal.payload.items()
        if name not in fields and name not in (f"{field}_precision" for field in fields)
    }
    kept = {name: None if name in wrong else value for name, value in bounds.items()}
    changed = replace(
        proposal,
        payload=payload,
        ended_at=kept["ended_at"],
        valid_from=kept["valid_from"],
        valid_until=kept["valid_until"],
    )
    return changed, tuple(f"{name} is no time that the turn names, and was left out" for name in (*fields, *wrong))


def _spans(turn: Turn, context: Sequence[Turn]) -> Iterator[TemporalSpan]:
    for one in (turn, *context):
        now = one.occurred_at.astimezone(turn.zone)
        for prefer in _READINGS:
            yield from find_spans(one.content, now=now, prefer=prefer)


def _can_mean(value: object, spans: Sequence[TemporalSpan], texts: str, turn: Turn) -> bool:
    """Return whether the turn can mean a date: a time that it names, or, where none can be read, one near it."""
    try:
        read = None if value is None else _WHEN.validate_python(value)
    except ValidationError:
        return True
    if read is None:
        return True
    at = day_start(read, turn.zone)
    named = [one for one in spans if one.lower is not None or one.upper is not None]
    if any(_within(at, one) for one in named) or abs(at - turn.occurred_at) <= _SLACK:
        return True
    near = abs(at - turn.occurred_at) <= NEAR
    return not named and (near or str(at.year) in texts or any(one.duration is not None for one in spans))


def _within(at: datetime, span: TemporalSpan) -> bool:
    lower, upper = span.window if span.window != (None, None) else (span.lower, span.upper)
    return (lower is None or at >= lower - _LEEWAY) and (upper is None or at <= upper + _LEEWAY)


def _value(payload: Mapping[str, object], spec: MemoryType, told: Sequence[str]) -> str:
    """Return what is claimed: the value that is held, or else the longest text."""
    value = None if spec.held is None else payload.get(spec.held.value)
    return value if isinstance(value, str) else max(told, key=len, default="")

"""References of statements to the plans that they carry out, move or call off.

A language model refers to the plan by its line; without a reference it is found by its words. All content words of the
plan, its times apart, must be in what is said of the same person, in the time that was planned.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from pydantic import ValidationError

from app.english import claims
from app.english.dates import find_spans
from app.english.verbs import form_of
from app.lexical.bm25 import STOP_WORDS, terms, text_language
from app.lexical.tokens import normalise, tokenize
from app.memory.extraction import KnownBelief, Proposal, Turn
from app.memory.normalise import normalise_name
from app.memory.registry import Registry
from app.memory.spec import MemoryType, Payload
from app.memory.vocabulary import FIRST_PERSON, USER
from app.model import SpeechAct

FEWEST: Final = 2
"""Content words by which a plan is known again."""

_SLACK: Final = timedelta(days=7)
"""How far from what was planned it may happen: a trip begins on the Friday before its week."""

_ENGLISH: Final = "english"
_NUMBER: Final = re.compile(r"\d")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """A stored plan: its subject, its content words, those of its times, and between when it was to happen."""

    belief: KnownBelief
    subject: str
    words: frozenset[str]
    times: frozenset[str]
    begins: datetime | None
    ends: datetime | None


def may_meet_plans(proposals: Iterable[Proposal], types: Registry) -> bool:
    """Return whether one of these may be a plan that is carried out, moved or called off, and refers to none."""
    return any(_is_open(one, types.find(one.type)) for one in proposals)


def types_of_plans(types: Registry) -> list[str]:
    """Return the types whose memories tell of what is to come."""
    return [one.name for one in types if one.intends]


def with_plans(proposal: Proposal, stored: Sequence[KnownBelief], turn: Turn, types: Registry) -> Proposal:
    """Return a proposal that refers to the one plan among the stored ones that it is about, if there is one."""
    spec = types.find(proposal.type)
    if not _is_open(proposal, spec) or spec is None:
        return proposal
    payload = _payload(proposal, spec)
    plans = [one for belief in stored if (one := _plan(belief, turn, types)) is not None]
    if payload is None or not plans:
        return proposal
    if proposal.ends:
        found = [one for one in plans if one.belief.type == spec.name and _calls_off(payload, one, turn)]
        return _referring(proposal, found)
    if payload.intended(turn.occurred_at) is not None:
        found = [one for one in plans if one.belief.type == spec.name and _moves(proposal, payload, one, turn)]
        return replace(proposal, replaces=(found[0].belief.id,)) if len(found) == 1 and found[0].belief.id else proposal
    return _referring(proposal, [one for one in plans if _carries_out(payload, one, turn)])


def _is_open(proposal: Proposal, spec: MemoryType | None) -> bool:
    meant = proposal.speech_act is SpeechAct.ASSERTION or proposal.ends
    return spec is not None and spec.intends and meant and not (proposal.replaces or proposal.retires)


def _referring(proposal: Proposal, found: Sequence[_Plan]) -> Proposal:
    ids = [one.belief.id for one in found if one.belief.id is not None]
    return replace(proposal, retires=(ids[0],)) if len(ids) == 1 else proposal


def _payload(proposal: Proposal, spec: MemoryType) -> Payload | None:
    try:
        return spec.ended(proposal.payload)[0] if proposal.ends else spec.payload.model_validate(dict(proposal.payload))
    except ValueError:
        return None


def _plan(belief: KnownBelief, turn: Turn, types: Registry) -> _Plan | None:
    spec = types.find(belief.type)
    if spec is None or belief.said is None or belief.said > turn.occurred_at:
        return None
    try:
        payload = spec.read(belief.fields, belief.version)
    except ValidationError:
        return None
    told = payload.intended(belief.said)
    if told is None:
        return None
    subject, what = told
    begins, ends, times = _when(what, payload, belief, turn)
    words = _content(what, _language(turn)) - times - {normalise_name(subject)}
    if len(words) < FEWEST:
        return None
    return _Plan(belief=belief, subject=subject, words=words, times=times, begins=begins, ends=ends)


def _when(
    what: str, payload: Payload, belief: KnownBelief, turn: Turn
) -> tuple[datetime | None, datetime | None, frozenset[str]]:
    """Return between when a plan is to happen, as far as it is known, and the words that say so."""
    said = (belief.said or turn.occurred_at).astimezone(turn.zone)
    spans = list(find_spans(what, now=said, prefer="future"))
    words = frozenset(word for one in spans for word in _content(one.text, _language(turn)))
    words |= {word for word in _content(what, _language(turn)) if _NUMBER.search(word)}
    event = payload.event_time(turn.zone)
    if event is not None:
        return event.lower, event.upper, words
    named = next((one for one in spans if one.lower is not None), None)
    if named is not None:
        return named.lower, named.upper, words
    return belief.since, belief.until, words


def _carries_out(payload: Payload, plan: _Plan, turn: Turn) -> bool:
    """Return whether a payload tells that a plan was carried out by whom it was made, when it was to be."""
    told = payload.happened()
    if told is None or not plan.words <= _content(told, _language(turn)) or not _by_the_same(told, plan, turn):
        return False
    event = payload.event_time(turn.zone)
    begins = event.lower if event is not None and event.lower is not None else turn.occurred_at
    ends = event.upper if event is not None and event.upper is not None else turn.occurred_at
    if begins > turn.occurred_at or (plan.belief.said is not None and ends < plan.belief.said):
        return False
    after = plan.begins is None or ends >= plan.begins - _SLACK
    return after and (plan.ends is None or event is None or event.lower is None or begins <= plan.ends + _SLACK)


def _by_the_same(told: str, plan: _Plan, turn: Turn) -> bool:
    """Return whether nobody but the plan's subject stands before its first word, and nothing that denies it."""
    before = []
    for token in tokenize(normalise(told)):
        if _content(token, _language(turn)) & plan.words:
            break
        before.append(token)
    names = {name for one in (plan.subject, *_names_of(plan.subject, turn)) for name in normalise_name(one).split()}
    light = STOP_WORDS[_ENGLISH] if _language(turn) == _ENGLISH else frozenset()
    return not claims.is_negative(told) and all(one in names or one in light for one in before)


def _names_of(subject: str, turn: Turn) -> Iterator[str]:
    if subject in {USER, turn.first_person}:
        yield from (USER, turn.first_person, *FIRST_PERSON)


def _moves(proposal: Proposal, payload: Payload, plan: _Plan, turn: Turn) -> bool:
    """Return whether a payload plans the same thing for another time, and the turn says which it was planned for.

    Two walks on two days are two plans; what was moved names the day before.
    """
    told = payload.intended(turn.occurred_at)
    if told is None or told[0] != plan.subject:
        return False
    words = _content(told[1], _language(turn))
    said = _content(f"{proposal.quote} {proposal.sentence or ''}", _language(turn))
    gone = plan.times - words
    return plan.words <= words and bool(gone) and gone <= said


def _calls_off(payload: Payload, plan: _Plan, turn: Turn) -> bool:
    told = payload.intended(turn.occurred_at)
    if told is None or told[0] != plan.subject:
        return False
    words = _content(told[1], _language(turn))
    return len(words) >= FEWEST and words <= plan.words | plan.times


def _language(turn: Turn) -> str:
    return text_language(turn.content)


def _content(text: str, language: str) -> frozenset[str]:
    """Return the content words of a text, without their inflection."""
    if language != _ENGLISH:
        return frozenset(terms(text, language))
    tokens = tokenize(normalise(text))
    forms = (form_of(one) for one in tokens)
    base = " ".join(token if form is None else form.lemma for token, form in zip(tokens, forms, strict=True))
    return frozenset(terms(base, language))

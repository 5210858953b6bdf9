"""What a sentence states, by who speaks it: the user, or an assistant that speaks of the user."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from app.memory.vocabulary import USER
from app.model import SpeechAct
from app.providers.rules import stances
from app.providers.rules.book import drafts_of
from app.providers.rules.clause import Clause, Said, Subject, Tense, Who
from app.providers.rules.clauses import clauses
from app.providers.rules.decisions import recorded
from app.providers.rules.drafts import Draft
from app.providers.rules.dues import falling
from app.providers.rules.entities import aliased
from app.providers.rules.grammar import parse
from app.providers.rules.instructions import instructed
from app.providers.rules.presupposed import presupposed
from app.providers.rules.sentences import Sentence
from app.providers.rules.ties import introduced
from app.providers.rules.titles import titled
from app.providers.rules.verbs import form_of
from app.providers.rules.words import word_set

_GENERIC: Final = re.compile(
    r"\b(?:if|when|can|could|should|would|may|might|must|need|want|will|you'll|let|once|until|unless|so that|whether"
    r"|make sure)\b",
    re.IGNORECASE,
)
"""Words beside which an assistant's `you` may mean anybody."""
_TOLD_OF_YOU: Final = word_set("work live prefer be use report like love have study speak manage lead call marry")
_BELIEVABLE: Final = frozenset({"fact", "relation", "preference"})
_OTHERS: Final = frozenset({Who.NAMED, Who.PRONOUN})
_CORRECTION: Final = re.compile(r"(?:no|nope|actually)\b", re.IGNORECASE)
_BARE_ROLE: Final = re.compile(r"an?\s", re.IGNORECASE)
_FIRST_VERB: Final = re.compile(
    r"(?:(?:just|recently|finally|also|and|so|yeah|yes|well|honestly|afternoon|evening"
    r"|morning)[,: ]+)*(?P<verb>[a-z]+)\b"
    r"(?! by\b| on\b| that\b| upon\b)",
    re.IGNORECASE,
)
_LEAD: Final = re.compile(r"(?:(?:and|so|yeah|yes|well|honestly|afternoon|evening|morning)[,: ]+)*", re.IGNORECASE)
_UNDERWAY: Final = re.compile(r"(?:committing to|coordinating with|meeting with)\b", re.IGNORECASE)
_ASSUMED: Final = 0.8
"""How sure it is that who speaks means themselves where no subject is named."""
_PASSED_ON: Final = 0.7
_ALIAS: Final = 0.8
_SUPPOSED_IMPORTANCE: Final = 0.3


@dataclass(frozen=True, slots=True)
class Found:
    """A draft, where the words it relies on begin and end in the turn, and what was done with them."""

    draft: Draft
    start: int
    end: int
    act: SpeechAct = SpeechAct.ASSERTION


def of_speaker(sentence: Sentence, said: Said, *, playing: bool, pasted: bool = False) -> Iterator[Found]:
    """Yield what a user's sentence states; `playing`: the turn has said that it is played.

    Of a `pasted` text only what `I` say is taken for the user's own.
    """
    supposed = stances.supposed(sentence.text)
    if supposed or playing:
        act, at = supposed or (SpeechAct.ROLEPLAY, 0)
        yield from _supposed(sentence, said, SpeechAct.ROLEPLAY if playing else act, at)
        return
    speaker = _speaker(sentence, said)
    for draft in (*_in_passing(sentence, speaker, pasted=pasted), *_on_a_day(sentence, speaker, said, pasted=pasted)):
        yield Found(draft, sentence.start, sentence.end)
    for clause in (*clauses(sentence, said), *_subjectless(sentence, said)):
        if not (pasted and _is_anyones(clause)):
            yield from _stated(clause, said)


def _is_anyones(clause: Clause) -> bool:
    """Tell whether a text someone else wrote would say it: of others, of `we`, or of nobody named."""
    subject = clause.subject
    return subject.who in _OTHERS or subject.plural or clause.subjectless or clause.text[:4].lower() == "our "


def of_user(sentence: Sentence, said: Said) -> Iterator[Found]:
    """Yield what an assistant, a tool or a system says of the user."""
    if sentence.asks or _GENERIC.search(sentence.text):
        return
    for clause in clauses(sentence, said):
        if clause.subject.who is Who.ADDRESSEE and clause.lemma in _TOLD_OF_YOU:
            yield from _stated(clause, said)
        elif clause.subject.who is Who.USER or clause.subject.owner == USER:
            yield from _stated(replace(clause, sure=min(clause.sure, _PASSED_ON)), said)


def _in_passing(sentence: Sentence, speaker: Clause, *, pasted: bool) -> Iterator[Draft]:
    """Yield what the sentence says whatever its subject: whom and what it takes for granted, and what it orders."""
    text = sentence.text
    yield from introduced(text, speaker)
    yield from presupposed(text, speaker)
    if not pasted:
        yield from titled(text, speaker)
        yield from aliased(text, _ALIAS)
    if not sentence.asks:
        yield from instructed(text, speaker)
        yield from recorded(text, speaker)


def _on_a_day(sentence: Sentence, speaker: Clause, said: Said, *, pasted: bool) -> Iterator[Draft]:
    return iter(()) if pasted or sentence.asks else falling(sentence.text, speaker, said)


def _stated(clause: Clause, said: Said) -> Iterator[Found]:
    if clause.sure > 0:
        for draft in drafts_of(clause, said):
            yield Found(draft, clause.first, clause.start + len(clause.text), clause.act)


def _supposed(sentence: Sentence, said: Said, act: SpeechAct, at: int) -> Iterator[Found]:
    """Yield what would be so, were it true: to be stored under the floor, never as a belief."""
    text = sentence.text[at:].lstrip()
    inner = Sentence(text=text, start=sentence.end - len(text), asks=False)
    read = next(iter(clauses(inner, said)), None) or _role_alone(inner, said)
    if read is None or not read.subject.own:
        return
    clause = replace(read, tense=Tense.PRESENT, adverbs=frozenset(), modal=None, act=act, correction=False)
    for draft in drafts_of(clause, said):
        if draft.type in _BELIEVABLE:
            importance = min(draft.importance, _SUPPOSED_IMPORTANCE)
            low = replace(draft, confidence=stances.UNSURE, importance=importance)
            yield Found(low, sentence.start, sentence.end, act)


def _role_alone(sentence: Sentence, said: Said) -> Clause | None:
    """Read `pretending to be a doctor`, whose subject is the speaker."""
    if _BARE_ROLE.match(sentence.text) is None:
        return None
    return parse(f"I'm {sentence.text}", sentence.start, said)


def _subjectless(sentence: Sentence, said: Said) -> Iterator[Clause]:
    """Read `Just moved to Berlin`, `Sent the forecast to Ivora`: the speaker is not named."""
    found = _FIRST_VERB.match(sentence.text)
    form = form_of(found["verb"].lower()) if found else None
    underway = _UNDERWAY.match(sentence.text) is not None
    past = form is not None and "past" in form.kinds and "base" not in form.kinds
    if sentence.asks or not (past or underway):
        return
    lead = _LEAD.match(sentence.text)
    text = sentence.text[lead.end() :] if lead else sentence.text
    start = sentence.end - len(text)
    read = parse(f"I {'am ' if underway else ''}{text[0].lower()}{text[1:]}", start, said)
    if read is not None and (underway or read.tense is Tense.PAST):
        yield replace(read, text=text, start=start, first=sentence.start, sure=_ASSUMED, subjectless=True)


def _speaker(sentence: Sentence, said: Said) -> Clause:
    """Return a clause that says no more than who speaks."""
    return Clause(
        text=sentence.text, start=sentence.start, first=sentence.start, verb="", lemma="", rest="",
        subject=Subject(who=Who.SPEAKER, name=said.speaker), correction=_CORRECTION.match(sentence.text) is not None,
    )  # fmt: skip

"""The rules of the embedded extractor as a table, and the reading of a clause by it.

A rule (`data/rules.txt`) is a verb or frame, what follows it, and the fact or relation it states; or the function that
reads the clause. A row enters with its precision on the development conversations (`make eval ARGS="--set rules"`).

A clause that says that something is over is read once more as if it were so; what it would state has ended.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Final

from app.english import medications
from app.english.rules import (
    event_time,
    events,
    instructions,
    occupations,
    preferences,
    presuppositions,
    relationships,
    tastes,
    values,
)
from app.english.rules.clause import Clause, SpeakerContext, Tense, Who
from app.english.rules.drafts import (
    PASSING,
    Draft,
    ending,
    event,
    fact,
    main_part,
    relation,
    retell,
)
from app.english.rules.noun_phrases import in_third_person, says_something
from app.english.rules.rows import Row, clause_rows, is_now, text_rows
from app.english.verbs import form_of, third_person
from app.english.word_lists import expanded

_FUNCTIONS: Final = {
    f"{module.__name__.rpartition('.')[2]}.{name}": function
    for module in (
        events, instructions, medications, occupations, preferences, presuppositions, relationships, tastes, values,
    )
    for name, function in vars(module).items()
}  # fmt: skip
_ROWS: Final = tuple(
    row
    for title in ("work", "home", "health", "people", "preferences", "endings", "every clause")
    for row in clause_rows(title, _FUNCTIONS)
)
_SENTENCES: Final = text_rows("sentences", _FUNCTIONS)
_BY_VERB: Final[Mapping[str, tuple[Row, ...]]] = {
    verb: tuple(row for row in _ROWS if verb in row.verbs) for verb in {verb for row in _ROWS for verb in row.verbs}
}
_OF_EVERY_VERB: Final = tuple(row for row in _ROWS if not row.verbs)
RULES: Final = (
    *((row.name, row.precision) for row in _ROWS),
    *((row.name, row.precision) for row in _SENTENCES),
)
"""The name of each row with the precision it claims; rows of one rule share a name."""

_ANY_MORE: Final = re.compile(r"[\s,]*\b(?:any ?more|any longer|nowadays)\b", re.IGNORECASE)
_GERUND: Final = re.compile(r"\s+(?P<up>up\s+)?(?:with\s+)?(?P<verb>being|[a-z]{2,20}ing)\b", re.IGNORECASE)
_OFF: Final = re.compile(r"\s+off\s+(?:of\s+)?(?:my\s+|the\s+)?(?=\w)", re.IGNORECASE)
_COMING_OFF: Final = frozenset({"be", "come", "go", "get", "taper", "wean"})
"""Verbs with `off` for what one took until then; it may be a bus, too."""
_STOPPED: Final = frozenset({"stop", "quit", "cease", "give"})
_SLOT_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "fact": ("subject", "predicate"),
    "preference": ("subject", "preference_key"),
    "relation": ("from_entity", "relation_type"),
}
"""Types of states, and the fields of their payloads that say what state of whom it is."""
_THIRD_PERSONS: Final = frozenset({"he", "she", "they"})
_IT: Final = frozenset({"it", "they"})
"""Subjects of which no fact is stated: what these pronouns stand for is rarely one person."""


def read_clause(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Yield what a clause states, and what it says is no longer so."""
    stated = list(_states(clause, said))
    yield from stated
    affirmed = _affirmed(clause)
    if affirmed is None:
        return
    new = {_slot(one) for one in stated}
    when = event_time.find(affirmed.rest, said.now)
    if when is not None and not when.vague:  # what ended in August is no longer so at any time
        rest = event_time.without(affirmed.rest, when)
        affirmed = replace(affirmed, rest=rest if affirmed.copula else f" {rest}")
    over = [one for one in _states(affirmed, said) if one.type in _SLOT_FIELDS and not one.ends]
    came_off = affirmed.lemma == "take" and clause.lemma in _COMING_OFF
    held = [one for one in over if one.type != "preference"]
    if clause.used_to and held:
        yield from _past_state(clause, said, held[0])
    for one in (*over, *(() if held or came_off else _done(affirmed))):
        if _slot(one) not in new:
            yield ending(clause, said, one, dated=not clause.used_to)


def _done(clause: Clause) -> Iterator[Draft]:
    """Yield what was done until then under its verb, though no row reads it: an ending ends only what is held."""
    done = main_part(clause.rest).strip()
    if says_something(done) and not clause.copula:
        yield fact(clause, third_person(clause.lemma), in_third_person(done))


def read_sentence(text: str, speaker: Clause, said: SpeakerContext, *, asks: bool, pasted: bool) -> Iterator[Draft]:
    """Yield what a sentence says whatever its clauses; of a question or a pasted text only what some rules read."""
    for row in _SENTENCES:
        if ("asked" in row.options or not asks) and ("pasted" in row.options or not pasted):
            yield from (_ruled(one, row.name, row.precision) for one in row.read(text, speaker, said))


def _states(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    first = False
    for row in (*_BY_VERB.get(clause.lemma, ()), *_OF_EVERY_VERB):
        if "alone" in row.options and first:
            continue
        found = [_ruled(one, row.name, row.precision) for one in _drafts(row, clause, said)]
        first = first or ("alone" in row.options and bool(found))
        yield from (one for one in found if one.payload.get("subject") not in _IT)


def _ruled(draft: Draft, name: str, precision: float) -> Draft:
    return replace(draft, rule=name, confidence=round(min(draft.confidence, draft.confidence * precision), 2))


def _drafts(row: Row, clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    if row.read is not None:
        yield from row.read(clause, said)
        return
    whose = _whose(row, clause)
    passing = row.unless and clause.progressive and _compiled(row.unless).search(clause.rest)
    if whose is None or passing or not row.mood(clause):
        return
    for value in _values(row, clause, said):
        draft = _state(row, clause, said, value, whose)
        yield ending(clause, said, draft) if "ends" in row.options else draft


def _whose(row: Row, clause: Clause) -> str | None:
    """Return whom a draft of the row is about; None where its subject is nobody's such thing."""
    if not row.noun:
        return clause.subject.name
    subject = clause.subject
    theirs = subject.who is Who.POSSESSED and subject.given is None and subject.owner not in _THIRD_PERSONS
    found = _compiled(row.noun).fullmatch(subject.noun or "") if theirs else None
    of = found.groupdict().get("of") if found is not None else None
    return None if found is None else f"{subject.owner}'s {of}" if of else subject.owner


def _values(row: Row, clause: Clause, said: SpeakerContext) -> Iterator[str]:
    lead = _compiled(row.lead).match(clause.rest)
    if lead is None or row.value is None:
        return
    after = clause.rest[lead.end() :]
    found = list(row.value(after, said))
    if "ends" in row.options and row.unless and _compiled(row.unless).match(after, len(found[0]) if found else 0):
        return
    yield from found or ([""] if "open" in row.options else [])


def _state(row: Row, clause: Clause, said: SpeakerContext, value: str, whose: str) -> Draft:
    if "relation" in row.options:
        time = None if is_now(clause) else event_time.find(clause.whole, said.now)
        since = time.exact_day if time is not None and "ends" not in row.options else None
        return relation(clause, row.predicate, value, since=since)
    return fact(clause, row.predicate, value, subject=whose, stateful="stateful" in row.options or None)


def _past_state(clause: Clause, said: SpeakerContext, state: Draft) -> Iterator[Draft]:
    """Yield the state as an event, approximate where no time is named (seed 000): it is no fact any more."""
    time = event_time.find(clause.whole, said.now)
    description = retell(clause, said, time)
    if description is not None:
        told = event(clause, description, time, [clause.subject.name], importance=PASSING, topic=state.topic, past=True)
        yield replace(told, rule=state.rule, confidence=state.confidence)


def _slot(draft: Draft) -> tuple[str, ...]:
    return (draft.type, *(str(draft.payload.get(name)) for name in _SLOT_FIELDS.get(draft.type, ())))


def _affirmed(clause: Clause) -> Clause | None:
    """Return the clause as it was said when it was so; None when it does not say that something is over."""
    now = replace(clause, tense=Tense.PRESENT, negated=False, perfect=False, used_to=False)
    if clause.negated:
        more = _ANY_MORE.search(clause.rest) or "longer" in clause.adverbs
        said_so = clause.present and more and not clause.perfect
        return replace(now, rest=_ANY_MORE.sub("", clause.rest), adverbs=frozenset({"always"})) if said_so else None
    if clause.used_to:
        return now
    rest = f" {clause.rest}" if clause.copula else clause.rest
    so = clause.holds if clause.copula else clause.happened
    off = _OFF.match(rest) if so and clause.lemma in _COMING_OFF else None
    if off is not None:
        return replace(now, verb="take", lemma="take", rest=f" {rest[off.end() :]}", copula=False)
    if clause.happened and not clause.copula and clause.lemma in _STOPPED:
        return _doing(now)
    return None


def _doing(clause: Clause) -> Clause | None:
    """Return the clause of what was done until then: `stopped taking metformin` -> `take metformin`."""
    found = _GERUND.match(clause.rest)
    form = form_of(found["verb"].lower()) if found else None
    if found is None or form is None or (clause.lemma == "give") != bool(found["up"]):
        return None
    rest = clause.rest[found.end() :]
    return replace(clause, verb=form.lemma, lemma=form.lemma, rest=rest, adverbs=frozenset({"always"}))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(expanded("leads", pattern), re.IGNORECASE)

"""The rules of the embedded extractor as a table, and the reading of a clause by it.

A rule is a verb or frame, what follows it, and the fact or relation it states. Rows that only need another verb,
pattern and kind of value are data; the others name the function that reads them. A row enters with the precision
measured on development conversations (`make eval ARGS="--set rules"`).

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
    topic_of_predicate,
)
from app.english.rules.noun_phrases import in_third_person, says_something
from app.english.rules.rows import (
    Row,
    TextRow,
    is_born,
    is_done,
    is_general,
    is_introduced,
    is_married,
    is_now,
    is_of_somebody,
    is_one,
    is_others_habit,
    is_speakers_own,
    is_told,
    is_undergone,
    was_undergone,
)
from app.english.verbs import form_of, third_person
from app.english.word_lists import expanded

WORK: Final = (
    Row(name="employer", verbs="work", mood=is_now, lead=r"<<AS_SAID>>at\s+", value=occupations.workplace,
        predicate="works-at", past=True, unless="<<TODAY>>"),
    Row(name="employer", verbs="work", mood=is_now, lead=r"<<AS_SAID>>for\s+(?!<<A_WHILE>>)",
        value=occupations.employer, predicate="works-at", past=True, unless="<<TODAY>>"),
    Row(name="employer", verbs="start begin", mood=is_done, lead=r"(?:<<JOB>>|\s+at\s+(?=(?-i:[A-Z])))",
        value=occupations.workplace, predicate="works-at"),
    Row(name="employer", verbs="get land accept take find", mood=is_done, lead="<<JOB>>",
        value=occupations.named_workplace, predicate="works-at"),
    Row(name="role", verbs="work serve", mood=is_now, lead="<<AS>>", value=occupations.role, predicate="has-role",
        past=True),
    Row(name="role", verbs="work", mood=is_speakers_own, lead=r"\s+as(?=\s+an?\s)", value=occupations.unknown_role,
        predicate="has-role", past=True),
    Row(name="manager", verbs="work", mood=is_now, lead=r"\s+(?:directly\s+)?(?:for|under)\s+", value=occupations.boss,
        type="relation", predicate="reports-to"),
    Row(name="manager", verbs="report", mood=is_now, lead=r"\s+(?:directly\s+)?to\s+", value=occupations.leader,
        type="relation", predicate="reports-to"),
    Row(name="membership", verbs="join", precision=0.9, mood=is_done, lead=r"\s+", value=values.group, type="relation",
        predicate="member-of"),
    Row(name="membership", verbs="be", mood=is_told, value=values.group, type="relation", predicate="member-of",
        lead=r"(?:a\s+)?(?:(?:founding\s+|proud\s+)?member|part)\s+of\s+|(?:on|in)\s+(?=(?:the|our)\s)"),
    Row(name="colleagues", verbs="work", mood=is_now, lead=r"\s+(?:closely\s+)?(?:with|alongside)\s+",
        value=values.people, type="relation", predicate="works-with"),
    Row(name="colleagues", verbs="work", read=relationships.working_together),
    Row(name="manages", verbs="manage lead supervise oversee", mood=is_now, lead=r"\s+(?!an?\s|\d|two|three|four)",
        value=values.led, type="relation", predicate="manages"),
    Row(name="manages", verbs="manage lead supervise oversee run head", mood=is_now, lead="<<SO_MANY>>",
        value=values.led_in_number, predicate="manages", stateful=True),
    Row(name="owns", verbs="own", mood=is_now, lead=r"\s+", value=values.quantity, predicate="owns"),
    Row(name="drives", verbs="drive", mood=is_now, lead=r"\s+(?=an?\s+(?-i:[A-Z]))", value=values.quantity,
        predicate="drives"),
    Row(name="uses", verbs="use", mood=is_general, lead="<<NOT_THEIRS>>", value=values.tools, predicate="uses"),
    Row(name="uses", verbs="use", mood=is_others_habit, lead="<<NOT_THEIRS>>", value=values.equipment,
        predicate="uses"),
)  # fmt: skip
HOME: Final = (
    Row(name="home", verbs="live reside", mood=is_now, lead="<<LIVE_IN>>", value=values.place, predicate="lives-in",
        past=True),
    Row(name="home", verbs="be", mood=is_of_somebody, lead="<<BASED_IN>>", value=values.named_place,
        predicate="lives-in"),
    Row(name="moved", verbs="move relocate migrate", mood=is_done, value=occupations.moved_home, predicate="lives-in"),
    Row(name="moved", verbs="move relocate migrate", mood=is_done, value=occupations.moved_employer,
        predicate="works-at"),
    Row(name="origin", verbs="grow", mood=is_done, lead=r"\s+up\s+(?:in|near|outside)\s+", value=values.named_place,
        predicate="grew-up-in"),
)  # fmt: skip
HEALTH: Final = (
    Row(name="attribute", verbs="be", read=relationships.attributes, alone=True),
    Row(name="allergy", verbs="have", mood=is_now, lead="<<ALLERGY>>", value=values.before_allergy,
        predicate="allergic-to", precision=0.9, alone=True),
    Row(name="allergy", verbs="have", mood=is_now, lead=r"\s+(?:an?\s+)?(?:\w+\s+)??allerg(?:y|ies)\s+to\s+",
        value=values.allergens, predicate="allergic-to", precision=0.9, alone=True),
    Row(name="allergy", verbs="be", mood=is_told, lead="<<ALLERGIC>>", value=values.substances, predicate="allergic-to",
        precision=0.9, alone=True),
    Row(name="illness", verbs="have", mood=is_now, lead=r"\s+", value=values.illnesses, predicate="has-condition",
        alone=True),
    Row(name="illness", verbs="suffer", mood=is_now, lead=r"\s+from\s+", value=values.illnesses,
        predicate="has-condition"),
    Row(name="illness", verbs="diagnose", mood=is_undergone, lead=r"\s+(?:as\s+having|with)\s+", value=values.anything,
        predicate="has-condition"),
    Row(name="illness", verbs="get", mood=is_done, lead=r"\s+diagnosed\s+with\s+", value=values.anything,
        predicate="has-condition"),
    Row(name="illness", verbs="be", mood=is_told, value=values.health_state, predicate="has-condition", alone=True),
    Row(name="diet", verbs="be", mood=is_told, value=values.diet, predicate="has-diet", alone=True),
    Row(name="medicine", verbs="be take prescribe switch change move put start replaced swap substituted",
        read=medications.taking, alone=True),
    Row(name="dose", verbs="be increase raise lower reduce cut drop change put bumped adjust upped up move bring take "
        "double doubled halve halved", read=medications.dose_change),
)  # fmt: skip
PEOPLE: Final[tuple[Row, ...]] = (
    Row(name="favourite", verbs="be", precision=0.85, read=preferences.favourite_of, alone=True),
    Row(name="name", verbs="be", noun="(?:first |full )?name", mood=is_told, value=values.given_name,
        predicate="has-name"),
    Row(name="age", verbs="be", noun="(?:first |full )?name", mood=is_told, lead="<<NAME_AND>>", value=values.age,
        predicate="has-age"),
    Row(name="birth", verbs="be", noun="<<BIRTHDAY>>", mood=is_told, lead=r"(?:on\s+)?", value=values.date,
        predicate="born-on"),
    Row(name="goal", verbs="be", noun="(?:(?:long-term|main) )?(?:goal|dream|ambition)", mood=is_told,
        lead=r"to\s+(?!be\s+(?:able|happy)\b)", value=values.goal, predicate="has-goal"),
    Row(name="possession", precision=0.8, verbs="be", noun="<<OWNED>>", mood=is_told, value=values.any_name,
        predicate="owns"),
    Row(name="possession", precision=0.8, verbs="be", noun="pronouns", mood=is_told, value=values.anything,
        predicate="has-pronouns"),
    Row(name="relationship", precision=0.85, verbs="be", read=relationships.someone),
    Row(name="age", verbs="be", mood=is_told, value=values.age, predicate="has-age", alone=True),
    Row(name="age", verbs="turn", mood=is_done, value=values.age, predicate="has-age"),
    Row(name="origin", verbs="be", precision=0.8, mood=is_told, lead="<<FROM>>", value=values.named_place,
        predicate="comes-from", alone=True),
    Row(name="origin", verbs="be", precision=0.8, mood=is_told, value=values.nationality, predicate="has-nationality",
        alone=True),
    Row(name="birth", verbs="be", mood=is_born, lead="<<BORN_IN>>", value=values.birthplace, predicate="born-in"),
    Row(name="birth", verbs="be", mood=is_born, lead="<<BORN_ON>>", value=values.date, predicate="born-on"),
    Row(name="relationship", verbs="be", precision=0.85, read=relationships.kinship, alone=True),
    Row(name="occupation", verbs="be", mood=is_one, value=occupations.role, predicate="has-role", past=True,
        alone=True),
    Row(name="occupation", verbs="be", mood=is_one, value=occupations.employer_of_role, predicate="works-at"),
    Row(name="name", verbs="be", mood=is_introduced, value=values.own_name, predicate="has-name", alone=True),
    Row(name="age", verbs="be", mood=is_introduced, lead="<<NAME_AND>>", value=values.age, predicate="has-age"),
    Row(name="occupation", verbs="be", mood=is_introduced, lead=r"<<NAME_AND>>(?:\d+,\s*)?", value=occupations.role,
        predicate="has-role"),
    Row(name="appointment", verbs="be", read=events.appointments),
    Row(name="name", verbs="call name", read=relationships.naming),
    Row(name="marriage", verbs="marry", mood=is_married, lead="<<MARRIED>>", value=values.any_name,
        predicate="married-to"),
    Row(name="family", verbs="have", read=relationships.having),
    Row(name="language", verbs="speak", mood=is_now, lead=r"\s+", value=values.languages, predicate="speaks"),
    Row(name="learning", verbs="learn", mood=is_now, lead=r"\s+", value=values.languages, predicate="learning"),
    Row(name="learning", verbs="learn", mood=is_now, lead=r"\s+", value=values.instruments, predicate="learning"),
    Row(name="pastime", verbs="play", precision=0.8, mood=is_now, lead=r"\s+", value=values.pastimes,
        predicate="plays"),
    Row(name="method", verbs="follow practise practice", read=events.following),
)  # fmt: skip
PREFERENCES: Final = (
    Row(name="taste", verbs="", precision=0.9, read=tastes.tastes),
    Row(name="taste", verbs="", precision=0.8, read=tastes.habits, alone=True),
    Row(name="taste", verbs="like love prefer want take need drink", precision=0.8, read=tastes.served),
    Row(name="taste", verbs="be", precision=0.8, read=tastes.kind_of_person),
    Row(name="preference", verbs="prefer", precision=0.7, read=preferences.prefers),
    Row(name="tool", verbs="use", read=preferences.uses),
    Row(name="tool", verbs="switch move migrate change", mood=is_done, read=preferences.switches),
    Row(name="abstains", verbs="eat drink smoke", read=preferences.abstains, alone=True),
    Row(name="decision", verbs="choose pick go settle opt select decide change", read=preferences.chooses),
    Row(name="considers", verbs="consider think", precision=0.6, read=events.considers),
    Row(name="constraint", verbs="", read=instructions.constraint),
)  # fmt: skip
ENDINGS: Final = (
    Row(name="left employer", verbs="leave resign retire", mood=is_done, lead=r"\s+(?:from\s+|of\s+)?",
        value=occupations.company, predicate="works-at", ends=True, unless="<<OUT>>"),
    Row(name="left employer", verbs="quit", mood=is_done, lead=r"\s+", value=occupations.named_workplace,
        predicate="works-at", ends=True),
    Row(name="left employer", verbs="leave quit resign lose", mood=is_done,
        lead=r"<<MY_JOB>>(?:\s+as\s+[^,;]{2,40}?)?(?:\s+(?:at|with)\s+)?", value=occupations.employer_named,
        predicate="works-at", ends=True, open_value=True),
    Row(name="left group", verbs="leave quit cancel cancelled ended resign", mood=is_done, value=values.group,
        lead=r"\s+(?:from\s+|(?:my|our)\s+membership\s+(?:of|in|at|with)\s+)?", type="relation", predicate="member-of",
        ends=True),
    Row(name="dismissed", verbs="get", mood=is_done, lead=r"\s+(?:fired|laid off|let go|sacked|dismissed)\b<<BY>>",
        value=occupations.employer_named, predicate="works-at", ends=True, open_value=True),
    Row(name="dismissed", verbs="be", mood=is_born, lead=r"(?:fired|sacked|dismissed)\b(?!\s+up\b)<<BY>>",
        value=occupations.employer_named, predicate="works-at", ends=True, open_value=True),
    Row(name="separated", verbs="marry", mood=was_undergone, lead="<<MARRIED>>", value=values.any_name,
        predicate="married-to", ends=True),
    Row(name="separated", verbs="divorce break split separate be get", read=relationships.separation),
    *(
        Row(name="gave up", verbs=verbs, mood=is_done, lead=lead, value=values.given_up, predicate=predicate, ends=True)
        for predicate, verbs, lead in (
            ("owns", "sell replaced swap traded flog ditch", "<<ONES_OLD>>"),
            ("owns", "switch change upgrade", r"(?:\s+over)?\s+from<<ONES_OLD>>"),
            ("owns", "get", r"\s+rid\s+of<<ONES_OLD>>"),
            ("owns", "give", r"\s+away<<ONES_OLD>>|<<ONES_OLD>>(?=[^,.;]{2,30}\saway\s*(?:[,.;!]|$))"),
            ("does", "give", r"\s+up\s+(?:on\s+)?<<ITS>>|\s+<<ITS>>(?=[^,.;]{2,30}\sup\s*(?:[,.;!]|$))"),
            ("does", "quit", r"(?!<<MY_JOB>>)\s+<<ITS>>"),
            ("does", "drop", r"\s+out\s+of\s+<<ITS>>|\s+(?!an?\s|my\s|the\s|off\b|by\b|in\b)"),
            ("does", "cancel cancelled dump ditch", r"\s+<<ITS>>"),
        )
    ),
    Row(name="parted", verbs="die pass move dump leave break split", read=relationships.parting),
    *(
        Row(name="diet ended", verbs=verbs, mood=mood, lead=lead, value=values.diets_without, predicate="has-diet",
            ends=True)
        for verbs, mood, lead in (
            ("eat", is_now, r"\s+(?=[\w ,]+\bagain\b)"),
            ("go start", is_done, r"\s+(?:back\s+to\s+)?eating\s+"),
        )
    ),
    Row(name="switched", verbs="switch migrate change", mood=is_done, lead=r"\s+(?:over\s+)?from\s+(?=[\w+#. ]+\sto\s)",
        value=values.tool, predicate="uses", ends=True),
    Row(name="abstains", verbs="quit stop", read=preferences.stops_smoking),
)  # fmt: skip
EVERY_CLAUSE: Final = (
    Row(name="event", verbs="", precision=0.77, read=events.events_in),
    Row(name="plan", verbs="", precision=0.85, read=events.plans),
    Row(name="routine", verbs="", precision=0.7, read=events.routine, alone=True),
)  # fmt: skip
SENTENCES: Final = (
    TextRow(name="named relative", precision=0.9, asked=True, pasted=True, read=relationships.introduction),
    TextRow(name="presupposed", precision=0.9, asked=True, pasted=True, read=presuppositions.presuppositions),
    TextRow(name="appointment", read=events.moved_appointments),
    TextRow(name="instruction", read=instructions.instruction),
    TextRow(name="instruction", asked=True, read=instructions.asked_of_assistant),
    TextRow(name="taste", precision=0.8, read=tastes.said_of),
    TextRow(name="favourite", precision=0.85, read=preferences.favourite_told),
)  # fmt: skip
_ROWS: Final = (*WORK, *HOME, *HEALTH, *PEOPLE, *PREFERENCES, *ENDINGS)
BY_VERB: Final[Mapping[str, tuple[Row, ...]]] = {
    verb: tuple(row for row in _ROWS if verb in row.verbs.split())
    for verb in {verb for row in _ROWS for verb in row.verbs.split()}
}
OF_EVERY_VERB: Final = (*(row for row in _ROWS if not row.verbs), *EVERY_CLAUSE)
_EVERY_ROW: Final[tuple[Row | TextRow, ...]] = (*_ROWS, *EVERY_CLAUSE, *SENTENCES)
RULES: Final = tuple((row.name, row.precision) for row in _EVERY_ROW)
"""The name of each row with the precision it claims; rows of one rule share a name."""


_ANY_MORE: Final = re.compile(r"[\s,]*\b(?:any ?more|any longer|nowadays)\b", re.IGNORECASE)
_GERUND: Final = re.compile(r"\s+(?P<up>up\s+)?(?:with\s+)?(?P<verb>being|[a-z]{2,20}ing)\b", re.IGNORECASE)
_OFF: Final = re.compile(r"\s+off\s+(?:of\s+)?(?:my\s+|the\s+)?(?=\w)", re.IGNORECASE)
_COMING_OFF: Final = frozenset({"be", "come", "go", "get", "taper", "wean"})
"""Verbs with `off` for what one took until then; it may be a bus, too."""
_DONE: Final = re.compile(r"(?:done|finished|through) with\s+(?=\w+ing\b)", re.IGNORECASE)
_THEN: Final = re.compile(r"\b(?:when|before|by the time|the day)\s$", re.IGNORECASE)
"""Words before what was so once, and may not be so any more."""
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
    then = _THEN.search(clause.before) is not None
    stated = [one for one in _states(clause, said) if one.type == "event" or not then]
    yield from stated
    affirmed = _affirmed(clause)
    if affirmed is None:
        return
    new = {_slot(one) for one in stated}
    affirmed = _untimed(affirmed, said)
    over = [one for one in _states(affirmed, said) if one.type in _SLOT_FIELDS and not one.ends]
    came_off = affirmed.lemma == "take" and clause.lemma in _COMING_OFF
    known = came_off or any(one.type != "preference" for one in over)
    for one in (*over, *(() if known else _done(affirmed))):
        if _slot(one) not in new:
            yield ending(clause, said, one, dated=not clause.used_to)


def _done(clause: Clause) -> Iterator[Draft]:
    """Yield what was done until then under its verb, though no row reads it: an ending ends only what is held."""
    done = main_part(clause.rest).strip()
    if says_something(done) and not clause.copula and clause.subject.who is not Who.PRONOUN:
        yield fact(clause, third_person(clause.lemma), in_third_person(done))


def read_sentence(text: str, speaker: Clause, said: SpeakerContext, *, asks: bool, pasted: bool) -> Iterator[Draft]:
    """Yield what a sentence says whatever its clauses; of a question or a pasted text only what some rules read."""
    for row in SENTENCES:
        if (row.asked or not asks) and (row.pasted or not pasted):
            yield from (_ruled(one, row.name, row.precision) for one in row.read(text, speaker, said))


def _states(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    first = False
    for row in (*BY_VERB.get(clause.lemma, ()), *OF_EVERY_VERB):
        if row.alone and first:
            continue
        found = [_ruled(one, row.name, row.precision) for one in _drafts(row, clause, said)]
        first = first or (row.alone and bool(found))
        yield from (one for one in found if one.payload.get("subject") not in _IT)


def _ruled(draft: Draft, name: str, precision: float) -> Draft:
    return replace(draft, rule=name, confidence=round(min(draft.confidence, draft.confidence * precision), 2))


def _drafts(row: Row, clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    if row.read is not None:
        yield from row.read(clause, said)
        return
    whose = _whose(row, clause)
    over = _is_over(row, clause)
    passing = row.unless and clause.progressive and _compiled(row.unless).search(clause.rest)
    if whose is None or passing or not (over or row.mood(clause)):
        return
    values = list(_values(row, clause, said))
    if over:
        yield from _past_state(clause, said, row) if values else ()
        return
    for value in values:
        draft = _state(row, clause, said, value, whose)
        yield ending(clause, said, draft) if row.ends else draft


def _whose(row: Row, clause: Clause) -> str | None:
    """Return whom a draft of the row is about; None where its subject is nobody's such thing."""
    if not row.noun:
        return clause.subject.name
    subject = clause.subject
    theirs = subject.who is Who.POSSESSED and subject.given is None and subject.owner not in _THIRD_PERSONS
    found = _compiled(row.noun).fullmatch(subject.noun or "") if theirs else None
    of = found.groupdict().get("of") if found is not None else None
    return None if found is None else f"{subject.owner}'s {of}" if of else subject.owner


def _is_over(row: Row, clause: Clause) -> bool:
    """Tell whether the clause says what was so and no longer is."""
    then = replace(clause, tense=Tense.PRESENT, used_to=False, perfect=False)
    past = clause.past_state or (clause.holds and clause.perfect and not (clause.copula or is_now(clause)))
    return row.past and past and row.mood(then)


def _values(row: Row, clause: Clause, said: SpeakerContext) -> Iterator[str]:
    lead = _compiled(row.lead).match(clause.rest)
    if lead is None or row.value is None:
        return
    after = clause.rest[lead.end() :]
    found = list(row.value(after, said))
    if row.ends and row.unless and _compiled(row.unless).match(after, len(found[0]) if found else 0):
        return
    yield from found or ([""] if row.open_value else [])


def _state(row: Row, clause: Clause, said: SpeakerContext, value: str, whose: str) -> Draft:
    if row.type == "relation":
        time = None if is_now(clause) else event_time.find(clause.whole, said.now)
        since = time.exact_day if time is not None and not row.ends else None
        return relation(clause, row.predicate, value, since=since)
    return fact(clause, row.predicate, value, subject=whose, stateful=row.stateful, topic=row.topic)


def _past_state(clause: Clause, said: SpeakerContext, row: Row) -> Iterator[Draft]:
    """Yield the state as an event, approximate where no time is named (seed 000): it is no fact any more."""
    if clause.subject.who is Who.PRONOUN:
        return
    time = event_time.find(clause.whole, said.now)
    description = retell(clause, said, time)
    topic = row.topic or topic_of_predicate(row.predicate)[0]
    if description is not None:
        yield event(clause, description, time, [clause.subject.name], importance=PASSING, topic=topic, past=True)


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
        return _doing(now, clause.rest, up=clause.lemma == "give")
    done = _DONE.match(clause.rest) if clause.copula and clause.holds else None
    return _doing(now, f" {clause.rest[done.end() :]}", up=False) if done else None


def _untimed(clause: Clause, said: SpeakerContext) -> Clause:
    """Return the clause without the time after its verb: what ended in August is no longer so at any time."""
    when = event_time.find(clause.rest, said.now)
    if when is None or when.vague:
        return clause
    rest = event_time.without(clause.rest, when)
    return replace(clause, rest=rest if clause.copula else f" {rest}")


def _doing(clause: Clause, rest: str, *, up: bool) -> Clause | None:
    """Return the clause of what was done until then: `taking metformin` -> `take metformin`."""
    found = _GERUND.match(rest)
    form = form_of(found["verb"].lower()) if found else None
    if found is None or form is None or "ing" not in form.kinds or up != bool(found["up"]):
        return None
    after = rest[found.end() :]
    if form.lemma == "be":
        return replace(clause, verb="be", lemma="be", rest=after.lstrip(), copula=True)
    return replace(clause, verb=form.lemma, lemma=form.lemma, rest=after, adverbs=frozenset({"always"}))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(expanded("leads", pattern), re.IGNORECASE)

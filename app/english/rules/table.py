"""The rules of the embedded extractor: verb or frame, what follows it, and the fact or relation it states.

Rows that only need another verb, pattern and kind of value are data; the others name the function that reads them.
A row enters with the precision measured on development conversations (`make eval ARGS="--set rules"`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from app.english import medications
from app.english.rules import (
    decisions,
    departures,
    events,
    identity,
    implications,
    instructions,
    ownership,
    preferences,
    relationships,
    residence,
    values,
)
from app.english.rules.drafts import STATED
from app.english.rules.rows import Row, TextRow, is_done, is_now, is_told, is_undergone

_AT: Final = r"(?:\s+as\s+[^,;]{2,40}?)?\s+(?:here\s+|over\s+)?(?:at|for)\s+"
_JOB: Final = (
    r"\s+(?:working|(?:a|an|my|the)\s+(?:\w+\s+){0,2}?(?:job|role|position|post))"
    r"(?:\s+as\s+[^,;]{2,40}?)?\s+(?:at|for|with)\s+"
)
_LIVE_IN: Final = (
    r"(?:\s+with\s+[^,;.]{2,40}?)?\s+(?:back\s+|out\s+|here\s+|over\s+)?"
    r"(?:in|at|near|outside(?: of)?|just outside)\s+"
)
_BASED_IN: Final = (
    r"(?:[^,;]{0,60}?,?\s)??(?:(?:currently\s+)?based|located|living|residing)\s+(?:out of|in|at|near)\s+"
)
_AS: Final = r"[^,]{0,60}?\bas\s+(?=(?:a|an|the|our|their|head|chief|lead)\b)"
_TODAY: Final = r"\b(?:today|tonight|this (?:morning|afternoon|evening|week|weekend)|right now|at the moment)\b"
_MY_JOB: Final = (
    r"\s+(?:from\s+)?(?:my|his|her|their|the|our)\s+(?:\w+\s+){0,2}?(?:job|position|post|role|employer|work)\b"
)
_OUT: Final = (
    r"\s+(?:at\b|early|late\b|around\b|to\b|for (?:lunch|the (?:day|night|evening|weekend)|home|a (?:bit|moment|while))"
    r"|on\b|in the\b|open\b|alone\b|running\b|behind\b|a \w+|some\b|an? hour|\d)"
)
_ALLERGY: Final = r"\s+(?:an?\s+)?(?:\w+\s+)??(?=[\w-]+(?:\s[\w-]+)?\s+allerg(?:y|ies)\b(?!\s+to))"
_ALLERGIC: Final = r"(?:(?:severely|highly|really|very|deathly)\s+)?(?:allergic|intolerant)\s+to\s+"

WORK: Final = (
    Row(name="employer", verbs="work", mood=is_now, lead=_AT, value=values.employer,
        predicate="works-at", topic="work", importance=0.8, past=True, unless=_TODAY),
    Row(name="employer", verbs="work", mood=is_now, lead=r"\s+(?:with|in)\s+", value=values.known_company,
        predicate="works-at", topic="work", importance=0.8),
    Row(name="employer", verbs="start begin", mood=is_done, lead=rf"(?:{_JOB}|\s+at\s+(?=(?-i:[A-Z])))",
        value=values.employer, predicate="works-at", topic="work", importance=0.8),
    Row(name="employer", verbs="get land accept take find", mood=is_done, lead=_JOB, value=values.company,
        predicate="works-at", topic="work", importance=0.8),
    Row(name="employer", verbs="join", mood=is_done, lead=r"\s+", value=values.known_company, predicate="works-at",
        topic="work", importance=0.8),
    Row(name="employer", verbs="hire employ promote", mood=is_undergone, lead=r"\s+(?:by|at|with)\s+",
        value=values.company, predicate="works-at", topic="work", importance=0.8),
    Row(name="employer", verbs="get", mood=is_done, lead=r"\s+hired\s+(?:by|at|with)\s+", value=values.company,
        predicate="works-at", topic="work", importance=0.8),
    Row(name="role", verbs="work start begin join hire serve", lead=_AS, value=values.role, predicate="has-role",
        topic="work", mood=lambda clause: is_now(clause) or is_done(clause) or is_undergone(clause)),
    Row(name="role", verbs="promote", mood=is_undergone, lead=r"\s+to\s+", value=values.role, predicate="has-role",
        topic="work"),
    Row(name="role", verbs="get", mood=is_done, lead=r"\s+promoted\s+to\s+", value=values.role, predicate="has-role",
        topic="work"),
    Row(name="manager", verbs="work", mood=is_now, lead=r"\s+(?:directly\s+)?(?:for|under)\s+", value=values.boss,
        type="relation", predicate="reports-to", topic="work"),
    Row(name="manager", verbs="report", mood=is_now, lead=r"\s+(?:directly\s+)?to\s+", value=values.leader,
        type="relation", predicate="reports-to", topic="work"),
    Row(name="membership", verbs="join", precision=0.9, mood=is_done, lead=r"\s+", value=values.group, type="relation",
        predicate="member-of", topic="work"),
    Row(name="membership", verbs="be", mood=is_told, value=values.group, type="relation", predicate="member-of",
        topic="work", lead=r"(?:a\s+)?(?:(?:founding\s+|proud\s+)?member|part)\s+of\s+|(?:on|in)\s+(?=(?:the|our)\s)"),
    Row(name="colleagues", verbs="work", read=relationships.working_together),
    Row(name="manages", verbs="manage lead run head supervise oversee", read=ownership.leads),
    Row(name="owns", verbs="own", read=ownership.owns),
    Row(name="drives", verbs="drive", mood=is_now, lead=r"\s+(?=an?\s+(?-i:[A-Z]))", value=values.quantity,
        predicate="drives"),
    Row(name="created", verbs="found create co-found invent", mood=is_done, lead=r"\s+", value=values.any_name,
        type="relation", predicate="created", topic="work"),
    Row(name="uses", verbs="use", read=ownership.uses_tool),
)  # fmt: skip

HOME: Final = (
    Row(name="home", verbs="live reside", mood=is_now, lead=_LIVE_IN, value=values.place, predicate="lives-in",
        importance=0.8, past=True),
    Row(name="home", verbs="be", mood=is_told, lead=_BASED_IN, value=values.named_place, predicate="lives-in",
        importance=0.8),
    Row(name="moved", verbs="move relocate migrate", mood=is_done, read=residence.moves),
    Row(name="origin", verbs="come", mood=is_now, lead=r"\s+(?:originally\s+)?from\s+", value=values.named_place,
        predicate="comes-from"),
    Row(name="origin", verbs="grow", mood=is_done, lead=r"\s+up\s+(?:in|near|outside)\s+", value=values.named_place,
        predicate="grew-up-in"),
)  # fmt: skip

HEALTH: Final = (
    Row(name="allergy", verbs="have", mood=is_now, lead=_ALLERGY, value=values.before_allergy, predicate="allergic-to",
        topic="health", importance=1.0, stateful=False, precision=0.9, alone=True),
    Row(name="allergy", verbs="have", mood=is_now, lead=r"\s+(?:an?\s+)?(?:\w+\s+)??allerg(?:y|ies)\s+to\s+",
        value=values.allergens, predicate="allergic-to", topic="health", importance=1.0, stateful=False, precision=0.9,
        alone=True),
    Row(name="allergy", verbs="be", mood=is_told, lead=_ALLERGIC, value=values.substances, predicate="allergic-to",
        topic="health", importance=1.0, stateful=False, precision=0.9, alone=True),
    Row(name="illness", verbs="have", mood=is_now, lead=r"\s+", value=values.illnesses, predicate="has-condition",
        topic="health", importance=STATED, stateful=False, alone=True),
    Row(name="illness", verbs="diagnose", mood=is_undergone, lead=r"\s+(?:as\s+having|with)\s+", value=values.diagnosis,
        predicate="has-condition", topic="health", importance=STATED, stateful=False),
    Row(name="illness", verbs="get", mood=is_done, lead=r"\s+diagnosed\s+with\s+", value=values.diagnosis,
        predicate="has-condition", topic="health", importance=STATED, stateful=False),
    Row(name="illness", verbs="be", mood=is_told, value=values.health_state, predicate="has-condition", topic="health",
        importance=STATED, stateful=False, alone=True),
    Row(name="diet", verbs="be", mood=is_told, value=values.diet, predicate="has-diet", topic="food", importance=STATED,
        alone=True),
    Row(name="medicine", verbs="be take prescribe switch", read=medications.taking),
    Row(name="dose", verbs="increase raise lower reduce cut drop change put bumped adjust upped up move bring take be",
        read=medications.dose_change),
    Row(name="medicine ended", verbs="stop quit discontinue finish take get come be", read=medications.stopping),
)  # fmt: skip

PEOPLE: Final = (
    Row(name="favourite", verbs="be", precision=0.85, read=preferences.favourite_of, alone=True),
    Row(name="possession", verbs="be", precision=0.8, read=identity.possession),
    Row(name="age", verbs="be", mood=is_told, value=values.age, predicate="has-age", importance=0.8, alone=True),
    Row(name="age", verbs="turn", mood=is_done, value=values.age, predicate="has-age", importance=0.8),
    Row(name="origin", verbs="be", precision=0.8, read=identity.origin, alone=True),
    Row(name="birth", verbs="be", read=identity.birth),
    Row(name="relationship", verbs="be", precision=0.85, read=relationships.kinship, alone=True),
    Row(name="occupation", verbs="be", precision=0.75, read=identity.occupation, alone=True),
    Row(name="traits", verbs="be", read=identity.traits, alone=True),
    Row(name="kind of thing", verbs="be", read=identity.declares),
    Row(name="name", verbs="be", read=identity.introduction, alone=True),
    Row(name="appointment", verbs="be", read=events.appointments),
    Row(name="name", verbs="call name", read=relationships.naming),
    Row(name="marriage", verbs="marry", read=relationships.marrying),
    Row(name="family", verbs="have", read=relationships.having),
    Row(name="degree", verbs="have", mood=is_now, lead=r"\s+", value=values.degree, predicate="has-degree",
        topic="education", stateful=False, alone=True),
    Row(name="language", verbs="speak", mood=is_now, lead=r"\s+", value=values.languages, predicate="speaks",
        importance=0.6, stateful=False),
    Row(name="learning", verbs="learn", mood=is_now, lead=r"\s+", value=values.languages, predicate="learning",
        importance=0.6, stateful=False),
    Row(name="learning", verbs="learn", mood=is_now, lead=r"\s+", value=values.instruments, predicate="learning",
        importance=0.6, stateful=False),
    Row(name="pastime", verbs="play", precision=0.8, mood=is_now, lead=r"\s+", value=values.pastimes, predicate="plays",
        importance=0.6, stateful=False),
    Row(name="method", verbs="follow practise practice", read=events.following),
    Row(name="school", verbs="study", mood=is_now, lead=r"\s+(?:[\w ]{0,40}?\s)?at\s+",
        value=values.school, predicate="studies-at", topic="education", past=True),
    Row(name="school", verbs="graduate", mood=is_done, lead=r"\s+(?:[^,.;]{0,60}?\s)?from\s+",
        value=values.school, predicate="studied-at", topic="education", stateful=False),
)  # fmt: skip

PREFERENCES: Final = (
    Row(name="taste", verbs="like love enjoy adore hate dislike detest despise loathe", precision=0.9,
        read=preferences.likes),
    Row(name="fan of", verbs="be", precision=0.9, read=preferences.fancies),
    Row(name="taste", verbs="come grow go", read=preferences.comes_to_like),
    Row(name="taste", verbs="stand", read=preferences.stands),
    Row(name="preference", verbs="prefer", precision=0.7, read=preferences.prefers),
    Row(name="tool", verbs="use", read=preferences.uses),
    Row(name="tool", verbs="switch move migrate change", mood=is_done, read=preferences.switches),
    Row(name="abstains", verbs="eat drink smoke avoid", read=preferences.abstains),
    Row(name="decision", verbs="choose pick go settle opt select decide", read=decisions.chooses),
    Row(name="considers", verbs="consider think", precision=0.6, read=events.considers),
    Row(name="constraint", verbs="", read=instructions.constraint),
)  # fmt: skip

ENDINGS: Final = (
    Row(name="left employer", verbs="leave quit resign retire", mood=is_done, lead=r"\s+(?:from\s+|of\s+)?",
        value=values.company, predicate="works-at", topic="work", importance=0.8, ends=True, unless=_OUT),
    Row(name="left employer", verbs="leave quit resign lose", mood=is_done,
        lead=rf"{_MY_JOB}(?:\s+as\s+[^,;]{{2,40}}?)?(?:\s+(?:at|with)\s+)?", value=values.employer_named,
        predicate="works-at", topic="work", importance=0.8, ends=True, open_value=True),
    Row(name="left employer", verbs="resign retire", mood=is_done, predicate="works-at", topic="work", importance=0.8,
        lead=r"\s*(?:$|[.!,]|as\b|last\b|this\b|in\b|on\b|yesterday\b|today\b|early\b|\d)", ends=True, open_value=True,
        value=values.nothing),
    Row(name="left role", verbs="leave quit lose resign", mood=is_done, lead=rf"(?:{_MY_JOB})?\s+as\s+",
        value=values.role, predicate="has-role", topic="work", ends=True),
    Row(name="left group", verbs="leave quit", mood=is_done, lead=r"\s+", value=values.group, type="relation",
        predicate="member-of", topic="work", ends=True),
    Row(name="dismissed", verbs="be get fire let lay dismiss sack", read=departures.dismissal),
    Row(name="left home", verbs="move", mood=is_done, lead=r"\s+(?:out of|away from)\s+",
        value=values.any_name, predicate="lives-in", importance=0.8, ends=True),
    Row(name="left school", verbs="drop", mood=is_done, lead=r"\s+out\s+of\s+", value=values.school,
        predicate="studies-at", topic="education", ends=True),
    Row(name="left school", verbs="graduate", mood=is_done, lead=r"\s+from\s+", value=values.school,
        predicate="studies-at", topic="education", ends=True),
    Row(name="separated", verbs="divorce break split separate be get", read=departures.separation),
    Row(name="died", verbs="die pass be", read=departures.death),
    Row(name="sold", verbs="sell", mood=is_done, lead=r"\s+(?:my|our|the)\s+(?:old\s+|beloved\s+)?(?=(?-i:[A-Z]))",
        value=values.any_name, predicate="owns", ends=True),
)  # fmt: skip

EVERY_CLAUSE: Final = (
    Row(name="event", verbs="", precision=0.77, read=events.events_in),
    Row(name="plan", verbs="", precision=0.85, read=events.plans),
    Row(name="routine", verbs="", precision=0.7, read=events.routine),
)  # fmt: skip

SENTENCES: Final = (
    TextRow(name="named relative", precision=0.9, asked=True, pasted=True, read=relationships.introduction),
    TextRow(name="presupposed", precision=0.9, asked=True, pasted=True, read=implications.presuppositions),
    TextRow(name="instruction", read=instructions.instruction),
)  # fmt: skip

_ROWS: Final = (*WORK, *HOME, *HEALTH, *PEOPLE, *PREFERENCES, *ENDINGS)

BY_VERB: Final[Mapping[str, tuple[Row, ...]]] = {
    verb: tuple(row for row in _ROWS if verb in row.verbs.split())
    for verb in {verb for row in _ROWS for verb in row.verbs.split()}
}

OF_EVERY_VERB: Final = (*(row for row in _ROWS if not row.verbs), *EVERY_CLAUSE)

RULES: Final = tuple((row.name, row.precision) for row in (*_ROWS, *EVERY_CLAUSE, *SENTENCES))
"""The name of each row with the precision it claims; rows of one rule share a name."""

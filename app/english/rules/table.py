"""The rules of the embedded extractor: verb or frame, what follows it, and the fact or relation it states.

Rows that only need another verb, pattern and kind of value are data; the others name the function that reads them.
A row enters with the precision measured on development conversations (`make eval ARGS="--set rules"`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from app.english import medications
from app.english.rules import (
    events,
    instructions,
    occupations,
    preferences,
    presuppositions,
    relationships,
    values,
)
from app.english.rules.drafts import STATED
from app.english.rules.rows import (
    A_WHILE,
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
    is_told,
    is_undergone,
    was_undergone,
)

_AS_SAID: Final = r"(?:\s+as\s+[^,;]{2,40}?)?\s+(?:here\s+|over\s+)?"
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
_SO_MANY: Final = r"\s+(?=(?:a|an|\d+|two|three|four|five|six|seven|eight|nine|ten|twelve|several)\s)"
_NOT_THEIRS: Final = r"\s+(?!(?:my|our|his|her)\s)"
_NAME_AND: Final = r"(?-i:[A-Z][\w'-]*(?:\s[A-Z][\w'-]*)*),\s*"
_BIRTHDAY: Final = r"(?:(?P<of>.+)'s )?(?:birthday|birthdate|date of birth)"
_OWNED: Final = "car|bike|laptop|phone|camera|computer|guitar|motorcycle|tablet|keyboard|watch"
_FROM: Final = r"(?:originally\s+)?from\s+(?=(?-i:(?:the\s+)?[A-Z]))"
_BORN_IN: Final = r"born\s+(?:and raised\s+)?(?:[^,]{0,40}?\s)?in\s+(?=(?-i:[A-Z]))"
_BORN_ON: Final = rf"born\s[^.;]{{0,60}}?\b(?:on|in)\s+(?=(?-i:{values.DATE}))"
_MARRIED: Final = r"\s+(?:to\s+)?(?=(?-i:[A-Z]))"
_BY: Final = r"(?:\s*(?:from|by|at)\s+(?:my (?:job|position|role) (?:at|with)\s+)?)?"
_ALLERGIC: Final = r"(?:(?:severely|highly|really|very|deathly)\s+)?(?:allergic|intolerant)\s+to\s+"
_ONES_OLD: Final = r"\s+(?:my|our|the)\s+(?:old\s+|beloved\s+)?(?=(?-i:[A-Z]|i[A-Z]))"
WORK: Final = (
    Row(name="employer", verbs="work", mood=is_now, lead=rf"{_AS_SAID}at\s+", value=occupations.workplace,
        predicate="works-at", topic="work", importance=0.8, past=True, unless=_TODAY),
    Row(name="employer", verbs="work", mood=is_now, lead=rf"{_AS_SAID}for\s+(?!{A_WHILE})", value=occupations.employer,
        predicate="works-at", topic="work", importance=0.8, past=True, unless=_TODAY),
    Row(name="employer", verbs="start begin", mood=is_done, lead=rf"(?:{_JOB}|\s+at\s+(?=(?-i:[A-Z])))",
        value=occupations.workplace, predicate="works-at", topic="work", importance=0.8),
    Row(name="employer", verbs="get land accept take find", mood=is_done, lead=_JOB,
        value=occupations.named_workplace, predicate="works-at", topic="work", importance=0.8),
    Row(name="employer", verbs="join", mood=is_done, lead=r"\s+", value=occupations.known_company, predicate="works-at",
        topic="work", importance=0.8),
    Row(name="employer", verbs="hire employ promote", mood=is_undergone, lead=r"\s+(?:by|at|with)\s+",
        value=occupations.company, predicate="works-at", topic="work", importance=0.8),
    Row(name="role", verbs="work serve", mood=is_now, lead=_AS, value=occupations.role, predicate="has-role",
        topic="work", past=True),
    Row(name="role", verbs="start begin join hire", lead=_AS, value=occupations.role, predicate="has-role",
        topic="work", mood=lambda clause: is_done(clause) or is_undergone(clause)),
    Row(name="manager", verbs="work", mood=is_now, lead=r"\s+(?:directly\s+)?(?:for|under)\s+", value=occupations.boss,
        type="relation", predicate="reports-to", topic="work"),
    Row(name="manager", verbs="report", mood=is_now, lead=r"\s+(?:directly\s+)?to\s+", value=occupations.leader,
        type="relation", predicate="reports-to", topic="work"),
    Row(name="membership", verbs="join", precision=0.9, mood=is_done, lead=r"\s+", value=values.group, type="relation",
        predicate="member-of", topic="work"),
    Row(name="membership", verbs="be", mood=is_told, value=values.group, type="relation", predicate="member-of",
        topic="work", lead=r"(?:a\s+)?(?:(?:founding\s+|proud\s+)?member|part)\s+of\s+|(?:on|in)\s+(?=(?:the|our)\s)"),
    Row(name="colleagues", verbs="work", mood=is_now, lead=r"\s+(?:closely\s+)?(?:with|alongside)\s+",
        value=values.person, type="relation", predicate="works-with"),
    Row(name="colleagues", verbs="work", read=relationships.working_together),
    Row(name="manages", verbs="manage lead supervise oversee", mood=is_now, lead=r"\s+(?!an?\s|\d|two|three|four)",
        value=values.led, type="relation", predicate="manages", topic="work"),
    Row(name="manages", verbs="manage lead supervise oversee run head", mood=is_now, lead=_SO_MANY,
        value=values.led_in_number, predicate="manages", topic="work"),
    Row(name="owns", verbs="own", mood=is_now, lead=r"\s+", value=values.quantity, predicate="owns", stateful=False),
    Row(name="drives", verbs="drive", mood=is_now, lead=r"\s+(?=an?\s+(?-i:[A-Z]))", value=values.quantity,
        predicate="drives"),
    Row(name="uses", verbs="use", mood=is_general, lead=_NOT_THEIRS, value=values.tool, predicate="uses", topic="tech",
        importance=0.6, stateful=False),
    Row(name="uses", verbs="use", mood=is_others_habit, lead=_NOT_THEIRS, value=values.equipment, predicate="uses",
        topic="tech", importance=0.6, stateful=False),
)  # fmt: skip
HOME: Final = (
    Row(name="home", verbs="live reside", mood=is_now, lead=_LIVE_IN, value=values.place, predicate="lives-in",
        importance=0.8, past=True),
    Row(name="home", verbs="be", mood=is_of_somebody, lead=_BASED_IN, value=values.named_place, predicate="lives-in",
        importance=0.8),
    Row(name="moved", verbs="move relocate migrate", mood=is_done, value=occupations.moved_home, predicate="lives-in",
        importance=0.8),
    Row(name="moved", verbs="move relocate migrate", mood=is_done, value=occupations.moved_employer,
        predicate="works-at", topic="work", importance=0.8),
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
    Row(name="illness", verbs="diagnose", mood=is_undergone, lead=r"\s+(?:as\s+having|with)\s+", value=values.anything,
        predicate="has-condition", topic="health", importance=STATED, stateful=False),
    Row(name="illness", verbs="get", mood=is_done, lead=r"\s+diagnosed\s+with\s+", value=values.anything,
        predicate="has-condition", topic="health", importance=STATED, stateful=False),
    Row(name="illness", verbs="be", mood=is_told, value=values.health_state, predicate="has-condition", topic="health",
        importance=STATED, stateful=False, alone=True),
    Row(name="diet", verbs="be", mood=is_told, value=values.diet, predicate="has-diet", topic="food", importance=STATED,
        alone=True),
    Row(name="medicine", verbs="be take prescribe switch", read=medications.taking, alone=True),
    Row(name="dose", verbs="increase raise lower reduce cut drop change put bumped adjust upped up move bring take",
        read=medications.dose_change),
)  # fmt: skip
PEOPLE: Final[tuple[Row, ...]] = (
    Row(name="favourite", verbs="be", precision=0.85, read=preferences.favourite_of, alone=True),
    Row(name="name", verbs="be", noun="(?:first |full )?name", mood=is_told, value=values.given_name,
        predicate="has-name", importance=STATED),
    Row(name="age", verbs="be", noun="(?:first |full )?name", mood=is_told, lead=_NAME_AND, value=values.age,
        predicate="has-age", importance=0.8),
    Row(name="birth", verbs="be", noun=_BIRTHDAY, mood=is_told, lead=r"(?:on\s+)?", value=values.date,
        predicate="born-on", importance=0.8),
    Row(name="goal", verbs="be", noun="(?:(?:long-term|main) )?(?:goal|dream|ambition)", mood=is_told, stateful=False,
        lead=r"to\s+(?!be\s+(?:able|happy)\b)", value=values.goal, predicate="has-goal"),
    Row(name="possession", precision=0.8, verbs="be", noun=_OWNED, mood=is_told, value=values.any_name,
        predicate="owns", stateful=False),
    Row(name="possession", precision=0.8, verbs="be", noun="pronouns", mood=is_told, value=values.anything,
        predicate="has-pronouns"),
    Row(name="relationship", precision=0.85, verbs="be", read=relationships.someone),
    Row(name="age", verbs="be", mood=is_told, value=values.age, predicate="has-age", importance=0.8, alone=True),
    Row(name="age", verbs="turn", mood=is_done, value=values.age, predicate="has-age", importance=0.8),
    Row(name="origin", verbs="be", precision=0.8, mood=is_told, lead=_FROM, value=values.named_place,
        predicate="comes-from", alone=True),
    Row(name="origin", verbs="be", precision=0.8, mood=is_told, value=values.nationality, predicate="has-nationality",
        alone=True),
    Row(name="birth", verbs="be", mood=is_born, lead=_BORN_IN, value=values.birthplace, predicate="born-in",
        importance=0.8),
    Row(name="birth", verbs="be", mood=is_born, lead=_BORN_ON, value=values.date, predicate="born-on", importance=0.8),
    Row(name="relationship", verbs="be", precision=0.85, read=relationships.kinship, alone=True),
    Row(name="occupation", verbs="be", mood=is_one, value=occupations.role, predicate="has-role", topic="work",
        past=True, alone=True),
    Row(name="occupation", verbs="be", mood=is_one, value=occupations.student, predicate="has-role",
        topic="education", past=True, alone=True),
    Row(name="occupation", verbs="be", mood=is_one, value=occupations.employer_of_role, predicate="works-at",
        topic="work", importance=0.8),
    Row(name="name", verbs="be", mood=is_introduced, value=values.own_name, predicate="has-name", importance=STATED,
        alone=True),
    Row(name="appointment", verbs="be", read=events.appointments),
    Row(name="name", verbs="call name", read=relationships.naming),
    Row(name="marriage", verbs="marry", mood=is_married, lead=_MARRIED, value=values.any_name,
        predicate="married-to", importance=0.8),
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
    Row(name="preference", verbs="prefer", precision=0.7, read=preferences.prefers),
    Row(name="tool", verbs="use", read=preferences.uses),
    Row(name="tool", verbs="switch move migrate change", mood=is_done, read=preferences.switches),
    Row(name="abstains", verbs="eat drink smoke avoid", read=preferences.abstains),
    Row(name="decision", verbs="choose pick go settle opt select decide change", read=preferences.chooses),
    Row(name="considers", verbs="consider think", precision=0.6, read=events.considers),
    Row(name="constraint", verbs="", read=instructions.constraint),
)  # fmt: skip
ENDINGS: Final = (
    Row(name="left employer", verbs="leave resign retire", mood=is_done, lead=r"\s+(?:from\s+|of\s+)?",
        value=occupations.company, predicate="works-at", topic="work", importance=0.8, ends=True, unless=_OUT),
    Row(name="left employer", verbs="quit", mood=is_done, lead=r"\s+", value=occupations.named_workplace,
        predicate="works-at", topic="work", importance=0.8, ends=True),
    Row(name="left employer", verbs="leave quit resign lose", mood=is_done,
        lead=rf"{_MY_JOB}(?:\s+as\s+[^,;]{{2,40}}?)?(?:\s+(?:at|with)\s+)?", value=occupations.employer_named,
        predicate="works-at", topic="work", importance=0.8, ends=True, open_value=True),
    Row(name="left role", verbs="leave quit lose resign", mood=is_done, lead=rf"(?:{_MY_JOB})?\s+as\s+",
        value=occupations.role, predicate="has-role", topic="work", ends=True),
    Row(name="left group", verbs="leave quit cancel cancelled ended resign", mood=is_done, value=values.group,
        lead=r"\s+(?:from\s+|(?:my|our)\s+membership\s+(?:of|in|at|with)\s+)?", type="relation",
        predicate="member-of", topic="work", ends=True),
    Row(name="dismissed", verbs="get", mood=is_done, lead=rf"\s+(?:fired|laid off|let go|sacked|dismissed)\b{_BY}",
        value=occupations.employer_named, predicate="works-at", topic="work", importance=0.8, ends=True,
        open_value=True),
    Row(name="dismissed", verbs="be", mood=is_born, lead=rf"(?:fired|sacked|dismissed)\b(?!\s+up\b){_BY}", topic="work",
        value=occupations.employer_named, predicate="works-at", importance=0.8, ends=True, open_value=True),
    Row(name="separated", verbs="marry", mood=was_undergone, lead=_MARRIED, value=values.any_name,
        predicate="married-to", importance=0.8, ends=True),
    Row(name="separated", verbs="divorce break split separate be get", read=relationships.separation),
    *(
        Row(name="sold", verbs="sell replaced swap", mood=is_done, lead=_ONES_OLD, value=values.any_name,
            predicate=predicate, ends=True)
        for predicate in ("owns", "drives", "uses")
    ),
    Row(name="gave up", verbs="give", mood=is_done, lead=r"\s+up\s+", value=values.languages, predicate="learning",
        ends=True),
    Row(name="diet ended", verbs="eat", mood=is_now, lead=r"\s+(?=[\w ,]+\bagain\b)", value=values.diets_without,
        predicate="has-diet", topic="food", importance=STATED, ends=True),
    Row(name="switched", verbs="switch migrate change", mood=is_done, value=values.tool,
        lead=r"\s+(?:over\s+)?from\s+(?=[\w+#. ]+\sto\s)", predicate="uses", topic="tech", ends=True),
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

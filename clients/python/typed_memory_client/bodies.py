"""What callers send. Generated from the contract by `python -m codegen`: do not edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Union

from typing_extensions import Required, TypedDict

Category = Literal["episodic", "semantic", "procedural", "core", "control"]

class EvidenceIn(TypedDict, total=False):
    """The source of the memory."""

    quote: str | None
    """The words, as they were said."""

    role: str | None
    """Who said them."""

    turn_id: str | None
    """The turn they are from."""


ScopeKind = Literal["global", "user", "agent"]

SpeechAct = Literal["assertion", "hypothetical", "roleplay", "sarcasm", "quotation", "question", "negation"]

class WriteFields(TypedDict, total=False):
    """The fields of every typed write, whatever its type."""

    agent_id: str | None
    """Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see."""

    category: Category | None
    """The category; by default the type's."""

    context: str | None
    """The text just before it: searched, never shown."""

    ends: bool
    """This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. For types that hold values."""

    evidence: Sequence[EvidenceIn]

    evidence_turn_id: str | None
    """Short for evidence with just a turn_id."""

    extractor_confidence: float | None
    """Confidence of the extraction."""

    importance: float | None
    """The importance, from 0 to 1, independent of confidence; by default the type's."""

    metadata: Mapping[str, Any]
    """Anything else; questions and lists can filter by it."""

    occurred_at: datetime | str | None
    """When it was stated; now by default. A later statement replaces an earlier."""

    provenance: Mapping[str, Any]
    """Your own record of the memory's origin."""

    scope: ScopeKind | None
    """Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that agent's, unless the type's own scope is global; with neither, global."""

    sequence_number: int | None
    """Its place in the session."""

    source_confidence: float | None
    """The source strength."""

    speech_act: SpeechAct
    """The speech act; only an assertion can become an active belief."""

    timezone: str | None
    """Where times without an offset are read."""

    topic: str | None
    """A topic of your own choice, to filter by."""

    ttl_seconds: int | None
    """Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was stated."""

    user_id: str | None
    """Your id of the user: what is stored is that user's, what is asked or listed is what they may see."""

    valid_from: datetime | str | None
    """Since when it is true."""

    valid_until: datetime | str | None
    """Until when it is true. What repeats a memory, and was not stated before it, moves its end; without one it leaves it as it is."""


class ConstraintWrite(WriteFields, total=False):
    """A hard rule that binds someone or something: what they can't, may not or must do, whatever changes around it; never a wish, a habit or a state."""

    content: str | None
    """The sentence to remember, instead of one made from the fields."""

    predicate: Required[str]
    """What it is about, hyphenated: `may-not-` what it forbids, `may-` what it allows, `must-` what it demands. `cannot use`, `must not use` and `is not allowed to use` are kept as `may-not-use`, and so is `may use` with a rule that begins with `no`."""

    rule: Required[str]
    """What is forbidden, allowed or demanded."""

    session_id: str | None
    """Your id of the conversation."""

    severity: Literal["low", "medium", "high", "critical"]
    """How bad it is when it is not kept to."""

    subject: str
    """Whom or what the rule binds."""

    type: Literal["constraint"] | None
    """May be left out: the route says it."""


class ControlWrite(WriteFields, total=False):
    """What to avoid: a meta-rule, an error pattern or a boundary of behaviour."""

    content: Required[str]
    """What to avoid, or what must hold."""

    error_pattern: str | None
    """The kind of error."""

    session_id: str | None
    """Your id of the conversation."""

    severity: Literal["low", "medium", "high", "critical"] | None
    """How bad it is when it is not kept to."""

    source_trajectory_id: str | None
    """The run that taught it."""

    type: Literal["control"] | None
    """May be left out: the route says it."""


class DecisionWrite(WriteFields, total=False):
    """A choice someone made about a piece of work or their life, with its reasons; not a taste or a habit."""

    alternatives: Sequence[str]
    """What was decided against."""

    content: str | None
    """The sentence to remember, instead of one made from the fields."""

    decision: Required[str]
    """What was decided."""

    rationale: str | None
    """Why."""

    session_id: str | None
    """Your id of the conversation."""

    subject: Required[str]
    """What is decided about; a later decision on it replaces this one."""

    type: Literal["decision"] | None
    """May be left out: the route says it."""


class DocumentWrite(WriteFields, total=False):
    """A section of a document, word for word: what a source says, not what anybody said."""

    content: Required[str]
    """The words of the section."""

    document_id: Required[str]
    """The document that it is a section of."""

    section: str | None
    """The headings it stands under."""

    session_id: str | None
    """Your id of the conversation."""

    title: str | None
    """The title of the document."""

    type: Literal["document"] | None
    """May be left out: the route says it."""


class EntityWrite(WriteFields, total=False):
    """Someone or something with an identity: a person, an organization, a place, a project."""

    aliases: Sequence[str]

    attributes: Mapping[str, str]

    canonical_name: Required[str]

    content: str | None
    """The sentence to remember, instead of one made from the fields."""

    entity_type: Required[str]
    """person, organization, place, project, ..."""

    session_id: str | None
    """Your id of the conversation."""

    type: Literal["entity"] | None
    """May be left out: the route says it."""


class EpisodicWrite(WriteFields, total=False):
    """What happened in an interaction, kept in the order of its session."""

    content: Required[str]
    """What was said or done."""

    session_id: Required[str]
    """The conversation it belongs to."""

    speaker: str | None
    """Who said it."""

    type: Literal["episodic"] | None
    """May be left out: the route says it."""


TimePrecision = Literal["exact", "day", "week", "month", "approximate", "unknown"]

class EventWrite(WriteFields, total=False):
    """Something that happened at a time, or will; two events never replace one another."""

    content: str | None
    """The sentence to remember, instead of one made from the fields."""

    event_at: datetime | str | str | None
    """When: a date, or a date and time; without an offset it is in the request's time zone."""

    event_at_precision: TimePrecision | None
    """How exactly the time is known; by default as exact as it is written."""

    event_description: Required[str]
    """What happened."""

    participants: Sequence[str]
    """Who took part."""

    session_id: str | None
    """Your id of the conversation."""

    type: Literal["event"] | None
    """May be left out: the route says it."""


class FactWrite(WriteFields, total=False):
    """A stable predicate about someone or something, true until it is replaced."""

    content: str | None
    """The sentence to remember, instead of one made from the fields."""

    object: Required[str]
    """The value: an entity's name or a literal."""

    predicate: Required[str]
    """What is said, hyphenated."""

    session_id: str | None
    """Your id of the conversation."""

    stateful: bool | None
    """Whether only one value can be true at a time, so that another one replaces it; false where several stand side by side. If not given, what the slot holds already decides, then the predicate."""

    subject: str
    """Who or what the fact is about."""

    type: Literal["fact"] | None
    """May be left out: the route says it."""


class FeatureWrite(WriteFields, total=False):
    """Whether a feature is done, and what is known about it."""

    content: Required[str]
    """Whether a feature is done, and what is known about it."""

    feature_key: str | None
    """The feature; a later statement on it replaces this one."""

    feature_status: str | None
    """Such as `in_progress` or `complete`."""

    session_id: str | None
    """Your id of the conversation."""

    type: Literal["feature"] | None
    """May be left out: the route says it."""


class MedicationWrite(WriteFields, total=False):
    """A medicine that someone takes, with its dosage; never an illness or a wish."""

    active: bool
    """Whether it is taken now."""

    content: str | None
    """The sentence to remember, instead of one made from the fields."""

    dosage: str | None
    """How much."""

    drug_class: str | None
    """What kind of medicine it is."""

    ended_at: str | None
    """Until when."""

    frequency: str | None
    """How often."""

    medication_name: Required[str]
    """The medicine."""

    prescribed_by: str | None
    """Who prescribed it."""

    session_id: str | None
    """Your id of the conversation."""

    started_at: str | None
    """Since when."""

    subject: str
    """Who takes it."""

    type: Literal["medication"] | None
    """May be left out: the route says it."""


class PlanWrite(WriteFields, total=False):
    """An intention with a time ahead of it: a trip, a goal, something to be done."""

    content: str | None
    """The sentence to remember, instead of one made from the fields."""

    plan: Required[str]
    """What is intended, as a verb."""

    session_id: str | None
    """Your id of the conversation."""

    subject: str
    """Who intends it."""

    type: Literal["plan"] | None
    """May be left out: the route says it."""


class PreferenceWrite(WriteFields, total=False):
    """A choice someone makes and may change: settings, likes, ways of working."""

    content: str | None
    """The sentence to remember, instead of one made from the fields."""

    preference_key: Required[str]
    """`domain.attribute`: the choice that is made."""

    preference_value: Required[str]
    """What is preferred."""

    session_id: str | None
    """Your id of the conversation."""

    subject: str
    """Whose preference it is."""

    type: Literal["preference"] | None
    """May be left out: the route says it."""


class ProceduralWrite(WriteFields, total=False):
    """How to do something: a workflow, routine or habit that someone follows, with its steps."""

    content: Required[str]
    """What to do."""

    session_id: str | None
    """Your id of the conversation."""

    steps: Sequence[str]
    """The steps, in order."""

    trigger_conditions: Sequence[str]
    """When to apply it; a later procedure for the same occasion replaces this one."""

    type: Literal["procedural", "procedure"] | None
    """May be left out: the route says it."""


class ProgressWrite(WriteFields, total=False):
    """How far the work of a session has come."""

    content: Required[str]
    """How far the work of a session has come."""

    session_id: str | None
    """The session whose progress it is."""

    type: Literal["progress"] | None
    """May be left out: the route says it."""


class ReflectionWrite(WriteFields, total=False):
    """A lesson learnt from something that went wrong."""

    content: Required[str]
    """A lesson learnt from something that went wrong."""

    session_id: str | None
    """Your id of the conversation."""

    type: Literal["reflection"] | None
    """May be left out: the route says it."""


class RelationWrite(WriteFields, total=False):
    """A typed edge from one named entity to another; where none of the relation types fits, it is a fact."""

    content: str | None
    """The sentence to remember, instead of one made from the fields."""

    from_entity: Required[str]
    """Name of the entity the edge starts at."""

    relation_type: Required[str]
    """One of reports-to, manages, works-with, member-of, owns, created, uses, located-at, or a synonym."""

    session_id: str | None
    """Your id of the conversation."""

    since: datetime | str | str | None

    to_entity: Required[str]
    """Name of the entity the edge ends at."""

    type: Literal["relation"] | None
    """May be left out: the route says it."""


class SemanticWrite(WriteFields, total=False):
    """Something known for good, as a sentence; saying it again, or nearly so, merges."""

    content: Required[str]
    """What is known."""

    entity_id: str | None
    """The user, project or concept it is about, by name, by an id of your own, or by its id here (`ent_...`), which must be that of an entity in the scope the memory is written to."""

    session_id: str | None
    """Your id of the conversation."""

    type: Literal["semantic"] | None
    """May be left out: the route says it."""


class StandardWrite(WriteFields, total=False):
    """Anything worth remembering that no other type fits."""

    content: Required[str]
    """Anything worth remembering that no other type fits."""

    session_id: str | None
    """Your id of the conversation."""

    type: Literal["standard"] | None
    """May be left out: the route says it."""


class StrategyWrite(WriteFields, total=False):
    """A strategy that worked and is worth using again."""

    content: Required[str]
    """A strategy that worked and is worth using again."""

    session_id: str | None
    """Your id of the conversation."""

    type: Literal["strategy"] | None
    """May be left out: the route says it."""


class TransientStateWrite(WriteFields, total=False):
    """A condition that will pass within days yet matters until then; never a mood of the moment."""

    content: str | None
    """The sentence to remember, instead of one made from the fields."""

    kind: str
    """What kind of state; the latest of a kind replaces the one before."""

    session_id: str | None
    """Your id of the conversation."""

    state: Required[str]
    """The state, as it follows `is`."""

    subject: str
    """Who is in this state."""

    type: Literal["transient_state"] | None
    """May be left out: the route says it."""


class TenantTypeWrite(WriteFields, total=False):
    """A memory of a type of your own."""

    content: str | None
    """The sentence to remember, instead of one made from the fields."""

    payload: Required[Mapping[str, Any]]
    """The type's fields, by its schema (`GET /admin/types/{type_name}`)."""

    session_id: str | None
    """Your id of the conversation."""

    type: str | None
    """May be left out: the route says it."""


class ConstraintItem(WriteFields, total=False):
    """A hard rule that binds someone or something: what they can't, may not or must do, whatever changes around it; never a wish, a habit or a state."""

    content: str | None
    """The sentence to remember, instead of one made from the fields."""

    predicate: Required[str]
    """What it is about, hyphenated: `may-not-` what it forbids, `may-` what it allows, `must-` what it demands. `cannot use`, `must not use` and `is not allowed to use` are kept as `may-not-use`, and so is `may use` with a rule that begins with `no`."""

    rule: Required[str]
    """What is forbidden, allowed or demanded."""

    session_id: str | None
    """Your id of the conversation."""

    severity: Literal["low", "medium", "high", "critical"]
    """How bad it is when it is not kept to."""

    subject: str
    """Whom or what the rule binds."""

    type: Required[Literal["constraint"]]


class ControlItem(WriteFields, total=False):
    """What to avoid: a meta-rule, an error pattern or a boundary of behaviour."""

    content: Required[str]
    """What to avoid, or what must hold."""

    error_pattern: str | None
    """The kind of error."""

    session_id: str | None
    """Your id of the conversation."""

    severity: Literal["low", "medium", "high", "critical"] | None
    """How bad it is when it is not kept to."""

    source_trajectory_id: str | None
    """The run that taught it."""

    type: Required[Literal["control"]]


class DecisionItem(WriteFields, total=False):
    """A choice someone made about a piece of work or their life, with its reasons; not a taste or a habit."""

    alternatives: Sequence[str]
    """What was decided against."""

    content: str | None
    """The sentence to remember, instead of one made from the fields."""

    decision: Required[str]
    """What was decided."""

    rationale: str | None
    """Why."""

    session_id: str | None
    """Your id of the conversation."""

    subject: Required[str]
    """What is decided about; a later decision on it replaces this one."""

    type: Required[Literal["decision"]]


class DocumentItem(WriteFields, total=False):
    """A section of a document, word for word: what a source says, not what anybody said."""

    content: Required[str]
    """The words of the section."""

    document_id: Required[str]
    """The document that it is a section of."""

    section: str | None
    """The headings it stands under."""

    session_id: str | None
    """Your id of the conversation."""

    title: str | None
    """The title of the document."""

    type: Required[Literal["document"]]


class EntityItem(WriteFields, total=False):
    """Someone or something with an identity: a person, an organization, a place, a project."""

    aliases: Sequence[str]

    attributes: Mapping[str, str]

    canonical_name: Required[str]

    content: str | None
    """The sentence to remember, instead of one made from the fields."""

    entity_type: Required[str]
    """person, organization, place, project, ..."""

    session_id: str | None
    """Your id of the conversation."""

    type: Required[Literal["entity"]]


class EpisodicItem(WriteFields, total=False):
    """What happened in an interaction, kept in the order of its session."""

    content: Required[str]
    """What was said or done."""

    session_id: Required[str]
    """The conversation it belongs to."""

    speaker: str | None
    """Who said it."""

    type: Required[Literal["episodic"]]


class EventItem(WriteFields, total=False):
    """Something that happened at a time, or will; two events never replace one another."""

    content: str | None
    """The sentence to remember, instead of one made from the fields."""

    event_at: datetime | str | str | None
    """When: a date, or a date and time; without an offset it is in the request's time zone."""

    event_at_precision: TimePrecision | None
    """How exactly the time is known; by default as exact as it is written."""

    event_description: Required[str]
    """What happened."""

    participants: Sequence[str]
    """Who took part."""

    session_id: str | None
    """Your id of the conversation."""

    type: Required[Literal["event"]]


class FactItem(WriteFields, total=False):
    """A stable predicate about someone or something, true until it is replaced."""

    content: str | None
    """The sentence to remember, instead of one made from the fields."""

    object: Required[str]
    """The value: an entity's name or a literal."""

    predicate: Required[str]
    """What is said, hyphenated."""

    session_id: str | None
    """Your id of the conversation."""

    stateful: bool | None
    """Whether only one value can be true at a time, so that another one replaces it; false where several stand side by side. If not given, what the slot holds already decides, then the predicate."""

    subject: str
    """Who or what the fact is about."""

    type: Required[Literal["fact"]]


class FeatureItem(WriteFields, total=False):
    """Whether a feature is done, and what is known about it."""

    content: Required[str]
    """Whether a feature is done, and what is known about it."""

    feature_key: str | None
    """The feature; a later statement on it replaces this one."""

    feature_status: str | None
    """Such as `in_progress` or `complete`."""

    session_id: str | None
    """Your id of the conversation."""

    type: Required[Literal["feature"]]


class MedicationItem(WriteFields, total=False):
    """A medicine that someone takes, with its dosage; never an illness or a wish."""

    active: bool
    """Whether it is taken now."""

    content: str | None
    """The sentence to remember, instead of one made from the fields."""

    dosage: str | None
    """How much."""

    drug_class: str | None
    """What kind of medicine it is."""

    ended_at: str | None
    """Until when."""

    frequency: str | None
    """How often."""

    medication_name: Required[str]
    """The medicine."""

    prescribed_by: str | None
    """Who prescribed it."""

    session_id: str | None
    """Your id of the conversation."""

    started_at: str | None
    """Since when."""

    subject: str
    """Who takes it."""

    type: Required[Literal["medication"]]


class PlanItem(WriteFields, total=False):
    """An intention with a time ahead of it: a trip, a goal, something to be done."""

    content: str | None
    """The sentence to remember, instead of one made from the fields."""

    plan: Required[str]
    """What is intended, as a verb."""

    session_id: str | None
    """Your id of the conversation."""

    subject: str
    """Who intends it."""

    type: Required[Literal["plan"]]


class PreferenceItem(WriteFields, total=False):
    """A choice someone makes and may change: settings, likes, ways of working."""

    content: str | None
    """The sentence to remember, instead of one made from the fields."""

    preference_key: Required[str]
    """`domain.attribute`: the choice that is made."""

    preference_value: Required[str]
    """What is preferred."""

    session_id: str | None
    """Your id of the conversation."""

    subject: str
    """Whose preference it is."""

    type: Required[Literal["preference"]]


class ProceduralItem(WriteFields, total=False):
    """How to do something: a workflow, routine or habit that someone follows, with its steps."""

    content: Required[str]
    """What to do."""

    session_id: str | None
    """Your id of the conversation."""

    steps: Sequence[str]
    """The steps, in order."""

    trigger_conditions: Sequence[str]
    """When to apply it; a later procedure for the same occasion replaces this one."""

    type: Required[Literal["procedural", "procedure"]]
    """The memory's type, such as `fact`."""


class ProgressItem(WriteFields, total=False):
    """How far the work of a session has come."""

    content: Required[str]
    """How far the work of a session has come."""

    session_id: str | None
    """The session whose progress it is."""

    type: Required[Literal["progress"]]


class ReflectionItem(WriteFields, total=False):
    """A lesson learnt from something that went wrong."""

    content: Required[str]
    """A lesson learnt from something that went wrong."""

    session_id: str | None
    """Your id of the conversation."""

    type: Required[Literal["reflection"]]


class RelationItem(WriteFields, total=False):
    """A typed edge from one named entity to another; where none of the relation types fits, it is a fact."""

    content: str | None
    """The sentence to remember, instead of one made from the fields."""

    from_entity: Required[str]
    """Name of the entity the edge starts at."""

    relation_type: Required[str]
    """One of reports-to, manages, works-with, member-of, owns, created, uses, located-at, or a synonym."""

    session_id: str | None
    """Your id of the conversation."""

    since: datetime | str | str | None

    to_entity: Required[str]
    """Name of the entity the edge ends at."""

    type: Required[Literal["relation"]]


class SemanticItem(WriteFields, total=False):
    """Something known for good, as a sentence; saying it again, or nearly so, merges."""

    content: Required[str]
    """What is known."""

    entity_id: str | None
    """The user, project or concept it is about, by name, by an id of your own, or by its id here (`ent_...`), which must be that of an entity in the scope the memory is written to."""

    session_id: str | None
    """Your id of the conversation."""

    type: Required[Literal["semantic"]]


class StandardItem(WriteFields, total=False):
    """Anything worth remembering that no other type fits."""

    content: Required[str]
    """Anything worth remembering that no other type fits."""

    session_id: str | None
    """Your id of the conversation."""

    type: Required[Literal["standard"]]


class StrategyItem(WriteFields, total=False):
    """A strategy that worked and is worth using again."""

    content: Required[str]
    """A strategy that worked and is worth using again."""

    session_id: str | None
    """Your id of the conversation."""

    type: Required[Literal["strategy"]]


class TransientStateItem(WriteFields, total=False):
    """A condition that will pass within days yet matters until then; never a mood of the moment."""

    content: str | None
    """The sentence to remember, instead of one made from the fields."""

    kind: str
    """What kind of state; the latest of a kind replaces the one before."""

    session_id: str | None
    """Your id of the conversation."""

    state: Required[str]
    """The state, as it follows `is`."""

    subject: str
    """Who is in this state."""

    type: Required[Literal["transient_state"]]


class TenantTypeItem(WriteFields, total=False):
    """A memory of a type of your own."""

    content: str | None
    """The sentence to remember, instead of one made from the fields."""

    payload: Required[Mapping[str, Any]]
    """The type's fields, by its schema (`GET /admin/types/{type_name}`)."""

    session_id: str | None
    """Your id of the conversation."""

    type: Required[str]
    """The memory's type, such as `fact`."""


Role = Literal["user", "assistant", "tool", "system"]

class TurnIn(TypedDict, total=False):
    """One message of a conversation; the names that chat libraries have for its fields are read, too."""

    category: Category | None
    """How all that it yields fades; by default as the types do, and what it says."""

    content: Required[str]

    importance: float | None
    """Of all that it yields."""

    metadata: Mapping[str, Any]
    """Of all that it yields, too."""

    occurred_at: datetime | str | None
    """Time of the turn; by default now, in the order of the request."""

    role: Role
    """The author's role, which caps the source strength."""

    sequence_number: int | None
    """Its place in the session."""

    session_id: str | None
    """Your id of the conversation."""

    speaker: str | None
    """Who said it, where a conversation has names: who `I` is."""


class ReviewerStatement(TypedDict, total=False):
    """A reviewer's own statement: a memory's type and that type's fields."""

    payload: Required[Mapping[str, Any]]

    type: Required[str]
    """The memory's type, such as `fact`."""


QueryMode = Literal["default", "historical", "audit"]

HeedMode = Literal["auto", "all", "none"]

IdStyle = Literal["none", "short", "full"]

class ExtractionInstructions(TypedDict, total=False):
    """Instructions of what to remember and what never, in plain words and by names."""

    exclude: Sequence[str]
    """What never to remember, in a few words each. The name of a memory type, a predicate, a preference key (or the beginning of one) or a topic holds for every proposal, whoever makes it; other words are for the language model."""

    include: Sequence[str]
    """What to remember above all, in a few words each; nothing else is left out for it."""

    instructions: str | None
    """What to remember and how, in plain words, for the language model. They choose among what may be remembered: grounding, guards and types stay as they are. The built-in rules read no words."""


MemoryStatus = Literal["active", "superseded", "expired", "forgotten", "pending"]

MemorySort = Literal["-recorded_at", "recorded_at", "-importance", "importance", "-confidence", "-occurred_at", "occurred_at"]

TurnStatus = Literal["received", "processed", "skipped", "extraction_failed"]

JobStatus = Literal["queued", "running", "succeeded", "failed", "cancelled"]

ReviewReason = Literal["contradiction", "doubtful", "reported_wrong", "volatile", "constraint", "entity_merge", "asked", "erasure", "withheld"]

class AnswerOptions(TypedDict, total=False):
    """A question to answer from memories."""

    agent_id: str | None
    """Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see."""

    as_of: datetime | str | None
    """What was true then, as far as it is known: only memories that held at this time, whether or not they still do. Replaced ones held until what replaced them began."""

    known_at: datetime | str | None
    """What was believed then: the answer this request had at that time. Nothing recorded, replaced, merged or changed later shows. What was erased since is gone from the past too."""

    metadata: Mapping[str, Any]
    """Only memories whose metadata contain this JSON object."""

    min_confidence: float | None
    """Only what is trusted this far; by default .5, in other modes than `default` .3."""

    min_relevance: float | None
    """Only what is this relevant; by default the floors of the embedding model."""

    mode: QueryMode | None
    """By default as the question sounds."""

    now: datetime | str | None
    """Reference time of `yesterday`; by default `known_at`, else the present."""

    recent_turns: int
    """Last turns of the session that asks to leave out, as the prompt has them; 0 brings them back."""

    session_id: str | None
    """The conversation that asks. What is used in many counts for more, and its last `recent_turns` turns, which the caller still has, are left out."""

    tags: Sequence[str]
    """Only memories with all of these in the list `tags` of their metadata."""

    timezone: str | None
    """The IANA zone in which times without an offset, and words like `yesterday`, are read; UTC by default."""

    top_k: int
    """Most memories to return."""

    topic: str | None
    """Only what is filed under this, in any letter case."""

    types: Sequence[str]
    """Only these; all by default."""

    user_id: str | None
    """Your id of the user: what is stored is that user's, what is asked or listed is what they may see."""


class RecallOptions(TypedDict, total=False):
    """A question for the read pipeline: in words, or as the conversation that it stands in."""

    agent_id: str | None
    """Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see."""

    as_of: datetime | str | None
    """What was true then, as far as it is known: only memories that held at this time, whether or not they still do. Replaced ones held until what replaced them began."""

    explain: bool
    """Return the plan, and all details."""

    heed: HeedMode
    """What the context shows first of allergies, illnesses, medicines, hard rules and standing instructions: what the question touches, all of them, or none."""

    ids: IdStyle
    """Ids in the lines of the context: none, the memory's place in `memories`, or its id."""

    include: Sequence[Literal["context", "memories", "details"]]
    """What to answer with; `details` are whole memories, arms, notes and the groups of the context."""

    known_at: datetime | str | None
    """What was believed then: the answer this request had at that time. Nothing recorded, replaced, merged or changed later shows. What was erased since is gone from the past too."""

    metadata: Mapping[str, Any]
    """Only memories whose metadata contain this JSON object."""

    min_confidence: float | None
    """Only what is trusted this far; by default .5, in other modes than `default` .3."""

    min_relevance: float | None
    """Only what is this relevant; by default the floors of the embedding model. 0 fills up to `top_k`."""

    mode: QueryMode | None
    """By default as the question sounds."""

    now: datetime | str | None
    """Reference time of `yesterday`; by default `known_at`, else the present."""

    recent_turns: int
    """Last turns of the session that asks to leave out, as the prompt has them; 0 brings them back."""

    rerank: bool
    """Have a reranking model order the best; where it is missing, late or fails, `degraded` says so."""

    session_id: str | None
    """The conversation that asks. What is used in many counts for more, and its last `recent_turns` turns, which the caller still has, are left out."""

    tags: Sequence[str]
    """Only memories with all of these in the list `tags` of their metadata."""

    timezone: str | None
    """The IANA zone in which times without an offset, and words like `yesterday`, are read; UTC by default."""

    token_budget: int
    """Most tokens of `context`; 0 for none."""

    top_k: int
    """Most memories to return."""

    topic: str | None
    """Only what is filed under this, in any letter case."""

    types: Sequence[str]
    """Only these; all by default."""

    user_id: str | None
    """Your id of the user: what is stored is that user's, what is asked or listed is what they may see."""


class RememberOptions(TypedDict, total=False):
    """Turns of one user or agent: a list of turns or of chat messages, or the fields of a single turn."""

    agent_id: str | None
    """Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see."""

    category: Category | None
    """Of every turn that has no other."""

    extraction: ExtractionInstructions | None
    """What to remember of these turns and what never, beside the tenant's own instructions (`PUT /admin/policy`): both stand, and what either excludes is never remembered."""

    importance: float | None
    """Of every turn that has no other."""

    metadata: Mapping[str, Any] | None
    """Of every turn, under what a turn has itself."""

    occurred_at: datetime | str | None
    """Of every turn that has no other."""

    role: Role | None
    """Of every turn that has no other."""

    scope: ScopeKind | None
    """Where memories go; by default the user's scope, else the agent's, else global. With `agent`, what is said to an agent stays with that agent, with that user if one is named."""

    sequence_number: int | None
    """Its place in the session."""

    session_id: str | None
    """The conversation; of every turn that names no other."""

    speaker: str | None
    """Of every turn that has no other."""

    timezone: str | None
    """Where "yesterday" is meant; by default the offset of `occurred_at`, else UTC."""

    user_id: str | None
    """Your id of the user: what is stored is that user's, what is asked or listed is what they may see."""


class UpdateOptions(TypedDict, total=False):
    """Changes of a memory; its content can only be changed by writing a newer memory."""

    category: Category | None

    importance: float | None
    """The importance, from 0 to 1, independent of confidence; by default the type's."""

    metadata: Mapping[str, Any] | None
    """Takes the place of what was there."""

    needs_review: bool | None
    """Mark it for review."""

    topic: str | None
    """The topic; null for none."""

    ttl_seconds: int | None
    """Instead of valid_until: how much longer it is true, in seconds from now."""

    valid_until: datetime | str | None
    """Until when it is true; null: without an end."""


class FeedbackOptions(TypedDict, total=False):
    """Feedback on a memory."""

    note: str | None
    """The reason, stored in the memory's provenance for reviewers."""

    now: datetime | str | None
    """Time of the feedback; by default the present."""

    session_id: str | None
    """The conversation it was used in."""


class ListMemoriesOptions(TypedDict, total=False):
    """Query parameters of `list_memories`."""

    limit: int
    """Most items of a page."""

    as_of: datetime | str | None
    """What was true then, as far as it is known: only memories that held at this time, whether or not they still do. Replaced ones held until what replaced them began."""

    known_at: datetime | str | None
    """What was believed then: the answer this request had at that time. Nothing recorded, replaced, merged or changed later shows. What was erased since is gone from the past too."""

    user_id: str | None
    """Your id of the user: what is stored is that user's, what is asked or listed is what they may see."""

    agent_id: str | None
    """Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see."""

    scope: ScopeKind | None
    """Of these, only what is in scopes of this kind."""

    all: bool
    """List what is of every user and agent; takes a key with the role `admin`. Without it, and without a user or an agent, only what is in the global scope is listed."""

    owner: str | None
    """Only what is stored for this user, in whatever scope: the user's own, and those of agents with that user."""

    type: Sequence[str]
    """Only these types; repeat it for several."""

    status: Sequence[MemoryStatus]
    """Only these statuses; repeat it for several. By default all but `pending`: history too."""

    subject: str | None
    """Only what is about this, as memories show it in `subject`."""

    topic: str | None
    """Only what is filed under this, in any letter case."""

    session_id: str | None
    """Your id of the conversation."""

    min_importance: float | None
    """Only what matters at least this much."""

    min_confidence: float | None
    """Only what is trusted at least this much."""

    q: str | None
    """Only memories whose text holds each of these words."""

    entity: str | None
    """Only memories that name this entity, by its `ent_` id; of every type."""

    predicate: str | None
    """Only memories with this predicate."""

    metadata: str | None
    """Only memories whose metadata contain this JSON object."""

    tags: Sequence[str]
    """Only memories with all of these in the list `tags` of their metadata."""

    recorded_since: datetime | str | None
    """Only what was recorded then or later."""

    recorded_until: datetime | str | None
    """Only what was recorded before."""

    needs_review: bool | None
    """Only what waits for a reviewer, or only what does not."""

    validity: Literal["now", "any"]
    """`now` leaves out what is active and not true now: what is over, or has not begun. With `known_at`, then instead of now; `as_of` says itself when."""

    sort: MemorySort
    """A name alone sorts from low to high, a minus before it from high to low: `-importance` puts what matters most first, `importance` what matters least, `-recorded_at` the newest."""

    document_id: str | None
    """Only memories of type document with this document id."""

    drug_class: str | None
    """Only memories of type medication with this drug class."""


class ListSessionOptions(TypedDict, total=False):
    """Query parameters of `list_session`."""

    limit: int
    """Most items of a page."""

    as_of: datetime | str | None
    """What was true then, as far as it is known: only memories that held at this time, whether or not they still do. Replaced ones held until what replaced them began."""

    known_at: datetime | str | None
    """What was believed then: the answer this request had at that time. Nothing recorded, replaced, merged or changed later shows. What was erased since is gone from the past too."""

    user_id: str | None
    """Your id of the user: what is stored is that user's, what is asked or listed is what they may see."""

    agent_id: str | None
    """Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see."""

    scope: ScopeKind | None
    """Of these, only what is in scopes of this kind."""

    all: bool
    """List what is of every user and agent; takes a key with the role `admin`. Without it, and without a user or an agent, only what is in the global scope is listed."""

    status: Sequence[MemoryStatus]
    """By default `active`; with `as_of` also what has been replaced or expired since."""


class ListTurnsOptions(TypedDict, total=False):
    """Query parameters of `list_turns`."""

    limit: int
    """Most items of a page."""

    user_id: str | None
    """Your id of the user: what is stored is that user's, what is asked or listed is what they may see."""

    agent_id: str | None
    """Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see."""

    scope: ScopeKind | None
    """Of these, only what is in scopes of this kind."""

    all: bool
    """List what is of every user and agent; takes a key with the role `admin`. Without it, and without a user or an agent, only what is in the global scope is listed."""

    owner: str | None
    """Only what is stored for this user, in whatever scope: the user's own, and those of agents with that user."""

    session_id: str | None
    """Your id of the conversation."""

    status: TurnStatus | None


class ListEntitiesOptions(TypedDict, total=False):
    """Query parameters of `list_entities`."""

    limit: int
    """Most items of a page."""

    as_of: datetime | str | None
    """What was true then, as far as it is known: only memories that held at this time, whether or not they still do. Replaced ones held until what replaced them began."""

    known_at: datetime | str | None
    """What was believed then: the answer this request had at that time. Nothing recorded, replaced, merged or changed later shows. What was erased since is gone from the past too."""

    user_id: str | None
    """Your id of the user: what is stored is that user's, what is asked or listed is what they may see."""

    agent_id: str | None
    """Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see."""

    scope: ScopeKind | None
    """Of these, only what is in scopes of this kind."""

    all: bool
    """List what is of every user and agent; takes a key with the role `admin`. Without it, and without a user or an agent, only what is in the global scope is listed."""

    owner: str | None
    """Only what is stored for this user, in whatever scope: the user's own, and those of agents with that user."""

    entity_type: str | None

    name: str | None
    """Any of its names, whatever the case."""

    prefix: str | None
    """A word of one of its names begins with this."""


class ListJobsOptions(TypedDict, total=False):
    """Query parameters of `list_jobs`."""

    limit: int
    """Most items of a page."""

    user_id: str | None
    """Your id of the user: what is stored is that user's, what is asked or listed is what they may see."""

    agent_id: str | None
    """Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see."""

    scope: ScopeKind | None
    """Of these, only what is in scopes of this kind."""

    all: bool
    """List what is of every user and agent; takes a key with the role `admin`. Without it, and without a user or an agent, only what is in the global scope is listed."""

    owner: str | None
    """Only what is stored for this user, in whatever scope: the user's own, and those of agents with that user."""

    status: JobStatus | None
    """`failed` for what needs looking at."""

    kind: str | None


class ListReviewsOptions(TypedDict, total=False):
    """Query parameters of `list_reviews`."""

    limit: int
    """Most items of a page."""

    reason: Sequence[ReviewReason]
    """Only items with one of these reasons."""

    type: Sequence[str]
    """The memory's type, such as `fact`."""

    status: Sequence[MemoryStatus]
    """`pending` for what is not believed yet."""

    user_id: str | None
    """Your id of the user: what is stored is that user's, what is asked or listed is what they may see."""

    agent_id: str | None
    """Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see."""

    since: datetime | str | None
    """Only what came up then or later."""

    until: datetime | str | None
    """Only what came up before."""

    min_age: int | None
    """Only what has waited so many seconds."""

    sort: Literal["oldest", "newest"]
    """The order."""


class ListUsersOptions(TypedDict, total=False):
    """Query parameters of `list_users`."""

    limit: int
    """Most items of a page."""

    user_id: str | None
    """Your id of the user: what is stored is that user's, what is asked or listed is what they may see."""

    agent_id: str | None
    """Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see."""

    scope: ScopeKind | None
    """Of these, only what is in scopes of this kind."""

    all: bool
    """List what is of every user and agent; takes a key with the role `admin`. Without it, and without a user or an agent, only what is in the global scope is listed."""

    owner: str | None
    """Only what is stored for this user, in whatever scope: the user's own, and those of agents with that user."""

    q: str | None
    """Only ids that hold this text, whatever the case."""


class ListAgentsOptions(TypedDict, total=False):
    """Query parameters of `list_agents`."""

    limit: int
    """Most items of a page."""

    user_id: str | None
    """Your id of the user: what is stored is that user's, what is asked or listed is what they may see."""

    agent_id: str | None
    """Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see."""

    scope: ScopeKind | None
    """Of these, only what is in scopes of this kind."""

    all: bool
    """List what is of every user and agent; takes a key with the role `admin`. Without it, and without a user or an agent, only what is in the global scope is listed."""

    owner: str | None
    """Only what is stored for this user, in whatever scope: the user's own, and those of agents with that user."""

    q: str | None
    """Only ids that hold this text, whatever the case."""


class ListSessionsOptions(TypedDict, total=False):
    """Query parameters of `list_sessions`."""

    limit: int
    """Most items of a page."""

    user_id: str | None
    """Your id of the user: what is stored is that user's, what is asked or listed is what they may see."""

    agent_id: str | None
    """Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see."""

    scope: ScopeKind | None
    """Of these, only what is in scopes of this kind."""

    all: bool
    """List what is of every user and agent; takes a key with the role `admin`. Without it, and without a user or an agent, only what is in the global scope is listed."""

    owner: str | None
    """Only what is stored for this user, in whatever scope: the user's own, and those of agents with that user."""


class GetMemoryOptions(TypedDict, total=False):
    """Query parameters of `get_memory`."""

    as_of: datetime | str | None
    """What was true then, as far as it is known: only memories that held at this time, whether or not they still do. Replaced ones held until what replaced them began."""

    known_at: datetime | str | None
    """What was believed then: the answer this request had at that time. Nothing recorded, replaced, merged or changed later shows. What was erased since is gone from the past too."""


class GetEntityOptions(TypedDict, total=False):
    """Query parameters of `get_entity`."""

    as_of: datetime | str | None
    """What was true then, as far as it is known: only memories that held at this time, whether or not they still do. Replaced ones held until what replaced them began."""

    known_at: datetime | str | None
    """What was believed then: the answer this request had at that time. Nothing recorded, replaced, merged or changed later shows. What was erased since is gone from the past too."""


BatchItem = Union[ConstraintItem, ControlItem, DecisionItem, DocumentItem, EntityItem, EpisodicItem, EventItem, FactItem, FeatureItem, MedicationItem, PlanItem, PreferenceItem, ProceduralItem, ProgressItem, ReflectionItem, RelationItem, SemanticItem, StandardItem, StrategyItem, TransientStateItem, TenantTypeItem]
"""One typed write of a batch; `type` says which."""

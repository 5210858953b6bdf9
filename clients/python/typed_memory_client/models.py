"""What the service answers with. Generated from the contract by `python -m codegen`: do not edit."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, Union

from pydantic import Discriminator, Field, Tag

from typed_memory_client._base import ACCEPT_UNKNOWN, Model, tag_by

Category = Annotated[Literal["episodic", "semantic", "procedural", "core", "control"], ACCEPT_UNKNOWN]
"""The category of a memory, which determines how it fades, independent of its type."""

class ConfidenceParts(Model):
    """The components of confidence."""

    extractor_confidence: float

    mentions: int

    repetition: float

    source_strength: float

    type_prior: float


class Evidence(Model):
    """The source of a memory."""

    occurred_at: datetime

    quote: str | None

    role: str | None

    session_id: str | None

    turn_id: str | None


LinkKind = Annotated[Literal["supersedes", "contradicts", "conflicts-with", "derived-from"], ACCEPT_UNKNOWN]
"""An edge between two memories."""

class Link(Model):
    """An edge to another memory; `direction` says whether it starts here."""

    direction: Annotated[Literal["out", "in"], ACCEPT_UNKNOWN]

    kind: LinkKind

    memory_id: str


ReviewReason = Annotated[Literal["contradiction", "doubtful", "reported_wrong", "volatile", "constraint", "entity_merge", "asked", "erasure", "withheld"], ACCEPT_UNKNOWN]
"""The reason to review a memory; what is `withheld` waits with another memory, and is no item of its own."""

ScopeKind = Annotated[Literal["global", "user", "agent"], ACCEPT_UNKNOWN]
"""The three visibility buckets of a tenant."""

SpeechAct = Annotated[Literal["assertion", "hypothetical", "roleplay", "sarcasm", "quotation", "question", "negation"], ACCEPT_UNKNOWN]
"""The speech act of a statement; only assertions replace or end memories."""

MemoryStatus = Annotated[Literal["active", "superseded", "expired", "forgotten", "pending"], ACCEPT_UNKNOWN]
"""The status of a memory in its lifecycle; `pending` waits for review and is never recalled."""

class MemoryFields(Model):
    """The fields of every Memory, whatever its type."""

    access_count: int
    """Uses that count: what `not_useful` took back is not among them."""

    agent_id: str | None

    category: Category

    confidence: float

    confidence_parts: ConfidenceParts

    contested: bool

    distinct_sessions: int
    """Sessions it was used in, as far as they are kept (16)."""

    evidence: list[Evidence]

    freshness: float

    id: str

    importance: float

    last_accessed_at: datetime | None

    links: list[Link]

    metadata: dict[str, Any]

    needs_review: bool

    not_useful_count: int

    occurred_at: datetime
    """When it was said, by the latest that said so."""

    provenance: dict[str, Any]

    recorded_at: datetime

    retired_at: datetime | None

    review_reason: ReviewReason | None

    scope: ScopeKind

    slot: str | None
    """The key under which only one value can be true at a time."""

    speech_act: SpeechAct

    stability: float
    """From 0 to 1: grows with uses that lie days apart."""

    status: MemoryStatus

    superseded_by: str | None

    supersedes: str | None

    topic: str | None

    useful_count: int

    user_id: str | None

    valid_from: datetime

    valid_until: datetime | None

    wrong_count: int


class ConstraintMemory(MemoryFields):
    """A hard rule that binds someone or something: what they can't, may not or must do, whatever changes around it; never a wish, a habit or a state."""

    content: str

    predicate: str
    """What it is about, hyphenated: `may-not-` what it forbids, `may-` what it allows, `must-` what it demands. `cannot use`, `must not use` and `is not allowed to use` are kept as `may-not-use`, and so is `may use` with a rule that begins with `no`."""

    rule: str
    """What is forbidden, allowed or demanded."""

    sequence_number: int | None

    session_id: str | None

    severity: Annotated[Literal["low", "medium", "high", "critical"], ACCEPT_UNKNOWN] | None = None
    """How bad it is when it is not kept to."""

    subject: str | None = None
    """Whom or what the rule binds."""

    type: Literal["constraint"]


class ControlMemory(MemoryFields):
    """What to avoid: a meta-rule, an error pattern or a boundary of behaviour."""

    content: str
    """What to avoid, or what must hold."""

    error_pattern: str | None = None
    """The kind of error."""

    sequence_number: int | None

    session_id: str | None

    severity: Annotated[Literal["low", "medium", "high", "critical"], ACCEPT_UNKNOWN] | None = None
    """How bad it is when it is not kept to."""

    source_trajectory_id: str | None = None
    """The run that taught it."""

    subject: str | None

    type: Literal["control"]


class DecisionMemory(MemoryFields):
    """A choice someone made about a piece of work or their life, with its reasons; not a taste or a habit."""

    alternatives: list[str] | None = None
    """What was decided against."""

    content: str

    decision: str
    """What was decided."""

    rationale: str | None = None
    """Why."""

    sequence_number: int | None

    session_id: str | None

    subject: str
    """What is decided about; a later decision on it replaces this one."""

    type: Literal["decision"]


class DocumentMemory(MemoryFields):
    """A section of a document, word for word: what a source says, not what anybody said."""

    content: str
    """The words of the section."""

    document_id: str
    """The document that it is a section of."""

    section: str | None = None
    """The headings it stands under."""

    sequence_number: int | None

    session_id: str | None

    subject: str | None

    title: str | None = None
    """The title of the document."""

    type: Literal["document"]


class EntityMemory(MemoryFields):
    """Someone or something with an identity: a person, an organization, a place, a project."""

    aliases: list[str] | None = None

    attributes: dict[str, str] | None = None

    canonical_name: str

    content: str

    entity_type: str
    """person, organization, place, project, ..."""

    sequence_number: int | None

    session_id: str | None

    subject: str | None

    type: Literal["entity"]


class EpisodicMemory(MemoryFields):
    """What happened in an interaction, kept in the order of its session."""

    content: str
    """What was said or done."""

    sequence_number: int | None = None

    session_id: str
    """The conversation it belongs to."""

    speaker: str | None = None
    """Who said it."""

    subject: str | None

    type: Literal["episodic"]


TimePrecision = Annotated[Literal["exact", "day", "week", "month", "approximate", "unknown"], ACCEPT_UNKNOWN]
"""The precision of a time."""

class EventMemory(MemoryFields):
    """Something that happened at a time, or will; two events never replace one another."""

    content: str

    event_at: datetime | str | None = None
    """When: a date, or a date and time; without an offset it is in the request's time zone."""

    event_at_precision: TimePrecision | None = None
    """How exactly the time is known; by default as exact as it is written."""

    event_description: str
    """What happened."""

    participants: list[str] | None = None
    """Who took part."""

    sequence_number: int | None

    session_id: str | None

    subject: str | None

    type: Literal["event"]


class FactMemory(MemoryFields):
    """A stable predicate about someone or something, true until it is replaced."""

    content: str

    object: str
    """The value: an entity's name or a literal."""

    predicate: str
    """What is said, hyphenated."""

    sequence_number: int | None

    session_id: str | None

    stateful: bool | None = None
    """Whether only one value can be true at a time, so that another one replaces it; false where several stand side by side. If not given, what the slot holds already decides, then the predicate."""

    subject: str | None = None
    """Who or what the fact is about."""

    type: Literal["fact"]


class FeatureMemory(MemoryFields):
    """Whether a feature is done, and what is known about it."""

    content: str
    """Whether a feature is done, and what is known about it."""

    feature_key: str | None = None
    """The feature; a later statement on it replaces this one."""

    feature_status: str | None = None
    """Such as `in_progress` or `complete`."""

    sequence_number: int | None

    session_id: str | None

    subject: str | None

    type: Literal["feature"]


class MedicationMemory(MemoryFields):
    """A medicine that someone takes, with its dosage; never an illness or a wish."""

    active: bool | None = None
    """Whether it is taken now."""

    content: str

    dosage: str | None = None
    """How much."""

    drug_class: str | None = None
    """What kind of medicine it is."""

    ended_at: str | None = None
    """Until when."""

    frequency: str | None = None
    """How often."""

    medication_name: str
    """The medicine."""

    prescribed_by: str | None = None
    """Who prescribed it."""

    sequence_number: int | None

    session_id: str | None

    started_at: str | None = None
    """Since when."""

    subject: str | None = None
    """Who takes it."""

    type: Literal["medication"]


class PlanMemory(MemoryFields):
    """An intention with a time ahead of it: a trip, a goal, something to be done."""

    content: str

    plan: str
    """What is intended, as a verb."""

    sequence_number: int | None

    session_id: str | None

    subject: str | None = None
    """Who intends it."""

    type: Literal["plan"]


class PreferenceMemory(MemoryFields):
    """A choice someone makes and may change: settings, likes, ways of working."""

    content: str

    preference_key: str
    """`domain.attribute`: the choice that is made."""

    preference_value: str
    """What is preferred."""

    sequence_number: int | None

    session_id: str | None

    subject: str | None = None
    """Whose preference it is."""

    type: Literal["preference"]


class ProceduralMemory(MemoryFields):
    """How to do something: a workflow, routine or habit that someone follows, with its steps."""

    content: str
    """What to do."""

    sequence_number: int | None

    session_id: str | None

    steps: list[str] | None = None
    """The steps, in order."""

    subject: str | None

    trigger_conditions: list[str] | None = None
    """When to apply it; a later procedure for the same occasion replaces this one."""

    type: Literal["procedural"]


class ProgressMemory(MemoryFields):
    """How far the work of a session has come."""

    content: str
    """How far the work of a session has come."""

    sequence_number: int | None

    session_id: str | None = None
    """The session whose progress it is."""

    subject: str | None

    type: Literal["progress"]


class ReflectionMemory(MemoryFields):
    """A lesson learnt from something that went wrong."""

    content: str
    """A lesson learnt from something that went wrong."""

    sequence_number: int | None

    session_id: str | None

    subject: str | None

    type: Literal["reflection"]


class RelationMemory(MemoryFields):
    """A typed edge from one named entity to another; where none of the relation types fits, it is a fact."""

    content: str

    from_entity: str
    """Name of the entity the edge starts at."""

    relation_type: str
    """One of reports-to, manages, works-with, member-of, owns, created, uses, located-at, or a synonym."""

    sequence_number: int | None

    session_id: str | None

    since: datetime | str | None = None

    subject: str | None

    to_entity: str
    """Name of the entity the edge ends at."""

    type: Literal["relation"]


class SemanticMemory(MemoryFields):
    """Something known for good, as a sentence; saying it again, or nearly so, merges."""

    content: str
    """What is known."""

    entity_id: str | None = None
    """The user, project or concept it is about, by name, by an id of your own, or by its id here (`ent_...`), which must be that of an entity in the scope the memory is written to."""

    sequence_number: int | None

    session_id: str | None

    subject: str | None

    type: Literal["semantic"]


class StandardMemory(MemoryFields):
    """Anything worth remembering that no other type fits."""

    content: str
    """Anything worth remembering that no other type fits."""

    sequence_number: int | None

    session_id: str | None

    subject: str | None

    type: Literal["standard"]


class StrategyMemory(MemoryFields):
    """A strategy that worked and is worth using again."""

    content: str
    """A strategy that worked and is worth using again."""

    sequence_number: int | None

    session_id: str | None

    subject: str | None

    type: Literal["strategy"]


class TransientStateMemory(MemoryFields):
    """A condition that will pass within days yet matters until then; never a mood of the moment."""

    content: str

    kind: str | None = None
    """What kind of state; the latest of a kind replaces the one before."""

    sequence_number: int | None

    session_id: str | None

    state: str
    """The state, as it follows `is`."""

    subject: str | None = None
    """Who is in this state."""

    type: Literal["transient_state"]


class TenantTypeMemory(MemoryFields):
    """A memory of a type of your own."""

    content: str

    payload: dict[str, Any]
    """The type's fields, by the schema of that version."""

    sequence_number: int | None

    session_id: str | None

    subject: str | None

    type: str

    type_version: int
    """The version of the type's definition that it was written with."""


Memory = Annotated[
    Union[
        Annotated[ConstraintMemory, Tag("constraint")],
        Annotated[ControlMemory, Tag("control")],
        Annotated[DecisionMemory, Tag("decision")],
        Annotated[DocumentMemory, Tag("document")],
        Annotated[EntityMemory, Tag("entity")],
        Annotated[EpisodicMemory, Tag("episodic")],
        Annotated[EventMemory, Tag("event")],
        Annotated[FactMemory, Tag("fact")],
        Annotated[FeatureMemory, Tag("feature")],
        Annotated[MedicationMemory, Tag("medication")],
        Annotated[PlanMemory, Tag("plan")],
        Annotated[PreferenceMemory, Tag("preference")],
        Annotated[ProceduralMemory, Tag("procedural")],
        Annotated[ProgressMemory, Tag("progress")],
        Annotated[ReflectionMemory, Tag("reflection")],
        Annotated[RelationMemory, Tag("relation")],
        Annotated[SemanticMemory, Tag("semantic")],
        Annotated[StandardMemory, Tag("standard")],
        Annotated[StrategyMemory, Tag("strategy")],
        Annotated[TransientStateMemory, Tag("transient_state")],
        Annotated[TenantTypeMemory, Tag("")],
    ],
    Discriminator(tag_by("type", "constraint", "control", "decision", "document", "entity", "episodic", "event", "fact", "feature", "medication", "plan", "preference", "procedural", "progress", "reflection", "relation", "semantic", "standard", "strategy", "transient_state")),
]
"""A memory: of a built-in type, told apart by `type`, or of one of your own, which alone has `payload`."""

class ReviewSide(Model):
    """A memory that conflicts with the item."""

    memory: Memory

    relation: LinkKind

    same_value: bool


ReviewAction = Annotated[Literal["accept", "reject", "keep_both", "supersede_with", "merge", "end"], ACCEPT_UNKNOWN]
"""An action of a reviewer on an item."""

class Suggestion(Model):
    """The action that the rules suggest, and the reason."""

    action: ReviewAction

    reason: str

    with_: str | None = Field(..., alias="with")
    """The memory that the action names, if it names one."""


class ReviewItem(Model):
    """A memory that waits for a decision; `version` changes when it or one of its sides does."""

    age_seconds: float

    id: str

    memory: Memory

    note: str | None

    reason: ReviewReason

    sides: list[ReviewSide]

    since: datetime

    suggestion: Suggestion

    version: str


class ReviewPage(Model):
    """Some items."""

    items: list[ReviewItem]

    next_cursor: str | None


class Ages(Model):
    """Numbers of items by age."""

    a_day_to_a_week: int

    a_week_to_a_month: int

    over_a_month: int

    under_a_day: int


class Waiting(Model):
    """Numbers of items of one reason."""

    ages: Ages

    oldest: datetime

    reason: ReviewReason

    waiting: int


class Summary(Model):
    """Numbers of items, by reason and age."""

    reasons: list[Waiting]

    waiting: int


class Decided(Model):
    """The event by which an item left the queue."""

    at: datetime

    by: str

    detail: dict[str, Any]

    event: str
    """`review.decided`, or what else settled it."""


class TurnExcerpt(Model):
    """A turn."""

    content: str

    occurred_at: datetime

    role: str

    speaker: str | None

    turn_id: str


class Passage(Model):
    """The statement within its conversation; without a turn if that is not stored."""

    after: list[TurnExcerpt]

    before: list[TurnExcerpt]

    occurred_at: datetime

    quote: str | None

    role: str | None

    turn: TurnExcerpt | None


class Affected(Model):
    """Another memory that a write changed, and the change."""

    change: str

    memory_id: str


class Preview(Model):
    """The outcome of accepting the item now."""

    affected: list[Affected]

    memory_id: str | None

    outcome: str


class NearDuplicate(Model):
    """A memory that may say the same, by cosine."""

    memory: Memory

    similarity: float


class ReviewDetail(Model):
    """An item with its details; of an item that left the queue, how it left."""

    decided: Decided | None

    evidence: list[Passage]

    id: str

    if_accepted: Preview | None

    item: ReviewItem | None

    memory: Memory | None

    near: list[NearDuplicate]

    open: bool


class Receipt(Model):
    """The receipt of an erasure."""

    counts: dict[str, int]
    """Rows erased, by table; `memories` and `turns` always, 0 for a user of whom nothing was stored."""

    digest: str | None
    """The same with the SHA-256 of what each said after its id and a space: `mem_... 9f86...`."""

    finished_at: datetime | None

    id: str

    ids: list[str] | None = None
    """The erased ids, on request."""

    ids_digest: str | None
    """SHA-256 of the ids of the memories and turns that were erased, sorted, each with a line end."""

    job_id: str | None = None
    """The job that does it, for one that takes long."""

    kept: list[str] | None = None
    """Memories that rest on the same turns and stay; for a memory's erasure."""

    kind: Annotated[Literal["memory", "user", "document"], ACCEPT_UNKNOWN]

    matched: int
    """Rows found and erased so far, of every table."""

    started_at: datetime

    status: Annotated[Literal["running", "finished", "nothing_matched"], ACCEPT_UNKNOWN]
    """`nothing_matched` if there was nothing to erase, which a mistaken id looks like, too."""

    still_there: int | None = None
    """Number of erased rows that are in the database now; 0 unless something is wrong."""

    turns: list[str] | None = None
    """Turns that still hold words of the erased memory, newest 5,000 turns of its scope looked through; `with_turns=true` erases them with it."""

    unsupported: list[str] | None = None
    """Those of `kept` that no turn says any more, because it was erased with the memory."""

    user_id_sha256: str | None
    """SHA-256 of the tenant's id, a colon and the user's id: the receipt names nobody."""


class ReviewOutcome(Model):
    """The outcome of a decision."""

    action: ReviewAction

    affected: list[Affected]

    id: str

    memory: Memory | None

    outcome: str

    receipt: Receipt | None = None
    """The receipt of the erasure, where the user asked to forget it and it was accepted."""


class ReviewUndone(Model):
    """The item's memory as it is again, and other memories that changed back."""

    affected: list[Affected]

    memory: Memory | None

    outcome: str


class Agent(Model):
    """An agent."""

    active: int

    agent_id: str

    last_active_at: datetime | None
    """Time of the last write of a memory, an import included, or of the last turn."""

    memories: int
    """Of every status."""

    turns: int

    waiting: int
    """Memories that wait for a reviewer."""


class AgentPage(Model):
    """Some agents, in the order of their ids."""

    agents: list[Agent]

    next_cursor: str | None


class Source(Model):
    """The turn that a memory rests on, and whose it was."""

    role: str | None

    turn_id: str | None


class RecalledMemory(Model):
    """A memory as questions are answered with it, besides the fields of its type; `details` gives all of it."""

    content: str

    evidence: list[Source]

    id: str

    metadata: dict[str, Any]

    occurred_at: datetime
    """When it was said, by the latest that said so."""

    sequence_number: int | None

    session_id: str | None

    slot: str | None
    """The key under which only one value can be true at a time."""

    status: MemoryStatus

    subject: str | None

    topic: str | None

    type: str

    valid_until: datetime | None


class Answer(Model):
    """An answer, and the memories that it rests on; without one, `abstained` says why."""

    abstained: str | None

    citations: list[RecalledMemory]

    model: str

    text: str | None


class Entity(Model):
    """An entity and its names."""

    agent_id: str | None

    aliases: list[str]

    attributes: dict[str, Any]

    canonical_name: str

    created_at: datetime

    entity_type: str

    id: str

    mention_count: int

    merged: list[str]
    """Entities that were merged into it; what is known of them is its own."""

    merged_into: str | None
    """The entity that its names lead to now."""

    scope: ScopeKind

    user_id: str | None


class EntityPage(Model):
    """Some entities."""

    entities: list[Entity]

    next_cursor: str | None


class FormerAttribute(Model):
    """A value that an attribute had."""

    name: str

    retired_at: datetime
    """When the service learnt another value."""

    value: Any


class EntityDetail(Model):
    """An entity with its names, its attributes, and the values that these had before."""

    agent_id: str | None

    aliases: list[str]

    attributes: dict[str, Any]

    canonical_name: str

    created_at: datetime

    entity_type: str

    former_attributes: list[FormerAttribute]
    """The latest first."""

    id: str

    mention_count: int

    merged: list[str]
    """Entities that were merged into it; what is known of them is its own."""

    merged_into: str | None
    """The entity that its names lead to now."""

    scope: ScopeKind

    user_id: str | None


class End(Model):
    """One end of an edge."""

    id: str

    name: str


class Edge(Model):
    """A relation between two entities, and the memory that states it."""

    from_entity: End

    hop: int

    memory_id: str

    relation_type: str

    since: datetime | None

    to_entity: End


class Graph(Model):
    """An entity and the relations around it, nearest first."""

    entity: Entity

    relations: list[Edge]


class JobProgress(Model):
    """The progress of a job; `total` is null if it isn't known."""

    done: int

    total: int | None


JobStatus = Annotated[Literal["queued", "running", "succeeded", "failed", "cancelled"], ACCEPT_UNKNOWN]
"""The status of a background job; the last three are final."""

class Job(Model):
    """A background job. `error` says why it failed, or why it is retried."""

    attempts: int

    cancel_requested: bool

    created_at: datetime

    error: str | None

    finished_at: datetime | None

    id: str

    kind: str

    progress: JobProgress

    result: dict[str, Any] | None
    """The result, by kind: of `ingest`, `turns`, each with its `status` and `candidates`, and of these the `type`, `decision`, `reason` and `memory_id`. Null until it has succeeded."""

    started_at: datetime | None

    status: JobStatus


class JobPage(Model):
    """Some jobs, newest first."""

    jobs: list[Job]

    next_cursor: str | None


class MemoryPage(Model):
    """Some memories."""

    memories: list[Memory]

    next_cursor: str | None


WriteDecision = Annotated[Literal["added", "merged", "superseded", "contradicted", "ended", "review", "rejected"], ACCEPT_UNKNOWN]
"""The decision of a write, in the words of the API."""

class FieldError(Model):
    """A fault of a field: its path with dots, and the message."""

    field: str

    message: str


class Problem(Model):
    """RFC 9457 problem details."""

    detail: str

    errors: list[FieldError] | None = None
    """The fields at fault, if there are any."""

    instance: str
    """The path that was asked for."""

    request_id: str

    status: int

    title: str

    type: str
    """Stable name of the kind of problem."""


class BatchItem(Model):
    """One item's outcome."""

    affected: list[Affected] | None = None

    decision: WriteDecision | None = None

    index: int

    memory: Memory | None = None

    problem: Problem | None = None

    reason: str | None = None

    status: int


class BatchResult(Model):
    """Outcomes in the order of the batch."""

    results: list[BatchItem]


class WriteResult(Model):
    """The decision of a write, and its reason."""

    affected: list[Affected]

    decision: WriteDecision

    memory: Memory | None

    reason: str


FeedbackEffect = Annotated[Literal["counted", "revived", "sent_to_review", "marked_for_review", "already_in_review"], ACCEPT_UNKNOWN]
"""The effect of feedback on a memory."""

FeedbackKind = Annotated[Literal["useful", "not_useful", "wrong"], ACCEPT_UNKNOWN]
"""A caller's feedback on a memory."""

class Freshness(Model):
    """Freshness at this time, without and with this feedback."""

    after: float

    before: float


class FeedbackResult(Model):
    """The memory after the feedback, and the effect of the feedback."""

    effect: FeedbackEffect

    feedback: FeedbackKind

    freshness: Freshness

    memory: Memory

    reason: str


class AuditEvent(Model):
    """An audit event: `sentence` describes it for people, `detail` has its ids and numbers."""

    action: str

    actor: str

    at: datetime

    detail: dict[str, Any]

    id: str

    memory_id: str | None

    redacted: bool
    """The detail was emptied by an erasure."""

    sentence: str


class History(Model):
    """Every version of a belief, oldest statement first, and their audit events."""

    events: list[AuditEvent]

    versions: list[Memory]


class Group(Model):
    """One group of the context block."""

    lines: list[str]

    name: str


class Context(Model):
    """The context block for a prompt; its `groups` are details."""

    groups: list[Group]

    text: str

    tokens: int


class Arm(Model):
    """The rank of a memory in a retrieval arm."""

    arm: str

    contribution: float

    rank: int

    scaled: float

    score: float


class Hit(Model):
    """A found memory: answers are ordered by score; relevance is its fit to the question by itself.

`marks` say why what it says is not how things are, or how often it was said. `arms` and `notes` are details."""

    arms: list[Arm]

    confidence: float

    freshness: float

    marks: list[str]

    memory: RecalledMemory

    notes: list[str]

    relevance: float

    retrieval: float

    score: float


class QueryResult(Model):
    """Memories, best first, and the context block made of them."""

    context: Context

    degraded: list[str]

    memories: list[Hit]

    plan: dict[str, Any] | None

    took_ms: float

    understood: dict[str, Any]


class Queue(Model):
    """The backlog of jobs of all tenants together."""

    depth: int

    oldest_seconds: float


class Ready(Model):
    """The readiness to serve requests; `reasons` are the faults that prevent it, `degraded` lesser ones."""

    degraded: dict[str, str]

    queue: Queue | None

    ready: bool

    reasons: dict[str, str]


class Session(Model):
    """A session that memories come from."""

    first_at: datetime

    last_at: datetime

    memories: int

    session_id: str

    turns: int


class SessionPage(Model):
    """Some sessions, in the order of their ids."""

    next_cursor: str | None

    sessions: list[Session]


class Candidate(Model):
    """A candidate of a turn, the decision on it, and the reason."""

    affected: list[Affected]

    confidence: float | None

    content: str | None

    decision: WriteDecision

    memory_id: str | None

    quote: str | None
    """The words of the turn it relies on; null for the turn itself."""

    reason: str

    speech_act: SpeechAct

    type: str


Role = Annotated[Literal["user", "assistant", "tool", "system"], ACCEPT_UNKNOWN]
"""The role of a turn's author, which caps the source strength."""

TurnStatus = Annotated[Literal["received", "processed", "skipped", "extraction_failed"], ACCEPT_UNKNOWN]
"""The status of a turn; received turns wait to be processed."""

class Dropped(Model):
    """An item that a stage dropped."""

    reason: str

    what: str


class Stage(Model):
    """The numbers of items into and out of a stage, those it dropped, and its milliseconds."""

    dropped: list[Dropped]

    kept: int

    notes: list[str]

    seen: int

    stage: str

    took_ms: float


class Turn(Model):
    """A turn and its report; `id` is null in a dry run."""

    agent_id: str | None

    candidates: list[Candidate]

    category: Category | None

    content: str

    id: str | None

    importance: float | None

    metadata: dict[str, Any]

    occurred_at: datetime

    processed_at: datetime | None

    reason: str | None

    recorded_at: datetime | None

    role: Role

    scope: ScopeKind

    sequence_number: int | None

    session_id: str | None

    speaker: str | None

    status: TurnStatus

    timezone: str

    trace: list[Stage]

    user_id: str | None


class TurnPage(Model):
    """Some turns."""

    next_cursor: str | None

    turns: list[Turn]


class AppliedInstructions(Model):
    """The instructions that turns are extracted by: the tenant's, then the request's."""

    exclude: list[str]
    """What either excludes."""

    include: list[str]

    instructions: list[str]
    """In plain words, one after another."""

    named: list[str]
    """Those of `exclude` that name a memory type or a predicate, and so hold whatever is proposed."""

    told: str | None
    """The text that the language model is shown below its fixed instructions; null for the built-in rules, which read no words."""


class Ignored(Model):
    """A message without anything to remember: its position in the request, from 0, and the reason.

With `fields`, it is kept, without these fields or content parts."""

    fields: list[str]

    place: int

    reason: str


class TurnsResult(Model):
    """Turns with their reports; `job_id` is the job that processes those that wait."""

    degraded: list[str]

    extraction: AppliedInstructions | None
    """In a dry run, the instructions that apply; null without any."""

    ignored: list[Ignored]

    job_id: str | None

    turns: list[Turn]


class User(Model):
    """A user."""

    active: int

    last_active_at: datetime | None
    """Time of the last write of a memory, an import included, or of the last turn."""

    memories: int
    """Of every status."""

    turns: int

    user_id: str

    waiting: int
    """Memories that wait for a reviewer."""


class UserPage(Model):
    """Some users, in the order of their ids."""

    next_cursor: str | None

    users: list[User]


class Profile(Model):
    """The profile of a user: a block to paste, its size, its groups, and the memories in it."""

    groups: list[Group]

    memory_ids: list[str]

    text: str

    tokens: int

    user_id: str


class WhoAmI(Model):
    """The key that the request carries, and its tenant."""

    agent_id: str | None
    """The agent that the key is bound to."""

    key_id: str | None

    key_name: str

    roles: list[str]

    tenant: str

    tenant_id: str

    user_id: str | None
    """The user that the key is bound to."""


class ReviewMoved(Model):
    """The item has changed: its new state."""

    decided: Decided | None = None

    detail: str

    errors: list[FieldError] | None = None
    """The fields at fault, if there are any."""

    instance: str
    """The path that was asked for."""

    item: ReviewItem | None = None

    request_id: str

    status: int

    title: str

    type: str
    """Stable name of the kind of problem."""

"""The query request, and the frozen values between the read stages.

QueryRequest -> QuestionReading -> ParsedQuery -> Arms -> Fused -> Ranked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import Final, NamedTuple
from uuid import UUID

from app.lexical.labels import Label
from app.model import Memory, ReadMode, Visibility

OPENING: Final = 400
"""Characters of a memory that are compared with a question: with more, a long text has a near word for everything."""


class IdStyle(StrEnum):
    """The name of a memory on its line of the context: none, its place among the answers, or its id."""

    NONE = "none"
    SHORT = "short"
    FULL = "full"


class HeedMode(StrEnum):
    """The heeded memories that the context shows: those that the question touches, all, or none."""

    AUTO = "auto"
    ALL = "all"
    NONE = "none"


class HeededLine(NamedTuple):
    """A memory that the answer must heed, and why it is shown."""

    memory: UUID
    type: str
    content: str
    stated_at: datetime
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryRequest:
    """One question. `now` is aware, in the caller's time zone: windows such as "yesterday" go by it.

    `types` are canonical type names, empty for all; `metadata` are what the metadata of memories contain.
    `min_confidence` None means the floor of the mode, `min_relevance` None the floors of relevance; 0 fills up to
    `top_k`. Of the session that asks, the last `recent_turns` turns are left out: the caller still has them.
    `token_budget` bounds the context block. `widens`: a question that gathers its answer from many statements gets more
    than `top_k`. `as_of`: what was true then; `known_at`: what was believed then.
    """

    query: str
    now: datetime
    visibility: Visibility = field(default_factory=Visibility)
    session_id: str | None = None
    types: tuple[str, ...] = ()
    topic: str | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)
    top_k: int = 12
    widens: bool = False
    recent_turns: int = 20
    mode: ReadMode | None = None
    as_of: datetime | None = None
    known_at: datetime | None = None
    min_confidence: float | None = None
    min_relevance: float | None = None
    token_budget: int = 2000
    ids: IdStyle = IdStyle.NONE
    heed: HeedMode = HeedMode.AUTO
    rerank: bool = False
    explain: bool = False

    @property
    def narrowed(self) -> bool:
        """Whether the caller leaves out matches by something else than scope and time."""
        least = (self.min_confidence, self.min_relevance)
        return bool(self.types or self.topic or self.metadata) or least != (None, None)


class ArmHit(NamedTuple):
    """The place of a memory in an arm: rank from 1, raw score, score scaled to 0..1, share of the fused score."""

    arm: str
    rank: int
    score: float
    scaled: float
    contribution: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A memory that answers, with what its place is made of: retrieval x confidence^c x freshness^g x factors.

    `marks` say why what it says is not how things are: `replaced 2026-10-15`, `imagined`, `said by a tool`; or how
    often it was said: `said 3 times since 2026-05-01`. `later` are turns that may have changed it. `beside`: something
    older answers, as it tells of another, of a while or of what may be.
    """

    memory: Memory
    score: float
    retrieval: float
    confidence: float
    freshness: float
    arms: tuple[ArmHit, ...]
    notes: tuple[str, ...] = ()
    relevance: float = 1.0
    marks: tuple[str, ...] = ()
    later: tuple[UUID, ...] = ()
    beside: bool = False


class Cut(NamedTuple):
    """A match that was not returned, and why."""

    id: UUID
    relevance: float
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextGroup:
    """One of the six groups of the context block: its name and one line a memory."""

    name: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextBlock:
    """The block to paste into a prompt, its size in tokens, its groups, and what of it the answer must heed."""

    text: str
    tokens: int
    groups: tuple[ContextGroup, ...]
    heeded: tuple[HeededLine, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryResult:
    """The answer: hits best first, the context made of them, and how the question was read."""

    hits: tuple[Hit, ...]
    context: ContextBlock
    understood: Mapping[str, object]
    plan: Mapping[str, object] | None
    took_ms: float
    degraded: tuple[str, ...] = ()


class Arm(StrEnum):
    """A way to find memories; each returns its own ranked list."""

    SEMANTIC = "semantic"
    SEMANTIC_CONTEXT = "semantic_context"
    LEXICAL = "lexical"
    LEXICAL_CONTEXT = "lexical_context"
    GRAPH = "graph"
    TEMPORAL = "temporal"

    __hash__ = str.__hash__  # an enum's own is written in Python, and a question looks up thousands of places


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A half-open range of time the question names; None: open on that side.

    `told`: what was only said in it counts, too, not just what happened in it.
    """

    lower: datetime | None
    upper: datetime | None
    told: bool = True


class Span(NamedTuple):
    """Character offsets of a piece of the question, end exclusive."""

    start: int
    end: int


class Gram(NamedTuple):
    """A run of words of the question that may be a name, normalised as aliases are."""

    name: str
    span: Span
    words: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Belonging:
    """A possession that the question names: `alias` is `user's sister`, `noun` is `sister`, `owner` is at `my`."""

    alias: str
    noun: str
    span: Span
    owner: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionReading:
    """The meaning of the question's words alone, before names are looked up.

    `hinted` are the types that words of the question hint at, or the way it asks, `hint_words` those words. `grams`
    are the names to look up. `before` is where the question says before what: "before Volkswagen", unless that is a
    time. `capitalised` are words that may be names, `open_spans` the words of windows that are open on one side,
    `asker_spans` words for the asker or that only ask. `own_asked`: predicates that ask of one's own life. `denied`: it
    is in the negative. `asks_back`: it asks what the assistant said; `looks_back`: how things were, or what was said;
    `asks_what_happened`, `asks_what_was_told`: whatever happened, or was told, then. `fallback`: windows that answer
    where nothing happens in `windows`. `gathers`: for several statements. `goes_on`: with what was worked out.
    """

    text: str
    grams: tuple[Gram, ...]
    belongings: tuple[Belonging, ...]
    terms: tuple[str, ...]
    windows: tuple[Window, ...]
    fallback: tuple[Window, ...]
    window_spans: tuple[Span, ...]
    open_spans: tuple[Span, ...]
    given_types: tuple[str, ...]
    hinted: tuple[str, ...]
    hint_words: Mapping[str, frozenset[str]]
    predicates: tuple[str, ...]
    excluded_words: tuple[str, ...]
    excluded_spans: tuple[Span, ...]
    denied: bool
    about_now: bool
    about_past: bool
    wants_newest: bool
    asks_back: bool
    looks_back: bool
    asks_what_happened: bool
    asks_what_was_told: bool
    before: Span | None
    capitalised: tuple[Span, ...]
    asker_spans: tuple[Span, ...]
    own_asked: frozenset[str]
    mode: ReadMode
    mode_given: bool
    language: str
    gathers: bool = False
    goes_on: bool = False

    @property
    def asks(self) -> bool:
        """Whether it ends as a question."""
        return self.text.rstrip().endswith("?")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedEntity:
    """An entity that the question names, with all its ids (those merged into it included).

    `rarity` in 0..1 says how much naming it narrows things down: near 0 when every memory mentions it.
    """

    name: str
    entity_type: str
    ids: tuple[UUID, ...]
    rarity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Mentioned:
    """A name in the question, and the entities it stands for (one per scope that knows the name)."""

    span: Span
    text: str
    entities: tuple[NamedEntity, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """The event before which the question looks: the entities it names, or its words, normalised.

    `subjects`: whose, as subjects of memories are written; empty where the question doesn't say.
    """

    entities: frozenset[str]
    words: str
    subjects: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeFilter:
    """The types that may answer: `only` is a hard filter, empty for none, `preferred` are ranked higher.

    `inferred`: it was read out of the question, so that an empty answer may relax it. `within`: only what happened in
    one of the question's windows may answer; "last Tuesday" has two, that of last week and the one that came last.
    """

    only: tuple[str, ...] = ()
    preferred: tuple[str, ...] = ()
    inferred: bool = False
    within: bool = False

    def relaxed(self) -> TypeFilter:
        """Return a filter that lets everything through and prefers the types of this one."""
        return TypeFilter(preferred=self.only)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exclusions:
    """Things that the asker does not want to hear about: entities by their ids and names, and other words."""

    entities: tuple[UUID, ...] = ()
    names: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ParsedQuery:
    """The question, understood: `reading` is what its words say, the rest what the names in it add to that.

    `dense_text` is what is embedded; `terms` what the lexical arm looks for, and `lent` those of them that the question
    does not say, of names of what it calls its own (`my sister`), with how many memories are about the one so named.
    `about_now` and `about_past`: it asks in words how things are now, or were. `before`: what replaced the answer
    ("before Volkswagen"). `wants_newest`: of two answers the newer one is right. `names_only`: it says nothing but
    names, or asks of the asker, so it asks for all about them. `assistants`: the entities that the assistant speaks as.
    `anchors`: the ids of whom chains of statements begin with: those it names, and the one who asks.
    `unknown_names`: capitalised words that name nothing known, which may be part of a speaker's name. `labels`: things
    that it tells apart by a number. `about`: the names, normalised, of those about whom it asks something.
    """

    reading: QuestionReading
    dense_text: str
    terms: tuple[str, ...]
    lent: Mapping[str, int]
    mentioned: tuple[Mentioned, ...]
    anchors: tuple[UUID, ...]
    types: TypeFilter
    excluded: Exclusions
    predicates: tuple[str, ...]
    relations: tuple[str, ...]
    about_now: bool
    about_past: bool
    before: Before | None
    wants_newest: bool
    names_only: bool
    assistants: frozenset[UUID]
    unknown_names: tuple[str, ...]
    labels: frozenset[Label]
    about: frozenset[str]
    specificity: float
    mode: ReadMode

    @cached_property
    def named(self) -> tuple[Mentioned, ...]:
        """The mentioned that the question names by words of its own, as it does not name the one who asks."""
        return tuple(one for one in self.mentioned if one.span.end)

    @cached_property
    def names_people(self) -> bool:
        """Whether it names somebody: what is asked of people is seldom said by a name of theirs alone."""
        return any(one.entity_type == "person" for each in self.named for one in each.entities)

    @cached_property
    def asked_predicates(self) -> frozenset[str]:
        """The predicates and relations that the question asks for."""
        return frozenset((*self.predicates, *self.relations)) - {""}


class Scaling(StrEnum):
    """The scaling of an arm's scores to 0..1: by the list's range, by its best, as they are, or all equal."""

    RANGE = "range"
    BEST = "best"
    NONE = "none"
    EQUAL = "equal"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryPlan:
    """The numbers by which a kind of question is answered, and a sentence that says why.

    Retrieval: `weights` of arms (one that is missing is not asked), `scaling` of their scores, `depth` an arm may
    nominate; `questions` is the share by which a memory gains in meaning from the best of the questions it answers
    (0: they are not looked at). Fusion: an arm adds `weight x (scaled + rank_share x sqrt(scaled) / (k + rank))`.
    Ranking: of the first `considered` the first `compared` gain up to `words` for the nearness of their words to the
    question's; a word of the turn before counts `said_before` of one of its own. In the end they gain up to `around` of
    the best score for the words of their session, and as much for those of the turns around them. All are ranked by
    `retrieval x confidence^c x freshness^g`, with the exponents `confidence` and `freshness`. A turn takes the share
    `neighbours` of the better of the turns beside it, times `farther` of those two away; a turn of `brevity` words
    takes half of that, a longer one less; in a chat with an assistant all take `beside_assistant` of it. The rest
    multiply scores: `question` those of turns that only ask, up to `told_in_question` those that ask and tell of the
    speaker, by the share that tells, but not that of the best turn of a session; a person's turn after one that asks
    has at least `answer` of what that has without. `speaker` multiplies those said by the one person the question
    names, `asked_back` those of the assistant when the question asks what it said or goes on with it, `assistant` those
    of the assistant otherwise, `type_hint` those of a type the question hints at, `elsewhen` those that happened at
    another time than the question names, `misnumbered` what is about another number, `others` what is said of others
    than the question is about, `history` replaced ones when history is asked for. When it wants the newest, those of
    the first `reordered` with the share `rival` of the best retrieval score gain `newest / (1 + days behind it)`.
    """

    name: str
    why: str
    weights: Mapping[Arm, float]
    scaling: Mapping[Arm, Scaling]
    rank_share: float
    k: float
    depth: int
    questions: float
    considered: int
    confidence: float
    freshness: float
    compared: int
    words: float
    said_before: float
    around: float
    neighbours: float
    beside_assistant: float
    farther: float
    brevity: float
    question: float
    told_in_question: float
    answer: float
    speaker: float
    asked_back: float
    assistant: float
    type_hint: float
    elsewhen: float
    misnumbered: float
    others: float
    history: float
    newest: float
    rival: float
    reordered: int


Scored = tuple[UUID, float]


class Link(NamedTuple):
    """A statement, and one that leads to it: it says something of the object of that one; None where nothing leads."""

    memory: UUID
    came_from: UUID | None
    subject: UUID | None
    predicate: str


Arms = Mapping[Arm, Sequence[Scored]]
"""Each arm's list, best first."""

ArmPlace = tuple[int, float, float, float]
"""A place in an arm's list: rank from 1, raw score, score scaled to 0..1, what it adds to fusion."""

Places = Mapping[Arm, ArmPlace]
"""The places of a memory in the lists of the arms that nominated it."""

Note = str | tuple[str, float]
"""What moved a match, or that with its number, which only what is shown is worded with (`worded`)."""


def worded(notes: Sequence[Note]) -> tuple[str, ...]:
    """Return notes as they are shown."""
    return tuple(one if isinstance(one, str) else one[0].format(one[1]) for one in notes)


class Fused(NamedTuple):
    """A memory after fusion: its retrieval score, its places in the arms' lists, and what its words added.

    `around`: that of the words around it, as a share of the best score. Tuples take a third of the time of dataclasses.
    """

    id: UUID
    retrieval: float
    places: Places
    words: float = 0.0
    around: float = 0.0


class Ranked(NamedTuple):
    """A memory after ranking: the score, what it is made of, what else moved it, and why it isn't how things are.

    `disputed` is the part of the score's factors that is due to contradictions and to a slot that changes too often.
    `later`, newest first, and `beside` are those of a hit.
    """

    id: UUID
    score: float
    retrieval: float
    confidence: float
    freshness: float
    places: Places
    notes: tuple[Note, ...] = ()
    relevance: float = 1.0
    marks: tuple[str, ...] = ()
    disputed: float = 1.0
    later: tuple[UUID, ...] = ()
    beside: bool = False

"""A model's answer as proposals: the memories that can be used, and what is wrong with each of the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from app.english.erasure_requests import ErasureRequest, request_for
from app.lexical.bm25 import text_language
from app.memory.extraction import MOST_PROPOSALS, KnownBelief, Proposal
from app.memory.fields import Name, Sentence, Topic
from app.memory.spec import MemoryType
from app.model import Category, SpeechAct
from app.providers.chat import NotJson, json_object
from app.providers.known_lines import KnownLine
from app.providers.schemas import CATEGORIES, FORGET, SEVERAL, TYPE, PayloadField, fields_of, payload_schema

KEY: Final = "memories"

_LONGEST_DAYS: Final = 36_500

MOST_READ: Final = 50
"""Memories of an answer that are read at all."""

LONGEST_SENTENCE: Final = 600
"""Characters of a sentence that is kept."""

_MOST_DIGITS: Final = 4

_TOLD: Final = 300
"""Characters of what is told about one fault."""

Fraction = Annotated[float, Field(strict=True, ge=0, le=1, allow_inf_nan=False)]


def _blank_is_none(value: object) -> object:
    return None if isinstance(value, str) and not value.strip() else value


def _known_or_none(value: object) -> object:
    """Let the categories through; what isn't one leaves it to the type, and costs no repair."""
    known = str(value).strip().casefold()
    return known if known in CATEGORIES else None


def _length_or_none(value: object) -> object:
    """Let a length of time through; what isn't one is none, and costs no repair."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return value if 0 < value <= _LONGEST_DAYS else None


def _numbers(value: object) -> object:
    """Let whole numbers through, also as texts, each once; what is none refers to nothing, and costs no repair."""
    given = value if isinstance(value, list) else [value]
    read = (str(one).strip(" []") for one in given if not isinstance(one, bool))
    return tuple(dict.fromkeys(int(one) for one in read if one.isdecimal() and len(one) <= _MOST_DIGITS))


def _number(value: object) -> object:
    found = _numbers(value)
    return found[0] if isinstance(found, tuple) and found else None


def _sentence(value: object) -> object:
    """Let a sentence through; what isn't one leaves it to the payload, and costs no repair."""
    return value if isinstance(value, str) and value.strip() and len(value) <= LONGEST_SENTENCE else None


_Numbers = Annotated[tuple[int, ...], BeforeValidator(_numbers)]

_When = Annotated[Name | None, BeforeValidator(_blank_is_none)]


class _Memory(BaseModel):
    """One memory as it is answered; further keys are passed over."""

    model_config = ConfigDict(hide_input_in_errors=True)

    type: str
    payload: dict[str, Any]
    quote: Sentence
    sentence: Annotated[Sentence | None, BeforeValidator(_sentence)] = None
    speech_act: SpeechAct
    confidence: Fraction
    importance: Fraction | None = None
    topic: Annotated[Topic | None, BeforeValidator(_blank_is_none)] = None
    category: Annotated[Category | None, BeforeValidator(_known_or_none)] = None
    replaces: _Numbers = ()
    ends: _Numbers = ()
    same_as: Annotated[int | None, BeforeValidator(_number)] = None
    about: _Numbers = ()
    ended: bool = False
    ended_at: _When = None
    valid_from: _When = None
    valid_until: _When = None
    ttl_days: Annotated[float | None, BeforeValidator(_length_or_none)] = None

    @model_validator(mode="before")
    @classmethod
    def _type_of_payload(cls, given: object) -> object:
        """Take the type from the payload, whose first field it is asked as.

        Small models call it `type`, or write the fields of the payload beside the others. `ends` was once true or
        false, which `ended` is now.
        """
        if not isinstance(given, dict):
            return given
        if isinstance(given.get("ends"), bool):
            given = {**given, "ends": [], "ended": given["ends"]}
        beside = {name: value for name, value in given.items() if name not in cls.model_fields}
        payload = given.get("payload", beside)
        if not isinstance(payload, dict):
            return given
        named = next((name for name in (TYPE, "type") if name in payload), None)
        fields = {name: value for name, value in payload.items() if name != named}
        kind = {} if named is None else {"type": payload[named]}
        return {**kind, **given, "payload": fields} if fields else given


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalError:
    """One thing that is wrong with an answer.

    `told` is for the model, whose own words it may quote; `where` and `kind` are ours alone, fit for an error.
    `place` is that of the memory in the answer, None where the fault is the whole answer's. `final`: asking again
    would not mend it.
    """

    where: str
    kind: str
    told: str
    place: int | None = None
    final: bool = False

    @property
    def reason(self) -> str:
        """Return what is wrong and where, without the model's words."""
        return f"{self.where} ({self.kind})"


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedProposals:
    """The usable proposals of an answer, and the faults of the others.

    `erasures` are what it says is to be forgotten, None where it says nothing of that.
    """

    proposals: tuple[Proposal, ...] = ()
    faults: tuple[ProposalError, ...] = ()
    erasures: tuple[ErasureRequest, ...] | None = None

    @property
    def repairable(self) -> tuple[ProposalError, ...]:
        """Return the faults that the model may put right."""
        return tuple(one for one in self.faults if not one.final)

    def repaired(self, second: ParsedProposals, most: int = MOST_PROPOSALS) -> ParsedProposals:
        """Return both answers as one, `second` being what the model made of the memories that were wrong.

        What is still wrong is reported by its place in the first answer; all of it, where the second answer does not
        have the memories one for one. Where nothing was usable, an answer without memories leaves all out, as
        it was told it may.
        """
        if not (self.proposals or second.proposals or second.faults):
            return replace(self, faults=tuple(one for one in self.faults if one.final))
        fresh = [one for one in second.proposals if one not in self.proposals]
        wrong = list(dict.fromkeys(one.place for one in self.repairable))
        still = {one.place for one in second.faults}
        if None in wrong:
            return replace(second, proposals=tuple(fresh))
        if None not in still and len(second.proposals) + len(still) == len(wrong):
            left = {place for number, place in enumerate(wrong) if number in still}
        else:
            left = set() if len(fresh) >= len(wrong) else set(wrong)
        return ParsedProposals(
            proposals=(*self.proposals, *fresh)[:most],
            faults=tuple(one for one in self.faults if one.final or one.place in left),
            erasures=self.erasures,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _AnswerEnvelope:
    spec: MemoryType
    fields: tuple[PayloadField, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _References:
    """The ids of what a memory refers to."""

    replaces: tuple[UUID, ...] = ()
    ends: tuple[UUID, ...] = ()
    same_as: UUID | None = None
    about: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    """The memories that the numbers of an answer refer to; `forgiving`: another number refers to nothing."""

    beliefs: Mapping[int, UUID]
    all: Mapping[int, UUID]
    forgiving: bool

    @classmethod
    def of(cls, lines: Sequence[KnownLine], *, forgiving: bool) -> _Shown:
        shown = {one.number: one.of.id for one in lines if one.of.id is not None}
        beliefs = {one.number: one.of.id for one in lines if isinstance(one.of, KnownBelief) and one.of.id is not None}
        return cls(beliefs=beliefs, all=shown, forgiving=forgiving)

    def faults(self, where: str, memory: _Memory) -> tuple[ProposalError, ...]:
        """Return which numbers of a memory were not shown, or are of an entity where a memory is meant."""
        if self.forgiving:
            return ()
        same = () if memory.same_as is None else (memory.same_as,)
        fields = (
            ("replaces", memory.replaces, self.beliefs),
            ("ends", memory.ends, self.beliefs),
            ("same_as", same, self.beliefs),
            ("about", memory.about, self.all),
        )
        return tuple(
            ProposalError(
                where=f"{where}.{name}",
                kind="no such line",
                told=f"{where}.{name}: [{number}] is no line of Known that it can refer to",
            )
            for name, numbers, shown in fields
            for number in numbers
            if number not in shown
        )

    def references(self, memory: _Memory) -> _References:
        """Return what a memory refers to."""
        return _References(
            replaces=tuple(self.beliefs[one] for one in memory.replaces if one in self.beliefs),
            ends=tuple(self.beliefs[one] for one in memory.ends if one in self.beliefs),
            same_as=None if memory.same_as is None else self.beliefs.get(memory.same_as),
            about=tuple(self.all[one] for one in memory.about if one in self.all),
        )


class _Erasure(BaseModel):
    """One thing that an answer says is to be forgotten."""

    model_config = ConfigDict(hide_input_in_errors=True)

    quote: Sentence
    what: str = Field(default="", max_length=LONGEST_SENTENCE)
    lines: _Numbers = ()


def _erasures(given: object, shown: _Shown) -> tuple[ErasureRequest, ...] | None:
    """Return what is to be forgotten; what is no request is left out, and costs no repair."""
    if not isinstance(given, list):
        return None
    found = []
    for one in given[:MOST_READ]:
        try:
            asked = _Erasure.model_validate(one)
        except ValidationError:
            continue
        request = request_for(asked.quote, asked.what, text_language(asked.what))
        meant = tuple(shown.beliefs[number] for number in asked.lines if number in shown.beliefs)
        if request.words or meant:
            found.append(replace(request, memories=meant))
    return tuple(found)


class ProposalReader:
    """Reads answers about the memory types it was given."""

    def __init__(self, types: Iterable[MemoryType]) -> None:
        self._types: dict[str, _AnswerEnvelope] = {}
        for spec in types:
            asked = _AnswerEnvelope(spec=spec, fields=fields_of(spec))
            self._types |= dict.fromkeys((spec.name, *spec.aliases), asked)

    def read(
        self, text: str, most: int = MOST_PROPOSALS, lines: Sequence[KnownLine] = (), *, repaired: bool = False
    ) -> ParsedProposals:
        """Return the proposals of an answer that are valid, and every fault of the others; `most` may be made.

        `lines` are those that it may refer to by their numbers. In an answer that was `repaired` another number
        refers to nothing, and is no fault.
        """
        shown = _Shown.of(lines, forgiving=repaired)
        try:
            answer = json_object(text, KEY)
        except NotJson as error:
            return ParsedProposals(faults=(ProposalError(where="the answer", kind=str(error), told=str(error)),))
        memories = answer[KEY]
        if not isinstance(memories, list):
            return _wrong(KEY, "not a list", f"{KEY} must be a list")
        proposals: list[Proposal] = []
        faults: list[ProposalError] = []
        for place, one in enumerate(memories[: max(MOST_READ, most)]):
            reading = self._memory(f"{KEY}.{place}", one, shown)
            proposals += reading.proposals
            faults += (replace(fault, place=place) for fault in reading.faults)
        if len(memories) > most:
            many = f"{len(memories)} memories, where {most} is the most: those that matter least are left out"
            faults.append(ProposalError(where=KEY, kind=many, told=many, final=True))
            proposals = that_matter_most(proposals, most)
        erasures = _erasures(answer.get(FORGET), shown)
        return ParsedProposals(proposals=tuple(proposals), faults=tuple(faults), erasures=erasures)

    def _memory(self, where: str, answered: object, shown: _Shown) -> ParsedProposals:
        try:
            memory = _Memory.model_validate(answered)
        except ValidationError as error:
            return ParsedProposals(faults=_faults(where, error, frozenset(_Memory.model_fields)))
        asked = self._types.get(memory.type.strip().casefold())
        if asked is None:
            names = ", ".join(dict.fromkeys(one.spec.name for one in self._types.values() if one.spec.quotes is None))
            return _wrong(f"{where}.type", "no such type", f"{memory.type[:80]!r} is no type; use one of {names}")
        payload, several = _cardinality(payload_schema(memory.payload, asked.fields), asked.spec)
        unknown = shown.faults(where, memory)
        if unknown:
            return ParsedProposals(faults=unknown)
        refers = shown.references(memory)
        # Of an ending of what is stored, the stored payload counts.
        faults = () if memory.ended and refers.ends else _payload_faults(where, asked, payload, ends=memory.ended)
        if not faults:
            return ParsedProposals(proposals=(_proposal(memory, asked.spec, payload, refers, several=several),))
        other = None if asked.spec.otherwise is None else asked.spec.otherwise(payload)
        instead = None if other is None else self._types.get(other.type)
        if other is None or instead is None or _payload_faults(where, instead, other.payload, ends=memory.ended):
            return ParsedProposals(faults=faults)
        return ParsedProposals(proposals=(_proposal(memory, instead.spec, other.payload, refers, several=several),))


def _payload_faults(
    where: str, asked: _AnswerEnvelope, payload: Mapping[str, object], *, ends: bool
) -> tuple[ProposalError, ...]:
    """Return what is wrong with a payload of a type, or with the ending of one."""
    try:
        if ends:
            asked.spec.ended(payload)
        else:
            asked.spec.payload.model_validate(dict(payload))
    except ValidationError as error:
        return _faults(f"{where}.payload", error, frozenset(one.name for one in asked.fields))
    except ValueError as error:
        return _wrong(f"{where}.ended", str(error), f"{error}: use another type, or leave it out").faults
    return ()


def that_matter_most(proposals: Sequence[Proposal], most: int = MOST_PROPOSALS) -> list[Proposal]:
    """Return so many proposals, the most important ones, in their order."""
    ranked = sorted(proposals, key=lambda one: -(one.importance or 0.0))[:most]
    return [one for one in proposals if any(one is kept for kept in ranked)]


def _cardinality(payload: Mapping[str, object], spec: MemoryType) -> tuple[dict[str, object], bool | None]:
    """Return a payload without what it says of how many values it holds, and that; what is unclear says nothing."""
    if not spec.asks_several:
        return dict(payload), None
    told = payload.get(SEVERAL)
    fields = {name: value for name, value in payload.items() if name != SEVERAL and name not in spec.unasked}
    return fields, told if isinstance(told, bool) else None


def _proposal(
    memory: _Memory, spec: MemoryType, payload: Mapping[str, object], refers: _References, *, several: bool | None
) -> Proposal:
    return Proposal(
        type=spec.name,
        payload=payload,
        quote=memory.quote,
        sentence=memory.sentence,
        speech_act=memory.speech_act,
        confidence=memory.confidence,
        importance=memory.importance,
        topic=memory.topic,
        category=memory.category,
        ends=memory.ended,
        ended_at=memory.ended_at or (memory.valid_until if memory.ended or refers.ends else None),
        valid_from=memory.valid_from,
        valid_until=memory.valid_until,
        ttl_days=memory.ttl_days,
        several=several,
        replaces=refers.replaces,
        retires=refers.ends,
        repeats=refers.same_as,
        about=refers.about,
    )


def _wrong(where: str, kind: str, told: str) -> ParsedProposals:
    return ParsedProposals(faults=(ProposalError(where=where, kind=kind, told=f"{where}: {told}"),))


def _faults(where: str, error: ValidationError, known: frozenset[str]) -> tuple[ProposalError, ...]:
    return tuple(_fault(where, one, known) for one in error.errors(include_url=False, include_input=False))


def _fault(where: str, detail: ErrorDetails, known: frozenset[str]) -> ProposalError:
    # A name that isn't ours is the model's, and may be somebody's words.
    ours = (str(part) if isinstance(part, int) or part in known else "?" for part in detail["loc"])
    path = ".".join([where, *map(str, detail["loc"])])
    return ProposalError(
        where=".".join([where, *ours]),
        kind=detail["type"].replace("_", " "),
        told=f"{path}: {detail['msg']}"[:_TOLD],
    )

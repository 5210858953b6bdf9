"""A model's answer as proposals: read, validated, and told precisely what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from app.memory.extraction import MOST_PROPOSALS, Proposal
from app.memory.fields import Name, Sentence, Topic
from app.memory.spec import MemoryType
from app.model import Category, SpeechAct
from app.providers.chat import NotJson, json_object
from app.providers.schemas import CATEGORIES, PayloadField, fields_of, payload_schema

KEY: Final = "memories"

_TOLD: Final = 300
"""Characters of what is told about one fault."""

Fraction = Annotated[float, Field(strict=True, ge=0, le=1, allow_inf_nan=False)]


def _blank_is_none(value: object) -> object:
    return None if isinstance(value, str) and not value.strip() else value


def _known_or_none(value: object) -> object:
    """Let the categories through; what isn't one leaves it to the type, and costs no repair."""
    known = str(value).strip().casefold()
    return known if known in CATEGORIES else None


class _Memory(BaseModel):
    """One memory as it is answered; further keys are passed over."""

    model_config = ConfigDict(hide_input_in_errors=True)

    type: str
    payload: dict[str, Any]
    quote: Sentence
    speech_act: SpeechAct
    confidence: Fraction
    importance: Fraction | None = None
    topic: Annotated[Topic | None, BeforeValidator(_blank_is_none)] = None
    category: Annotated[Category | None, BeforeValidator(_known_or_none)] = None
    ends: bool = False
    ended_at: Annotated[Name | None, BeforeValidator(_blank_is_none)] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalError:
    """One thing that is wrong with an answer.

    `told` is for the model, whose own words it may quote; `where` and `kind` are ours alone, fit for an error.
    """

    where: str
    kind: str
    told: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedProposals:
    """What an answer came to: proposals, or faults."""

    proposals: tuple[Proposal, ...] = ()
    faults: tuple[ProposalError, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _AnswerEnvelope:
    spec: MemoryType
    fields: tuple[PayloadField, ...]


class ProposalReader:
    """Reads answers about the memory types it was given."""

    def __init__(self, types: Iterable[MemoryType]) -> None:
        self._types: dict[str, _AnswerEnvelope] = {}
        for spec in types:
            asked = _AnswerEnvelope(spec=spec, fields=fields_of(spec))
            self._types |= dict.fromkeys((spec.name, *spec.aliases), asked)

    def read(self, text: str) -> ParsedProposals:
        """Return the proposals of an answer, all of them valid, or every fault that was found."""
        try:
            memories = json_object(text, KEY)[KEY]
        except NotJson as error:
            return ParsedProposals(faults=(ProposalError(where="the answer", kind=str(error), told=str(error)),))
        if not isinstance(memories, list):
            return _wrong(KEY, "not a list", f"{KEY} must be a list")
        if len(memories) > MOST_PROPOSALS:
            many = f"{len(memories)} memories, where {MOST_PROPOSALS} is the most"
            return _wrong(KEY, many, f"{many}: keep those that matter most")
        proposals: list[Proposal] = []
        faults: list[ProposalError] = []
        for place, one in enumerate(memories):
            reading = self._memory(f"{KEY}.{place}", one)
            proposals += reading.proposals
            faults += reading.faults
        return ParsedProposals(faults=tuple(faults)) if faults else ParsedProposals(proposals=tuple(proposals))

    def _memory(self, where: str, answered: object) -> ParsedProposals:
        try:
            memory = _Memory.model_validate(answered)
        except ValidationError as error:
            return ParsedProposals(faults=_faults(where, error, frozenset(_Memory.model_fields)))
        asked = self._types.get(memory.type.strip().casefold())
        if asked is None:
            names = ", ".join(dict.fromkeys(one.spec.name for one in self._types.values()))
            return _wrong(f"{where}.type", "no such type", f"{memory.type[:80]!r} is no type; use one of {names}")
        payload = payload_schema(memory.payload, asked.fields)
        try:
            if memory.ends:
                asked.spec.ended(payload)
            else:
                asked.spec.payload.model_validate(payload)
        except ValidationError as error:
            return ParsedProposals(
                faults=_faults(f"{where}.payload", error, frozenset(one.name for one in asked.fields))
            )
        except ValueError as error:
            return _wrong(f"{where}.ends", str(error), f"{error}: use another type, or leave it out")
        return ParsedProposals(proposals=(_proposal(memory, asked.spec, payload),))


def _proposal(memory: _Memory, spec: MemoryType, payload: Mapping[str, object]) -> Proposal:
    return Proposal(
        type=spec.name,
        payload=payload,
        quote=memory.quote,
        speech_act=memory.speech_act,
        confidence=memory.confidence,
        importance=memory.importance,
        topic=memory.topic,
        category=memory.category,
        ends=memory.ends,
        ended_at=memory.ended_at,
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

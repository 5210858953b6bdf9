"""The extractor on a language model: one call, a validated answer, one repair, or a visible failure.

With several samples a turn, only what they agree on is kept (seed 001: consistency across a temperature sweep).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final
from uuid import uuid5
from weakref import WeakKeyDictionary

from app.english.erasure_requests import ErasureRequest, erasure_requests
from app.errors import ExtractionFailed, ProviderError
from app.lexical.tokens import locate_quote
from app.memory import normalise
from app.memory.extraction import (
    MOST_PROPOSALS,
    NOTHING_KNOWN,
    Extraction,
    KnownExcerpt,
    Proposal,
    Role,
    TokenUsage,
    Turn,
)
from app.memory.registry import Registry
from app.memory.spec import MemoryType, Payload
from app.model import NAMESPACE, UNKNOWN_TYPE, EntityRef
from app.providers.chat import SETTINGS, ChatModel, ChatObserver, Meter, Prompt, Reply, Stop, complete_items, metered
from app.providers.known_lines import KnownLine, known_lines
from app.providers.prompt import instructions, repair_prompt, window_prompt
from app.providers.proposals import KEY, ParsedProposals, ProposalError, ProposalReader, that_matter_most
from app.providers.schemas import answer_schema

LEAST_SHARE: Final = 0.5
"""The least share of answers that a proposal must be in; others are dropped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claim:
    """A proposal, what it says, and where the turn says it."""

    proposal: Proposal
    says: Hashable
    quotes: Hashable


@dataclass(slots=True, kw_only=True)
class _Group:
    """Equivalent proposals; the first one, of the coolest answer, stands for them."""

    first: _Claim
    answers: set[int] = field(default_factory=set)


def consistent_proposals(
    answers: Sequence[Sequence[Proposal]], types: Mapping[str, MemoryType], most: int = MOST_PROPOSALS
) -> tuple[Proposal, ...]:
    """Return what at least half of the answers propose, with its share of them as consistency.

    Two proposals are equivalent when their types and slots with their values are, or, without a slot, their
    sentences; what is left over is matched by type and quote, since the same words tell the same event in other
    words. `types` are by name. The widest agreement comes first, and no more than `most` are kept.
    """
    groups: list[_Group] = []
    for number, proposals in enumerate(answers):
        rest = _join(groups, number, [_claim(one, types) for one in proposals], _same_claim)
        rest = _join(groups, number, rest, _same_quote)
        groups += [_Group(first=claim, answers={number}) for claim in rest]
    shares = [(len(group.answers) / len(answers), group.first.proposal) for group in groups]
    kept = sorted((one for one in shares if one[0] >= LEAST_SHARE), key=lambda one: -one[0])
    return tuple(replace(proposal, consistency=share) for share, proposal in kept[:most])


def _same_claim(one: _Claim, other: _Claim) -> bool:
    return one.says == other.says


def _same_quote(one: _Claim, other: _Claim) -> bool:
    return one.quotes == other.quotes


def _join(
    groups: Sequence[_Group], number: int, claims: Sequence[_Claim], same: Callable[[_Claim, _Claim], bool]
) -> list[_Claim]:
    """Put the claims of one answer into groups it has no other claim in; return those that fit none."""
    left = []
    for claim in claims:
        group = next((one for one in groups if number not in one.answers and same(one.first, claim)), None)
        if group is None:
            left.append(claim)
        else:
            group.answers.add(number)
    return left


def _claim(proposal: Proposal, types: Mapping[str, MemoryType]) -> _Claim:
    spec = types[proposal.type]
    if proposal.ends and proposal.retires:
        ended = (proposal.type, proposal.ends, proposal.speech_act, frozenset(proposal.retires))
        return _Claim(proposal=proposal, says=ended, quotes=ended)
    payload = spec.ended(proposal.payload)[0] if proposal.ends else spec.payload.model_validate(dict(proposal.payload))
    says, slotted = _said(payload if proposal.several is None else payload.supposed(several=proposal.several))
    # Two values for one slot are two claims, though one sentence may hold both.
    quotes = None if slotted else normalise.normalise_name(proposal.quote)
    return _Claim(
        proposal=proposal,
        says=(proposal.type, proposal.ends, proposal.speech_act, says),
        quotes=(proposal.type, proposal.ends, proposal.speech_act, quotes if quotes is not None else says),
    )


def _said(payload: Payload) -> tuple[Hashable, bool]:
    """Return what a payload claims, for comparison, and whether it claims a slot."""
    refs = {
        one.role: EntityRef(
            id=uuid5(NAMESPACE, normalise.normalise_name(one.name)),
            name=one.name,
            entity_type=one.entity_type or UNKNOWN_TYPE,
        )
        for one in payload.mentions()
    }
    slot = payload.slot(refs)
    if slot is None:
        return (normalise.normalise_name(payload.render()), payload.distinct_by()), False
    return (slot, payload.value(refs)), True


HOTTEST: Final = 0.8
"""The highest temperature of a sweep; the lowest is 0, which is also that of a single call."""

_SHOWN: Final = 5
"""Faults that an error names."""

_TOLD: Final = 20
"""Faults that the model is told."""


class _ExtractionRequest:
    """A request to the model for some types, and the reading of its answers."""

    def __init__(self, types: Iterable[MemoryType]) -> None:
        known = tuple(types)
        self.types = {one.name: one for one in known}
        self.reader = ProposalReader(known)
        self.instructions = instructions(known)
        self.schema = answer_schema(known)

    def prompt(self, turns: Sequence[Turn], context: Sequence[Turn], lines: Sequence[KnownLine]) -> Prompt:
        """Return the question about turns."""
        return Prompt(
            name="memories",
            system=self.instructions,
            messages=(window_prompt(turns, context, lines),),
            schema=self.schema,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """A prompt, the lines that its answer may refer to, and the most memories that it may have."""

    prompt: Prompt
    lines: tuple[KnownLine, ...]
    most: int


class ModelExtractor:
    """Extracts with a chat model; see `Extractor`.

    `types` are those it may propose. With a `sweep` of more than one, as many calls go out at rising
    temperatures, and a proposal's consistency is the share of them that made it.
    """

    reads_known = True
    reads_instructions = True

    def __init__(
        self,
        chat: ChatModel,
        types: Iterable[MemoryType],
        *,
        sweep: int = 1,
        window: int = 1,
        observer: ChatObserver | None = None,
    ) -> None:
        """Make the prompt; ConfigurationError when a type's payload can't be asked of a model."""
        self.name = chat.name
        self._chat = chat
        self.window = window
        self._sweep = sweep
        self._observer = observer
        self._asked = _ExtractionRequest(types)
        self._of_tenants: WeakKeyDictionary[Registry, dict[frozenset[str], _ExtractionRequest]] = WeakKeyDictionary()

    async def extract(
        self,
        turns: Sequence[Turn],
        context: Sequence[Turn] = (),
        *,
        types: Registry | None = None,
        excluded: frozenset[str] = frozenset(),
        known: KnownExcerpt = NOTHING_KNOWN,
    ) -> list[Extraction]:
        """Ask the model about some turns at once; see `Extractor.extract`.

        A memory is of the first turn that has its quote; one that is quoted from none is left to the last.
        `chat.spent(error)` returns the cost of a failed extraction.
        """
        asked = await self._asked_for(types, excluded)
        lines = known_lines(known)
        prompt = asked.prompt(turns, context, lines)
        with metered(self._observer, "extract") as meter:
            question = _Question(prompt=prompt, lines=lines, most=MOST_PROPOSALS * len(turns))
            reading = await self._reading(question, asked, meter)
        return _of_turns(reading, turns, meter.usage)

    async def prompt(
        self,
        turns: Sequence[Turn],
        context: Sequence[Turn],
        *,
        types: Registry | None = None,
        excluded: frozenset[str] = frozenset(),
    ) -> Prompt:
        """Return the question about turns, without what is known, for `read`."""
        return (await self._asked_for(types, excluded)).prompt(turns, context, ())

    async def read(
        self,
        reply: Reply,
        turns: Sequence[Turn],
        *,
        types: Registry | None = None,
        excluded: frozenset[str] = frozenset(),
    ) -> list[Extraction] | None:
        """Return what a reply to `prompt` says of the turns; None where it can't be used as it is."""
        asked = await self._asked_for(types, excluded)
        if reply.stop is not Stop.FINISHED:
            return None
        reading = asked.reader.read(reply.text, MOST_PROPOSALS * len(turns), ())
        if reading.faults and not reading.proposals:
            return None
        return _of_turns(reading, turns, reply.usage)

    async def aclose(self) -> None:
        """Close the model's connections; whoever shares the model loses it."""
        await self._chat.aclose()

    async def _asked_for(self, types: Registry | None, excluded: frozenset[str]) -> _ExtractionRequest:
        """Return what is asked about a tenant's types; it is made once for each version of them."""
        own = () if types is None else types.own
        excluded &= {one.name for one in (*self._asked.types.values(), *own)}
        if types is None or not (own or excluded):
            return self._asked
        made = self._of_tenants.setdefault(types, {})
        found = made.get(excluded)
        if found is None:
            gone = {one.name for one in own} | excluded
            built_in = (one for one in self._asked.types.values() if one.name not in gone)
            mine = (one for one in own if one.extracted and one.name not in excluded)
            found = await asyncio.to_thread(_ExtractionRequest, (*built_in, *mine))
            made[excluded] = found
        return found

    async def _reading(self, question: _Question, asked: _ExtractionRequest, meter: Meter) -> ParsedProposals:
        expires_at = self._chat.expires_at()
        if self._sweep == 1:
            return await self._answer(question, asked.reader, 0.0, meter, expires_at)
        temperatures = [HOTTEST * step / (self._sweep - 1) for step in range(self._sweep)]
        results = await asyncio.gather(
            *(self._answer(question, asked.reader, one, meter, expires_at) for one in temperatures),
            return_exceptions=True,
        )
        answers = [one for one in results if not isinstance(one, BaseException)]
        failures = [one for one in results if isinstance(one, BaseException)]
        fatal = [one for one in failures if not isinstance(one, ProviderError)]
        if fatal or len(answers) <= self._sweep / 2:
            raise [*fatal, *failures][0]
        agreed = consistent_proposals([one.proposals for one in answers], asked.types, question.most)
        return replace(answers[0], proposals=agreed)

    async def _answer(
        self, question: _Question, reader: ProposalReader, temperature: float, meter: Meter, expires_at: float
    ) -> ParsedProposals:
        """Return the model's answer, its wrong memories asked for once more; the good ones are kept in any case."""
        prompt, most = question.prompt, question.most
        reply = await self._ask(prompt, temperature, meter, expires_at)
        reading = reader.read(reply.text, most, question.lines)
        if reading.repairable:
            told = repair_prompt((fault.told for fault in reading.repairable[:_TOLD]), partial=bool(reading.proposals))
            try:
                reply = await self._ask(prompt.corrected(reply.text, told), temperature, meter, expires_at)
            except ProviderError:
                if not reading.proposals:
                    raise
            else:
                reading = reading.repaired(reader.read(reply.text, most, question.lines, repaired=True), most)
        if reading.faults and not reading.proposals:
            raise ExtractionFailed(
                f"{self.name} gave no usable memories, not even when told what was wrong: {_listed(reading.faults)}"
            )
        return reading

    async def _ask(self, prompt: Prompt, temperature: float, meter: Meter, expires_at: float) -> Reply:
        reply = await self._chat.complete(prompt, temperature=temperature, expires_at=expires_at)
        meter.add(reply.usage)
        match reply.stop:
            case Stop.REFUSED:
                raise ExtractionFailed(f"{self.name} refused to answer about this turn")
            case Stop.LENGTH if (whole := complete_items(reply.text, KEY)) is not None:
                return replace(reply, text=whole)
            case Stop.LENGTH:
                raise ExtractionFailed(
                    f"{self.name} was cut off at {self._chat.max_tokens} tokens: raise {SETTINGS}_MAX_TOKENS"
                )
        return reply


def _of_turns(reading: ParsedProposals, turns: Sequence[Turn], usage: TokenUsage) -> list[Extraction]:
    """Return what was read from an answer by turn; its faults and its cost are with the first."""
    said: list[list[Proposal]] = [[] for _ in turns]
    for one in reading.proposals:
        said[_place(one.quote, turns)].append(one)
    forgotten = [_erasures(reading, place, turns) for place in range(len(turns))]
    unusable = tuple(one.reason for one in reading.faults)
    return [
        Extraction(
            proposals=_in_order(that_matter_most(mine), turn.content),
            erasures=forgotten[place],
            unusable=() if place else unusable,
            usage=TokenUsage() if place else usage,
        )
        for place, (turn, mine) in enumerate(zip(turns, said, strict=True))
    ]


def _place(quote: str, turns: Sequence[Turn]) -> int:
    """Return which turn has a quote."""
    places = (place for place, turn in enumerate(turns) if locate_quote(quote, turn.content))
    return next(places, len(turns) - 1)


def _erasures(reading: ParsedProposals, place: int, turns: Sequence[Turn]) -> tuple[ErasureRequest, ...]:
    """Return what a user asks to forget in one of the turns; by its wording, where the answer does not say."""
    if turns[place].role is not Role.USER:
        return ()
    if reading.erasures is None:
        return erasure_requests(turns[place].content)
    return tuple(one for one in reading.erasures if _place(one.quote, turns) == place)


def _in_order(proposals: Sequence[Proposal], content: str) -> tuple[Proposal, ...]:
    """Return the proposals by where the turn says them; those it doesn't say come last."""

    def place(one: Proposal) -> int:
        found = content.find(one.quote)
        return len(content) if found < 0 else found

    return tuple(sorted(proposals, key=place))


def _listed(faults: Sequence[ProposalError]) -> str:
    named = "; ".join(fault.reason for fault in faults[:_SHOWN])
    return named if len(faults) <= _SHOWN else f"{named}; and {len(faults) - _SHOWN} more"

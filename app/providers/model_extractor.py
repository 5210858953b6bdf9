"""The extractor on a language model: one call, validated, repaired once, and failed aloud."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Final
from weakref import WeakKeyDictionary

from app.errors import ExtractionFailed, ProviderError
from app.memory.extraction import Extraction, Proposal, Turn
from app.memory.registry import Registry
from app.memory.spec import MemoryType
from app.providers.agreement import agreed
from app.providers.chat import SETTINGS, ChatModel, ChatObserver, Meter, Prompt, Reply, Stop, metered
from app.providers.prompt import correction, instructions, question
from app.providers.proposals import Fault, ProposalReader
from app.providers.schemas import answer_schema

HOTTEST: Final = 0.8
"""The highest temperature of a sweep; the lowest is 0, which is also that of a single call."""

_SHOWN: Final = 5
"""Faults that an error names."""

_TOLD: Final = 20
"""Faults that the model is told."""


class _Asked:
    """What is asked of the model, and how its answers are read, for some types."""

    def __init__(self, types: Iterable[MemoryType]) -> None:
        known = tuple(types)
        self.types = {one.name: one for one in known}
        self.reader = ProposalReader(known)
        self.instructions = instructions(known)
        self.schema = answer_schema(known)


class ModelExtractor:
    """Extracts with a chat model; see `Extractor`.

    `types` are those it may propose. With a `sweep` of more than one, as many calls go out at rising
    temperatures, and a proposal's consistency is the share of them that made it.
    """

    def __init__(
        self,
        chat: ChatModel,
        types: Iterable[MemoryType],
        *,
        sweep: int = 1,
        observer: ChatObserver | None = None,
    ) -> None:
        """Make the prompt; ConfigurationError when a type's payload can't be asked of a model."""
        self.name = chat.name
        self._chat = chat
        self._sweep = sweep
        self._observer = observer
        self._asked = _Asked(types)
        self._of_tenants: WeakKeyDictionary[Registry, _Asked] = WeakKeyDictionary()

    async def extract(self, turn: Turn, context: Sequence[Turn] = (), *, types: Registry | None = None) -> Extraction:
        """Ask the model about the turn; see `Extractor.extract`.

        What a failed extraction had cost by then is told by `chat.spent(error)`.
        """
        asked = await self._asked_for(types)
        prompt = Prompt(
            name="memories",
            system=asked.instructions,
            messages=(question(turn, context),),
            schema=asked.schema,
        )
        with metered(self._observer, "extract") as meter:
            proposals = await self._proposals(prompt, asked, meter)
        return Extraction(proposals=_in_order(proposals, turn.content), usage=meter.usage)

    async def aclose(self) -> None:
        """Close the model's connections; whoever shares the model loses it."""
        await self._chat.aclose()

    async def _asked_for(self, types: Registry | None) -> _Asked:
        """Return what is asked where a tenant has types of its own; it is made once a version of them."""
        own = () if types is None else types.own
        if types is None or not own:
            return self._asked
        found = self._of_tenants.get(types)
        if found is None:
            names = {one.name for one in own}
            built_in = (one for one in self._asked.types.values() if one.name not in names)
            found = await asyncio.to_thread(_Asked, (*built_in, *(one for one in own if one.extracted)))
            self._of_tenants[types] = found
        return found

    async def _proposals(self, prompt: Prompt, asked: _Asked, meter: Meter) -> tuple[Proposal, ...]:
        expires_at = self._chat.expires_at()
        if self._sweep == 1:
            return await self._answer(prompt, asked.reader, 0.0, meter, expires_at)
        temperatures = [HOTTEST * step / (self._sweep - 1) for step in range(self._sweep)]
        results = await asyncio.gather(
            *(self._answer(prompt, asked.reader, one, meter, expires_at) for one in temperatures),
            return_exceptions=True,
        )
        answers = [one for one in results if not isinstance(one, BaseException)]
        failures = [one for one in results if isinstance(one, BaseException)]
        fatal = [one for one in failures if not isinstance(one, ProviderError)]
        if fatal or len(answers) <= self._sweep / 2:
            raise [*fatal, *failures][0]
        return agreed(answers, asked.types)

    async def _answer(
        self, prompt: Prompt, reader: ProposalReader, temperature: float, meter: Meter, expires_at: float
    ) -> tuple[Proposal, ...]:
        reply = await self._ask(prompt, temperature, meter, expires_at)
        reading = reader.read(reply.text)
        if reading.faults:
            told = correction(fault.told for fault in reading.faults[:_TOLD])
            reply = await self._ask(prompt.corrected(reply.text, told), temperature, meter, expires_at)
            reading = reader.read(reply.text)
        if reading.faults:
            raise ExtractionFailed(
                f"{self.name} gave no usable memories, not even when told what was wrong: {_listed(reading.faults)}"
            )
        return reading.proposals

    async def _ask(self, prompt: Prompt, temperature: float, meter: Meter, expires_at: float) -> Reply:
        reply = await self._chat.complete(prompt, temperature=temperature, expires_at=expires_at)
        meter.add(reply.usage)
        match reply.stop:
            case Stop.REFUSED:
                raise ExtractionFailed(f"{self.name} refused to answer about this turn")
            case Stop.LENGTH:
                raise ExtractionFailed(
                    f"{self.name} was cut off at {self._chat.max_tokens} tokens: raise {SETTINGS}_MAX_TOKENS"
                )
        return reply


def _in_order(proposals: Sequence[Proposal], content: str) -> tuple[Proposal, ...]:
    """Return the proposals by where the turn says them; those it doesn't say come last."""

    def place(one: Proposal) -> int:
        found = content.find(one.quote)
        return len(content) if found < 0 else found

    return tuple(sorted(proposals, key=place))


def _listed(faults: Sequence[Fault]) -> str:
    named = "; ".join(f"{fault.where} ({fault.kind})" for fault in faults[:_SHOWN])
    return named if len(faults) <= _SHOWN else f"{named}; and {len(faults) - _SHOWN} more"

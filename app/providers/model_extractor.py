"""The extractor on a language model: one call, validated, repaired once, and failed aloud."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Final

from app.errors import ExtractionFailed, ProviderError
from app.memory.extraction import Extraction, Proposal, Turn
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
        known = tuple(types)
        self.name = chat.name
        self._chat = chat
        self._sweep = sweep
        self._observer = observer
        self._types = {one.name: one for one in known}
        self._reader = ProposalReader(known)
        self._instructions = instructions(known)
        self._schema = answer_schema(known)

    async def extract(self, turn: Turn, context: Sequence[Turn] = ()) -> Extraction:
        """Ask the model about the turn; see `Extractor.extract`.

        What a failed extraction had cost by then is told by `chat.spent(error)`.
        """
        prompt = Prompt(
            name="memories",
            system=self._instructions,
            messages=(question(turn, context),),
            schema=self._schema,
        )
        with metered(self._observer, "extract") as meter:
            proposals = await self._proposals(prompt, meter)
        return Extraction(proposals=_in_order(proposals, turn.content), usage=meter.usage)

    async def aclose(self) -> None:
        """Close the model's connections; whoever shares the model loses it."""
        await self._chat.aclose()

    async def _proposals(self, prompt: Prompt, meter: Meter) -> tuple[Proposal, ...]:
        expires_at = self._chat.expires_at()
        if self._sweep == 1:
            return await self._answer(prompt, 0.0, meter, expires_at)
        temperatures = [HOTTEST * step / (self._sweep - 1) for step in range(self._sweep)]
        results = await asyncio.gather(
            *(self._answer(prompt, one, meter, expires_at) for one in temperatures), return_exceptions=True
        )
        answers = [one for one in results if not isinstance(one, BaseException)]
        failures = [one for one in results if isinstance(one, BaseException)]
        fatal = [one for one in failures if not isinstance(one, ProviderError)]
        if fatal or len(answers) <= self._sweep / 2:
            raise [*fatal, *failures][0]
        return agreed(answers, self._types)

    async def _answer(
        self, prompt: Prompt, temperature: float, meter: Meter, expires_at: float
    ) -> tuple[Proposal, ...]:
        reply = await self._ask(prompt, temperature, meter, expires_at)
        reading = self._reader.read(reply.text)
        if reading.faults:
            told = correction(fault.told for fault in reading.faults[:_TOLD])
            reply = await self._ask(prompt.corrected(reply.text, told), temperature, meter, expires_at)
            reading = self._reader.read(reply.text)
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

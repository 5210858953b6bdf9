"""Two language models as one: the second is asked where the first is down, misconfigured, or refuses to answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass

from app.errors import ProviderError
from app.memory.extraction import TokenUsage
from app.providers.chat import Prompt, Reply, Stop, StreamingChat

_SHARE = 0.5
"""Share of the time that is left until a deadline which the first model may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FallbackChat:
    """A chat model with another one to fall back to; `fell_back` is called each time that one is asked."""

    first: StreamingChat
    second: StreamingChat
    fell_back: Callable[[], None]

    @property
    def name(self) -> str:
        """The first model's name: memories are recorded as extracted by it."""
        return self.first.name

    @property
    def max_tokens(self) -> int:
        """The most tokens of an answer."""
        return self.first.max_tokens

    @property
    def fault(self) -> str | None:
        """How the last call of the first model failed; None when it succeeded."""
        return self.first.fault

    def expires_at(self) -> float:
        """Return when work begun now is overdue, by the event loop's clock."""
        return self.first.expires_at()

    async def complete(self, prompt: Prompt, *, temperature: float, expires_at: float) -> Reply:
        """Return the first model's answer, or else the second's; the tokens of both are counted."""
        spent = TokenUsage()
        try:
            reply = await self.first.complete(prompt, temperature=temperature, expires_at=_half(expires_at))
        except ProviderError:
            pass
        else:
            if reply.stop is not Stop.REFUSED:
                return reply
            spent = reply.usage
        self.fell_back()
        reply = await self.second.complete(prompt, temperature=temperature, expires_at=expires_at)
        return Reply(text=reply.text, stop=reply.stop, usage=spent + reply.usage)

    async def stream(self, prompt: Prompt, *, temperature: float, expires_at: float) -> AsyncGenerator[Reply]:
        """Yield the first model's reply as it grows, or the second's where the first has not begun."""
        begun = False
        try:
            replies = self.first.stream(prompt, temperature=temperature, expires_at=_half(expires_at))
            async with aclosing(replies) as first:
                async for reply in first:
                    if reply.stop is Stop.REFUSED and not begun:
                        break
                    begun = begun or bool(reply.text)
                    yield reply
                else:
                    return
        except ProviderError:
            if begun:
                raise
        self.fell_back()
        async with aclosing(self.second.stream(prompt, temperature=temperature, expires_at=expires_at)) as second:
            async for reply in second:
                yield reply

    async def aclose(self) -> None:
        """Close the connections of both."""
        await self.first.aclose()
        await self.second.aclose()


def _half(expires_at: float) -> float:
    now = asyncio.get_running_loop().time()
    return now + (expires_at - now) * _SHARE

"""Chat models on the stand-in provider, of both wire formats, and what was told of their use."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from typing import Any, Final
from uuid import uuid4

import pytest
import pytest_asyncio
from pydantic import SecretStr

from app.memory.extraction import Proposal, Role, TokenUsage, Turn
from app.memory.registry import discover
from app.memory.spec import MemoryType
from app.model import Scope, ScopeKind
from app.providers.anthropic_messages import AnthropicMessages
from app.providers.chat import ChatModel, ChatSpec
from app.providers.http import HttpPolicy
from app.providers.model_extractor import ModelExtractor
from app.providers.model_tasks import ModelJudge
from app.providers.openai_chat import OpenAIChat
from tests.provider_server.fixtures import StandIn
from tests.providers.embedding import KEY, POLICY

TYPES: Final = tuple(discover())
SAID_AT: Final = datetime(2026, 5, 12, 7, 14, tzinfo=UTC)

WORK: Final = {"type": "fact", "payload": {"subject": "user", "predicate": "works-at", "object": "Volkswagen"}}
DARK: Final = {"type": "preference", "payload": {"preference_key": "editor.theme", "preference_value": "dark"}}
LIGHT: Final = {"type": "preference", "payload": {"preference_key": "editor.theme", "preference_value": "light"}}


def turn(
    content: str = "I work at Volkswagen.", role: Role = Role.USER, speaker: str | None = None, zone: tzinfo = UTC
) -> Turn:
    scope = Scope(kind=ScopeKind.USER, user_id="u1")
    return Turn(id=uuid4(), scope=scope, role=role, content=content, occurred_at=SAID_AT, zone=zone, speaker=speaker)


def told(proposals: Iterable[Proposal]) -> list[tuple[str, dict[str, object]]]:
    return [(one.type, dict(one.payload)) for one in proposals]


@dataclass(slots=True)
class Kit:
    """Makes models that speak one wire format; nothing they wait for is waited."""

    wire: str
    url: str
    outcomes: list[tuple[str, str, TokenUsage]] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    made: list[ChatModel] = field(default_factory=list)

    @property
    def path(self) -> str:
        return {"openai": "/v1/chat/completions", "anthropic": "/v1/messages"}[self.wire]

    def chat(self, policy: HttpPolicy = POLICY, **changes: Any) -> ChatModel:
        spec = ChatSpec(base_url=self.url, model="stand-in", api_key=SecretStr(KEY))
        model = OpenAIChat if self.wire == "openai" else AnthropicMessages
        made: ChatModel = model(replace(spec, **changes), policy=policy, sleep=self._sleep)
        self.made.append(made)
        return made

    def extractor(
        self,
        policy: HttpPolicy = POLICY,
        sweep: int = 1,
        window: int = 1,
        types: Iterable[MemoryType] = TYPES,
        **changes: Any,
    ) -> ModelExtractor:
        return ModelExtractor(self.chat(policy, **changes), types, sweep=sweep, window=window, observer=self._observe)

    def judge(self, policy: HttpPolicy = POLICY) -> ModelJudge:
        return ModelJudge(chat=self.chat(policy), observer=self._observe)

    def _observe(self, purpose: str, outcome: str, seconds: float, usage: TokenUsage) -> None:
        assert seconds >= 0
        self.outcomes.append((purpose, outcome, usage))

    async def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)


@pytest_asyncio.fixture(params=["openai", "anthropic"])
async def kit(request: pytest.FixtureRequest, provider: StandIn) -> AsyncIterator[Kit]:
    made = Kit(request.param, provider.url)
    yield made
    for chat in made.made:
        await chat.aclose()


async def requests(provider: StandIn) -> list[dict[str, Any]]:
    return [one["body"] for one in (await provider.seen())["requests"]]


def instructions_in(body: dict[str, Any]) -> str:
    if "system" in body:
        return "".join(one["text"] for one in body["system"])
    return str(body["messages"][0]["content"])

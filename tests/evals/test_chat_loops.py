"""A chat is told to the service turn by turn, and its blocks are judged."""

from __future__ import annotations

from collections.abc import AsyncIterator
from io import StringIO
from uuid import uuid4

import pytest
from pydantic import SecretStr
from rich.console import Console

from app.assembly import build_runtime
from app.model import Actor
from app.services.index_maintenance import IndexMaintenance
from app.settings import Settings
from evals.chat.dialogues import Change, Chat, ChatQuestion
from evals.chat.loops import evaluate_changes, evaluate_chats, run_chat
from evals.service import Bench

CHAT = Chat(
    sessions=("s1", "s2"),
    turns=(
        ("s1", "user", "I live in Oslo."),
        ("s1", "assistant", "Oslo is lovely."),
        ("s2", "user", "My sister is called Runa."),
    ),
    questions=(
        ChatQuestion(question="Where do I live?", need=("oslo",), may=("",)),
        ChatQuestion(question="What is my sister called?", need=("runa", "never said"), may=("",)),
    ),
)
CHANGE = Change(
    id="home",
    turns=("I live in Oslo.", "I live in Bergen now."),
    question="Where does the user live?",
    new="bergen",
    old="oslo",
)


@pytest.fixture
async def bench(fresh_database_url: str) -> AsyncIterator[Bench]:
    async with build_runtime(Settings(database_url=SecretStr(fresh_database_url), bootstrap_key=None)) as runtime:
        tenant = await runtime.tenants.create(f"evaluation {uuid4()}")
        actor = Actor(tenant_id=tenant.id, key_id=None, name="evaluation")
        upkeep = IndexMaintenance(database=runtime.database, language="english")
        yield Bench(runtime=runtime, upkeep=upkeep, actor=actor)


async def test_a_chat_is_told_asked_and_judged(bench: Bench) -> None:
    done = await run_chat(bench, "made up", CHAT)
    assert [question for question, _ in done.judged] == ["Where do I live?", "What is my sister called?"]
    assert (done.noise, done.missing, done.stale) == (0, 1, 0)
    assert done.lines > 0


@pytest.mark.long
async def test_figures_are_printed_and_compared_with_their_goals(bench: Bench) -> None:
    console = Console(record=True, width=160, file=StringIO())
    reached = await evaluate_chats(bench, "chats", {"made up": CHAT}, console, verbose=True)
    reached += await evaluate_changes(bench, "updates", [CHANGE], console, verbose=True)
    assert [(one.value, one.met) for one in reached] == [(0, True), (1, False), (0, True), (1, True)]
    printed = console.export_text()
    assert "made up: What is my sister called? :: noise 0 lacks ['never said'] stale 0" in printed
    assert "home" in printed

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from io import StringIO
from uuid import uuid4

from pydantic import SecretStr
from rich.console import Console

from app.assembly import build_runtime
from app.model import Actor
from app.services.index_maintenance import IndexMaintenance
from app.settings import Settings
from evals.datasets import Conversation, Turn
from evals.ingested import Written, ingest, show
from evals.service import Bench

SAID = (
    "I live in Oslo with my sister.",
    "Thanks!",
    "I live in Bergen now.",
    "I work at Acme as an engineer.",
    "I work at Acme as an engineer.",
)


def conversation() -> Conversation:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    turns = (
        Turn(f"s{day}:0", f"s{day}", 0, "user", text, start + timedelta(days=day)) for day, text in enumerate(SAID)
    )
    return Conversation("made up", tuple(turns), ())


async def written(database_url: str) -> Written:
    settings = Settings(database_url=SecretStr(database_url), bootstrap_key=None)
    async with build_runtime(settings) as runtime:
        tenant = await runtime.tenants.create(f"evaluation {uuid4()}")
        actor = Actor(tenant_id=tenant.id, key_id=None, name="evaluation")
        upkeep = IndexMaintenance(database=runtime.database, language="english")
        return await ingest(Bench(runtime=runtime, upkeep=upkeep, actor=actor), "made up set", conversation())


async def test_a_conversation_is_ingested_and_its_store_looked_at(fresh_database_url: str) -> None:
    done = await written(fresh_database_url)
    assert (done.turns, done.skipped) == (5, 1)
    [gone] = done.superseded
    assert (gone.old.content, gone.new.content) == ("user lives in Oslo", "user lives in Bergen")
    assert done.told.decisions["superseded"] == 1
    assert done.told.decisions["merged"] >= 1
    assert done.active == done.told.decisions["added"]
    assert done.pairs == ()

    console = Console(record=True, width=160, file=StringIO())
    show(console, [done], read=True)
    printed = console.export_text()
    assert f"gave way, {gone.digest}, unread: user lives in Oslo -> user lives in Bergen" in printed
    assert "made up set" in printed

"""Extraction of turns by the provider's batch endpoint: slow, and half the price.

All windows of a job's turns go into one batch, so none sees what is stored or what another one led to: they are asked
without known lines, and slots and keys alone decide what replaces what. The answers are stored with the turns, and the
pipeline goes on from there as after a crash. What has no usable answer is asked about by itself, with known lines.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from app.db import quotas
from app.db import turns as db_turns
from app.db.session import Database
from app.errors import ProviderError, ProviderMisconfigured, ProviderProtocolError
from app.memory.extraction import Extraction, TokenUsage, TurnStatus
from app.model import Actor
from app.providers.factory import Prices
from app.providers.model_extractor import ModelExtractor
from app.providers.openai_batches import DISCOUNT, Batch, OpenAIBatches
from app.services.extraction import ExtractionPolicies
from app.write.extract import extraction_to_json
from app.write.turns import IngestPipeline

LONGEST_WAIT = timedelta(hours=26)
"""The time after which a batch is given up: providers promise a day."""

NO_BATCH = (ProviderMisconfigured, ProviderProtocolError)
"""Errors after which a batch is not tried again: the provider has none, or not this one."""

State = dict[str, Any]
"""A batch as a job keeps it: its id, since when, and the turns of each window by the window's id; its end in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnBatches:
    """Batches of turns; `poll` is the seconds between looks at one."""

    database: Database
    pipeline: IngestPipeline
    policies: ExtractionPolicies
    extractor: ModelExtractor
    batches: OpenAIBatches
    prices: Prices
    clock: Callable[[], datetime]
    poll: float

    async def start(self, actor: Actor, turns: Collection[UUID], *, job: UUID) -> State:
        """Send those of the turns that wait as a batch; return its state, which says why where there is none."""
        async with self.database.read(actor.tenant_id) as session:
            policy, version = await self.policies.policy_and_types(session, actor.tenant_id)
            stored = await db_turns.fetch(session, actor.tenant_id, turns)
        types = await self.pipeline.types.at(actor.tenant_id, version)
        waiting = [one.turn for one in stored if one.status is TurnStatus.RECEIVED and one.extraction is None]
        windows = {window[0].turn.id.hex: window for window in await self.pipeline.windows(actor, waiting, policy)}
        if not windows:
            return {"ended": "there was nothing to ask"}
        prompts = {
            name: await self.extractor.prompt(
                [one.turn for one in window], window[0].context, types=types, excluded=policy.excluded_types
            )
            for name, window in windows.items()
        }
        try:
            started = await self.batches.start(prompts, job=job.hex)
        except NO_BATCH as error:
            return {"ended": f"{error.message}; every turn was asked about by itself"}
        asked = {name: [one.turn.id.hex for one in window] for name, window in windows.items()}
        return {"id": started, "since": self.clock().isoformat(), "windows": asked}

    async def look(self, state: Mapping[str, Any]) -> Batch | str | None:
        """Return a batch once it has ended, else how far it is as a batch; words why where it is given up.

        None when the provider could not be asked now.
        """
        overdue = self.clock() - datetime.fromisoformat(state["since"]) > LONGEST_WAIT
        try:
            found = await self.batches.get(state["id"])
        except NO_BATCH as error:
            return error.message
        except ProviderError:
            found = None
        if overdue and (found is None or not found.ended):
            return "it was not done in time"
        return found

    async def take(self, actor: Actor, state: Mapping[str, Any], batch: Batch) -> State:
        """Store the answers of a batch that has ended with their turns; return the state, which says how it ended."""
        try:
            replies = await self.batches.replies(batch)
        except NO_BATCH:
            replies = {}
        windows: Mapping[str, list[str]] = state["windows"]
        async with self.database.read(actor.tenant_id) as session:
            policy, version = await self.policies.policy_and_types(session, actor.tenant_id)
            asked = [UUID(one) for window in windows.values() for one in window]
            stored = {one.turn.id: one for one in await db_turns.fetch(session, actor.tenant_id, asked)}
        types = await self.pipeline.types.at(actor.tenant_id, version)
        told: dict[UUID, Extraction] = {}
        usage, used = TokenUsage(), 0
        for name, window in windows.items():
            reply = replies.get(name)
            turns = [stored[UUID(one)] for one in window if UUID(one) in stored]
            if reply is None or len(turns) < len(window) or any(one.status is not TurnStatus.RECEIVED for one in turns):
                continue
            usage += reply.usage
            said = [one.turn for one in turns]
            read = await self.extractor.read(reply, said, types=types, excluded=policy.excluded_types)
            if read is not None:
                used += 1
                told |= zip((one.id for one in said), read, strict=True)
        async with self.database.write(actor.tenant_id) as session:
            kept = {turn: extraction_to_json(one) for turn, one in told.items()}
            await db_turns.save_extractions(session, actor.tenant_id, kept)
            cost = self.prices.cost(usage) * DISCOUNT
            await quotas.add_model_use(session, actor, self.clock().date(), usage, cost)
        await self.batches.discard(batch)
        left = len(windows) - used
        rest = f"; {left} of {len(windows)} requests were asked again one by one" if left else ""
        return {"ended": f"the batch ended as {batch.status}{rest}"}

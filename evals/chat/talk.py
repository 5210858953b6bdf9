"""One user's conversation with the service under evaluation: what is told, and the block that a question gets.

Bodies are read as the API reads them, so its defaults count. Before a question, what a service does within seconds of
a write is done: hypothetical questions are stored, and lexical weights are recomputed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID, uuid4

from app.api.memories.bodies import build, candidates_from_batch
from app.api.query import QueryBody
from app.api.turn_bodies import TurnsBody, turns_from_body, turns_given
from app.db.session import statement
from app.db.turns import StoredTurn
from app.errors import TypedMemoryError
from app.model import Scope, ScopeKind
from app.read.values import IdStyle, QueryResult
from app.write.hype import Hype
from evals.chat.score import lines_of
from evals.service import Bench

ASKED_AT: Final = datetime(2026, 8, 28, 12, tzinfo=UTC)
"""When questions are asked, and before when everything was told."""

_ACTIVE: Final = statement(
    "SELECT id FROM memories WHERE tenant_id = :tenant AND scope_id = :scope AND status = 'active'"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """A user of their own."""

    bench: Bench
    user: str = field(default_factory=lambda: f"chat {uuid4()}")
    _questioned: set[UUID] = field(default_factory=set)

    async def tell(self, session: str, turns: Sequence[Mapping[str, Any]]) -> Sequence[StoredTurn]:
        """Send turns of a session in one request, and return them, processed, in their order."""
        body = TurnsBody.model_validate({"user_id": self.user, "session_id": session, "turns": turns})
        told = turns_from_body(body, turns_given(body), ASKED_AT)
        await self.bench.runtime.turns.store(self.bench.actor, told, [one.metadata for one in told])
        return await self.bench.runtime.turns.process(self.bench.actor, [one.id for one in told])

    async def write(self, memories: Sequence[Mapping[str, Any]]) -> None:
        """Write typed memories in one request."""
        runtime = self.bench.runtime
        bodies = [{**one, "user_id": self.user, "scope": "user"} for one in memories]
        checked = build(runtime.types).batch.model_validate({"memories": bodies})
        candidates = candidates_from_batch(
            checked.memories,  # type: ignore[attr-defined]
            runtime.types,
            ASKED_AT,
        )
        for result in await runtime.memories.write_all(self.bench.actor, candidates):
            if isinstance(result, TypedMemoryError):
                raise result

    async def ask(
        self, question: str, *, now: datetime = ASKED_AT, session: str | None = None, ids: IdStyle = IdStyle.NONE
    ) -> QueryResult:
        """Ask at the defaults; `ids` is what a line has of its memory."""
        runtime, tenant = self.bench.runtime, self.bench.actor.tenant_id
        await self._follow_up(tenant)
        about = {"query": question, "user_id": self.user, "now": now.isoformat(), "session_id": session, "ids": ids}
        body = QueryBody.model_validate(about)
        request = body.to_request(await runtime.type_book.naming(tenant, body.types), now)
        return (await runtime.queries.pipeline.answer(tenant, request)).result

    async def block(self, question: str, *, session: str | None = None) -> list[str]:
        """Return the lines of the context block that a question gets."""
        return lines_of((await self.ask(question, session=session)).context.text)

    async def _follow_up(self, tenant: UUID) -> None:
        runtime = self.bench.runtime
        scope = Scope(kind=ScopeKind.USER, user_id=self.user).id(tenant)
        async with runtime.database.read(tenant) as session:
            found = await session.fetch(_ACTIVE, {"tenant": tenant, "scope": scope})
            active = {row["id"] for row in found}
        if active <= self._questioned:
            return
        hype = Hype(
            database=runtime.database,
            embedder=runtime.embedder,
            model_id=runtime.model_id,
            writer=runtime.models.question_writer,
            types=runtime.type_book,
        )
        async for _ in hype.ask(tenant, sorted(active - self._questioned)):
            pass
        self._questioned.update(active)
        await self.bench.upkeep.reweigh(tenant, scope)


def told_at(role: str, content: str, at: datetime) -> dict[str, Any]:
    """Return the body of a turn."""
    return {"role": role, "content": content, "occurred_at": at.isoformat()}

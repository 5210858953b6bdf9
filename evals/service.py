"""The service under evaluation: conversations go in as `typed-memory import` sends them, questions come back ranked.

Everything runs in this process on an embedded database of its own, without HTTP; the import's reading of a
conversation, the API's checks and both pipelines are the real ones.
"""

import re
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC
from pathlib import Path
from uuid import UUID, uuid4

from app.api.memories.bodies import build, candidates_from_batch
from app.assembly import build_runtime
from app.errors import TypedMemoryError
from app.features.portability.commands.import_sources import ImportItem, memories
from app.model import Actor, Visibility
from app.read.assemble import estimate_tokens
from app.read.fuse import fuse
from app.read.plan import OPEN
from app.read.values import Arm, IdStyle, QueryPlan, QueryRequest, Scaling
from app.runtime import Runtime
from app.services.index_maintenance import IndexMaintenance
from app.settings import Settings
from evals.answer_words import Shown, answer_words, share_of
from evals.datasets import Conversation, Question, Turn
from evals.metrics import recall_at

BATCH = 500
SERVICE = "service"
"""The name of the service's own ranking, beside those it is compared with."""

SHOWN = 60
"""Memories asked for: enough for recall at 20 of turns, and for five distinct sessions."""

RRF_ARMS = (Arm.SEMANTIC, Arm.LEXICAL, Arm.SEMANTIC_CONTEXT, Arm.LEXICAL_CONTEXT)


DEFAULTS = "at the defaults"
"""The name of the block that a request gets which says no more than its question."""

BUDGETS = (500, 1000, 2000)
"""Tokens that blocks are filled up to, of as many matches as are relevant, beside the block at the defaults."""

_PLACE = re.compile(r"^- \[(\d+)\] ", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question with the turns each way of ranking returned, best first: the service, each arm, plain RRF.

    `blocks` are what contexts show, that at the defaults first, where they were asked for.
    """

    question: Question
    rankings: Mapping[str, tuple[str, ...]]
    blocks: Mapping[str, Shown] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """A tenant of its own to fill and ask."""

    runtime: Runtime
    upkeep: IndexMaintenance
    actor: Actor

    async def learn(self, conversation: Conversation, user: str) -> dict[UUID, str]:
        """Import a conversation for a user; return which turn each memory is."""
        turns = {(turn.session_id, turn.sequence + 1): turn.id for turn in conversation.turns}
        bodies = [
            {**read.body, "user_id": user, "scope": "user"}
            for document in _documents(conversation.turns)
            for read in memories(document, place=conversation.id, name=conversation.id)
            if isinstance(read, ImportItem)
        ]
        batch_model = build(self.runtime.types).batch
        known: dict[UUID, str] = {}
        for start in range(0, len(bodies), BATCH):
            checked = batch_model.model_validate({"memories": bodies[start : start + BATCH]})
            candidates = candidates_from_batch(
                checked.memories,  # type: ignore[attr-defined]
                self.runtime.types,
                self.runtime.clock(),
            )
            results = await self.runtime.memories.write_all(self.actor, candidates)
            for result in results:
                if isinstance(result, TypedMemoryError):
                    raise result
                stored = result.memory
                if stored is not None and stored.session_id is not None and stored.sequence_number is not None:
                    known[stored.id] = turns[stored.session_id, stored.sequence_number]
        for scope in Visibility(user_id=user).scopes():
            await self.upkeep.reweigh(self.actor.tenant_id, scope.id(self.actor.tenant_id))
        return known

    async def ask(self, question: Question, user: str, known: Mapping[UUID, str]) -> Asked:
        """Ask as a caller would, with the question's own time as now."""
        request = replace(_request(question, user), top_k=SHOWN, min_relevance=0.0)
        answer = await self.runtime.queries.pipeline.answer(self.actor.tenant_id, request)
        plain = [one.id for one in fuse(answer.arms, _plain())]
        rankings = {
            SERVICE: [hit.memory.id for hit in answer.result.hits],
            "plain RRF, k=60": plain,
            **{f"arm {arm}": [memory for memory, _ in found] for arm, found in answer.arms.items()},
        }
        return Asked(
            question=question,
            rankings={
                name: tuple(known[memory] for memory in found if memory in known) for name, found in rankings.items()
            },
        )

    async def blocks(
        self, question: Question, user: str, known: Mapping[UUID, str], texts: Mapping[str, str]
    ) -> dict[str, Shown]:
        """Return what the block at the defaults shows, and those filled up to each budget; `texts` are the turns'."""
        plainly = replace(_request(question, user), ids=IdStyle.SHORT)
        requests = {
            DEFAULTS: plainly,
            **{f"{one} tokens": replace(plainly, top_k=SHOWN, token_budget=one) for one in BUDGETS},
        }
        return {name: await self._shown(one, question, known, texts) for name, one in requests.items()}

    async def _shown(
        self, request: QueryRequest, question: Question, known: Mapping[UUID, str], texts: Mapping[str, str]
    ) -> Shown:
        """Return what the block of a request, whose lines have places, shows of the evidence and of the answer."""
        result = (await self.runtime.queries.pipeline.answer(self.actor.tenant_id, request)).result
        placed = [result.hits[int(one) - 1].memory.id for one in _PLACE.findall(result.context.text)]
        turns = [known[one] for one in placed if one in known]
        plain = _PLACE.sub("- ", result.context.text)
        return Shown(
            tokens=estimate_tokens(plain),
            evidence=recall_at(turns, question.evidence_turns, len(turns)),
            words=share_of(answer_words(question, texts), plain),
        )


def _request(question: Question, user: str) -> QueryRequest:
    asked_at = question.asked_at.astimezone(UTC)
    return QueryRequest(query=question.text, now=asked_at, visibility=Visibility(user_id=user), widens=True)


def _plain() -> QueryPlan:
    """Return the textbook fusion over the same lists: every text arm weighs one, scores don't count."""
    return replace(
        OPEN,
        name="plain",
        weights=dict.fromkeys(RRF_ARMS, 1.0),
        scaling=dict.fromkeys(Arm, Scaling.EQUAL),
        k=60,
        considered=SHOWN,
    )


@contextmanager
def data_folder() -> Iterator[Path]:
    """Make a folder for a database, which may run as another user, and remove it at the end."""
    with tempfile.TemporaryDirectory(prefix="typed-memory-evals-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder) / "data"


@asynccontextmanager
async def opened(folder: Path, **settings: object) -> AsyncIterator[Bench]:
    """Start the service on a database in the folder, with a tenant of its own; settings are those of the service."""
    async with build_runtime(Settings.model_validate({"data_dir": folder, **settings})) as runtime:
        tenant = await runtime.tenants.create(f"evaluation {uuid4()}")
        actor = Actor(tenant_id=tenant.id, key_id=None, name="evaluation")
        upkeep = IndexMaintenance(database=runtime.database, language=runtime.settings.language)
        yield Bench(runtime=runtime, upkeep=upkeep, actor=actor)


def _documents(turns: Sequence[Turn]) -> Iterator[dict[str, object]]:
    """Yield each session as a conversation export has it."""
    sessions: dict[str, list[Turn]] = {}
    for turn in turns:
        sessions.setdefault(turn.session_id, []).append(turn)
    for session_id, spoken in sessions.items():
        yield {"session_id": session_id, "messages": [_message(turn) for turn in spoken]}


def _message(turn: Turn) -> dict[str, object]:
    said = {"content": turn.text, "timestamp": turn.occurred_at.isoformat()}
    if turn.speaker in {"user", "assistant"}:
        return {"role": turn.speaker, **said}
    return {"role": "user", "name": turn.speaker, **said}

"""`make eval ARGS="--set hype"`: what hypothetical questions are worth, by type, in the same store without and with.

Typed memories get the questions that the service would give them. Turns get some as well, which it would not:
the figures say why.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from uuid import UUID

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from app.db.session import statement
from app.errors import TypedMemoryError
from app.memory.candidate import Candidate
from app.memory.registry import Registry
from app.model import Scope, ScopeKind
from app.providers.protocols import RuleQuestions
from app.write.hype import Hype
from evals.datasets import Conversation, Question, load_locomo, load_longmemeval_oracle
from evals.metrics import mean, recall_at
from evals.report import scorable
from evals.service import SERVICE, Asked, Bench
from evals.typed import Item, Shelf, observations, paraphrases

SEMANTIC = "arm semantic"
DEPTHS = (5, 10, 20)
ALL = "all"

_COUNT = statement(
    "SELECT count(*) FROM hypothetical_embeddings WHERE tenant_id = :tenant AND memory_id = ANY(:memories)"
)


@dataclass(frozen=True, slots=True)
class Compared:
    """The same questions answered by the same memories, without and with questions of theirs."""

    without: Sequence[Asked]
    with_them: Sequence[Asked]
    memories: int
    questions: int
    seconds: float

    def gain(self, ranking: str, k: int, category: str) -> tuple[float, float]:
        """Return recall@k of a ranking, without and with."""
        both = (self.without, self.with_them)
        found = [
            [
                recall_at(one.rankings.get(ranking, ()), one.question.evidence_turns, k)
                for one in asked
                if category in {ALL, one.question.category}
            ]
            for asked in both
        ]
        return mean(found[0]), mean(found[1])


async def compare(bench: Bench, root: Path, limit: int | None, console: Console) -> None:
    """Measure every set that is there and print its table; `limit` takes only the first so many conversations."""
    sets = {"our paraphrases, among decoys": [_typed(bench, paraphrases())]}
    if (root / "locomo").is_dir():
        told = list(observations(root))[:limit]
        spoken = load_locomo(root)[:limit]
        sets["LoCoMo dev, observations as facts and events"] = [_typed(bench, shelf) for shelf in told]
        sets["LoCoMo dev, turns beside such facts and events"] = [
            _both(bench, conversation, shelf) for conversation, shelf in zip(spoken, told, strict=True)
        ]
        sets["LoCoMo dev, turns with questions of their own"] = [_turns(bench, one) for one in spoken]
    if (root / "longmemeval").is_dir():
        sets["LongMemEval oracle dev, turns with questions of their own"] = [
            _turns(bench, one) for one in load_longmemeval_oracle(root)[:limit] if any(map(scorable, one.questions))
        ]
    with Progress(console=console) as progress:
        for name, work in sets.items():
            _show(console, name, [await one for one in progress.track(work, description=name)])


async def _typed(bench: Bench, shelf: Shelf) -> Compared:
    """Store a shelf and compare; items that merged count as the first of them."""
    stored = await _stored(bench, shelf.items, shelf.name)
    known: dict[UUID, str] = {}
    counts_as = {item.id: known.setdefault(memory, item.id) for item, memory in stored}
    questions = [
        replace(one, evidence_turns=tuple(dict.fromkeys(counts_as[item] for item in one.evidence_turns)))
        for one in shelf.questions
    ]
    return await _compared(bench, questions, shelf.name, known, bench.runtime.types)


async def _both(bench: Bench, conversation: Conversation, shelf: Shelf) -> Compared:
    """Import a conversation and store what was made of it; either may tell the evidence. Only facts are asked about."""
    user = f"{conversation.id}, both"
    known = await bench.learn(conversation, user)
    for item, memory in await _stored(bench, shelf.items, user):
        known.setdefault(memory, next(iter(item.turns), ""))
    questions = [replace(one, category=ALL) for one in conversation.questions if scorable(one)]
    return await _compared(bench, questions, user, known, bench.runtime.types)


async def _turns(bench: Bench, conversation: Conversation) -> Compared:
    """Import a conversation and compare, with questions for its turns."""
    user = f"{conversation.id}, turns"
    known = await bench.learn(conversation, user)
    questions = [replace(one, category=ALL) for one in conversation.questions if scorable(one)]
    types = {one.name: replace(one, asked_by_questions=True) for one in bench.runtime.types}
    return await _compared(bench, questions, user, known, Registry(types))


async def _stored(bench: Bench, items: Sequence[Item], user: str) -> list[tuple[Item, UUID]]:
    """Store items for a user and return each with the memory that holds it."""
    types, scope = bench.runtime.types, Scope(kind=ScopeKind.USER, user_id=user)
    candidates = [
        Candidate(
            type=types.get(one.type),
            payload=types.get(one.type).payload.model_validate(one.payload),
            scope=scope,
            stated_at=one.stated_at,
        )
        for one in items
    ]
    results = await bench.runtime.memories.write_all(bench.actor, candidates)
    await bench.upkeep.reweigh(bench.actor.tenant_id, scope.id(bench.actor.tenant_id))
    held: list[tuple[Item, UUID]] = []
    for item, result in zip(items, results, strict=True):
        if isinstance(result, TypedMemoryError):
            raise result
        if result.memory is None:
            raise AssertionError(f"{item.id} was not stored: {result.reason}")
        held.append((item, result.memory.id))
    return held


async def _compared(
    bench: Bench, questions: Sequence[Question], user: str, known: Mapping[UUID, str], types: Registry
) -> Compared:
    """Ask, give the memories their questions, and ask again."""
    without = [await bench.ask(one, user, known) for one in questions]
    runtime, tenant = bench.runtime, bench.actor.tenant_id
    hype = Hype(
        database=runtime.database,
        embedder=runtime.embedder,
        model_id=runtime.model_id,
        writer=RuleQuestions(language="english"),
        types=types,
    )
    since = perf_counter()
    async for _ in hype.ask(tenant, list(known)):
        pass
    seconds = perf_counter() - since
    async with runtime.database.read(tenant) as session:
        [[count]] = await session.fetch(_COUNT, {"tenant": tenant, "memories": list(known)})
    with_them = [await bench.ask(one, user, known) for one in questions]
    return Compared(without, with_them, len(known), count, seconds)


def _show(console: Console, name: str, done: Sequence[Compared]) -> None:
    together = Compared(
        [asked for one in done for asked in one.without],
        [asked for one in done for asked in one.with_them],
        sum(one.memories for one in done),
        sum(one.questions for one in done),
        sum(one.seconds for one in done),
    )
    table = Table(title=name, title_justify="left")
    for column in ("about", "asked", "ranking", "questions"):
        table.add_column(column)
    for k in DEPTHS:
        table.add_column(f"R@{k}", justify="right")
    categories = sorted({one.question.category for one in together.without} - {ALL})
    for category in [ALL, *categories]:
        asked = sum(category in {ALL, one.question.category} for one in together.without)
        for ranking in (SEMANTIC, SERVICE):
            gains = [together.gain(ranking, k, category) for k in DEPTHS]
            table.add_row(category, str(asked), ranking, "without", *(f"{before:.3f}" for before, _ in gains))
            table.add_row("", "", "", "with", *(f"{after:.3f}" for _, after in gains))
        table.add_section()
    each = together.questions / max(1, together.memories)
    table.caption = (
        f"{together.memories:,} memories, {each:.1f} questions each, "
        f"written in {together.seconds / max(1, together.memories) * 1000:.1f} ms each"
    )
    console.print(table)

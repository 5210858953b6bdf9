"""Redaction of turns for the erasure of a memory: sentences that say it go from turns and from memories that keep them.

The rewritten memories are embedded before the transaction that erases; in it the same is computed again, and an
erasure whose turns have changed meanwhile begins anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from app import ids
from app.db.apply.memories import RowChange
from app.db.apply.scope import apply
from app.db.entities import write_lookup
from app.db.erasure import rows, traces
from app.db.erasure.traces import QuotedTurn
from app.db.memories.read import read_memories, read_memory, read_whole
from app.db.session import ReadSession, WriteSession
from app.lexical.bm25 import searched_terms
from app.lexical.counts import ScopeCounts
from app.lexical.excision import Excision, Wording, excise
from app.memory.audit import AuditAction
from app.memory.fields import texts_in, with_texts
from app.memory.registry import Registry
from app.model import Actor, Memory
from app.write.pipeline import WritePipeline
from app.write.remade import candidate_of
from app.write.rows import PendingRows, WriteContext, add_index, audit
from app.write.values import Prepared
from app.write.wording import restatements, wording_of

SAID = "content"
"""The field of a memory of a turn that holds its words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RedactedTurn:
    """A turn with what it loses, and the quotations of other memories that are lost with it."""

    turn: QuotedTurn
    excision: Excision
    unquoted: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Redaction:
    """Turns, and memories that keep turns, that lose words with an erased memory.

    `sources` are the turns that it rests on, `turns` those that lose words and are needed by others, `rewritten` the
    new words of memories that keep a turn, `emptied` those of which nothing would be left. `holding` are the turns
    that hold words of the memory even then.
    """

    sources: tuple[QuotedTurn, ...] = ()
    turns: tuple[RedactedTurn, ...] = ()
    rewritten: Mapping[UUID, str] = field(default_factory=dict)
    emptied: tuple[UUID, ...] = ()
    holding: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedRedaction:
    """The new words of memories that keep turns, and these memories prepared with them."""

    rewritten: Mapping[UUID, str] = field(default_factory=dict)
    prepared: Mapping[UUID, Prepared] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRedaction:
    """Computes and applies redactions."""

    pipeline: WritePipeline

    async def prepare(self, actor: Actor, memory: UUID, types: Registry) -> PreparedRedaction:
        """Return what goes with a memory, with the rewritten memories embedded; nothing if there is no such memory."""
        tenant = actor.tenant_id
        async with self.pipeline.database.read(tenant) as session:
            gone = await read_memory(session, tenant, memory)
            found = Redaction() if gone is None else await self.find(session, tenant, gone, types)
            stored = await read_whole(session, tenant, found.rewritten)
        candidates = {
            key: candidate_of(replace(one, payload={**one.payload, SAID: found.rewritten[key]}), unshown, types)
            for key, (one, unshown) in stored.items()
        }
        made = await self.pipeline.prepared([replace(one, content=None) for one in candidates.values()])
        return PreparedRedaction(rewritten=found.rewritten, prepared=dict(zip(candidates, made, strict=True)))

    async def find(self, session: ReadSession, tenant: UUID, gone: Memory, types: Registry) -> Redaction:
        """Return what goes with a memory, as far as its scope holds it."""
        sources = await traces.sources(session, tenant, gone.id)
        spec = types.find(gone.type)
        if spec is None or spec.verbatim:
            return Redaction(sources=tuple(sources), holding=tuple(one.id for one in sources if one.others))
        scope = gone.scope.id(tenant)
        wording = wording_of(
            spec, gone.payload, content=gone.content, subject=gone.subject, language=self.pipeline.language
        )
        found = await traces.holding(session, tenant, scope, memory=gone.id, needles=wording.needles)
        own = {one.id for one in sources}
        others = [one for one in found if one.id not in own]
        redacted = [_redacted(one, wording) for one in (*sources, *restatements(sources, others))]
        kept = [one for one in redacted if one.turn.others or one.turn.id not in own]
        episodes = await self._episodes(session, tenant, scope, kept, wording, types)
        held = {one.turn.id: one.excision.text() for one in kept} | {
            one.id: one.content for one in others if one.id not in {each.turn.id for each in kept}
        }
        return Redaction(
            sources=tuple(sources),
            turns=tuple(one for one in kept if one.excision.spans),
            rewritten={key: one.text() for key, one in episodes.items() if not one.leaves_nothing},
            emptied=tuple(key for key, one in episodes.items() if one.leaves_nothing),
            holding=tuple(sorted(key for key, text in held.items() if _holds(text, wording))),
        )

    async def quoted(self, session: ReadSession, tenant: UUID, gone: Memory) -> Redaction:
        """Return what turns lose with a memory that is erased beside another one: the sentences quoted for it."""
        sources = await traces.sources(session, tenant, gone.id)
        redacted = [_redacted(one, Wording()) for one in sources if one.others]
        return Redaction(sources=tuple(sources), turns=tuple(one for one in redacted if one.excision.spans))

    async def _episodes(
        self,
        session: ReadSession,
        tenant: UUID,
        scope: UUID,
        redacted: Sequence[RedactedTurn],
        wording: Wording,
        types: Registry,
    ) -> dict[UUID, Excision]:
        """Return what the memories that keep these turns lose."""
        by_turn = {one.turn.id: one.turn for one in redacted if one.excision.spans}
        verbatim = [one.name for one in types if one.verbatim]
        kept_by = await traces.verbatim_of(session, tenant, scope, turns=by_turn, types=verbatim)
        memories = await read_memories(session, tenant, kept_by)
        cut = {
            key: _excised(str(memories[key].payload.get(SAID, "")), by_turn[turn], wording)
            for key, turn in kept_by.items()
            if key in memories
        }
        return {key: one for key, one in cut.items() if one.spans}

    async def rewrite(
        self, session: WriteSession, actor: Actor, scope: UUID, prepared: Mapping[UUID, Prepared], now: datetime
    ) -> None:
        """Give memories of a locked scope their new words, and erase the old ones; their index rows are new."""
        tenant = actor.tenant_id
        stored = await read_memories(session, tenant, prepared)
        if not stored:
            return
        indexed = await traces.index_columns(session, tenant, stored)
        state, _, _ = await write_lookup.read_names(session, tenant=tenant, scope=scope, names=())
        pipeline = self.pipeline
        around = WriteContext(
            tenant=tenant,
            scope=scope,
            actor=actor.name,
            now=now,
            model_id=pipeline.model_id,
            lexical_average=state.lexical_average or 1.0,
            ann=state.ann,
            language=pipeline.language,
        )
        plan = PendingRows(around)
        for one in stored.values():
            _rewrite(plan, one, prepared[one.id], indexed[one.id])
        where = next(iter(stored.values())).scope
        await apply(session, tenant=tenant, scope=where, version=state.version, changes=plan.changes())
        await traces.forget_wording(session, tenant, stored)


async def censor(
    session: WriteSession, actor: Actor, gone: Memory, redaction: Redaction, now: datetime
) -> tuple[list[str], int]:
    """Take the words of an erased memory off turns that stay; return the texts to look for elsewhere, and the count."""
    tenant, scope = actor.tenant_id, gone.scope.id(actor.tenant_id)
    quotes = [one.quote for one in gone.evidence if one.quote is not None]
    lost = [part for one in redaction.turns for part in one.excision.cut]
    alone = [one.content for one in redaction.sources if not one.others]
    wanted = identifying_texts(gone, [*quotes, *lost, *alone])
    cut = {one.turn.id: one for one in redaction.turns}
    stay = [one for one in redaction.sources if one.others]
    count = 0
    for turn in {one.id: one for one in (*stay, *(each.turn for each in redaction.turns))}.values():
        content = cut[turn.id].excision.text(BLANK) if turn.id in cut else turn.content
        report = redact_turn_report(turn.report, ids.public(ids.MEMORY, gone.id), wanted)
        count += await rows.censor(session, tenant, turn.id, content=content, report=report, now=now)
        await traces.unquote(session, tenant, turn.id, cut[turn.id].unquoted if turn.id in cut else ())
    await rows.clear_reports(session, tenant, scope, [*cut, *(one.id for one in redaction.sources)])
    return wanted, count


def _rewrite(plan: PendingRows, memory: Memory, prepared: Prepared, indexed: Mapping[str, object]) -> None:
    payload = prepared.candidate.payload.stored(prepared.event)
    values = {"payload": payload, "content": prepared.content, "identity": prepared.identity}
    plan.change(RowChange(id=memory.id, values=values))
    had_context = any(one.kind == "context" for one in prepared.texts)
    old = searched_terms(memory.content, plan.around.language)
    plan.counts += -ScopeCounts.of(old, memories=0, contexts=int(had_context))
    plan.reindexed.append(memory.id)
    add_index(plan, memory.id, prepared, indexed)
    audit(plan, AuditAction.MEMORY_CHANGED, memory.id, {"changed": ["content"], "reason": "a part was erased"})


def _redacted(turn: QuotedTurn, wording: Wording) -> RedactedTurn:
    excision = _excised(turn.content, turn, wording)
    gone = [quote for quote in turn.other_quotes if any(quote in one or one in quote for one in excision.cut)]
    left = excision.text("\n")
    return RedactedTurn(turn=turn, excision=excision, unquoted=tuple(one for one in gone if one not in left))


def _excised(text: str, turn: QuotedTurn, wording: Wording) -> Excision:
    return excise(text, quotes=turn.quotes, kept=turn.other_quotes, wording=wording)


def _holds(text: str, wording: Wording) -> bool:
    return bool(excise(text, quotes=(), wording=wording).spans)


BLANK = "[erased]"

SHORTEST_NEEDLE = 3
"""Characters that a text must have to be redacted elsewhere; shorter ones occur everywhere."""


def redact_report(report: object, needles: Sequence[str]) -> object:
    """Return JSON values with every text that contains one of the needles replaced by null."""
    return with_texts(report, lambda text: None if any(needle in text for needle in needles) else text)


def redact_turn_report(
    report: Mapping[str, object] | None, memory: str, needles: Sequence[str]
) -> dict[str, object] | None:
    """Return a turn's report without what it says about a memory, given by its public id."""
    if report is None:
        return None
    candidates = report.get("candidates")
    told = [
        {**one, "quote": None, "content": None, "reason": "erased"} if one.get("memory_id") == memory else one
        for one in (candidates if isinstance(candidates, list) else [])
    ]
    trace = report.get("trace")
    stages = [{**one, "dropped": [], "notes": []} for one in (trace if isinstance(trace, list) else [])]
    found = redact_report({**report, "candidates": told, "trace": stages}, needles)
    return dict(found) if isinstance(found, Mapping) else None


def identifying_texts(memory: Memory, quotes: Sequence[str]) -> list[str]:
    """Return the texts that identify a memory's content: its sentence, its quotes and the texts of its payload."""
    held = [text for text in texts_in(memory.payload) if len(text.split()) > 1]
    found = [memory.content, *quotes, *held]
    return long_enough(dict.fromkeys(found))


def long_enough(texts: Iterable[str]) -> list[str]:
    """Return the texts that are long enough to be redacted elsewhere."""
    return [one for one in texts if len(one.strip()) >= SHORTEST_NEEDLE]

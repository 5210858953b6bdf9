"""Erasure of questions whether a name means an entity that is gone: in notes, former states, reports and answers."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from uuid import UUID

from pydantic_core import to_json

from app.db.apply.memories import RowChange, change_memories
from app.db.erasure.rows import forget_answers
from app.db.session import WriteSession, statement
from app.memory.fields import texts_in, with_texts
from app.memory.resemblance import BETWEEN, asked_of, without_questions
from app.model import MemoryStatus, ReviewReason


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgottenQuestions:
    """Memories of which questions went: `told` are those whose audit events put one, `settled` those out of review."""

    told: Sequence[UUID] = ()
    settled: Sequence[UUID] = ()


_NOBODYS = statement(
    """
    SELECT n.name FROM unnest(CAST(:names AS text[])) AS n(name)
    WHERE NOT EXISTS (
        SELECT FROM entities e
        WHERE e.tenant_id = :tenant AND e.scope_id = :scope AND folded(e.canonical_name) = folded(n.name)
    ) AND NOT EXISTS (
        SELECT FROM entity_aliases a
        WHERE a.tenant_id = :tenant AND a.scope_id = :scope AND folded(a.display) = folded(n.name)
    )
    """
)

_PUTS_ONE = (
    "EXISTS (SELECT FROM unnest(CAST(:asked AS text[])) AS n(asked) WHERE strpos(folded({text}), folded(n.asked)) > 0)"
)

_NOTED = statement(
    f"""
    SELECT m.id, m.status, m.contested, m.review_reason, m.review_note FROM memories m
    WHERE m.tenant_id = :tenant AND m.scope_id = :scope AND {_PUTS_ONE.format(text="m.review_note")}
    """  # noqa: S608 - composed of constants
)

_NOTE_ANEW = "jsonb_set({column}, '{{review_note}}', CAST(:note AS jsonb))"

_FORMER = (
    (
        statement(
            f"""
            SELECT memory_id, believed_until, was ->> 'review_note' AS note FROM memory_past
            WHERE tenant_id = :tenant AND scope_id = :scope AND {_PUTS_ONE.format(text="was ->> 'review_note'")}
            """  # noqa: S608 - composed of constants
        ),
        statement(
            f"""
            UPDATE memory_past SET was = {_NOTE_ANEW.format(column="was")}
            WHERE tenant_id = :tenant AND memory_id = :memory_id AND believed_until = :believed_until
            """  # noqa: S608 - composed of constants
        ),
    ),
    *(
        (
            statement(
                f"""
                SELECT backfill_id, memory_id, {column} ->> 'review_note' AS note FROM backfill_items
                WHERE tenant_id = :tenant AND scope_id = :scope
                  AND {_PUTS_ONE.format(text=f"{column} ->> 'review_note'")}
                """  # noqa: S608 - our own names
            ),
            statement(
                f"""
                UPDATE backfill_items SET {column} = {_NOTE_ANEW.format(column=column)}
                WHERE tenant_id = :tenant AND backfill_id = :backfill_id AND memory_id = :memory_id
                """  # noqa: S608 - our own names
            ),
        )
        for column in ("before", "after")
    ),
)
"""Former states of memories, and those that a backfill gives or takes: what finds their notes, what replaces one."""

_REPORTS = statement(
    f"""
    SELECT id, report FROM turns
    WHERE tenant_id = :tenant AND scope_id = :scope AND {_PUTS_ONE.format(text="report::text")}
    """  # noqa: S608 - composed of constants
)

_REPORT_ANEW = statement("UPDATE turns SET report = CAST(:report AS jsonb) WHERE tenant_id = :tenant AND id = :id")

_EVENTS = statement(
    f"""
    SELECT memory_id, detail FROM audit_events
    WHERE tenant_id = :tenant AND scope_id = :scope AND memory_id IS NOT NULL
      AND {_PUTS_ONE.format(text="detail::text")}
    """  # noqa: S608 - composed of constants
)


async def forget_questions(
    session: WriteSession, tenant: UUID, scope: UUID, names: Collection[str], *, now: datetime
) -> ForgottenQuestions:
    """Erase the questions of a locked scope about those of the names that no entity of it bears.

    A memory that waited for a person only because of them leaves the review. The audit events that put one are the
    caller's to empty.
    """
    here = {"tenant": tenant, "scope": scope}
    gone = [row["name"] for row in await session.fetch(_NOBODYS, {**here, "names": list(names)})] if names else []
    if not gone:
        return ForgottenQuestions()
    asked = [asked_of(name) for name in gone]
    in_text, in_json = {**here, "asked": asked}, {**here, "asked": [_in_json(one) for one in asked]}
    noted = [_without(row, gone) for row in await session.fetch(_NOTED, in_text)]
    changed = [one for one in noted if one.values]
    await change_memories(session, tenant, changed, at=now)
    # After the memories, whose change has made what they were a former state.
    for notes, note_anew in _FORMER:
        for row in await session.fetch(notes, in_text):
            note = to_json(without_questions(row["note"], gone) or None).decode()
            await session.change(note_anew, {**row, "tenant": tenant, "note": note})
    for row in await session.fetch(_REPORTS, in_json):
        report = to_json(with_texts(row["report"], partial(without_questions, known=gone))).decode()
        await session.change(_REPORT_ANEW, {"tenant": tenant, "id": row["id"], "report": report})
    ends = [f'{_in_json(asked_of(name))}"' for name in gone] + [_in_json(asked_of(name) + BETWEEN) for name in gone]
    await forget_answers(session, tenant, ends)
    told = {row["memory_id"] for row in await session.fetch(_EVENTS, in_json) if _puts_one(row["detail"], gone)}
    settled = [one.id for one in changed if "review_reason" in one.values]
    return ForgottenQuestions(told=sorted(told), settled=settled)


def _without(row: Mapping[str, object], gone: Collection[str]) -> RowChange:
    """Return the change of a memory whose note loses questions; a note of nothing else takes the review along.

    What is pending, or contested, waits for a person all the same.
    """
    before = str(row["review_note"])
    note = without_questions(before, gone) or None
    values: dict[str, object] = {} if note == before else {"review_note": note}
    asked_only = note is None and row["review_reason"] == ReviewReason.ENTITY_MERGE
    if asked_only and row["status"] != MemoryStatus.PENDING and not row["contested"]:
        values |= {"review_reason": None, "review_since": None}
    return RowChange(id=UUID(str(row["id"])), values=values)


def _puts_one(told: object, gone: Collection[str]) -> bool:
    return any(without_questions(text, gone) != text for text in texts_in(told))


def _in_json(text: str) -> str:
    """Return a text as it is written within a JSON string."""
    return json.dumps(text, ensure_ascii=False)[1:-1]

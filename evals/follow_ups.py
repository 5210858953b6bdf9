"""`make eval ARGS="--set followups"`: questions that lean on the message before them, asked with their conversation.

Pairs are made of a set's own questions: one after another about the same person, the name replaced by a pronoun, or
about the same thing, the noun replaced by `it` or `that one`. The first question and nothing else is the message
before. A third kind stands by itself after an unrelated question, and must not lose.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from app.english.follow_ups import Said, question_of
from app.english.names import Gender, gender_of
from app.lexical.bm25 import terms
from evals.datasets import Conversation, Question, load_locomo
from evals.metrics import mean, recall_at
from evals.report import scorable
from evals.service import SERVICE, Bench

MOST_PAIRS = 150
"""Pairs of each kind that are asked of one conversation."""

Ask = Callable[["FollowUp"], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowUp:
    """A question that leans on the one before it; `text` is how it is said, `question` what it means."""

    kind: str
    before: str
    text: str
    question: Question


WAYS: dict[str, Ask] = {
    "written out": lambda one: one.question.text,
    "last message alone": lambda one: one.text,
    "with the message before": lambda one: f"{one.before} {one.text}",
    "as the service reads it": lambda one: (
        question_of([Said(by_user=True, text=one.before), Said(by_user=True, text=one.text)]) or ""
    ),
}


async def evaluate(bench: Bench, root: Path, limit: int | None, console: Console) -> list[str]:
    """Print recall at 10 for each kind of pair and each way to ask; return the goals that were missed."""
    found: dict[tuple[str, str], list[float]] = {}
    for number, conversation in enumerate(load_locomo(root)[:limit]):
        user = f"follow-ups {number}"
        known = await bench.learn(conversation, user)
        for one in pairs(conversation):
            for way, ask in WAYS.items():
                asked = await bench.ask(replace(one.question, text=ask(one)), user, known)
                score = recall_at(asked.rankings[SERVICE], one.question.evidence_turns, 10)
                found.setdefault((one.kind, way), []).append(score)
    table = Table("recall@10", *WAYS, "pairs", title="Questions that lean on the message before")
    for kind in dict.fromkeys(kind for kind, _ in found):
        table.add_row(kind, *(f"{mean(found[kind, way]):.3f}" for way in WAYS), str(len(found[kind, "written out"])))
    console.print(table)
    own = "as the service reads it"
    return [
        f"follow-ups ({kind}): {mean(found[kind, own]):.3f}, alone {mean(found[kind, 'last message alone']):.3f}"
        for kind in dict.fromkeys(kind for kind, _ in found)
        if mean(found[kind, own]) < min(mean(found[kind, way]) for way in ("last message alone", "written out"))
    ]


def pairs(conversation: Conversation) -> Iterator[FollowUp]:
    """Yield the pairs of a conversation."""
    asked = [one for one in conversation.questions if scorable(one)]
    yield from [one for one in map(_of_person(conversation.speakers), asked, asked[1:]) if one is not None][:MOST_PAIRS]
    yield from [one for one in map(_of_thing, asked, asked[1:]) if one is not None][:MOST_PAIRS]
    yield from [
        FollowUp(kind="stands by itself", before=before.text, text=one.text, question=one)
        for before, one in zip(asked[7:], asked, strict=False)
    ][:MOST_PAIRS]


def _of_person(speakers: Sequence[str]) -> Callable[[Question, Question], FollowUp | None]:
    def made(before: Question, one: Question) -> FollowUp | None:
        name = next((name for name in speakers if name in one.text and name in before.text), None)
        if name is None or gender_of(name) is None:
            return None
        male = gender_of(name) is Gender.MALE
        text = re.sub(rf"{name}['\u2019]s\b", "his" if male else "her", one.text)
        text = re.sub(rf"\b{name}\b", "he" if male else "she", text)
        return FollowUp(kind="a person", before=before.text, text=text, question=one)

    return made


def _of_thing(before: Question, one: Question) -> FollowUp | None:
    """Return the pair with `that one` in place of the last word that both questions have, if it is no name."""
    shared = {*terms(before.text)}
    words = list(re.finditer(r"(?:\b(?:the|a|an|her|his) )?\b[a-z]{4,}\b", one.text))
    thing = next((word for word in reversed(words) if {*terms(word.group())} & shared), None)
    if thing is None:
        return None
    text = f"{one.text[: thing.start()]}that one{one.text[thing.end() :]}"
    return FollowUp(kind="a thing", before=before.text, text=text, question=one)

"""`make eval ARGS="--set model"`: what comes of labelled turns with the configured language model.

Each turn of `labels/model.jsonl` says which beliefs are expected of it and which must never be believed. It also holds
an answer of good and one of bad quality, so that the way from an answer to a belief is measured without a model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from rich.console import Console

from app.errors import ConfigurationError, ExtractionFailed, ProviderError
from app.memory.candidate import Candidate
from app.memory.extraction import Extraction, PrefilterPolicy, Role, TokenUsage, Turn
from app.memory.registry import Registry, discover
from app.model import Scope, ScopeKind, SpeechAct
from app.providers.chat import ChatModel, Prompt, Reply, Stop, spent_tokens
from app.providers.factory import make_chat
from app.providers.model_extractor import ModelExtractor
from app.settings import Settings
from app.write.extract import EPISODE, ExtractionContext, candidates_of
from app.write.prefilter import RejectedTurn, framed, prefilter
from app.write.trace import Trace
from evals import tables

LABELS: Final = Path(__file__).parent / "labels" / "model.jsonl"
_BELIEVED: Final = frozenset({SpeechAct.ASSERTION, SpeechAct.NEGATION})
MOMENT: Final = datetime(2026, 5, 9, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """A belief that a turn should lead to: its type, and words of its sentence."""

    type: str
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledTurn:
    """A turn, what is expected of it, what it must never lead to, and recorded answers by their quality."""

    turn: Turn
    expected: tuple[Expected, ...]
    never: tuple[str, ...]
    answers: Mapping[str, Any]


@dataclass(slots=True, kw_only=True)
class ModelFigures:
    """What came of all turns; `untrue` are beliefs that must not be, `failures` why turns came to nothing."""

    turns: int = 0
    dropped: int = 0
    expected: int = 0
    found: int = 0
    believed: int = 0
    held_back: int = 0
    refused: int = 0
    untrue: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    unusable: list[str] = field(default_factory=list)
    usage: TokenUsage = field(default_factory=TokenUsage)


@dataclass(slots=True)
class RecordedChat:
    """A chat model that gives recorded answers, the same one again when told that something was wrong."""

    answers: Mapping[str, Any]
    name: str = "recorded"
    max_tokens: int = 8192

    def expires_at(self) -> float:
        """Return a time that is never reached."""
        return float("inf")

    async def complete(self, prompt: Prompt, *, temperature: float, expires_at: float) -> Reply:  # noqa: ARG002
        """Return the answer to the turn that the prompt ends with."""
        asked = prompt.messages[0].text
        answer = next(answer for words, answer in self.answers.items() if f"\n{words}\n" in asked)
        return Reply(text=answer, stop=Stop.FINISHED, usage=TokenUsage(requests=1))

    async def aclose(self) -> None:
        """Do nothing: there is nothing open."""


def load(path: Path = LABELS) -> tuple[LabelledTurn, ...]:
    """Load the labelled turns."""
    return tuple(
        _labelled(number, json.loads(line)) for number, line in enumerate(path.read_text("utf-8").splitlines())
    )


def recorded(labelled: Sequence[LabelledTurn], quality: str) -> RecordedChat:
    """Return a chat model that gives each turn its recorded answer of a quality, `good` or `bad`."""
    return RecordedChat({one.turn.content: _answer(one, quality) for one in labelled})


async def measured(chat: ChatModel, labelled: Sequence[LabelledTurn], types: Registry) -> ModelFigures:
    """Return what comes of the turns when a chat model extracts."""
    extractor = ModelExtractor(chat, [one for one in types if one.extracted])
    figures = ModelFigures()
    for one in labelled:
        figures.turns += 1
        figures.expected += len(one.expected)
        if isinstance(prefilter(one.turn, (), PrefilterPolicy()), RejectedTurn):
            figures.dropped += 1
            continue
        try:
            [extraction] = await extractor.extract([one.turn])
        except ExtractionFailed as error:
            figures.failures.append(f"{one.turn.content}: {error.message}")
            figures.usage += spent_tokens(error)
            figures.missed += (f"{one.turn.content}: {each.says}" for each in one.expected)
            continue
        _count(figures, one, extraction, types)
    return figures


def show(console: Console, name: str, figures: ModelFigures) -> None:
    """Print the figures, and what is untrue or missing."""
    table = tables.figures("labelled turns with a language model", "model", ("figure",))
    rows = {
        "turns": figures.turns,
        "dropped before extraction": figures.dropped,
        "expected beliefs": figures.expected,
        "found": figures.found,
        "believed": figures.believed,
        "held back": figures.held_back,
        "refused": figures.refused,
        "unusable memories": len(figures.unusable),
        "failed turns": len(figures.failures),
        "untrue": len(figures.untrue),
        "tokens in": figures.usage.input_tokens,
        "tokens out": figures.usage.output_tokens,
    }
    table.add_row(name, "")
    for title, figure in rows.items():
        table.add_row(title, str(figure))
    console.print(table)
    for title, lines in (("untrue", figures.untrue), ("missed", figures.missed), ("failed", figures.failures)):
        for line in lines:
            console.print(f"{title}: {line}", markup=False)


async def evaluate(console: Console) -> None:
    """Measure the configured model, or say that there is none, and the recorded answers."""
    labelled, types = load(), discover()
    for quality in ("good", "bad"):
        show(console, f"recorded, {quality}", await measured(recorded(labelled, quality), labelled, types))
    try:
        chat = make_chat(Settings())
    except ConfigurationError as error:
        console.print(f"model: {error.message}")
        return
    if chat is None:
        console.print("model: none is configured; set TM_LLM_PROVIDER and TM_LLM_MODEL")
        return
    try:
        show(console, chat.name, await measured(chat, labelled, types))
    except ProviderError as error:
        console.print(f"model: {error.message}")
    finally:
        await chat.aclose()


def _count(figures: ModelFigures, one: LabelledTurn, extraction: Extraction, types: Registry) -> None:
    means = ExtractionContext(types=types, extractor="eval", keep_episodes=False)
    considered = candidates_of(one.turn, extraction, (), (), means, Trace(), framed(one.turn, ()))
    made = [each for each in considered.candidates if each.type.name != EPISODE]
    believed = [_sentence(each) for each in made if _is_believed(each)]
    figures.usage += extraction.usage
    figures.unusable += (f"{one.turn.content}: {reason}" for reason in extraction.unusable)
    figures.refused += len(considered.refused)
    figures.believed += len(believed)
    figures.held_back += len(made) - len(believed)
    figures.untrue += (text for _, text in believed if any(wrong in text for wrong in one.never))
    for wanted in one.expected:
        if any(kind == wanted.type and wanted.says in text for kind, text in believed):
            figures.found += 1
        else:
            figures.missed.append(f"{one.turn.content}: {wanted.says}")


def _is_believed(candidate: Candidate) -> bool:
    return candidate.review is None and candidate.speech_act in _BELIEVED and candidate.ending is None


def _sentence(candidate: Candidate) -> tuple[str, str]:
    return candidate.type.name, candidate.payload.render().casefold()


def _labelled(number: int, read: Mapping[str, Any]) -> LabelledTurn:
    turn = Turn(
        id=UUID(int=number + 1),
        scope=Scope(kind=ScopeKind.USER, user_id="eval"),
        role=Role(read.get("role", Role.USER)),
        content=read["words"],
        occurred_at=MOMENT,
    )
    expected = tuple(Expected(**one) for one in read["expect"])
    return LabelledTurn(turn=turn, expected=expected, never=tuple(read["never"]), answers=read["answers"])


def _answer(one: LabelledTurn, quality: str) -> str:
    given = one.answers[quality]
    if isinstance(given, str):
        return given
    plain = {"quote": one.turn.content, "speech_act": "assertion", "confidence": 0.9, "importance": 0.5}
    return json.dumps({"memories": [{**plain, **memory} for memory in given]}, ensure_ascii=False)

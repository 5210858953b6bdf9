"""Typed memories and questions about them, put in other words than theirs.

Two sets: our own paraphrases (`paraphrases.jsonl`) among synthetic decoys, and LoCoMo's observations, sentences
that a model drew from each conversation, taken apart into facts and events and asked LoCoMo's own questions.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from bench.grammar import NOW, Grammar
from evals.datasets import Conversation, Question, load_locomo

DECOYS = 700
"""Synthetic memories about others that the paraphrases are to be found among; some are left out as too alike."""

_OWN = Path(__file__).with_name("paraphrases.jsonl")
_TURN = re.compile(r"D\d+:\d+")
_SESSION = re.compile(r"session_(\d+)_observation")
_FEWEST_WORDS = 4
_LINKING = frozenset({"is", "are", "has", "had"})
_PAST = re.compile(
    r"\w+ed|beg[au]n|bought|came|did|felt|found|gave|got|had|lost|made|met|ran|said|saw|shared|taught|told|took|was|went"
    r"|were|won|wrote"
)


@dataclass(frozen=True, slots=True)
class Item:
    """A typed memory to be stored; `turns` are where it was said."""

    id: str
    type: str
    payload: Mapping[str, Any]
    stated_at: datetime
    turns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Shelf:
    """What one user has stored, and questions whose evidence is the ids of items; a category is their type."""

    name: str
    items: tuple[Item, ...]
    questions: tuple[Question, ...]


def paraphrases() -> Shelf:
    """Return our own set."""
    read = [json.loads(line) for line in _OWN.read_text(encoding="utf-8").splitlines()]
    items = [Item(str(number), one["type"], one["payload"], NOW) for number, one in enumerate(read)]
    questions = [
        _question(f"{number}.{place}", text, one["type"], NOW, (str(number),))
        for number, one in enumerate(read)
        for place, text in enumerate(one["questions"])
    ]
    return Shelf("paraphrases", (*items, *_decoys()), tuple(questions))


def observations(root: Path) -> Iterator[Shelf]:
    """Yield LoCoMo's observations, a shelf a conversation."""
    documents = json.loads((root / "locomo" / "locomo_dev.json").read_text(encoding="utf-8"))
    for document, conversation in zip(documents, load_locomo(root), strict=True):
        items = tuple(_observed(document["observation"], conversation))
        asked = (_asked(question, items) for question in conversation.questions if question.category != "adversarial")
        yield Shelf(conversation.id, items, tuple(question for question in asked if question.evidence_turns))


def _decoys() -> Iterator[Item]:
    for number, draft in enumerate(Grammar("decoys").drafts(DECOYS)):
        about_user = "user" in json.dumps(draft.payload)
        if draft.type != "episodic" and draft.older is None and not about_user:
            yield Item(f"decoy {number}", draft.type, draft.payload, draft.about["stated_at"])


def _observed(by_session: Mapping[str, Any], conversation: Conversation) -> Iterator[Item]:
    dates = {turn.session_id: turn.occurred_at for turn in reversed(conversation.turns)}
    for key, by_speaker in by_session.items():
        session = _SESSION.fullmatch(key)
        stated_at = dates.get(f"D{session[1]}") if session else None
        if stated_at is None:
            continue
        for speaker, said in by_speaker.items():
            for place, (sentence, cited) in enumerate(said):
                typed = _typed(sentence, speaker, stated_at)
                if typed is not None:
                    turns = tuple(_TURN.findall(cited if isinstance(cited, str) else " ".join(cited)))
                    yield Item(f"{key} {speaker} {place}", *typed, stated_at, turns)


def _typed(sentence: str, speaker: str, at: datetime) -> tuple[str, dict[str, Any]] | None:
    """Return an observation that begins with its speaker as an event, if in the past tense, or as a fact."""
    words = sentence.rstrip(".").split()
    if len(words) < _FEWEST_WORDS or words[0] != speaker:
        return None
    if _PAST.fullmatch(words[1]):
        return "event", {
            "event_description": " ".join(words),
            "event_at": at.date().isoformat(),
            "participants": [speaker],
        }
    cut = 3 if words[1] in _LINKING and len(words) > _FEWEST_WORDS else 2
    predicate = "-".join(re.sub(r"\W", "", word) for word in words[1:cut])
    return "fact", {"subject": speaker, "predicate": predicate, "object": " ".join(words[cut:]), "stateful": False}


def _asked(question: Question, items: tuple[Item, ...]) -> Question:
    """Return the question with the items that its evidence is told by, under their type."""
    right = [one for one in items if set(one.turns) & set(question.evidence_turns)]
    kinds = {one.type for one in right}
    category = kinds.pop() if len(kinds) == 1 else "several types"
    return _question(question.id, question.text, category, question.asked_at, tuple(one.id for one in right))


def _question(name: str, text: str, category: str, asked_at: datetime, evidence: tuple[str, ...]) -> Question:
    return Question(
        id=name, text=text, category=category, asked_at=asked_at, evidence_turns=evidence, evidence_sessions=()
    )

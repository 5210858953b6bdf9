"""The public evaluation sets, read into one shape.

LoCoMo and LongMemEval differ in everything but what matters here: a conversation is turns in
sessions, and a question names the turns that answer it. The files stay where they are (their
licences differ from ours): `TM_EVAL_DATA`, or `../shared/data` beside the checkout.
"""

import gzip
import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

ADVERSARIAL = "adversarial"
LOCOMO_CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: ADVERSARIAL}
KNOWLEDGE_UPDATE = "knowledge-update"

_ABSTENTION = "_abs"
"""The end of the ids of LongMemEval's questions that nothing answers."""

_LOCOMO_TURN = re.compile(r"D(\d+):(\d+)")
_LOCOMO_AUDIT = re.compile(r"locomo_(\d+)_qa(\d+)")
_LOCOMO_TIME = "%I:%M %p on %d %B, %Y"
_LONGMEMEVAL_TIME = "%Y/%m/%d (%a) %H:%M"
_REALMEM_TIME = "%Y-%m-%d (%A)"


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance; `sequence` counts from 0 within its session."""

    id: str
    session_id: str
    sequence: int
    speaker: str
    text: str
    occurred_at: datetime


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the turns that answer it.

    `stale_turns` and `newest_turns` split the evidence of a knowledge-update question by session:
    the newest holds in the latest session that has evidence, the rest was overtaken. Both are
    empty for any other question. `answer` is in the set's own words; empty where nothing answers. `asked_in` is the
    session that it begins, where only what was said before that is known; empty: it is asked at the end.
    """

    id: str
    text: str
    category: str
    asked_at: datetime
    evidence_turns: tuple[str, ...]
    evidence_sessions: tuple[str, ...]
    stale_turns: tuple[str, ...] = ()
    newest_turns: tuple[str, ...] = ()
    answer: str = ""
    asked_in: str = ""

    @property
    def answerable(self) -> bool:
        """Whether the conversation answers it; the sets have some that lead astray."""
        return self.category != ADVERSARIAL and not self.id.endswith(_ABSTENTION)


@dataclass(frozen=True, slots=True)
class Conversation:
    """What one user said and heard, in order of time, and the questions asked about it."""

    id: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]

    @property
    def speakers(self) -> tuple[str, ...]:
        """Return who speaks, each once, in order of appearance."""
        return tuple(dict.fromkeys(turn.speaker for turn in self.turns))

    def stages(self) -> Iterator["Conversation"]:
        """Yield the conversation in parts: what was said since the part before, and what is asked after it."""
        asked_in = {one.asked_in for one in self.questions}
        turns: list[Turn] = []
        for session_id, said in groupby(self.turns, key=lambda turn: turn.session_id):
            if session_id in asked_in:
                asked = tuple(one for one in self.questions if one.asked_in == session_id)
                yield Conversation(self.id, tuple(turns), asked)
                turns = []
            turns += said
        yield Conversation(self.id, tuple(turns), tuple(one for one in self.questions if not one.asked_in))


def data_dir() -> Path:
    """Return the folder that holds the sets: `TM_EVAL_DATA`, or `../shared/data` beside the checkout."""
    configured = os.environ.get("TM_EVAL_DATA")
    return Path(configured) if configured else Path(__file__).resolve().parents[2] / "shared" / "data"


def load_locomo(root: Path | None = None, *, corrected: bool = False) -> tuple[Conversation, ...]:
    """Load the LoCoMo dev conversations; `corrected` takes the citations of the public audit.

    A question whose citations name no turn of its conversation keeps empty evidence: the caller
    skips it. LoCoMo dates no question: it is taken as asked when the last turn was spoken.
    """
    folder = (root or data_dir()) / "locomo"
    documents = _read_json(folder / "locomo_dev.json")
    corrections = _locomo_corrections(folder / "audit_errors.json") if corrected else {}
    return tuple(
        _locomo_conversation(document, {j: c for (i, j), c in corrections.items() if i == index})
        for index, document in enumerate(documents)
    )


def load_longmemeval_oracle(root: Path | None = None) -> tuple[Conversation, ...]:
    """Load LongMemEval's oracle dev questions, each with the sessions that matter only."""
    documents = _read_json((root or data_dir()) / "longmemeval" / "longmemeval_oracle_dev.json")
    return tuple(_longmemeval_conversation(document, _oracle_sessions(document)) for document in documents)


def load_longmemeval_s(root: Path | None = None) -> tuple[Conversation, ...]:
    """Load LongMemEval S dev, each question among some 490 turns, from its packed format."""
    packed = _read_json((root or data_dir()) / "longmemeval" / "longmemeval_s_dev.json.gz")
    return tuple(
        _longmemeval_conversation(document, _packed_sessions(document, packed["pool"]))
        for document in packed["questions"]
    )


def load_realmem(root: Path | None = None) -> tuple[Conversation, ...]:
    """Load RealMem's personas, each asking what begins a session, when only the sessions before it are known.

    A question's answer is the memories that the set's own assistant used, its evidence the turns they were read from;
    those read from a whole session have none.
    """
    files = sorted((root or data_dir()).joinpath("realmem").glob("*.json.gz"))
    return tuple(_realmem_conversation(_read_json(file)) for file in files)


@dataclass(frozen=True, slots=True)
class _Session:
    id: str
    started_at: datetime
    turns: Sequence[tuple[str, str]]
    """(speaker or role, text) of each turn."""
    evidence: frozenset[int]

    def read(self) -> Iterator[Turn]:
        # A session has one time; a second a turn keeps the order without moving the day.
        for sequence, (speaker, text) in enumerate(self.turns):
            at = self.started_at + timedelta(seconds=sequence)
            yield Turn(self.turn_id(sequence), self.id, sequence, speaker, text, at)

    def turn_id(self, sequence: int) -> str:
        return f"{self.id}:{sequence}"


def _read_json(path: Path) -> Any:  # noqa: ANN401  # the shape is each loader's business
    opener = gzip.open if path.suffix == ".gz" else Path.open
    with opener(path, "rb") as file:
        return json.load(file)


def _locomo_conversation(document: dict[str, Any], corrections: dict[int, list[str]]) -> Conversation:
    turns = tuple(_locomo_turns(document["conversation"]))
    sessions = {turn.id: turn.session_id for turn in turns}
    asked_at = turns[-1].occurred_at
    questions = []
    for index, qa in enumerate(document["qa"]):
        cited = _cited_turns(corrections.get(index, qa["evidence"]))
        evidence = tuple(turn_id for turn_id in cited if turn_id in sessions)
        question = Question(
            id=f"{document['sample_id']}:{index}",
            text=qa["question"],
            category=LOCOMO_CATEGORIES[qa["category"]],
            asked_at=asked_at,
            evidence_turns=evidence,
            evidence_sessions=tuple(dict.fromkeys(sessions[turn_id] for turn_id in evidence)),
            answer=str(qa.get("answer", "")),
        )
        questions.append(question)
    return Conversation(document["sample_id"], turns, tuple(questions))


def _locomo_turns(conversation: dict[str, Any]) -> Iterator[Turn]:
    number = 1
    while f"session_{number}_date_time" in conversation:
        started = _utc(conversation[f"session_{number}_date_time"], _LOCOMO_TIME)
        for sequence, raw in enumerate(conversation.get(f"session_{number}", ())):
            caption = raw.get("blip_caption")
            yield Turn(
                id=raw["dia_id"],
                session_id=f"D{number}",
                sequence=sequence,
                speaker=raw["speaker"],
                text=f"{raw['text']} [{caption}]" if caption else raw["text"],
                occurred_at=started + timedelta(seconds=sequence),
            )
        number += 1


def _locomo_corrections(path: Path) -> dict[tuple[int, int], list[str]]:
    corrections = {}
    for error in _read_json(path):
        match = _LOCOMO_AUDIT.fullmatch(error["question_id"])
        if match and error["correct_evidence"]:
            corrections[int(match[1]), int(match[2])] = error["correct_evidence"]
    return corrections


def _cited_turns(citations: Sequence[str]) -> tuple[str, ...]:
    """Return the turn ids in LoCoMo's citations, some of which pack two into one string."""
    found = (match for citation in citations for match in _LOCOMO_TURN.finditer(citation))
    return tuple(dict.fromkeys(f"D{int(match[1])}:{int(match[2])}" for match in found))


def _oracle_sessions(document: dict[str, Any]) -> Iterator[_Session]:
    parts = (document["haystack_session_ids"], document["haystack_dates"], document["haystack_sessions"])
    for session_id, date, turns in zip(*parts, strict=True):
        evidence = frozenset(index for index, turn in enumerate(turns) if turn.get("has_answer"))
        spoken = [(turn["role"], turn["content"]) for turn in turns]
        yield _Session(session_id, _utc(date, _LONGMEMEVAL_TIME), spoken, evidence)


def _packed_sessions(document: dict[str, Any], pool: dict[str, list[list[str]]]) -> Iterator[_Session]:
    met: Counter[str] = Counter()
    for key, session_id, date, *flagged in document["haystack"]:
        evidence = frozenset(flagged[0]) if flagged else frozenset[int]()
        spoken = [(role, text) for role, text in pool[key]]
        met[session_id] += 1
        # Four questions have the same distractor session twice, on two dates.
        unique_id = session_id if met[session_id] == 1 else f"{session_id}#{met[session_id]}"
        yield _Session(unique_id, _utc(date, _LONGMEMEVAL_TIME), spoken, evidence)


def _longmemeval_conversation(document: dict[str, Any], sessions: Iterator[_Session]) -> Conversation:
    ordered = sorted(sessions, key=lambda session: session.started_at)
    with_evidence = [session for session in ordered if session.evidence]
    stale: tuple[str, ...] = ()
    newest: tuple[str, ...] = ()
    if document["question_type"] == KNOWLEDGE_UPDATE and len(with_evidence) > 1:
        stale = _evidence_ids(with_evidence[:-1])
        newest = _evidence_ids(with_evidence[-1:])
    question = Question(
        id=document["question_id"],
        text=document["question"],
        category=document["question_type"],
        asked_at=_utc(document["question_date"], _LONGMEMEVAL_TIME),
        evidence_turns=_evidence_ids(with_evidence),
        evidence_sessions=tuple(document["answer_session_ids"]),
        stale_turns=stale,
        newest_turns=newest,
        answer=str(document["answer"]),
    )
    turns = tuple(turn for session in ordered for turn in session.read())
    return Conversation(document["question_id"], turns, (question,))


def _realmem_conversation(document: dict[str, Any]) -> Conversation:
    sessions = [
        _Session(
            one["session_uuid"],
            _utc(one["current_time"], _REALMEM_TIME),
            [(turn["speaker"].lower(), turn["content"]) for turn in one["dialogue_turns"]],
            frozenset(),
        )
        for one in document["dialogues"]
    ]
    sources: dict[tuple[str, str], str] = {}
    questions: list[Question] = []
    for session, raw in zip(sessions, document["dialogues"], strict=True):
        turns = raw["dialogue_turns"]
        pairs = pairwise(turns)
        asked = ((turn, reply.get("memory_used") or ()) for turn, reply in pairs if turn["is_query"])
        questions += (_realmem_question(turn, used, sources, session) for turn, used in asked)
        said = {turn["content"].strip(): place for place, turn in reversed([*enumerate(turns)])}
        for memory in raw["extracted_memory"]:
            place = said.get(memory["source_content_snapshot"].strip())
            if memory["source_turn"] > 0 and place is not None:
                sources[session.id, memory["content"]] = session.turn_id(place)
    name = str(document["_metadata"]["person_name"])
    return Conversation(name, tuple(turn for one in sessions for turn in one.read()), tuple(questions))


def _realmem_question(
    turn: dict[str, Any], used: Sequence[dict[str, str]], sources: dict[tuple[str, str], str], session: _Session
) -> Question:
    known = [(one["session_uuid"], one["content"]) for one in used]
    found = [one for one in known if one in sources]
    return Question(
        id=turn["query_id"],
        text=turn["content"],
        category=turn["category_name"],
        asked_at=session.started_at,
        evidence_turns=tuple(dict.fromkeys(sources[one] for one in found)),
        evidence_sessions=tuple(dict.fromkeys(one for one, _ in known)),
        answer=" ".join(said for _, said in found),
        asked_in=session.id,
    )


def _evidence_ids(sessions: Sequence[_Session]) -> tuple[str, ...]:
    return tuple(session.turn_id(index) for session in sessions for index in sorted(session.evidence))


def _utc(value: str, form: str) -> datetime:
    return datetime.strptime(value, form).replace(tzinfo=UTC)

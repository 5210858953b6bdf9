"""The 200 turns whose labels say what is worth remembering: drawn from the public sets, always the same ones.

The draw is a ranking by hash, not a random generator: a turn's place depends on its id alone, so the sample is the same
on every machine and Python. The texts stay in their sets; `labels/turns.jsonl` holds ids, digests and labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby

from evals.datasets import Conversation, Turn

SEED = "typed-memory labels 1"
LOCOMO_TURNS = 100
USER_TURNS = 70
ASSISTANT_TURNS = 30
DIGEST_LENGTH = 16
ASSISTANT = "assistant"
USER = "user"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """A turn of the sample, and the one before it in its session where there is one.

    `id` is `conversation:dia_id` in LoCoMo (source `locomo`) and `question:session:turn` in LongMemEval (source
    `longmemeval`), session and turn counted from 0 in order of time; `role` is user or assistant, and both people of
    a LoCoMo conversation are users.
    """

    id: str
    source: str
    role: str
    turn: Turn
    before: Turn | None

    @property
    def digest(self) -> str:
        """Return the first 16 hex digits of the SHA-256 of the text."""
        return sha256(self.turn.text.encode()).hexdigest()[:DIGEST_LENGTH]


def sample(locomo: Sequence[Conversation], longmemeval: Sequence[Conversation]) -> tuple[Sampled, ...]:
    """Return the sample: 100 turns spread evenly over `locomo`, then 70 user and 30 assistant turns of `longmemeval`.

    Each part is in the order it was drawn in, and no text is drawn twice; smaller sets give as many as they have.
    """
    share, rest = divmod(LOCOMO_TURNS, max(1, len(locomo)))
    drawn: list[Sampled] = []
    for number, conversation in enumerate(locomo):
        drawn += _first(_locomo(conversation), share + (number < rest))
    spoken = [one for conversation in longmemeval for one in _longmemeval(conversation)]
    for role, count in ((USER, USER_TURNS), (ASSISTANT, ASSISTANT_TURNS)):
        drawn += _first((one for one in spoken if one.role == role), count)
    return tuple(drawn)


def others(locomo: Sequence[Conversation], longmemeval: Sequence[Conversation], count: int) -> tuple[Sampled, ...]:
    """Return `count` more turns of both sets, of anyone, by the same hash; none says what a turn of the sample says."""
    drawn = {one.turn.text for one in sample(locomo, longmemeval)}
    return tuple(_first((one for one in every(locomo, longmemeval) if one.turn.text not in drawn), count))


def every(locomo: Sequence[Conversation], longmemeval: Sequence[Conversation]) -> Iterator[Sampled]:
    """Yield all turns of both sets."""
    for conversation in locomo:
        yield from _locomo(conversation)
    for conversation in longmemeval:
        yield from _longmemeval(conversation)


def _first(turns: Iterator[Sampled], count: int) -> list[Sampled]:
    """Return the first `count` different texts by the hash of their ids."""
    ranked = sorted(turns, key=lambda one: sha256(f"{SEED}:{one.id}".encode()).digest())
    different = {one.turn.text: one for one in reversed(ranked)}
    return [one for one in ranked if different[one.turn.text] is one][:count]


def _locomo(conversation: Conversation) -> Iterator[Sampled]:
    for _, turns in groupby(conversation.turns, key=lambda turn: turn.session_id):
        for turn, before in _with_context(turns):
            name = f"{conversation.id}:{turn.id}"
            yield Sampled(id=name, source="locomo", role=USER, turn=turn, before=before)


def _longmemeval(conversation: Conversation) -> Iterator[Sampled]:
    sessions = groupby(conversation.turns, key=lambda turn: turn.session_id)
    for number, (_, turns) in enumerate(sessions):
        for turn, before in _with_context(turns):
            name = f"{conversation.id}:{number}:{turn.sequence}"
            yield Sampled(id=name, source="longmemeval", role=turn.speaker, turn=turn, before=before)


def _with_context(turns: Iterator[Turn]) -> Iterator[tuple[Turn, Turn | None]]:
    before = None
    for turn in turns:
        yield turn, before
        before = turn

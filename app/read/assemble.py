"""Floors, groups and the context block within a token budget.

How many tokens a text costs a model, estimated without knowing the model.

Stage 4: what is good enough, and the block of text to paste into a prompt.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo
from itertools import islice
from uuid import UUID

from app import ids
from app.db.memories.ranking import RankingRow
from app.memory import normalise
from app.memory.confidence import READ_FLOOR, UNCERTAIN_ACTS
from app.memory.registry import Registry
from app.model import Memory, MemoryStatus, ReadMode
from app.read.values import ContextBlock, ContextGroup, Hit, ParsedQuery, Ranked, happens

_PIECE = re.compile(r"[A-Za-z]+|[0-9]+|[^\W\d_]+|[^\w\s]|_")

_LETTERS_PER_TOKEN = 5

_DIGITS_PER_TOKEN = 2


def estimate_tokens(text: str) -> int:
    """Return about how many tokens the text is; rather too many than too few.

    A run of Latin letters is a token for each five of its letters or part of it, digits one for each two, every
    character of another script and every sign one. Byte-pair vocabularies of 32,000 entries and more
    need fewer for prose (most words are one token) and about as many for ids and code.
    """
    return sum(map(_cost, _PIECE.findall(text)))


def _cost(piece: str) -> int:
    if not piece.isascii():
        return len(piece)
    if piece.isdigit():
        return -(-len(piece) // _DIGITS_PER_TOKEN)
    return -(-len(piece) // _LETTERS_PER_TOKEN)


FLOORS: Mapping[ReadMode, float] = {ReadMode.DEFAULT: READ_FLOOR, ReadMode.HISTORICAL: 0.30, ReadMode.AUDIT: 0.30}
"""Least confidence of an answer (seed 001, stage 4)."""

GROUPS = ("Facts", "Preferences", "Events", "Entities", "Relations", "Recent")
"""The six groups of the context block; a type of another group goes to the last, the catch-all."""

SHORTEST_CUT = 40
"""Tokens of budget that make it worth while to give the beginning of a line that doesn't fit."""

_SPACE = re.compile("[\\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")

_INVISIBLE = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")


def floor(mode: ReadMode, wanted: float | None) -> float:
    """Return the least confidence a read lets through: the request's own, or the mode's."""
    return FLOORS[mode] if wanted is None else wanted


def select(
    ranked: Sequence[Ranked], sketches: Mapping[UUID, RankingRow], *, query: ParsedQuery, least: float, top_k: int
) -> tuple[Ranked, ...]:
    """Return the best that are trusted enough and not what the asker has ruled out."""
    kept = (one for one in ranked if one.confidence >= least and not _ruled_out(sketches[one.id], query))
    return tuple(islice(kept, top_k))


def assemble(
    hits: Sequence[Hit], *, types: Registry, zone: tzinfo | None, budget: int
) -> tuple[ContextBlock, tuple[UUID, ...]]:
    """Return the context block within a token budget, and the ids of the memories that are in it.

    Memories are taken best first; one that doesn't fit is left out, unless it is the first: then it is cut.
    Groups come by the scores of what they hold, added up: ten poor matches don't stand before a good one.
    Every line begins with the memory's id, and what a memory says can't break out of its line.
    """
    taken: dict[str, list[tuple[UUID, str]]] = defaultdict(list)
    weight: dict[str, float] = defaultdict(float)
    spent = 0
    for hit in hits:
        group = _group(hit.memory, types)
        heading = 0 if group in taken else estimate_tokens(_heading(group))
        room = budget - spent - heading
        line = _line(hit.memory, types, zone)
        cost = estimate_tokens(line)
        if cost > room and not taken and room >= SHORTEST_CUT:
            line = _cut(line, room)
            cost = estimate_tokens(line)
        if cost <= room:
            taken[group].append((hit.memory.id, line))
            weight[group] += hit.score
            spent += heading + cost
    order = sorted(taken, key=lambda group: -weight[group])
    groups = tuple(ContextGroup(name=group, lines=tuple(line for _, line in taken[group])) for group in order)
    text = "\n\n".join("\n".join((_heading(group.name), *group.lines)) for group in groups)
    return (
        ContextBlock(text=text, tokens=spent, groups=groups),
        tuple(memory for group in order for memory, _ in taken[group]),
    )


def as_line(text: str) -> str:
    """Return the text on one line, without characters that break lines, hide or turn text around."""
    return _SPACE.sub(" ", _INVISIBLE.sub("", text)).strip()


def _ruled_out(sketch: RankingRow, query: ParsedQuery) -> bool:
    """Tell whether it was never meant, or its subject or one of its values is what the question leaves out.

    What was only supposed, played or quoted is for audits, whatever confidence is asked for.
    """
    if sketch.speech_act in UNCERTAIN_ACTS and query.mode is not ReadMode.AUDIT:
        return True
    unwanted = {*query.excluded_names, *query.excluded_words}
    values = [sketch.subject, *sketch.payload.values()] if unwanted else []
    return any(isinstance(value, str) and normalise.normalise_name(value) in unwanted for value in values)


def _group(memory: Memory, types: Registry) -> str:
    found = types.find(memory.type)
    return found.group if found is not None and found.group in GROUPS else GROUPS[-1]


def _heading(group: str) -> str:
    return f"## {group}"


def _line(memory: Memory, types: Registry, zone: tzinfo | None) -> str:
    """Return the memory's line: its id, when it was stated, whether it is history, until when, and what it says.

    A type whose memories have a time of their own says it itself; its day is when it was noted.
    """
    kind = types.find(memory.type)
    noted = "noted " if kind is not None and happens(kind) else ""
    past = f", {memory.status}" if memory.status is not MemoryStatus.ACTIVE and not memory.gives_way else ""
    until = f", until {_day(memory.valid_until, zone)}" if memory.valid_until is not None else ""
    when = f"{noted}{_day(memory.stated_at, zone)}{past}{until}"
    return f"- [{ids.public(ids.MEMORY, memory.id)}] ({when}) {as_line(memory.content)}"


def _day(instant: datetime, zone: tzinfo | None) -> str:
    return f"{instant.astimezone(zone):%Y-%m-%d}"


def _cut(line: str, room: int) -> str:
    """Return as many words of the line as the room takes, with an ellipsis."""
    words = line.split(" ")
    low, high = 0, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        if estimate_tokens(" ".join(words[:middle]) + " …") <= room:
            low = middle
        else:
            high = middle - 1
    return " ".join(words[:low]) + " …"

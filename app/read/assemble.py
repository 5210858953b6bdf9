"""Stage 4: apply the floor of confidence, and assemble the context block within a token budget.

Tokens are estimated without knowing the model.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, tzinfo
from typing import Final
from uuid import UUID

from pydantic import ValidationError

from app import ids
from app.db.memories.ranking import RankingRow
from app.english.chitchat import is_chit_chat, is_reaction
from app.english.questions import FIRST_PERSON
from app.lexical.bm25 import STOP_WORDS, terms
from app.memory import normalise
from app.memory.confidence import READ_FLOOR, UNCERTAIN_ACTS, WRITE_FLOOR
from app.memory.naming import need_names, with_canonical_names
from app.memory.registry import Registry
from app.memory.spec import GROUPS, HEED_GROUP, MemoryType
from app.memory.vocabulary import ASSISTANTS
from app.model import Memory, MemoryStatus, ReadMode
from app.read.block_dates import as_day, days_with_times, stated_since, with_own_days
from app.read.values import ContextBlock, ContextGroup, HeededLine, Hit, IdStyle, ParsedQuery, Ranked, happens

_PIECE = re.compile(r"[A-Za-z]+|[0-9]+|[^\W_]+|[^\w\s]|_")

_ASCII_TOKEN = re.compile(r"[A-Za-z]{1,5}|[0-9]{1,2}|[^\w\s]|_")
"""The same, cut into tokens, of text without other letters and digits: found five times as fast."""

_LETTERS_PER_TOKEN = 5

_DIGITS_PER_TOKEN = 2


def estimate_tokens(text: str) -> int:
    """Return about how many tokens the text is; rather too many than too few.

    A run of Latin letters is a token for each five of its letters or part of it, digits one for each two, every
    character of another script and every sign one. Byte-pair vocabularies of 32,000 entries and more
    need fewer for prose (most words are one token) and about as many for ids and code.
    """
    return len(_ASCII_TOKEN.findall(text)) if text.isascii() else sum(map(_cost, _PIECE.findall(text)))


def _cost(piece: str) -> int:
    if not piece.isascii():
        return len(piece)
    if piece.isdigit():
        return -(-len(piece) // _DIGITS_PER_TOKEN)
    return -(-len(piece) // _LETTERS_PER_TOKEN)


FLOORS: Mapping[ReadMode, float] = {
    ReadMode.DEFAULT: READ_FLOOR,
    ReadMode.HISTORICAL: WRITE_FLOOR,
    ReadMode.AUDIT: WRITE_FLOOR,
}
"""Least confidence of an answer (seed 001, stage 4)."""

SHORT_TURN = 40
"""Words up to which a turn is given whole, but for small talk."""

FIRST_TURNS, FIRST_TURN_WORDS, LATER_TURN_WORDS = 2, 60, 18
"""Turns among the best that are given at length, and the words of these and of later ones. On two sets of conversations
(docs/decisions/context.md) no other split left more of the answers in as many tokens."""

LATER_QUOTE_WORDS = 40
"""Words of a quoted section that is not among the best: sources tell more in a sentence than people who talk."""

SHORT_VALUE = 6
"""Most words of a value that a word which the question leaves out rules out; in a sentence it is one of many."""

SHORTEST_LINE = 10
"""Tokens of the shortest line: a day and a word."""

SHORTEST_CUT = 40
"""Tokens of budget that make it worth while to give the beginning of a line that doesn't fit."""

_SPACE = re.compile("[\\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")

_INVISIBLE = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")


def floor(mode: ReadMode, wanted: float | None) -> float:
    """Return the least confidence a read lets through: the request's own, or the mode's."""
    return FLOORS[mode] if wanted is None else wanted


def select(
    ranked: Sequence[Ranked], rows: Mapping[UUID, RankingRow], *, query: ParsedQuery, least: float
) -> tuple[Ranked, ...]:
    """Return those that are trusted enough, or marked for why they aren't, and not what the asker has ruled out.

    A summary gives way to its members where they are found.
    """
    unwanted = _unwanted(query)
    told = {rows[one.id].folded_into for one in ranked}
    trusted = (one for one in ranked if (one.marks or one.confidence >= least) and one.id not in told)
    return tuple(one for one in trusted if not _ruled_out(one, rows[one.id], query, unwanted))


def _unwanted(query: ParsedQuery) -> Callable[[str], bool] | None:
    """Return what tells whether a value is one that the question leaves out, None where it leaves out nothing.

    That is a name as it is, and a word in any of its forms within a value of a few words.
    """
    names, words = {*query.excluded.names, *query.excluded.words}, [{*terms(one)} for one in query.excluded.words]
    if not names:
        return None

    def unwanted(value: str) -> bool:
        if normalise.normalise_name(value) in names:
            return True
        said = {*terms(value)} if len(value.split()) <= SHORT_VALUE else set()
        return any(word and word <= said for word in words)

    return unwanted


Line = tuple[Hit, str]
"""A match and its line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The form of a block: the time zone of its days, its tokens, the style of ids, and the question.

    `asked` are the terms of the question. `newest_first`: of lines that answer alike, the newest stands first. `timed`
    are the days whose lines have the time of day.
    """

    zone: tzinfo | None
    budget: int
    ids: IdStyle = IdStyle.NONE
    query: str = ""
    asked: frozenset[str] = frozenset()
    newest_first: bool = True
    timed: frozenset[date] = frozenset()


def assemble(
    hits: Sequence[Hit], *, types: Registry, layout: Layout, heeded: Sequence[HeededLine] = ()
) -> tuple[ContextBlock, tuple[UUID, ...]]:
    """Return the context block within a token budget, and the ids of the memories that are in it.

    Memories are taken best first; one that doesn't fit is left out, unless it is the first: then it is cut. Long turns
    are shortened to what they say of the question, the best two less. What a memory says can't break out of its line.
    `arrange` orders the lines.
    """
    taken: dict[str, list[Line]] = defaultdict(list)
    heed = _heed_group(heeded, layout)
    spent = sum(map(estimate_tokens, (_heading(HEED_GROUP), *heed.lines))) if heed.lines else 0
    words = _telling_words(layout.query)
    layout = replace(layout, timed=_timed([hit.memory for hit in hits], types, layout.zone))
    for place, hit in enumerate(hits):
        if layout.budget - spent < SHORTEST_LINE:
            break
        line = _line(hit, place, words, types, layout)
        group = _group(hit.memory, types)
        heading = 0 if group in taken else estimate_tokens(_heading(group))
        room = layout.budget - spent - heading
        cost = estimate_tokens(line)
        if cost > room and not taken and room >= SHORTEST_CUT:
            line = cut_line(line, room)
            cost = estimate_tokens(line)
        if line and cost <= room:
            taken[group].append((hit, line))
            spent += heading + cost
    arranged = arrange(taken, layout)
    groups = tuple(ContextGroup(name=name, lines=tuple(line for _, line in lines)) for name, lines in arranged.items())
    groups = (heed, *groups) if heed.lines else groups
    text = "\n\n".join("\n".join((_heading(group.name), *group.lines)) for group in groups)
    return (
        ContextBlock(text=text, tokens=spent, groups=groups, heeded=tuple(heeded[: len(heed.lines)])),
        tuple(hit.memory.id for lines in arranged.values() for hit, _ in lines),
    )


def _heed_group(heeded: Sequence[HeededLine], layout: Layout) -> ContextGroup:
    """Return the group of what the answer must heed, as much of it as the budget takes."""
    lines: list[str] = []
    spent = estimate_tokens(_heading(HEED_GROUP))
    for one in heeded:
        named = f"[{ids.public(ids.MEMORY, one.memory)}] " if layout.ids is IdStyle.FULL else ""
        line = f"- {named}({as_day(one.stated_at, layout.zone)}) {as_line(one.content)}"
        spent += estimate_tokens(line)
        if spent > layout.budget:
            break
        lines.append(line)
    return ContextGroup(name=HEED_GROUP, lines=tuple(lines))


def arrange(taken: Mapping[str, Sequence[Line]], layout: Layout) -> dict[str, list[Line]]:
    """Return the lines by group, in the order of the block.

    Beliefs come before what was only said, groups of beliefs in the order of their best lines. Of beliefs that answer
    alike, which say the same words of the question, the newest comes first, and of what was said the newest of all. A
    later turn stands above the belief that it may have changed, and both above the others of the group. Where the past
    is asked for, the best lines come first.
    """
    groups = {name: list(lines) for name, lines in taken.items() if name != GROUPS[-1]}
    said = list(taken.get(GROUPS[-1], ()))
    if layout.newest_first:
        said.sort(key=_newest, reverse=True)
        groups = {name: _newest_of_alike(lines, layout) for name, lines in groups.items()}
    by_id = {line[0].memory.id: line for line in said}
    above = {hit.memory.id: hit.later for lines in groups.values() for hit, _ in lines if hit.later}
    moved: set[UUID] = set()
    for name, lines in groups.items():
        placed: list[Line] = []
        for line in sorted(lines, key=lambda line: not line[0].later):
            later = [one for one in above.get(line[0].memory.id, ()) if one in by_id and one not in moved]
            moved.update(later)
            placed += [*(by_id[one] for one in later), line]
        groups[name] = placed
    left = [line for line in said if line[0].memory.id not in moved]
    return {**groups, GROUPS[-1]: left} if left else groups


def _newest_of_alike(lines: Sequence[Line], layout: Layout) -> list[Line]:
    """Return the lines with those that say the same words of the question ordered among themselves, newest first."""
    alike: dict[frozenset[str], list[int]] = defaultdict(list)
    for place, (hit, _) in enumerate(lines):
        alike[layout.asked.intersection(terms(hit.memory.content))].append(place)
    ordered = list(lines)
    for places in alike.values():
        newest = sorted((lines[place] for place in places), key=_newest, reverse=True)
        for place, line in zip(places, newest, strict=True):
            ordered[place] = line
    return ordered


def _newest(line: Line) -> datetime:
    return line[0].memory.stated_at


def as_line(text: str) -> str:
    """Return the text on one line, without characters that break lines, hide or turn text around."""
    return _SPACE.sub(" ", _INVISIBLE.sub("", text)).strip()


def _ruled_out(one: Ranked, row: RankingRow, query: ParsedQuery, unwanted: Callable[[str], bool] | None) -> bool:
    """Tell whether it was never meant, or its subject or one of its values is what the question leaves out.

    What was only supposed, played or quoted is for audits, whatever confidence is asked for, unless it is marked.
    """
    if row.speech_act in UNCERTAIN_ACTS and not one.marks and query.mode is not ReadMode.AUDIT:
        return True
    if unwanted is None:
        return False
    values = (row.subject, *(row.payload or {}).values())
    return any(isinstance(value, str) and unwanted(value) for value in values)


def _group(memory: Memory, types: Registry) -> str:
    found = types.find(memory.type)
    return found.group if found is not None and found.group in GROUPS else GROUPS[-1]


def _heading(group: str) -> str:
    return f"## {group}"


def _line(hit: Hit, place: int, words: Collection[str], types: Registry, layout: Layout) -> str:
    """Return the memory's line: when it was stated, whether it is history, until when, and what it says.

    A type whose memories have a time of their own says it itself; its day is when it was noted. Empty: small talk.
    """
    memory, zone = hit.memory, layout.zone
    kind = types.find(memory.type)
    said = memory.content
    if kind is not None and kind.verbatim:
        said = _shortened(memory, words, FIRST_TURN_WORDS if place < FIRST_TURNS else LATER_TURN_WORDS)
        if not said:
            return ""
        said = with_own_days(said, memory, zone)
    elif kind is not None and kind.quotes is not None:
        said = _quoted(memory, kind.quotes, words, FIRST_TURN_WORDS if place < FIRST_TURNS else LATER_QUOTE_WORDS)
    elif kind is not None and need_names(said, memory.names):
        said = _with_names(said, memory, kind)
    noted = "noted " if kind is not None and happens(kind) else ""
    past = f", {memory.status}" if memory.status is not MemoryStatus.ACTIVE and not memory.gives_way else ""
    until = f", until {as_day(memory.valid_until, zone)}" if memory.valid_until is not None else ""
    since = as_day(stated_since(memory), zone, frozenset() if noted else layout.timed)
    when = ", ".join((f"{noted}{since}{past}{until}", *hit.marks))
    return f"- {_named(memory, place, layout.ids)}({when}) {as_line(said)}"


def _quoted(memory: Memory, field: str, words: Collection[str], most: int) -> str:
    """Return what a quoted source says of the question, after where it is from."""
    text = str(memory.payload.get(field, ""))
    if not memory.content.endswith(text) or len(text.split()) <= most:
        return memory.content
    return memory.content.removesuffix(text) + _excerpt(text, words, most=most)


def _with_names(said: str, memory: Memory, kind: MemoryType) -> str:
    """Return the sentence of a memory with canonical names, as far as its payload can be read."""
    try:
        payload = kind.read(memory.payload, memory.type_version)
    except ValidationError:
        return said
    return with_canonical_names(said, payload.mentions(), memory.names)


def _timed(memories: Sequence[Memory], types: Registry, zone: tzinfo | None) -> frozenset[date]:
    """Return the days whose lines have the time of day; what has a time of its own contradicts nothing."""
    kinds = {one.id: types.find(one.type) for one in memories}
    stated = [one for one in memories if (kind := kinds[one.id]) is None or not happens(kind)]
    return days_with_times(stated, zone, verbatim=lambda one: (kind := kinds[one.id]) is not None and kind.verbatim)


def _named(memory: Memory, place: int, style: IdStyle) -> str:
    match style:
        case IdStyle.NONE:
            return ""
        case IdStyle.SHORT:
            return f"[{place + 1}] "
        case IdStyle.FULL:
            return f"[{ids.public(ids.MEMORY, memory.id)}] "


def _shortened(memory: Memory, words: Collection[str], most: int) -> str:
    """Return what a turn says of the question, led by who said it; empty where it is small talk.

    So is an assistant's turn that does no more than react and ask, unless it asks for what the question does: then the
    answer may lean on it.
    """
    speaker = _speaker(memory)
    lead = f"{speaker}: " if speaker else ""
    said = memory.content.removeprefix(lead)
    idle = speaker in ASSISTANTS and all(_is_idle(one) or is_reaction(one) for one in _sentences(said))
    idle = idle and not _tells(said, words)[0]
    if idle or is_chit_chat(said):
        return ""
    if len(said.split()) <= SHORT_TURN:
        return lead + " ".join(one for one in _sentences(said) if not is_chit_chat(one))
    return lead + _excerpt(said, words, most=most)


def _speaker(memory: Memory) -> str | None:
    """Return the name of who said a turn, or the role; None where neither is known."""
    speaker = memory.payload.get("speaker")
    if isinstance(speaker, str):
        return speaker
    return next((one.role for one in memory.evidence if one.role is not None), None)


def cut_line(line: str, room: int) -> str:
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


_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_SAID_WORD: Final = re.compile(r"[^\W_]+")
_SHORTEST_SENTENCE: Final = 4
"""Words of a sentence under which it says nothing, unless it has a number."""

_STEM: Final = 5
"""Letters by which a word of the question is known in its other forms."""


def _telling_words(question: str) -> frozenset[str]:
    """Return the words of a question by which sentences about it are known."""
    words = (word.casefold() for word in _SAID_WORD.findall(question))
    return frozenset(word[:_STEM] for word in words if word not in STOP_WORDS["english"])


def _excerpt(text: str, words: Collection[str], *, most: int) -> str:
    """Return the sentences of a turn that say something, those with telling words first, up to `most` words.

    They stay in their order, and one is always kept.
    """
    sentences = _sentences(text)
    best = sorted(range(len(sentences)), key=lambda place: (*_tells(sentences[place], words), -place), reverse=True)
    kept = _fitting(sentences, best, most=most, idle=False) or _fitting(sentences, best, most=most, idle=True)
    cut = sentences[kept[0]] if len(kept) == 1 else ""
    if len(cut.split()) > most:
        return f"{' '.join(cut.split()[:most])} …"
    return " ".join(sentences[place] for place in sorted(kept))


def _fitting(sentences: Sequence[str], best: Sequence[int], *, most: int, idle: bool) -> list[int]:
    """Return the places of the first sentence, in the order of `best`, and of those after it that still fit."""
    kept: list[int] = []
    room = most
    for place in best:
        length = len(sentences[place].split())
        if (not kept or length <= room) and (idle or not _is_idle(sentences[place])):
            kept.append(place)
            room -= length
    return kept


def _sentences(text: str) -> list[str]:
    return [one for one in _SENTENCE.split(text) if one]


def _is_idle(sentence: str) -> bool:
    """Tell whether a sentence is small talk, or asks and tells nothing of who asks."""
    if is_chit_chat(sentence):
        return True
    if len(sentence.split()) < _SHORTEST_SENTENCE and not any(one.isdigit() for one in sentence):
        return sentence.endswith(("!", "?"))
    return sentence.endswith("?") and FIRST_PERSON.search(sentence) is None


def _tells(sentence: str, words: Collection[str]) -> tuple[int, bool]:
    found = {word[:_STEM] for word in _SAID_WORD.findall(sentence.casefold())}
    return len(found.intersection(words)), FIRST_PERSON.search(sentence) is not None

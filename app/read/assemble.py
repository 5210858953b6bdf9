"""Stage 4: apply the floor of confidence, and assemble the context block within a token budget.

Tokens are estimated without knowing the model.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta, tzinfo
from uuid import UUID

from pydantic import ValidationError

from app import ids
from app.db.memories.ranking import RankingRow
from app.english.dates import TemporalSpan, find_spans
from app.lexical.bm25 import terms
from app.memory import normalise
from app.memory.calendar import zone_of
from app.memory.confidence import READ_FLOOR, UNCERTAIN_ACTS, WRITE_FLOOR
from app.memory.naming import need_names, with_canonical_names
from app.memory.registry import Registry
from app.memory.spec import GROUPS, HEED_GROUP, MemoryType
from app.model import Memory, MemoryStatus, ReadMode
from app.read.excerpt import quoted_of, shown_of
from app.read.texts import terms_in
from app.read.values import ContextBlock, ContextGroup, HeededLine, Hit, IdStyle, ParsedQuery, Ranked

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

    `asked` are the terms of the question with what each weighs. `newest_first`: of lines that answer alike, the newest
    stands first; `in_order`: what was said stands in the order of time. `timed` are the days whose lines have the time
    of day.
    """

    zone: tzinfo | None
    budget: int
    ids: IdStyle = IdStyle.NONE
    asked: Mapping[str, float] = field(default_factory=dict)
    newest_first: bool = True
    in_order: bool = False
    timed: frozenset[date] = frozenset()


def assemble(
    hits: Sequence[Hit], *, types: Registry, layout: Layout, heeded: Sequence[HeededLine] = ()
) -> tuple[ContextBlock, tuple[UUID, ...]]:
    """Return the context block within a token budget, and the ids of the memories that are in it.

    Memories are taken best first; one that doesn't fit is left out, unless it is the first: then it is cut. Long turns
    are shortened to what they say of the question. What a memory says can't break out of its line.
    `arrange` orders the lines.
    """
    taken: dict[str, list[Line]] = defaultdict(list)
    heed = _heed_group(heeded, layout)
    spent = sum(map(estimate_tokens, (_heading(HEED_GROUP), *heed.lines))) if heed.lines else 0
    layout = replace(layout, timed=_timed([hit.memory for hit in hits], types, layout.zone))
    for place, hit in enumerate(hits):
        if layout.budget - spent < SHORTEST_LINE:
            break
        line = _line(hit, place, types, layout)
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
    alike, which say the same words of the question, the newest comes first, and of what was said the newest of all, or
    the oldest where a question gathers; what tells of another or of a while comes last. A later turn stands above what
    it may have changed, and above the others of the group where that is a belief. Where the past is asked for, the best
    lines come first.
    """
    groups = {name: list(lines) for name, lines in taken.items() if name != GROUPS[-1]}
    said = list(taken.get(GROUPS[-1], ()))
    if layout.newest_first:
        said.sort(key=_newest, reverse=not layout.in_order)
        said.sort(key=lambda line: line[0].beside)
        groups = {name: _newest_of_alike(lines, layout) for name, lines in groups.items()}
    by_id, placed = {line[0].memory.id: line for line in said}, set[UUID]()
    for name, lines in groups.items():
        own = {line[0].memory.id: line for line in lines}
        groups[name] = _behind_later(_perhaps_replaced_first(lines, layout), {**by_id, **own}, placed)
    left = _behind_later(said, by_id, placed)
    return {**groups, GROUPS[-1]: left} if left else groups


def _behind_later(lines: Iterable[Line], said: Mapping[UUID, Line], placed: set[UUID]) -> list[Line]:
    """Return the lines not yet `placed`, each behind those of the `said` that may have changed it."""
    behind: list[Line] = []
    for line in lines:
        hit, _ = line
        if hit.memory.id not in placed:
            later = [one for one in hit.later if one in said and one not in placed]
            behind += [*(said[one] for one in later), line]
            placed.update((*later, hit.memory.id))
    return behind


def _perhaps_replaced_first(lines: Sequence[Line], layout: Layout) -> list[Line]:
    """Return the lines with those that a later turn may have changed first, but for one that is alike a better one."""
    alike = [_asked_of(line, layout) for line in lines]
    leads = [bool(hit.later) and alike.index(alike[place]) == place for place, (hit, _) in enumerate(lines)]
    ordered = sorted(range(len(lines)), key=lambda place: not leads[place])
    return [lines[place] for place in ordered]


def _asked_of(line: Line, layout: Layout) -> frozenset[str]:
    """Return the words of the question that a line says."""
    return frozenset(layout.asked.keys() & terms_in(line[0].memory.content))


def _newest_of_alike(lines: Sequence[Line], layout: Layout) -> list[Line]:
    """Return the lines with those that say the same words of the question ordered among themselves, newest first."""
    alike: dict[frozenset[str], list[int]] = defaultdict(list)
    for place, line in enumerate(lines):
        alike[_asked_of(line, layout)].append(place)
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


def _line(hit: Hit, place: int, types: Registry, layout: Layout) -> str:
    """Return the memory's line: when it was stated, whether it is history, until when, and what it says.

    A type whose memories have a time of their own says it itself; its day is when it was noted. Empty: small talk.
    """
    memory, zone = hit.memory, layout.zone
    kind = types.find(memory.type)
    said = memory.content
    if kind is not None and kind.verbatim:
        said = shown_of(memory, place, layout.asked)
        if not said:
            return ""
        said = with_own_days(said, memory, zone)
    elif kind is not None and kind.quotes is not None:
        said = quoted_of(memory, kind.quotes, place, layout.asked)
    elif kind is not None and need_names(said, memory.names):
        said = _with_names(said, memory, kind)
    noted = "noted " if kind is not None and kind.happens else ""
    past = f", {memory.status}" if memory.status is not MemoryStatus.ACTIVE and not memory.gives_way else ""
    until = f", until {as_day(memory.valid_until, zone)}" if memory.valid_until is not None else ""
    since = as_day(stated_since(memory), zone, frozenset() if noted else layout.timed)
    when = ", ".join((f"{noted}{since}{past}{until}", *hit.marks))
    return f"- {_named(memory, place, layout.ids)}({when}) {as_line(said)}"


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
    stated = [one for one in memories if (kind := kinds[one.id]) is None or not kind.happens]
    return days_with_times(stated, zone, verbatim=lambda one: (kind := kinds[one.id]) is not None and kind.verbatim)


def _named(memory: Memory, place: int, style: IdStyle) -> str:
    match style:
        case IdStyle.NONE:
            return ""
        case IdStyle.SHORT:
            return f"[{place + 1}] "
        case IdStyle.FULL:
            return f"[{ids.public(ids.MEMORY, memory.id)}] "


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


_INSTANT = timedelta(microseconds=1)


def stated_since(memory: Memory) -> datetime:
    """Return the time at the head of a memory's line: when it was stated.

    What ended has the time from which on it held, because it was stated last when it was said to have ended.
    """
    return min(memory.stated_at, memory.valid_from) if memory.status is MemoryStatus.EXPIRED else memory.stated_at


def days_with_times(
    memories: Sequence[Memory], zone: tzinfo | None, *, verbatim: Callable[[Memory], bool]
) -> frozenset[date]:
    """Return the days on whose lines the time of day tells which of two statements is the later.

    That is where a turn stands beside another statement, which it may contradict, and where two memories had one slot.
    """
    stated: dict[date, list[tuple[str, Memory]]] = defaultdict(list)
    for one in memories:
        at = stated_since(one).astimezone(zone)
        stated[at.date()].append((f"{at:%H:%M}", one))
    return frozenset(day for day, said in stated.items() if _may_contradict(said, verbatim))


def _may_contradict(said: Sequence[tuple[str, Memory]], verbatim: Callable[[Memory], bool]) -> bool:
    if len({at for at, _ in said}) < 2:  # noqa: PLR2004 - two times of one day
        return False
    if any(verbatim(one) for _, one in said):
        return True
    slots: dict[tuple[object, ...], set[str]] = defaultdict(set)
    for at, one in said:
        if one.slot is not None:
            slots[one.scope, one.type, one.slot].add(at)
    return any(len(times) > 1 for times in slots.values())


def as_day(instant: datetime, zone: tzinfo | None, timed: frozenset[date] = frozenset()) -> str:
    """Return the day of an instant in a zone, with the time of day where it is one of the `timed` days."""
    local = instant.astimezone(zone)
    return f"{local:%Y-%m-%d %H:%M}" if local.date() in timed else local.date().isoformat()


def with_own_days(text: str, memory: Memory, zone: tzinfo | None) -> str:
    """Return what a turn says with the days that it names by its own, where its day is another one in the zone.

    The day at the head of its line is that of the zone, from which a reader would count: `yesterday (2026-09-01)`.
    """
    timezone = next((one.timezone for one in memory.evidence if one.timezone is not None), None)
    if timezone is None:
        return text
    own, here = memory.stated_at.astimezone(zone_of(timezone)), memory.stated_at.astimezone(zone)
    if own.date() == here.date():
        return text
    counted = {one.start: _days(one) for one in find_spans(text, now=here)}
    ahead = {one.start: _days(one) for one in find_spans(text, now=own, prefer="future")}
    for span in reversed(find_spans(text, now=own)):
        days = _days(span)
        if days is not None and days != counted.get(span.start) and days == ahead.get(span.start):
            text = f"{text[: span.end]} ({days}){text[span.end :]}"
    return text


def _days(span: TemporalSpan) -> str | None:
    """Return the first and the last day of a span; None where it is open."""
    if span.lower is None or span.upper is None:
        return None
    first, last = span.lower.date(), (span.upper - _INSTANT).date()
    return f"{first}" if first == last else f"{first} to {last}"

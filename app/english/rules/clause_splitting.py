"""Division of a sentence into clauses, each without the greetings, connectives and times before its subject."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from app.english.names import COMMON
from app.english.rules.clause import Clause, Sentence, SpeakerContext, Tense
from app.english.rules.event_time import CUE
from app.english.rules.grammar import parse, parse_after
from app.english.verbs import third_person
from app.english.word_lists import pattern, words

_SPLIT: Final = pattern("clauses", "split", re.IGNORECASE)
_WHEN: Final = re.compile(r"(?:when|after|before|once|by the time|the day)\s", re.IGNORECASE)
_BECAUSE: Final = pattern("clauses", "because", re.IGNORECASE)
_LEAD: Final = pattern("clauses", "lead", re.IGNORECASE)
_LAST: Final = pattern("clauses", "last", re.IGNORECASE)
_VOCATIVE: Final = pattern("clauses", "vocative", re.IGNORECASE)
_FRONT: Final = pattern("clauses", "front", re.IGNORECASE)
_BARE_FRONT: Final = re.compile(r"(?:this|last|next|one|some|two|three|four|five|six|each|every|\d+)\b", re.IGNORECASE)
_THIS: Final = re.compile(r"this\s+", re.IGNORECASE)
_SPELL: Final = pattern("clauses", "spell", re.IGNORECASE)
CORRECTION: Final = re.compile(r"(?:no|nope|actually|correction|wait|sorry)\b", re.IGNORECASE)
"""What a correction begins with."""

_MOST_LEADS: Final = 5
_LONGEST_TIME: Final = 8
"""Words of the longest piece without a statement that may be the time of the next one."""


@dataclass(slots=True)
class ClausePart:
    """A part of a sentence while it is read.

    `at` is where its text stands in the sentence, `first` where its words begin, with those peeled off, which are
    `before`; `joined`: `and` joins it to the part before, `apart`: `so` or `but` does; `past_only`: only what is over
    is stated ("when I moved").
    """

    text: str
    at: int
    first: int
    joined: bool = False
    apart: bool = False
    before: str = ""
    correction: bool = False
    sure: float = 1.0
    past_only: bool = False

    def peel(self, length: int) -> None:
        """Take so many characters off its beginning."""
        self.before += self.text[:length]
        self.text = self.text[length:]
        self.at += length


def pieces(text: str) -> Iterator[ClausePart]:
    """Yield the parts of a sentence."""
    begin, joined, apart = 0, False, False
    for found in _SPLIT.finditer(text):
        yield ClausePart(text[begin : found.start()], begin, begin, joined, apart)
        begin, word = found.end(), (found["and"] or "").lower()
        shares = found["comma"] is not None or found["shared"] is not None
        joined, apart = shares or word == "and", word in {"so", "but"}
    yield ClausePart(text[begin:], begin, begin, joined, apart)


def strip_lead(piece: ClausePart) -> None:
    """Take off greetings, connectives, names called and times put first."""
    piece.peel(len(piece.text) - len(piece.text.lstrip()))
    piece.text = _LAST.sub("", piece.text)
    for _ in range(_MOST_LEADS):
        found = _LEAD.match(piece.text) or _VOCATIVE.match(piece.text) or _BECAUSE.match(piece.text)
        if found is None:
            break
        piece.correction = piece.correction or CORRECTION.match(piece.text) is not None
        piece.peel(found.end())
    for front in (_WHEN, _FRONT):
        found = front.match(piece.text)
        if found is not None and _is_time(found.group()):
            piece.past_only = piece.past_only or front is _WHEN
            piece.peel(found.end())


def _is_time(front: str) -> bool:
    """Tell whether the words before a subject may be a time: in `This book I read last year ...` it is none."""
    if _BARE_FRONT.match(front) is None:
        return True
    this = _THIS.match(front)
    first = this.end() if this else 0
    return CUE.search(front, first) is not None or (this is not None and _SPELL.match(front, first) is not None)


_CONDITION: Final = re.compile(r"(?:if|unless|whether|whenever|until|in case|as if|as though|lest)\b", re.IGNORECASE)
_REPORTED: Final = pattern("clauses", "reported", re.IGNORECASE)
_TOLD: Final = pattern("clauses", "told", re.IGNORECASE)
_EXPERT: Final = pattern("clauses", "expert", re.IGNORECASE)
"""Whom one believes about one's own body."""

_ASKED: Final = pattern("clauses", "asked", re.IGNORECASE)
_TAG: Final = pattern("clauses", "tag", re.IGNORECASE)
_STATES: Final = pattern("clauses", "states", re.IGNORECASE)
_BARE_NAME: Final = re.compile(r"[A-Z][\w'-]+(?: [A-Z][\w'-]+)?")
_NOW: Final = re.compile(r"\b(?:now|currently|nowadays|these days)\b", re.IGNORECASE)
_ALWAYS: Final = re.compile(r"\b(?:always|usually|typically)\b", re.IGNORECASE)
_HEDGES: Final = frozenset({"probably", "maybe", "perhaps", "apparently", "kinda", "sorta"})
_UNSURE: Final = 0.7
_AIMING: Final = words("clauses", "aiming")
"""Verbs after which `to` leads to what is not yet so."""

_AIMED: Final = pattern("clauses", "aimed", re.IGNORECASE)
_TO_DO: Final = re.compile(r"[^,;]{0,40}?\bto\s+[a-z]", re.IGNORECASE)


def clauses(sentence: Sentence, said: SpeakerContext) -> Iterator[Clause]:
    """Yield the statements of a sentence; nothing for a plain question, a condition, or a wish."""
    text = declaration(sentence) if sentence.asks else sentence.text
    if not text or _CONDITION.match(text):
        return
    last: Clause | None = None
    alone: ClausePart | None = None
    for piece in pieces(text):
        if _CONDITION.match(piece.text):
            continue
        if last is not None:
            piece.correction = last.correction
        elif (
            alone is not None and not piece.apart and len(alone.text.split()) <= _LONGEST_TIME
        ):  # "Last week, I got married"
            piece.before, piece.first = f"{alone.before}{alone.text}, ", alone.first
            piece.correction = CORRECTION.match(piece.before) is not None
        found = _read(piece, said, sentence.start)
        if found is None and piece.joined and last is not None:
            joined = parse_after(piece.text, sentence.start + piece.at, last.subject)
            found = _sharing(joined, last, now=_NOW.search(f"{piece.before} {piece.text}") is not None)
        if found is None:
            alone = piece
            continue
        if piece.joined and alone is not None and found.subject.own and _is_bare_name(alone.text):
            together = (alone.text, found.subject.name)
            found = replace(found, subject=replace(found.subject, names=together, plural=True))
        last = _judged(found, piece, sentence.start)
        yield last


def _is_bare_name(text: str) -> bool:
    return _BARE_NAME.fullmatch(text) is not None and text.lower() not in COMMON


def _sharing(clause: Clause | None, first: Clause, *, now: bool) -> Clause | None:
    """Return a clause without a subject of its own as the verb before it has it: `used to live in Rome and work there`.

    Of what is wanted, planned or told to be done, nothing is stated: `I want to live in Rome and work at Volkswagen`.
    What is said to be so `now` shares nothing.
    """
    if clause is not None and first.subject.own and clause.verb == third_person(clause.lemma) != clause.lemma:
        return None  # "I know Tom, works at Volkswagen"
    if clause is None or now or clause.verb != clause.lemma or clause.copula or not clause.holds or clause.perfect:
        return clause
    if first.modal or first.used_to:
        return replace(clause, modal=first.modal, tense=first.tense, used_to=first.used_to)
    aims = _AIMED.match(first.rest) if first.copula else first.lemma in _AIMING and _TO_DO.match(first.rest)
    return replace(clause, sure=0.0) if aims else clause


def declaration(sentence: Sentence) -> str:
    """Return what a question states before it asks: `I'm allergic to nuts, so what can I eat?`."""
    asked = _ASKED.search(sentence.text) if _STATES.match(sentence.text) else None
    if asked is None or _TAG.fullmatch(sentence.text[asked.end("stop") :]):
        return ""
    return sentence.text[: asked.start()]


def _read(piece: ClausePart, said: SpeakerContext, start: int) -> Clause | None:
    strip_lead(piece)
    told = _TOLD.match(piece.text)
    if told:
        return _told(piece, told, said, start)
    reported = _REPORTED.match(piece.text) or _EXPERT.match(piece.text)
    if reported:
        piece.sure = _UNSURE if reported.groupdict().get("unsure") else 1.0
        piece.peel(reported.end())
        strip_lead(piece)
    return parse(piece.text, start + piece.at, said)


def _told(piece: ClausePart, told: re.Match[str], said: SpeakerContext, start: int) -> Clause | None:
    """Read what someone is said to have said of themselves: `Sarah mentioned she works at Acme`."""
    teller = parse(f"{told['who']} is here", 0, said)
    piece.peel(told.end())
    piece.sure = _UNSURE
    found = parse(piece.text, start + piece.at, said)
    if found is None or teller is None:
        return None
    return replace(found, subject=replace(teller.subject, plural=found.subject.plural))


def _judged(clause: Clause, piece: ClausePart, start: int) -> Clause:
    """Return the clause with what was peeled off it, and how far it can be trusted."""
    sure = clause.sure * piece.sure * (_UNSURE if clause.adverbs & _HEDGES else 1.0)
    adverbs = set(clause.adverbs)
    if _NOW.search(piece.before):
        adverbs.add("now")
    if _ALWAYS.search(piece.before):
        adverbs.add("always")
    return replace(
        clause, before=piece.before, first=start + piece.first, correction=piece.correction, adverbs=frozenset(adverbs),
        sure=0.0 if piece.past_only and clause.tense is not Tense.PAST else sure,
    )  # fmt: skip

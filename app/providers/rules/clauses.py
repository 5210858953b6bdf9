"""From a sentence to the clauses that state something."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from app.providers.rules.clause import Clause, Said, Tense, Who
from app.providers.rules.grammar import parse, parse_after
from app.providers.rules.pieces import CORRECTION, NAMED, SUBJECT, Piece, peel, pieces
from app.providers.rules.sentences import Sentence
from app.providers.rules.verbs import third_person
from app.providers.rules.words import word_set

_CONDITION: Final = re.compile(r"(?:if|unless|whether|whenever|until|in case|as if|as though|lest)\b", re.IGNORECASE)
_REPORTED: Final = re.compile(
    rf"""(?!you\ (?:think|guess|believe|suppose|assume|figure|said|told|mentioned)\b)
    (?:i|we|you)(?:'d|'ve|\ would|\ should|\ have|\ already|\ just|\ also|\ do)*[ ]
    (?:(?P<unsure>think|guess|believe|suppose|assume|figure|feel\ like)|told\ you|mentioned|said|found\ out|realized
    |realised
    |must\ say|know|swear|want(?:ed)?\ (?:you\ to\ know|to\ mention|to\ add|to\ say)|noticed|confirm
    |forgot\ to\ (?:say|mention))(?:\ before|\ earlier|\ already)?(?:\ that)?\ (?={SUBJECT}|{NAMED})""",
    re.IGNORECASE | re.VERBOSE,
)
_TOLD: Final = re.compile(
    r"""(?P<who>you(?:'ve)?|(?:the\ )?user|(?-i:[A-Z][\w'-]+)|he|she|my\ \w+)(?:\ have|\ has|\ also|\ just)?
    \ (?:said|says|mentioned|told\ (?:me|us|you)|noted|stated|explained|confirmed|shared)(?:\ that)?
    \ (?=(?P<inner>they|he|she|you)\b)""",
    re.IGNORECASE | re.VERBOSE,
)
_EXPERT: Final = re.compile(
    r"my (?:doctor|gp|physician|dentist|therapist|psychiatrist|specialist|\w+ologist)(?: (?:just|has|recently))*"
    r" (?:said|says|told me|thinks|confirmed)(?: that)? (?=i\b|i'm\b)",
    re.IGNORECASE,
)
"""Whom one believes about one's own body."""
_ASKED: Final = re.compile(
    r"(?P<stop>,? so |, (?:(?:and|but) )?)(?:what|which|who|how|when|where|why|can|could|would|should|do|does|did|is"
    r"|are"
    r"|will|any)\b",
    re.IGNORECASE,
)
_TAG: Final = re.compile(
    r"(?:do|does|did|is|are|am|was|were|have|has|can|will|would|right|correct|ok(?:ay)?)(?:n't)?"
    r"(?: (?:i|you|he|she|it|they|we))?",
    re.IGNORECASE,
)
_STATES: Final = re.compile(
    r"(?:(?:hi|hey|hello|ok|okay|so|well|by the way|btw)[,!]? )*(?:i|i'm|i've|we|we're|my|our)\b", re.IGNORECASE
)
_BARE_NAME: Final = re.compile(r"[A-Z][\w'-]+(?: [A-Z][\w'-]+)?")
_NOW: Final = re.compile(r"\b(?:now|currently|nowadays|these days)\b", re.IGNORECASE)
_ALWAYS: Final = re.compile(r"\b(?:always|usually|typically)\b", re.IGNORECASE)
_HEDGES: Final = frozenset({"probably", "maybe", "perhaps", "apparently", "kinda", "sorta"})
_UNSURE: Final = 0.7
_AIMING: Final = word_set(
    """
    want need hope plan intend wish aim try expect dream consider think decide agree promise refuse fail ask tell
    advise get have go
    """
)
"""Verbs after which `to` leads to what is not yet so."""
_AIMED: Final = re.compile(
    r"(?:about|supposed|able|meant|due|set|bound|expected|willing|excited|keen|eager|ready|hoping)\s+to\s",
    re.IGNORECASE,
)
_TO_DO: Final = re.compile(r"[^,;]{0,40}?\bto\s+[a-z]", re.IGNORECASE)


def clauses(sentence: Sentence, said: Said) -> Iterator[Clause]:
    """Yield the statements of a sentence; nothing for a plain question, a condition, or a wish."""
    text = declared(sentence) if sentence.asks else sentence.text
    if not text or _CONDITION.match(text):
        return
    last: Clause | None = None
    alone: Piece | None = None
    for piece in pieces(text):
        if _CONDITION.match(piece.text):
            continue
        if last is not None:
            piece.correction = last.correction
        elif alone is not None:  # "Last week, I got married": the time stands in a piece of its own
            piece.before, piece.first = f"{alone.before}{alone.text}, ", alone.first
            piece.correction = CORRECTION.match(piece.before) is not None
        found = _read(piece, said, sentence.start)
        if found is None and piece.joined and last is not None:
            joined = parse_after(piece.text, sentence.start + piece.at, last.subject)
            found = _sharing(joined, last, now=_NOW.search(f"{piece.before} {piece.text}") is not None)
        if found is None:
            alone = piece
            continue
        if piece.joined and alone is not None and found.subject.own and _BARE_NAME.fullmatch(alone.text):
            together = (alone.text, found.subject.name)
            found = replace(found, subject=replace(found.subject, names=together, plural=True))
        last = _judged(found, piece, sentence.start)
        yield last


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


def declared(sentence: Sentence) -> str:
    """Return what a question states before it asks: `I'm allergic to nuts, so what can I eat?`."""
    asked = _ASKED.search(sentence.text) if _STATES.match(sentence.text) else None
    if asked is None or _TAG.fullmatch(sentence.text[asked.end("stop") :]):
        return ""
    return sentence.text[: asked.start()]


def _read(piece: Piece, said: Said, start: int) -> Clause | None:
    peel(piece)
    told = _TOLD.match(piece.text)
    if told:
        return _told(piece, told, said, start)
    reported = _REPORTED.match(piece.text) or _EXPERT.match(piece.text)
    if reported:
        piece.sure = _UNSURE if reported.groupdict().get("unsure") else 1.0
        piece.peel(reported.end())
        peel(piece)
    return parse(piece.text, start + piece.at, said)


def _told(piece: Piece, told: re.Match[str], said: Said, start: int) -> Clause | None:
    """Read what someone is said to have said of themselves: `Sarah mentioned she works at Acme`."""
    teller = parse(f"{told['who'].removesuffix(chr(39) + 've')} is here", 0, said)
    if teller is None or (told["inner"].lower() == "you") != (teller.subject.who is Who.ADDRESSEE):
        return None
    piece.peel(told.end())
    piece.sure = 1.0 if teller.subject.who is Who.ADDRESSEE else _UNSURE
    found = parse(piece.text, start + piece.at, replace(said, addressee=teller.subject.name))
    return None if found is None else replace(found, subject=replace(teller.subject, plural=found.subject.plural))


def _judged(clause: Clause, piece: Piece, start: int) -> Clause:
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

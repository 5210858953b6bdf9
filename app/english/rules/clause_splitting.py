"""From a sentence to its parts, each with what stands before its subject peeled off.

From a sentence to the clauses that state something.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from app.english.rules.clause import Clause, SpeakerContext, Tense, Who
from app.english.rules.event_time import CUE
from app.english.rules.grammar import parse, parse_after
from app.english.rules.sentences import Sentence
from app.english.verbs import third_person
from app.english.word_lists import word_set

SUBJECT: Final = (
    r"(?:i|i'm|im|i've|ive|i'd|i'll|we|we're|we've|my|our|he|she|they|it|he's|she's|they're|it's|you|you're|you've"
    r"|the\ user|user|there|this\ is|that's|that\ is)\b"
)
"""What a clause may begin with."""

NAMED: Final = (
    r"(?-i:[A-Z][\w'-]*(?:\ [A-Z][\w'-]*)?)\ (?:is|was|has|works|lives|prefers|likes|loves|manages|leads|wants|uses"
    r"|reports"
    r"|joined|moved|died|passed|left|quit)\b"
)
"""A name with a verb."""

_FINITE: Final = (
    r"(?:(?:also|now|currently|just|then|still|recently)\ )?"
    r"(?:work|works|worked|live|lives|lived|study|studies|studied|prefer|prefers|use|uses|have|has|had|moved|joined|started"
    r"|bought|met|visited|went|adopted|graduated|manage|manages|lead|leads|report|reports|speak|speaks|own|owns|am|is|was|got"
    r"|used\ to|take|takes|play|plays|drive|drives|eat|eats|finished|signed|love|loves|like|likes|hate|hates|enjoy"
    r"|enjoys|teach|teaches|run|runs|ran|took|made|felt"
    r"|learned|realized|picked|did|wrote|read|gave|sold|saw|built|found|paid|spent|drove|flew|won|became|left|want|wants|need"
    r"|needs|decided)\b"
)
_SPLIT: Final = re.compile(
    rf"""\ ?;\ ? | \ (?:-|--|\u2013|\u2014)\  | \u2014 | (?<=\w)[-\u2013]\ (?={SUBJECT})
    | (?:,\ |\ )(?P<and>and|but|so|although|even\ though|though|while|whereas|plus)\ (?={SUBJECT}|{NAMED})
    | (?:,\ |\ )(?:because|cause|since|as)\ (?=(?:i|i'm|i've|we|we're|we've|my|our)\b)
    | ,\ ?(?={SUBJECT})
    | :\ (?={SUBJECT}|{NAMED}|the\ (?-i:[A-Z]))
    | ,?\ (?P<shared>and)\ (?={_FINITE}|(?-i:[a-z]{{3,20}}ed\ (?:a|an|the|my|our|to|with|for|in|at|on|some|\d|[A-Z])))
    | (?P<comma>,)\ (?=(?:(?:currently|now|originally)\ )?(?:grew\ up|lives?\ (?:in|with)|works?\ (?:at|for|as)
    |moved\ to|used\ to|graduated\ from|studied\ at|reports?\ to)\ )
    | ,?\ (?=(?:if|unless|when|whenever|whether|until|once|after|before)\ {SUBJECT})""",
    re.IGNORECASE | re.VERBOSE,
)
_WHEN: Final = re.compile(r"(?:when|after|before|once|by the time|the day)\s", re.IGNORECASE)
_BECAUSE: Final = re.compile(
    r"(?:since|because|although|even though|though|while|whereas|given that|now that|as)\s+(?=(?:i|we|my|our)\b)",
    re.IGNORECASE,
)
_LEAD: Final = re.compile(
    r"""(?:and|but|so|then|well|oh|ok|okay|yeah|yea|yes|yep|yup|nope|nah|no|hey|hi|hello|wow|aww?|ah|hmm|haha|lol|btw
    |by\ the\ way|thanks?(?:\ so\ much|\ a\ lot|\ again|\ for\ (?:asking|that|the\ \w+))?|thank\ you(?:\ so\ much
    |\ very\ much)?
    |actually|also|plus|anyways?|speaking\ of\ which|fyi|just\ so\ you\ know|to\ be\ honest|honestly|tbh|in\ fact
    |for\ the\ record|as\ (?:i|you)\ (?:said|mentioned|know)|like\ i\ said|please\ note(?:\ that)?|note(?:\ that)?
    |remember(?:\ that)?|please\ remember(?:\ that)?|keep\ in\ mind(?:\ that)?|correction|update|wait|sorry|right
    |sure|great
    |good|cool|nice|unfortunately|luckily|fortunately|sadly|finally|recently|currently|lately|these\ days|nowadays|now
    |personally|in\ general|generally|usually|typically|mostly|always|for\ context|for\ reference|context|background
    |reminder
    |(?:weirdly|oddly|strangely|surprisingly|interestingly|ironically|thankfully|admittedly|obviously|funnily)
    (?:\ enough)?
    |meanwhile|besides|however|just\ confirmed|confirmed|a\ bit\ about\ me|about\ me|of\ course|absolutely|definitely
    |totally
    |still|today|on\ (?:a|another|the)\ (?:different|other|side|personal|brighter)\ note|on\ another\ note|from\ now\ on
    |let\ me\ (?:add|mention|say)(?:\ that)?|you\ should\ know(?:\ that)?|i\ should\ (?:mention|add|say)(?:\ that)?)
    (?=[\s,:.!;\u2013\u2014-])[\s,:.!;\u2013\u2014-]*""",
    re.IGNORECASE | re.VERBOSE,
)
_LAST: Final = re.compile(
    r"(?:[\s,]{1,3}(?:btw|lol|lmao|haha(?:ha){0,3}|hehe|tho|tbh|imo|fyi|innit|xd)\b)+[\s.!]{0,4}$", re.IGNORECASE
)
_VOCATIVE: Final = re.compile(rf"(?-i:[A-Z][\w'-]+),\ ?(?={SUBJECT})", re.IGNORECASE | re.VERBOSE)
_FRONT: Final = re.compile(
    rf"""(?:yesterday|today|tonight|tomorrow|last|this|next|on|in|during|at|for|over|two|three|four|five|six|a\ few
    |a\ couple|back|from|earlier|starting|until|by|every|each|as\ of|with|ever|\d+|around|about|some|one|the\ other
    |out|among
    |besides|after|before|since|right|late|just|not\ long|once|as)\b[^,]{{0,60}}?,?\ (?={SUBJECT}|{NAMED})""",
    re.IGNORECASE | re.VERBOSE,
)
_BARE_FRONT: Final = re.compile(r"(?:this|last|next|one|some|two|three|four|five|six|each|every|\d+)\b", re.IGNORECASE)
_THIS: Final = re.compile(r"this\s+", re.IGNORECASE)
_SPELL: Final = re.compile(
    r"(?:past\s+|coming\s+)?(?:week|month|year|afternoon|evening|time|term|semester)", re.IGNORECASE
)
CORRECTION: Final = re.compile(r"(?:no|nope|actually|correction|wait|sorry)\b", re.IGNORECASE)
"""What a correction begins with."""

_MOST_LEADS: Final = 5


@dataclass(slots=True)
class ClausePart:
    """A part of a sentence while it is read.

    `at` is where its text stands in the sentence, `first` where its words begin, with those peeled off, which are
    `before`; `joined`: `and` joins it to the part before; `past_only`: only what is over is stated ("when I moved").
    """

    text: str
    at: int
    first: int
    joined: bool = False
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
    begin, joined = 0, False
    for found in _SPLIT.finditer(text):
        yield ClausePart(text[begin : found.start()], begin, begin, joined)
        begin = found.end()
        joined = found["comma"] is not None or "and" in {found["shared"], (found["and"] or "").lower()}
    yield ClausePart(text[begin:], begin, begin, joined)


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
    for pattern in (_WHEN, _FRONT):
        found = pattern.match(piece.text)
        if found is not None and _is_time(found.group()):
            piece.past_only = piece.past_only or pattern is _WHEN
            piece.peel(found.end())


def _is_time(front: str) -> bool:
    """Tell whether what stands before a subject may be a time: in `This book I read last year ...` it is none."""
    if _BARE_FRONT.match(front) is None:
        return True
    this = _THIS.match(front)
    first = this.end() if this else 0
    return CUE.search(front, first) is not None or (this is not None and _SPELL.match(front, first) is not None)


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
    teller = parse(f"{told['who'].removesuffix(chr(39) + 've')} is here", 0, said)
    if teller is None or (told["inner"].lower() == "you") != (teller.subject.who is Who.ADDRESSEE):
        return None
    piece.peel(told.end())
    piece.sure = 1.0 if teller.subject.who is Who.ADDRESSEE else _UNSURE
    found = parse(piece.text, start + piece.at, replace(said, addressee=teller.subject.name))
    return None if found is None else replace(found, subject=replace(teller.subject, plural=found.subject.plural))


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

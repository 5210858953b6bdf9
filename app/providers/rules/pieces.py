"""From a sentence to its parts, each with what stands before its subject peeled off."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from app.providers.rules.when import CUE

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
class Piece:
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


def pieces(text: str) -> Iterator[Piece]:
    """Yield the parts of a sentence."""
    begin, joined = 0, False
    for found in _SPLIT.finditer(text):
        yield Piece(text[begin : found.start()], begin, begin, joined)
        begin = found.end()
        joined = found["comma"] is not None or "and" in {found["shared"], (found["and"] or "").lower()}
    yield Piece(text[begin:], begin, begin, joined)


def peel(piece: Piece) -> None:
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

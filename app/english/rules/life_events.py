"""Which verbs tell of something that happened, and what must follow them for it to be worth keeping."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from app.english.word_lists import word_set

_A: Final = r"\s+(?:(?:a|an|my|our|the|his|her|their|two|three|four|some|another|this|that|\d+)\s+)?\w"

HAD: Final = (
    r"interview|appointment|surgery|operation|baby|miscarriage|wedding|check-?up|exam|accident|procedure|scan|reunion"
    r"|follow-up|stroke|heart\ attack|vacation|concert|workshop|babies|twins|birthday|graduation|meeting|session|class"
    r"|lesson|party|picnic|barbecue|bbq|date|dinner|lunch|breakfast|brunch|coffee|drinks|call|conversation|game|match"
    r"|test|trip|break-?up"
)
"""What one has had."""


def _after(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.VERBOSE)


_ACQUIRED: Final = (
    r"job|promotion|degree|diploma|raise|puppy|dog|cat|kitten|tattoo|offer|car|house|apartment|scholarship|license|licence"
    r"|certificate|phd|mba|visa"
)
_OUTINGS: Final = (
    r"camping|hiking|skiing|surfing|kayaking|climbing|swimming|biking|sailing|snowboarding|scuba|fishing|backpacking"
    r"|snorkeling|bowling|dancing|shopping"
)
_PURSUITS: Final = (
    r"surfing|running|climbing|painting|writing|swimming|hiking|cycling|therapy|college|university|school|chemo\w*"
)
_BODY: Final = r"leg|arm|wrist|ankle|foot|hand|nose|finger|toe|hip|collarbone|ribs?|elbow"
_LOST: Final = (
    r"job|mother|father|mom|dad|mum|dog|cat|wallet|phone|brother|sister|wife|husband|home|license|grand\w+|friend|keys"
    r"|passport"
)
_SHOPS: Final = r"shop|store|business|studio|restaurant|account|cafe|bakery|office|practice|gym"
_PRACTICES: Final = r"doctor|dentist|therapist|physician|specialist|surgeon|gp|psychiatrist"
_SHOWS: Final = r"concert|musical|exhibition|exhibit|play"
_NO_EVENT: Final = r"(?!(?:great|good|amazing|incredible|awesome|wonderful|blast|time|lot)\b)"

_NO_DEED: Final = r"(?!(?:thinking|feeling|wondering|noticing|getting|having|realizing|seeing)\b)"

AFTER: Final[Mapping[str, re.Pattern[str]]] = {
    **dict.fromkeys(
        (
            "relocate", "immigrate", "graduate", "retire", "resign", "adopt", "marry", "divorce", "publish", "found",
            "purchase", "attend", "visit", "undergo", "enroll", "enrol", "participate", "volunteer", "deploy", "earn",
            "renovate", "inherit", "donate", "migrate", "rescue", "compete", "elect", "join", "hire", "fire", "die",
            "promote",
        ),
        _after(r"\s+\w|$"),
    ),
    **dict.fromkeys(("buy", "launch", "release", "submit", "host", "organize", "organise"), _after(_A)),
    **dict.fromkeys(("receive", "report", "present"), _after(r"\s+(?:a|an|my|the|our|at)\s+\w")),
    "accept": _after(r"\s+(?:a|an|the|into|at|to)\b"),
    "admit": _after(r"\s+to\b"),
    "apply": _after(r"\s+(?:to|for)\s+(?:a|an|the|my|(?-i:[A-Z])|adoption|several|\w+\s+agenc)"),
    "ask": _after(r"\s+(?:about|for)\s+(?:(?:the|a|an)\s+)?\w{4}"),
    "be": _after(
        r"to\s+(?:a\s+\w|(?-i:[A-Z])|the\s+(?-i:[A-Z])|\w+\s+(?:concerts|countries|festivals|museums|games|shows))"
    ),
    "become": _after(r"\s+(?:a|an|the|certified|friends\ with)\b"),
    "begin": _after(rf"\s+(?:a|an|my|our)\s+\w|\s+{_NO_DEED}[a-z]+ing\s+\w"),
    "break": _after(rf"\s+(?:(?:my|his|her|an|a)\s+(?:\w+\s+)?(?:{_BODY}|record)|up\s+with)\b"),
    "complete": _after(r"\s+(?:a|an|my|our|the|\d+)\s+\w"),
    "contact": _after(r"\s+my\s+\w"),
    "diagnose": _after(r"\s+with\b"),
    "enter": _after(r"\s+(?:a|an|my)\s+\w"),
    "finish": _after(r"\s+(?:(?:a|an|my|our|the|reading|writing|building|\d+)\s+\w|\"|(?-i:[A-Z]))"),
    "fly": _after(r"\s+(?:to|from|back)\b"),
    "get": _after(
        r"\s+(?:married|engaged|divorced|promoted|hired|fired|laid\ off|accepted|certified|vaccinated|diagnosed|elected"
        rf"|back\ from\s+(?!\w+ing\b)\w|(?:a|an|my|our|two|the)\s+(?:\w+\s+){{0,2}}(?:{_ACQUIRED}|new\s+\w+)"
        r"|(?:a|an)\s+new\s+\w)"
    ),
    "give": _after(
        r"\s+(?:a|an|my|the|our)\s+(?:\w+\s+){0,3}(?:talk|speech|presentation|lecture|concert|workshop|toast)\b|\s+birth\b"
    ),
    "go": _after(
        r"\s+(?:(?:back\s+)?to\s+(?:(?:a|an|the|my|our)\s+)?\w|on\s+(?:a|an|my|our|vacation|holiday|the)\b"
        rf"|(?:{_OUTINGS})\b)"
    ),
    "have": _after(
        rf"\s+(?:(?:a|an|my|our|another)\s+)(?:{_NO_EVENT}\w[\w-]*\s+){{0,3}}?(?:{HAD})\b"
        r"|\s+(?:coffee|lunch|dinner|drinks|brunch|breakfast)\s+with\s"
    ),
    "leave": _after(r"\s+(?:my|our|the|(?-i:[A-Z0-9])|home\ for|for\ (?:a|my|our))"),
    "lose": _after(rf"\s+(?:my|our|his|her)\s+(?:{_LOST})\b|\s+\d+\s*(?:kg|pounds|lbs|kilos)"),
    "meet": _after(r"\s+(?:with\s+)?(?:my|our|(?-i:[A-Z])|a\s+\w)"),
    "move": _after(
        r"(?!\s+to\s+(?:tears\b|(?:the\s+)?(?:\w+\s+)?(?:seat|desk|chair|table|side)\b))"
        r"\s+(?:back\s+)?(?:from|to|into|out|here|in\ with|back|house|apartments?)\b"
    ),
    "open": _after(rf"\s+(?:a|an|my|our)\s+(?:\w+\s+){{0,3}}(?:{_SHOPS})\b"),
    "pass": _after(
        r"\s+(?:away|(?:my|the|a|an)\s+(?:\w+\s+){0,3}(?:exam|test|bar|interview|class|course|certification))\b"
    ),
    "perform": _after(r"\s+(?:at|in|with|a|an|my|our|on)\b"),
    "quit": _after(r"\s+(?:my|smoking|drinking|working|the|vaping|(?-i:[A-Z]))"),
    "raise": _after(r"\s+[$\u20ac\u00a3]?\d"),
    "return": _after(r"\s+(?:from|to)\b"),
    "run": _after(
        r"\s+(?:(?:a|my|the|our|\d|in\s+(?:a|the))[\w\s.-]{0,40}?(?:marathon|race|\d+k|kilomet(?:er|re)s|miles|run|triathlon)"
        r"|for\s+(?:\w+\s+)?office)\b"
    ),
    "see": _after(
        rf"\s+(?:(?:my|a|an|our|the)\s+(?:\w+\s+){{0,3}}(?:{_PRACTICES}|{_SHOWS})|dr\.?\s|(?-i:[A-Z]\w+\ [A-Z]))"
    ),
    "sell": _after(r"\s+(?:my|our|the|\d+|a|an|two|three|some)\s"),
    "sign": _after(r"\s+(?:up\ (?:for|to)|with|a\ (?:contract|lease|deal)|the\ (?:contract|lease))\b"),
    "start": _after(
        r"\s+(?:(?:a|an|my|our|the|his|her)\s+(?:new\s+|own\s+)?\w"
        rf"|{_NO_DEED}[a-z]+ing\s+\w|(?:{_PURSUITS})\b|at\s|\")"
    ),
    "stop": _after(r"\s+(?:smoking|drinking|vaping|working|taking\s+\w|being\s+\w)"),
    "switch": _after(r"\s+(?:jobs|careers|majors|to\ (?:a|an)|teams|schools|from)\b"),
    "take": _after(
        r"\s+(?:part\ in|(?:a|an|my|our|the)\s+(?:\w+\s+){0,3}"
        r"(?:trip|course|class|exam|test|vacation|job|sabbatical|tour|cruise|workshop|flight))\b"
    ),
    "travel": _after(r"\s+(?:to|around|through|across|from|solo)\b"),
    "win": _after(r"\s+(?:a|an|the|my|our|first|second|third|\d|gold|silver|(?-i:[A-Z]))"),
}  # fmt: skip
"""Life events, told without a time or with one: the verb's base, and what must follow it."""

GATED: Final = word_set(
    """
    go get move sign pass break travel switch return fly see apply run diagnose have take give leave lose
    """
)
"""Verbs whose own pattern leaves nothing abstract."""

STRONG: Final = word_set(
    """
    move join marry divorce graduate adopt quit retire resign die pass lose break buy sell get relocate switch
    deploy immigrate hire promote fire
    """
)
"""Verbs whose event is worth keeping in two or three words: `lost their job`."""

WEAK: Final = word_set("go have take see meet start finish complete submit ask give begin receive run perform enter")
"""Verbs that need to be told more of: `went on a tour`."""

MINOR: Final = word_set("ask report enter contact see have meet")
"""Verbs of what matters little."""

STATES: Final = word_set(
    """
    be feel think know want like love hope hear say tell mention look seem need wait use sound mean remember forget
    realize realise notice ask wake sleep listen check appreciate worry understand believe guess figure suppose
    prefer agree disagree talk chat discuss stand keep help let show set put come turn change enjoy hate dislike
    wonder decide consider plan expect stay sit thank wish laugh cry smile work live suggest recommend share inspire
    remind care matter happened happen promise try tried adore experience call seem grow
    """
)
"""Verbs of states, thoughts and talk: said with a time they are still no event worth keeping."""

ABSTRACT: Final = re.compile(
    r"""\s+(?:it|that|this|them|to|out|up|over|through|well|great|good|fine|better|how|what|why|when|so|as|around|everything
    |something|inspired|amazing|awesome|like)\b
    |\s+(?:(?:a|an|my|our|the|some|any|no)\s+)?(?:\w+\s+)?(?:idea|feeling|chance|question|point|lot|bit|sense|message|hang
    |kick|handle|chills|rid|look|opportunity|time|way|mistake|difference|decision|progress|plan|sure|fun|blast|hope|break
    |care|place|advantage|while|blessing|moments?|memories|joy|words?|advice|story|stories|effort|friends|track|note
    |comfort|inspiration|strength|courage|peace|clarity|perspective|happiness|day|battle)\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""What follows a verb when nothing is told: `had a great time`, `got a feeling`."""

AHEAD: Final = re.compile(
    rf"\s+(?:a|an|my|our|another)\s+(?:[\w'-]+\s+){{0,3}}?(?:{HAD}|tournament|recital|race|show|exhibition|presentation"
    r"|deadline|conference|performance|competition|audition|flight|event|festival|fundraiser|due\ date)\b",
    re.IGNORECASE,
)
"""What one has on a day to come."""

"""The cues of a question as data: what asks about the past, about now, for a type, or for something else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_ANY_CASE = re.IGNORECASE

PAST_STATE = re.compile(
    r"""\b(?:used\ to|did\b.{0,40}\buse\ to|previous(?:ly)?|former(?:ly)?|originally|initially|no\ longer|any\s?more
        |(?:my|our|his|her|their|\w's)\ (?:old|prior|past|ex[\ -]?)\ ?(?:\w+\ )?(?:address|job|employer|boss|manager
            |company|team|role|title|position|phone|number|email|home|house|flat|apartment|city|name)s?\b
        |in\ the\ past|back\ then|history\ of|(?:has|have|had|did)\b.{0,60}\bchanged?
        |what(?:\ has)?\ changed|(?:before|earlier|at\ first)\s*[?.!]*\s*$|before\ (?:that|then|now)\b)""",
    _ANY_CASE | re.VERBOSE,
)
"""Asks how things were, not how they are: history is the answer."""

BEFORE_IT = re.compile(
    r"""\b(?:did|was|were|had|used)\b.{1,80}\b(?P<before>before|prior\ to)\s+(?!you\b)\S
        |^\W*(?P<first>before|prior\ to)\s+(?!you\b)[^,?]{1,80},\s*(?:and\s+)?(?:wh\w+|how)\b
            .*\b(?:did|was|were|had)\b""",
    _ANY_CASE | re.VERBOSE,
)
"""Asks what came before something; a question about a time says so with a time."""

NOUN_BEFORE = re.compile(
    r"""^(?!.*\b(?:should|shall|will|would|can|could|must|need|have\ to|do)\b)
        .*\b(?:my|our|his|her|their|\w+'s|which|what|who|whose|where)\b.{1,60}\b(?:before|prior\ to)\b""",
    _ANY_CASE | re.VERBOSE | re.DOTALL,
)
"""Asks for a thing before another without a verb of the past: "my manager before Priya?"."""

BEFORE_WHAT = re.compile(
    r"""\b(?:before|prior\ to)\s+(?!(?:you|that|then|now|this|it)\b)(?P<what>[^,;?!]{1,80}?)
        (?=\s*(?:[,;?!]|\.(?:\s|$)|$))""",
    _ANY_CASE | re.VERBOSE,
)
"""What something came before, as it is put: "Volkswagen", "I moved to Berlin"."""

LAST_WEEKDAY = re.compile(r"last\s+(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?", _ANY_CASE)

PAST_TENSE = re.compile(r"\b(?:did|was|were|had)\b", _ANY_CASE)

FUTURE = re.compile(
    r"""\b(?:will|going\ to|coming\ up|upcoming|plan(?:s|ned|ning)?|schedul\w+|book(?:ed|ings?)|about\ to
        |(?:am|are|is)\ (?:\w+\ ){0,3}?(?!during|anything|something|nothing)\w{2,}ing)\b""",
    _ANY_CASE | re.VERBOSE,
)
"""Asks about what is to come, so that "in December" is the next one."""

NOW = re.compile(
    r"""\b(?:now(?:adays)?|current(?:ly)?|at\ (?:the\ moment|present)|presently|these\ days|today's|still
        |latest|most\ recent(?:ly)?|up[\ -]to[\ -]date)\b""",
    _ANY_CASE | re.VERBOSE,
)
"""Asks how things are now, in so many words."""

PRESENT = re.compile(r"\b(?:do|does|is|are|am|have|has)\b|'(?:s|ve|re|m)\b", _ANY_CASE)

LATELY = re.compile(
    r"""\b(?:today|recently|so\ far|lately|to\ date|right\ now
        |(?:in|over|during)\ the\ (?:past|last)\ (?:\w+\ )?(?:days?|weeks?|months?|years?))\b""",
    _ANY_CASE | re.VERBOSE,
)

DATED = re.compile(
    r"""\b(?:did|was|were|had|used\ to|before|ago|previously|originally|initially|first|yesterday
        |last\ (?:year|month|week|summer|winter|spring|fall|night)|back\ (?:in|when)
        |in\ (?:january|february|march|april|may|june|july|august|september|october|november|december|\d{4})
        |on\ \d)\b""",
    _ANY_CASE | re.VERBOSE,
)
"""Asks about something that is over, which has no newer version."""

ASKS_BACK = re.compile(
    r"""\byou\ (?:\w+\ )?(?:said|told|mentioned|recommended|suggested|gave|provided|listed|explained|described
            |wrote|shared|outlined|advised)\b
        |\b(?:did|had|would)\ you\ (?:\w+\ )?(?:say|tell|mention|recommend|suggest|give|list)\b
        |\bremind\ me\b|\b(?:our|previous|last|earlier)\ (?:\w+\ )?(?:conversation|chat|discussion|session)\b
        |\bwe\ (?:talked|discussed|spoke|outlined)\b""",
    _ANY_CASE | re.VERBOSE,
)
"""Asks what the assistant said."""

DENIED = re.compile(r"\b(?:not|never|no\s+longer|\w+n't)\b", _ANY_CASE)

OTHER_THAN = r"(?:other\s+than|except(?:\s+for)?|besides|apart\s+from|aside\s+from|excluding)"
BEFORE_EXCLUDED = re.compile(rf"\b(?:{OTHER_THAN}|not)\s+(?:(?:about|by|from|with|for|to|the|my)\s+)?$", _ANY_CASE)
"""What stands before a name that is not to be heard of."""

ALSO_EXCLUDED = re.compile(r"^\s*(?:,|and|or|,\s*(?:and|or)|nor)\s*$", _ANY_CASE)
"""What stands between two names that share such a cue."""

EXCLUDED_WORD = re.compile(rf"\b{OTHER_THAN}\s+(?:(?:the|my|a|an|his|her|their)\s+)?([\w'-]+)", _ANY_CASE)
"""A word, not known as a name, that is not to be heard of."""

WH_TYPES: Mapping[str, re.Pattern[str]] = {
    "event": re.compile(
        r"^\W*(?:when\s+(?:did|was|were|is|will)|how\s+long\s+ago|whom?\s+(?:did|have|has)\b.*\b(?:meet|met|visit)(?:ed)?)\b",
        _ANY_CASE,
    ),
    "relation": re.compile(r"\b(?:who\s+(?:does|do|is|are)\b.*\b(?:to|with|for)\b)", _ANY_CASE),
}
"""Ways to ask that hint at a type without one of its words; for types that are not there they mean nothing."""

FILLERS: Final = frozenset(
    """all anything any everything every list show tell give find know knows remember remind please user think
    thing things stuff going go went take took place get got""".split()  # noqa: SIM905 - reads as a list of words
)
"""Words of a question that say nothing about what is looked for."""

NAMING: Final = frozenset({"name", "named", "called", "who's", "whose"})
"""Words of a question for who somebody is."""


def is_past(text: str) -> bool:
    """Tell whether the question asks about a state that is over."""
    return PAST_STATE.search(text) is not None


def is_future(text: str) -> bool:
    """Tell whether the question asks about what is to come."""
    return FUTURE.search(text) is not None and PAST_TENSE.search(text) is None


def is_now(text: str) -> bool:
    """Tell whether the question asks in words for how things are now."""
    return NOW.search(text) is not None


def wants_newest(text: str) -> bool:
    """Tell whether, of two answers, the newer is right: asked for in so many words, or in the present tense."""
    if ASKS_BACK.search(text) is not None:
        return False
    if is_now(text) or LATELY.search(text) is not None:
        return True
    return DATED.search(text) is None and PRESENT.search(text) is not None

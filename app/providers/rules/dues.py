"""What falls on a day that is named: `the grant report is due on Friday`, `the new deadline is 3 May`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from app.model import Precision
from app.providers.rules import when
from app.providers.rules.clause import Clause, Said
from app.providers.rules.drafts import Draft, event
from app.providers.rules.phrases import told_of, value
from app.providers.rules.sentences import HIDDEN
from app.providers.rules.topics import topic_of

_WHAT: Final = r"(?:(?:the|our|my)\s+(?:new\s+)?)(?P<what>(?:[\w&'/-]+\s){0,4}?"
_DAY: Final = r"(?P<when>[^.;!?()]{2,60})"
_DUE: Final = re.compile(rf"\b{_WHAT}[\w&'/-]+)\s+(?P<how>is|are)\s+(?:now\s+|also\s+)?due\s+{_DAY}", re.IGNORECASE)
_DEADLINE: Final = re.compile(
    r"\b(?P<new>new\s+)?deadline(?:\s+for\s+(?:the\s+|my\s+|our\s+)?(?P<what>[\w&'/-]+(?:\s[\w&'/-]+){0,3}?))?\s+"
    rf"(?:is|(?:has\s+(?:been\s+)?|was\s+)?(?:moved|extended|pushed)(?:\s+back)?(?:\s+to)?)\s+(?:now\s+)?{_DAY}",
    re.IGNORECASE,
)
_HELD: Final = re.compile(
    r"\bthe\s+(?P<what>(?:[\w&'/-]+\s){0,4}?(?:demo|meeting|launch|release|review|retro|kick-?off|conference|wedding"
    r"|party|exam|interview|workshop|presentation|concert|ceremony|audit|go-live|hearing|election|match))"
    r"\s+(?:is|are)\s+(?:now\s+)?"
    r"(?P<when>(?:on|at|in|next|this|tomorrow|today|tonight|the\s+\d)\b[^.;!?()]{0,60})",
    re.IGNORECASE,
)
_BY: Final = re.compile(r"^(?:by|before|until)\s+", re.IGNORECASE)
_UNSURE: Final = re.compile(
    r"\b(?:if|unless|whether|in\s+case|suppose|imagine|wish|hope|doubt|unsure|not\s+sure|don't\s+think)\b",
    re.IGNORECASE,
)
_KNOWN: Final = frozenset({Precision.EXACT, Precision.DAY})
_IMPORTANCE: Final = 0.7


def falling(text: str, clause: Clause, said: Said) -> Iterator[Draft]:
    """Yield what a sentence says is due, or is held, on a day to come; `clause` says who speaks."""
    if HIDDEN in text:
        return
    for pattern in (_DUE, _DEADLINE, _HELD):
        for found in pattern.finditer(text):
            if _UNSURE.search(text, 0, found.start()):
                break
            time = when.find(_BY.sub("on ", found["when"]), said.now, prefer="future")
            what = value(told_of(found["what"])) if found["what"] else "deadline"
            if time is None or time.precision not in _KNOWN or what is None:
                continue
            due = (
                ""
                if pattern is _HELD or not found["what"]
                else " is due"
                if pattern is _DEADLINE
                else f" {found['how']} due"
            )
            yield event(clause, f"{what}{due}", time, importance=_IMPORTANCE, topic=topic_of(what))

"""Decisions among things of a known kind: `chose PostgreSQL for this project`, `went with FastAPI over Flask`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from app.english.rules.clause import Clause, SpeakerContext, Who
from app.english.rules.drafts import Draft, decision
from app.english.rules.noun_phrases import list_items, thing, value
from app.english.rules.preference_keys import kind_of_choice, purpose_slug
from app.english.rules.sentences import HIDDEN

AT_HAND: Final = re.compile(
    r"\bfor (?:this|the current) (?:task|example|exercise|demo|answer|question|test|step|one|script|snippet|file"
    r"|session|chat|meal|time)\b|\b(?:today|tonight|for now|this time|right now"
    r"|this (?:morning|afternoon|evening|weekend))\b",
    re.IGNORECASE,
)
"""A decision for the work at hand is no memory (seed 003: working memory)."""

_LEADS: Final = {
    **dict.fromkeys(("choose", "pick", "select"), re.compile(r"\s+")),
    "go": re.compile(r"\s+(?:with|for)\s+"),
    "settle": re.compile(r"\s+(?:with|on|for)\s+"),
    "opt": re.compile(r"\s+for\s+"),
    "decide": re.compile(r"\s+(?:(?:on|upon)|to (?:go with|go for|use|pick|choose|adopt)|using)\s+"),
}
_BECAUSE: Final = re.compile(
    r",?\s+(?:because|since|due to|given that|as it|for its|so that|thanks to)\s+(?P<why>[^.;!?]{4,160})", re.IGNORECASE
)
_OVER: Final = re.compile(
    r",?\s+(?:over|instead of|rather than|not|and not)\s+(?P<other>[^.;:!?()\u2014]+?)"
    r"(?=\s+(?:for|because|since|due)\b|[.;:!?()\u2014,]|$)",
    re.IGNORECASE,
)
_FOR: Final = re.compile(
    r"\s+(?:for|as|in)\s+(?P<what>[^.;:!?,()\u2014]+?)"
    r"(?=\s+(?:over|because|since|instead|rather|due|so)\b|[.;:!?,()\u2014]|$)",
    re.IGNORECASE,
)


def chooses(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read the choice of a tool or habit of a known kind; anything else that is decided stays in the turn."""
    lead = _LEADS[clause.lemma].match(clause.rest)
    told = clause.subject.who not in {Who.PRONOUN, Who.ADDRESSEE} and AT_HAND.search(clause.text) is None
    if lead is None or not told or not (clause.happened or (clause.progressive and clause.holds)):
        return
    rest = clause.rest[lead.end() :]
    found = thing(rest)
    if found is None:
        return
    after = rest[found.end :]
    over = _OVER.search(after)
    purpose = _FOR.match(after) or (_FOR.search(after) if over else None)
    others = [name for one in (list_items(over["other"]) if over else ()) if (name := value(one))]
    kind = next((one for name in (found.name, *others) if (one := kind_of_choice(name))), None)
    if kind is not None:
        what = value(purpose["what"]) if purpose else None
        subject = f"{kind.noun} for {what}" if what and purpose_slug(what) else kind.noun
        yield decision(clause, subject, found.name, rationale=_reason(after), alternatives=others, topic=kind.topic)


def _reason(text: str) -> str | None:
    found = _BECAUSE.search(text)
    reason = found["why"].strip() if found else ""
    named = reason and reason.split()[0].lower() not in {"this", "that", "these", "those", "you", "your", "he", "she"}
    return reason if named and HIDDEN not in reason else None

"""Decisions: what was chosen, for what, why, and instead of what."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from app.english.rules.clause import Clause, SpeakerContext, Who
from app.english.rules.drafts import Draft, Rule, decision
from app.english.rules.noun_phrases import list_items, says_something, thing, thing_after, value
from app.english.rules.preference_keys import kind_of_choice, purpose_slug
from app.english.rules.sentences import HIDDEN
from app.english.word_lists import ToolKind, word_set

WORKING: Final = re.compile(
    r"\bfor (?:this|the current) (?:task|example|exercise|demo|answer|question|test|step|one|script|snippet|file"
    r"|session"
    r"|chat|meal|time)\b|\b(?:today|tonight|for now|this time|right now|this (?:morning|afternoon|evening|weekend))\b",
    re.IGNORECASE,
)
"""A decision for the work at hand is no memory (seed 003: working memory)."""

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
_WITH: Final = re.compile(r"\s+with(?=\s)", re.IGNORECASE)
_FOR_IT: Final = re.compile(r"\s+(?:with|on|for)(?=\s)", re.IGNORECASE)
_ON: Final = re.compile(r"\s+(?:on|upon)(?=\s)", re.IGNORECASE)
_AGAINST: Final = re.compile(r"\s+against\s+", re.IGNORECASE)
_LIGHT: Final = re.compile(
    r"(?:do(?:ing)?|tak(?:e|ing)|buy(?:ing)?|get(?:ting)?|start(?:ing)?|accept(?:ing)?|rent(?:ing)?|sell(?:ing)?|keep(?:ing)?"
    r"|cancel(?:ling|ing)?|skip(?:ping)?)\s+(?=(?:the|an?|our|my|their)\s)",
    re.IGNORECASE,
)
_TO_USE: Final = re.compile(r"\s+(?:to (?:go with|go for|use|pick|choose|adopt)|using)(?=\s)", re.IGNORECASE)
_SWITCH: Final = re.compile(
    r"(?:to\s+)?(?:switch|move|migrate|change|switching|moving|migrating)\s+(?:over\s+)?from\s+(?P<old>.+?)\s+to\s+"
    r"(?P<new>.+?)(?=\s+for\b|[.;:!?,(\u2014]|$)",
    re.IGNORECASE,
)
_DEED: Final = re.compile(
    r"\s+(?P<not>not\s+)?(?:that\s+)?(?:(?:i|we)(?:'re|'m|'ll|\s+are|\s+am|\s+will)?\s+(?:going to|gonna)?\s*|to\s+)",
    re.IGNORECASE,
)
_OPEN: Final = re.compile(
    r"\b(?:it|this|that|these|those|them|you|your|he|she|they|him|her|there|here|what|how|if)\b", re.IGNORECASE
)
_STOP: Final = re.compile(
    rf"[.;:!?({HIDDEN}\u2014\u2026]|\s[-\u2013]\s|,?\s(?:but|which|so (?:i|we|that))\b|,\s(?:and|it|i|we|they)\b"
    r"|,?\s(?:because|due to|given that)\b|,\s(?:mainly|mostly|largely|partly|primarily|as|since|so)\b",
    re.IGNORECASE,
)
_RECORDED: Final = re.compile(
    r"(?:decision(?:\s+made)?|decided)\s+on\s+(?:the\s+)?(?P<subject>[^.:;!?]{3,60}):\s+(?P<what>[^.;!?]{2,160})",
    re.IGNORECASE,
)
_LETS: Final = re.compile(r"(?:ok(?:ay)?,? |so,? )?let's (?:go with|use|stick with)(?=\s)", re.IGNORECASE)
_AGREEING: Final = frozenset({"decide", "agree", "settle"})
_WORDLESS: Final = frozenset({"not", "against"})
_UNNAMED: Final = word_set("this that these those you your he she")
_SUBJECT_WORDS: Final = 8
_DEED_WORDS: Final = range(2, 23)


def choosing(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `chose PostgreSQL for this project`, `went with FastAPI over Flask`, `settled on Friday for releases`."""
    if not _decides(clause):
        return
    if clause.lemma == "go":
        found = thing_after(_WITH, clause.rest)
        if found and kind_of_choice(found.name):  # and not "went with my sister"
            yield from _chosen(clause, clause.rest[len(" with") :])
    elif clause.lemma in {"settle", "opt"}:
        lead = _FOR_IT.match(clause.rest)
        yield from _chosen(clause, clause.rest[lead.end() :]) if lead else ()
    else:
        yield from _chosen(clause, clause.rest)


def deciding(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `decided on FastAPI`, `decided we're going to switch from A to B for C`, `decided to adopt a dog`."""
    if not _decides(clause):
        return
    against = thing_after(_AGAINST, clause.rest)
    if against is not None:
        subject, why = _matter(against.text) or against.name, _reason(clause.text)
        yield decision(clause, subject, f"against {against.whole}", rationale=why, topic="personal")
        return
    on, use, deed = _ON.match(clause.rest), _TO_USE.match(clause.rest), _DEED.match(clause.rest)
    tool = thing_after(_TO_USE, clause.rest)
    if on:
        yield from _chosen(clause, clause.rest[on.end() :])
    elif use and tool and kind_of_choice(tool.name):
        yield from _chosen(clause, clause.rest[use.end() :])
    elif deed:
        yield from _done(clause, clause.rest[deed.end() :], denied=deed["not"] is not None)


def _decides(clause: Clause) -> bool:
    going_with = clause.progressive and clause.holds and clause.lemma == "go"
    told = clause.subject.who not in {Who.PRONOUN, Who.ADDRESSEE} and WORKING.search(clause.text) is None
    return told and (clause.happened or going_with)


def _chosen(clause: Clause, rest: str) -> Iterator[Draft]:
    """Yield the choice of a thing: of a known kind, or for something named."""
    found = thing(rest)
    if found is None or found.first in _WORDLESS:
        return
    after = rest[found.end :]
    over = _OVER.search(after)
    purpose = _FOR.match(after) or (_FOR.search(after) if over else None)
    what = value(purpose["what"]) if purpose else None
    others = [name for one in (list_items(over["other"]) if over else ()) if (name := value(one))]
    kind = next((one for name in (found.name, *others) if (one := kind_of_choice(name))), None)
    agreed = clause.lemma in _AGREEING and found.words > 1
    if kind or what or agreed:
        yield decision(
            clause, _subject(kind, what, found.last), found.name, rationale=_reason(after), alternatives=others,
            topic=kind.topic if kind else "work",
        )  # fmt: skip


def _subject(kind: ToolKind | None, purpose: str | None, chosen: str) -> str:
    """Return what is decided about, so that a later decision on it comes to the same words."""
    named = purpose if purpose and purpose_slug(purpose) else None
    if kind is not None:
        return f"{kind.noun} for {named}" if named else kind.noun
    return named or purpose or chosen


def _done(clause: Clause, rest: str, *, denied: bool) -> Iterator[Draft]:
    """Yield the decision to do something, or not to: on one subject, so that the later replaces the earlier."""
    why = _reason(clause.text)
    switched = [] if denied else list(_switched(clause, rest, why))
    if switched:
        yield from switched
        return
    stop = _STOP.search(rest)
    deed = (rest[: stop.start()] if stop else rest).strip(" ,")
    deed = re.sub(r"\b(?:my|our)\b", "their", re.sub(r"\b(?:myself|ourselves)\b", "themselves", deed))
    words = deed.split()
    if len(words) in _DEED_WORDS and not _OPEN.search(deed) and says_something(" ".join(words[:_SUBJECT_WORDS])):
        who = "" if clause.subject.own else f"{clause.subject.name}: "
        subject = f"{who}{_matter(deed) or ' '.join(words[:_SUBJECT_WORDS])}"
        decided = f"{who}not to {deed}" if denied else f"{who}{deed}"
        yield decision(clause, subject, decided, rationale=why, topic="personal")


def _matter(deed: str) -> str | None:
    """Return what a deed is about where its verb says little: `buy the house`, `selling the house`."""
    found = thing_after(_LIGHT, deed)
    return found.name if found is not None and says_something(found.name) else None


def _switched(clause: Clause, deed: str, why: str | None) -> Iterator[Draft]:
    """Read `switch from cosine similarity to Jaccard for the clustering pipeline`."""
    found = _SWITCH.match(deed)
    old, new = (value(found["old"]), value(found["new"])) if found else (None, None)
    if found is None or not old or not new:
        return
    purpose = _FOR.match(deed, found.end())
    what = value(purpose["what"]) if purpose else None
    kind = kind_of_choice(new) or kind_of_choice(old)
    if kind or what:
        topic = "tech" if kind else "work"
        yield decision(clause, _subject(kind, what, new), new, rationale=why, alternatives=[old], topic=topic)


def _reason(text: str) -> str | None:
    found = _BECAUSE.search(text)
    reason = found["why"].strip() if found else ""
    named = reason and reason.split()[0].lower() not in _UNNAMED
    return reason if named and HIDDEN not in reason else None


def decision_record(text: str, clause: Clause) -> Iterator[Draft]:
    """Read `Decision made on the depreciation method: straight-line`, `let's go with Kubernetes`.

    The clause says who speaks.
    """
    found = _RECORDED.match(text)
    subject = value(found["subject"]) if found else None
    if found and subject and HIDDEN not in found["what"]:
        yield decision(clause, subject, found["what"].strip(), topic="work")
    tool = None if WORKING.search(text) else thing_after(_LETS, text)
    kind = kind_of_choice(tool.name) if tool else None
    if tool and kind:
        yield decision(clause, kind.noun, tool.name, topic=kind.topic)


RULES: Final[Mapping[str, tuple[Rule, ...]]] = {
    **dict.fromkeys(("choose", "pick", "go", "settle", "opt", "select"), (choosing,)),
    **dict.fromkeys(("decide", "agree"), (deciding,)),
}

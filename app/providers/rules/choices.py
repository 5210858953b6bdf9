"""Preferences: what people prefer, use by choice, and switch to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from app.providers.rules.clause import Clause, Said
from app.providers.rules.drafts import Draft, Rule, fact, preference
from app.providers.rules.keys import choice, kind_of_choice
from app.providers.rules.leading import CHOSEN
from app.providers.rules.phrases import listed, slug, thing, value
from app.providers.rules.verbs import gerund

_STOP: Final = r"[.;:!?()\u2014]"
_OVER: Final = re.compile(
    r",?\s+(?:over|rather than|instead of|more than|as opposed to|than|versus|vs\.?|not|and not|to)\s+"
    rf"(?P<other>(?:(?!{_STOP}).)+?)(?=\s+(?:because|since|as|so|for|when|but|if)\b|{_STOP}|$)",
    re.IGNORECASE,
)
_INSTEAD: Final = re.compile(r"\s+(?:instead of|rather than|over)\s+(?P<other>[^.;:!?()]+)")
_FOR: Final = re.compile(
    r"\s+(?:for|when|while|in|on|at)\s+(?P<what>(?:my\s+|all\s+|our\s+)?[^.;:!?,()\u2014]+?)"
    r"(?=\s+(?:over|rather|instead|not|than|because|since|as|so|and|but)\b|[.;:!?,()\u2014]|$)",
    re.IGNORECASE,
)
_TIMED: Final = re.compile(
    r"\s+(?:in the|on|at)\s+(?:mornings?|afternoons?|evenings?|nights?|weekends?|\w+days?)\b", re.IGNORECASE
)
_AND: Final = re.compile(r"\s+and\s+(?=\w)", re.IGNORECASE)
_DOING: Final = re.compile(r"\s+(?:to\s+\w+|(?!morning|evening|string|nothing|something|everything)[a-z]+ing)\b")
_DONE: Final = re.compile(r"[.;:!?(\u2014]|\s-\s|,\s")
_WAY: Final = re.compile(r"\s+(?:on|in|at|by|with|via|from|to|over|before|after)\s")
_NOW: Final = re.compile(r"\b(?:now|these days|by default|from now on)\b")
_TO: Final = re.compile(
    r"\s+(?:back\s+|over\s+)?(?:from\s+(?P<source>\S+(?:\s\S+){0,2}?)\s+)?to\s+(?:using\s+)?", re.IGNORECASE
)
_OFFERED: Final = re.compile(
    r"\b(?:options?|ones?|versions?|variants?|suggestions?|proposals?|alternatives?|drafts?)$"
    r"|^(?:option|version|variant|alternative|draft|number)\s+(?:\w|\d+)$"
    r"|^(?:former|latter|first|second|third|last|other)(?:\s+\w+)?$",
    re.IGNORECASE,
)
"""What says something only beside what it is chosen from."""
_INSIDE: Final = frozenset({"of", "the"})
_FOR_WORK: Final = frozenset({"test framework", "similarity measure", "OCR engine"})
"""Kinds one decides on for a piece of work rather than by taste."""
_LONGEST_PURPOSE: Final = 5
_LONGEST: Final = 12


def preferring(clause: Clause, _said: Said) -> Iterator[Draft]:
    """Read `prefer dark mode`, `prefers Python for backend work over Go`, `prefers receiving reports on Mondays`."""
    if not clause.holds or clause.subject.name == "it":
        return
    if _DOING.match(clause.rest) and not kind_of_choice(clause.rest.strip()):
        yield from _done(clause)
        return
    found = thing(clause.rest, through=_INSIDE)
    if found is None:
        return
    after = clause.rest[found.end :]
    over, timed, more = _OVER.search(after), _TIMED.match(after), _AND.match(after)
    purpose = _FOR.match(after) or (_FOR.search(after) if over else None)
    text = found.text + (timed.group() if timed and kind_of_choice(found.name) is None else "")
    yield from _chosen(clause, text, purpose["what"] if purpose else None, listed(over["other"]) if over else ())
    also = thing(after, more.end()) if more else None
    if also is not None:
        yield from _chosen(clause, also.text, None, ())


def _chosen(clause: Clause, text: str, purpose: str | None, instead: Sequence[str]) -> Iterator[Draft]:
    """Yield the preference for something, under the key of its kind; under its own name when it has none."""
    chosen = value(text)
    if chosen is None or chosen.lower().startswith(("not ", "no ", "to ")) or _OFFERED.search(chosen):
        return
    if purpose is not None and len(purpose.split()) > _LONGEST_PURPOSE:
        purpose = None
    found = choice(chosen, purpose=purpose, instead=[value(one) or one for one in instead])
    if found is not None:
        yield preference(clause, found.key, found.value, topic=found.topic)
    elif key := slug(chosen, 8, whole=True):
        yield preference(clause, f"likes.{key}", "likes", importance=0.8, topic="personal")


def _done(clause: Clause) -> Iterator[Draft]:
    """Read `prefers receiving reports on Monday mornings, not Friday afternoons`: the whole of it is the value."""
    whole, infinitive = clause.rest.removeprefix(" to"), clause.rest.startswith(" to")
    over = _OVER.search(whole)
    if over and not over.group().lstrip(", ").lower().startswith("to "):
        whole = whole[: over.start()]
    way = value(_DONE.split(whole)[0])
    if way and infinitive:
        first, _, others = way.partition(" ")
        way = f"{gerund(first)} {others}".rstrip()
    key = slug(_WAY.split(way)[0]) if way else ""
    if not way or not key or len(way.split()) > _LONGEST:
        return
    if _WAY.search(way):
        yield preference(clause, f"{key}.way", way, topic="personal")
    else:
        yield preference(clause, f"likes.{slug(way, 8, whole=True)}", "likes", importance=0.8, topic="personal")


def using(clause: Clause, _said: Said) -> Iterator[Draft]:
    """Read `always use dark mode`, `now using Go for new projects`, `use pytest not unittest`, `don't use Windows`."""
    found = thing(clause.rest, through=_INSIDE)
    if found is None or not clause.present or clause.perfect or clause.subject.name == "it":
        return
    kind = kind_of_choice(found.name)
    if clause.negated:
        if clause.subject.own and (kind or found.capital):
            yield fact(clause, "does-not-use", found.name, stateful=False, importance=0.6, topic="tech")
        return
    after = clause.rest[found.end :]
    over, purpose = _OVER.match(after), _FOR.match(after)
    if over is None or over.group().lstrip(", ").startswith("to "):  # "use Notion to track" contrasts nothing
        over = _INSTEAD.search(after)
    deliberate = clause.adverbs & CHOSEN or over or _NOW.search(after)
    if deliberate and (kind or over or "always" in clause.adverbs):
        other = listed(over["other"]) if over else ()
        yield from _chosen(clause, found.text, purpose["what"] if purpose else None, other)


def switching(clause: Clause, _said: Said) -> Iterator[Draft]:
    """Read `switched to light mode`, `moved from Vim to VS Code`: a choice among things of one kind."""
    lead = _TO.match(clause.rest)
    found = thing(clause.rest, lead.end()) if lead else None
    if lead is None or found is None or not (clause.happened or (clause.progressive and clause.holds)):
        return
    kind = kind_of_choice(found.name) or kind_of_choice(lead["source"] or "")
    if kind is not None and kind.noun not in _FOR_WORK:
        purpose = _FOR.match(clause.rest[found.end :])
        source = [lead["source"]] if lead["source"] else []
        yield from _chosen(clause, found.text, purpose["what"] if purpose else None, source)


RULES: Final[Mapping[str, tuple[Rule, ...]]] = {
    "prefer": (preferring,),
    "use": (using,),
    **dict.fromkeys(("switch", "move", "migrate"), (switching,)),
}

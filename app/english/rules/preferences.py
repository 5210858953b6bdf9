"""Preferences and choices: what is preferred, tools used by choice, decisions between known tools, and their keys.

The same choice made anew comes to the same key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from app.english.rules.clause import Clause, SpeakerContext, Who
from app.english.rules.drafts import Draft, decision, preference
from app.english.rules.noun_phrases import list_items, slug, thing, value, without_article
from app.english.rules.rows import CHOSEN
from app.english.rules.tastes import OFFERED, is_taste, taste, things
from app.english.word_lists import AMBIGUOUS, GENERAL, REPLIES, SIZES, TOOLS, ToolKind, pattern, word_set

_OVER: Final = pattern("preferences", "over", re.IGNORECASE)
_INSTEAD: Final = re.compile(r"\s+(?:instead of|rather than|over)\s+(?P<other>[^.;:!?()]+)")
_FOR: Final = pattern("preferences", "for", re.IGNORECASE)
_ENDS: Final = re.compile(r"\s*(?:$|[.;:!?(\u2014]|-\s|(?:because|since|so|but|too|now|in general)\b)", re.IGNORECASE)
"""What may follow a choice that has been named in whole."""
_TO_DO: Final = re.compile(r"\s+(?P<denied>not\s+)?to\s+", re.IGNORECASE)
_NOW: Final = re.compile(r"\b(?:now|these days|by default|from now on)\b")
_TO: Final = pattern("preferences", "to", re.IGNORECASE)
_INSIDE: Final = frozenset({"of", "the"})
_SHORTER: Final = re.compile(r"-(?:work|apis?|code|projects?|development|programming|stuff|tasks?|services?|things)$")
_MODE: Final = re.compile(r"\s+(?:(?:editor|ide|terminal)\s+)?(?:mode|themes?)$", re.IGNORECASE)
_CONTEXTUAL: Final = frozenset(
    {
        "programming language", "database", "web framework", "frontend framework", "channel", "drink", "editor",
        "test framework",
    }
)  # fmt: skip
"""Kinds of which what a choice is for makes it another choice."""
_BY_NAME: Final = frozenset({"language", "browser", "editor", "os"})
"""Domains whose ambiguous words count only when they are written as names: Go, not go."""
_PLATFORM: Final = re.compile(r"^(?:in|on|for)\s+", re.IGNORECASE)
_PHRASE: Final = range(2, 5)


def prefers(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `prefer dark mode`, `prefers Python for backend work over Go`, `prefer to dine outside`."""
    if not clause.holds or is_taste(clause):
        return
    lead = _TO_DO.match(clause.rest)
    over = _contrast(clause.rest, lead.end() if lead else 0)
    wanted = clause.rest[: over.start()] if over else clause.rest
    found = None if lead else thing(wanted, through=_INSIDE)
    if found is not None and not found.first.endswith("ing"):
        purpose = _FOR.match(wanted, found.end)
        known = choice(found.name, purpose=purpose["what"] if purpose else None, instead=_others(over))
        whole = purpose or _ENDS.match(wanted, found.end)
        if known is not None and whole and not OFFERED.search(found.name):
            yield preference(clause, known.key, known.value, topic=known.topic)
            return
    denied = lead is not None and lead["denied"] is not None
    for one in things(f" to {wanted[lead.end() :]}" if lead else wanted):
        if not denied or " " in one:  # "I prefer not to say" tells nothing
            yield taste(clause, one, "dislikes" if denied else "likes")


def _contrast(text: str, at: int) -> re.Match[str] | None:
    """Return what something is preferred to; None where `to` only says where: `cycling to school`."""
    over = _OVER.search(text, at)
    doing = text[at:].split(maxsplit=1)[:1] and text[at:].split(maxsplit=1)[0].endswith("ing")
    where = over is not None and doing and over.group().lstrip(", ").startswith("to ")
    return None if where else over


def _others(over: re.Match[str] | None) -> list[str]:
    """Return what something is preferred to."""
    return [name for one in (list_items(over["other"]) if over else ()) if (name := value(one))]


def _chosen(clause: Clause, text: str, purpose: re.Match[str] | None, instead: Sequence[str]) -> Iterator[Draft]:
    """Yield the preference for something, under the key of its kind; under its own name when it has none."""
    chosen = value(text)
    found = choice(chosen, purpose=purpose["what"] if purpose else None, instead=instead) if chosen else None
    if found is not None:
        yield preference(clause, found.key, found.value, topic=found.topic)
    elif chosen:
        yield taste(clause, chosen, "likes")


def uses(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `always use dark mode`, `now using Go for new projects`, `use pytest not unittest`."""
    found = thing(clause.rest, through=_INSIDE)
    if found is None or not clause.holds or clause.perfect:
        return
    after = clause.rest[found.end :]
    over = _OVER.match(after)
    if over is None or over.group().lstrip(", ").startswith("to "):  # "use Notion to track" contrasts nothing
        over = _INSTEAD.search(after)
    deliberate = clause.adverbs & CHOSEN or over or _NOW.search(after)
    if deliberate and (kind_of_choice(found.name) or over or "always" in clause.adverbs):
        yield from _chosen(clause, found.text, _FOR.match(after), _others(over))


def switches(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `switched to light mode`, `moved from Vim to VS Code`: a choice among things of one kind."""
    lead = _TO.match(clause.rest)
    found = thing(clause.rest, lead.end()) if lead else None
    if lead is None or found is None or not (clause.happened or (clause.progressive and clause.holds)):
        return
    kind = kind_of_choice(found.name) or kind_of_choice(lead["source"] or "")
    if kind is not None:
        source = [lead["source"]] if lead["source"] else []
        yield from _chosen(clause, found.text, _FOR.match(clause.rest, found.end), source)


_FAVOURITE: Final = pattern("preferences", "favourite", re.IGNORECASE)
_MY_FAVOURITE: Final = pattern("preferences", "my favourite", re.IGNORECASE)
_NO_FAVOURITE: Final = word_set("thing things part parts memory memories ones one moment way of")
_INSIDE_NAME: Final = frozenset({"of", "the", "and", "in", "to", "with"})
_SPELLING: Final = {"color": "colour", "flavor": "flavour", "movie": "film"}


def favourite_of(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `my favourite colour is blue`, `my sister's least favourite food is tripe`."""
    theirs = clause.subject.noun or "" if clause.subject.who is Who.POSSESSED else ""
    noun = _FAVOURITE.fullmatch(theirs) if clause.copula and clause.holds else None
    chosen = thing(clause.rest, through=_INSIDE_NAME) if noun is not None else None
    if noun is not None and chosen is not None:
        yield from _favourite(clause, clause.subject.owner or "", noun, chosen.name)


def favourite_told(text: str, clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `Harry Potter is my favourite book`, `mango is my favourite fruit`."""
    found = _MY_FAVOURITE.match(text)
    if found is not None:
        yield from _favourite(clause, clause.subject.name, found, found["chosen"])


def _favourite(clause: Clause, owner: str, said: re.Match[str], chosen: str) -> Iterator[Draft]:
    words = [_SPELLING.get(word, word) for word in said["what"].lower().split()]
    key = slug(" ".join(words))
    if words[0] in _NO_FAVOURITE:
        return
    key, how = (f"likes.{slug(chosen, whole=True)}", "dislikes") if said["least"] else (f"favourite.{key}", chosen)
    yield preference(clause, key, how, subject=owner, topic="personal")


AT_HAND: Final = pattern("preferences", "at hand", re.IGNORECASE)
"""A decision for the work at hand is no memory (seed 003: working memory)."""

_CHOOSING: Final = {
    **dict.fromkeys(("choose", "pick", "select"), re.compile(r"\s+")),
    "go": re.compile(r"\s+(?:with|for)\s+"),
    "change": re.compile(r"\s+(?:my|our) minds?\s*[:,]\s*(?:(?:we're|i'm) going with\s+)?"),
    "settle": re.compile(r"\s+(?:with|on|for)\s+"),
    "opt": re.compile(r"\s+for\s+"),
    "decide": re.compile(r"\s+(?:(?:on|upon)|to (?:go with|go for|use|pick|choose|adopt)|using)\s+"),
}
_BECAUSE: Final = pattern("preferences", "because", re.IGNORECASE)
_CHOSEN_OVER: Final = pattern("preferences", "chosen over", re.IGNORECASE)
_AS_FOR: Final = pattern("preferences", "as for", re.IGNORECASE)


def chooses(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read the choice of a tool or habit of a known kind; anything else that is decided stays in the turn."""
    lead = _CHOOSING[clause.lemma].match(clause.rest)
    told = clause.subject.who is not Who.PRONOUN and AT_HAND.search(clause.text) is None
    found = thing(clause.rest, lead.end()) if lead else None
    if found is None or not told or not clause.happened:
        return
    after = clause.rest[found.end :]
    over, why = _CHOSEN_OVER.search(after), _BECAUSE.search(after)
    purpose = _AS_FOR.match(after) or (_AS_FOR.search(after) if over else None)
    others = _others(over)
    kind = next((one for name in (found.name, *others) if (one := kind_of_choice(name))), None)
    if kind is not None:
        what = value(purpose["what"]) if purpose else None
        subject = f"{kind.noun} for {what}" if what and purpose_slug(what) else kind.noun
        reason = why["why"].strip() if why else None
        yield decision(clause, subject, found.name, rationale=reason, alternatives=others, topic=kind.topic)


@dataclass(frozen=True, slots=True, kw_only=True)
class PreferenceChoice:
    """A key, the value as it is stored, and a broad topic."""

    key: str
    value: str
    topic: str


def choice(chosen: str, *, purpose: str | None = None, instead: Sequence[str] = ()) -> PreferenceChoice | None:
    """Return the key of something chosen, for a purpose, rather than others; None when only its like could tell.

    A known kind gives the key (`editor.theme`); an adjective of size or style (`responses.length`); what is
    chosen for (`routine-questions.choice`); the head of the phrase (`seats.flights`).
    """
    kind = kind_of_choice(chosen) or next((one for other in instead if (one := kind_of_choice(other))), None)
    narrowed = purpose_slug(purpose) if purpose else ""
    if kind is not None:
        attribute = narrowed if narrowed and kind.noun in _CONTEXTUAL else kind.attribute
        short = _MODE.sub("", chosen) if kind.domain == "editor" else chosen  # `dark`: the key says the rest
        return PreferenceChoice(key=f"{kind.domain}.{attribute}", value=short, topic=kind.topic)
    said = without_article(chosen).lower().split()
    head = said[-1] if said else ""
    if len(said) in _PHRASE and said[0] in SIZES:
        domain = REPLIES.get(head, slug(" ".join(said[1:])))
        key = "-".join(filter(None, (f"{domain}.{SIZES[said[0]]}", narrowed)))
        return PreferenceChoice(key=key, value=said[0], topic="personal")
    if len(said) == 1 and narrowed:
        return PreferenceChoice(key=f"{narrowed}.choice", value=chosen, topic="personal")
    if len(said) not in _PHRASE or head == "instructions":
        return None
    return PreferenceChoice(key=f"{slug(head)}.{narrowed or 'kind'}", value=chosen, topic="personal")


def kind_of_choice(text: str) -> ToolKind | None:
    """Return the kind of tool or habit the words name; an ambiguous word counts only as a name."""
    word = without_article(text.strip())
    low = word.lower()
    kind = TOOLS.get(low)
    if kind is None and _MODE.search(low) and low.startswith(("dark ", "light ", "night ")):
        return TOOLS["dark mode"]
    ambiguous = kind is not None and low in AMBIGUOUS and kind.domain in _BY_NAME
    return None if ambiguous and not word[:1].isupper() else kind


def purpose_slug(purpose: str) -> str:
    """Return what a choice is for as a part of a key; nothing when it is for everything."""
    low = _PLATFORM.sub("", purpose.lower().strip())
    return "" if low in GENERAL else _SHORTER.sub("", slug(low))
